"""`Equation`: a governing equation, or a system, from text.

The text is parsed, rewritten in derivatives of fields (calculus.py), and its names are sorted into
fields, coordinates, coefficients, unknown functions and tables. Errors point at the name that is wrong.
"""

import functools
import re
from collections.abc import Mapping, Sequence

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.expression_trees import CONSTANTS, evaluate, names_in
from pgt.core.parser import (
    AXES,
    CALCULUS,
    CARTESIAN,
    DERIVATIVE,
    FUNCTIONS,
    MAX_LENGTH,
    Call,
    Name,
    Tree,
    from_book_notation,
    parse_equation,
    point_at,
    suggestion,
)
from pgt.data.coordinate_systems import CARTESIAN as X_Y_Z
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.kernels.kernel import AbstractKernel
from pgt.physics.calculus import MAX_ORDER, Affine, Expansion, affine
from pgt.physics.coefficient_tree import Coefficient, Given, as_coefficient, current
from pgt.physics.conditions import AbstractCondition, values_on
from pgt.physics.curved_coordinates import CurvedDerivatives, with_attributes
from pgt.physics.expression import require_finite
from pgt.physics.implied_kernel import Implied, implied_kernel
from pgt.physics.interpolation_table import Table
from pgt.physics.pde import TAKEN, AbstractPDE, Derivatives, Quantity
from pgt.physics.unknown_function import (
    StateFunction,
    UnknownFunction,
    constancy,
    positive_ones,
)

_LAPLACIAN = re.compile(r"lap\((?P<field>\w+)\)")


@checked
class Equation(AbstractPDE):
    r"""One equation, or a system, written as text.

    `Equation("u_t + u*u_x = nu*u_xx", nu=0.01)` stands for

    $$ u_t + u\, u_x = \nu\, u_{xx} $$

    `u_xt` is a derivative of the field u, and `lap(u)` its Laplacian over the spatial axes. The
    coordinates are x, y, z, t, and r and θ if the domain has them; `lap`, `div` and `grad` are then those
    of its cylindrical or spherical coordinates. All other names are coefficients. Conservative forms are
    written with `div`, `grad`, `curl`, `diff(formula, axis)`, `dot(a, b)` and vectors such as (u, v):
    `Equation("c*u_t = div(k*grad(u)) + q", ...)`.

    Parameters
    ----------
    *texts
        The equations, each with one `=`.
    fields
        Names of all fields, needed only if one of them occurs without any derivative; by default
        those with a derivative, in the order of their first occurrence.
    coords
        Coordinates that do not occur in the text. A text without a spatial axis, such as `u_t = lap(u)`,
        takes the axes of the domain, and has the axis x until it is given a domain.
    names
        Names of the residuals; by default "equation", or "equation_1", "equation_2", ...
    kernel
        The kernel of the attention bias; by default the one that the form of the equation implies
        (implied_kernel.py): heat-like, transport, wave-like or elliptic. For other forms there is no
        bias.
    **coefficients
        Numbers, `Unknown` for unknown numbers, `UnknownFunction` for unknown functions, such as a source
        q(x) or a conductivity k(x, y), or a `Table` for measured ones.

    >>> pde = Equation("u_t + u*u_x = nu*u_xx", nu=0.01)
    >>> pde.coords, pde.fields
    (('x', 't'), ('u',))
    """

    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    texts: tuple[str, ...] = eqx.field(static=True)
    names: tuple[str, ...] = eqx.field(static=True)
    coefficients: dict[str, Coefficient]
    functions: dict[str, UnknownFunction]
    tables: dict[str, Table]
    states: dict[str, StateFunction]
    # Whether the spatial axes are those of the domain, because the text names none.
    takes_axes: bool = eqx.field(static=True)
    influence: AbstractKernel | None

    def __init__(
        self,
        *texts: str | Sequence[str],
        fields: Sequence[str] = (),
        coords: Sequence[str] = (),
        names: Sequence[str] | None = None,
        kernel: AbstractKernel | None = None,
        **coefficients: Given | UnknownFunction | Table,
    ):
        unknown = {n: f for n, f in coefficients.items() if isinstance(f, UnknownFunction)}
        self.texts = _as_texts(texts, unknown)
        self.names = _as_names(names, len(self.texts))
        varying = {name: f for name, f in unknown.items() if not f.is_of_state}
        self.functions = varying
        self.states = {n: StateFunction.of(f) for n, f in unknown.items() if f.is_of_state}
        self.tables = {n: t for n, t in coefficients.items() if isinstance(t, Table)}
        self.coefficients = {
            name: as_coefficient(f"Equation({name})", value)
            for name, value in coefficients.items()
            if name not in unknown and name not in self.tables
        }
        known = tuple(self.coefficients)
        axes = (*_as_tuple(coords), *_axes(varying), *_axes_of_tables(self.tables))
        self.coords = _coords(self.texts, axes, tuple(coefficients))
        self.takes_axes = not set(self.coords) - {"t"} and _has_vector_calculus(self.texts)
        if self.takes_axes:
            self.coords = ("x", *self.coords)
        derived = _differentiated_fields(self.texts, tuple(coefficients))
        constants = _constants(known, (*derived, *_as_tuple(fields)))
        trees = _expanded(
            self.texts, self.coords, constants, varying, self.coordinates, self.states
        )
        for text, tree in zip(self.texts, trees, strict=True):
            require_finite(text, tree)
        hidden = tuple(function.field(name) for name, function in varying.items())
        measured = (*known, *_table_names(trees, self.tables), *self.states)
        self.fields = _fields(self.texts, trees, _as_tuple(fields), measured, hidden)
        self.influence = kernel
        _check_coefficients(self)
        _check_names(self)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        if self.coordinates != X_Y_Z:
            names = {name.name for tree in self._trees for name in names_in(tree)}
            d = CurvedDerivatives(d, self.coordinates, self.coords, names)

        def lookup(name):
            if name in self.coefficients:
                return self.coefficients[name]
            if (table := _table_of(name, self.tables)) is not None:
                point = {axis: d(axis) for axis in self.coords}
                axis = name.rpartition("_")[2] if name not in self.tables else ""
                return table.slope(point, axis) if axis else table(point)
            if (state := self.states.get(name.rstrip("'"))) is not None:
                return state(d(state.field), name.count("'"))
            if laplacian := _LAPLACIAN.fullmatch(name):
                return d.laplacian(laplacian["field"])
            return CONSTANTS[name] if _is_constant(self, name) else d(name)

        residuals = {n: evaluate(t, lookup) for n, t in zip(self.names, self._trees, strict=True)}
        return residuals | {name: d(name) for name in constancy(self.functions, self.coords)}

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        """The positive unknown functions, whose fields are logarithms."""
        return positive_ones(self.functions)

    @property
    def _trees(self) -> tuple[Tree, ...]:
        """The equations in derivatives of the fields."""
        constants = _constants(tuple(self.coefficients), self.fields)
        return _expanded(
            self.texts, self.coords, constants, self.functions, self.coordinates, self.states
        )

    def kernel(self) -> AbstractKernel:
        return self.implied_kernel().kernel if self.influence is None else self.influence

    def implied_kernel(self) -> Implied:
        """The kernel that the form of the equation implies, or the reason why there is none."""
        return implied_kernel(self.forms(), self.coords)

    def forms(self) -> list[Affine]:
        """The affine form of each equation with the current coefficients."""
        return [affine(tree, self._affine) for tree in self._trees]

    def _affine(self, name: str) -> Affine:
        """The affine form of a name."""
        if name in self.coefficients or _is_constant(self, name):
            return Affine(current(self.coefficients.get(name, CONSTANTS.get(name))))
        if _table_of(name, self.tables) is not None:
            return Affine(varies=True)
        if (state := self.states.get(name.rstrip("'"))) is not None:
            return Affine(others=frozenset({(state.field, "")}), varies=True)
        if laplacian := _LAPLACIAN.fullmatch(name):
            space = [axis for axis in self.coords if axis != "t"]
            return Affine(linear={(laplacian["field"], 2 * axis): 1.0 for axis in space})
        if name in self.fields:
            return Affine(linear={(name, ""): 1.0})
        derivative = DERIVATIVE.fullmatch(name)
        if derivative is None:  # a coordinate
            return Affine(varies=True)
        return Affine(linear={(derivative["field"], "".join(sorted(derivative["axes"]))): 1.0})


def over_range(
    pde: AbstractPDE,
    observations: Observations,
    domain: Domain,
    conditions: Sequence[AbstractCondition] = (),
) -> AbstractPDE:
    """The equation with its functions of the state over the range of the readings and of the values that
    conditions prescribe."""
    if not isinstance(pde, Equation) or not pde.states:
        return pde
    prescribed, states = values_on(domain, conditions), {}
    for name, state in pde.states.items():
        is_measured = state.field in observations.fields
        measured = observations.measured(state.field).values if is_measured else np.zeros(0)
        values = np.concatenate([measured, prescribed.get(state.field, np.zeros(0))])
        if not len(values) and state.between is None:
            raise InputError(
                f"Equation({name}=...): a function of {state.field}, which was not measured; give its "
                f'range, pgt.UnknownFunction("{state.field}", between=(0, 1)).'
            )
        states[name] = state.over(values)
    return with_attributes(pde, states=states)


def _as_tuple(names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def without_arguments(text: str, functions: Mapping[str, UnknownFunction]) -> str:
    """The text with D in place of D(u).

    >>> without_arguments("u_t = div(D(u)*grad(u))", {"D": UnknownFunction("u")})
    'u_t = div(D*grad(u))'
    """
    for name, function in functions.items():
        arguments = r"\s*,\s*".join(map(re.escape, function.axes))
        text = re.sub(rf"\b{re.escape(name)}\s*\(\s*{arguments}\s*\)", name, text)
    return text


def _as_texts(texts, functions: Mapping[str, UnknownFunction]) -> tuple[str, ...]:
    flat = [t for item in texts for t in ([item] if isinstance(item, str) else item)]
    flat = [without_arguments(text, functions) for text in flat]
    if not flat:
        raise InputError(
            'Equation: no equation given; write e.g. Equation("u_t = nu*u_xx", nu=0.01).'
        )
    if (length := sum(map(len, flat))) > MAX_LENGTH:
        raise InputError(
            f"Equation: {length} characters are too many (at most {MAX_LENGTH}); write it simpler."
        )
    for text in flat:
        parse_equation(text)
    return tuple(map(from_book_notation, flat))


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


def _axes(functions: Mapping[str, UnknownFunction]) -> tuple[str, ...]:
    return tuple(axis for function in functions.values() for axis in function.axes)


def _axes_of_tables(tables: Mapping[str, Table]) -> tuple[str, ...]:
    for name, table in tables.items():
        if table.names is None:
            raise InputError(
                f"Equation({name}=...): a pair (coordinates, values) does not say along which axis; "
                'write pgt.Table(frame, "value", t="time").'
            )
    return tuple(axis for table in tables.values() for axis in table.names or ())


def _table_of(name: str, tables: Mapping[str, Table]) -> Table | None:
    """The table of a name k, or of the name k_x of its derivative; None for other names."""
    if name in tables:
        return tables[name]
    stem, _, axis = name.rpartition("_")
    return tables[stem] if stem in tables and axis in AXES else None


def _table_names(trees: Sequence[Tree], tables: Mapping[str, Table]) -> tuple[str, ...]:
    """The names in expanded equations that belong to tables."""
    names = {name.name for tree in trees for name in names_in(tree)}
    table_names = {name for name in names if _table_of(name, tables) is not None}
    for name in sorted(names - table_names):
        if (match := DERIVATIVE.fullmatch(name)) and match["field"] in tables:
            raise InputError(
                f"Equation: '{name}' is a second derivative of a table, which is interpolated linearly; "
                "give a table of that derivative, or write the equation with first ones."
            )
    return tuple(sorted({*table_names, *tables}))


def _expanded(texts, coords, constants, functions, coordinates, states) -> tuple[Tree, ...]:
    """The equations in derivatives of the fields; the arguments become hashable for the cache."""
    fields = tuple((name, state.field) for name, state in sorted(states.items()))
    sorted_functions = tuple(sorted(functions.items()))
    return _trees(texts, coords, constants, sorted_functions, coordinates, fields)


@functools.lru_cache(maxsize=256)
def _trees(texts, coords, constants, functions, coordinates, states) -> tuple[Tree, ...]:
    meaning = {name: function.tree(name) for name, function in functions}
    trees, nodes = [], 0
    for text in texts:
        expansion = Expansion(text, coords, constants, meaning, nodes, coordinates, dict(states))
        trees.append(expansion(parse_equation(text)))
        nodes = expansion.nodes
    return tuple(trees)


def _constants(coefficients: tuple[str, ...], fields: Sequence[str]) -> tuple[str, ...]:
    """The names that do not vary. A field called e is not the constant 2.718."""
    return (*coefficients, *(name for name in CONSTANTS if name not in fields))


def _differentiated_fields(texts, coefficients) -> list[str]:
    """The fields of which the text contains a derivative, before expansion."""
    fields = (_derived_field(name.name, coefficients) for _, name in _all_names(texts))
    return [field for field in fields if field is not None]


def _all_names(texts, trees=None) -> list[tuple[str, Name]]:
    """Each name with its text, from the texts as written or from expanded trees."""
    trees = map(parse_equation, texts) if trees is None else trees
    pairs = zip(texts, trees, strict=True)
    return [(text, name) for text, tree in pairs for name in names_in(tree)]


def _derived_field(name: str, coefficients) -> str | None:
    """`u` for `u_xx` and `lap(u)`, None for a plain name or a given coefficient."""
    if name in coefficients:
        return None
    match = DERIVATIVE.fullmatch(name) or _LAPLACIAN.fullmatch(name)
    return match["field"] if match else None


def _fields(texts, trees, declared, coefficients, hidden) -> tuple[str, ...]:
    """The declared or differentiated fields, then those that represent unknown functions."""
    names, differentiated = _all_names(texts, trees), set()
    for text, name in names:
        field = _derived_field(name.name, coefficients)
        if field is None or field in hidden:
            continue
        if field in CARTESIAN or (declared and field not in declared):
            message = f"Equation: '{name.name}' differentiates '{field}', which is not a field."
            hint = suggestion(field, declared) or " Field names are any but x, y, z, t."
            raise point_at(text, name.position, message + hint)
        differentiated.add(field)
    # Fields are in the order of their first occurrence, with or without a derivative.
    mentioned = (_derived_field(n.name, coefficients) or n.name for _, n in names)
    fields = declared or tuple(dict.fromkeys(name for name in mentioned if name in differentiated))
    if not fields or set(fields) & {*CARTESIAN}:
        raise InputError(
            f"Equation(fields={fields}): an equation needs a field other than x, y, z, t; write a "
            'derivative such as u_t, or name it with fields=("u",).'
        )
    return (*(name for name in fields if name not in hidden), *hidden)


def _coords(texts, declared, coefficients) -> tuple[str, ...]:
    for coord in declared:
        if coord not in AXES:
            raise InputError(
                f"Equation(coords={declared}): '{coord}' is not one of {', '.join(AXES)}."
            )
    occurring = set(declared)
    for text, name in _all_names(texts):
        match = None if name.name in coefficients else DERIVATIVE.fullmatch(name.name)
        axes = match["axes"] if match else name.name if name.name in CARTESIAN else ""
        if len(axes) > MAX_ORDER:
            message = (
                f"Equation: a derivative of order {len(axes)}; at most {MAX_ORDER} can be taken."
            )
            raise point_at(text, name.position, message)
        occurring |= set(axes)
    return tuple(axis for axis in AXES if axis in occurring)


def _has_vector_calculus(texts) -> bool:
    """Whether the texts contain an operator of vector calculus."""
    pending = list(map(parse_equation, texts))
    while pending:
        node = pending.pop()
        if isinstance(node, Call) and node.function in CALCULUS:
            return True
        pending += node.parts
    return False


def _is_constant(equation, name: str) -> bool:
    return name in CONSTANTS and name not in equation.fields and name not in equation.coefficients


def _check_coefficients(equation) -> None:
    occurring = {name.name for _, name in _all_names(equation.texts)}
    taken = {*CARTESIAN, *equation.coords, *FUNCTIONS, *CALCULUS}
    written = {_derived_field(n.name, ()) or n.name for _, n in _all_names(equation.texts)}
    for name, state in equation.states.items():
        if state.field not in equation.fields or state.field not in written:
            raise InputError(
                f"Equation({name}=...): a function of '{state.field}', which is neither a coordinate nor "
                f"a field of it." + suggestion(state.field, written)
            )
    given = *equation.coefficients, *equation.functions, *equation.tables, *equation.states
    for name in given:
        is_field = name in equation.fields and name not in equation.functions
        if is_field or name in taken:
            raise InputError(
                f"Equation({name}=...): '{name}' is already a field, a coordinate or a function; "
                "give the coefficient another name."
            )
        used = name in occurring or any(n.startswith(f"{name}_") for n in occurring)
        if not used and not _unexplained_names(equation):
            raise InputError(
                f"Equation({name}=...): '{name}' does not occur in the text; remove it."
                + suggestion(name, occurring)
            )


def _unexplained_names(equation) -> list[tuple[str, Name]]:
    """The names in the texts that are no field, coordinate, coefficient or function, with their texts."""
    explained = {*equation.fields, *equation.coords, *equation.coefficients, *CONSTANTS}
    trees = equation._trees
    explained |= {*_table_names(trees, equation.tables), *equation.states}
    return [
        (text, name)
        for text, name in _all_names(equation.texts, trees)
        if name.name.rstrip("'") not in explained
        and _derived_field(name.name, equation.coefficients) is None
    ]


def _check_names(equation) -> None:
    for text, name in _unexplained_names(equation):
        n = name.name
        field, _, axes = n.rpartition("_")
        if field in equation.fields:
            message = (
                f"Equation: '{n}' is no derivative: coordinates are {', '.join(AXES)}, and there is no "
                f"'{axes}'. Write the equation in them; for a coefficient of that name write {n}=0.01."
            )
            raise point_at(text, name.position, message)
        message = (
            f"Equation: what is '{n}'? For a coefficient write {n}=0.01 or {n}=pgt.Unknown(0.01); "
            f'for a field without derivatives write fields=("{n}", ...).'
        )
        raise point_at(text, name.position, message + suggestion(n, equation.coefficients))
