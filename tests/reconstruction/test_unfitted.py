"""What is said of readings by a fit that did not see them."""

import numpy as np
import wavy_result

from pgt.reconstruction.unfitted import predictions, read_by


def test_held_out_readings_stand_beside_what_the_members_say():
    result = wavy_result.result_with()
    found = predictions(result)
    assert set(found) <= set(result.pde.fields)
    for name, predicted in found.items():
        np.testing.assert_allclose(predicted.readings, result.held_out.measured(name).values)


def test_a_fit_without_members_read_all_there_is():
    result = wavy_result.result_with()
    assert len(read_by(result)) == len(result.observations)
