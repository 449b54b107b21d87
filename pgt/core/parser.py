"""Formulas from text: a tokenizer and a parser that returns an expression tree; no text is run as code.

Mathematical notation is first replaced by that of the parser: ∂²u/∂x² becomes u_xx.
"""

import dataclasses
import difflib
import functools
import math
import re
from collections.abc import Iterable

from pgt.core.arguments import AXES as AXES
from pgt.core.errors import InputError

CARTESIAN = ("x", "y", "z", "t")
LETTERS = "".join(AXES)
DERIVATIVE = re.compile(rf"(?P<field>\w+)_(?P<axes>[{LETTERS}]+)")  # u_xt

_SIGNS = str.maketrans({"−": "-", "–": "-", "·": "*", "⋅": "*", "∙": "*", "×": "*"})
_POWERS = {"²": "2", "³": "3", "⁴": "4"}
_RAISED = re.compile("[²³⁴]")
_ORDER = r"(?:\^?[2-4]|[²³⁴])?"
# Derivatives such as d²T/dx² and ∂2u/∂x∂y.
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


def from_book_notation(text: str) -> str:
    """The equation with mathematical notation replaced by that of the parser; other text stays.

    >>> from_book_notation("∂T/∂t = α·∂²T/∂x²"), from_book_notation("d2u/dxdy = laplacian(u) + x²")
    ('T_t = α*T_xx', 'u_xy = lap(u) + x^2')
    >>> from_book_notation("u_t = k*∇²u − ∇·(q)")
    'u_t = k*lap(u) - div(q)'
    """
    for pattern, written in _OPERATORS:
        text = pattern.sub(written, text)
    text = _IN_BOOKS.sub(_derivative, text).translate(_SIGNS)
    return _RAISED.sub(lambda found: f"^{_POWERS[found[0]]}", text)


def _derivative(found: re.Match) -> str:
    """The name of a derivative, such as u_xx; the text itself where its orders do not agree."""
    parts = [(part["axis"], _number(part["order"])) for part in _BELOW.finditer(found["below"])]
    if sum(order for _, order in parts) != _number(found["order"]):
        return found[0]
    blanks = found[0][len(found[0].rstrip()) :]
    return f"{found['field']}_{''.join(axis * order for axis, order in parts)}{blanks}"


def _number(order: str) -> int:
    return int(_POWERS.get(order, order.removeprefix("^") or 1))


FUNCTIONS = ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "abs", "step")
LAPLACIAN = "lap"
OF_TWO = ("atan2", "min", "max")  # in formulas only: in an equation they would need derivatives
CALCULUS = (
    LAPLACIAN,
    "grad",
    "div",
    "curl",
    "diff",
    "dot",
)  # in equations only (physics/calculus.py)

MAX_LENGTH = 10_000
MAX_DEPTH = 100

_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<operator>\*\*|==|[-+*/^()=,])"
    r"|(?P<space>\s+)"
)
_DERIVATIVES = " Write derivatives as u_t, u_xx, diff(u^2, x), lap(u)."
HINTS = {
    **dict.fromkeys("'’′∂∇", _DERIVATIVES),
    ";": " Give each equation as a text of its own.",
    "&": " Give each equation as a text of its own.",
}
# Higher binds tighter; a sign binds tighter than a product and looser than a power: -x^2 = -(x^2).
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
_SIGN_PRECEDENCE = 3


@dataclasses.dataclass(frozen=True)
class _Node:
    """A node of an expression tree.

    Its size is computed on construction. Nodes may be shared, so counting later could take much longer.
    """

    size: int = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self):
        object.__setattr__(self, "size", 1 + sum(part.size for part in self.parts))

    @property
    def parts(self) -> "tuple[Tree, ...]":
        return ()


@dataclasses.dataclass(frozen=True)
class Number(_Node):
    value: float


@dataclasses.dataclass(frozen=True)
class Name(_Node):
    name: str
    position: int = dataclasses.field(default=0, compare=False)


@dataclasses.dataclass(frozen=True)
class Unary(_Node):
    operator: str
    operand: "Tree"

    @property
    def parts(self) -> "tuple[Tree, ...]":
        return (self.operand,)


@dataclasses.dataclass(frozen=True)
class Binary(_Node):
    operator: str
    left: "Tree"
    right: "Tree"

    @property
    def parts(self) -> "tuple[Tree, ...]":
        return self.left, self.right


@dataclasses.dataclass(frozen=True)
class Call(_Node):
    function: str
    argument: "Tree"

    @property
    def parts(self) -> "tuple[Tree, ...]":
        return (self.argument,)


@dataclasses.dataclass(frozen=True)
class Vector(_Node):
    """Components, or the arguments of a function of two."""

    items: tuple["Tree", ...]

    @property
    def parts(self) -> "tuple[Tree, ...]":
        return self.items


Tree = Number | Name | Unary | Binary | Call | Vector


@functools.lru_cache(maxsize=1024)
def parse(text: str) -> Tree:
    """The expression tree of a formula such as `sin(pi*x)*exp(-t)`."""
    parser = _Parser(text, calculus=False)
    tree = parser.expression()
    parser.finish("an operator or the end of the formula")
    return tree


@functools.lru_cache(maxsize=1024)
def parse_equation(text: str) -> Tree:
    """The tree of left minus right side of an equation such as `u_t = nu*lap(u)` or `∂u/∂t = nu*∇²u`."""
    parser = _Parser(from_book_notation(text), calculus=True)
    left = parser.expression()
    parser.take("=", "`=` and the right-hand side (write `= 0` if there is none)")
    right = parser.expression()
    parser.finish("an operator or the end of the equation")
    return Binary("-", left, right)


def suggestion(name: str, known: Iterable[str]) -> str:
    """The sentence ` Did you mean 'u'?`, or an empty text where no known name is close."""
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.5)
    return f" Did you mean '{close[0]}'?" if close else ""


def point_at(text: str, position: int, message: str) -> InputError:
    """An error that shows the text with a caret under `position`."""
    start = max(0, position - 60)
    shown = re.sub(r"\s", " ", text[start : position + 40])
    return InputError(f"{message}\n    {shown}\n    {' ' * (position - start)}^")


@dataclasses.dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    position: int

    def __str__(self):
        return "the end of the text" if self.kind == "end" else f"'{self.text}'"


def _tokens(text: str) -> list[_Token]:
    if len(text) > MAX_LENGTH:
        raise InputError(f"A formula of {len(text)} characters is too long (at most {MAX_LENGTH}).")
    tokens, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            expected = "expected a number, a name, a bracket or one of + - * / ^"
            hint = HINTS.get(text[position], "")
            message = f"Cannot read the character {text[position]!r}: {expected}.{hint}"
            raise point_at(text, position, message)
        if match.lastgroup != "space":
            symbol = "^" if match.group() == "**" else match.group()
            tokens.append(_Token(str(match.lastgroup), symbol, position))
        position = match.end()
    return [*tokens, _Token("end", "", len(text))]


class _Parser:
    """A parser by precedence climbing: a prefix, then operators of at least the given tightness."""

    def __init__(self, text: str, calculus: bool):
        self.text = text
        self.functions = (*FUNCTIONS, *(CALCULUS if calculus else OF_TWO))
        self.has_vectors = calculus
        self.tokens = iter(_tokens(text))
        self.token = next(self.tokens)
        self.depth = 0

    def advance(self) -> _Token:
        token = self.token
        self.token = next(self.tokens, token)
        return token

    def expected(self, what: str, token: _Token | None = None) -> InputError:
        token = token or self.token
        return point_at(self.text, token.position, f"Found {token} but expected {what}.")

    def take(self, symbol: str, what: str) -> None:
        if self.token.text != symbol:
            raise self.expected(what)
        self.advance()

    def finish(self, what: str) -> None:
        if self.token.kind != "end":
            is_product = self.token.kind in ("name", "number") or self.token.text == "("
            raise self.expected(what + " (write `*` for a product)" * is_product)

    def expression(self, tightness: int = 1) -> Tree:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            message = f"Brackets, signs or powers nested more than {MAX_DEPTH} deep."
            raise point_at(self.text, self.token.position, message)
        tree = self.prefix()
        while _PRECEDENCE.get(self.token.text, 0) >= tightness:
            operator = self.advance().text
            # A power groups to the right and may be followed by a sign: 2^-x, 2^x^y.
            tighter = _SIGN_PRECEDENCE if operator == "^" else _PRECEDENCE[operator] + 1
            tree = Binary(operator, tree, self.expression(tighter))
        self.depth -= 1
        return tree

    def prefix(self) -> Tree:
        token = self.advance()
        if token.kind == "number":
            return self.number(token)
        if token.kind == "name":
            if self.token.text != "(":
                return self.name(token)
            self.function(token)
            return self.of_two(token) if token.text in OF_TWO else Call(token.text, self.bracket())
        if token.text in ("+", "-"):
            return Unary(token.text, self.expression(_SIGN_PRECEDENCE))
        if token.text == "(":
            return self.bracket()
        raise self.expected("a number, a name or `(`", token)

    def bracket(self) -> Tree:
        """The content up to the closing bracket: a formula, or a vector where there are commas."""
        items = [self.expression()]
        while self.has_vectors and self.token.text == ",":
            self.advance()
            items.append(self.expression())
        self.take(")", "`)` or an operator")
        return items[0] if len(items) == 1 else Vector(tuple(items))

    def of_two(self, token: _Token) -> Tree:
        """The call atan2(y, x), or min or max of two or more, as binary operations."""
        items = [self.expression()]
        while self.token.text == ",":
            self.advance()
            items.append(self.expression())
        self.take(")", "`,`, `)` or an operator")
        if len(items) < 2 or (token.text == "atan2" and len(items) > 2):
            message = f"{token} needs two formulas between its brackets, {token.text}(y, x)."
            raise point_at(self.text, token.position, message)
        return functools.reduce(functools.partial(Binary, token.text), items)

    def number(self, token: _Token) -> Number:
        value = float(token.text)
        if not math.isfinite(value):
            raise point_at(self.text, token.position, f"The number {token.text[:20]} is too large.")
        return Number(value)

    def name(self, token: _Token) -> Name:
        if token.text in self.functions:
            raise self.expected(
                f"`(` after the function name {token}; a coefficient needs another name"
            )
        return Name(token.text, token.position)

    def function(self, token: _Token) -> None:
        """Advance past the opening bracket of a known function; raises for an unknown one."""
        if token.text not in self.functions:
            message = f"Unknown function {token} (known: {', '.join(self.functions)})."
            hint = suggestion(token.text, self.functions) or " Write `*` for a product."
            raise point_at(self.text, token.position, message + hint)
        self.advance()
