"""Equations as they stand in books, in the signs of the parser: ∂²u/∂x² is u_xx."""

import re

# Coordinates in their order. r and θ are names like any other where a domain has no such axis.
AXES = ("r", "θ", "x", "y", "z", "t")
CARTESIAN = ("x", "y", "z", "t")
LETTERS = "".join(AXES)
DERIVATIVE = re.compile(rf"(?P<field>\w+)_(?P<axes>[{LETTERS}]+)")  # u_xt

_SIGNS = str.maketrans({"−": "-", "–": "-", "·": "*", "⋅": "*", "∙": "*", "×": "*"})
_POWERS = {"²": "2", "³": "3", "⁴": "4"}
_RAISED = re.compile("[²³⁴]")
_ORDER = r"(?:\^?[2-4]|[²³⁴])?"
# d²T/dx², ∂2u/∂x∂y; between the two d stands no name of its own.
_IN_BOOKS = re.compile(
    rf"(?<![\w.])[d∂](?P<order>{_ORDER})\s*(?P<field>[^\W\d_][^\W_]*)\s*/\s*"
    rf"(?P<below>(?:[d∂]\s*[{LETTERS}]{_ORDER}\s*)+)(?!\w)"
)
_BELOW = re.compile(rf"[d∂]\s*(?P<axis>[{LETTERS}])(?P<order>{_ORDER})")
_OPERATORS = (
    (re.compile(r"∇\s*(?:\^\s*2|²)\s*(?P<field>[^\W\d_]\w*)"), r"lap(\g<field>)"),
    (re.compile(r"(?:∇\s*(?:\^\s*2|²)|\blaplacian)\s*\("), "lap("),
    (re.compile(r"∇\s*[·⋅.]\s*\("), "div("),
    (re.compile(r"∇\s*(?P<field>[^\W\d_]\w*)"), r"grad(\g<field>)"),
)


def plainly(text: str) -> str:
    """An equation in the signs that the parser knows; what it does not know stays.

    >>> plainly("∂T/∂t = α·∂²T/∂x²"), plainly("d2u/dxdy = laplacian(u) + x²")
    ('T_t = α*T_xx', 'u_xy = lap(u) + x^2')
    >>> plainly("u_t = k*∇²u − ∇·(q)")
    'u_t = k*lap(u) - div(q)'
    """
    for pattern, written in _OPERATORS:
        text = pattern.sub(written, text)
    text = _IN_BOOKS.sub(_derivative, text).translate(_SIGNS)
    return _RAISED.sub(lambda found: f"^{_POWERS[found[0]]}", text)


def _derivative(found: re.Match) -> str:
    """The derivative as a name; the text itself where its orders do not agree."""
    parts = [(part["axis"], _number(part["order"])) for part in _BELOW.finditer(found["below"])]
    if sum(order for _, order in parts) != _number(found["order"]):
        return found[0]
    blanks = found[0][len(found[0].rstrip()) :]
    return f"{found['field']}_{''.join(axis * order for axis, order in parts)}{blanks}"


def _number(order: str) -> int:
    return int(_POWERS.get(order, order.removeprefix("^") or 1))
