"""What the arrays in a file are called, without reading them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np


def _of_netcdf(path: Path) -> list[str]:
    import xarray as xr

    with xr.open_dataset(path, decode_times=False) as dataset:
        return [str(n) for n, array in dataset.variables.items() if array.dtype.kind in "iuf"]


def _of_parquet(path: Path) -> list[str]:
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(path).schema_arrow.names


def _of_npz(path: Path) -> list[str]:
    with np.load(path, allow_pickle=False) as archive:
        return list(archive.files)


def _of_mat(path: Path) -> list[str]:
    from pgt.io.mat import read_arrays

    return list(read_arrays(path.read_bytes(), ()))


NAMES: dict[str, Callable[[Path], list[str]]] = {
    ".nc": _of_netcdf,
    ".nc4": _of_netcdf,
    ".cdf": _of_netcdf,
    ".parquet": _of_parquet,
    ".npz": _of_npz,
    ".mat": _of_mat,
}
