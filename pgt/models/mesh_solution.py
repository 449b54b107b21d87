"""`Solver`: the field of an equation solved on a mesh, a Legendre polynomial in each mesh element."""

from collections.abc import Sequence
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from pgt.core.arguments import Positive
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.core.types import Point
from pgt.data.observations import Observations
from pgt.models.field_model import AbstractFieldModel
from pgt.nn.scaling import Scaling
from pgt.nn.trees import Frozen

# The default error of the solution, relative to a field's spread. It is below the noise of any sensor; a
# smaller value takes a finer mesh, and more than seconds for most equations in one coordinate.
TOLERANCE = 1e-5


class Elements(Frozen):
    """The edges of the mesh elements along each axis."""

    edges: tuple[Float[Array | np.ndarray, " _"], ...]


@register("solver")
class Solver(AbstractFieldModel):
    r"""A field that satisfies the equation exactly: the equation is solved on a mesh, and its unknowns
    are fitted to the readings (methods/solver/solution_fit.py).

    $$ F(u; c) = 0, \qquad u = u_0 \text{ at the start}, \qquad u = g \text{ on the faces} $$

    Unknown coefficients c, and initial states and boundary values that no condition gives, are found by
    Gauss-Newton steps through the solver, with a smoothness of greatest evidence. This suits equations
    that hold exactly and have few unknowns. The field is a polynomial in each element of the mesh.

    The equation needs as many residuals as fields, and may be in time, in one or two coordinates of a
    box, or both.

    Parameters
    ----------
    scaling
        Scales of the problem, `Scaling.fit(observations, domain)`.
    tolerance
        The error of the solution that the mesh allows, in units of the fields' spread.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(), n=50)
    >>> model = Solver(pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1))))
    >>> model.tolerance
    1e-05
    """

    is_trained: ClassVar[bool] = False
    scaling: Scaling
    tolerance: float
    elements: Elements
    pieces: Float[Array | np.ndarray, "c ..."]

    def __init__(self, scaling: Scaling, *, tolerance: Positive = TOLERANCE):
        if not tolerance < 0.1:
            raise InputError(
                f"Solver(tolerance={tolerance}): write a number below 0.1, such as 1e-5."
            )
        self.scaling, self.tolerance = scaling, float(tolerance)
        low, high = (np.asarray(scaling.middle + s * scaling.half_extent, float) for s in (-1, 1))
        self.elements = Elements(tuple(np.array(pair) for pair in zip(low, high, strict=True)))
        ones = (1,) * (2 * len(low))
        self.pieces = np.asarray(scaling.mean, float).reshape(-1, *ones)

    def with_pieces(
        self,
        edges: Sequence[Float[Array | np.ndarray, " _"]],
        pieces: Float[Array | np.ndarray, "c ..."],
    ) -> "Solver":
        """A copy with another field. `pieces` are coefficients of Legendre polynomials, with axes for the
        fields, for the elements along each coordinate and for the degrees along each coordinate."""
        copy = object.__new__(Solver)
        for name in Solver.__dataclass_fields__:
            object.__setattr__(copy, name, getattr(self, name))
        object.__setattr__(copy, "elements", Elements(tuple(map(jnp.asarray, edges))))
        object.__setattr__(copy, "pieces", jnp.asarray(pieces))
        return copy

    def encode(self, observations: Observations) -> tuple[()]:
        """An empty context: the readings only enter the fit."""
        return ()

    def decode(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """The value at z of the polynomials of the element that contains z."""
        z, pieces = jnp.asarray(z), jnp.asarray(self.pieces)
        dimension = len(self.elements.edges)
        indices, tables = [], []
        for axis, edges in enumerate(map(jnp.asarray, self.elements.edges)):
            element = jnp.clip(
                jnp.searchsorted(edges, z[axis], side="right") - 1, 0, len(edges) - 2
            )
            low, high = edges[element], edges[element + 1]
            indices.append(element)
            local = (2 * z[axis] - low - high) / (high - low)
            tables.append(_legendre(local, pieces.shape[1 + dimension + axis] - 1))
        values = pieces[(slice(None), *indices)]
        for table in reversed(tables):
            values = values @ table
        return values

    def tunable(self) -> PyTree:
        """The coefficients of the polynomials."""
        return self.pieces


def _legendre(x: Float[Array, ""], degree: int) -> Float[Array, " k"]:
    """The values of the Legendre polynomials P_0(x) to P_degree(x)."""
    values = [jnp.ones_like(x), x]
    for n in range(1, degree):
        values.append(((2 * n + 1) * x * values[n] - n * values[n - 1]) / (n + 1))
    return jnp.stack(values[: degree + 1])
