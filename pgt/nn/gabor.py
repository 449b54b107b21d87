"""Complex Gabor wavelets (Saragadam et al. 2023), in pairs of real arrays.

Derivatives, optimisers and files then see only real numbers.
"""

import math

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.nn.draw import Draw, zeros
from pgt.nn.sine import cos, sin


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
