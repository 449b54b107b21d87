"""The record of training: its dataset, its stored form, and errors that are noise."""

import dataclasses
import json
from math import nan

import numpy as np
import pytest

from pgt.methods.history import History, Logbook


def history_of(errors, first: int = 1, **coefficients: float) -> History:
    """Two terms, an entry for each held-out error."""
    history = History.empty(["data", "heat"], list(coefficients))
    for k, error in enumerate(errors):
        losses, weights = {"heat": 0.1 * k, "data": 1.0 * k}, {"data": 2.0, "heat": 3.0}
        history.add(first + k, error, losses, weights, coefficients)
    return history


def test_a_dataset_has_a_dimension_for_every_kind():
    data = history_of([0.5, 0.4, 0.6], viscosity=0.01).dataset()
    assert {name: table.dims for name, table in data.items()} == {
        "loss": ("step", "term"),
        "weight": ("step", "term"),
        "held_out": ("step",),
        "coefficient": ("step", "unknown"),
    }
    assert data.step.values.tolist() == [1, 2, 3]
    np.testing.assert_allclose(data.loss.sel(term="heat"), [0.0, 0.1, 0.2])
    np.testing.assert_array_equal(data.weight.sel(step=2), [2.0, 3.0])
    np.testing.assert_array_equal(data.coefficient.sel(unknown="viscosity"), 0.01)


def test_a_logbook_and_back():
    logbook = Logbook(
        [history_of([0.5, nan], diffusivity=0.1), history_of([0.4])], [0.1, 0.2], 3.0, 1.0
    )
    again = Logbook.from_plain(json.loads(json.dumps(logbook.plain())))
    assert repr(again) == repr(logbook)


def test_columns_that_were_stored_side_by_side():
    history = history_of([0.5, 0.4], first=3, viscosity=0.01, speed=2.0)
    flat = {"step": history.step, "held_out": history.held_out} | history.loss
    flat |= {f"weight_{name}": column for name, column in history.weight.items()}
    flat |= {f"unknown_{k}": c for k, c in enumerate(history.coefficient.values())}
    assert History.from_flat(flat, ["viscosity", "speed"]) == history
    unnamed = History.from_flat(flat)
    assert list(unnamed.coefficient) == ["unknown_0", "unknown_1"]
    assert dataclasses.replace(unnamed, coefficient=history.coefficient) == history
    assert History.from_flat({}) == History()


@pytest.mark.parametrize(
    ("errors", "noise"),
    [
        ([], 0.0),
        ([0.1, 0.1, 0.1], 0.0),  # too few to tell
        ([0.1, 0.1, 0.1, 0.1], 0.1),
        ([1.0, 0.9, 0.8, 0.7, 0.6], 0.0),
        ([0.8, 0.5, 0.4, 0.4, 0.39, 0.39, 0.4, 0.39, 0.5, 0.39], 0.39),
        (
            [0.8, 0.5, 0.4, 0.4, 0.39, 0.39, 0.4, 0.39, 0.3, 0.2],
            0.0,
        ),  # a smaller rate, and on it goes
        ([nan, 0.4, 0.4, nan, 0.4, 0.4], 0.4),
    ],
)
def test_an_error_is_noise_once_it_no_longer_falls(errors, noise):
    assert history_of(errors).noise == noise
