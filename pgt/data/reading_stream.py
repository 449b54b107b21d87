"""Readings that do not fit into memory: files that are read in parts, one part at a time.

A `ReadingStream` is a list of parts (row groups of Parquet files, slices of NetCDF files and Zarr stores)
that are loaded when they are needed. Three things are done with it:

* `sampled` reads everything once, checks every reading and draws a random sample of fixed size. The
  sample stands for the readings wherever all of them are not needed: it gives scales, the plan, the
  tokens of an encoder, held-out readings, the band of a sum of sines, and the report.
* `chunks` reads everything once, for the normal equations of a closed form.
* `shuffled` reads everything again and again in random order, for the batches of first-order steps.

Readings at one place are not merged; each counts as an independent measurement.
"""

import queue
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import xarray as xr
from jaxtyping import Bool, Int

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.progress import ProgressBar
from pgt.data._checks import settle_duplicates
from pgt.data._readers import flatten
from pgt.data.observations import Observations

# The number of readings in the sample: more show a narrower band and cost time in every trial of a fit.
SAMPLE_SIZE = 2048
# The largest number of readings that are in memory at once: more are mixed better, and take more memory.
MAX_ROWS_IN_MEMORY = 1 << 20
# The number of pools of shuffled readings that are prepared ahead of the steps that use them.
POOLS_AHEAD = 2

Transform = Callable[[Observations], Observations]


class StoredPart(NamedTuple):
    """Some neighboring readings of a file: their number, and the function that loads them."""

    count: int
    load: Callable[[], Observations]


@dataclass(frozen=True)
class ReadingStream:
    """Readings that are loaded part by part.

    Attributes
    ----------
    parts : the parts, in the order of the files.
    transforms : what is done to every part after it has been loaded.

    >>> readings = Observations.from_arrays({"x": np.linspace(0, 1, 10)}, {"u": np.zeros(10)})
    >>> stream = ReadingStream.of(readings, rows=4)
    >>> len(stream), [len(chunk) for chunk in stream.chunks()]
    (10, [4, 4, 2])
    """

    parts: tuple[StoredPart, ...]
    transforms: tuple[Transform, ...] = ()

    @staticmethod
    def of(readings: Observations, rows: int = MAX_ROWS_IN_MEMORY) -> "ReadingStream":
        """The stream of readings that are in memory, in parts of at most so many rows."""
        starts = range(0, len(readings), rows)
        pieces = [np.arange(start, min(start + rows, len(readings))) for start in starts]
        return ReadingStream(
            tuple(StoredPart(len(piece), partial(readings.take, piece)) for piece in pieces)
        )

    def __len__(self) -> int:
        """The number of readings in the files."""
        return sum(part.count for part in self.parts)

    def then(self, transform: Transform) -> "ReadingStream":
        """The stream with another transformation of every part."""
        return replace(self, transforms=(*self.transforms, transform))

    def chunks(self, order: Sequence[int] | None = None) -> Iterator[Observations]:
        """The readings, part by part, in the order of the files or in another one."""
        for number in range(len(self.parts)) if order is None else order:
            yield self._loaded(number)

    def of_this_host(self) -> "ReadingStream":
        """The parts that this host reads, of several that share a run; all of them on a single one."""
        hosts = jax.process_count()
        if len(self.parts) < hosts:
            raise InputError(
                f"the readings are in {len(self.parts)} part(s), fewer than the {hosts} hosts: write "
                "them in smaller files or row groups, or start fewer processes."
            )
        return replace(self, parts=self.parts[jax.process_index() :: hosts])

    def part(self, rows: int, seed: int) -> "ReadingStream":
        """Randomly chosen parts with at least `rows` readings together, or all of them."""
        order = np.random.default_rng(seed).permutation(len(self.parts))
        before = np.cumsum([0, *(self.parts[number].count for number in order[:-1])])
        return replace(self, parts=tuple(self.parts[k] for k in order[before < rows]))

    def _loaded(self, number: int) -> Observations:
        readings = self.parts[number].load()
        for transform in self.transforms:
            readings = transform(readings)
        return readings

    def sampled(
        self, seed: int, size: int = SAMPLE_SIZE, progress: bool | None = None
    ) -> Observations:
        """A random sample of at most `size` readings; every reading is loaded and checked once."""
        total = len(self)
        chosen = np.sort(np.random.default_rng(seed).permutation(total)[:size])
        start, samples = 0, []
        with ProgressBar(progress, "read") as bar:
            for number, part in enumerate(self.parts):
                readings = self._loaded(number)
                inside = chosen[(chosen >= start) & (chosen < start + part.count)] - start
                samples.append(readings.take(inside))
                start += part.count
                bar.update("read", start / total, {})
        return settle_duplicates(join(samples), "mean")

    def shuffled(self, size: int, seed: int) -> Generator[Observations]:
        """Endless pools of `size` shuffled readings; a thread loads them ahead.

        Parts are loaded in random order until `MAX_ROWS_IN_MEMORY` readings are in memory, which are
        mixed and divided into pools. The last pool of an epoch is filled up with readings drawn again.
        """
        return _ahead(partial(self._pools, size, np.random.default_rng(seed)))

    def _pools(self, size: int, random: np.random.Generator) -> Iterator[Observations]:
        while True:
            held, count = [], 0
            for position, number in enumerate(order := random.permutation(len(self.parts))):
                held.append(self._loaded(int(number)))
                count += len(held[-1])
                if count < MAX_ROWS_IN_MEMORY and position + 1 < len(order):
                    continue
                readings, held, count = join(held), [], 0
                yield from _divided(readings, size, random)


def _divided(
    readings: Observations, size: int, random: np.random.Generator
) -> Iterator[Observations]:
    """The shuffled readings in pools of `size`; the last one contains some of them again."""
    order = random.permutation(len(readings))
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        again = random.integers(0, len(order), size - len(rows))
        yield readings.take(np.concatenate([rows, again]))


def _ahead(pools: Callable[[], Iterator[Observations]]) -> Generator[Observations]:
    """The pools, loaded ahead by a thread that ends with the iteration; its errors are raised here."""
    loaded: queue.Queue = queue.Queue(POOLS_AHEAD)
    ended = threading.Event()

    def load():
        try:
            for pool in pools():
                while not ended.is_set():
                    try:
                        loaded.put(pool, timeout=0.1)
                        break
                    except queue.Full:
                        continue
                if ended.is_set():
                    return
        except Exception as error:  # raised where the pool is asked for
            loaded.put(error)

    thread = threading.Thread(target=load, daemon=True, name="readings")
    thread.start()
    try:
        while True:
            pool = loaded.get()
            if isinstance(pool, Exception):
                raise pool
            yield pool
    finally:
        ended.set()
        thread.join()


def join(readings: Sequence[Observations]) -> Observations:
    """The readings of several chunks, one after the other."""
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *readings)


def without_places(
    readings: Observations, held_out: Observations, axes: Sequence[str]
) -> Observations:
    """The readings that are at no place of the held-out ones; places are compared along these axes.

    >>> readings = Observations.from_arrays({"x": [0.0, 1.0, 2.0]}, {"u": [1.0, 2.0, 3.0]})
    >>> without_places(readings, readings.take([1]), ("x",)).values.ravel().tolist()
    [1.0, 3.0]
    """
    columns = [readings.coords.index(axis) for axis in axes]
    points, places = (np.asarray(r.points, float)[:, columns] for r in (readings, held_out))
    candidates = np.flatnonzero(np.isin(points[:, 0], places[:, 0]))
    rows = (points[candidates, None] == places).all(axis=2).any(axis=1)
    kept = _complement(candidates[rows], len(points))
    return readings if kept.all() else readings.take(np.flatnonzero(kept))


def _complement(rows: Int[np.ndarray, " m"], count: int) -> Bool[np.ndarray, " n"]:
    kept = np.ones(count, bool)
    kept[rows] = False
    return kept


# -------------------------------------------------------------------------------- files


@checked
def open_readings(
    path: str | Path,
    coords: Sequence[str],
    fields: Sequence[str],
    *,
    noise=None,
    units: Mapping[str, str] | None = None,
) -> ReadingStream:
    """The readings in a file or folder, which are loaded part by part while they are fitted.

    Parameters
    ----------
    path
        A Parquet file, a folder of Parquet files, a NetCDF file or a Zarr store.
    coords, fields
        The names of the columns, or of coordinates and variables. An empty number is a hidden reading.
    noise
        σ of the readings: one number, or a dict with a number or the name of a column for each field.
    units
        Unit of any axis or field, by name.

    >>> import tempfile
    >>> import pandas as pd
    >>> folder = Path(tempfile.mkdtemp())
    >>> table = pd.DataFrame({"x": np.linspace(0, 1, 100), "u": np.zeros(100)})
    >>> table.to_parquet(folder / "readings.parquet")
    >>> len(open_readings(folder, ["x"], ["u"]))
    100
    """
    path, names = Path(path), (*coords, *fields)
    if not path.exists():
        raise InputError(f"there is no file or folder {str(path)!r}; check the path.", about="path")

    def as_readings(columns: Mapping[str, Any]) -> Observations:
        sigma = noise
        if isinstance(noise, Mapping):
            sigma = {f: columns[s] if isinstance(s, str) else s for f, s in noise.items()}
        return Observations.from_arrays(
            {axis: columns[axis] for axis in coords}, {f: columns[f] for f in fields},
            noise=sigma, units=units, duplicates="independent",
        )  # fmt: skip

    if isinstance(noise, Mapping):
        names = (*names, *(column for column in noise.values() if isinstance(column, str)))
    if path.suffix in (".nc", ".zarr"):
        return ReadingStream(tuple(_dataset_parts(path, tuple(coords), names, as_readings)))
    files = sorted(path.glob("**/*.parquet")) if path.is_dir() else [path]
    if not files:
        raise InputError(
            f"the folder {str(path)!r} has no Parquet file; write a folder of *.parquet files, or one "
            "Parquet, NetCDF or Zarr file.",
            about="path",
        )
    return ReadingStream(
        tuple(part for file in files for part in _row_groups(file, names, as_readings))
    )


def _row_groups(path: Path, names: Sequence[str], as_readings) -> Iterator[StoredPart]:
    """The row groups of a Parquet file."""
    try:
        import pyarrow.parquet as parquet  # an optional dependency
    except ImportError:
        raise InputError(
            "a Parquet file needs the package pyarrow: pip install 'physics-guided-transformer[files]'"
        ) from None
    try:
        metadata = parquet.read_metadata(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} could not be read as Parquet: {error}.") from None
    known = metadata.schema.to_arrow_schema().names
    if missing := [name for name in names if name not in known]:
        raise InputError(
            f"{str(path)!r} has no column {missing[0]!r}; its columns are {', '.join(known)}."
        )

    def load(group: int) -> Observations:
        with parquet.ParquetFile(path) as file:
            table = file.read_row_group(group, columns=list(dict.fromkeys(names)))
        columns = {name: table.column(name).to_numpy() for name in table.column_names}
        return _located(as_readings, columns, f"{path.name}, row group {group}")

    for group in range(metadata.num_row_groups):
        yield StoredPart(metadata.row_group(group).num_rows, partial(load, group))


def _dataset_parts(
    path: Path, coords: tuple[str, ...], names: Sequence[str], as_readings
) -> Iterator[StoredPart]:
    """Slices of a dataset along its longest dimension."""
    is_zarr = path.suffix == ".zarr"
    try:
        dataset = (
            xr.open_zarr(path, chunks=None, consolidated=False)
            if is_zarr
            else xr.open_dataset(path)
        )
    except (OSError, ValueError, ImportError) as error:
        raise InputError(f"{str(path)!r} could not be read: {error}.") from None
    if missing := [name for name in names if name not in dataset.variables]:
        raise InputError(f"{str(path)!r} has no variable {missing[0]!r}.")
    fields = [name for name in names if name not in coords]
    dataset = dataset[fields]
    along = max(dataset.sizes, key=lambda name: dataset.sizes[name])
    others = int(np.prod([size for name, size in dataset.sizes.items() if name != along]))
    step = max(MAX_ROWS_IN_MEMORY // others, 1)

    def load(start: int) -> Observations:
        points, values, _ = flatten(
            dataset.isel({along: slice(start, start + step)}).load(), fields
        )
        return _located(as_readings, {**points, **values}, f"{path.name}, {along} from {start}")

    for start in range(0, dataset.sizes[along], step):
        count = min(step, dataset.sizes[along] - start) * others
        yield StoredPart(count, partial(load, start))


def _located(as_readings, columns: Mapping[str, Any], where: str) -> Observations:
    """The readings of some columns; an error says where in the file they are."""
    try:
        return as_readings(columns)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
