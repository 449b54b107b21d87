"""`FNO`: the Fourier neural operator, on a grid to which the scattered readings are rasterised.

    readings ──raster──► value, mask, coordinate channels ──P──► Fourier layers ──► feature grid
                                                                                        │
    query z ──────────────────────────────────► cubic B-spline of the feature grid ──Q──► u(z)

Shapes in trailing comments: n readings, N nodes of the grid, w width, c fields.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float, Int

from pgt.core.arguments import Seed, Size
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.kernels.kernel import NoKernel
from pgt.models.field_model import AbstractFrame, AbstractTwoStageNetwork, UnitReadings
from pgt.nn.attention import Dense, Mlp
from pgt.nn.layers import Draw, Embedding, zeros
from pgt.nn.scaling import Scaling

# The number of nodes along an axis whose cubic B-splines are nonzero at a point.
STENCIL = 4


class FourierLayers(eqx.Module):
    """A stack of Fourier layers, h ← σ(W h + b + K h), K a spectral convolution (Li et al. 2021).

    Each weight belongs to a mode of the box and none to a node, so that one set of weights acts on the
    same function at any resolution. R is stored as two real arrays, because optimisers and files take
    only real numbers.
    """

    real: Float[Array, "layers *modes w w"]
    imaginary: Float[Array, "layers *modes w w"]
    weight: Float[Array, "layers w w"]
    bias: Float[Array, "layers w"]

    def __init__(self, width: int, modes: int, dimension: int, layers: int, draw: Draw):
        # Both signs of the frequency are kept along all axes but the last, where a real function's
        # spectrum is symmetric.
        kept = (2 * modes,) * (dimension - 1) + (modes,)
        # |R|² sums to one over the inputs, so that a mode keeps its size from layer to layer.
        shape, scale = (layers, *kept, width, width), (2 * width) ** -0.5
        self.real = draw.normal(shape, scale)
        self.imaginary = draw.normal(shape, scale)
        self.weight = draw.uniform((layers, width, width), width**-0.5)
        self.bias = zeros(layers, width)

    def __call__(self, nodes: Float[Array, "*grid w"]) -> Float[Array, "*grid w"]:
        def step(h, layer: FourierLayers):
            convolved = spectral_convolution(h, layer.real, layer.imaginary)
            return jax.nn.gelu(h @ layer.weight.T + layer.bias + convolved), None

        return jax.lax.scan(step, nodes, self)[0]


def spectral_convolution(
    nodes: Float[Array, "*grid i"],
    real: Float[Array, "*modes i o"],
    imaginary: Float[Array, "*modes i o"],
) -> Float[Array, "*grid o"]:
    """The circular convolution F⁻¹(R · F h), whose kernel has only the lowest modes (Li et al. 2021)."""
    sizes = nodes.shape[:-1]
    low = _low_modes(nodes, real.shape[len(sizes) - 1])
    mixed = jnp.einsum("...i,...io->...o", low, jax.lax.complex(real, imaginary))
    return _from_low_modes(mixed, sizes)


def _low_modes(nodes: Float[Array, "*grid i"], count: int) -> Complex[Array, "*modes i"]:
    """The lowest modes; each axis is truncated before the next one is transformed."""
    last = nodes.ndim - 2
    spectrum = jnp.fft.rfft(nodes, axis=last)[..., :count, :]
    for axis in range(last):
        full = jnp.fft.fft(spectrum, axis=axis)
        size = full.shape[axis]
        kept = np.concatenate([np.arange(count), np.arange(size - count, size)])
        spectrum = jnp.take(full, kept, axis=axis)
    return spectrum


def _from_low_modes(
    spectrum: Complex[Array, "*modes o"], sizes: tuple[int, ...]
) -> Float[Array, "*grid o"]:
    """The values on a grid of these sizes, from the lowest modes."""
    last = len(sizes) - 1
    for axis in range(last):
        positive, negative = jnp.split(spectrum, 2, axis=axis)
        gap = list(positive.shape)
        gap[axis] = sizes[axis] - spectrum.shape[axis]
        middle = jnp.zeros(gap, spectrum.dtype)
        full = jnp.concatenate([positive, middle, negative], axis=axis)
        spectrum = jnp.fft.ifft(full, axis=axis)
    return jnp.fft.irfft(spectrum, n=sizes[last], axis=last)


def cubic_weights(fraction: Float[Array, " d"]) -> Float[Array, "d 4"]:
    """The four uniform cubic B-splines that are not zero at `fraction` of a cell; they sum to one."""
    f, rest = fraction, 1 - fraction
    pieces = [rest**3, 3 * f**3 - 6 * f**2 + 4, 3 * rest**3 - 6 * rest**2 + 4, f**3]
    return jnp.stack(pieces, axis=-1) / 6


def interpolate(nodes: Float[Array, "*grid w"], position: Float[Array, " d"]) -> Float[Array, " w"]:
    """Σ_k B(position - k) nodes_k, the uniform cubic B-spline with the nodes as control points.

    `position` counts in nodes. Value, slope and curvature are continuous from 1 to n - 2 along each
    axis; beyond, the outermost cubic is extrapolated.
    """
    *sizes, width = nodes.shape
    last_start = np.array(sizes) - STENCIL
    # The cell index has no gradient; only the position within the cell does.
    cell = jnp.floor(jax.lax.stop_gradient(position)).astype(jnp.int32)
    start = jnp.clip(cell - 1, 0, last_start.astype(np.int32))
    weights = cubic_weights(position - 1 - start)
    product = weights[0]
    for row in weights[1:]:
        product = (product[:, None] * row).reshape(-1)
    corner = [*start, jnp.zeros((), start.dtype)]
    stencil = jax.lax.dynamic_slice(nodes, corner, (*[STENCIL] * len(sizes), width))
    return product @ stencil.reshape(-1, width)


# ------------------------------------------------------------------------------- fno


HIDDEN = 128  # The hidden width of the projection, as in the paper.


class FourierNetwork(AbstractTwoStageNetwork):
    """The network: raster, lifting P, Fourier layers, spline and projection Q."""

    embedding: Embedding
    lift: Dense
    layers: FourierLayers
    project: Mlp
    grid: tuple[int, ...] = eqx.field(static=True)

    def __init__(
        self,
        embedding: Embedding,
        fields: int,
        grid: tuple[int, ...],
        modes: int,
        width: int,
        layers: int,
        draw: Draw,
    ):
        self.embedding, self.grid = embedding, grid
        self.lift = Dense(2 * fields + embedding.size, width, draw)
        self.layers = FourierLayers(width, modes, len(grid), layers, draw)
        self.project = Mlp(width, HIDDEN, fields, "gelu", draw)

    # ------------------------------------------------------------------ operator

    def encode(self, readings: UnitReadings) -> Float[Array, "*nodes w"]:
        """The feature grid of the readings, extended beyond the ends of periodic axes for the spline."""
        channels = jnp.concatenate([self._raster(readings), self._coordinates()], axis=-1)
        lifted = jax.vmap(self.lift)(channels).reshape(*self.grid, -1)
        # An axis that is not periodic is padded with zeros, so that its ends do not touch.
        margins = [(0, 0 if w else math.ceil(n / 4)) for n, w in self._axes()]
        features = self.layers(jnp.pad(lifted, [*margins, (0, 0)]))
        inside = features[tuple(slice(n) for n in self.grid)]
        wrapped = [(1, 2) if w else (0, 0) for _, w in self._axes()]
        return jnp.pad(inside, [*wrapped, (0, 0)], mode="wrap")

    def _raster(self, readings: UnitReadings) -> Float[Array, "N channels"]:
        """The mean of the readings nearest to each node (0 if none), and whether there are any."""
        node = self._nearest(readings.points)  # n
        empty = jnp.zeros((math.prod(self.grid), readings.mask.shape[-1]), readings.values.dtype)
        total = empty.at[node].add(readings.values)  # N c
        count = empty.at[node].add(readings.mask.astype(empty.dtype))
        return jnp.concatenate([total / jnp.maximum(count, 1.0), jnp.minimum(count, 1.0)], axis=-1)

    def _nearest(self, points: Float[Array, "n d"]) -> Int[Array, " n"]:
        """The node nearest to each point, counted along the flattened grid."""
        rounded = jnp.round(self._position(points)).astype(jnp.int32)
        return jnp.ravel_multi_index(tuple(rounded.T), self.grid, mode="wrap")

    def _coordinates(self) -> Float[Array, "N e"]:
        """The embedded coordinates of each node."""
        first, spacing = self._spacing()
        index = np.indices(self.grid).reshape(len(self.grid), -1).T
        unit = np.asarray((index - first) * spacing - 1, self.lift.weight.dtype)
        return jax.vmap(self.embedding)(jnp.asarray(unit))

    # ------------------------------------------------------------------ query

    def look(self, context: Float[Array, "*nodes w"], z: Float[Array, " d"]) -> Float[Array, " w"]:
        """The feature grid, read at z by the cubic B-spline."""
        position = self._position(z)
        size, wraps = np.array(self.grid), np.array(self.embedding.periodic)
        turns = jnp.floor(jax.lax.stop_gradient(position) / size.astype(position.dtype))
        shift = np.where(wraps, 1, 0) - turns * np.where(wraps, size, 0)
        return interpolate(context, position + shift.astype(position.dtype))

    def answer(self, seen: Float[Array, " w"], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The fields u = Q(features); the features already depend on z."""
        return self.project(seen)

    def tunable(self):
        """The projection Q."""
        return self.project

    # ------------------------------------------------------------------ the grid

    def _axes(self):
        """The number of nodes of each axis and whether it is periodic."""
        return list(zip(self.grid, self.embedding.periodic, strict=True))

    def _spacing(self) -> tuple[np.ndarray, np.ndarray]:
        """Index of the node at the lower end of each axis, and the distance of nodes in unit lengths."""
        first = [0 if wraps else 1 for _, wraps in self._axes()]
        cells = [n if wraps else n - 3 for n, wraps in self._axes()]
        return np.array(first), 2 / np.array(cells)

    def _position(self, z: Float[Array, "*n d"]) -> Float[Array, "*n d"]:
        """The position in nodes of a point in unit coordinates."""
        first, spacing = (a.astype(z.dtype) for a in self._spacing())
        return (z + 1) / spacing + first


@register("fno")
class FNO(AbstractFrame):
    """Fourier neural operator (Li et al. 2021, "Fourier Neural Operator for Parametric PDEs").

        h_0 = P [values, mask, coordinates]        h_{l+1} = σ(W_l h_l + b_l + F⁻¹(R_l · F h_l))
        u(z) = Q( Σ_k B(z - z_k) h_L(z_k) )

    The paper's operator lives on its grid. Here its last feature map is read between the nodes by the
    cubic B-spline B, so that u and its first and second derivatives exist and are continuous anywhere.
    `modes`, `width` and `layers` default to the paper's operator in space and time.

    Parameters
    ----------
    scaling
        Scales of the problem, `Scaling.fit(observations, domain)`.
    grid
        Nodes along each axis of the domain, or one number for all. An axis that is not periodic has
        its outermost nodes one cell outside, where the spline needs them.
    modes
        Frequencies kept along each axis.

    The example below builds one; `python examples/rivals.py FNO` trains it.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> model = FNO(scaling, grid=8, modes=3, width=8, layers=2)
    >>> model.decode(model.encode(readings), readings.points[0]).shape  # one field at one point
    (1,)
    """

    scaling: Scaling
    kernel: NoKernel
    network: FourierNetwork

    def __init__(
        self,
        scaling: Scaling,
        *,
        grid: Size | tuple[Size, ...] = 32,
        modes: Size = 8,
        width: Size = 20,
        layers: Size = 4,
        seed: Seed = 0,
    ):
        dimension, fields = len(scaling.periodic), len(scaling.mean)
        grid = (grid,) * dimension if isinstance(grid, int) else tuple(grid)
        _check_sizes(grid, dimension, modes)
        embedding, draw = Embedding(scaling.periodic), Draw(seed)
        self.scaling, self.kernel = scaling, NoKernel()
        self.network = FourierNetwork(embedding, fields, grid, modes, width, layers, draw)


def _check_sizes(grid, dimension, modes):
    if len(grid) != dimension or min(grid) < STENCIL:
        raise InputError(
            f"FNO(grid={grid}): write one number of nodes, at least {STENCIL}, for each of the "
            f"domain's {dimension} axes, or a single number for all."
        )
    if 2 * modes > min(grid):
        raise InputError(
            f"FNO(modes={modes}): write at most half the nodes of the shortest axis, here "
            f"{min(grid) // 2}."
        )
