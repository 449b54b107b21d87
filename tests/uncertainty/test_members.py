"""Many fields that could all be the true one: asked one by one, and their statistics."""

import jax.numpy as jnp
import numpy as np
import pytest
from wavy_result import result_with

from pgt.core.errors import InputError
from pgt.uncertainty import members
from pgt.uncertainty.members import (
    checked_quantiles,
    member_statistics,
    quantile_column,
    require_members,
)


def first(field, z):
    return {"u": field(z)[0]}


def test_every_member_says_its_own_and_chunks_do_not_show(monkeypatch):
    drawn = result_with(members=3).members
    points = np.random.default_rng(0).uniform((0, 0), (3, 1), (11, 2))
    whole = drawn.evaluate(first, points)["u"]
    a, b = np.asarray(drawn.models.a), np.asarray(drawn.models.b)
    wanted = (1 + a[:, None]) * np.sin(points[:, 0]) + b[:, None] * points[:, 1]
    np.testing.assert_allclose(whole, wanted, rtol=1e-5, atol=1e-6)
    monkeypatch.setattr(members, "MAX_VALUES_AT_ONCE", 12)  # four points of three members at a time
    assert drawn.chunk_size(11) == 4
    np.testing.assert_allclose(drawn.evaluate(first, points)["u"], whole, rtol=1e-6)


def test_statistics_are_those_of_numpy_in_double_precision():
    table = 300 + 1e-4 * np.random.default_rng(1).standard_normal((5, 7))
    found = member_statistics({"T": jnp.asarray(table, jnp.float32)}, (0.05, 0.5))
    single = table.astype(np.float32).astype(float)
    np.testing.assert_allclose(found["T"], single.mean(axis=0), rtol=1e-15)
    np.testing.assert_allclose(found["T_std"], single.std(axis=0, ddof=1))
    np.testing.assert_allclose(found["T_quantile@0.05"], single.min(axis=0))  # of five, number 0.3
    np.testing.assert_allclose(found["T_quantile@0.5"], np.median(single, axis=0))
    assert set(found) == {"T", "T_std", "T_quantile@0.05", "T_quantile@0.5"}


@pytest.mark.parametrize("count", [64, 128])
def test_a_band_holds_one_more_member_as_often_as_it_says(count):
    random = np.random.default_rng(2)
    half, truth = random.standard_normal((count // 2, 40_000)), random.standard_normal(40_000)
    found = member_statistics(
        {"u": np.concatenate([half, -half])}, (0.05, 0.95)
    )  # pairs around a fit
    inside = (found["u_quantile@0.05"] <= truth) & (truth <= found["u_quantile@0.95"])
    assert inside.mean() == pytest.approx(0.9, abs=0.005)


def test_what_cannot_be_asked():
    assert (quantile_column("u", 0.9), checked_quantiles(0.9)) == ("u_quantile@0.9", (0.9,))
    for wrong in (1.5, 0.0, (0.5, -1.0)):
        with pytest.raises(InputError, match="between 0 and 1"):
            checked_quantiles(wrong)
    with pytest.raises(InputError, match="error_bars="):
        require_members(None)
