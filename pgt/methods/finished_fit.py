"""A finished fit: the model, the equation with its coefficients, and the course of the fit."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pgt.core.stage import Stage
from pgt.methods.coefficients import CoefficientEstimate
from pgt.methods.history import History
from pgt.models.field_model import AbstractFieldModel
from pgt.physics.pde import AbstractPDE

# The reasons why a fit stopped.
BUDGET_SPENT = "budget spent"
HELD_OUT_ERROR_STALLED = "held-out error stopped falling"
SOLVED_IN_CLOSED_FORM = "solved in closed form"
SOLVED_ON_MESH = "solved on a mesh"
ON_LARGEST_MESH = "solved on a mesh of the largest size"
ON_MESH_IN_TIME = "solved on a mesh that was refined until the seconds were used up"
COEFFICIENT_NOT_AT_REST = "a coefficient had not come to rest"
DIVERGED = "diverged: the loss stayed non-finite at a thousandth of the learning rate"


@dataclass(frozen=True)
class Fit:
    """A finished fit.

    `noise_floor` is the smallest plausible σ of the readings in units of their spread. `history`
    belongs to first-order training, `stages` and `polish_seconds` to second-order steps. `learnt` has
    the coefficients whose standard deviation is known.
    """

    model: AbstractFieldModel
    pde: AbstractPDE
    noise_floor: float
    history: History = field(default_factory=History)
    seconds: float = 0.0
    first_step_seconds: float = 0.0
    stopped: str = ""
    stages: tuple[Stage, ...] = ()
    polish_seconds: float = 0.0
    learnt: Mapping[str, CoefficientEstimate] = field(default_factory=dict)
