"""What users call first, as they call it: once with what works, once with what does not."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import pgt
from pgt.core.registry import parts
from pgt.methods.plan import choose

TRUTH = pgt.datasets.heat({1: 1.0})
READINGS = pgt.sample(TRUTH, n=30)
DOMAIN = {"x": (0, 1), "t": (0, 1)}
BRIEF = pgt.Training(steps=2, collocation=20, polish=False)


def fitted(model, **options):
    return pgt.reconstruct(
        READINGS, pgt.Heat(0.01), DOMAIN, model=model, training=BRIEF, progress=False, **options
    )


# ------------------------------------------------------------------------------ models by name


@pytest.mark.parametrize("name", sorted(parts("model")))
def test_every_model_is_built_by_its_name(name):
    kind = parts("model")[name]
    pde, domain = pgt.Heat(pgt.Unknown(0.01)), pgt.Domain(**DOMAIN)
    plan = choose(READINGS, pde, domain, model=name)
    assert [one.model for one in plan.candidates] == [kind.__name__]
    assert isinstance(plan.candidates[0].build(0), kind)


@pytest.mark.parametrize(
    ("model", "named"),
    [
        ("ptg", "pgt, pinn, pinnsformer, siren"),
        ({"name": "ptg"}, "pgt, pinn, pinnsformer, siren"),
        ({"name": "pgt", "colour": 1}, "kernel, width, blocks"),
        ({"name": "pgt", "seed": 1}, "kernel, width, blocks"),
        ({"width": 8}, '"name"'),
        ({"name": "siren", "width": -1}, "width"),
        ({"name": "pgt", "kernel": "nun"}, r"pgt\.kernels\."),
        ({"name": "pgt", "decoder": "gelu"}, "film-siren"),
        (3, "model"),
    ],
)
def test_a_wrong_model_is_told_what_there_is(model, named):
    with pytest.raises(pgt.InputError, match=named):
        fitted(model)
    with pytest.raises(pgt.InputError, match=named):
        pgt.cross_validate(READINGS, pgt.Heat(0.01), DOMAIN, model=model, training=BRIEF)


def test_an_ablation_of_the_transformer_is_one_argument():
    domain = pgt.Domain(**DOMAIN)
    default = pgt.PGT.for_problem(READINGS, pgt.Heat(0.01), domain)
    assert type(default.kernel) is pgt.kernels.HeatKernel
    plain = pgt.PGT.for_problem(READINGS, pgt.Heat(0.01), domain, kernel="none")
    assert type(plain.kernel) is pgt.kernels.NoKernel
    with pytest.raises(pgt.InputError, match=r"pgt\.kernels"):
        pgt.PGT.for_problem(READINGS, pgt.Heat(0.01), domain, kernel="nun")
    with pytest.raises(pgt.InputError, match='model="pgt"'):
        pgt.PGT.for_problem({"x": [0.0]}, pgt.Heat(0.01), domain)


# ------------------------------------------------------------------------------ the result


@pytest.fixture(scope="module")
def result():
    return pgt.reconstruct(
        READINGS, pgt.Heat(0.01), DOMAIN, error_bars=pgt.Posterior(8), progress=False,
        model={"name": "features", "count": 60, "band": 6.0},
    )  # fmt: skip


def test_a_grid_is_counted_listed_or_held_at_a_position(result):
    by_int, by_float = result.grid(x=5, t=3), result.grid(x=5.0, t=np.float32(3))
    xr.testing.assert_identical(by_int, by_float)
    assert dict(by_int.sizes) == {"t": 3, "x": 5}
    assert dict(result.grid(x=5, t=[0.5]).sizes) == {"t": 1, "x": 5}
    profile = result.grid(x=5, at={"t": 0.5})
    assert dict(profile.sizes) == {"x": 5}
    assert float(profile.t) == 0.5
    np.testing.assert_allclose(profile.u, result.at(x=profile.x.values, t=0.5).u, atol=1e-12)
    assert result.residual(x=5, at={"t": 0.5}).heat.dims == ("x",)


@pytest.mark.parametrize(
    ("axes", "told"),
    [
        ({"x": 1}, r"x=\[1\]"),
        ({"x": 1.0}, r"x=\[1\.0\]"),
        ({"t": 0.5}, r"t=\[0\.5\] or at=\{'t': 0\.5\}"),
        ({"y": 3}, "axes are x, t"),
        ({"at": 0.5}, "a dict"),
        ({"at": {"x": [0.1, 0.2]}}, "one position"),
        ({"x": 3, "at": {"x": 0.5}}, "one of the two"),
    ],
)
def test_a_wrong_grid_is_told_what_to_write(result, axes, told):
    with pytest.raises(pgt.InputError, match=told):
        result.grid(**axes)


def test_quantiles_are_a_dimension_as_in_xarray(result):
    field = result.grid(x=5, t=3, quantiles=[0.05, 0.5, 0.95])
    assert field.u_quantile.dims == ("quantile", "t", "x")
    assert field["quantile"].values.tolist() == [0.05, 0.5, 0.95]
    low, middle, high = (field.u_quantile.sel(quantile=p) for p in (0.05, 0.5, 0.95))
    assert bool(((low <= middle) & (middle <= high)).all())
    assert "quantile" not in field.u.dims
    one = result.grid(x=5, t=3, quantiles=0.05)  # as xarray's own `quantile`, one is no dimension
    assert one.u_quantile.dims == ("t", "x")
    assert float(one["quantile"]) == 0.05
    np.testing.assert_array_equal(one.u_quantile, low)
    points = result.at(x=[0.1, 0.2], t=0.5, quantiles=(0.05, 0.95))
    assert points.u_quantile.dims == ("quantile", "point")
    assert "quantile" not in result.grid(x=5, t=3).coords
    for wrong in (5, [0.5, 1.0], "half"):
        with pytest.raises(pgt.InputError, match="quantiles"):
            result.grid(x=5, t=3, quantiles=wrong)


def test_a_field_with_quantiles_is_written_and_drawn(result, tmp_path):
    field = result.grid(x=5, t=3, quantiles=[0.05, 0.95])
    xr.testing.assert_allclose(
        pgt.io.read_field(pgt.io.write_field(field, tmp_path / "field.nc")), field
    )
    table = pd.read_csv(pgt.io.write_field(field, tmp_path / "field.csv"))
    assert len(table) == 2 * 5 * 3
    assert {"x", "t", "quantile", "u", "u_quantile"} <= set(table.columns)
    with pytest.raises(pgt.InputError, match="quantile"):
        pgt.io.write_field(field, tmp_path / "field.vtr")
    pgt.plots.save(result.plot(x=5, t=3, quantiles=[0.05, 0.95]), tmp_path / "field.png")
