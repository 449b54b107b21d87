"""The estimator keeps the conventions of scikit-learn, and answers as `reconstruct` does."""

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import pgt
import pgt.sklearn
from pgt.sklearn import FieldRegressor

HEAT = "u_t = 0.1*u_xx"
X = np.random.default_rng(0).uniform(size=(40, 2))
Y = np.sin(np.pi * X[:, 0]) * np.exp(-0.1 * np.pi**2 * X[:, 1])


@pytest.fixture(scope="module")
def fitted():
    regressor = FieldRegressor(HEAT, axes=("x", "t"), method="closed-form")
    return regressor.set_params(error_bars=pgt.Posterior(8)).fit(X, Y)


def test_it_answers_as_reconstruct_does(fitted):
    readings = pgt.Observations.from_arrays(X, Y[:, None], coords=("x", "t"), fields=("u",))
    same = pgt.reconstruct(
        readings, HEAT, pgt.Domain.around({"x": X[:, 0], "t": X[:, 1]}), method="closed-form",
        error_bars=pgt.Posterior(8), progress=False,
    )  # fmt: skip
    field = same.at(X)
    mean, deviation = fitted.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, field.u)
    np.testing.assert_array_equal(deviation, field.u_std)
    assert fitted.score(X, Y) > 1 - 1e-6
    assert fitted.coefficients_ == {}


def test_it_is_cloned_and_pickled(fitted):
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    loaded = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))


def test_columns_are_known_by_their_names(monkeypatch):
    monkeypatch.setattr(pgt.sklearn, "reconstruct", QuickFit)
    table = pd.DataFrame(X, columns=["x", "t"])[["t", "x"]]  # names say which is which
    found = FieldRegressor(HEAT).fit(table, Y)
    assert found.axes_ == ("t", "x")
    with pytest.raises(ValueError, match="feature names"):
        found.predict(table[["x", "t"]])


def test_fields_that_y_does_not_have_are_hidden():
    flow = ("u_x + v_y = 0", "u_y - v_x = 0")
    sines = {"name": "features", "count": 120, "band": 3.0}
    one = FieldRegressor(flow, axes=("x", "y"), fields="v", model=sines)
    one.fit(X, -X[:, 1])
    np.testing.assert_allclose(one.predict(X), -X[:, 1], atol=1e-6)
    assert set(one.result_.at(X[:2]).data_vars) == {"u", "v"}


@pytest.mark.parametrize(
    ("options", "y", "named"),
    [
        ({}, Y, "axes="),
        ({"axes": ("x", "y", "t")}, Y, "2 feature"),
        ({"axes": ("x", "t"), "fields": ("T",)}, Y, "fields="),
        ({"axes": ("x", "t")}, np.stack([Y, Y], axis=1), "y has 2"),
        ({"axes": ("x", "t"), "domain": {"x": (0, 1), "y": (0, 1)}}, Y, "domain="),
    ],
)
def test_what_does_not_fit_is_told_what_to_write(options, y, named):
    with pytest.raises(pgt.InputError, match=named):
        FieldRegressor(HEAT, **options).fit(X, y)


def test_error_bars_are_asked_for_before_the_fit(fitted):
    without = FieldRegressor(HEAT, axes=("x", "t"))
    without.result_, without.axes_ = fitted.result_, fitted.axes_
    with pytest.raises(pgt.InputError, match=r"error_bars=pgt\.Posterior"):
        without.predict(X, return_std=True)


# ------------------------------------------------------------------- scikit-learn's own checks


class FirstTwo(FieldRegressor):
    """The checks give up to ten columns; here the first two of them are coordinates."""

    def _axes(self, count: int) -> tuple[str, ...]:
        return ("x", "y")[:count]

    def _fields(self, pde, count: int) -> tuple[str, ...]:
        return tuple("uvwabcdef")[:count]


class QuickFit:
    """A plane through the readings, in the place of a fit: what is checked is the estimator."""

    parameters: dict = {}  # noqa: RUF012

    def __init__(self, readings, *_, **options):
        self.plane = LinearRegression().fit(readings.points, readings.values)
        self.axes, self.fields = readings.coords, readings.fields

    def at(self, points, fields):
        values = self.plane.predict(np.stack([points[a] for a in self.axes], axis=-1))
        columns = dict(zip(self.fields, values.reshape(-1, len(self.fields)).T, strict=True))
        return xr.Dataset({name: ("point", columns[name]) for name in fields})


# Why a check of scikit-learn cannot apply.
CANNOT_APPLY = {
    "check_regressors_train": "its data have ten columns; a field has at most four coordinates, and the "
    "two that are taken explain less than the half of the variance that is asked for",
}


@pytest.mark.filterwarnings("ignore")
def test_it_passes_the_checks_of_scikit_learn(monkeypatch):
    monkeypatch.setattr(pgt.sklearn, "reconstruct", QuickFit)
    found = check_estimator(
        FirstTwo("u_xx + u_yy = 0"), expected_failed_checks=CANNOT_APPLY, on_fail=None
    )
    failed = {one["check_name"]: one["exception"] for one in found if one["status"] == "failed"}
    assert failed == {}
    assert len(found) > 40


def test_it_is_tuned_and_piped_as_any_estimator(monkeypatch):
    monkeypatch.setattr(pgt.sklearn, "reconstruct", QuickFit)
    field = FieldRegressor(HEAT, axes=("x", "t"), domain={"x": (0, 1), "t": (0, 1)})
    search = GridSearchCV(field, {"noise": [None, 0.1]}, cv=2).fit(X, Y)
    assert set(search.best_params_) == {"noise"}
    swap = make_column_transformer(("passthrough", [1]), ("passthrough", [0]))
    piped = make_pipeline(swap, clone(field).set_params(axes=("t", "x"))).fit(X, Y)
    np.testing.assert_allclose(piped.predict(X), field.fit(X, Y).predict(X))


def test_a_random_state_is_a_seed(monkeypatch):
    seeds = []
    monkeypatch.setattr(
        pgt.sklearn, "reconstruct",
        lambda *_, seed, **options: seeds.append(seed) or SimpleNamespace(parameters={}),
    )  # fmt: skip
    for state in (None, 3, np.random.RandomState(0), np.random.default_rng(0)):
        FieldRegressor(HEAT, axes=("x", "t"), random_state=state).fit(X, Y)
    assert seeds[:2] == [0, 3]
    assert all(isinstance(seed, int) for seed in seeds)
