"""The Gaussian posterior around a polished fit (Laplace's approximation), and fields drawn from it.

With the rows r of the polish (polish.py) and J their derivative, n measured values with noise σ, and a
prior of strength a on the weights among θ,

    θ ~ N(θ̂, C),    C⁻¹ = (n/σ²) (J_dᵀJ_d + w² J_eᵀJ_e + a P) = (n/σ²) RᵀR,    δ = (σ/√n) R⁻¹ z

where d marks readings and e the rows of equation and conditions. Those are as stiff as they are
fulfilled: their own root mean square takes the place of the noise, w = σ / |r_e|, up to a limit.

A fit whose seconds ended is not at the summit of this posterior. Where the field there, to first order,
predicts readings that were not fitted plainly better, or these turn out to have a little noise and the
equation holds there, it is the answer, and drawn around (summit.py).
Elsewhere the fit is a Newton step α away from it. Its error is that step and what the posterior leaves
open together, E[δδᵀ] = C + ααᵀ: half of the draws have the step added, half of them taken off.
"""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float

from pgt.data.observations import Observations
from pgt.ground.unknown import named_unknowns
from pgt.models.linearised import LinearisedModel
from pgt.nn import batched
from pgt.nn.compiled import compiled
from pgt.nn.frozen import count_parameters
from pgt.nn.precision import cast
from pgt.physics.pde import AbstractPDE
from pgt.training.chance import is_less
from pgt.training.error_bars import Posterior
from pgt.training.instruments import by_instrument, judged_by_instrument
from pgt.training.jackknife import drawn_moves
from pgt.training.least_squares import Normal, Prior, Search, revised, root_of
from pgt.training.loop import Fit
from pgt.training.losses import Problem
from pgt.training.overtaxed import mean_squares
from pgt.training.polish import NOISY, ROUNDS
from pgt.training.rows import point_count
from pgt.training.settings import Polish
from pgt.training.step import held_out_error
from pgt.training.summit import Summit, summit
from pgt.training.system import common_noise, prior_of, system

# The posterior takes the encoder and the kind of prior for granted, and is a little too sure of the
# field for that. An equation less stiff than the fit's, 10, makes up for it; how well, `bands-heat` of
# benchmarks/instrument.py tells.
STIFFEST = 3.0
WHOLE_STIFFEST = 20.0  # where all weights are drawn; of noisy readings as stiff as summit.py says
MOST_ROWS = 12_000  # of the equations
DENSER = 4  # times as many residual points as the fit has at once: each of its steps saw others
MEMORISED = 2.0  # readings not fitted that are missed by this many σ say more than σ itself
AT_REST = 0.3  # σ: a fit whose next step moves what it says of readings by less is at its summit
STANDS = 0.1  # σ: the same where noise shows, and little is gained by a step that is less
READING_DIGITS = 1e-9  # in units of the spread: no reading has less noise
# The logarithm, logit or number of units that a coefficient may differ by when no reading tells.
UNTOLD_RANGE = 7.0
# The same, or share of a coefficient that may have either sign: a step by less changes nothing that is to
# be seen, however sure readings without noise are of it.
VISIBLE = 1e-4


class Sampled(NamedTuple):
    """Models and equations drawn from the posterior, stacked; what it was made with; the field at its
    summit with its equation and its error at readings not fitted, where that is the better answer; and
    models that differ by what some readings change (jackknife.py), where that is known."""

    models: LinearisedModel
    pdes: AbstractPDE
    about: dict
    better: tuple[LinearisedModel, AbstractPDE, float] | None
    changed: LinearisedModel | None = None


def laplace_members(
    fit: Fit,
    problem: Problem,
    settings: Posterior,
    held_out: Observations,
    noise: float | None,
    polish: Polish,
) -> Sampled:
    """Models and equations drawn from the posterior.

    `noise` is σ of the readings in units of their spread, where it is known, `polish` how the fit was
    polished. The second half of the samples mirrors the first at the fit, or at the better answer.
    """
    with jax.enable_x64(True):
        decoder = replace(polish, weights="decoder", points=_points(fit, problem, polish))
        (theta, rebuild, *_), search, judge = system(fit.model, fit.pde, problem, decoder, held_out)
        search = search.refreshed(theta)  # or outliers would count as if they were noise
        model = rebuild(theta)[0]
        search, factors = by_instrument(search, theta, model, problem, noise)
        missed = judge(theta)
        if (factors != 1).any():
            missed = judged_by_instrument(model, problem, held_out, factors)
        prior = prior_of(
            problem.observations, fit.pde, common_noise(problem, fit.model.scaling, noise)
        )
        whole = len(theta) >= count_parameters(fit.model)
        stiffest = WHOLE_STIFFEST if whole else STIFFEST
        found = posterior(theta, search, prior, missed, stiffest, _visible(fit.pde))
        better, changed, is_gaussian = None, None, problem.likelihood == "gauss"
        there = summit(found.normal, prior, UNTOLD_RANGE) if is_gaussian else None
        if there is not None and there.is_noise and whole:
            found = found.softened(there)
        if there is not None and len(held_out):
            if not _stands(found, there, noise):
                better = _better(theta, rebuild, there, (problem, held_out), judge(theta))
                found = found if better is None else found.at(there)
            moved = drawn_moves(there, _in_unit_box(problem), settings.samples)
            changed = _members(theta, rebuild, 0.0, jnp.asarray(moved), 0)[0]
        is_noise = there is not None and there.is_noise
        scale = found.sigma / np.sqrt(prior.count)
        steps = draw(found.factor, scale, settings.samples, prior.free, found.ahead)
        models, pdes = _members(theta, rebuild, found.centre, steps, prior.free)
        about = {
            "noise": found.sigma, "noise_of_fields": (found.sigma * factors).tolist(),
            "stiffness": found.stiffness, "unrest": found.unrest,
            # What it would say without a reading follows at the summit of a Gaussian that σ belongs to;
            # elsewhere too wide a band does, where no other reading is there to be asked.
            "leave_one_out": is_gaussian and not found.memorised
            and (found.moved < AT_REST or not len(held_out)),
            # What readings are missed by that were fitted as clean ones is the field's error.
            "is_clean": noise is None and found.sigma <= NOISY and not is_noise,
            "cost": None if better is None or there is None else there.cost,
        }  # fmt: skip
        return Sampled(models, pdes, about, better, changed)


def _stands(found: "Around", there: Summit, noise: float | None) -> bool:
    """Whether a fit of noisy readings is left where it is: its readings were seen to be noisy, and it has
    had a prior and a stiff equation, or the summit is no further than noise tells."""
    was_held = noise is not None or found.sigma > NOISY
    return there.is_noise and (was_held or there.moved < STANDS)


def _better(
    theta, rebuild, there: Summit, data: tuple[Problem, Observations], missed: float
) -> tuple[LinearisedModel, AbstractPDE, float] | None:
    """The field at the summit, to first order, with its equation and its error at readings held out,
    where it is the better answer: of clean readings where they are missed by less, by more than chance
    explains, those held out, or those fitted, though each of them is then said by the others. Of noisy
    ones, which hardly tell, where noise is all that is missed and the equation itself, which is not
    linear, is fulfilled there as well as it is believed, or as it was."""
    problem, held_out = cast(data, jnp.float64)
    model, pde = rebuild(theta)
    moved = LinearisedModel(model, rebuild(jnp.asarray(there.step))[0].tunable())
    moved_pde = rebuild(theta + there.step)[1]
    error = float(compiled(held_out_error)(moved, problem, held_out))
    counts = [int(np.asarray(part.mask).sum()) for part in (held_out, problem.observations)]
    if there.is_noise:
        bent = [mean_squares(*pair, problem)[1] for pair in ((model, pde), (moved, moved_pde))]
        believed = (there.sigma / there.stiffness) ** 2
        # Not by the error of the fit there: it ended where these few readings were missed least.
        follows = not is_less(max(missed, there.sigma), error, counts[0])
        is_better = follows and bent[1] <= max(bent[0], believed)
    else:
        is_better = is_less(error, missed, counts[0]) or (
            error < missed and is_less(there.left_out, there.missed_before, counts[1])
        )
    return (moved, moved_pde, error) if is_better else None


def _in_unit_box(problem: Problem) -> Float[np.ndarray, "n d"]:
    """Where readings are, each axis of the domain from 0 to 1."""
    domain = problem.domain
    low = np.array([domain.bounds(axis)[0] for axis in domain.axes])
    points = np.asarray(problem.observations.points, float)
    return (points - low) / np.asarray(domain.extent, float)


def _points(fit: Fit, problem: Problem, polish: Polish) -> int:
    """More than the fit has at once, within what can be solved in seconds."""
    usual = point_count(polish, problem, count_parameters(fit.model.tunable()), fresh=False)
    most = MOST_ROWS // max(len(problem.equation_scales), 1)
    return max(min(DENSER * usual, most), usual)


class Around(NamedTuple):
    """The posterior at θ: R, σ, the stiffness w of the equation, and how far from its summit θ is: the
    largest move of a coefficient by one more Newton step, in standard deviations, that step, `ahead`, and
    by how many σ what is said of readings is `moved` by it. Where readings were memorised, σ is that of
    others. `normal` are the rows at θ, equation and readings of one weight."""

    factor: Float[Array, "p p"]
    sigma: float
    stiffness: float
    unrest: float
    memorised: bool
    ahead: Float[Array, " p"]
    moved: float
    normal: Normal
    centre: Float[Array | np.ndarray, " p"] | float = 0.0  # what draws are around, counted from θ

    def softened(self, there: Summit) -> "Around":
        """The same with the stiffness that suits noisy readings; those memorised keep their σ."""
        sigma = self.sigma if self.memorised else there.sigma
        return self._replace(
            factor=jnp.asarray(there.factor), sigma=sigma, stiffness=there.stiffness,
        )  # fmt: skip

    def at(self, there: Summit) -> "Around":
        """The same at its summit."""
        return self._replace(
            factor=jnp.asarray(there.factor), sigma=there.sigma, stiffness=there.stiffness,
            ahead=jnp.zeros_like(there.step), moved=0.0, unrest=0.0, memorised=False,
            centre=jnp.asarray(there.step),
        )  # fmt: skip


def posterior(
    theta: Float[Array, " p"],
    search: Search,
    prior: Prior,
    held_out_error: float,
    stiffest: float = STIFFEST,
    visible: Float[np.ndarray, " f"] | float = 0.0,
) -> Around:
    """The posterior at θ, where the polish ended; the equation no stiffer than `stiffest`. A coefficient
    that moves by less than is `visible` is at rest."""
    soft = normal = search.stiffened(1.0).normal_at(theta)
    prior, estimated = revised(prior, normal, ROUNDS)
    sigma = _noise(estimated, held_out_error)
    unfulfilled = float(np.linalg.norm(normal.rows[prior.rows :]))
    stiffness = float(np.clip(sigma / max(unfulfilled, READING_DIGITS), 1.0, stiffest))
    if stiffness > 1:
        normal = search.stiffened(stiffness).normal_at(theta)
        prior, estimated = revised(prior, normal, ROUNDS)
        sigma = _noise(estimated, held_out_error)
    held = np.full(len(theta), prior.hold)
    held[len(theta) - prior.free :] = sigma**2 / prior.count / UNTOLD_RANGE**2
    factor = jnp.asarray(root_of(normal, held, prior.hold))
    slope = jnp.asarray(normal.slope + prior.hold * prior.held(theta))
    unrest = _unrest(factor, slope, sigma / np.sqrt(prior.count), prior.free, visible)
    memorised, ahead = sigma > max(estimated, READING_DIGITS), _newton(factor, slope)
    # The squares of the readings' rows sum to a mean square.
    moved = float(np.linalg.norm(normal.jacobian.times(np.asarray(ahead))[: prior.rows])) / sigma
    return Around(factor, sigma, stiffness, unrest, memorised, ahead, moved, soft)


def _visible(pde: AbstractPDE) -> Float[np.ndarray, " f"]:
    """By how much each coefficient has to move for anyone to see it, in the number that is learnt."""
    nodes = [node for _, node in named_unknowns(pde)]
    return VISIBLE * np.array([abs(float(n.raw)) if n.is_plain else 1.0 for n in nodes])


def _unrest(
    factor: Float[Array, "p p"],
    slope: Float[Array, " p"],
    scale: float,
    free: int,
    visible: Float[np.ndarray, " f"] | float = 0.0,
) -> float:
    """How far a Newton step would move the coefficients, the last `free` of θ, in their σ, or in what is
    visible where that is more."""
    if not free:
        return 0.0
    step = _newton(factor, slope)[-free:]
    # Rows of R⁻¹: the last ones need no more than the last corner of R.
    corner = solve_triangular(factor[-free:, -free:], jnp.eye(free))
    deviations = scale * jnp.linalg.norm(corner, axis=1)
    return float(jnp.max(jnp.abs(step) / jnp.maximum(deviations, jnp.asarray(visible))))


def _newton(factor: Float[Array, "p p"], slope: Float[Array, " p"]) -> Float[Array, " p"]:
    """The step that ends where the slope is none."""
    return -solve_triangular(factor, solve_triangular(factor, slope, trans=1))


def draw(
    factor: Float[Array, "p p"],
    scale: float,
    samples: int,
    free: int,
    ahead: Float[Array | np.ndarray, " p"] | float = 0.0,
) -> Float[Array, "k p"]:
    """Steps in pairs ±: Gaussian ones with the covariance scale² (RᵀR)⁻¹, each with the way `ahead` to
    the summit added or taken off, since the fit is that far from what the Gaussian is about.

    The last `free` of θ, the coefficients, have their covariance among themselves exactly, however few
    the samples: they depend on the last of z alone, which are made to be uncorrelated.
    """
    normal = np.random.default_rng(0).standard_normal((samples // 2, len(factor)))
    signs = np.resize([1.0, -1.0], len(normal))
    if 0 < free < len(normal):
        last = normal[:, len(factor) - free :]
        last = last - np.outer(signs, signs @ last) / len(normal)
        left, _, right = np.linalg.svd(last, full_matrices=False)
        normal[:, len(factor) - free :] = np.sqrt(len(normal)) * left @ right
    steps = scale * solve_triangular(factor, jnp.asarray(normal).T).T
    steps = steps + jnp.asarray(signs)[:, None] * ahead
    return jnp.concatenate([steps, -steps])


def _members(theta, rebuild, centre, steps: Float[Array, "k p"], free: int):
    """The fit moved to a centre, and from there along every step: the field to first order, the
    coefficients as they are."""
    model, pde = rebuild(theta)
    bases = batched.spread(eqx.filter(model, eqx.is_array, inverse=True), model, len(steps))
    directions = jax.vmap(lambda step: rebuild(step)[0].tunable())(steps + centre)
    if not free:  # one equation for all, and nothing to be rebuilt so many times
        return LinearisedModel(bases, directions), batched.repeat(pde, len(steps))
    moved = [rebuild(theta + centre + step)[1] for step in steps]
    return LinearisedModel(bases, directions), batched.stack(moved)


def _noise(estimated: float, held_out_error: float) -> float:
    """σ; where readings that were not fitted are missed by far more, they know better."""
    memorised = held_out_error > MEMORISED * estimated
    return max(held_out_error if memorised else estimated, READING_DIGITS)
