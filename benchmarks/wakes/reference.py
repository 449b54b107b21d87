"""The packaged simulation at Re = 100 beside ours: another method, another code."""

from pathlib import Path

import h5py
import numpy as np
from scipy.interpolate import RectBivariateSpline

from pgt.families.harmonics import Cycle, cycle_of, waves

PACKAGED = Path(__file__).parents[2] / "pgt" / "datasets" / "cylinder_wake_re100.nc"
HARMONICS = 6


def packaged() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Axes x, y, t, and u, v, p over (t, x, y), the mean of p over all being 0."""
    with h5py.File(PACKAGED) as file:
        axes = {name: np.asarray(file[name], float) for name in "xyt"}
        values = np.stack([_array(file[name]) for name in "uvp"], axis=-1)  # t y x
    values[..., 2] -= values[..., 2].mean()
    return axes, values.swapaxes(1, 2)


def _array(held) -> np.ndarray:
    """As NetCDF packs numbers, where it does."""
    scale, offset = (held.attrs.get(name, default) for name, default in
                     (("scale_factor", 1.0), ("add_offset", 0.0)))  # fmt: skip
    return np.asarray(held, float) * scale + offset


def placed(values: np.ndarray, x, y, other_x, other_y) -> np.ndarray:
    """Fields (instant, x, y, field) at other nodes, by cubic splines."""
    found = np.empty((len(values), len(other_x), len(other_y), values.shape[-1]))
    for k, c in np.ndindex(len(values), values.shape[-1]):
        found[k, ..., c] = RectBivariateSpline(x, y, values[k, ..., c])(other_x, other_y)
    return found


def apart(ours: Cycle, theirs: Cycle) -> dict[str, float]:
    """Relative L2 distance of the fields over a period, at the phase at which they fit best."""
    turns = np.arange(64) / 64
    theirs_at = np.einsum("tm,m...->t...", waves(turns, HARMONICS, np), theirs.modes)

    def at(shift: float) -> np.ndarray:
        return np.einsum("tm,m...->t...", waves(turns + shift, HARMONICS, np), ours.modes)

    shifts = np.arange(0, 1, 1 / 512)
    distances = [np.linalg.norm((at(s) - theirs_at)[..., :2]) for s in shifts]
    best = at(shifts[int(np.argmin(distances))])
    found = {name: _relative(best, theirs_at, c) for c, name in enumerate("uvp")}
    return found | {"strouhal": 1 / ours.period, "strouhal of the packaged": 1 / theirs.period}


def _relative(ours: np.ndarray, theirs: np.ndarray, field: int) -> float:
    return float(np.linalg.norm((ours - theirs)[..., field]) / np.linalg.norm(theirs[..., field]))


def beside_packaged(values: np.ndarray, x, y, t) -> dict[str, float]:
    """Ours (t, x, y, field) at Re = 100, in the window of the packaged one."""
    axes, theirs = packaged()
    on = placed(values, x, y, axes["x"], axes["y"])
    return apart(cycle_of(on, t, HARMONICS), cycle_of(theirs, axes["t"], HARMONICS))
