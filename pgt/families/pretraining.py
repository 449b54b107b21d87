"""Train a writer once, over systems that are drawn as they are needed."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from pgt.families.card import Card, judged
from pgt.families.family import AbstractFamily
from pgt.families.pretrained import Pretrained
from pgt.families.registry import as_family
from pgt.families.sensing import Guide, Nodes, Seen, Sensing, look
from pgt.families.system import System
from pgt.ground import serialise
from pgt.ground.arguments import Count, NotNegative, Positive, Seed
from pgt.ground.checked import checked
from pgt.ground.content import contents
from pgt.ground.errors import InputError
from pgt.ground.files import require_writable
from pgt.ground.owner import owned
from pgt.ground.provenance import provenance
from pgt.models.writer import Writer, WriterSizes
from pgt.models.written import Written
from pgt.nn.draw import Draw
from pgt.nn.embedding import Embedding
from pgt.nn.scaling import Scaling
from pgt.physics.derivatives import residual_and_size
from pgt.physics.pde import AbstractPDE
from pgt.training.checkpoint import require_same
from pgt.training.progress import ProgressBar

NAME = "pretraining"
WARM_UP = 0.02  # of the budget
LAST_RATE = 1e-2  # of the learning rate, at the end
LARGEST_STEP = 1.0  # norm to which gradients are clipped
SECONDS_BETWEEN = 20.0  # two checkpoints
UNMET_AT = 64  # of the points asked: what a residual costs, and what it says of all


@checked
@dataclass(frozen=True)
class Pretraining:
    """How a network is trained over a family.

    Parameters
    ----------
    steps, seconds
        The budget; with `seconds` it is the time of training without compiling, and the number of steps
        depends on the machine.
    batch, queries
        Systems in one step, and points at which each is compared with its truth.
    pool, reuse
        So many systems are drawn at once, and each is looked at about `reuse` times, with other sensors
        every time, before new ones are drawn: a simulation costs more than a look at it.
    systems
        None: new ones without end. A number: only so many ever, as where simulations are dear.
    learning_rate
        Of Adam, after a warm-up, falling to a hundredth of it.
    sensing
        How many sensors there are, where, and how noisy.
    equation
        How much the residual of an answer counts beside its error, relative to the equation's terms.
        0: not at all; it makes steps dearer, and has not been shown to help where truths are exact.
    kernel
        What guides the encoder's attention: "none", or "equation": Γ of each system's own equation, of
        which no effect shows in this network (docs/gamma.md).

    >>> Pretraining(pool=1024, reuse=4, batch=64).steps_of_a_pool
    64
    """

    steps: Count = 20_000
    seconds: Positive | None = None
    batch: Count = 64
    queries: Count = 256
    pool: Count = 1024
    reuse: Count = 4
    systems: Count | None = None
    learning_rate: Positive = 1e-3
    sensing: Sensing = field(default_factory=Sensing)
    equation: NotNegative = 0.0
    kernel: Literal["none", "equation"] = "none"

    @property
    def steps_of_a_pool(self) -> int:
        return max(self.reuse * self.pool // self.batch, 1)


class State(eqx.Module):
    """All that training changes."""

    writer: Writer
    moments: optax.OptState
    key: Array
    step: int = 0
    seconds: float = 0.0
    losses: tuple[float, ...] = ()


@checked
def pretrain(
    family: AbstractFamily | str,
    training: Pretraining | None = None,
    *,
    sizes: WriterSizes | None = None,
    seed: Seed = 0,
    checkpoint: str | Path | None = None,
    progress: bool | None = None,
) -> Pretrained:
    """A network that has seen many systems of a family, and answers for one it has not.

    Parameters
    ----------
    family
        A family, or the name of one (`pgt.families.names()`). Of a folder of simulations every fifth is
        not trained on: it judges the network, and is what `.family` of the result draws.
    training, sizes
        How long and on what it is trained, and how large it is.
    checkpoint
        A folder to save progress in; training that was killed continues from there.

    Training takes minutes on a graphics card; docs/pretrained.md has a whole example.

    >>> pretrain("heart")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    pgt.InputError: there is no family 'heart'; they are ... Did you mean 'heat'?
    """
    family, training = as_family(family), training or Pretraining()
    sizes = sizes or WriterSizes()
    if checkpoint is None:
        return _pretrained(family, training, sizes, seed, None, progress)
    require_writable(Path(checkpoint), "write another checkpoint=")
    with owned(Path(checkpoint), below=True):
        return _pretrained(family, training, sizes, seed, Path(checkpoint), progress)


def _pretrained(family, training, sizes, seed, folder: Path | None, progress) -> Pretrained:
    identity = {
        "family": contents(family), "training": {k: repr(v) for k, v in asdict(training).items()},
        "sizes": sizes._asdict(), "seed": seed,
    }  # fmt: skip
    state = _resumed(folder, identity, start(family, sizes, seed))
    shown, judges = family.parted()
    one = partial(advance, family=shown, training=training, seed=seed)
    with ProgressBar(progress) as bar:
        state = _run(state, training, one, bar, partial(_keep, folder, identity))
        bar.update("judge", 1.0, {})
        guide = Guide(training.kernel)
        found = judged(state.writer, judges, training.sensing, guide, seed, shown)
    card = Card(
        family=family.name, ranges=dict(family.ranges), sensing=training.sensing, kernel=training.kernel,
        steps=state.step, seconds=state.seconds, seed=seed, made=provenance(), **found,
    )  # fmt: skip
    return Pretrained(state.writer, judges, card)


def start(family: AbstractFamily, sizes: WriterSizes, seed: int) -> State:
    """Before the first step."""
    domain = family.domain
    embedding = Embedding(tuple(axis in domain.periodic for axis in domain.axes))
    writer = Writer(embedding, len(family.fields), len(family.told), sizes, Draw(seed))
    return State(writer, _direction().init(eqx.filter(writer, eqx.is_array)), jax.random.key(seed))


def _run(state: State, training: Pretraining, one, bar: ProgressBar, keep) -> State:
    """Pool after pool until the budget is spent."""
    compiled, kept = False, time.monotonic()
    while (share := _share(state, training)) < 1:
        began = time.monotonic()
        rate = _rate(share, training)
        writer, moments, key, loss = one(state.writer, state.moments, state.key, rate)
        loss = float(loss)
        # The first pool waits for the compiler, which is not training.
        took, compiled = (time.monotonic() - began if compiled else 0.0), True
        step, seconds = state.step + training.steps_of_a_pool, state.seconds + took
        state = State(writer, moments, key, step, seconds, (*state.losses, loss))
        bar.update("pretrain", _share(state, training), {"error": loss})
        if time.monotonic() - kept > SECONDS_BETWEEN:
            keep(state)
            kept = time.monotonic()
    keep(state)
    return state


def _share(state: State, training: Pretraining) -> float:
    if training.seconds is not None:
        return state.seconds / training.seconds
    return state.step / training.steps


def _rate(share: float, training: Pretraining) -> Float[Array, ""]:
    """Warm-up, then half a cosine."""
    falling = LAST_RATE + (1 - LAST_RATE) * (1 + jnp.cos(jnp.pi * share)) / 2
    return training.learning_rate * jnp.minimum((share + 1e-3) / WARM_UP, falling)


@eqx.filter_jit
def advance(
    writer: Writer,
    moments: optax.OptState,
    key: Array,
    rate: Float[Array, ""],
    family: AbstractFamily,
    training: Pretraining,
    seed: int,
) -> tuple[Writer, optax.OptState, Array, Float[Array, ""]]:
    """Some steps on one pool of systems, and the median error among them."""
    key, drawn, looks = jax.random.split(key, 3)
    pool, nodes = _pool(drawn, family, training, seed), Nodes.of(family)
    arrays, plain = eqx.partition(writer, eqx.is_array)

    def step(carry, key):
        arrays, moments = carry
        seen = _looked_at(key, pool, family, nodes, training)
        loss = partial(_loss, family=family, equation=training.equation)
        slope, error = eqx.filter_grad(loss, has_aux=True)(eqx.combine(arrays, plain), seen)
        update, moments = _direction().update(slope, moments, arrays)
        return (jax.tree.map(lambda a, u: a - rate * u, arrays, update), moments), error

    keys = jax.random.split(looks, training.steps_of_a_pool)
    (arrays, moments), errors = jax.lax.scan(step, (arrays, moments), keys)
    return eqx.combine(arrays, plain), moments, key, jnp.median(errors)


def _pool(key: Array, family: AbstractFamily, training: Pretraining, seed: int) -> System:
    """New systems; where there are to be only so many ever, some of those."""
    if training.systems is None:
        return jax.vmap(family.draw)(jax.random.split(key, training.pool))
    which = jax.random.randint(key, (training.pool,), 0, training.systems)
    keys = jax.vmap(partial(jax.random.fold_in, jax.random.key(seed)))(which)
    return jax.vmap(family.draw)(keys)


def _looked_at(
    key: Array, pool: System, family: AbstractFamily, nodes: Nodes, training: Pretraining
) -> Seen:
    """Some systems of the pool, each with sensors of its own."""
    choose, looks = jax.random.split(key)
    chosen = jax.random.randint(choose, (training.batch,), 0, training.pool)
    keys = jax.random.split(looks, training.batch)

    def one(key, system):
        guide = Guide(training.kernel)
        return look(key, system, family, nodes, training.sensing, training.queries, guide)

    return jax.vmap(one)(keys, jax.tree.map(lambda a: a[chosen], pool))


def _direction() -> optax.GradientTransformation:
    # Once in some thousand steps single precision cannot factor a matrix: that step says nothing.
    return optax.chain(
        optax.zero_nans(), optax.clip_by_global_norm(LARGEST_STEP), optax.scale_by_adam(b2=0.99)
    )


def _loss(
    writer: Writer, seen: Seen, family: AbstractFamily, equation: float
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The relative error of the fields, how badly the stated spread fits it, and how badly the equation
    is met."""
    errors, doubts, residuals = jax.vmap(partial(_of_one, writer, family, equation))(seen)
    total = jnp.mean(errors) + 1e-2 * jnp.mean(doubts) + equation * jnp.mean(residuals)
    return total, jnp.median(errors)


def _of_one(
    writer: Writer, family: AbstractFamily, equation: float, seen: Seen
) -> tuple[Float[Array, ""], Float[Array, ""], Float[Array, ""]]:
    written = writer.encode(seen.readings)
    misses = jax.vmap(partial(writer.decode, written))(seen.points) - seen.truth
    error = jnp.sqrt(jnp.mean((misses / seen.size) ** 2) + 1e-12)
    held = Written(*jax.lax.stop_gradient(written[:-1]), written.doubt)
    spread = jax.vmap(partial(writer.spread, held))(seen.points)
    scores = jnp.log(spread) + (jax.lax.stop_gradient(misses) / spread) ** 2 / 2
    residual = jnp.zeros(())
    if equation > 0:
        pde = family.pde(seen.coefficients)
        residual = unmet(pde, partial(writer.decode, written), seen.scaling, seen.points[:UNMET_AT])
    return error, jnp.mean(scores), residual


def unmet(
    pde: AbstractPDE, field: Callable, scaling: Scaling, points: Float[Array, "n d"]
) -> Float[Array, ""]:
    """The residual of a field in unit coordinates, relative to the terms of its equation."""

    def physical(z):
        return jnp.asarray(scaling.to_physical(field(scaling.to_unit(z))))

    def at(z):
        return residual_and_size(pde, physical, jnp.asarray(scaling.from_unit(z)))

    def share(residual, size):
        usual = jax.lax.stop_gradient(jnp.mean(size**2))
        return jnp.mean(residual**2) / jnp.maximum(usual, 1e-12)

    found = jax.vmap(at)(points).values()
    return jnp.sqrt(jnp.mean(jnp.stack([share(*pair) for pair in found])) + 1e-12)


# ------------------------------------------------------------------------------- progress on disk


def _keep(folder: Path | None, identity: dict, state: State) -> None:
    if folder is None:
        return
    arrays = jax.tree.leaves(eqx.filter((state.writer, state.moments, state.key), eqx.is_array))
    counts = {"step": state.step, "seconds": state.seconds, "losses": list(state.losses)}
    folder.mkdir(parents=True, exist_ok=True)
    saved = {"identity": identity, "arrays": arrays} | counts
    serialise.save(folder, NAME, saved, copy=False)


def _resumed(folder: Path | None, identity: dict, fresh: State) -> State:
    if folder is None or not serialise.exists(folder, NAME):
        return fresh
    saved = serialise.load(folder, NAME)
    require_same(folder, saved["identity"], identity)
    arrays, plain = eqx.partition((fresh.writer, fresh.moments, fresh.key), eqx.is_array)
    leaves, structure = jax.tree.flatten(arrays)
    if len(leaves) != len(saved["arrays"]):
        raise InputError(f"{folder}: training of another network lies here; name another folder.")
    writer, moments, key = eqx.combine(jax.tree.unflatten(structure, saved["arrays"]), plain)
    losses = tuple(saved["losses"])
    return State(writer, moments, key, saved["step"], saved["seconds"], losses)
