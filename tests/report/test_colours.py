"""Colour maps are even to the eye."""

import numpy as np

from pgt.report.colours import STEPS, colour_maps


def test_colour_maps_are_even_and_monotonic():
    for name, colours in colour_maps().items():
        linear = np.where(
            colours <= 10, colours / 255 / 12.92, ((colours / 255 + 0.055) / 1.055) ** 2.4
        )
        lightness = np.cbrt(linear @ [0.2126, 0.7152, 0.0722])
        steps = np.diff(lightness)
        steps = np.concatenate([steps[:127], -steps[128:]]) if name == "diverging" else steps
        assert (steps > -0.004).all()
        assert steps.std() < 0.7 * steps.mean()


def test_the_signed_map_goes_from_blue_over_near_white_to_orange():
    colours = colour_maps()["diverging"].astype(int)
    assert colours.shape == (STEPS, 3)
    blue, white, orange = colours[0], colours[STEPS // 2], colours[-1]
    assert blue[2] > blue[1] > blue[0]
    assert orange[0] > orange[1] > orange[2]
    assert white.min() > 240
