"""A temperature field from a hundred sensor readings and the heat equation.

    python examples/heat_from_sensors.py

In your own work the readings come from a file:
`pgt.Observations.from_table("sensors.csv", coords=("x", "t"), fields=("u",))`.
"""

import pgt

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
print("flux at the left end:", float(result.at({"x": [0.0], "t": [0.5]}, ["u_x"]).u_x[0]))
