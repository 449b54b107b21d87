"""What is said of readings by a fit that did not see them."""

import numpy as np

import pgt
from pgt.reconstruction.held_out_predictions import predicted_readings

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))


def test_clean_readings_of_sines_are_said_by_the_others_in_closed_form():
    """Draws agree at every reading, whatever they differ by beside it."""
    readings = pgt.sample(pgt.datasets.heat({1: 1.0, 3: 0.5}), n=40)
    model = pgt.Features(pgt.Scaling.fit(readings, DOMAIN), count=120, band=(10.0, 4.0))
    result = pgt.reconstruct(
        readings, pgt.Heat(0.01), DOMAIN, model=model, error_bars=pgt.Posterior(8)
    )
    found = predicted_readings(result)["u"]
    np.testing.assert_array_equal(found.mean, np.asarray(result.left_out_predictions)[:, 0])
    missed = np.abs(found.readings - found.mean)
    assert np.sqrt(np.mean((missed / found.spread) ** 2)) < 3
    fitted = np.abs(found.readings - result.predict_readings(result.observations)[:, 0])
    assert np.median(missed) > 3 * np.median(fitted)
    assert (found.sigma == 0).all()
