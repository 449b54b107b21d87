"""Parts from outside the package, through public names only: one of each kind, used in a run file."""

import json
from typing import Annotated, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from typer.testing import CliRunner

import pgt
from pgt.cli import app
from pgt.core import registry

Spread = Annotated[
    float | pgt.Unknown, pgt.extend.Limits(above=0), pgt.extend.Powers(length=2, time=-1)
]


class Fisher(pgt.extend.AbstractPDE):
    """u_t = D u_xx + r u (1 - u)."""

    spread: Spread
    growth: float | pgt.Unknown = 1.0
    coords: tuple[str, ...] = eqx.field(static=True, default=("x", "t"))
    fields: tuple[str, ...] = eqx.field(static=True, default=("u",))

    def residual(self, d):
        grown = self.growth * d("u") * (1 - d("u"))
        return {"fisher": d("u_t") - self.spread * d("u_xx") - grown}

    def kernel(self):
        return pgt.kernels.HeatKernel(0.01)


class WithinReach(pgt.extend.AbstractKernel):
    reach: Annotated[float, pgt.extend.Limits(above=0)]

    def log_influence(self, receiver, source, resolution):
        return -jnp.sum((receiver - source) ** 2)[None] / self.reach**2


class Polynomial(pgt.extend.AbstractFieldModel):
    """Products of powers of the unit coordinates. It asks for a kernel, and keeps it."""

    scaling: pgt.Scaling
    kernel: pgt.extend.AbstractKernel
    weights: jax.Array

    def __init__(self, scaling, kernel: pgt.extend.AbstractKernel, powers: int = 4, seed: int = 0):
        self.scaling, self.kernel = scaling, kernel
        self.weights = 0.1 * jax.random.normal(jax.random.key(seed), (1, powers, powers))

    def encode(self, observations):
        return ()

    def decode(self, context, z):
        x, t = self.scaling.to_unit(z)
        powers = jnp.arange(self.weights.shape[-1])
        return self.scaling.to_physical(self.weights @ t**powers @ x**powers)

    def tunable(self):
        return self.weights


class Early(pgt.extend.AbstractSampler):
    bend: Annotated[float, pgt.extend.Limits(above=0)] = eqx.field(static=True, default=2.0)

    def draw(self, key, domain, n, residual=None):
        unit = jax.random.uniform(key, (n, domain.dimension))
        return domain.from_unit(unit.at[:, -1].set(unit[:, -1] ** self.bend))


class Late(pgt.extend.AbstractWeighting):
    needs_gradient_norms: ClassVar[bool] = False
    pde_ramp: float = eqx.field(static=True, default=1.0)

    def init(self, names):
        return {}, {name: jnp.ones(()) for name in names}

    def weights(self, learnable, memory, floors, progress=0.0):
        return {n: one if n == "data" else progress * one for n, one in memory.items()}

    def penalty(self, learnable, losses, floors, progress):
        return 0.0

    def update(self, memory, gradient_norms, losses):
        return memory


def momentum(decay: Annotated[float, pgt.extend.Limits(at_least=0, below=1)] = 0.9):
    return optax.trace(decay)


def read_json_lines(path, coords, others):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    names = (*coords, *others)
    return pgt.io.Columns({n: np.array([row[n] for row in rows], float) for n in names})


RUN = """\
[observations]
file = "sensors.jsonl"
coords = ["x", "t"]
fields = ["u"]

[domain]
x = [0, 1]
t = [0, 1]

[pde]
name = "fisher"
spread = {unknown = true, initial = 0.02}

[model]
name = "polynomial"
powers = 3
kernel = {name = "within_reach", reach = 0.5}

[training]
steps = 3
collocation = 8
check_every = 2
sampler = {name = "early", bend = 3}
weighting = "late"
optimiser = {name = "momentum", decay = 0.8}
polish = false

[output]
grid = {x = 5, t = 4}
formats = ["csv"]
"""


@pytest.fixture(autouse=True)
def registered():
    """Registered for a test, and forgotten after it."""
    before = {kind: dict(family) for kind, family in registry._parts.items()}
    pgt.extend.register("fisher")(Fisher)
    pgt.extend.register("within_reach")(WithinReach)
    pgt.extend.register("polynomial")(Polynomial)
    pgt.extend.register("early")(Early)
    pgt.extend.register("late")(Late)
    pgt.extend.register("momentum", kind="optimiser")(momentum)
    pgt.extend.register(".jsonl", kind="reader")(read_json_lines)
    yield
    for kind, family in before.items():
        registry._parts[kind].clear()
        registry._parts[kind].update(family)


@pytest.fixture
def folder(tmp_path):
    readings = pgt.sample(pgt.datasets.heat(), 24, seed=0)
    rows = np.column_stack([readings.points, readings.values]).tolist()
    lines = [json.dumps(dict(zip(("x", "t", "u"), row, strict=True))) for row in rows]
    (tmp_path / "sensors.jsonl").write_text("\n".join(lines))
    (tmp_path / "run.toml").write_text(RUN)
    return tmp_path


def command(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_one_of_each_is_used_by_a_fit(folder):
    outcome = command("fit", folder / "run.toml", "-o", folder / "out")
    assert outcome.exit_code in (0, 3), outcome.output  # three steps may not converge
    result = pgt.Reconstruction.load(folder / "out")  # registered: no classes= needed
    assert isinstance(result.pde, Fisher)
    assert result.pde.spread.positive  # the limits of the argument say so
    assert isinstance(result.model, Polynomial)
    assert result.model.weights.shape == (1, 3, 3)
    assert result.model.kernel == WithinReach(0.5)
    settings = result.summary["training"]
    assert settings["optimiser"].startswith("trace(")
    assert "decay=0.8" in settings["optimiser"]
    assert "Early(bend=3.0)" in settings["sampler"]
    assert "Late" in settings["weighting"]
    predicted = command("predict", folder / "out", "-o", folder / "field.csv", "--grid", "x=3,t=2")
    assert predicted.exit_code == 0, predicted.output
