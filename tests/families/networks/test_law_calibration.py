"""Whether a law answers in a network's place."""

from functools import partial

import numpy as np
import pytest

from pgt.families import fast_map, get
from pgt.families.networks import law_calibration as module
from pgt.families.networks.law_calibration import calibrate_law


def test_a_law_of_too_many_unknowns_is_not_asked(monkeypatch):
    monkeypatch.setattr(fast_map, "LARGEST_TANGENTS", 1)
    asked = partial(pytest.fail, "asked")
    assert calibrate_law(get("heat"), None, asked, None, 64, {}) is None


def test_a_law_that_forgets_its_state_is_not_asked():
    asked = partial(pytest.fail, "asked")
    assert calibrate_law(get("kuramoto_sivashinsky"), None, asked, None, 64, {}) is None


SCATTERED = np.zeros(40, bool)


def test_rows_tell_clean_readings_from_noisy_ones():
    errors, clean = np.arange(1.0, 41.0), np.arange(40) < 20
    row = module._row(errors, 2 * errors, clean, SCATTERED)
    assert row["clean_median"] == 10.5
    assert row["noisy_median"] == 30.5
    assert row["noisy_tenth"] == pytest.approx(38.1)
    assert row["clean_factor"] == pytest.approx(2 * 18.1)


def test_sensors_that_stand_still_have_bands_of_their_own():
    errors, still = np.arange(1.0, 41.0), np.arange(40) < 20
    row = module._row(errors, errors, ~SCATTERED, still)
    assert row["still_clean_factor"] == pytest.approx(18.1)
    assert row["clean_factor"] == pytest.approx(38.1)
    assert row["still_noisy_factor"] == row["noisy_factor"] == np.quantile(errors, 0.9)


def test_where_too_few_are_of_a_kind_all_count():
    errors = np.arange(1.0, 41.0)
    row = module._row(errors, errors, np.arange(40) < module.MIN_FOR_FACTOR - 1, SCATTERED)
    assert row["clean_median"] == 20.5
    assert row["noisy_median"] == np.median(errors[module.MIN_FOR_FACTOR - 1 :])


@pytest.mark.parametrize(("noisy", "better"), [(0.9, True), (3.0, False)])
def test_the_smaller_error_answers_at_the_usual_number_of_readings(noisy, better):
    def errors(clean, noisy):
        return {"clean_median": clean, "noisy_median": noisy}

    law = {"16": errors(9.0, 9.0), "64": errors(0.5, noisy)}
    network = {"16": errors(1.0, 1.0), "64": errors(1.0, 1.0), "256": errors(0.1, 0.1)}
    assert module._is_better(law, network) is better
