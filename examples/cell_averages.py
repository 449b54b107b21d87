"""Readings that are averages over boxes, as from a coarse simulation or a satellite's pixel.

    python examples/cell_averages.py

A box of half a wavelength flattens a sine to 2/π of its height; the reconstruction must undo that.
"""

import numpy as np

import pgt

truth = pgt.datasets.heat(x=101, t=101)
width = 0.25
x = np.linspace(width / 2, 1 - width / 2, 15)
t = np.linspace(0, 1, 11)
centres = {"x": np.repeat(x, len(t)), "t": np.tile(t, len(x))}
flattened = np.sinc(2 * width)  # the mean of sin 4πx over a box is this times its middle value
heights = np.sin(4 * np.pi * centres["x"]) * np.exp(-0.16 * np.pi**2 * centres["t"])

readings = pgt.Observations.from_arrays(centres, {"u": flattened * heights}, width={"x": width})
result = pgt.reconstruct(
    readings,
    pgt.Heat(diffusivity=0.01),
    pgt.Domain(x=(0, 1), t=(0, 1)),
)
field = result.grid(x=truth.x.values, t=truth.t.values)

print("relative L2 error:", pgt.metrics.relative_l2(truth, field)["u"])
print("an average box reads", round(float(flattened), 3), "of the height there")
