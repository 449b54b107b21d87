"""What pulls at the wall of an elastic solid: nothing, or a given force per area."""

from collections.abc import Sequence
from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.core.arguments import AxisName
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.core.types import Point
from pgt.core.unknown import Unknown
from pgt.data.domain import Domain
from pgt.physics.binding import as_values, bound_to, check_fields, wall_of, with_static
from pgt.physics.condition_values import Value, Writable, value_beside
from pgt.physics.conditions import AbstractWallCondition, Evaluate, Side
from pgt.physics.equations.elasticity import Elasticity
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_function import UnknownFunction
from pgt.physics.vectors import space_of


@register("traction")
class Traction(AbstractWallCondition):
    r"""The force per area at the wall of an elastic solid: σ n = g with n the outward normal.

    $$ \sigma = \lambda (\nabla \cdot \mathbf{u}) + \mu (\nabla \mathbf{u} + \nabla \mathbf{u}^T) $$

    with λ and μ those of the `Elasticity` that it stands beside; they may be unknown.

    Parameters
    ----------
    axis, side, wall, where
        As in `Dirichlet`.
    **values
        g along the displacement of each name, written as in `Initial`: v=-2.0 is a force per area
        against y, and nothing is said of the other direction. None at all: the wall is free.

    >>> Traction(wall="hole").kind, Traction("x", side="upper", u=1e6, v=0.0).side
    ('bc', 'upper')
    """

    names_fields: ClassVar[bool] = False
    values: dict[str, Value]
    solid: Any  # Elasticity, once it is known

    def __init__(
        self,
        axis: AxisName | Sequence[AxisName] | None = None,
        side: Side = "both",
        wall: str | None = None,
        where: str | None = None,
        **values: Writable | Unknown | UnknownFunction,
    ):
        self._stand(axis, side, wall, where)
        self.values = as_values("Traction", values) if values else {}
        self.solid = None

    def bind(self, domain: Domain, fields: tuple[str, ...]) -> "Traction":
        check_fields("Traction", self.values, fields)
        every = self.values or as_values("Traction", dict.fromkeys(fields, 0.0))
        return bound_to(with_static(self, values=every), wall_of(self, domain))

    def beside(self, pde: AbstractPDE) -> "Traction":
        """The same at the wall of that solid."""
        if not isinstance(pde, Elasticity):
            raise InputError(
                f"Traction: it stands at the wall of an elastic solid, but the equation is "
                f"{type(pde).__name__}; write pgt.Elasticity(...), or Neumann for a slope."
            )
        return with_static(self, solid=pde)

    def rows(self, evaluate: Evaluate, z: Point) -> Float[Array, " k"]:
        assert isinstance(self.solid, Elasticity)  # nobody asks before it is known
        fields, space = self.solid.fields, space_of(self.solid.coords)
        shear, dilation = self.solid.moduli()
        slopes = jnp.stack([jnp.stack([evaluate(z, f"{f}_{a}") for a in space]) for f in fields])
        normal = self._bound().normal(z)[: len(space)]
        pull = dilation * jnp.trace(slopes) * normal + shear * (slopes + slopes.T) @ normal
        point = self._bound().box.named(z)
        given = [
            (fields.index(f), value_beside(g, evaluate, z, point)) for f, g in self.values.items()
        ]
        return jnp.stack([pull[k] - g for k, g in given])
