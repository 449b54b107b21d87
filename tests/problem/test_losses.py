"""Rows and losses: dimensionless, zero for exact solutions, weighted by noise, and masked."""

import dataclasses
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exact_solutions import ALL_PDES

from pgt.core.errors import InputError
from pgt.core.unknown import Unknown
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.models.field_model import AbstractFieldModel
from pgt.models.pgt import PGT
from pgt.nn.scaling import Scaling
from pgt.nn.trees import cast
from pgt.physics import Dirichlet, Equation, Heat, Initial, NavierStokes2D, Neumann
from pgt.physics.pde import TAKEN
from pgt.problem.losses import (
    Batch,
    Problem,
    averaged_axes,
    condition_rows,
    data_loss,
    equation_rows,
    losses,
    reading_rows,
    reading_weights,
    take_readings,
    typical_residuals,
)

POINTS = np.random.default_rng(0).uniform(0, 1, (12, 2))
DIFFUSIVITY = 0.1


def truth(z):
    return jnp.stack([20.0 + jnp.sin(jnp.pi * z[0]) * jnp.exp(-DIFFUSIVITY * jnp.pi**2 * z[1])])


def readings(values=None, **options):
    if values is None:
        with jax.enable_x64(True):
            values = np.asarray(jax.vmap(truth)(POINTS))
    return Observations.from_arrays(POINTS, values, coords=("x", "t"), fields=("u",), **options)


CONDITIONS = (
    Initial(u="20 + sin(pi*x)"),
    Dirichlet("x", u=20.0),
    Neumann("x", u="pi*exp(-0.1*pi^2*t)*-1"),
)


def test_rows_vanish_for_an_exact_solution():
    domain = Domain(x=(0, 1), t=(0, 1))
    with jax.enable_x64(True):
        scaling = cast(Scaling.fit(readings(), domain), np.float64)
        problem = Problem.build(readings(), Heat(DIFFUSIVITY), CONDITIONS, domain, scaling)
        assert problem.term_names() == ("data", "heat", "ic", "bc")
        assert np.abs(reading_rows(truth, readings(), scaling)).max() < 1e-12
        wrong = reading_rows(lambda z: truth(z) + 0.5, readings(), scaling)
        np.testing.assert_allclose(wrong, 0.5 / scaling.spread[0], rtol=1e-6)
        z = jnp.array([0.3, 0.6])
        rows = equation_rows(truth, Heat(DIFFUSIVITY), problem, z)
        assert abs(float(rows["heat"])) < 1e-12
        for condition, scale in zip(problem.conditions, problem.condition_scales, strict=True):
            for point in condition.nodes(4):
                row = condition_rows(truth, condition, scale, Heat(DIFFUSIVITY), jnp.asarray(point))
                assert np.abs(row).max() < 1e-10


@pytest.mark.parametrize("case", ALL_PDES, ids=lambda case: case.name)
def test_every_equation_has_a_typical_size(case):
    n, d = len(case.pde.fields), len(case.pde.coords)
    scaling = Scaling(
        *(
            np.float32(a)
            for a in (np.zeros(d), np.full(d, 2.0), np.zeros(n), np.ones(n), np.ones(d))
        ),
        periodic=(False,) * d,
    )
    for name, size in typical_residuals(case.pde, scaling).items():
        assert 0 < size < np.inf, name


def in_units(length, time, speed, density):
    """The same flow in other units: factors turn SI numbers into the new ones."""
    random = np.random.default_rng(1)
    points, values = random.uniform(0, 1, (20, 3)), random.normal(1.0, 2.0, (20, 3))
    pressure = density * speed**2
    assert speed == pytest.approx(length / time)
    observations = Observations.from_arrays(
        points * [length, length, time], values * [speed, speed, pressure],
        coords=("x", "y", "t"), fields=("u", "v", "p"),
    )  # fmt: skip
    domain = Domain(x=(0, length), y=(0, length), t=(0, time))
    scaling = Scaling.fit(observations, domain)

    def field(z):
        x, y, t = z[0] / length, z[1] / length, z[2] / time
        u, v = jnp.sin(3 * x * y) + t, jnp.cos(2 * y + t) * x
        return jnp.stack([u * speed, v * speed, jnp.sin(x + 2 * y) * t * pressure])

    conditions = (Dirichlet("x", u=0.5 * speed), Neumann("y", v=0.2 * speed / length))
    pde = NavierStokes2D(0.05 * length**2 / time)
    problem = Problem.build(observations, pde, conditions, domain, scaling)
    z = jnp.array([0.3 * length, 0.6 * length, 0.4 * time])
    rows = dict(equation_rows(field, pde, problem, z))
    rows["data"] = reading_rows(field, observations, scaling)
    for k, (c, s) in enumerate(zip(problem.conditions, problem.condition_scales, strict=True)):
        rows[f"condition_{k}"] = condition_rows(field, c, s, pde, z)
    return rows


def test_losses_do_not_depend_on_the_units():
    """Metres and seconds, or millimetres and hours."""
    with jax.enable_x64(True):
        metres = in_units(1.0, 1.0, 1.0, 1.0)
        millimetres = in_units(1e3, 1 / 3600, 1e3 * 3600, 1.0)
    assert set(metres) == {
        "momentum_x",
        "momentum_y",
        "continuity",
        "data",
        "condition_0",
        "condition_1",
    }
    for name in metres:
        assert np.abs(metres[name]).max() > 1e-2, name
        np.testing.assert_allclose(metres[name], millimetres[name], rtol=1e-4, atol=1e-6)


def test_a_box_reading_is_the_average():
    centre, width = np.array([[0.5, 0.5], [0.3, 0.7]]), {"x": 0.4, "t": 0.2}

    def polynomial(z):
        return jnp.stack([z[0] ** 4 * z[1] ** 2 + z[0]])

    def mean_of_power(middle, w, n):
        low, high = middle - w / 2, middle + w / 2
        return (high ** (n + 1) - low ** (n + 1)) / ((n + 1) * w)

    exact = [mean_of_power(x, 0.4, 4) * mean_of_power(t, 0.2, 2) + x for x, t in centre]
    boxes = Observations.from_arrays(
        centre, np.array(exact)[:, None], coords=("x", "t"), fields=("u",), width=width
    )
    assert averaged_axes(boxes) == ("x", "t")
    scaling = cast(Scaling.fit(boxes, Domain(x=(0, 1), t=(0, 1))), np.float64)
    with jax.enable_x64(True):
        as_average = reading_rows(polynomial, boxes, scaling, ("x", "t"))
        as_points = reading_rows(polynomial, boxes, scaling)
    np.testing.assert_allclose(as_average, 0, atol=1e-10)
    assert np.abs(as_points).max() > 1e-2


def test_masked_readings_have_no_gradient():
    values = np.asarray(readings().values).copy()
    values[::3] = np.nan
    hidden = readings(values)
    poisoned = dataclasses.replace(hidden, values=np.where(hidden.mask, hidden.values, np.nan))
    scaling = Scaling.fit(hidden, Domain(x=(0, 1), t=(0, 1)))

    def total(shift):
        return jnp.sum(reading_rows(lambda z: truth(z) + shift, poisoned, scaling) ** 2)

    rows = reading_rows(lambda z: truth(z) + 1, poisoned, scaling)
    assert (np.asarray(rows)[::3] == 0).all()
    assert np.isfinite(jax.grad(total)(1.0))
    # d/ds Σ (s / spread)² over the eight visible readings
    assert float(jax.grad(total)(1.0)) == pytest.approx(2 * 8 / scaling.spread[0] ** 2, rel=1e-2)


class Constant(AbstractFieldModel):
    """A model that knows nothing: one value and one log-variance everywhere."""

    scaling: Scaling
    uncertain: bool = eqx.field(static=True)
    value: float = 20.3
    log: float = 0.7

    def encode(self, observations):
        return None

    def decode(self, context, z):
        return jnp.full(1, self.value)

    def tunable(self):
        return None

    @property
    def predicts_variance(self):
        return self.uncertain

    def log_variance(self, context, z):
        return jnp.full(1, self.log) + 0.1 * z[:1]


def constant(observations, uncertain=False):
    scaling = Scaling.fit(observations, Domain(x=(0, 1), t=(0, 1)))
    return Constant(scaling, uncertain)


def test_noise_weights():
    """Twice the noise counts a quarter; a reading without a given noise counts one."""
    sigma = np.full((12, 1), 0.1)
    sigma[4:8] = 0.2
    sigma[8:] = 0.0
    noisy = dataclasses.replace(readings(), noise=sigma)
    scaling = constant(noisy).scaling
    weights = np.asarray(reading_weights(noisy, scaling))
    assert weights[0, 0] / weights[5, 0] == pytest.approx(4)
    np.testing.assert_array_equal(weights[8:], 1.0)
    np.testing.assert_array_equal(reading_weights(readings(), scaling), 1.0)
    hidden = dataclasses.replace(noisy, mask=np.zeros((12, 1), bool))
    np.testing.assert_array_equal(reading_weights(hidden, scaling), 0.0)
    loss = data_loss(constant(noisy), None, noisy, ())
    misfit = (20.3 - noisy.values) / scaling.spread
    assert float(loss) == pytest.approx(
        float(np.sum(weights * misfit**2) / weights.sum()), rel=1e-4
    )


def test_losses_are_mean_squares_of_the_rows_by_name():
    domain, pde = (
        Domain(x=(0, 1), t=(0, 1)),
        Equation("u_t = nu*u_xx", nu=Unknown(0.2, positive=True)),
    )
    scaling = Scaling.fit(readings(), domain)
    model = PGT(scaling, pde.kernel(), width=8, heads=2, decoder_width=8, decoder_layers=1)
    problem = Problem.build(readings(), pde, CONDITIONS, domain, scaling)
    inside = np.random.default_rng(3).uniform(0, 1, (6, 2)).astype(np.float32)
    faces = tuple(np.float32(c.nodes(3)) for c in problem.conditions)
    rows = jnp.array([2, 2, 5])
    terms = jax.jit(lambda m, b: losses(m, pde, problem, b))(model, Batch(rows, inside, faces))
    assert set(terms) == set(problem.term_names())

    @jax.jit
    def by_hand(model):
        context = model.encode(problem.observations)

        def field(z):
            return model.decode(context, z)

        equation = jax.vmap(lambda z: equation_rows(field, pde, problem, z))(inside)
        on_faces = [
            jax.vmap(lambda z, c=c, s=s: condition_rows(field, c, s, pde, z, problem.origin))(f)
            for c, s, f in zip(problem.conditions, problem.condition_scales, faces, strict=True)
        ]
        return (
            reading_rows(field, take_readings(problem.observations, rows), scaling),
            equation,
            on_faces,
        )

    data, equation, on_faces = by_hand(model)
    assert float(terms["data"]) == pytest.approx(float(np.mean(data**2)), rel=1e-4)
    (name,) = equation
    assert float(terms[name]) == pytest.approx(float(np.mean(equation[name] ** 2)), rel=1e-4)
    initial, *walls = (float(np.mean(r**2)) for r in on_faces)
    assert float(terms["ic"]) == pytest.approx(initial, rel=1e-4)
    assert float(terms["bc"]) == pytest.approx(sum(walls), rel=1e-4)


class Renamed(Heat):
    """The heat equation under another name."""

    name: str = eqx.field(static=True)

    def __init__(self, diffusivity: float, name: str):
        super().__init__(diffusivity)
        self.name = name

    def residual(self, d):
        return {self.name: super().residual(d)["heat"]}


class Watched(Dirichlet):
    """A condition whose loss has a name of its own."""

    kind: ClassVar[str] = "wall"


@pytest.mark.parametrize("name", [*TAKEN, "wall"])
def test_a_residual_with_the_name_of_another_term_is_refused(name):
    domain = Domain(x=(0, 1), t=(0, 1))
    walls = (Watched("x", u=20.0),)

    def built(pde):
        return Problem.build(readings(), pde, walls, domain, Scaling.fit(readings(), domain))

    with pytest.raises(InputError, match=f"Renamed: {name} cannot be the name") as error:
        built(Renamed(DIFFUSIVITY, name=name))
    assert f"for example {name}_equation" in str(error.value)
    terms = built(Renamed(DIFFUSIVITY, name=f"{name}_equation")).term_names()
    assert terms == ("data", f"{name}_equation", "wall")
