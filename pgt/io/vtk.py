"""Grids for ParaView: VTK's rectilinear grids, through pyevtk."""

from contextlib import ExitStack
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import xarray as xr

from pgt.data.domain import AXES
from pgt.ground.errors import InputError
from pgt.io._files import need, written

SPACE = ("x", "y", "z")


def write(dataset: xr.Dataset, path: Path) -> Path:
    """One .vtr, or for several instants NAME_0000.vtr, ... and NAME.pvd; returns the file to open."""
    try:
        import pyevtk.vtk  # an extra: only those who use ParaView need it
    except ImportError:
        raise need("pyevtk", "a VTK file") from None
    for dim in dataset.sizes:
        if dim not in AXES or dim not in dataset.coords:
            raise InputError(
                f"the field has the dimension {dim!r}; a VTK grid has the axes x, y, z and t only, "
                "each with its coordinate. Write scattered points as .csv."
            )
    path = path.with_suffix(".vtr")  # pyevtk appends it in small letters
    if dataset.sizes.get("t", 1) == 1:
        with written(path) as temporary:
            _write_snapshot(dataset, temporary)
        return path
    group = path.with_suffix(".pvd")
    with ExitStack() as stack:  # all are moved to their places at the end, the .pvd last
        whole = stack.enter_context(written(group))
        snapshots = [path.with_name(f"{path.stem}_{i:04d}.vtr") for i in range(dataset.sizes["t"])]
        for index, snapshot in enumerate(snapshots):
            temporary = stack.enter_context(written(snapshot))
            _write_snapshot(dataset.isel(t=index), temporary)
        collection = pyevtk.vtk.VtkGroup(str(whole.absolute().with_suffix("")))
        for snapshot, time in zip(snapshots, dataset["t"].to_numpy(), strict=True):
            collection.addFile(escape(str(snapshot.absolute())), float(time))
        collection.save()
    return group


def _write_snapshot(dataset: xr.Dataset, path: Path) -> None:
    import pyevtk.hl

    dataset = dataset.isel(t=0) if "t" in dataset.dims else dataset
    axes = [
        dataset[axis].to_numpy().astype(np.float64) if axis in dataset.dims else np.zeros(1)
        for axis in SPACE
    ]
    shape = tuple(len(axis) for axis in axes)
    present = [axis for axis in SPACE if axis in dataset.dims]
    full = xr.broadcast(dataset)[0].transpose(*present)
    fields = {
        escape(str(name)): np.asfortranarray(array.to_numpy().reshape(shape), dtype=np.float64)
        for name, array in full.data_vars.items()
    }
    pyevtk.hl.gridToVTK(str(path.with_suffix("")), *axes, pointData=fields)
