r"""Stiff equations in time: exponential time differencing of fourth order.

$$ \hat u_t = \lambda \hat u + N(\hat u) $$

with a real rate λ for every mode, which is integrated exactly. The scheme is that of Cox and Matthews
(2002), doi:10.1006/jcph.2002.6995. Its weights are combinations of the functions φ₁ to φ₃, which are
computed so that single precision suffices.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Complex, Float

Spectrum = Complex[Array, "*modes"]
Nonlinear = Callable[[Spectrum], Spectrum]
TERMS = 12  # of the series, by which it is good to 1e-9 up to |z| = 1


class Weights(eqx.Module):
    """What a step of one length needs to know of the rates.

    Growth is kept as what it adds, e^(hλ) - 1: rounded as a factor near 1, the same error in every step
    would add up.
    """

    whole: Float[Array, "*modes"]
    half: Float[Array, "*modes"]
    middle: Float[Array, "*modes"]
    start: Float[Array, "*modes"]
    between: Float[Array, "*modes"]
    end: Float[Array, "*modes"]

    def __init__(self, rate: Float[Array, "*modes"], step: float):
        first, second, third = phi(step * rate)
        self.whole, self.half = jnp.expm1(step * rate), jnp.expm1(step * rate / 2)
        self.middle = step / 2 * phi(step * rate / 2)[0]
        self.start = step * (first - 3 * second + 4 * third)
        self.between = step * (2 * second - 4 * third)
        self.end = step * (4 * third - second)


def phi(z: Float[Array, "*n"]) -> tuple[Float[Array, "*n"], ...]:
    """φ₁ = (eᶻ - 1)/z,  φ₂ = (φ₁ - 1)/z,  φ₃ = (φ₂ - ½)/z; near zero, where these cancel, by series."""
    near = jnp.abs(z) < 1
    small, large = jnp.where(near, z, 0.0), jnp.where(near, 1.0, z)
    first = jnp.expm1(large) / large
    second = (first - 1) / large
    third = (second - 0.5) / large
    series = [_series(small, order) for order in (1, 2, 3)]
    return tuple(jnp.where(near, s, f) for s, f in zip(series, (first, second, third), strict=True))


def march(
    spectrum: Spectrum,
    rate: Float[Array, "*modes"],
    nonlinear: Nonlinear,
    times: int,
    interval: float,
    steps: int,
) -> Complex[Array, "{times} *modes"]:
    """The spectra at so many times, the first of them now, with so many steps in every interval."""
    weights = Weights(rate, interval / steps)

    def one(state, _):
        return stepped(state, weights, nonlinear), None

    def later(state, _):
        state, _ = jax.lax.scan(one, state, None, length=steps)
        return state, state

    found = jax.lax.scan(later, spectrum, None, length=times - 1)[1]
    return jnp.concatenate([spectrum[None], found])


def stepped(u: Spectrum, weights: Weights, nonlinear: Nonlinear) -> Spectrum:
    """The state one step later."""
    at_start = nonlinear(u)
    a = u + (weights.half * u + weights.middle * at_start)
    at_a = nonlinear(a)
    b = u + (weights.half * u + weights.middle * at_a)
    at_b = nonlinear(b)
    c = a + (weights.half * a + weights.middle * (2 * at_b - at_start))
    gained = weights.start * at_start + weights.between * (at_a + at_b) + weights.end * nonlinear(c)
    return u + (weights.whole * u + gained)


def _series(z: Float[Array, "*n"], order: int) -> Float[Array, "*n"]:
    """Σ zʲ / (j + order)!, by Horner's rule."""
    total = jnp.zeros_like(z)
    for j in reversed(range(TERMS)):
        total = 1 + z / (j + order + 1) * total
    factorial = {1: 1, 2: 2, 3: 6}[order]
    return total / factorial
