"""Piecewise polynomials: the field of an equation that was solved on a mesh."""

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

TOLERANCE = (
    1e-5  # of a field's spread: below any noise, and seconds for most equations in one coordinate
)


class Elements(Frozen):
    """By axis, where its elements begin and end."""

    edges: tuple[Float[Array | np.ndarray, " _"], ...]


@register("solver")
class Solver(AbstractFieldModel):
    r"""The equation as a hard constraint: it is solved on a mesh, and what is not known of it is fitted
    (methods/solver/solution_fit.py).

    $$ F(u; c) = 0, \qquad u = u_0 \text{ at the start}, \qquad u = g \text{ on the faces} $$

    Unknown coefficients c, initial states and boundary values that no condition gives are found by
    Gauss-Newton's method through the solver, as smooth as the evidence says. This is what a practitioner
    does with finite differences and least squares: right where the equation is, and where few numbers are
    unknown. The field is a polynomial in every element of the mesh.

    For equations with as many residuals as fields, in time, in one or two coordinates of a box, or both.

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
        """The same with another field: coefficients of Legendre polynomials, (fields, elements along each
        axis, degrees along each axis)."""
        other = object.__new__(Solver)
        for name in Solver.__dataclass_fields__:
            object.__setattr__(other, name, getattr(self, name))
        object.__setattr__(other, "elements", Elements(tuple(map(jnp.asarray, edges))))
        object.__setattr__(other, "pieces", jnp.asarray(pieces))
        return other

    def encode(self, observations: Observations) -> tuple[()]:
        """Nothing: the readings only enter the fit."""
        return ()

    def decode(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """The polynomials of the element in which z lies."""
        z, pieces = jnp.asarray(z), jnp.asarray(self.pieces)
        dimension = len(self.elements.edges)
        inside, tables = [], []
        for axis, edges in enumerate(map(jnp.asarray, self.elements.edges)):
            element = jnp.clip(
                jnp.searchsorted(edges, z[axis], side="right") - 1, 0, len(edges) - 2
            )
            low, high = edges[element], edges[element + 1]
            inside.append(element)
            local = (2 * z[axis] - low - high) / (high - low)
            tables.append(_legendre(local, pieces.shape[1 + dimension + axis] - 1))
        values = pieces[(slice(None), *inside)]
        for table in reversed(tables):
            values = values @ table
        return values

    def tunable(self) -> PyTree:
        """The coefficients of the polynomials."""
        return self.pieces


def _legendre(x: Float[Array, ""], degree: int) -> Float[Array, " k"]:
    """P_0(x) to P_degree(x)."""
    values = [jnp.ones_like(x), x]
    for n in range(1, degree):
        values.append(((2 * n + 1) * x * values[n] - n * values[n - 1]) / (n + 1))
    return jnp.stack(values[: degree + 1])
