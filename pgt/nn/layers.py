"""Layers of coordinate networks: random initial weights, embeddings, sines and Gabor wavelets."""

import math
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jaxtyping import Array, Float


class Draw:
    """A source of random arrays, drawn one after another from one seed."""

    def __init__(self, seed: int):
        self._random = np.random.default_rng(seed)

    def normal(self, shape: tuple[int, ...], scale: float) -> Float[Array, "..."]:
        return jnp.asarray(np.float32(scale * self._random.standard_normal(shape)))

    def uniform(self, shape: tuple[int, ...], bound: float) -> Float[Array, "..."]:
        return jnp.asarray(np.float32(self._random.uniform(-bound, bound, shape)))


def zeros(*shape: int) -> Float[Array, "..."]:
    return jnp.asarray(np.zeros(shape, np.float32))


# ------------------------------------------------------------------------------- embedding


class Embedding(eqx.Module):
    """Unit coordinates as network inputs; a periodic coordinate becomes a point on a circle.

    >>> Embedding((False, True))(jnp.array([0.5, 1.0])).round(3).tolist()
    [0.5, -1.0, -0.0]
    """

    periodic: tuple[bool, ...] = eqx.field(static=True)

    def __call__(self, z: Float[Array, " d"]) -> Float[Array, " e"]:
        if not any(self.periodic):
            return z
        parts = []
        for axis, wraps in enumerate(self.periodic):
            angle = jnp.pi * z[axis]
            parts += [jnp.cos(angle), jnp.sin(angle)] if wraps else [z[axis]]
        return jnp.stack(parts)

    @property
    def size(self) -> int:
        """The number of network inputs."""
        return len(self.periodic) + sum(self.periodic)


class MovingEmbedding(Embedding):
    """The embedding in coordinates that move with a flow, in which a carried pattern stands still.

    >>> moving = MovingEmbedding((True, False), drift=jnp.array([0.5, 0.0]))
    >>> bool(jnp.allclose(moving(jnp.array([0.5, 1.0])), moving(jnp.array([0.0, 0.0])).at[2].set(1.0)))
    True
    """

    drift: Float[Array, " d"]  # velocity along each axis per unit of the last one; 0 for the last

    def __call__(self, z: Float[Array, " d"]) -> Float[Array, " e"]:
        return super().__call__(self.moved(z))

    def moved(self, z: Float[Array, " d"]) -> Float[Array, " d"]:
        """The point z in the moving coordinates."""
        return z - self.drift * z[-1]


# ------------------------------------------------------------------------------- sine

# On a CPU, XLA calls the C library once for each number, which takes as long as twenty products and most
# of the time of a sine network. The functions here use a series instead, which vectorizes. With k the
# nearest whole number to x/π and r = x − kπ,
#
#     sin x = (−1)^k (r − r³/3! + r⁵/5! − ...).
#
# The result is accurate to the last digit but one for arguments up to thousands of turns.


# The number of terms of the series, by the bytes of a number; the next term is below the last digit.
TERMS = {4: 7, 8: 12}
# The fractional bits of the first two parts of π, by the bytes of a number; k times each part is exact.
BITS = {4: (9, 20), 8: (24, 49)}


def sin(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """The sine of each number.

    >>> abs(float(sin(jnp.asarray(1.0)) - np.sin(1.0))) < 1e-7
    True
    """
    return _sine.bind(x)


def cos(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """The cosine of each number."""
    return _cosine.bind(x)


def _by_series(x, shift: float):
    """sin(x + shift · π), where shift is 0 or 1/2."""
    whole = jnp.round(x * (1 / math.pi) + shift)
    multiple = whole - shift
    for part in _parts_of_pi(x.dtype.itemsize):
        x = x - multiple * part
    # |x| is at most π/2 here, except for arguments so large that no digit of their sine is known.
    x = jnp.clip(x, -2, 2)
    square, series = x * x, jnp.zeros_like(x)
    for n in reversed(range(TERMS[x.dtype.itemsize])):
        series = series * square + (-1) ** n / math.factorial(2 * n + 1)
    is_odd = whole - 2 * jnp.floor(whole / 2)
    return (1 - 2 * is_odd) * (x * series)


def _parts_of_pi(size: int) -> tuple[float, ...]:
    """π as a sum of two numbers with few bits and the remainder."""
    pi, parts = np.longdouble(math.pi) + np.longdouble(1.2246467991473532e-16), []
    for bits in BITS[size]:
        parts.append(np.floor(pi * 2.0**bits) / 2.0**bits)
        pi = pi - parts[-1]
    return (*map(float, parts), float(pi))


def _elementwise_primitive(name: str, plain, shift: float) -> Primitive:
    """An elementwise function that uses the series on a CPU and `plain` on other devices."""
    primitive = Primitive(name)
    primitive.def_impl(jax.jit(primitive.bind))
    primitive.def_abstract_eval(lambda x: x)
    batching.defvectorized(primitive)
    mlir.register_lowering(primitive, mlir.lower_fun(plain, multiple_results=False))
    on_cpu = mlir.lower_fun(partial(_by_series, shift=shift), multiple_results=False)
    mlir.register_lowering(primitive, on_cpu, platform="cpu")
    return primitive


_sine, _cosine = (
    _elementwise_primitive("sine", jnp.sin, 0.0),
    _elementwise_primitive("cosine", jnp.cos, 0.5),
)
ad.defjvp(_sine, lambda tangent, x: tangent * cos(x))
ad.defjvp(_cosine, lambda tangent, x: -tangent * sin(x))


# ------------------------------------------------------------------------------- sine layers

# Initial weights of a sinusoidal representation network (Sitzmann et al. 2020).


def first_weights(inputs: int, width: int, frequency: float, draw: Draw) -> Float[Array, "w i"]:
    """The weights of the first layer, from U(±ω0/inputs): sin(Wz + b) has ω0 folded into W.

    ω0 = 30 suits images; on fields scaled to [-1, 1] with a PDE residual 6–10 works better.
    """
    return draw.uniform((width, inputs), frequency / inputs)


def hidden_weights(layers: int, width: int, draw: Draw) -> Float[Array, "layers w w"]:
    """The weights of hidden layers, from U(±√(6/width)), which keeps unit variance of pre-activations."""
    return draw.uniform((layers, width, width), math.sqrt(6 / width))


def phases(width: int, draw: Draw) -> Float[Array, " w"]:
    """Biases from U(±π), so that all phases of the waves are present initially."""
    return draw.uniform((width,), math.pi)


# ------------------------------------------------------------------------------- gabor

# Complex Gabor wavelets (Saragadam et al. 2023). A complex array is a pair of real arrays, so that
# derivatives, optimisers and files handle only real numbers.


class Complex(eqx.Module):
    """The complex array real + i·imaginary."""

    real: Float[Array, "*shape"]
    imaginary: Float[Array, "*shape"]

    def __matmul__(self, other: "Complex") -> "Complex":
        return Complex(
            self.real @ other.real - self.imaginary @ other.imaginary,
            self.real @ other.imaginary + self.imaginary @ other.real,
        )

    def __add__(self, other: "Complex") -> "Complex":
        return Complex(self.real + other.real, self.imaginary + other.imaginary)

    def __getitem__(self, index: int) -> "Complex":
        return Complex(self.real[index], self.imaginary[index])


def gabor(z: Complex, frequency: float, spread: float) -> Complex:
    """ψ(z) = exp(iω₀z)·exp(-|s₀z|²): a wave of frequency ω₀ under an envelope of width 1/s₀."""
    # There is one exponent, at most (ω₀/2s₀)²; exp(-ω₀ Im z) by itself would overflow.
    size = jnp.exp(-frequency * z.imaginary - spread**2 * (z.real**2 + z.imaginary**2))
    return Complex(size * cos(frequency * z.real), size * sin(frequency * z.real))


class GaborStack(eqx.Module):
    """Layers h_1 = ψ(W_0 z + b_0), h_{l+1} = ψ(W_l h_l + b_l) and a readout u = Re(R h_L) + r.

    W_0 and b_0 are real, the later weights complex. All are drawn from U(±1/√inputs), as in the authors'
    code. Wavelets then cover [-1, 1], and with s₀ of order one the complex layers start neither flat nor
    dead.
    """

    first_weight: Float[Array, "w i"]
    first_bias: Float[Array, " w"]
    hidden_weight: Complex  # hidden w w
    hidden_bias: Complex  # hidden w
    readout: Complex  # c w
    offset: Float[Array, " c"]  # real, because an imaginary part would have no effect
    frequency: float = eqx.field(static=True)
    spread: float = eqx.field(static=True)

    def __init__(
        self,
        inputs: int,
        outputs: int,
        width: int,
        hidden: int,
        frequency: float,
        spread: float,
        draw: Draw,
    ):
        def complex_weights(*shape: int) -> Complex:
            bound = 1 / math.sqrt(width)
            return Complex(draw.uniform(shape, bound), draw.uniform(shape, bound))

        self.first_weight = draw.uniform((width, inputs), 1 / math.sqrt(inputs))
        self.first_bias = draw.uniform((width,), 1 / math.sqrt(inputs))
        self.hidden_weight = complex_weights(hidden, width, width)
        self.hidden_bias = complex_weights(hidden, width)
        self.readout = complex_weights(outputs, width)
        self.offset = zeros(outputs)
        self.frequency = frequency
        self.spread = spread

    def __call__(self, z: Float[Array, " i"]) -> Float[Array, " c"]:
        pre = self.first_weight @ z + self.first_bias
        h = gabor(Complex(pre, jnp.zeros_like(pre)), self.frequency, self.spread)
        for layer in range(len(self.hidden_bias.real)):
            pre = self.hidden_weight[layer] @ h + self.hidden_bias[layer]
            h = gabor(pre, self.frequency, self.spread)
        return (self.readout @ h).real + self.offset
