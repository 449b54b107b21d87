"""What a trained network is worth."""

import numpy as np
import pytest

from pgt.families.networks import card as module

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
