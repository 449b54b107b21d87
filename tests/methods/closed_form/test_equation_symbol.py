"""The symbol of an equation: waves built from it satisfy the equation."""

import jax
import numpy as np
import pytest

import pgt
from pgt.methods.closed_form.equation_symbol import symbol_of
from pgt.models.features import Features
from pgt.nn.trees import cast
from pgt.reconstruction.evaluation import Evaluation

PLANE, SPACE = {"x": (0, 2), "t": (1, 4)}, {"x": (0, 2), "y": (0, 1), "t": (0, 3)}
MAXWELL = pgt.Equation(
    "e_t = b_x - a_y", "a_t = -e_y", "b_t = e_x", fields=("e", "a", "b"), coords=("x", "y", "t")
)


def features(pde, bounds, offset=0.0):
    domain, count = pgt.Domain(**bounds), 20
    points = np.random.default_rng(0).uniform(domain.lower, domain.upper, (count, len(bounds)))
    values = {name: offset + np.arange(count) ** 0.5 * (k + 1) for k, name in enumerate(pde.fields)}
    readings = pgt.Observations.from_arrays(dict(zip(bounds, points.T, strict=True)), values)
    return Features(pgt.Scaling.fit(readings, domain), count=60, band=5.0), readings, domain


@pytest.mark.parametrize(
    ("pde", "bounds"),
    [
        (pgt.Heat(0.3), PLANE),
        (pgt.Wave(2.0), PLANE),
        (pgt.Equation("u_tt = 4*u_xx - 9*u"), PLANE),
        (pgt.Equation("u_t + 0.3*u_x - 0.2*u_y = 0.1*(u_xx + u_yy) - u"), SPACE),
        (MAXWELL, SPACE),
    ],
)
def test_a_field_of_waves_satisfies_its_equation(pde, bounds):
    model, readings, domain = features(pde, bounds)
    symbol = symbol_of(pde, model.scaling)
    exact = model.satisfying(symbol)
    network = exact.network
    weights = np.random.default_rng(1).normal(size=(1, network.size))
    np.testing.assert_allclose(
        network.tied(network.readouts(weights).reshape(1, -1)), weights, atol=1e-12
    )
    fitted = jax.tree.map(np.asarray, network.readouts(weights)[0])
    with jax.enable_x64(True):
        exact = cast(exact, np.float64)
        exact = exact._replace(
            network=type(network)(exact.network.sines, fitted, exact.network.amplitudes)
        )
        evaluation = Evaluation(exact, pde, readings, None, domain)
        left = evaluation.relative_residuals(np.asarray(domain.even(50)))
    assert max(left.values()) < 1e-10


@pytest.mark.parametrize(
    "pde",
    [
        pgt.Heat(pgt.Unknown(0.3, positive=True)),
        pgt.Heat(0.3, source="sin(x)"),
        pgt.Equation("u_t = x*u_xx"),
    ],
)
def test_others_have_no_symbol(pde):
    assert symbol_of(pde, features(pde, PLANE)[0].scaling) is None


def test_a_field_far_from_zero_is_no_sum_of_waves_where_constants_are_no_solution():
    decaying, heat = pgt.Equation("u_t = 0.1*u_xx - u"), pgt.Heat(0.1)
    found = [symbol_of(pde, features(pde, PLANE, 1e4)[0].scaling) for pde in (decaying, heat)]
    assert [symbol is None for symbol in found] == [True, False]


def test_a_result_of_waves_survives_a_file_and_is_answered_on_grids(tmp_path):
    model, readings, domain = features(MAXWELL, SPACE)
    model = Features(model.scaling, count=40)
    training = pgt.Training(seconds=20.0)
    result = pgt.reconstruct(
        readings, MAXWELL, domain, model=model, error_bars=pgt.Posterior(4), training=training,
        progress=False,
    )  # fmt: skip
    result.save(tmp_path / "result")
    again = pgt.Reconstruction.load(tmp_path / "result")
    axes = {"x": 3, "y": 2, "t": 2}
    found, expected = again.grid(["e", "a_y"], **axes), result.grid(["e", "a_y"], **axes)
    x, y, t = (part.ravel() for part in np.meshgrid(*(expected[a] for a in "xyt"), indexing="ij"))
    points = result.at(np.stack([x, y, t], axis=-1), ["e", "a_y"])
    for name in ("e", "e_std", "a_y"):
        np.testing.assert_array_equal(found[name], expected[name])
        size = float(np.abs(points[name]).max())
        on_grid = expected[name].transpose("x", "y", "t").to_numpy().ravel()
        np.testing.assert_allclose(on_grid, points[name], rtol=0, atol=1e-9 * size)
