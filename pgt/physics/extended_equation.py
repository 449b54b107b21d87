"""`ExtendedEquation`: an equation with further terms and its discrepancy on the right-hand side."""

from collections.abc import Mapping, Sequence

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.numbers import listed
from pgt.core.unknown import Unknown
from pgt.kernels.kernel import AbstractKernel
from pgt.physics.coefficient_tree import Coefficient
from pgt.physics.curved_coordinates import with_attributes
from pgt.physics.derivatives import residual_names
from pgt.physics.equation import Equation
from pgt.physics.pde import AbstractPDE, Derivatives, Quantity
from pgt.physics.unknown_function import UnknownFunction

IN = " in "  # between a term and the name of its equation


class ExtendedEquation(AbstractPDE):
    r"""An equation with further terms on its right-hand side, and with a discrepancy if asked for.

    With the residual F of the equation, its left minus its right side, and terms g_k, it is

    $$ F(u) = \sum_k c_k\, g_k(u) + q $$

    The discrepancy q is an unknown function of all coordinates: a source with a smoothness and a size of
    greatest evidence. It says by how much the equation is off, and error bars account for it. It is a
    field called "discrepancy"; in a system there is one for each equation, "discrepancy_1" and so on.

    Parameters
    ----------
    pde
        The equation, or a system.
    terms
        Terms as text with their coefficients, such as {"u*u_x": -1.0, "u^2": pgt.Unknown(0.1)}. In a
        system, "u*v in equation_2" says to which equation a term belongs.
    discrepancy
        Whether there is an unknown source in every equation.

    >>> import pgt
    >>> law = ExtendedEquation(pgt.Heat(0.02), {"u^2": pgt.Unknown(-1.0)}, discrepancy=True)
    >>> law.fields
    ('u', 'discrepancy')
    """

    pde: AbstractPDE
    coefficients: dict[str, Coefficient]
    formulas: Equation | None
    equations: tuple[str, ...] = eqx.field(static=True)  # for each term, the name of its equation
    functions: dict[str, UnknownFunction]

    @checked
    def __init__(
        self,
        pde: AbstractPDE,
        terms: Mapping[str, Unknown | float] | None = None,
        *,
        discrepancy: bool = False,
    ):
        self.pde, self.coordinates = pde, pde.coordinates
        self.coefficients = dict(sorted((terms or {}).items()))  # as JAX orders them
        pairs = [split(term, pde) for term in self.coefficients]
        self.equations = tuple(name for _, name in pairs)
        self.formulas = formulas([text for text, _ in pairs], pde) if pairs else None
        names = discrepancy_names(pde) if discrepancy else ()
        self.functions = {name: UnknownFunction(*pde.coords) for name in names}
        if taken := [name for name in names if name in pde.fields]:
            raise InputError(
                f"ExtendedEquation: a field is called {taken[0]!r} already; rename it."
            )

    @property
    def coords(self) -> tuple[str, ...]:
        return self.pde.coords

    @property
    def fields(self) -> tuple[str, ...]:
        return (*self.pde.fields, *self.functions)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        residuals = self.pde.residual(d)
        terms = () if self.formulas is None else self.formulas.residual(d).values()
        for factor, name, term in zip(
            self.coefficients.values(), self.equations, terms, strict=True
        ):
            residuals[name] = residuals[name] - factor * term
        for name, source in zip(residuals, self.functions, strict=False):
            residuals[name] = residuals[name] - d(source)
        return residuals

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        return self.pde.quantities

    def kernel(self) -> AbstractKernel:
        return self.pde.kernel()


def discrepancy_names(pde: AbstractPDE) -> tuple[str, ...]:
    """The name of the discrepancy of each equation."""
    count = len(residual_names(pde))
    if count == 1:
        return ("discrepancy",)
    return tuple(f"discrepancy_{k + 1}" for k in range(count))


def split(term: str, pde: AbstractPDE) -> tuple[str, str]:
    """The formula of a term, and the name of the equation to which it belongs.

    >>> split("u*v in equation_2", Equation("u_t = v", "v_t = -u"))
    ('u*v', 'equation_2')
    """
    formula, _, name = term.partition(IN)
    names = residual_names(pde)
    name = name.strip() or names[0]
    if name not in names:
        raise InputError(
            f"the term {term!r}: there is no equation {name!r}; the equations are {listed(names)}."
        )
    return formula.strip(), name


def named(formula: str, equation: str, pde: AbstractPDE) -> str:
    """The term from its formula and the name of its equation: the inverse of `split`."""
    return formula if len(residual_names(pde)) == 1 else f"{formula}{IN}{equation}"


def formulas(texts: Sequence[str], pde: AbstractPDE) -> Equation:
    """Formulas in the fields and coordinates of an equation, as the residuals of another one."""
    for text in texts:
        try:
            alone = Equation(f"{text} = 0", fields=pde.fields, coords=pde.coords)
        except InputError as error:
            raise InputError(
                f"the term {text!r}: {_WANTED.format(*_listed(pde))} {error}"
            ) from None
        if set(alone.coords) - set(pde.coords) or set(alone.fields) - set(pde.fields):
            raise InputError(f"the term {text!r}: {_WANTED.format(*_listed(pde))}")
    zeros = [f"{text} = 0" for text in texts]
    together = Equation(*zeros, fields=pde.fields, coords=pde.coords)
    placed = with_attributes(together, coords=pde.coords, coordinates=pde.coordinates)
    assert isinstance(placed, Equation)
    return placed


_WANTED = (
    "write a formula of the fields {} and the coordinates {}, without a coefficient, which is "
    "estimated."
)


def _listed(pde: AbstractPDE) -> tuple[str, str]:
    return listed(pde.fields), listed(pde.coords)
