"""Polynomials in elements."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt import Domain, Observations, Scaling, Solver

DOMAIN = Domain(x=(0, 2), t=(0, 1))
READINGS = Observations.from_arrays({"x": [0.0, 2.0], "t": [0.0, 1.0]}, {"u": [1.0, 3.0]})


def test_a_model_before_its_fit_is_the_mean():
    model = Solver(Scaling.fit(READINGS, DOMAIN))
    assert model.decode((), jnp.array([0.3, 0.4])) == pytest.approx(2.0)


def test_each_element_has_its_own_polynomial():
    pieces = np.zeros((1, 2, 1, 3, 1))
    pieces[0, 0, 0, 1, 0] = 1.0  # x from -1 to 1 in the first element
    pieces[0, 1, 0, 2, 0] = 2.0  # 2 P_2 in the second
    edges = [np.array([0.0, 0.5, 2.0]), np.array([0.0, 1.0])]
    with jax.enable_x64(True):
        model = Solver(Scaling.fit(READINGS, DOMAIN)).with_pieces(edges, pieces)
        found = [float(model.decode((), jnp.array([x, 0.7]))[0]) for x in (0.125, 0.5, 1.25, 2.0)]
        slope = jax.jacfwd(lambda z: model.decode((), z))(jnp.array([0.1, 0.7]))
    assert found == pytest.approx([-0.5, 2.0, -1.0, 2.0])
    assert slope[0, 0] == pytest.approx(4.0)
