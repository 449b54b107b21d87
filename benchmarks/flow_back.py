"""The vorticity before a flow, from readings after it, in closed form.

A reading belongs to the place that it came from, but for what spread on the way. Taken back along the
flow, readings are those of a Gaussian field that only spreads: its mean is a linear solve. The flow is
estimated by the same means, from where the readings stand, and twice anew from what comes of it.
"""

import jax
import jax.numpy as jnp
import numpy as np

from pgt.families.navier_stokes import POWER, SHIFT, STRENGTH, torque
from pgt.families.torus import Torus

NODES, VISCOSITY = 128, 1e-3  # over one unit of time
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
    return TORUS.values(TORUS.evolve(vorticity, VISCOSITY, torque(TORUS), 2, 1.0, 10)[-1])


def noise_of(vorticity: np.ndarray) -> np.ndarray:
    """The standard normals that make a vorticity."""
    spectrum = np.fft.rfft2(vorticity) * TORUS.kept / (NODES * LAW)
    return np.fft.irfft2(spectrum, (NODES, NODES)).ravel()


@jax.jit
def taken_back(nodes, values):
    """The vorticity at the start, from that at some nodes at the end."""
    places = jnp.stack(jnp.unravel_index(jnp.asarray(nodes), (NODES, NODES)), axis=-1) / NODES
    # What the force has not stirred.
    read = values - later(jnp.zeros((NODES, NODES))).ravel()[nodes]
    start = _spread_back(places, read)
    for _ in range(2):
        between = TORUS.spectrum((start + later(start)) / 2)
        start = _spread_back(_origins(places, between), read)
    return start


def _spread_back(places, read):
    """The field at the start whose spread values at the places were read."""
    angle = places @ jnp.asarray(WAVES)
    shapes = jnp.concatenate([jnp.cos(angle), jnp.sin(angle)], axis=1)
    rows = shapes * jnp.asarray(COLOUR * DECAY)
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


def _origins(places, spectrum):
    """Where points were one unit of time ago, in a flow that stays: four steps by the middle."""
    velocity = jnp.stack(TORUS.velocity(spectrum), axis=-1)
    for _ in range(4):
        middle = places - _between_nodes(velocity, places) / 8
        places = places - _between_nodes(velocity, middle) / 4
    return places


def _between_nodes(velocity, places):
    low = jnp.floor(places * NODES).astype(int)
    share = places * NODES - low
    total = jnp.zeros_like(places)
    for i, j in np.ndindex(2, 2):
        weight = jnp.prod(jnp.where(jnp.array([i, j]) == 1, share, 1 - share), axis=1)
        total += weight[:, None] * velocity[(low[:, 0] + i) % NODES, (low[:, 1] + j) % NODES]
    return total
