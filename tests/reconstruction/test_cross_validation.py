"""The record of a cross-validation, its errors by hand."""

import numpy as np
import pytest

import pgt

LINE = pgt.Domain(x=(0, 1))


def record(values=(3.0, 4.0, 0.0, np.nan), guess=(3.0, 5.0, 1.0, np.nan), fold=(0, 1, 1, -1)):
    """Readings of u, with p hidden."""
    places = {"x": np.linspace(0, 1, len(values))}
    readings = pgt.Observations.from_arrays(places, {"u": values}).aligned(("u", "p"))
    predictions = np.stack([guess, np.zeros(len(guess))], axis=1)
    return pgt.CrossValidation(readings, predictions, np.array(fold), by="reading")


def test_errors_by_hand():
    found = record()
    assert found.folds == 2
    assert set(found.errors) == {"u"}, "a field that was not measured has no error"
    error, size = found.errors["u"], np.sqrt(25 / 3)
    assert error.readings == 3
    assert error.rmse == pytest.approx(np.sqrt(2 / 3))
    assert error.relative == pytest.approx(np.sqrt(2) / 5)
    assert error.by_fold == pytest.approx((0.0, 1 / size))
    assert error.spread == pytest.approx(1 / size / np.sqrt(2))


def test_a_fold_without_a_reading_of_the_field_has_no_error():
    error = record(fold=(0, 2, 2, 1)).errors["u"]
    assert error.by_fold[1] is None
    assert error.spread == pytest.approx(np.std([error.by_fold[0], error.by_fold[2]], ddof=1))
    assert record(fold=(0, 0, 0, 1)).errors["u"].spread is None


def test_readings_that_are_all_zero_have_no_relative_error():
    error = record(values=(0.0,) * 4, guess=(2.0,) * 4, fold=(0, 0, 1, 1)).errors["u"]
    assert (error.rmse, error.relative, error.by_fold, error.spread) == (
        2.0,
        None,
        (None,) * 2,
        None,
    )


def test_all_readings_judge_beside_interpolation_of_the_others():
    """On a straight line interpolation from the other folds is nearly exact."""
    x = np.linspace(0, 1, 12)
    readings = pgt.Observations.from_arrays({"x": x}, {"u": 2 + 3 * x})
    found = pgt.CrossValidation(readings, np.ones((12, 1)), np.arange(12) % 3, by="reading")
    unseen = found.unseen(LINE)
    assert unseen.folds == 3
    assert unseen.readings is readings
    np.testing.assert_array_equal(unseen.predictions, found.predictions)
    np.testing.assert_allclose(unseen.interpolated, readings.values, atol=1e-3)


def test_a_record_survives_the_disk(tmp_path):
    assert pgt.CrossValidation.load(tmp_path) is None
    found = record()
    found.save(tmp_path)
    again = pgt.CrossValidation.load(tmp_path)
    assert again is not None
    np.testing.assert_array_equal(again.predictions, found.predictions)
    assert again.errors == found.errors
    assert again.by == "reading"
