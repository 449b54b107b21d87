"""What a trained network is worth."""

import equinox as eqx
import jax
import made_pretrained
import numpy as np
import pytest
from made_pretrained import FAMILY

from pgt.families.networks.card import Card, evaluate
from pgt.families.networks.readout import misfit
from pgt.families.sensing import KernelGuide, NodeGrid, Sensing, sense


def card(**changes):
    rows = {"clean_median": 0.01, "clean_tenth": 0.1, "noisy_median": 0.04, "noisy_tenth": 0.2}
    found = {
        "family": "heat", "ranges": {}, "number_ranges": [], "sensing": Sensing(), "kernel": "none",
        "steps": 1, "seconds": 1.0, "seed": 0, "provenance": {},
        "errors": {"16": rows, "64": {k: v / 4 for k, v in rows.items()}},
        "factors": {"16": {"clean": 2.0, "noisy": 3.0}, "64": {"clean": 0.5, "noisy": 3.0}},
        "misfit": 0.1,
    }  # fmt: skip
    return Card(**(found | changes))


def test_between_numbers_of_sensors_it_interpolates():
    assert card().factor(32) == pytest.approx(1.0)
    assert card().factor(1000) == pytest.approx(0.5)
    assert card().factor(32, noise=0.05) == pytest.approx(3.0)
    assert card().error(32)[0] == pytest.approx(0.005)
    assert card().error(16, noise=0.05) == pytest.approx((0.04, 0.2))


def test_stations_have_a_row_of_their_own():
    row = {
        f"{kind}_{of}": 1.0 for kind in ("clean", "noisy") for of in ("median", "tenth", "factor")
    }
    still = {f"still_{name}": 2.0 for name in row}
    found = card(law={"16": row | still})
    assert found.law_error(40, is_clean=True, has_stations=True).factor == pytest.approx(2.0)
    assert found.law_error(40, is_clean=True, has_stations=False).factor == pytest.approx(1.0)


def test_a_network_that_misses_its_readings_states_an_error_as_large_and_wider_bands():
    assert card().network_error(16, 0.08) == pytest.approx((3.0, 0.04))
    assert card().network_error(16, 0.4) == pytest.approx((30.0, 0.4))


@pytest.mark.slow
def test_bands_hold_what_they_promise_on_the_systems_they_were_fitted_to():
    found = made_pretrained.trained().card
    assert 0 < found.factors["16"]["clean"] < 100
    assert found.number_ranges[0][0] < found.number_ranges[0][1]


def test_the_same_seed_judges_alike():
    trained = made_pretrained.trained()
    again = evaluate(
        trained.network, FAMILY, trained.card.sensing, KernelGuide(), trained.card.seed
    )
    assert again["errors"] == trained.card.errors


def test_the_misfit_is_in_units_of_the_spread():
    network, key = made_pretrained.trained().network, jax.random.key(4)

    @eqx.filter_jit
    def answered(key):
        seen = sense(
            key,
            *(FAMILY.draw(key), FAMILY, NodeGrid.of(FAMILY)),
            *(Sensing(max_readings=16), 4, KernelGuide()),
        )
        written = network.encode(seen.readings)
        answers = jax.vmap(lambda z: network.decode(written, z)[0])(seen.readings.points)
        return seen.readings, answers, misfit(network, written, seen.readings)

    readings, answers, found = answered(key)
    read = np.asarray(readings.mask[:, 0])
    misses = (np.asarray(answers) - np.asarray(readings.values[:, 0]))[read]
    expected = np.sqrt(np.mean(misses**2))
    assert float(found) == pytest.approx(expected, rel=1e-4)
