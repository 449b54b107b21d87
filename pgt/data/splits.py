"""How readings are divided: some held out, or each held out once, one by one, with all of its sensor, or
in whole blocks."""

import heapq
from typing import Literal

import numpy as np
from jaxtyping import Int

from pgt.core.errors import InputError
from pgt.data.observations import Observations

READINGS_PER_BLOCK = 5
FEWEST_BLOCKS, MOST_BLOCKS = 10, 200  # enough to choose from; not so many that a block is a point

# Places with so many readings on average are taken for sensors that stand still.
MIN_READINGS_PER_SENSOR = 2
# Of which one can be spared: with fewer, a field is fitted better to a part of each.
FEWEST_SENSORS = 10

HeldOutBy = Literal["reading", "sensor", "block"]
Groups = Int[np.ndarray, " n"]  # for each reading the group that it shares the fate of


def sensors(observations: Observations) -> Groups | None:
    """For each reading the number of the sensor that took it, where sensors stand still and read many
    times; None where readings are scattered.

    >>> places = {"x": [0.1, 0.1, 0.9, 0.9], "t": [0, 1, 0, 1]}
    >>> rod = Observations.from_arrays(places, {"u": [1, 2, 3, 4]})
    >>> sensors(rod).tolist()
    [0, 0, 1, 1]
    """
    space = [k for k, axis in enumerate(observations.coords) if axis != "t"]
    if "t" not in observations.coords or not space or not len(observations):
        return None
    places, which = np.unique(
        np.asarray(observations.points, float)[:, space], axis=0, return_inverse=True
    )
    stand_still = 1 < len(places) <= len(observations) / MIN_READINGS_PER_SENSOR
    return which.reshape(-1) if stand_still else None


def require_sensors(observations: Observations) -> Groups:
    """The same; raises where there are none."""
    which = sensors(observations)
    if which is None:
        raise InputError(
            'hold_out_by = "sensor": no sensor stands still and reads many times; write hold_out_by = '
            '"reading" or "block".'
        )
    return which


def blocks(observations: Observations) -> Groups:
    """The block in space and time in which each reading lies.

    Along every axis the readings are cut into intervals that hold about as many each, so that blocks
    hold a handful of readings; readings at the same position are never cut apart.

    >>> x = [0.0, 0.1, 0.2, 0.8, 0.9, 1.0]
    >>> readings = Observations.from_arrays({"x": x, "t": [0.0, 1.0] * 3}, {"u": x})
    >>> blocks(readings).tolist()  # two instants, three intervals of x
    [0, 1, 2, 3, 4, 5]
    """
    points = np.asarray(observations.points, float)
    moving = [column for column in points.T if len(np.unique(column)) > 1]
    count = np.clip(len(points) / READINGS_PER_BLOCK, FEWEST_BLOCKS, MOST_BLOCKS)
    cuts = max(round(count ** (1 / max(len(moving), 1))), 2)
    intervals = np.array([_interval(column, cuts) for column in moving], int)
    cells = intervals.reshape(len(moving), len(points)).T
    return np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1)


def usual_groups(observations: Observations) -> HeldOutBy:
    """What is held out together, where nothing is said.

    >>> x, t = np.meshgrid(np.linspace(0, 1, 12), [0.0, 0.5, 1.0])
    >>> rod = Observations.from_arrays({"x": x.ravel(), "t": t.ravel()}, {"u": x.ravel()})
    >>> usual_groups(rod), usual_groups(rod.take(np.arange(12)))
    ('sensor', 'reading')
    """
    return "reading" if choose_held_out_sensors(observations) is None else "sensor"


def choose_held_out_sensors(observations: Observations) -> Groups | None:
    """`sensors`, where they are so many that the others say what one of them reads; else None."""
    which = sensors(observations)
    return None if which is None or len(np.unique(which)) < FEWEST_SENSORS else which


def split(
    observations: Observations, fraction: float, seed: int, groups: Groups | None = None
) -> tuple[Observations, Observations]:
    """Readings to fit, and a random share `fraction` of them held out; at least one each.

    With `groups`, such as `blocks` gives, whole groups are held out: as many as come nearest to the
    share. What was hidden in every field is left among the readings to fit.

    >>> x = np.linspace(0, 1, 50)
    >>> fitted, held_out = split(Observations.from_arrays({"x": x}, {"u": x}), 0.2, seed=0)
    >>> len(fitted), len(held_out)
    (40, 10)
    """
    return parts(observations, rows_held_out(observations, fraction, seed, groups))


def parts(
    observations: Observations, held_out: Int[np.ndarray, " m"]
) -> tuple[Observations, Observations]:
    """Readings to fit, and those in the rows `held_out`."""
    rest = np.setdiff1d(np.arange(len(observations)), held_out)
    return observations.take(rest) if len(held_out) else observations, observations.take(held_out)


def rows_held_out(
    observations: Observations, fraction: float, seed: int, groups: Groups | None = None
) -> Int[np.ndarray, " m"]:
    """Which readings `split` holds out."""
    if not 0 < fraction < 1:
        raise InputError(f"`fraction` is {fraction}; write a share between 0 and 1, such as 0.1.")
    members = _shuffled(observations, seed, groups, least=2)
    sizes = np.cumsum([len(rows) for rows in members])
    nearest = np.argmin(np.abs(sizes[:-1] - round(fraction * sizes[-1])))
    return np.sort(np.concatenate(members[: nearest + 1]))


def folds(
    observations: Observations, count: int, seed: int, groups: Groups | None = None
) -> list[Int[np.ndarray, " m"]]:
    """Rows of `count` disjoint sets, of sizes as equal as can be, that hold every reading once.

    With `groups`, such as `blocks` gives, no group is divided. Rows that are hidden in every field are
    in no set.

    >>> x = np.linspace(0, 1, 8)
    >>> parts = folds(Observations.from_arrays({"x": x}, {"u": x}), 3, seed=0)
    >>> [len(rows) for rows in parts], sorted(np.concatenate(parts).tolist())
    ([3, 3, 2], [0, 1, 2, 3, 4, 5, 6, 7])
    """
    if count < 2:
        raise InputError(f"folds={count}: write 2 or more; 5 and 10 are usual.")
    members = _shuffled(observations, seed, groups, least=count)
    # Each to the fold that holds least: no two folds differ by more than the largest group.
    smallest = [(0, fold) for fold in range(count)]
    parts: list[list[np.ndarray]] = [[] for _ in range(count)]
    for rows in members:
        size, fold = smallest[0]
        parts[fold].append(rows)
        heapq.heapreplace(smallest, (size + len(rows), fold))
    return [np.sort(np.concatenate(part)) for part in parts]


def _interval(column: np.ndarray, cuts: int) -> np.ndarray:
    """For each position one of `cuts` intervals of about equal counts, by its middle rank."""
    _, index, counts = np.unique(column, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(column)
    return (cuts * middle).astype(int)[index.reshape(-1)]


def _shuffled(
    observations: Observations, seed: int, groups: Groups | None, *, least: int
) -> list[np.ndarray]:
    """The rows of every group that has a reading, groups in random order: it follows what the readings
    are, not the rows where they stand."""
    rows = canonical_order(observations)
    usable = rows[np.any(np.asarray(observations.mask), axis=1).reshape(-1)[rows]]
    of_each = np.arange(len(observations)) if groups is None else groups
    names, first, index = np.unique(of_each[usable], return_index=True, return_inverse=True)
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
    together = np.argsort(index, kind="stable")
    members = np.split(usable[together], np.cumsum(np.bincount(index))[:-1])
    return [members[k] for k in np.random.default_rng(seed).permutation(len(names))]


def canonical_order(observations: Observations) -> Int[np.ndarray, " n"]:
    """The rows by position, along the first axis first; readings at one place by what they say.

    Other units, or another origin, of coordinates and values change nothing about it.

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
    """The same readings in their order."""
    rows = canonical_order(observations)
    return observations if (np.diff(rows) > 0).all() else observations.take(rows)
