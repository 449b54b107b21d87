"""The model that suits a problem, where the user names none."""

from collections.abc import Sequence
from dataclasses import replace

import jax

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.sampling import Sobol, Uniform
from pgt.ground.arguments import Seed
from pgt.ground.checked import checked
from pgt.ground.unknown import named_unknowns
from pgt.mesh.collocation import is_solvable
from pgt.models.base import AbstractFieldModel
from pgt.models.features import MOST, Features, usual_count
from pgt.models.pgt import PGT
from pgt.models.pinn import PINN
from pgt.models.siren import SIREN
from pgt.models.solver import Solver
from pgt.nn.scaling import Scaling
from pgt.physics.conditions import AbstractCondition
from pgt.physics.given import Governing, Readings, Where, as_problem
from pgt.physics.pde import AbstractPDE
from pgt.training.error_bars import Ensemble, ErrorBars
from pgt.training.linearity import is_linear, is_linear_but_for_functions
from pgt.training.settings import Training

WIDTH_ON_GPU, USUAL_ON_GPU = 40, 60.0  # seconds
WIDEST, WIDEST_ON_GPU = 40, 64
SHAPED = 1.6  # times as many sines within a shape
FEWER = 120  # sines for each field where an equation is solved again and again
MANY_READINGS = 300  # beyond this, anchors gather the readings
# A SIREN for what a small network cannot follow, trained by first-order steps. For one set of readings
# the encoder of a PGT buys nothing, and every step has to wait for it.
LARGE_ON_GPU = {"width": 256, "layers": 5}
LARGE = {"width": 96, "layers": 5}
LARGE_FREQUENCY, LARGE_FREQUENCY_ON_GPU = 8.0, 16.0
POINTS_ON_GPU = 2000  # residual points of its steps, at least
# Seconds of a fit, in less of which a small network is better off with all of them.
LEAST_FOR_LARGER, LEAST_FOR_LARGER_ON_GPU = 300.0, 30.0


def suited_model(
    observations: Observations,
    pde: AbstractPDE,
    domain: Domain,
    error_bars: ErrorBars | None = None,
    *,
    conditions: Sequence[AbstractCondition] = (),
    on_mesh: bool = True,
    seconds: float | None = None,
    seed: Seed = 0,
) -> AbstractFieldModel:
    """The model that a reconstruction uses where none is named.

    * `Solver`, where coefficients are unknown and the equation can be solved on a mesh of one axis: where
      it only has to hold roughly, wrong coefficients can be made up for.
    * `Features` for another linear equation, which it solves in closed form, and for one that is linear
      but for its unknown functions.
    * Else a small tanh network, wider where there are many `seconds`. An ensemble is made of networks,
      too: its members differ by chance, and a solution does not.

    Without `on_mesh`, it is the best of the others.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(), n=40)
    >>> square = pgt.Domain(x=(0, 1), t=(0, 1))
    >>> equations = pgt.Heat(0.01), pgt.Burgers(0.01)
    >>> [type(suited_model(readings, pde, square)).__name__ for pde in equations]
    ['Features', 'PINN']
    """
    scaling = Scaling.fit(observations.aligned(pde.fields), domain)
    if not isinstance(error_bars, Ensemble):
        if on_mesh and named_unknowns(pde) and is_solvable(pde, domain, conditions, scaling):
            return Solver(scaling)
        if is_linear(pde, scaling):
            return Features(scaling, count=_count(scaling, domain), seed=seed, domain=domain)
        if is_linear_but_for_functions(pde, scaling):
            return Features(scaling, count=FEWER, seed=seed, domain=domain)
    return network(observations, pde, domain, seed, seconds=seconds)


def _count(scaling: Scaling, domain: Domain) -> int | None:
    """The usual number of sines; more where a shape bends the field between its walls."""
    if domain.shape is None:
        return None
    return min(round(SHAPED * usual_count(scaling)), MOST // len(scaling.mean))


def network(
    observations: Observations,
    pde: AbstractPDE,
    domain: Domain,
    seed: Seed = 0,
    *,
    seconds: float | None = None,
) -> PINN:
    """A tanh network small enough for second-order steps on all of its weights."""
    scaling = Scaling.fit(observations.aligned(pde.fields), domain)
    width = _width(domain, pde, seconds)
    return PINN(scaling, width=width, layers=3, seed=seed)


def _width(domain: Domain, pde: AbstractPDE, seconds: float | None) -> int:
    """Narrow on a CPU, where the square of the weights' number is what a step costs; wider where there is
    more time than all steps of the narrow one take.

    >>> import pgt
    >>> [_width(pgt.Domain(x=(0, 1), t=(0, 1)), pgt.Burgers(0.01), s) for s in (None, 10, 120)]
    [16, 16, 25]
    """
    width, usual = _narrow(domain, pde)
    if seconds is None:
        return width
    widest = WIDEST if jax.default_backend() == "cpu" else WIDEST_ON_GPU
    return min(round(width * max(seconds / usual, 1) ** 0.25), widest)


def _narrow(domain: Domain, pde: AbstractPDE) -> tuple[int, float]:
    """The least width, and the seconds that its steps take, on two cores or a graphics card."""
    if jax.default_backend() != "cpu":
        return WIDTH_ON_GPU, USUAL_ON_GPU
    if domain.dimension > 2:
        return 24, 60.0
    return (16, 20.0) if len(pde.fields) == 1 else (20, 45.0)


def larger(observations: Observations, pde: AbstractPDE, domain: Domain, seed: Seed = 0) -> SIREN:
    """A SIREN with room for fields that a network small enough for second-order steps cannot follow."""
    scaling = Scaling.fit(observations.aligned(pde.fields), domain)
    if jax.default_backend() == "cpu":
        return SIREN(scaling, frequency=LARGE_FREQUENCY, seed=seed, **LARGE)
    return SIREN(scaling, frequency=LARGE_FREQUENCY_ON_GPU, seed=seed, **LARGE_ON_GPU)


def has_time_for_larger(training: Training) -> bool:
    """Whether there is time for another network, after most of it was spent on a small one."""
    least = LEAST_FOR_LARGER if jax.default_backend() == "cpu" else LEAST_FOR_LARGER_ON_GPU
    return training.seconds is None or training.seconds >= least


def for_larger(training: Training) -> Training:
    """The settings that suit it: points that are spread evenly, which tell more of the residual than as
    many that fall where they may; with fewer a graphics card is hardly faster."""
    if isinstance(training.sampler, Uniform):
        training = replace(training, sampler=Sobol())
    if jax.default_backend() == "cpu" or not training.collocation:
        return training
    return replace(training, collocation=max(training.collocation, POINTS_ON_GPU))


@checked
def default_model(
    observations: Readings, pde: Governing, domain: Where, *, seed: Seed = 0, **sizes
) -> PGT:
    """A PGT sized for the problem: a small decoder, fit for a polish, in up to two coordinates; a wide
    one beyond; every reading a token while they are few, anchors when they are many.

    `sizes` are arguments of `PGT` that are to be otherwise; the others stay as they suit the problem.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(), n=400)
    >>> model = default_model(readings, pgt.Heat(0.01), pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> type(model).__name__, len(model.network.anchors.points)
    ('PGT', 64)
    """
    observations, pde, domain = as_problem(observations, pde, domain)
    small = domain.dimension <= 2
    suited = {
        "width": 32 if small else 64,
        "decoder_width": 20 if small else 128,
        "decoder_layers": 3 if small else 4,
        "frequency": 5.0 if small else 8.0,
        "anchors": 0 if len(observations) <= MANY_READINGS else 64,
    }
    scaling = Scaling.fit(observations.aligned(pde.fields), domain)
    kernel = sizes.pop("kernel", None) or pde.kernel()
    return PGT(scaling, kernel=kernel, seed=seed, **(suited | sizes))
