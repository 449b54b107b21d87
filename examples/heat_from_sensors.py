"""A temperature field from a hundred sensor readings and the heat equation.

    python examples/heat_from_sensors.py runs/heat

Readings, field, figure and the saved result are written into the folder that is named; default:
`runs/heat`. In your own work the readings come from a file:
`pgt.Observations.from_table("sensors.csv", coords=("x", "t"), fields=("u",))`.
"""

import sys
from pathlib import Path

import pandas as pd

import pgt

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/heat")

truth = pgt.datasets.heat()
readings = pgt.sample(truth, n=100, seed=0)
result = pgt.reconstruct(
    readings,
    pgt.Heat(diffusivity=0.01),
    pgt.Domain(x=(0, 1), t=(0, 1)),
    [pgt.Dirichlet("x", u=0.0), pgt.Initial(u="sin(4*pi*x)")],
)
field = result.grid(x=truth.x.values, t=truth.t.values)

print("relative L2 error:", pgt.metrics.relative_l2(truth, field)["u"])
print("error that was to be expected:", result.field_error["u"].in_words)
print("slope at the left end:", float(result.at({"x": [0.0], "t": [0.5]}, ["u_x"]).u_x[0]))
left_out = result.verdict().held_out["u"]
print("readings that a fit did not see are missed by", left_out.of_spread, "of their spread,")
print("and by interpolation without the equation by", left_out.interpolated_of_spread)

result.save(folder)
pd.DataFrame(
    {"x": readings.points[:, 0], "t": readings.points[:, 1], "u": readings.values[:, 0]}
).to_csv(folder / "readings.csv", index=False)
pgt.io.write_field(field, folder / "field.nc")
pgt.plots.save(pgt.plots.compare(truth, field, sensors=readings), folder / "field.png")
print(f"{folder} has readings.csv, field.nc, field.png, and the result for pgt.Reconstruction.load")
