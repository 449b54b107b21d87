"""Splits of readings: a share is held out, or each reading is held out once (folds).

Readings are held out one by one, with all readings of a sensor, or in blocks of space and time.
"""

import heapq
from typing import Literal

import numpy as np
from jaxtyping import Int

from pgt.core.errors import InputError
from pgt.data.observations import Observations

READINGS_PER_BLOCK = 5  # the number of readings in a block, on average
# The bounds of the number of blocks. More blocks hold single points; fewer leave too few to choose from.
MIN_BLOCKS, MAX_BLOCKS = 10, 200

# Places with this many readings on average are taken for fixed sensors.
MIN_READINGS_PER_SENSOR = 2
# Whole sensors are held out by default if there are this many. Of fewer sensors each is needed for the
# fit, so single readings are held out.
MIN_SENSORS = 10

HeldOutBy = Literal["reading", "sensor", "block"]
Groups = Int[np.ndarray, " n"]  # the number of each reading's group, which is held out as a whole


def sensors(observations: Observations, at_least: int = 2) -> Groups | None:
    """The number of each reading's sensor, where sensors are fixed and read repeatedly.

    The result is None where readings are scattered, or where there are fewer sensors than `at_least`.

    >>> places = {"x": [0.1, 0.1, 0.9, 0.9], "t": [0, 1, 0, 1]}
    >>> rod = Observations.from_arrays(places, {"u": [1, 2, 3, 4]})
    >>> sensors(rod).tolist()
    [0, 0, 1, 1]
    """
    space = [k for k, axis in enumerate(observations.coords) if axis != "t"]
    if "t" not in observations.coords or not space or not len(observations):
        return None
    places, sensor_numbers = np.unique(
        np.asarray(observations.points, float)[:, space], axis=0, return_inverse=True
    )
    are_fixed = at_least <= len(places) <= len(observations) / MIN_READINGS_PER_SENSOR
    return sensor_numbers.reshape(-1) if are_fixed else None


def require_sensors(observations: Observations) -> Groups:
    """The number of each reading's sensor, as `sensors`; raises where there are no fixed sensors."""
    which = sensors(observations)
    if which is None:
        raise InputError(
            'hold_out_by = "sensor": no sensor stands still and reads many times; write hold_out_by = '
            '"reading" or "block".'
        )
    return which


def blocks(observations: Observations) -> Groups:
    """The number of the block in space and time in which each reading lies.

    Every axis is cut into intervals of about equal numbers of readings, so that a block holds a handful
    of them. Readings at the same position are in the same interval.

    >>> x = [0.0, 0.1, 0.2, 0.8, 0.9, 1.0]
    >>> readings = Observations.from_arrays({"x": x, "t": [0.0, 1.0] * 3}, {"u": x})
    >>> blocks(readings).tolist()  # two instants, three intervals of x
    [0, 1, 2, 3, 4, 5]
    """
    points = np.asarray(observations.points, float)
    moving = [column for column in points.T if len(np.unique(column)) > 1]
    count = np.clip(len(points) / READINGS_PER_BLOCK, MIN_BLOCKS, MAX_BLOCKS)
    cuts = max(round(count ** (1 / max(len(moving), 1))), 2)
    intervals = np.array([_interval(column, cuts) for column in moving], int)
    cells = intervals.reshape(len(moving), len(points)).T
    return np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1)


def usual_groups(observations: Observations) -> HeldOutBy:
    """The default unit that is held out: "sensor" where there are many fixed sensors, else "reading".

    >>> x, t = np.meshgrid(np.linspace(0, 1, 12), [0.0, 0.5, 1.0])
    >>> rod = Observations.from_arrays({"x": x.ravel(), "t": t.ravel()}, {"u": x.ravel()})
    >>> usual_groups(rod), usual_groups(rod.take(np.arange(12)))
    ('sensor', 'reading')
    """
    return "reading" if choose_held_out_sensors(observations) is None else "sensor"


def choose_held_out_sensors(observations: Observations) -> Groups | None:
    """The `sensors` if there are so many that the others predict what one of them reads; else None."""
    which = sensors(observations)
    return None if which is None or len(np.unique(which)) < MIN_SENSORS else which


def split(
    observations: Observations, fraction: float, seed: int, groups: Groups | None = None
) -> tuple[Observations, Observations]:
    """The readings to fit, and a random share `fraction` that is held out; each has at least one reading.

    With `groups`, such as `blocks` returns, whole groups are held out, as many as come nearest to the
    share. Rows without a value in any field are among the readings to fit.

    >>> x = np.linspace(0, 1, 50)
    >>> fitted, held_out = split(Observations.from_arrays({"x": x}, {"u": x}), 0.2, seed=0)
    >>> len(fitted), len(held_out)
    (40, 10)
    """
    return parts(observations, rows_held_out(observations, fraction, seed, groups))


def parts(
    observations: Observations, held_out: Int[np.ndarray, " m"]
) -> tuple[Observations, Observations]:
    """The readings to fit, and the readings in the rows `held_out`."""
    rest = np.setdiff1d(np.arange(len(observations)), held_out)
    return observations.take(rest) if len(held_out) else observations, observations.take(held_out)


def rows_held_out(
    observations: Observations, fraction: float, seed: int, groups: Groups | None = None
) -> Int[np.ndarray, " m"]:
    """The rows that `split` holds out."""
    if not 0 < fraction < 1:
        raise InputError(f"`fraction` is {fraction}; write a share between 0 and 1, such as 0.1.")
    members = _shuffled(observations, seed, groups, least=2)
    sizes = np.cumsum([len(rows) for rows in members])
    nearest = np.argmin(np.abs(sizes[:-1] - round(fraction * sizes[-1])))
    return np.sort(np.concatenate(members[: nearest + 1]))


def folds(
    observations: Observations, count: int, seed: int, groups: Groups | None = None
) -> list[Int[np.ndarray, " m"]]:
    """The rows of `count` disjoint folds of nearly equal sizes, which contain every reading once.

    With `groups`, such as `blocks` returns, no group is divided. Rows without a value in any field are in
    no fold.

    >>> x = np.linspace(0, 1, 8)
    >>> parts = folds(Observations.from_arrays({"x": x}, {"u": x}), 3, seed=0)
    >>> [len(rows) for rows in parts], sorted(np.concatenate(parts).tolist())
    ([3, 3, 2], [0, 1, 2, 3, 4, 5, 6, 7])
    """
    if count < 2:
        raise InputError(f"folds={count}: write 2 or more; 5 and 10 are usual.")
    members = _shuffled(observations, seed, groups, least=count)
    # Each group goes to the smallest fold, so no two folds differ by more than the largest group.
    smallest = [(0, fold) for fold in range(count)]
    parts: list[list[np.ndarray]] = [[] for _ in range(count)]
    for rows in members:
        size, fold = smallest[0]
        parts[fold].append(rows)
        heapq.heapreplace(smallest, (size + len(rows), fold))
    return [np.sort(np.concatenate(part)) for part in parts]


def _interval(column: np.ndarray, cuts: int) -> np.ndarray:
    """The number of the interval of each position; there are `cuts` intervals of about equal counts."""
    _, index, counts = np.unique(column, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(column)
    return (cuts * middle).astype(int)[index.reshape(-1)]


def _shuffled(
    observations: Observations, seed: int, groups: Groups | None, *, least: int
) -> list[np.ndarray]:
    """The rows of every group that has a reading, with the groups in random order.

    The order depends on the contents of the readings and not on the order of their rows.
    """
    rows = canonical_order(observations)
    usable = rows[np.any(np.asarray(observations.mask), axis=1).reshape(-1)[rows]]
    group_of_row = np.arange(len(observations)) if groups is None else groups
    names, first, index = np.unique(group_of_row[usable], return_index=True, return_inverse=True)
    index = np.argsort(np.argsort(first))[index.reshape(-1)]  # groups count by their first reading
    if len(names) < least:
        where = (
            "" if groups is None else f" in {len(names)} block(s) of space and time or sensor(s)"
        )
        remedy = "give more readings" if groups is None else 'write hold_out_by = "reading"'
        raise InputError(
            f"{len(usable)} reading(s){where} cannot be divided into {least} parts; {remedy}, or ask for "
            "fewer folds."
        )
    by_group = np.argsort(index, kind="stable")
    members = np.split(usable[by_group], np.cumsum(np.bincount(index))[:-1])
    return [members[k] for k in np.random.default_rng(seed).permutation(len(names))]


def canonical_order(observations: Observations) -> Int[np.ndarray, " n"]:
    """The rows sorted by position, with the first axis first, and readings at one place by their values.

    The order does not depend on the units and the origin of coordinates and values.

    >>> readings = Observations.from_arrays({"x": [0.7, 0.2, 0.4]}, {"u": [1.0, 2.0, 3.0]})
    >>> canonical_order(readings).tolist()
    [1, 2, 0]
    """
    boxes = [] if observations.half_width is None else [observations.half_width]
    parts = [
        observations.points,
        *boxes,
        observations.mask,
        observations.values,
        observations.noise,
    ]
    columns = np.hstack([np.asarray(part, float) for part in parts])
    return np.lexsort(columns.T[::-1])


def in_canonical_order(observations: Observations) -> Observations:
    """The readings sorted in their canonical order."""
    rows = canonical_order(observations)
    return observations if (np.diff(rows) > 0).all() else observations.take(rows)
