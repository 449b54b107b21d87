"""The arithmetic of a residual gives the residual."""

import jax
import numpy as np
import pytest

from pgt.core.unknown import resolve
from pgt.physics.derivatives import DerivativeTable
from pgt_bench.zoo.catalogue import ALL
from pgt_bench.zoo.peers.arithmetic import Arithmetic


@pytest.mark.parametrize("name", ["poisson-peak", "darcy", "sine-gordon", "beltrami", "plume"])
def test_numpy_works_out_what_jax_does(name):
    pde = ALL[name].pde
    arithmetic = Arithmetic.of(pde)
    draw = np.random.default_rng(0)
    values = {asked: draw.uniform(0.1, 1, size=7) for asked in arithmetic.asked}
    found = arithmetic(values, np)
    with jax.enable_x64(True):
        expected = jax.vmap(lambda v: resolve(pde).residual(DerivativeTable(v)))(values)
    assert list(found) == list(arithmetic.names)
    for residual, rows in found.items():
        assert rows == pytest.approx(np.asarray(expected[residual]), rel=1e-12, abs=1e-12)


def test_every_equation_of_the_zoo_can_be_worked_out():
    for problem in ALL.values():
        arithmetic = Arithmetic.of(problem.pde)
        rows = arithmetic(dict.fromkeys(arithmetic.asked, np.float64(0.5)), np)
        assert all(np.isfinite(row) for row in rows.values()), problem.name


def test_laplacians_are_told_apart():
    arithmetic = Arithmetic.of(ALL["laplace"].pde)
    assert [arithmetic.laplacian_of(name) for name in arithmetic.asked] == ["u"]
    assert arithmetic.laplacian_of("u_xx") is None
