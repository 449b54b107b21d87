"""Train a writer once, over systems that are drawn as they are needed."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

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
from pgt.ground import serialise
from pgt.ground.arguments import Count, Positive, Seed
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.ground.files import require_writable
from pgt.ground.owner import owned
from pgt.ground.provenance import provenance
from pgt.models.writer import Writer, WriterSizes, Written
from pgt.nn.draw import Draw
from pgt.nn.embedding import Embedding
from pgt.training.checkpoint import require_same
from pgt.training.progress import ProgressBar

NAME = "pretraining"
WARM_UP = 0.02  # of the budget
LAST_RATE = 1e-2  # of the learning rate, at the end
LARGEST_STEP = 1.0  # norm to which gradients are clipped
SECONDS_BETWEEN = 20.0  # two checkpoints


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
    kernel
        What guides the encoder's attention: "none", or "equation": Γ of each system's own equation.
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
    kernel: str = "none"


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
        A family, or the name of one (`pgt.families.names()`).
    training, sizes
        How long and on what it is trained, and how large it is.
    checkpoint
        A folder to save progress in; training that was killed continues from there.
    """
    family, training = as_family(family), training or Pretraining()
    sizes = sizes or WriterSizes()
    if checkpoint is None:
        return _pretrained(family, training, sizes, seed, None, progress)
    require_writable(Path(checkpoint), "write another checkpoint=")
    with owned(Path(checkpoint), below=True):
        return _pretrained(family, training, sizes, seed, Path(checkpoint), progress)


def _pretrained(family, training, sizes, seed, folder: Path | None, progress) -> Pretrained:
    if training.kernel not in ("none", "equation"):
        raise InputError(f"Pretraining(kernel={training.kernel!r}): write 'none' or 'equation'.")
    identity = {
        "family": repr(family), "training": {k: repr(v) for k, v in asdict(training).items()},
        "sizes": sizes._asdict(), "seed": seed,
    }  # fmt: skip
    state = _resumed(folder, identity, start(family, sizes, seed))
    advance = block(family, training, seed)
    with ProgressBar(progress) as bar:
        state = _run(state, training, advance, bar, partial(_keep, folder, identity))
        bar.update("judge", 1.0, {})
        guide = Guide(training.kernel)
        found = judged(state.writer, family, training.sensing, guide, seed)
    card = Card(
        family=family.name, ranges=dict(family.ranges), sensing=training.sensing, kernel=training.kernel,
        steps=state.step, seconds=state.seconds, seed=seed, made=provenance(), **found,
    )  # fmt: skip
    return Pretrained(state.writer, family, card)


def start(family: AbstractFamily, sizes: WriterSizes, seed: int) -> State:
    """Before the first step."""
    domain = family.domain
    embedding = Embedding(tuple(axis in domain.periodic for axis in domain.axes))
    writer = Writer(embedding, len(family.fields), len(family.told), sizes, Draw(seed))
    return State(writer, _direction().init(eqx.filter(writer, eqx.is_array)), jax.random.key(seed))


def _run(state: State, training: Pretraining, advance, bar: ProgressBar, keep) -> State:
    """Block after block until the budget is spent."""
    last, kept = None, time.monotonic()
    while (share := _share(state, training)) < 1:
        began = time.monotonic()
        writer, moments, key, loss = advance(
            state.writer, state.moments, state.key, _rate(share, training)
        )
        loss = float(loss)
        # The first block compiles, which is not training.
        took = 0.0 if last is None else time.monotonic() - began
        last = loss
        steps = training.reuse * training.pool // training.batch
        state = State(
            writer, moments, key, state.step + steps, state.seconds + took, (*state.losses, loss)
        )
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


def block(family: AbstractFamily, training: Pretraining, seed: int) -> Callable:
    """Some steps on one pool of systems, compiled."""
    nodes, guide = Nodes.of(family), Guide(training.kernel)
    steps = max(training.reuse * training.pool // training.batch, 1)

    def draw(key):
        if training.systems is None:
            keys = jax.random.split(key, training.pool)
        else:  # always the same ones: those of the first keys of the seed
            which = jax.random.randint(key, (training.pool,), 0, training.systems)
            root = jax.random.key(seed)
            keys = jax.vmap(partial(jax.random.fold_in, root))(which)
        return jax.vmap(family.draw)(keys)

    def step(carry, key, pool, rate):
        writer, moments = carry
        choose, looks = jax.random.split(key)
        chosen = jax.random.randint(choose, (training.batch,), 0, training.pool)
        systems = jax.tree.map(lambda a: a[chosen], pool)
        keys = jax.random.split(looks, training.batch)
        see = partial(
            look, family=family, nodes=nodes, sensing=training.sensing, queries=training.queries,
            kernel=guide,
        )  # fmt: skip
        seen = jax.vmap(see)(keys, systems)
        (_, error), slope = eqx.filter_value_and_grad(_loss, has_aux=True)(writer, seen)
        update, moments = _direction().update(slope, moments, eqx.filter(writer, eqx.is_array))
        update = jax.tree.map(lambda u: -rate * u, update)
        return (eqx.apply_updates(writer, update), moments), error

    @eqx.filter_jit(donate="none")
    def advance(writer, moments, key, rate):
        key, drawn, looks = jax.random.split(key, 3)
        pool = draw(drawn)
        arrays, plain = eqx.partition(writer, eqx.is_array)

        def body(carry, one):
            (writer, moments), error = step(
                (eqx.combine(carry[0], plain), carry[1]), one, pool, rate
            )
            return (eqx.filter(writer, eqx.is_array), moments), error

        keys = jax.random.split(looks, steps)
        (arrays, moments), errors = jax.lax.scan(body, (arrays, moments), keys)
        return eqx.combine(arrays, plain), moments, key, jnp.median(errors)

    return advance


def _direction() -> optax.GradientTransformation:
    # Once in some thousand steps single precision cannot factor a matrix: that step says nothing.
    return optax.chain(
        optax.zero_nans(), optax.clip_by_global_norm(LARGEST_STEP), optax.scale_by_adam(b2=0.99)
    )


def _loss(writer: Writer, seen: Seen) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The relative error of the fields, and how badly the stated spread fits it."""
    errors, doubts = jax.vmap(partial(_of_one, writer))(seen)
    return jnp.mean(errors) + 1e-2 * jnp.mean(doubts), jnp.median(errors)


def _of_one(writer: Writer, seen: Seen) -> tuple[Float[Array, ""], Float[Array, ""]]:
    written = writer.encode(seen.readings)
    misses = jax.vmap(partial(writer.decode, written))(seen.points) - seen.truth
    error = jnp.sqrt(jnp.mean((misses / seen.size) ** 2) + 1e-12)
    held = Written(*jax.lax.stop_gradient(written[:-1]), written.doubt)
    spread = jax.vmap(partial(writer.spread, held))(seen.points)
    scores = jnp.log(spread) + (jax.lax.stop_gradient(misses) / spread) ** 2 / 2
    return error, jnp.mean(scores)


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
