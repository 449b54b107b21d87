"""`Lifted`: a model that meets boundary values on a wall by construction, u = g(z) + d(z) N(z)."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.expression_trees import (
    CONSTANTS,
    WITH_JAX,
    WITH_NUMPY,
    evaluate,
    names_in,
    unknown_name,
)
from pgt.core.parser import parse
from pgt.core.types import Point
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.models.field_model import AbstractFieldModel, Halves
from pgt.nn.scaling import Scaling

# The largest size of d on the wall, relative to its mean size inside, that counts as zero.
MAX_ON_WALL = 0.01


@checked
class Lifted(AbstractFieldModel):
    """A model whose fields equal g on a wall for any weights: u = g(z) + d(z) N(z).

    N is the field of another model. d is a formula that vanishes on the wall and nowhere else; it is
    smooth inside and preferably of order one, such as 1 − (R/r)² around a disk. The condition on that
    wall holds exactly, so leave it out of the conditions. Fields without a g are those of N.

    Parameters
    ----------
    model
        The model N.
    domain, fields
        The domain, and the fields of the equation: `pde.fields`.
    away
        d, a formula in the coordinates.
    wall
        The name of a wall of the domain's shape. With it, d is checked to vanish on that wall.
    **values
        g for each prescribed field: a number or a formula in the coordinates.

    >>> import pgt
    >>> around = pgt.Domain(x=(-2, 2), y=(-2, 2), shape=-pgt.shapes.Disk(radius=0.5, name="cylinder"))
    >>> points = {"x": [1.0, -1.5], "y": [1.0, 0.0]}
    >>> readings = pgt.Observations.from_arrays(points, {"u": [1.0, 0.8], "v": [0.1, 0.0]})
    >>> fields = pgt.Stokes(viscosity=1.0).fields
    >>> network = pgt.PINN(pgt.Scaling.fit(readings.aligned(fields), around), width=8)
    >>> resting = "1 - 0.25/(x^2 + y^2)"
    >>> model = Lifted(network, around, fields, resting, "cylinder", u=0, v=0)
    >>> model.decode((), np.array([0.0, 0.5]))[:2].tolist()  # on the wall
    [0.0, 0.0]
    """

    base: AbstractFieldModel
    axes: tuple[str, ...] = eqx.field(static=True)
    away: str = eqx.field(static=True)
    values: tuple[str | None, ...] = eqx.field(static=True)  # by field

    def __init__(
        self,
        model: AbstractFieldModel,
        domain: Domain,
        fields: Sequence[str],
        away: str,
        wall: str | None = None,
        **values: float | str,
    ):
        _check_names(model, domain, fields, values)
        texts = {
            name: value if isinstance(value, str) else repr(float(value))
            for name, value in values.items()
        }
        for where, text in {"away": away, **texts}.items():
            _check_formula(where, text, domain.axes)
        if wall is not None:
            _check_vanishes(away, domain, wall)
        self.base, self.axes, self.away = model, domain.axes, away
        self.values = tuple(texts.get(name) for name in fields)

    @property
    def scaling(self) -> Scaling:
        """The scaling of the base model."""
        return self.base.scaling

    def encode(self, observations: Observations) -> PyTree[Array]:
        """The context of the base model."""
        return self.base.encode(observations)

    def decode(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """The fields, with their values on the wall."""
        return self._lifted(self.base.decode(context, z), z)

    def tunable(self) -> PyTree:
        """The tunable part of the base model."""
        return self.base.tunable()

    def halves(self) -> Halves | None:
        """The halves of the base model; the second one includes the lift."""
        halves = self.base.halves()
        if halves is None:
            return None
        return Halves(halves.look, lambda seen, z: self._lifted(halves.answer(seen, z), z))

    def _lifted(self, base_fields: Float[Array, " c"], z: Point) -> Float[Array, " c"]:
        point = dict(zip(self.axes, z, strict=True))
        away = _value(self.away, point, WITH_JAX)
        columns = [
            base if text is None else _value(text, point, WITH_JAX) + away * base
            for text, base in zip(self.values, base_fields, strict=True)
        ]
        return jnp.stack([jnp.asarray(column, base_fields.dtype) for column in columns])


def _value(text: str, point, operations):
    """The value of a formula at a point given as {coordinate: number}."""
    return evaluate(parse(text), lambda name: point.get(name, CONSTANTS.get(name)), operations)


def _check_names(base: AbstractFieldModel, domain: Domain, fields: Sequence[str], values) -> None:
    """Raise where a prescribed value names no field, or where formulas would count from an origin."""
    if not values:
        raise InputError(
            "Lifted: no field is prescribed; write its value on the wall, such as u=0."
        )
    for name in values:
        if name not in fields:
            raise InputError(f"Lifted({name}=...): the fields are {', '.join(fields)}.")
    if len(fields) != len(base.scaling.mean):
        raise InputError(
            f"Lifted(fields={tuple(fields)}): the model has {len(base.scaling.mean)} fields; write those "
            "of its equation, pde.fields."
        )
    far = [name for name, _ in base.scaling.origin.shifts if name in (*domain.axes, *values)]
    if far:
        raise InputError(
            f"Lifted: {', '.join(far)} is far from zero and counted from elsewhere, where the formulas "
            "would not hold; subtract a constant from it first."
        )


def _check_formula(where: str, text: str, axes: Sequence[str]) -> None:
    for name in names_in(parse(text)):
        if name.name not in (*CONSTANTS, *axes):
            raise unknown_name(text, name, axes, f"Lifted({where})")


def _check_vanishes(away: str, domain: Domain, wall: str) -> None:
    """Raise where d is not zero on the wall or not finite inside."""
    places = np.asarray(domain.wall(wall).places, float)
    lower = np.broadcast_to(domain.lower, (len(places), domain.dimension))
    wall_points = np.column_stack([places, lower[:, places.shape[1] :]])
    with np.errstate(all="ignore"):
        on_wall, inside = (
            np.abs(_value(away, dict(zip(domain.axes, points.T, strict=True)), WITH_NUMPY))
            for points in (wall_points, domain.even(1000))
        )
    if not np.isfinite(inside).all() or not np.max(on_wall) <= MAX_ON_WALL * np.mean(inside):
        raise InputError(
            f"Lifted(away={away!r}): it has to vanish on the wall {wall!r} and be finite inside; it is "
            f"up to {np.max(on_wall):g} on the wall and {np.mean(inside):g} inside on average."
        )
