"""Conditions in text that select parts of a wall, such as "x > 0 and y**2 < 0.1"; and bins for searches.

`Bins` lists edges or triangles by the cells of a grid, so that each point is compared with few of them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from pgt.core.errors import InputError
from pgt.core.expression_trees import CONSTANTS, WITH_NUMPY, evaluate, names_in, unknown_name
from pgt.core.parser import parse

_COMPARED = re.compile(r"(<=|>=|<|>)")
_BRACKETED = re.compile(r"\((.*[<>].*)\)", re.DOTALL)
_OTHER = re.compile(r"&+|\|+|\bnot\b|[!=]=")


def where_true(
    text: str, points: Float[np.ndarray, "n k"], axes: Sequence[str]
) -> Bool[np.ndarray, " n"]:
    """The points at which the condition holds.

    `and` binds tighter than `or`; brackets may only be around a single comparison.

    >>> where_true("x < 0 or x > 1", np.array([[-1.0], [0.5], [2.0]]), ("x",)).tolist()
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
    comparisons = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
    results = [
        comparisons[sign](a, b) for sign, a, b in zip(pieces[1::2], sides, sides[1:], strict=False)
    ]
    return np.all(np.broadcast_arrays(*results), axis=0)


def _without_brackets(text: str) -> str:
    """The text without brackets around all of it: "x > 0" for "(x > 0)"."""
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


# Points are processed in chunks of this size, whose bins stay in the cache.
POINTS_AT_ONCE = 1 << 17


class Bins(NamedTuple):
    """The cells of a grid in one or two coordinates; cell c holds `members[starts[c]:starts[c + 1]]`."""

    lower: Float[np.ndarray, " k"]
    step: Float[np.ndarray, " k"]
    shape: tuple[int, ...]
    starts: Int[np.ndarray, " cells"]
    members: Int[np.ndarray, " entries"]

    @staticmethod
    def build(low: Float[np.ndarray, "m k"], high: Float[np.ndarray, "m k"], cells: int) -> "Bins":
        """A grid of about `cells` cells; each member is in all cells that its box touches."""
        lower, upper = low.min(axis=0), high.max(axis=0)
        pad = 1e-6 * np.maximum(upper - lower, 1e-300)
        lower, upper = lower - pad, upper + pad
        side = max(round(cells ** (1 / len(lower))), 1)
        step = (upper - lower) / side
        first = ((low - pad - lower) // step).clip(0, side - 1).astype(int)
        last = ((high + pad - lower) // step).clip(0, side - 1).astype(int)
        member, cell = _touched(first, last, side)
        order = np.argsort(cell, kind="stable")
        starts = np.searchsorted(cell[order], np.arange(side ** len(lower) + 1))
        return Bins(lower, step, (side,) * len(lower), starts, member[order])

    def pairs(self, points: Float[np.ndarray, "n k"]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Arrays (rows, members) that pair every point with every member of its cell.

        No array of rows contains a point twice.
        """
        for first in range(0, len(points), POINTS_AT_ONCE):
            part = points[first : first + POINTS_AT_ONCE]
            index = np.floor((part - self.lower) / self.step)
            within = np.flatnonzero(np.all((index >= 0) & (index < self.shape), axis=1))
            cell = np.ravel_multi_index(tuple(index[within].astype(int).T), self.shape)
            start, count = self.starts[cell], self.starts[cell + 1] - self.starts[cell]
            order = np.argsort(-count, kind="stable")
            within, start, count = within[order], start[order], count[order]
            for position in range(int(count[0]) if len(count) else 0):
                remaining = int(np.searchsorted(-count, -position, side="left"))
                yield first + within[:remaining], self.members[start[:remaining] + position]


def _touched(first, last, side: int):
    """The pairs (member, cell) of all cells that each member touches."""
    size = last - first + 1
    count = np.prod(size, axis=1)
    member = np.repeat(np.arange(len(first)), count)
    rank = np.arange(len(member)) - np.repeat(np.cumsum(count) - count, count)
    cell = np.zeros(len(member), int)
    for axis in range(first.shape[1]):
        rest = np.prod(size[:, axis + 1 :], axis=1).astype(int)
        place = first[member, axis] + (rank // rest[member]) % size[member, axis]
        cell = cell * side + place
    return member, cell
