"""What a trained network is worth."""

import equinox as eqx
import jax
import made_pretrained
import numpy as np
import pytest
from made_pretrained import FAMILY

from pgt.families.networks import card as module
from pgt.families.networks.readout import misfit
from pgt.families.sensing import KernelGuide, NodeGrid, Sensing, sense

SCATTERED = np.zeros(40, bool)


def test_rows_tell_clean_readings_from_noisy_ones():
    errors, clean = np.arange(1.0, 41.0), np.arange(40) < 20
    row = module._row(errors, 2 * errors, clean, SCATTERED)
    assert row["clean_median"] == 10.5
    assert row["noisy_median"] == 30.5
    assert row["noisy_tenth"] == pytest.approx(38.1)
    assert row["clean_factor"] == pytest.approx(2 * 18.1)


@pytest.mark.parametrize(("noisy", "better"), [(0.9, True), (3.0, False)])
def test_the_smaller_error_answers_at_the_usual_number_of_readings(noisy, better):
    def errors(clean, noisy):
        return {"clean_median": clean, "noisy_median": noisy}

    law = {"16": errors(9.0, 9.0), "64": errors(0.5, noisy)}
    network = {"16": errors(1.0, 1.0), "64": errors(1.0, 1.0), "256": errors(0.1, 0.1)}
    assert module._is_better(law, network) is better


# ------------------------------------------------------------------------------- the card


@pytest.mark.slow
def test_bands_hold_what_they_promise_on_the_systems_they_were_fitted_to():
    found = made_pretrained.trained().card
    assert 0 < found.factors["16"]["clean"] < 100
    assert found.number_ranges[0][0] < found.number_ranges[0][1]


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
