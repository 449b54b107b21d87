"""What a preset gives: the budgets the page names, and sizes that are comparable."""

from pathlib import Path

import pytest

import pgt
from pgt_bench.presets import SCALES, scale_of

DOCUMENT = Path(__file__).parents[2] / "docs" / "results.md"


def test_the_page_names_the_budgets_of_the_presets():
    text = DOCUMENT.read_text(encoding="utf-8")
    heat, wake = SCALES["heat", "cpu"], SCALES["wake", "gpu"]
    assert f"{heat.seconds:.0f} s on heat, {wake.seconds:.0f} s on the wake" in text
    assert f"Gauss–Newton steps for {100 * heat.polish_share:.0f} % of the seconds" in text
    assert heat.steps == wake.steps == 1000
    assert "*steps*: 1000 steps" in text


def test_a_wrong_preset_is_named():
    with pytest.raises(pgt.InputError, match="choose one of smoke, cpu, gpu"):
        scale_of("heat", "huge")


@pytest.mark.parametrize("scale", SCALES.values(), ids=map(".".join, SCALES))
def test_the_layers_of_wire_are_narrower_by_the_root_of_two(scale):
    pinn, wire = scale.sizes["pinn"], scale.sizes["wire"]
    assert wire["layers"] == pinn["layers"]
    assert wire["width"] == pytest.approx(pinn["width"] / 2**0.5, abs=0.51)
