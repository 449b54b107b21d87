"""A governing equation from text."""

import re
from collections.abc import Sequence

import equinox as eqx
from jaxtyping import Array, Float

from pgt.data.domain import AXES
from pgt.ground.errors import InputError
from pgt.ground.parser import FUNCTIONS, Name, parse_equation, point_at, suggestion
from pgt.ground.trees import CONSTANTS, evaluate, names_in
from pgt.ground.unknown import Unknown
from pgt.kernels.base import AbstractKernel
from pgt.physics.affine import Affine, affine
from pgt.physics.coefficients import Coefficient, as_coefficient, current
from pgt.physics.form import Implied, implied_kernel
from pgt.physics.pde import TAKEN, AbstractPDE, Derivatives

MAX_ORDER = 6  # of a derivative: text from a stranger must not ask for a thousand

_DERIVATIVE = re.compile(r"(?P<field>\w+)_(?P<axes>[xyzt]+)")
_LAPLACIAN = re.compile(r"lap\((?P<field>\w+)\)")


class Equation(AbstractPDE):
    r"""One equation, or a system, written as text.

    `Equation("u_t + u*u_x = nu*u_xx", nu=0.01)` stands for

    $$ u_t + u\, u_x = \nu\, u_{xx} $$

    `u_xt` is a derivative of the field u, `lap(u)` its Laplacian over the spatial axes, and x, y,
    z, t are the coordinates; every other name is a coefficient.

    Parameters
    ----------
    *texts
        The equations, each with one `=`.
    fields
        Names of all fields, needed only if one of them occurs without any derivative; by default
        those with a derivative, in the order in which they are first mentioned.
    coords
        Coordinates that do not occur in the text, e.g. ("x", "y") when all it says is `lap(u)`.
    names
        Names of the residuals; by default "equation", or "equation_1", "equation_2", ...
    kernel
        How influence spreads; by default as the form of the equation implies (form.py): like heat, in
        transport, as waves or at rest. Where it is none of these, attention gets no bias.
    **coefficients
        Numbers, or `Unknown` to learn them.

    >>> pde = Equation("u_t + u*u_x = nu*u_xx", nu=0.01)
    >>> pde.coords, pde.fields
    (('x', 't'), ('u',))
    """

    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    texts: tuple[str, ...] = eqx.field(static=True)
    names: tuple[str, ...] = eqx.field(static=True)
    coefficients: dict[str, Coefficient]
    influence: AbstractKernel | None

    def __init__(
        self,
        *texts: str | Sequence[str],
        fields: Sequence[str] = (),
        coords: Sequence[str] = (),
        names: Sequence[str] | None = None,
        kernel: AbstractKernel | None = None,
        **coefficients: float | int | Unknown,
    ):
        self.texts = _as_texts(texts)
        self.names = _as_names(names, len(self.texts))
        self.fields = _fields(self.texts, _as_tuple(fields), tuple(coefficients))
        self.coords = _coords(self.texts, _as_tuple(coords), tuple(coefficients))
        self.coefficients = {
            name: as_coefficient(f"Equation({name})", value) for name, value in coefficients.items()
        }
        self.influence = kernel
        _check_coefficients(self)
        _check_names(self)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        def lookup(name):
            if name in self.coefficients:
                return self.coefficients[name]
            if laplacian := _LAPLACIAN.fullmatch(name):
                return d.laplacian(laplacian["field"])
            return CONSTANTS[name] if _is_constant(self, name) else d(name)

        trees = (parse_equation(text) for text in self.texts)
        return {n: evaluate(tree, lookup) for n, tree in zip(self.names, trees, strict=True)}

    def kernel(self) -> AbstractKernel:
        return self.implied_kernel().kernel if self.influence is None else self.influence

    def implied_kernel(self) -> Implied:
        """The kernel that the form of the equation implies, or why there is none."""
        trees = map(parse_equation, self.texts)
        return implied_kernel((affine(tree, self._affine) for tree in trees), self.coords)

    def _affine(self, name: str) -> Affine:
        """A name as the analysis of the form sees it."""
        if name in self.coefficients or _is_constant(self, name):
            return Affine(current(self.coefficients.get(name, CONSTANTS.get(name))))
        if laplacian := _LAPLACIAN.fullmatch(name):
            space = [axis for axis in self.coords if axis != "t"]
            return Affine(linear={(laplacian["field"], 2 * axis): 1.0 for axis in space})
        if name in self.fields:
            return Affine(linear={(name, ""): 1.0})
        derivative = _DERIVATIVE.fullmatch(name)
        if derivative is None:  # a coordinate
            return Affine(varies=True)
        return Affine(linear={(derivative["field"], "".join(sorted(derivative["axes"]))): 1.0})


def _as_tuple(names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _as_texts(texts) -> tuple[str, ...]:
    flat = [t for item in texts for t in ([item] if isinstance(item, str) else item)]
    if not flat:
        raise InputError(
            'Equation: no equation given; write e.g. Equation("u_t = nu*u_xx", nu=0.01).'
        )
    for text in flat:
        parse_equation(text)
    return tuple(flat)


def _as_names(names, count) -> tuple[str, ...]:
    if names is None:
        return ("equation",) if count == 1 else tuple(f"equation_{i + 1}" for i in range(count))
    names = _as_tuple(names)
    if len(names) != count or len(set(names)) != count or set(names) & set(TAKEN):
        raise InputError(
            f"Equation(names={names}): give {count} different name(s), one per equation, other "
            f"than {', '.join(TAKEN)}, which the losses and their history already use."
        )
    return names


def _all_names(texts):
    return [(text, name) for text in texts for name in names_in(parse_equation(text))]


def _derived_field(name: str, coefficients) -> str | None:
    """`u` for `u_xx` and `lap(u)`, None for a plain name or a given coefficient."""
    if name in coefficients:
        return None
    match = _DERIVATIVE.fullmatch(name) or _LAPLACIAN.fullmatch(name)
    return match["field"] if match else None


def _fields(texts, declared, coefficients) -> tuple[str, ...]:
    found = set()
    for text, name in _all_names(texts):
        field = _derived_field(name.name, coefficients)
        if field is None:
            continue
        if field in AXES or (declared and field not in declared):
            message = f"Equation: '{name.name}' differentiates '{field}', which is not a field."
            hint = suggestion(field, declared) or " Field names are any but x, y, z, t."
            raise point_at(text, name.position, message + hint)
        found.add(field)
    # In the order in which they are first mentioned, with or without a derivative.
    mentioned = (_derived_field(n.name, coefficients) or n.name for _, n in _all_names(texts))
    fields = declared or tuple(dict.fromkeys(name for name in mentioned if name in found))
    if not fields or set(fields) & {*AXES}:
        raise InputError(
            f"Equation(fields={fields}): an equation needs a field other than x, y, z, t; write a "
            'derivative such as u_t, or name it with fields=("u",).'
        )
    return fields


def _coords(texts, declared, coefficients) -> tuple[str, ...]:
    for coord in declared:
        if coord not in AXES:
            raise InputError(f"Equation(coords={declared}): '{coord}' is not one of x, y, z, t.")
    found = set(declared)
    for text, name in _all_names(texts):
        match = None if name.name in coefficients else _DERIVATIVE.fullmatch(name.name)
        axes = match["axes"] if match else name.name if name.name in AXES else ""
        if len(axes) > MAX_ORDER:
            message = (
                f"Equation: a derivative of order {len(axes)}; at most {MAX_ORDER} can be taken."
            )
            raise point_at(text, name.position, message)
        found |= set(axes)
    for text, name in _all_names(texts):
        if _LAPLACIAN.fullmatch(name.name) and not found - {"t"}:
            message = f"Equation: {name.name} over which axes? Write e.g. coords=('x', 'y', 't')."
            raise point_at(text, name.position, message)
    return tuple(axis for axis in AXES if axis in found)


def _is_constant(equation, name: str) -> bool:
    return name in CONSTANTS and name not in equation.fields and name not in equation.coefficients


def _check_coefficients(equation) -> None:
    occurring = {name.name for _, name in _all_names(equation.texts)}
    for name in equation.coefficients:
        if name in equation.fields or name in AXES or name in FUNCTIONS:
            raise InputError(
                f"Equation({name}=...): '{name}' is already a field, a coordinate or a function; "
                "give the coefficient another name."
            )
        if name not in occurring and not _missing(equation):
            raise InputError(
                f"Equation({name}=...): '{name}' does not occur in the text; remove it."
                + suggestion(name, occurring)
            )


def _missing(equation) -> list[tuple[str, Name]]:
    """Names in the text that nothing explains."""
    explained = {*equation.fields, *equation.coords, *equation.coefficients, *CONSTANTS}
    return [
        (text, name)
        for text, name in _all_names(equation.texts)
        if name.name not in explained and _derived_field(name.name, equation.coefficients) is None
    ]


def _check_names(equation) -> None:
    for text, name in _missing(equation):
        n = name.name
        message = (
            f"Equation: what is '{n}'? For a coefficient write {n}=0.01 or {n}=pgt.Unknown(0.01); "
            f'for a field without derivatives write fields=("{n}", ...).'
        )
        raise point_at(text, name.position, message + suggestion(n, equation.coefficients))
