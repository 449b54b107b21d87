"""An equation the library does not have, once as text and once as a class.

    python examples/own_equation.py [steps]

Fisher's equation u_t = D u_xx + r u (1 - u): a population that spreads and grows. A front of
known shape travels at speed 5 √(rD/6) (Ablowitz & Zeppetella 1979).
"""

import sys

import equinox as eqx
import numpy as np

import pgt

D, R = 0.01, 1.0


class Fisher(pgt.extend.AbstractPDE):
    """u_t = D u_xx + r u (1 - u)."""

    spread: float | pgt.Unknown
    growth: float | pgt.Unknown
    coords: tuple[str, ...] = eqx.field(static=True, default=("x", "t"))
    fields: tuple[str, ...] = eqx.field(static=True, default=("u",))

    def residual(self, d):
        return {"fisher": d("u_t") - self.spread * d("u_xx") - self.growth * d("u") * (1 - d("u"))}

    def kernel(self):
        return pgt.kernels.HeatKernel(D)


def front(x, t):
    """(1 + exp(√(r/6D) (x - 5√(rD/6) t)))⁻²"""
    return (1 + np.exp(np.sqrt(R / (6 * D)) * (x - 5 * np.sqrt(R * D / 6) * t))) ** -2.0


def main(steps: int):
    x, t = np.random.default_rng(0).uniform([[-1.0], [0.0]], [[1.0], [2.0]], (2, 150))
    readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": front(x, t)})
    domain = pgt.Domain(x=(-1, 1), t=(0, 2))
    training = pgt.Training(steps=steps, collocation=500, polish=None if steps >= 100 else False)

    as_text = pgt.Equation("u_t = D*u_xx + r*u*(1 - u)", D=D, r=R, kernel=pgt.kernels.HeatKernel(D))
    as_class = Fisher(spread=D, growth=R)
    for pde in (as_text, as_class):
        result = pgt.reconstruct(readings, pde, domain, training=training)
        field = result.grid(x=101, t=101)
        wanted = front(field.x, field.t)
        error = float(np.sqrt(((field.u - wanted) ** 2).sum() / (wanted**2).sum()))
        print(f"{type(pde).__name__}: relative L2 error {error:.1e}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
