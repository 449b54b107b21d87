"""Parts of a user's own: derived, used, registered, and refused where they are not complete."""

import equinox as eqx
import numpy as np
import pytest

import pgt


class Decay(pgt.extend.AbstractPDE):
    """u_t = -rate u, at every x."""

    rate: float
    coords: tuple[str, ...] = eqx.field(static=True, default=("x", "t"))
    fields: tuple[str, ...] = eqx.field(static=True, default=("u",))

    def residual(self, d):
        return {"decay": d("u_t") + self.rate * d("u")}

    def kernel(self):
        return pgt.kernels.NoKernel()


def test_an_equation_of_ones_own_is_fitted():
    x, t = (axis.ravel() for axis in np.meshgrid(np.linspace(0, 1, 6), np.linspace(0, 1, 6)))
    readings = {"x": x, "t": t, "u": (1 + x) * np.exp(-2.0 * t)}
    result = pgt.reconstruct(
        readings, Decay(2.0), {"x": (0, 1), "t": (0, 1)}, progress=False,
        model={"name": "features", "count": 100, "band": 4.0},
    )  # fmt: skip
    assert abs(result.at(x=0.5, t=0.5).u.item() - 1.5 * np.exp(-1.0)) < 1e-3


def test_what_is_not_complete_is_refused():
    with pytest.raises(TypeError, match="residual"):
        pgt.extend.AbstractPDE()
    with pytest.raises(pgt.InputError, match="residual"):
        pgt.extend.register("half_done")(pgt.extend.AbstractPDE)
