"""What the arrays in a file are called, without reading them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from pgt.io.gridded import opened
from pgt.io.mat import read_arrays


def _of_netcdf(path: Path) -> list[str]:
    with opened(path) as dataset:
        arrays = {str(n): array for n, array in dataset.variables.items()}
        edges = {str(array.attrs.get("bounds", "")) for array in arrays.values()}
        names = [n for n, a in arrays.items() if a.dtype.kind in "iuf" and n not in edges]
        names = [name for name in names if not name.endswith(("_bnds", "_bounds"))]
        return sorted(names, key=lambda name: -arrays[name].ndim)  # fields have the most axes


def _of_parquet(path: Path) -> list[str]:
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(path).schema_arrow.names


def _of_npz(path: Path) -> list[str]:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        return list(archive.files)


def _of_mat(path: Path) -> list[str]:
    return list(read_arrays(path.read_bytes(), ()))


NAMES: dict[str, Callable[[Path], list[str]]] = {
    ".nc": _of_netcdf,
    ".nc4": _of_netcdf,
    ".cdf": _of_netcdf,
    ".parquet": _of_parquet,
    ".npz": _of_npz,
    ".mat": _of_mat,
}
