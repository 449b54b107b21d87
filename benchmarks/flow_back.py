"""The vorticity before a flow, from readings after it, in closed form.

A reading belongs to the place that it came from, but for what spread on the way. Taken back along the
flow, readings are those of a Gaussian field that only spreads: its mean is a linear solve. The flow is
estimated by the same means, from where the readings stand, and twice anew from what comes of it. From
there a few steps through the solver find the state that meets the readings.
"""

import jax
import jax.numpy as jnp
import numpy as np

from pgt.families.conditioning import Errors, condition
from pgt.families.navier_stokes import POWER, SHIFT, STRENGTH, torque
from pgt.families.torus import Torus

NODES, VISCOSITY = 128, 1e-3  # over one unit of time
STEPS = 10
SLACK = 1e-3  # σ of what this leaves out, in units of the readings
TORUS = Torus(NODES)
X, Y = np.broadcast_arrays(*TORUS.wavenumbers)
HALF = (TORUS.kept > 0) & ((Y > 0) | (X > 0))  # one of each pair of waves
WAVES = np.stack([X[HALF], Y[HALF]])
LAW = STRENGTH * (TORUS.square + SHIFT**2) ** (-POWER / 2)
COLOUR = np.tile(2**0.5 * LAW[HALF], 2)  # of cosines and sines
DECAY = np.tile(np.exp(-VISCOSITY * TORUS.square[HALF]), 2)


def later(vorticity):
    """One unit of time after."""
    return TORUS.values(flow(vorticity)[-1])


def flow(vorticity):
    """Its modes from now to one unit of time after, at the ends of all steps of the solver."""
    return TORUS.evolve(vorticity, VISCOSITY, torque(TORUS), STEPS + 1, 1.0, STEPS)


def noise_of(vorticity: np.ndarray) -> np.ndarray:
    """The standard normals that make a vorticity."""
    spectrum = np.fft.rfft2(vorticity) * TORUS.kept / (NODES * LAW)
    return np.fft.irfft2(spectrum, (NODES, NODES)).ravel()


@jax.jit
def taken_back(nodes, values):
    """The vorticity at the start, from that at some nodes at the end."""
    places = _places(nodes)
    # What the force has not stirred.
    read = values - later(jnp.zeros((NODES, NODES))).ravel()[nodes]
    start = _spread_back(places, read)
    for _ in range(2):
        start = _spread_back(_origins(places, flow(start)), read)
    return start


def refined_back(nodes, values, start: np.ndarray, steps: int) -> np.ndarray:
    """From there, so that the solver meets the readings: Gauss-Newton, its slopes in closed form.

    They are those of readings that are carried along and spread, by the flow of the step before. What a
    change of the flow does to where readings come from is not among them, and counts as noise, as in
    conditioning.py, until steps have become small.
    """
    size = np.full(len(values), np.sqrt(np.mean(values**2)))
    spectrum = np.fft.rfft2(start)[HALF] / NODES**2
    amplitudes = 2 * np.concatenate([spectrum.real, -spectrum.imag]) / COLOUR
    found = condition(
        lambda z: _read(jnp.asarray(z), nodes),
        lambda z: _read_and_rows(jnp.asarray(z), nodes),
        values, Errors(np.zeros(len(values)), size), amplitudes, steps,
    )  # fmt: skip
    return np.asarray(_made(jnp.asarray(found.mean)))


@jax.jit
def _read(z, nodes):
    """Readings at the end, of the standard normals of cosines and sines."""
    return later(_made(z)).ravel()[nodes]


@jax.jit
def _read_and_rows(z, nodes):
    """The same with their slopes."""
    spectra = flow(_made(z))
    read = TORUS.values(spectra[-1]).ravel()[nodes]
    return read, _rows(_origins(_places(nodes), spectra))


@jax.jit
def _made(z):
    return _summed(jnp.asarray(COLOUR) * z)


def _places(nodes):
    return jnp.stack(jnp.unravel_index(jnp.asarray(nodes), (NODES, NODES)), axis=-1) / NODES


def _rows(places):
    """Of values at the places, where waves of the law have only spread."""
    angle = places @ jnp.asarray(WAVES)
    shapes = jnp.concatenate([jnp.cos(angle), jnp.sin(angle)], axis=1)
    return shapes * jnp.asarray(COLOUR * DECAY)


def _spread_back(places, read):
    """The field at the start whose spread values at the places were read."""
    rows = _rows(places)
    gram = rows @ rows.T
    slack = SLACK**2 * jnp.trace(gram) / len(read) * jnp.eye(len(read))
    weights = jax.scipy.linalg.solve(gram + slack, read, assume_a="pos")
    return _summed(jnp.asarray(COLOUR) * (rows.T @ weights))


def _summed(amplitudes):
    """A sum of cosines and sines at the nodes."""
    cosine, sine = jnp.split(amplitudes, 2)
    spectrum = jnp.zeros(HALF.shape, complex).at[np.nonzero(HALF)].set((cosine - 1j * sine) / 2)
    both = np.nonzero(HALF & (Y == 0))  # pairs of which both waves are stored
    spectrum = spectrum.at[(-both[0], both[1])].set(jnp.conj(spectrum[both]))
    return NODES**2 * TORUS.values(spectrum)


def _origins(places, spectra):
    """Where points were before a flow whose vorticity is known at some times: steps by the middle."""
    velocities = jnp.stack(TORUS.velocity(spectra), axis=-1)  # t x y 2
    step = 1 / (len(spectra) - 1)

    def earlier(places, pair):
        after, before = pair
        middle = places - step / 2 * _between_nodes(after, places)
        return places - step * _between_nodes((after + before) / 2, middle), None

    pairs = velocities[:0:-1], velocities[-2::-1]
    return jax.lax.scan(earlier, places, pairs)[0]


def _between_nodes(velocity, places):
    low = jnp.floor(places * NODES).astype(int)
    share = places * NODES - low
    total = jnp.zeros_like(places)
    for i, j in np.ndindex(2, 2):
        weight = jnp.prod(jnp.where(jnp.array([i, j]) == 1, share, 1 - share), axis=1)
        total += weight[:, None] * velocity[(low[:, 0] + i) % NODES, (low[:, 1] + j) % NODES]
    return total
