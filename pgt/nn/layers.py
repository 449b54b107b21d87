"""Layers of networks of the coordinate: random weights, embeddings, sines and wavelets."""

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
    """Draws arrays one after the other from one seed."""

    def __init__(self, seed: int):
        self._random = np.random.default_rng(seed)

    def normal(self, shape: tuple[int, ...], scale: float) -> Float[Array, "..."]:
        return jnp.asarray(np.float32(scale * self._random.standard_normal(shape)))

    def uniform(self, shape: tuple[int, ...], bound: float) -> Float[Array, "..."]:
        return jnp.asarray(np.float32(self._random.uniform(-bound, bound, shape)))


def zeros(*shape: int) -> Float[Array, "..."]:
    return jnp.asarray(np.zeros(shape, np.float32))


# ------------------------------------------------------------------------------- embedding

# What a network sees of a point in unit coordinates.


class Embedding(eqx.Module):
    """Unit coordinates as they are; a periodic axis as a point on a circle.

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
        """How many numbers that are."""
        return len(self.periodic) + sum(self.periodic)


class MovingEmbedding(Embedding):
    """The same, seen by somebody who moves along: what is carried by a flow stands still for them.

    >>> moving = MovingEmbedding((True, False), drift=jnp.array([0.5, 0.0]))
    >>> bool(jnp.allclose(moving(jnp.array([0.5, 1.0])), moving(jnp.array([0.0, 0.0])).at[2].set(1.0)))
    True
    """

    drift: Float[Array, " d"]  # along each axis while the last one goes by 1; 0 along the last

    def __call__(self, z: Float[Array, " d"]) -> Float[Array, " e"]:
        return super().__call__(self.moved(z))

    def moved(self, z: Float[Array, " d"]) -> Float[Array, " d"]:
        """Where z is for somebody who drifts."""
        return z - self.drift * z[-1]


# ------------------------------------------------------------------------------- sine

# sin and cos, as quick on a processor as they are on a graphics card.
#
# There XLA calls the C library once for every number, which takes as long as twenty products: most
# of the time of a network of sines. With k the nearest whole number to x/π and r = x − kπ
#
#     sin x = (−1)^k (r − r³/3! + r⁵/5! − ...),
#
# which processors compute for many numbers at once, to the last digit but one up to thousands of
# turns.


TERMS = {4: 7, 8: 12}  # of the series, by the bytes of a number; the next is below its last digit
BITS = {4: (9, 20), 8: (24, 49)}  # behind the point: k times the first two parts of π is exact


def sin(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """The sine of every number.

    >>> abs(float(sin(jnp.asarray(1.0)) - np.sin(1.0))) < 1e-7
    True
    """
    return _sine.bind(x)


def cos(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """The cosine of every number."""
    return _cosine.bind(x)


def _by_series(x, shift: float):
    """sin(x + shift · π), shift being 0 or 1/2."""
    whole = jnp.round(x * (1 / math.pi) + shift)
    away = whole - shift
    for part in _parts_of_pi(x.dtype.itemsize):
        x = x - away * part
    # Never more than π/2, but of numbers so large that no digit of their sine is known: some sine.
    x = jnp.clip(x, -2, 2)
    square, series = x * x, jnp.zeros_like(x)
    for n in reversed(range(TERMS[x.dtype.itemsize])):
        series = series * square + (-1) ** n / math.factorial(2 * n + 1)
    is_odd = whole - 2 * jnp.floor(whole / 2)
    return (1 - 2 * is_odd) * (x * series)


def _parts_of_pi(size: int) -> tuple[float, ...]:
    """π as a sum: of numbers with few digits, and what is left."""
    pi, parts = np.longdouble(math.pi) + np.longdouble(1.2246467991473532e-16), []
    for bits in BITS[size]:
        parts.append(np.floor(pi * 2.0**bits) / 2.0**bits)
        pi = pi - parts[-1]
    return (*map(float, parts), float(pi))


def _declared(name: str, plain, shift: float) -> Primitive:
    """A function of every number alike, by series on a processor and as it is elsewhere."""
    primitive = Primitive(name)
    primitive.def_impl(jax.jit(primitive.bind))
    primitive.def_abstract_eval(lambda x: x)
    batching.defvectorized(primitive)
    mlir.register_lowering(primitive, mlir.lower_fun(plain, multiple_results=False))
    on_processor = mlir.lower_fun(partial(_by_series, shift=shift), multiple_results=False)
    mlir.register_lowering(primitive, on_processor, platform="cpu")
    return primitive


_sine, _cosine = _declared("sine", jnp.sin, 0.0), _declared("cosine", jnp.cos, 0.5)
ad.defjvp(_sine, lambda tangent, x: tangent * cos(x))
ad.defjvp(_cosine, lambda tangent, x: -tangent * sin(x))


# ------------------------------------------------------------------------------- sine layers

# Starting weights of a sinusoidal representation network (Sitzmann et al. 2020).


def first_weights(inputs: int, width: int, frequency: float, draw: Draw) -> Float[Array, "w i"]:
    """First layer, U(±ω0/inputs): ω0 is folded into the weights, so sin(Wz + b) is the layer.

    ω0 = 30 suits images; on fields scaled to [-1, 1] with a PDE residual 6–10 works better.
    """
    return draw.uniform((width, inputs), frequency / inputs)


def hidden_weights(layers: int, width: int, draw: Draw) -> Float[Array, "layers w w"]:
    """Hidden layers, U(±√(6/width)): pre-activations keep unit variance from layer to layer."""
    return draw.uniform((layers, width, width), math.sqrt(6 / width))


def phases(width: int, draw: Draw) -> Float[Array, " w"]:
    """Biases U(±π): every phase of the wave is present from the start."""
    return draw.uniform((width,), math.pi)


# ------------------------------------------------------------------------------- gabor

# Complex Gabor wavelets (Saragadam et al. 2023), in pairs of real arrays.
#
# Derivatives, optimisers and files then see only real numbers.


class Complex(eqx.Module):
    """real + i·imaginary."""

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
    # One exponent: exp(-ω₀ Im z) alone overflows, while the sum never exceeds (ω₀/2s₀)².
    size = jnp.exp(-frequency * z.imaginary - spread**2 * (z.real**2 + z.imaginary**2))
    return Complex(size * cos(frequency * z.real), size * sin(frequency * z.real))


class GaborStack(eqx.Module):
    """h_1 = ψ(W_0 z + b_0), h_{l+1} = ψ(W_l h_l + b_l), u = Re(R h_L) + r.

    W_0 and b_0 are real, the later weights complex. All start as U(±1/√inputs), the initialisation
    of the authors' code: wavelets then lie all over [-1, 1], and with s₀ of order one the complex
    layers start neither flat nor dead.
    """

    first_weight: Float[Array, "w i"]
    first_bias: Float[Array, " w"]
    hidden_weight: Complex  # hidden w w
    hidden_bias: Complex  # hidden w
    readout: Complex  # c w
    offset: Float[Array, " c"]  # an imaginary part would never be seen
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
        def both(*shape: int) -> Complex:
            bound = 1 / math.sqrt(width)
            return Complex(draw.uniform(shape, bound), draw.uniform(shape, bound))

        self.first_weight = draw.uniform((width, inputs), 1 / math.sqrt(inputs))
        self.first_bias = draw.uniform((width,), 1 / math.sqrt(inputs))
        self.hidden_weight = both(hidden, width, width)
        self.hidden_bias = both(hidden, width)
        self.readout = both(outputs, width)
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
