"""Error bars that hold: conformal factors, coverage and scores on data whose truth is known."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from scipy import integrate, stats

import pgt
from pgt.data.observations import Observations
from pgt.ground.errors import InputError
from pgt.models.base import AbstractFieldModel
from pgt.nn.scaling import Scaling
from pgt.reconstruction.cross_validation import CrossValidation
from pgt.trust.calibration import (
    Calibration,
    Drawn,
    Predicted,
    calibrate,
    estimate_noise,
    few_members,
    leave_one_out,
)
from pgt.trust.coverage import bands, coverage_table, crps, predict
from pgt.trust.members import Members, statistics


def predicted(misfit, spread, noise=None):
    return Predicted(np.asarray(misfit), np.zeros(len(misfit)), np.asarray(spread), noise)


# ------------------------------------------------------------------------------- factors


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("wrong", [0.2, 1.0, 5.0])
def test_new_readings_are_held_as_often_as_promised_however_wrong_the_spread(level, wrong):
    # Student-t misfits, whose spread is misjudged by a factor; 19 readings, so that the promise is
    # exact: the chance is ⌈20 · level⌉ / 20.
    random, repetitions = np.random.default_rng(0), 2000
    scale = random.uniform(0.5, 2, size=(repetitions, 219))
    misfits = scale * random.standard_t(3, size=scale.shape)
    held = np.empty(repetitions)
    for row in range(repetitions):
        found = calibrate(predicted(misfits[row, :19], wrong * scale[row, :19], 0.0))
        half = found.half_width(wrong * scale[row, 19:], level, 0.0)
        held[row] = (np.abs(misfits[row, 19:]) <= half).mean()
    # One calibration's coverage is Beta distributed, and counted on 200 readings.
    error = np.sqrt(level * (1 - level) * (1 / 21 + 1 / 200) / repetitions)
    assert held.mean() == pytest.approx(level, abs=4 * error)


def test_scaled_scores_hold_where_plain_ones_do_not():
    random = np.random.default_rng(1)
    calm, wild = np.full(2000, 0.1), np.full(2000, 1.0)
    scale = np.concatenate([calm, wild])
    old, new = (scale * random.normal(size=4000) for _ in range(2))

    def coverage(spread):
        inside = np.abs(new) <= calibrate(predicted(old, spread, 0.0)).half_width(spread, 0.9, 0.0)
        return inside[:2000].mean(), inside[2000:].mean()

    assert coverage(scale) == pytest.approx((0.9, 0.9), abs=0.03)
    plain = coverage(np.ones(4000))
    assert plain[0] > 0.99
    assert plain[1] < 0.83


def test_a_variance_predicted_for_each_reading_is_a_noise():
    random = np.random.default_rng(4)
    sigma = random.uniform(0.1, 2, 3000)
    found = calibrate(predicted(sigma * random.normal(size=3000), np.zeros(3000), sigma))
    assert found.factor(0.9) == pytest.approx(stats.norm.ppf(0.95), rel=0.05)
    assert found.noise == pytest.approx(np.sqrt(np.mean(sigma**2)))


@pytest.mark.parametrize(("count", "level"), [(9, 0.8), (9, 0.9), (19, 0.95), (40, 0.5), (3, 0.7)])
def test_the_factor_is_the_smallest_score_that_enough_others_do_not_exceed(count, level):
    scores = np.sort(np.random.default_rng(count).exponential(size=count))
    enough = [s for s in scores if (scores <= s).sum() >= level * (count + 1) - 1e-9]
    assert Calibration(scores, 0.0).factor(level) == (enough[0] if enough else None)


def test_too_few_readings_are_said_to_be_too_few():
    found = Calibration(np.linspace(0.1, 1, 8), 0.3)
    assert not found.is_warranted(0.9)
    assert "8 readings" in found.note(0.9)
    assert "9 are needed" in found.note(0.9)
    assert found.factor(0.9) == pytest.approx(stats.norm.ppf(0.95))
    assert Calibration(np.array([7.0]), 0.0).factor(0.9) == 7.0
    assert Calibration(np.linspace(0.1, 1, 9), 0.3).note(0.9) == ""
    assert Calibration(np.zeros(0), 0.0).factor(0.5) == pytest.approx(stats.norm.ppf(0.75))


def test_cross_validated_readings_calibrate_as_well_as_held_out_ones():
    """A straight line through 60 readings in five folds; 400 times."""
    random, inside, width = np.random.default_rng(2), [], []
    for _ in range(400):
        x, new = random.uniform(size=60), random.uniform(size=50)
        y, truth = (2 * z + 0.3 * random.normal(size=len(z)) for z in (x, new))
        fold, guess = np.arange(60) % 5, np.empty(60)
        for k in range(5):
            guess[fold == k] = np.polyval(np.polyfit(x[fold != k], y[fold != k], 1), x[fold == k])
        readings = Observations.from_arrays({"x": x}, {"u": y})
        found = CrossValidation(readings, guess[:, None], fold, by="reading")
        band = calibrate(Predicted(y, found.predictions[:, 0], np.zeros(60)))
        half = band.half_width(0.0, 0.9, band.noise)
        inside.append((np.abs(truth - np.polyval(np.polyfit(x, y, 1), new)) <= half).mean())
        width.append(2 * half)
    assert np.mean(inside) == pytest.approx(0.9, abs=0.015)
    assert np.mean(width) == pytest.approx(2 * 0.3 * stats.norm.ppf(0.95), rel=0.1)


# ------------------------------------------------------------------------------- noise


def test_noise_is_estimated_beside_a_spread_and_despite_outliers():
    random = np.random.default_rng(0)
    spread = random.uniform(0.1, 1.0, 20_000)
    misfit = np.hypot(spread, 0.5) * random.normal(size=20_000)
    assert estimate_noise(misfit, spread) == pytest.approx(0.5, rel=0.03)
    misfit[:1000] = 50  # then the median of all is the 52.6 % quantile of the others
    shift = stats.norm.ppf(0.5 + 0.25 / 0.95) / stats.norm.ppf(0.75)
    assert estimate_noise(misfit, 0.0 * spread) < shift * 1.05 * estimate_noise(
        misfit[1000:], 0.0 * spread[1000:]
    )
    assert estimate_noise(0.5 * spread * random.normal(size=20_000), spread) == 0.0
    assert estimate_noise(np.zeros(5), np.zeros(5)) == 0.0


# ------------------------------------------------------------------------------- scores


@pytest.mark.parametrize(
    ("reading", "mean", "scale"), [(0.3, 0.0, 1.0), (-4.0, 1.0, 0.5), (2, 2, 3)]
)
def test_crps_is_the_integral_it_stands_for(reading, mean, scale):
    def below(x):
        return stats.norm.cdf(x, mean, scale) ** 2

    def above(x):
        return stats.norm.sf(x, mean, scale) ** 2

    wanted = integrate.quad(below, -np.inf, reading)[0] + integrate.quad(above, reading, np.inf)[0]
    assert crps(reading, mean, scale) == pytest.approx(wanted, rel=1e-6)


def test_crps_prefers_the_true_scale():
    readings = np.random.default_rng(0).normal(size=20_000)
    scores = {s: crps(readings, 0.0, s).mean() for s in (0.5, 0.9, 1.0, 1.1, 2.0)}
    assert min(scores, key=lambda s: scores[s]) == 1.0


# ------------------------------------------------------------------------------- the table


def test_the_table_of_a_spread_that_is_too_small():
    random = np.random.default_rng(0)
    misfit = random.normal(size=1000)
    table = coverage_table({"u": predicted(misfit, np.full(1000, 0.5), 0.0)})
    levels = table.level.to_numpy()
    assert table.coverage.dims == ("level", "field")
    assert table.coverage.sel(field="u").to_numpy() == pytest.approx(levels, abs=0.03)
    gaussian = stats.norm.ppf((1 + levels) / 2)
    assert table.factor.sel(field="u").to_numpy() == pytest.approx(2 * gaussian, rel=0.1)
    expected = 2 * stats.norm.cdf(0.5 * gaussian) - 1
    assert table.uncalibrated.sel(field="u").to_numpy() == pytest.approx(expected, abs=0.04)
    assert table.width.sel(field="u").to_numpy() == pytest.approx(2 * gaussian, rel=0.1)
    assert table.field_width.to_numpy() == pytest.approx(table.width.to_numpy())  # no noise
    assert table.readings.sel(field="u").item() == 1000
    assert "note" not in table.attrs


def test_no_reading_is_judged_by_a_factor_it_was_part_of():
    """Two groups, one with ten times the misfit: each is judged by the other alone."""
    random = np.random.default_rng(0)
    groups = np.repeat([0, 1], 500)
    misfit = random.normal(size=1000) * np.where(groups == 1, 10.0, 1.0)
    judged = {"u": predicted(misfit, np.ones(1000), 0.0)}
    found = coverage_table(judged, [0.9], groups={"u": groups}).coverage.item()
    wild = 2 * stats.norm.cdf(stats.norm.ppf(0.95) / 10) - 1
    assert found == pytest.approx((1.0 + wild) / 2, abs=0.03)
    assert coverage_table(judged, [0.9]).coverage.item() == pytest.approx(0.9, abs=0.03)


def test_few_readings_are_noted_in_the_table():
    table = coverage_table({"u": predicted(np.ones(5), np.ones(5))}, [0.5, 0.95])
    assert "5 readings" in table.attrs["note"]
    assert "0.95" in table.attrs["note"]
    assert "of 0.5:" not in table.attrs["note"]


def test_mistakes_are_named():
    one = {"u": predicted([1.0], [1.0])}
    for call, message in (
        (lambda: coverage_table({}), "no field has held-out readings"),
        (lambda: coverage_table(one), "hold out more"),
        (lambda: coverage_table(one, [90]), "between 0 and 1"),
        (lambda: Calibration(np.ones(3), 0.0).factor(1.0), "between 0 and 1"),
        (lambda: predicted([1.0, np.nan], [1.0, 1.0]), "readings.*2 finite numbers"),
        (lambda: predicted([1.0, 2.0], [1.0, -1.0]), "spread.*0 or more"),
        (lambda: predicted([1.0, 2.0], [1.0, 1.0], np.inf), "noise.*2 finite numbers"),
    ):
        with pytest.raises(InputError, match=message):
            call()


# ------------------------------------------------------------------------------- left out in turn


def test_left_out_in_turn_is_what_a_fit_without_the_reading_says():
    """A ridge regression, refitted without each of its readings."""
    random = np.random.default_rng(2)
    design, sigma = random.standard_normal((30, 4)), 0.3
    y = design @ random.standard_normal(4) + sigma * random.standard_normal(30)

    def posterior(rows):
        covariance = np.linalg.inv(design[rows].T @ design[rows] / sigma**2 + np.eye(4))
        return covariance @ design[rows].T @ y[rows] / sigma**2, covariance

    mean, covariance = posterior(np.arange(30))
    spread = np.sqrt(np.einsum("ij,jk,ik->i", design, covariance, design))
    found = leave_one_out(Predicted(y, design @ mean, spread, sigma))
    for row in range(30):
        without, covariance = posterior(np.delete(np.arange(30), row))
        assert found.mean[row] == pytest.approx(design[row] @ without)
        assert found.spread[row] ** 2 == pytest.approx(design[row] @ covariance @ design[row])


def test_a_reading_that_is_followed_wherever_it_goes_stays_finite():
    found = leave_one_out(Predicted(np.ones(2), np.ones(2), np.array([0.2, 0.1]), noise=0.1))
    assert found.mean.tolist() == [1.0, 1.0]
    assert found.spread == pytest.approx([0.2 / np.sqrt(0.05), 0.1 / np.sqrt(0.05)])


@pytest.mark.parametrize("members", [2, 3, 8])
def test_bands_of_few_members_hold_the_field_as_often_as_those_of_many(members):
    # A field error and members that scatter as it does: what they would be about is not known.
    random = np.random.default_rng(members)
    drawn = random.normal(size=(members, 40_000))
    misfit = drawn.mean(axis=0) + random.normal(size=40_000)
    spread = drawn.std(axis=0, ddof=1)
    half = stats.norm.ppf(0.95) * few_members(Drawn(members), 0.9) * spread
    assert (np.abs(misfit) <= half).mean() == pytest.approx(0.9, abs=0.01)
    about_the_truth = np.sqrt((drawn**2).mean(axis=0))
    half = stats.norm.ppf(0.95) * few_members(Drawn(members, True), 0.9) * about_the_truth
    assert (np.abs(random.normal(size=40_000)) <= half).mean() == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize("noise", [0.0, 1.0, 20.0])
def test_few_members_are_allowed_for_once_with_noise_and_without(noise):
    # Without noise the scores know that the spread is uncertain, with much of it they cannot.
    random = np.random.default_rng(5)
    drawn = random.normal(size=(8, 40_000))
    error = drawn.mean(axis=0) + random.normal(size=40_000)
    readings = error + noise * random.normal(size=40_000)
    spread = drawn.std(axis=0, ddof=1)
    found = calibrate(Predicted(readings, np.zeros(40_000), spread, noise, Drawn(8)))
    held = (np.abs(error) <= found.field_factor(0.9) * spread).mean()
    assert held == pytest.approx(0.9, abs=0.02)


# ------------------------------------------------------------------------------- from members


def quadratic(slopes):
    """Members u = a x², v = a x, and p that nobody measured."""
    a = np.asarray(slopes)[:, None]
    return lambda points: {
        "u": a * points[:, 0] ** 2,
        "v": a * points[:, 0],
        "p": a + 0 * points[:, 0],
    }


def readings(x, u, v, **more):
    return Observations.from_arrays({"x": x}, {"u": u, "v": v}, **more).aligned(("u", "v", "p"))


def test_members_are_averaged_over_the_box_of_a_reading():
    x = np.array([1.0, 2.0])
    fitted = readings(x, [1.5, 6.0], [0.0, np.nan])
    held_out = readings(x, [1.0, 4.0], [np.nan, 2.5], width={"x": 0.6}, noise={"u": 0.0, "v": 0.25})
    found = predict(fitted, held_out, quadratic([0.5, 1.5]))
    assert set(found) == {"u", "v"}
    assert found["u"].mean == pytest.approx(x**2 + 0.09 / 3)
    assert found["u"].spread == pytest.approx((x**2 + 0.09 / 3) * np.sqrt(0.5))
    # Of u no noise was given: it is what the fitted readings leave, 0.5 and 2.
    assert found["u"].sigma == pytest.approx(
        estimate_noise(np.array([0.5, 2.0]), np.zeros(2)) * np.ones(2)
    )
    assert found["v"].readings.tolist() == [2.5]
    assert found["v"].sigma.tolist() == [0.25]


def test_a_predicted_noise_is_used_where_none_was_given():
    held_out = readings([1.0, 2.0], [1.0, 4.0], [1.0, 2.0], noise={"v": 0.5})
    found = predict(
        held_out, held_out, quadratic([0.5, 1.5]), lambda z: {"u": z[:, 0] / 10, "v": z[:, 0] / 10}
    )
    assert found["u"].sigma == pytest.approx([0.1, 0.2])
    assert found["v"].sigma == pytest.approx([0.5, 0.5])


def test_members_of_a_posterior_are_judged_by_all_readings():
    x = np.array([1.0, 2.0])
    fitted, held_out = readings(x, [1.5, 6.0], [0.0, np.nan]), readings(x, [1.0, 4.0], [2.0, 2.0])
    members = quadratic([0.9, 1.1])
    found = predict(fitted, held_out, members, lambda z: {"u": 9 + 0 * z[:, 0]}, in_turn=True)
    assert found["u"].readings.tolist() == [1.0, 4.0, 1.5, 6.0]
    spread = np.std([[0.9], [1.1]], ddof=1) * x**2
    assert found["u"].spread == pytest.approx([*spread, *(spread / np.sqrt(1 - (spread / 9) ** 2))])
    assert len(found["v"]) == 3


def test_bands_of_fields_and_of_readings():
    points = np.linspace(0, 1, 5)[:, None]
    columns = statistics(quadratic([0.5, 1.5])(points))
    values = xr.Dataset({n: ("point", c) for n, c in columns.items()})
    values.u.attrs["units"] = "m"
    found = {"u": Calibration(np.linspace(0.1, 5, 99), 0.3), "v": Calibration(np.ones(3), 0.1)}
    table = bands(values, found, 0.9, "field")
    half = found["u"].factor(0.9) * values.u_std
    assert (table.u_upper - table.u).to_numpy() == pytest.approx(half.to_numpy())
    assert (table.u - table.u_lower).to_numpy() == pytest.approx(half.to_numpy())
    assert table.u_lower.attrs["units"] == "m"
    assert (table.p_upper - table.p).to_numpy() == pytest.approx(
        (found["u"].factor(0.9) * values.p_std).to_numpy()
    )
    assert "p was never measured" in table.attrs["note"]
    assert "3 readings" in table.attrs["note"]
    noisy = bands(values, found, 0.9, "reading")
    assert "p" not in noisy
    half = found["u"].factor(0.9) * np.hypot(values.u_std, 0.3)
    assert (noisy.u_upper - noisy.u).to_numpy() == pytest.approx(half.to_numpy())
    with pytest.raises(InputError, match="'field' or 'reading'"):
        bands(values, found, 0.9, "readings")


# ------------------------------------------------------------------------------- of a result


class Wavy(AbstractFieldModel):
    """u = (1 + a) sin x + b t, v of half the size, p = a; nothing to learn or to encode."""

    scaling: Scaling
    a: jax.Array
    b: jax.Array
    uncertain: bool = eqx.field(static=True, default=False)

    def encode(self, observations):
        return jnp.zeros(())

    def decode(self, context, z):
        u = (1 + self.a) * jnp.sin(z[0]) + self.b * z[1]
        return jnp.stack([u, u / 2, self.a + context])

    def tunable(self):
        return self.a, self.b

    @property
    def predicts_variance(self):
        return self.uncertain

    def log_variance(self, context, z):
        return 2 * jnp.log(jnp.stack([0.1 + z[1], 0.2 + context, 1 + context]))


BOX = pgt.Domain(x=(0, 3), t=(0, 1))
PDE = pgt.Equation("u_t = v_x + p_x", "v_t = u_x", "p_t = v_x", coords=("x", "t"))


def points(count, seed):
    return BOX.lower + BOX.extent * np.random.default_rng(seed).uniform(size=(count, 2))


def measured(count, seed, sigma=0.3):
    """Noisy readings of sin x and half of it; p is hidden."""
    z, random = points(count, seed), np.random.default_rng(100 + seed)
    u, v = (f * np.sin(z[:, 0]) + sigma * random.normal(size=count) for f in (1.0, 0.5))
    columns = {"x": z[:, 0], "t": z[:, 1]}
    return pgt.Observations.from_arrays(columns, {"u": u, "v": v}).aligned(PDE.fields)


def result_with(members=6, uncertain=False):
    fitted, held_out = measured(300, 0), measured(200, 1)
    scaling = pgt.Scaling.fit(fitted, BOX)
    random = np.random.default_rng(2)
    slopes = [jnp.asarray(0.05 * random.normal(size=members), jnp.float32) for _ in range(2)]
    models = [Wavy(scaling, a, b, uncertain) for a, b in zip(*slopes, strict=True)]
    stack = [
        jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), *parts)
        for parts in (models, [PDE] * members, [fitted] * members)
    ]
    record = {"rows": [], "seed": 0}
    return pgt.Reconstruction(models[0], PDE, fitted, held_out, record, BOX, Members.of(*stack))


def test_coverage_of_a_result():
    table = result_with().coverage()
    assert table.field.to_numpy().tolist() == ["u", "v"]
    assert table.coverage.sel(level=0.9).to_numpy() == pytest.approx([0.9, 0.9], abs=0.07)
    assert table.noise.to_numpy() == pytest.approx([0.3, 0.3], rel=0.15)
    assert table.readings.to_numpy().tolist() == [200, 200]


def test_bands_of_a_result_hold_new_readings():
    result, new = result_with(), measured(2000, 7)
    band = result.band(np.asarray(new.points), 0.9, "reading")
    for column, name in enumerate(("u", "v")):
        values = np.asarray(new.values)[:, column]
        inside = (band[f"{name}_lower"] <= values) & (values <= band[f"{name}_upper"])
        assert inside.mean() == pytest.approx(0.9, abs=0.05)
    grid = result.band(level=0.5, x=4, t=3)
    assert grid.u_lower.shape == grid.p_upper.shape == (3, 4)
    values = result.grid(x=4, t=3)
    factor = result.coverage([0.5]).factor.sel(field="u").item()
    ratio = ((grid.u_upper - grid.u) / values.u_std).to_numpy()[:, 1:]
    assert ratio == pytest.approx(ratio[0, 0])
    assert 1 < ratio[0, 0] / factor < few_members(Drawn(6), 0.5)
    assert "p was never measured" in grid.attrs["note"]


def test_the_variance_a_model_predicts_shapes_the_bands_of_readings():
    result = result_with(uncertain=True)
    band = result.band(level=0.9, of="reading", x=3, t=[0.0, 0.9])
    half = (band.u_upper - band.u).to_numpy()
    spread = result.grid(x=3, t=[0.0, 0.9]).u_std.to_numpy()
    wanted = np.hypot(spread, result.model.scaling.spread[0] * np.array([0.1, 1.0])[:, None])
    assert half / half[0, 0] == pytest.approx(wanted / wanted[0, 0], rel=1e-4)


def test_a_result_suggests_where_to_measure():
    result = result_with()
    table = result.suggest_sensors(3)
    assert table.sizes == {"sensor": 3}
    assert {"x", "t"} <= set(table.coords)
    assert (np.diff(table.remaining) <= 0).all()
    assert 0 <= table.remaining[-1] < 1
    chosen = np.column_stack([table.x, table.t])
    assert BOX.contains(chosen).all()
    assert table.u_std.to_numpy() == pytest.approx(result.at(chosen).u_std.to_numpy(), rel=1e-4)
    few = result.suggest_sensors(6, candidates={"x": np.linspace(0, 3, 8), "t": np.full(8, 0.5)})
    assert set(few.t.to_numpy()) == {0.5}
    assert "6 members" in few.attrs["note"]


def test_without_members_it_is_said_how_to_get_them():
    result = eqx.tree_at(lambda r: r.members, result_with(), None)
    for call in (result.coverage, lambda: result.band(x=3, t=3), lambda: result.suggest_sensors(2)):
        with pytest.raises(pgt.InputError, match="error_bars="):
            call()
