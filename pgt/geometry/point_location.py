"""Parts of a wall chosen by a condition in text: "x < 0", "x > 0 and y**2 < 0.1"."""

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from pgt.core.errors import InputError
from pgt.core.parser import parse
from pgt.core.trees import CONSTANTS, WITH_NUMPY, evaluate, names_in, unknown_name

_COMPARED = re.compile(r"(<=|>=|<|>)")
_BRACKETED = re.compile(r"\((.*[<>].*)\)", re.DOTALL)
_OTHER = re.compile(r"&+|\|+|\bnot\b|[!=]=")


def chosen(
    text: str, points: Float[np.ndarray, "n k"], axes: Sequence[str]
) -> Bool[np.ndarray, " n"]:
    """At which points the condition holds. `and` binds tighter than `or`; brackets are around one
    comparison, or none.

    >>> chosen("x < 0 or x > 1", np.array([[-1.0], [0.5], [2.0]]), ("x",)).tolist()
    [True, False, True]
    """
    if (other := _OTHER.search(text)) is not None:
        raise InputError(
            f"{text!r}: {other.group()!r} cannot be read here; write 'x > 0 and y < 1', 'x < 0 or x > 1'."
        )
    columns = dict(zip(axes, np.asarray(points, float).T, strict=True))
    found = np.zeros(len(points), bool)
    for part in re.split(r"\bor\b", text):
        both = [_compared(piece, columns, text) for piece in re.split(r"\band\b", part)]
        found |= np.all(np.broadcast_arrays(*both, found)[:-1], axis=0)
    return found


def _compared(text: str, columns, whole: str):
    text = _without_brackets(text)
    if text.count("(") != text.count(")"):
        raise InputError(
            f"{whole!r}: brackets do not go around `and` and `or`; write 'x < 0 and y > 0 or x > 1', "
            "where `and` binds tighter."
        )
    pieces = _COMPARED.split(text)
    if len(pieces) not in (3, 5) or not all(piece.strip() for piece in pieces):
        raise InputError(f"{whole!r} is no condition; write for example 'x < 0' or '0 < x < 1'.")
    sides = [_value(piece, columns) for piece in pieces[::2]]
    less = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
    steps = [less[sign](a, b) for sign, a, b in zip(pieces[1::2], sides, sides[1:], strict=False)]
    return np.all(np.broadcast_arrays(*steps), axis=0)


def _without_brackets(text: str) -> str:
    """x > 0 of (x > 0)."""
    inner = text.strip()
    while (found := _BRACKETED.fullmatch(inner)) and _is_balanced(found[1]):
        inner = found[1].strip()
    return inner


def _is_balanced(text: str) -> bool:
    """Whether every bracket is closed after it was opened."""
    depths = np.cumsum([(c == "(") - (c == ")") for c in text] or [0])
    return bool(depths.min() >= 0 and depths[-1] == 0)


def _value(text: str, columns):
    tree = parse(text)
    for name in names_in(tree):
        if name.name not in (*CONSTANTS, *columns):
            raise unknown_name(text, name, tuple(columns), "where")
    with np.errstate(all="ignore"):
        return evaluate(tree, {**CONSTANTS, **columns}.get, WITH_NUMPY)
