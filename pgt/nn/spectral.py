"""Layers on a regular grid: convolution in Fourier space, and smooth reading between the nodes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float

from pgt.nn.draw import Draw, zeros

STENCIL = 4  # nodes of a cubic B-spline that are not zero at a point, per axis


class FourierLayers(eqx.Module):
    """A stack of Fourier layers, h ← σ(W h + b + K h), K a spectral convolution (Li et al. 2021).

    Every weight belongs to a mode of the box and none to a node, so that one set of weights acts on
    the same function at any resolution. R is kept as two real arrays: optimisers and files know only
    real numbers.
    """

    real: Float[Array, "layers *modes w w"]
    imaginary: Float[Array, "layers *modes w w"]
    weight: Float[Array, "layers w w"]
    bias: Float[Array, "layers w"]

    def __init__(self, width: int, modes: int, dimension: int, layers: int, draw: Draw):
        # Both signs of the frequency along all axes but the last, where a real function repeats itself.
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
    """F⁻¹(R · F h): a circular convolution whose kernel has only the lowest modes (Li et al. 2021)."""
    sizes = nodes.shape[:-1]
    low = _low_modes(nodes, real.shape[len(sizes) - 1])
    mixed = jnp.einsum("...i,...io->...o", low, jax.lax.complex(real, imaginary))
    return _from_low_modes(mixed, sizes)


def _low_modes(nodes: Float[Array, "*grid i"], count: int) -> Complex[Array, "*modes i"]:
    """The lowest modes, one axis after the other: what is dropped is not transformed further."""
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
    axis; beyond, the outermost cubic goes on.
    """
    *sizes, width = nodes.shape
    last_start = np.array(sizes) - STENCIL
    # The cell is a constant of the point: only the place within it moves.
    cell = jnp.floor(jax.lax.stop_gradient(position)).astype(jnp.int32)
    start = jnp.clip(cell - 1, 0, last_start.astype(np.int32))
    weights = cubic_weights(position - 1 - start)
    product = weights[0]
    for row in weights[1:]:
        product = (product[:, None] * row).reshape(-1)
    corner = [*start, jnp.zeros((), start.dtype)]
    stencil = jax.lax.dynamic_slice(nodes, corner, (*[STENCIL] * len(sizes), width))
    return product @ stencil.reshape(-1, width)
