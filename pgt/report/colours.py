"""Colour maps of 256 steps, each even to the eye and safe for every kind of colour vision."""

import matplotlib
import numpy as np

STEPS = 256


def colour_maps() -> dict[str, np.ndarray]:
    """Red, green and blue bytes (256, 3) by name: for values, values of both signs, and error bars."""
    named = {"sequential": "viridis", "spread": "magma"}
    found = {key: matplotlib.colormaps[name](np.arange(STEPS)) for key, name in named.items()}
    as_bytes = {key: np.rint(255 * rgba[:, :3]).astype(np.uint8) for key, rgba in found.items()}
    return as_bytes | {"diverging": _diverging()}


def _diverging() -> np.ndarray:
    """Blue over near-white to orange-brown: lightness and chroma run straight in Oklab (Ottosson 2020).

    The ends differ in blue against yellow, the axis that red-green deficiencies leave intact.
    """
    side = np.linspace(-1, 1, STEPS)
    lightness = 0.97 - 0.52 * np.abs(side)
    hue = np.radians(np.where(side < 0, 257.0, 48.0))
    chroma = 0.135 * np.abs(side)
    a, b = chroma * np.cos(hue), chroma * np.sin(hue)
    cone = np.stack(
        [
            lightness + 0.3963377774 * a + 0.2158037573 * b,
            lightness - 0.1055613458 * a - 0.0638541728 * b,
            lightness - 0.0894841775 * a - 1.2914855480 * b,
        ]
    )
    to_rgb = np.array(
        [
            [4.0767416621, -3.3077115913, 0.2309699292],
            [-1.2684380046, 2.6097574011, -0.3413193965],
            [-0.0041960863, -0.7034186147, 1.7076147010],
        ]
    )
    linear = np.clip((to_rgb @ cone**3).T, 0, 1)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.rint(255 * encoded).astype(np.uint8)
