"""Simulations that repeat in time, known at every phase."""

import os
from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pgt.data.domain import Domain
from pgt.families.family import Coefficients, Nodes, filled
from pgt.families.harmonics import Cycle, cycle_of, waves
from pgt.families.simulation_files import read_folder
from pgt.families.simulations import Simulations, bounds_of, replaced, spread_of
from pgt.families.system import System
from pgt.ground.arguments import Limits, Positive
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.ground.types import Key
from pgt.physics.pde import AbstractPDE

LARGEST_REST = 0.05  # of the spread of a run that its harmonics may leave

Harmonics = Annotated[int, Limits(at_least=1, at_most=50)]


@checked
class Cycles(Simulations):
    """A folder of NetCDF files, each a flow that repeats, such as vortices that a cylinder sheds.

    Of every file its mean in time and the harmonics of its period are kept; a draw shows one of the
    files for a while, from any phase on. That is exact between the instants of a file, and far smaller
    than the files: a network's own file holds all of it. A file that does not change in time is one, too.

    Parameters
    ----------
    folder, pde, coefficients
        As of `Simulations`; the last coordinate of the equation is t. A run lasts longer than its
        period, which is found from it.
    span, instants
        How long a draw looks, and at how many instants, both ends among them.
    harmonics
        Of the period; as many as a run needs.

    >>> import tempfile
    >>> import xarray as xr
    >>> import pgt
    >>> x, t = np.linspace(0, 1, 5), np.linspace(0, 3, 31)
    >>> wave = xr.Dataset({"u": (("x", "t"), np.sin(2 * np.pi * (x[:, None] - t)))}, {"x": x, "t": t})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pgt.io.write_field(wave.assign_attrs(velocity=1.0), f"{folder}/wave.nc")
    ...     own = Cycles(folder, lambda velocity: pgt.AdvectionDiffusion(velocity, 1e-9), ["velocity"],
    ...                  span=0.5, instants=3, harmonics=2)
    >>> own.domain, own.draw(jax.random.key(0)).values.shape, own.periods.round(4).tolist()
    (Domain(x=(0, 1), t=(0, 0.5)), (5, 3, 1), [1.0])
    """

    name: ClassVar[str] = "cycles"
    keeps_systems: ClassVar[bool] = True
    periods: Float[Array | np.ndarray, " files"]

    def __init__(
        self,
        folder: str | os.PathLike,
        pde: Callable[..., AbstractPDE],
        coefficients: Sequence[str] = (),
        *,
        span: Positive,
        instants: Nodes = 5,
        harmonics: Harmonics = 6,
    ):
        names = tuple(coefficients)
        equation = filled(pde, dict.fromkeys(names, 1.0))
        self.form, self.fields = pde, tuple(equation.fields)
        found = read_folder(folder, equation.coords, self.fields, names)
        *_, last = found.axes
        if last != "t":
            raise InputError(
                f"Cycles: the equation has no time; its axes are {', '.join(found.axes)}."
            )
        cycles = [_cycle(values, found.axes["t"], harmonics) for values in found.values]
        self.values = np.stack([cycle.modes for cycle in cycles])
        self.periods = np.array([cycle.period for cycle in cycles], np.float32)
        shown = found.axes | {"t": np.linspace(0.0, span, instants)}
        bounds: Any = bounds_of(shown, ())
        self.region = Domain(**bounds)
        self.nodes = tuple((axis, tuple(nodes.tolist())) for axis, nodes in shown.items())
        self.given = found.coefficients.astype(np.float32)
        self.usual = tuple(spread_of(found.values[..., i]) for i in range(len(self.fields)))
        ends = zip(names, found.coefficients.min(0), found.coefficients.max(0), strict=True)
        self.bounds = tuple((name, (float(low), float(high))) for name, low, high in ends)

    def draw(self, key: Key, coefficients: Coefficients | None = None) -> System:
        """A simulation from some phase on; where coefficients are given, that whose own are nearest."""
        _, for_phase = jax.random.split(key)
        which = self._nearest(coefficients) if coefficients else self.stored(key)
        modes = jnp.asarray(self.values)[which].astype(jnp.float32)
        turns = jnp.asarray(self.axes["t"], jnp.float32) / jnp.asarray(self.periods)[which]
        along = waves(turns + jax.random.uniform(for_phase), len(modes) // 2, jnp)
        values = jnp.einsum("tm,m...c->...tc", along, modes, precision="highest")
        return System(self._row(which), values)

    def stored(self, key: Key) -> Int[Array, ""]:
        for_file, _ = jax.random.split(key)
        return jax.random.randint(for_file, (), 0, len(self.values))

    def without_systems(self) -> "Cycles":
        """With all of them, in half precision, and without the equation, which may be code."""
        return replaced(self, form=None, values=np.asarray(self.values, np.float16))

    def taken(self, which: Bool[np.ndarray, " files"]) -> "Cycles":
        kept = ("values", "given", "periods")
        return replaced(self, **{name: np.asarray(getattr(self, name))[which] for name in kept})


def _cycle(values: np.ndarray, t: np.ndarray, harmonics: int) -> Cycle:
    found = cycle_of(np.moveaxis(values, -2, 0), t, harmonics)
    if found.rest > LARGEST_REST:
        raise InputError(
            f"Cycles: a run of {np.ptp(t):g} units of time does not repeat: {harmonics} harmonics of a "
            f"period of {found.period:g} leave {100 * found.rest:.0f} % of its spread. Give a longer "
            "run, more harmonics, or take `Simulations` with crop= instead."
        )
    return found
