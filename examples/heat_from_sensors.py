"""A temperature field from a hundred sensor readings and the heat equation.

    python examples/heat_from_sensors.py [steps]

In your own work the readings come from a file:
`pgt.Observations.from_table("sensors.csv", coords=("x", "t"), fields=("u",))`.
"""

import sys

import pgt

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 300

truth = pgt.datasets.heat()
readings = pgt.sample(truth, n=100, seed=0)
result = pgt.reconstruct(
    readings,
    pgt.Heat(diffusivity=0.01),
    pgt.Domain(x=(0, 1), t=(0, 1)),
    [pgt.Dirichlet("x", u=0.0), pgt.Initial(u="sin(4*pi*x)")],
    training=pgt.Training(steps=steps, collocation=500, polish=None if steps >= 100 else False),
)
field = result.grid(x=truth.x.values, t=truth.t.values)

print("relative L2 error:", pgt.metrics.relative_l2(truth, field)["u"])
print("flux at the left end:", float(result.at({"x": [0.0], "t": [0.5]}, ["u_x"]).u_x[0]))
