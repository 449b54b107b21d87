"""The tables [observations], [domain] and [output]."""

import pytest
from pydantic import ValidationError

from pgt.config.run_sections import (
    LARGEST_GRID,
    DomainSection,
    ObservationsSection,
    OutputSection,
)

READINGS = {"file": "a.csv", "coords": ["x", "t"], "fields": ["u", "v"]}


def test_axes_are_those_with_bounds_in_the_order_of_space_and_time():
    domain = DomainSection.model_validate({"t": [0, 2], "y": [-1, 1], "periodic": ["y"]})
    assert list(domain.axes.items()) == [("y", (-1, 1)), ("t", (0, 2))]


def test_a_domain_without_axes_is_refused():
    with pytest.raises(ValidationError, match="no axis has bounds"):
        DomainSection.model_validate({})


def test_columns_may_change_places():
    swapped = READINGS | {"columns": {"u": "v", "v": "u"}}
    assert ObservationsSection.model_validate(swapped).columns == {"u": "v", "v": "u"}
    with pytest.raises(ValidationError, match="the column 'v' is taken twice"):
        ObservationsSection.model_validate(READINGS | {"columns": {"u": "v"}})


def test_noise_is_a_number_or_the_name_of_a_column():
    noise = {"u": 0.5, "v": "sigma"}
    assert ObservationsSection.model_validate(READINGS | {"noise": noise}).noise == noise
    with pytest.raises(ValidationError, match="'x' is not a field"):
        ObservationsSection.model_validate(READINGS | {"noise": {"x": 0.5}})


def test_the_largest_grid_is_the_last_that_is_taken():
    side = 10**4
    assert side**2 == LARGEST_GRID
    assert OutputSection.model_validate({"grid": {"x": side, "t": side}}).grid["x"] == side
    with pytest.raises(ValidationError, match=r"2e\+08 points; 1e\+08 is the most"):
        OutputSection.model_validate({"grid": {"x": side, "t": side, "y": [0.0, 1.0]}})
