"""Training of a network over the systems of a family, which are drawn during the training.

Systems are drawn in pools; each step senses a random batch of the pool and compares the predicted fields
with the true ones at random points. Adam minimizes the relative error plus a small weight times the
negative log-likelihood of the spread.
"""

import time
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from pgt.core import serialise
from pgt.core.arguments import Count, Positive, Seed
from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.files import require_writable
from pgt.core.fingerprint import contents
from pgt.core.folder_lock import lock_folder
from pgt.core.progress import ProgressBar
from pgt.core.provenance import provenance
from pgt.families.family import AbstractFamily, SampledSystem, as_family
from pgt.families.networks.card import Card, evaluate
from pgt.families.networks.pretrained import Pretrained
from pgt.families.networks.readout import FamilyNetwork, mean_and_spread_at
from pgt.families.sensing import KernelChoice, KernelGuide, NodeGrid, SensedSystem, Sensing, sense
from pgt.models.family_pgt import FamilyPGT, FamilyPGTSizes
from pgt.models.hypernetwork import HyperSiren, HyperSirenSizes
from pgt.nn.layers import Draw, Embedding
from pgt.problem.checkpoint import require_same

FILE_NAME = "pretraining"
WARM_UP = 0.02  # The share of the budget in which the learning rate rises.
FINAL_RATE = 1e-2  # The final learning rate relative to the largest one.
MAX_GRADIENT_NORM = 1.0
SPREAD_WEIGHT = 1e-2  # The weight of the spread's likelihood relative to the error of the field.
CHECKPOINT_SECONDS = 20.0
# The class of the sizes of each network, and its default kernel.
MODELS = {"hypernetwork": (HyperSirenSizes, "none"), "pgt": (FamilyPGTSizes, "symmetric")}


@checked
@dataclass(frozen=True)
class Pretraining:
    """How a network is trained over a family.

    Parameters
    ----------
    steps, seconds
        The budget. `seconds` limits the time of training without compilation; the number of steps then
        depends on the machine.
    batch, queries
        The number of systems in one step, and of points at which each is compared with its true fields.
    pool, reuse
        The number of systems that are drawn at once, and how often each is used on average, with new
        sensors every time. A larger `reuse` saves simulations, which cost more than steps.
    systems
        None for new systems without end, or a number of systems that are drawn again and again.
    learning_rate
        The rate of Adam after the warm-up; it falls to a hundredth.
    sensing
        The number, place and noise of the sensors.
    kernel
        The kernel that guides attention: "none"; "equation", the kernel Γ of each system's equation; or
        "symmetric", the same kernel without causality. The default is "symmetric" for a PGT and "none"
        for the hypernetwork, in which Γ has shown no effect (docs/paper.md).

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
    kernel: KernelChoice | None = None

    @property
    def steps_of_a_pool(self) -> int:
        return max(self.reuse * self.pool // self.batch, 1)


class PretrainingState(eqx.Module):
    """The state of a training, which checkpoints hold."""

    network: FamilyNetwork
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
    model: Literal["hypernetwork", "pgt"] = "hypernetwork",
    sizes: HyperSirenSizes | FamilyPGTSizes | None = None,
    seed: Seed = 0,
    checkpoint: str | Path | None = None,
    progress: bool | None = None,
) -> Pretrained:
    """A network that is trained on many systems of a family and predicts new ones.

    Parameters
    ----------
    family
        A family, or the name of one (`pgt.families.names()`). Of a folder of simulations, every fifth is
        held out for validation; the `.family` of the result draws from these.
    model
        "hypernetwork": the encoder writes a SIREN whose readout is solved from the readings. It is better
        where many systems can be drawn. "pgt": the Physics-Guided Transformer, which attends to the
        readings with a symmetric Γ. It is for comparison, and for families of few stored systems.
    training, sizes
        The training, and the sizes of the network.
    checkpoint
        A folder in which progress is saved; an interrupted training continues from there.

    Training takes minutes on a GPU; docs/pretrained.md has a complete example.

    >>> pretrain("heart")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    pgt.InputError: there is no family 'heart'; they are ... Did you mean 'heat'?
    """
    family, training = as_family(family), training or Pretraining()
    kind, kernel = MODELS[model]
    sizes = sizes or kind()
    if not isinstance(sizes, kind):
        raise InputError(f"pretrain(model={model!r}, sizes=...): write {kind.__name__}(...).")
    training = replace(training, kernel=training.kernel or kernel)
    if checkpoint is None:
        return _pretrained(family, training, sizes, seed, None, progress)
    require_writable(Path(checkpoint), "write another checkpoint=")
    with lock_folder(Path(checkpoint), below=True):
        return _pretrained(family, training, sizes, seed, Path(checkpoint), progress)


def _pretrained(family, training, sizes, seed, folder: Path | None, progress) -> Pretrained:
    """The network after training and evaluation, with its card."""
    identity = {
        "family": contents(family), "training": {k: repr(v) for k, v in asdict(training).items()},
        "sizes": sizes._asdict(), "seed": seed,
    }  # fmt: skip
    state = _resumed(folder, identity, initial_state(family, sizes, seed))
    trained_on, held_out = family.split()
    advance = partial(advance_pool, family=trained_on, training=training, seed=seed)
    with ProgressBar(progress) as bar:
        state = _run(state, training, advance, bar, partial(_save, folder, identity))
        bar.update("judge", 1.0, {})
        guide = KernelGuide(training.kernel or "none")
        measured = evaluate(state.network, held_out, training.sensing, guide, seed, trained_on)
    card = Card(
        family=family.name, ranges=dict(family.ranges), sensing=training.sensing, kernel=guide.name,
        steps=state.step, seconds=state.seconds, seed=seed, provenance=provenance(), **measured,
    )  # fmt: skip
    return Pretrained(state.network, held_out, card)


def initial_state(
    family: AbstractFamily, sizes: HyperSirenSizes | FamilyPGTSizes, seed: int
) -> PretrainingState:
    """The state before the first step."""
    domain = family.domain
    embedding = Embedding(tuple(axis in domain.periodic for axis in domain.axes))
    counts = len(family.fields), len(family.number_names)
    network: FamilyNetwork
    if isinstance(sizes, FamilyPGTSizes):
        network = FamilyPGT(embedding, *counts, sizes, Draw(seed))
    else:
        network = HyperSiren(embedding, *counts, sizes, Draw(seed))
    moments = _optimizer().init(eqx.filter(network, eqx.is_array))
    return PretrainingState(network, moments, jax.random.key(seed))


def _run(
    state: PretrainingState, training: Pretraining, one, bar: ProgressBar, save
) -> PretrainingState:
    """The state after the training, which takes one pool after the other until the budget is spent."""
    is_compiled, saved_at = False, time.monotonic()
    while (share := _share(state, training)) < 1:
        start = time.monotonic()
        rate = _rate(share, training)
        network, moments, key, loss = one(state.network, state.moments, state.key, rate)
        loss = float(loss)
        # The first pool waits for the compiler, whose time does not count.
        elapsed, is_compiled = (time.monotonic() - start if is_compiled else 0.0), True
        step, seconds = state.step + training.steps_of_a_pool, state.seconds + elapsed
        state = PretrainingState(network, moments, key, step, seconds, (*state.losses, loss))
        bar.update("pretrain", _share(state, training), {"error": loss})
        if time.monotonic() - saved_at > CHECKPOINT_SECONDS:
            save(state)
            saved_at = time.monotonic()
    save(state)
    return state


def _share(state: PretrainingState, training: Pretraining) -> float:
    """The share of the budget that is spent."""
    if training.seconds is not None:
        return state.seconds / training.seconds
    return state.step / training.steps


def _rate(share: float, training: Pretraining) -> Float[Array, ""]:
    """The learning rate: a linear warm-up, then half a cosine down to FINAL_RATE."""
    falling = FINAL_RATE + (1 - FINAL_RATE) * (1 + jnp.cos(jnp.pi * share)) / 2
    return training.learning_rate * jnp.minimum((share + 1e-3) / WARM_UP, falling)


@eqx.filter_jit
def advance_pool(
    network: FamilyNetwork,
    moments: optax.OptState,
    key: Array,
    rate: Float[Array, ""],
    family: AbstractFamily,
    training: Pretraining,
    seed: int,
) -> tuple[FamilyNetwork, optax.OptState, Array, Float[Array, ""]]:
    """The network, moments and key after the steps on one pool of systems, and the median error."""
    key, pool_key, sensing_key = jax.random.split(key, 3)
    pool, nodes = _draw_pool(pool_key, family, training, seed), NodeGrid.of(family)
    arrays, plain = eqx.partition(network, eqx.is_array)

    def step(carry, key):
        arrays, moments = carry
        sensed = _sense_batch(key, pool, family, nodes, training)
        gradient, error = eqx.filter_grad(_loss, has_aux=True)(eqx.combine(arrays, plain), sensed)
        update, moments = _optimizer().update(gradient, moments, arrays)
        return (jax.tree.map(lambda a, u: a - rate * u, arrays, update), moments), error

    keys = jax.random.split(sensing_key, training.steps_of_a_pool)
    (arrays, moments), errors = jax.lax.scan(step, (arrays, moments), keys)
    return eqx.combine(arrays, plain), moments, key, jnp.median(errors)


def _draw_pool(
    key: Array, family: AbstractFamily, training: Pretraining, seed: int
) -> SampledSystem:
    """The systems of a pool: new ones, or random ones of a limited number."""
    if training.systems is None:
        return jax.vmap(family.draw)(jax.random.split(key, training.pool))
    which = jax.random.randint(key, (training.pool,), 0, training.systems)
    keys = jax.vmap(partial(jax.random.fold_in, jax.random.key(seed)))(which)
    return jax.vmap(family.draw)(keys)


def _sense_batch(
    key: Array, pool: SampledSystem, family: AbstractFamily, nodes: NodeGrid, training: Pretraining
) -> SensedSystem:
    """A random batch of the pool, each system with new random sensors."""
    choice_key, sensing_key = jax.random.split(key)
    chosen = jax.random.randint(choice_key, (training.batch,), 0, training.pool)
    keys = jax.random.split(sensing_key, training.batch)
    guide = KernelGuide(training.kernel or "none")

    def sense_one(key, system):
        return sense(key, system, family, nodes, training.sensing, training.queries, guide)

    return jax.vmap(sense_one)(keys, jax.tree.map(lambda a: a[chosen], pool))


def _optimizer() -> optax.GradientTransformation:
    # In about one of a thousand steps a factorization fails in single precision; that step is skipped.
    return optax.chain(
        optax.zero_nans(),
        optax.clip_by_global_norm(MAX_GRADIENT_NORM),
        optax.scale_by_adam(b2=0.99),
    )


def _loss(
    network: FamilyNetwork, sensed: SensedSystem
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The loss, which is the mean relative error plus the weighted spread term; and the median error."""
    errors, likelihoods = jax.vmap(partial(_loss_of_one, network))(sensed)
    return jnp.mean(errors) + SPREAD_WEIGHT * jnp.mean(likelihoods), jnp.median(errors)


def _loss_of_one(
    network: FamilyNetwork, sensed: SensedSystem
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The relative error of one system, and the mean negative log-likelihood of its spread."""
    encoded: Any = network.encode(sensed.readings)
    misses = jax.vmap(partial(network.decode, encoded))(sensed.points) - sensed.truth
    error = jnp.sqrt(jnp.mean((misses / sensed.size) ** 2) + 1e-12)
    without_gradient = network.without_slopes(encoded)
    spread = mean_and_spread_at(network, without_gradient, sensed.points)[1]
    scores = jnp.log(spread) + (jax.lax.stop_gradient(misses) / spread) ** 2 / 2
    return error, jnp.mean(scores)


# ------------------------------------------------------------------------------- progress on disk


def _save(folder: Path | None, identity: dict, state: PretrainingState) -> None:
    if folder is None:
        return
    arrays = jax.tree.leaves(eqx.filter((state.network, state.moments, state.key), eqx.is_array))
    counts = {"step": state.step, "seconds": state.seconds, "losses": list(state.losses)}
    folder.mkdir(parents=True, exist_ok=True)
    saved = {"identity": identity, "arrays": arrays} | counts
    serialise.save(folder, FILE_NAME, saved, copy=False)


def _resumed(folder: Path | None, identity: dict, fresh: PretrainingState) -> PretrainingState:
    if folder is None or not serialise.exists(folder, FILE_NAME):
        return fresh
    saved = serialise.load(folder, FILE_NAME)
    require_same(folder, saved["identity"], identity)
    arrays, plain = eqx.partition((fresh.network, fresh.moments, fresh.key), eqx.is_array)
    leaves, structure = jax.tree.flatten(arrays)
    if len(leaves) != len(saved["arrays"]):
        raise InputError(f"{folder}: training of another network lies here; name another folder.")
    network, moments, key = eqx.combine(jax.tree.unflatten(structure, saved["arrays"]), plain)
    losses = tuple(saved["losses"])
    return PretrainingState(network, moments, key, saved["step"], saved["seconds"], losses)
