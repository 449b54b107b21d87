"""A flow on a torus from readings of its vorticity after some time: the state that it began with.

A reading belongs to the place that it came from, but for what spread on the way. Taken back along the
flow, readings are those of a Gaussian field that only spreads: its mean is a linear solve. The flow is
estimated by the same means, from where the readings stand, and twice anew from what comes of it. From
there a few steps through the solver find the state that meets the readings.
"""

import math
from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.families.asking import Asking, precisely
from pgt.families.assimilation import Assimilated, Draws, known_of, outside_of
from pgt.families.conditioning import Conditioned, Errors, condition
from pgt.families.family import AbstractFamily
from pgt.families.navier_stokes import POWER, SHIFT, STEPS, STRENGTH, NavierStokesFamily, torque
from pgt.families.registry import as_family
from pgt.families.stencil import Stencil
from pgt.families.torus import Torus
from pgt.ground.arguments import Count
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.physics.pde import AbstractPDE

NODES = 128  # of the law: more show the same field
SLACK = 1e-3  # σ of what an answer at once leaves out, in units of the readings
SQUARE = Domain(x=(0, 1), y=(0, 1), periodic=("x", "y"))
TORUS = Torus(NODES)
X, Y = np.broadcast_arrays(*TORUS.wavenumbers)
HALF = (TORUS.kept > 0) & ((Y > 0) | (X > 0))  # one of each pair of waves
WAVES = np.stack([X[HALF], Y[HALF]])
LAW = STRENGTH * (TORUS.square + SHIFT**2) ** (-POWER / 2)
COLOUR = np.tile(2**0.5 * LAW[HALF], 2)  # of cosines and sines


@checked
def flow_before(
    family: AbstractFamily | str,
    readings: Observations,
    coefficients: Mapping | AbstractPDE,
    *,
    steps: Count = 4,
    draws: Draws = 0,
) -> Assimilated:
    """The most probable flow that leads to readings of the vorticity `w` at one instant.

    As `assimilate`, for what that cannot be asked: the vorticity is no field of the family. Slopes of
    readings are in closed form, so that hundreds of readings take seconds.

    Parameters
    ----------
    family
        A `NavierStokesFamily`, or its name; its law is taken for granted.
    readings
        Of the field `w` over x, y and t, where t is the same for all of them; without t at the end.
    coefficients
        The viscosity.
    steps
        Through the solver, at the most.
    draws
        From the posterior, for bands; each is one run of the solver.

    >>> import jax
    >>> import pgt
    >>> family = pgt.families.get("navier_stokes_2d", nodes=32, times=2, duration=0.1)
    >>> noise = jax.random.normal(jax.random.key(0), family.noise_shape)
    >>> w = family.vorticity(noise, {"viscosity": 1e-3})
    >>> readings = pgt.sample(w.isel(t=[-1]).to_dataset(), n=60)
    >>> found = flow_before(family, readings, {"viscosity": 1e-3}, steps=1)
    >>> family.vorticity(found.noise, {"viscosity": 1e-3}).shape
    (32, 32, 2)
    """
    flows = _flows(as_family(family))
    known = known_of(flows, coefficients, "flow_before")
    if "viscosity" not in known:
        raise InputError("flow_before: give the viscosity, as {'viscosity': 1e-3}.")
    after, places = _read_at(flows, readings)
    _, _, values, noise = readings.measured("w")
    size = float(np.sqrt(np.mean(values**2))) or 1.0
    errors = Errors(noise, np.full(len(values), size))
    with precisely():
        back = Backward.of(places, known["viscosity"], after)
        found = back.refined(values, back.at_once(values), steps, errors)
        unknowns = noise_of(made(found.mean))
        around = found.mean + found.linear.drawn(0, draws) if draws else []
        drawn = np.array([noise_of(made(one)) for one in around]).reshape(draws, NODES**2)
    stencil = Stencil.of(np.zeros((1, 3)), flows.axes, flows.domain)
    held = {"viscosity": np.asarray(known["viscosity"])}
    asking = Asking(flows, stencil, np.ones(1), np.zeros(1, int), held, (0,))
    said = outside_of(found, len(values), errors)
    return Assimilated(
        flows, known, {}, found.level, said, found.steps, asking, unknowns, drawn
    )  # fmt: skip


def _flows(family: AbstractFamily) -> NavierStokesFamily:
    if not isinstance(family, NavierStokesFamily):
        raise InputError(
            f"flow_before: {family.name} has no vorticity that is carried along; give a "
            "`pgt.families.NavierStokesFamily`, or use pgt.families.assimilate."
        )
    return family


def _read_at(family: NavierStokesFamily, readings: Observations) -> tuple[float, np.ndarray]:
    """When the vorticity was read, and where."""
    if "w" not in readings.fields or not {"x", "y"} <= set(readings.coords) <= {"x", "y", "t"}:
        raise InputError(
            f"flow_before: give readings of the vorticity 'w' over x, y and t; these are of "
            f"{', '.join(readings.fields)} over {', '.join(readings.coords)}. Velocities are for "
            "pgt.families.assimilate."
        )
    if readings.half_width is not None:
        raise InputError("flow_before: averages over boxes are not read; give values at points.")
    points = readings.measured("w").points
    along = dict(zip(readings.coords, points.T, strict=True))
    times = along.get("t", np.full(len(points), family.duration))
    if not len(times) or np.ptp(times) > 1e-6 * family.duration or not times[0] > 0:
        raise InputError(
            "flow_before: give readings of one instant after 0, as those of `w.isel(t=[-1])`."
        )
    return float(times[0]), np.stack([along["x"], along["y"]], axis=-1) % 1.0


# ------------------------------------------------------------------------------- the way back


class Backward(eqx.Module):
    """Readings of the vorticity at some places, a span of time after the start."""

    places: Float[Array | np.ndarray, "m 2"]
    stencil: Stencil
    viscosity: Float[Array | np.ndarray, ""]
    span: float = eqx.field(static=True)

    @staticmethod
    def of(places: Float[np.ndarray, "m 2"], viscosity: float, span: float) -> "Backward":
        nodes = np.arange(NODES) / NODES
        stencil = Stencil.of(places, {"x": nodes, "y": nodes}, SQUARE)
        return Backward(places, stencil, np.asarray(viscosity, float), span)

    def flow(self, vorticity: Float[Array, "n n"]):
        """Its modes from the start to the readings, at the ends of all steps of the solver."""
        steps = math.ceil(STEPS * self.span)
        return TORUS.evolve(
            vorticity, self.viscosity, torque(TORUS), steps + 1, self.span, steps
        )  # fmt: skip

    def later(self, vorticity: Float[Array, "n n"]) -> Float[Array, "n n"]:
        """The vorticity when it is read."""
        return TORUS.values(self.flow(vorticity)[-1])

    def at_once(self, values: Float[np.ndarray, " m"]) -> Float[np.ndarray, " k"]:
        """The normals of the vorticity at the start, by three linear solves."""
        zero = jnp.zeros(COLOUR.size)
        read = jnp.asarray(values) - _read(self, zero)  # what the force has not stirred
        normals = _spread_back(_still(self), read)
        for _ in range(2):
            normals = _spread_back(_read_and_rows(self, normals)[1], read)
        return np.asarray(normals)

    def refined(
        self, values: Float[np.ndarray, " m"], start: Float[np.ndarray, " k"], steps: int,
        errors: Errors | None = None,
    ) -> Conditioned:  # fmt: skip
        """From there, so that the solver meets the readings: Gauss–Newton, its slopes in closed form.

        They are those of readings that are carried along and spread, by the flow of the step before.
        What a change of the flow does to where readings come from is not among them, and counts as
        noise, as in conditioning.py, until steps have become small.
        """
        size = np.full(len(values), np.sqrt(np.mean(values**2)))
        return condition(
            lambda z: _read(self, jnp.asarray(z)),
            lambda z: _read_and_rows(self, jnp.asarray(z)),
            values, errors or Errors(np.zeros(len(values)), size), start, steps,
        )  # fmt: skip

    def rows(self, places: Float[Array, "m 2"]) -> Float[Array, "m k"]:
        """Of values at the places, where waves of the law have only spread."""
        angle = places @ jnp.asarray(WAVES)
        decay = jnp.tile(jnp.exp(-self.viscosity * self.span * TORUS.square[HALF]), 2)
        shapes = jnp.concatenate([jnp.cos(angle), jnp.sin(angle)], axis=1)
        return shapes * (jnp.asarray(COLOUR) * decay)

    def seen(self, vorticity: Float[Array, "n n"]) -> Float[Array, " m"]:
        return self.stencil(vorticity[..., None])[:, 0]

    def origins(self, spectra) -> Float[Array, "m 2"]:
        """Where readings were before a flow whose vorticity is known: steps by the middle."""
        velocities = jnp.stack(TORUS.velocity(spectra), axis=-1)  # t x y 2
        step = self.span / (len(spectra) - 1)

        def earlier(places, pair):
            after, before = pair
            middle = places - step / 2 * _between_nodes(after, places)
            return places - step * _between_nodes((after + before) / 2, middle), None

        pairs = velocities[:0:-1], velocities[-2::-1]
        return jax.lax.scan(earlier, jnp.asarray(self.places), pairs)[0]


def noise_of(vorticity: Float[Array | np.ndarray, "n n"]) -> Float[np.ndarray, " k"]:
    """The standard normals of the family that make a vorticity."""
    spectrum = np.fft.rfft2(np.asarray(vorticity)) * TORUS.kept / (NODES * LAW)
    return np.fft.irfft2(spectrum, (NODES, NODES)).ravel()


def made(normals: Float[np.ndarray, " k"]) -> Float[np.ndarray, "n n"]:
    """The vorticity of standard normals of cosines and sines."""
    return np.asarray(_made(jnp.asarray(normals)))


@eqx.filter_jit
def _read(back: Backward, z):
    return back.seen(back.later(_made(z)))


@eqx.filter_jit
def _read_and_rows(back: Backward, z):
    spectra = back.flow(_made(z))
    return back.seen(TORUS.values(spectra[-1])), back.rows(back.origins(spectra))


@jax.jit
def _made(z):
    return _summed(jnp.asarray(COLOUR) * z)


@eqx.filter_jit
def _still(back: Backward):
    """Slopes of readings that come from where they stand."""
    return back.rows(jnp.asarray(back.places))


@jax.jit
def _spread_back(rows, read):
    """The normals at the start whose spread values were read."""
    gram = rows @ rows.T
    slack = SLACK**2 * jnp.trace(gram) / len(read) * jnp.eye(len(read))
    return rows.T @ jax.scipy.linalg.solve(gram + slack, read, assume_a="pos")


def _summed(amplitudes):
    """A sum of cosines and sines at the nodes."""
    cosine, sine = jnp.split(amplitudes, 2)
    spectrum = jnp.zeros(HALF.shape, complex).at[np.nonzero(HALF)].set((cosine - 1j * sine) / 2)
    both = np.nonzero(HALF & (Y == 0))  # pairs of which both waves are stored
    spectrum = spectrum.at[(-both[0], both[1])].set(jnp.conj(spectrum[both]))
    return NODES**2 * TORUS.values(spectrum)


def _between_nodes(velocity, places):
    low = jnp.floor(places * NODES).astype(int)
    share = places * NODES - low
    total = jnp.zeros_like(places)
    for i, j in np.ndindex(2, 2):
        weight = jnp.prod(jnp.where(jnp.array([i, j]) == 1, share, 1 - share), axis=1)
        total += weight[:, None] * velocity[(low[:, 0] + i) % NODES, (low[:, 1] + j) % NODES]
    return total
