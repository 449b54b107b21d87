"""What a trained network is worth."""

import equinox as eqx
import jax
import made_pretrained
import numpy as np
import pytest
from made_pretrained import FAMILY

from pgt.families.card import Card, judged, misfit
from pgt.families.sensing import Guide, Nodes, Sensing, look
from pgt.families.weighing import LEAST


def card(**changes):
    rows = {"clean_median": 0.01, "clean_tenth": 0.1, "noisy_median": 0.04, "noisy_tenth": 0.2}
    found = {
        "family": "heat", "ranges": {}, "told": [], "sensing": Sensing(), "kernel": "none", "steps": 1,
        "seconds": 1.0, "seed": 0, "made": {},
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


def test_sensors_that_stand_still_have_a_row_of_their_own_unless_the_file_is_older():
    row = {
        f"{kind}_{of}": 1.0 for kind in ("clean", "noisy") for of in ("median", "tenth", "factor")
    }
    still = {f"still_{name}": 2.0 for name in row}
    found = card(law={"16": row | still}, granted=LEAST)
    assert found.by_law(40, is_clean=True, is_still=True).factor == pytest.approx(2.0)
    assert found.by_law(40, is_clean=True, is_still=False).factor == pytest.approx(1.0)
    assert card(law={"16": row}).by_law(40, is_clean=False, is_still=True).factor == pytest.approx(
        1.0
    )


@pytest.mark.parametrize(("factor", "now"), [(0.01, 0.1), (0.5, 1.6449), (2.0, 2.0)])
def test_a_file_that_took_more_noise_for_granted_has_wider_bands_of_clean_readings(factor, now):
    of = dict.fromkeys(("median", "tenth", "factor"), factor)
    law = {"16": {f"{kind}_{name}": v for kind in ("clean", "noisy") for name, v in of.items()}}
    found = card(law=law, granted=10 * LEAST)
    assert found.by_law(40, is_clean=True, is_still=False).factor == pytest.approx(now)
    assert found.by_law(40, is_clean=False, is_still=False).factor == pytest.approx(factor)


def test_a_network_that_misses_its_readings_states_an_error_as_large_and_wider_bands():
    assert card().by_network(16, 0.08) == pytest.approx((3.0, 0.04))
    assert card().by_network(16, 0.4) == pytest.approx((30.0, 0.4))


@pytest.mark.slow
def test_bands_hold_what_they_promise_on_the_systems_they_were_fitted_to():
    found = made_pretrained.trained().card
    assert 0 < found.factors["16"]["clean"] < 100
    assert found.told[0][0] < found.told[0][1]


def test_the_same_seed_judges_alike():
    trained = made_pretrained.trained()
    again = judged(trained.writer, FAMILY, trained.card.sensing, Guide(), trained.card.seed)
    assert again["errors"] == trained.card.errors


def test_the_misfit_is_in_units_of_the_spread():
    writer, key = made_pretrained.trained().writer, jax.random.key(4)

    @eqx.filter_jit
    def answered(key):
        seen = look(key, FAMILY.draw(key), FAMILY, Nodes.of(FAMILY), Sensing(most=16), 4, Guide())
        written = writer.encode(seen.readings)
        answers = jax.vmap(lambda z: writer.decode(written, z)[0])(seen.readings.points)
        return seen.readings, answers, misfit(writer, written, seen.readings)

    readings, answers, found = answered(key)
    read = np.asarray(readings.mask[:, 0])
    misses = (np.asarray(answers) - np.asarray(readings.values[:, 0]))[read]
    expected = np.sqrt(np.mean(misses**2))
    assert float(found) == pytest.approx(expected, rel=1e-4)
