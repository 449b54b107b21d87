"""Pressure nobody measured, from velocities behind a cylinder.

    python examples/hidden_pressure.py [steps]

Incompressible flow fixes the pressure only up to a function of time, so both are compared after
their mean over space is taken away.
"""

import sys

import pgt

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
is_tiny = steps < 100

wake = pgt.datasets.cylinder_wake()
readings = pgt.sample(wake, n=100 if is_tiny else 1500, fields=("u", "v"), seed=0)
pde, domain = pgt.NavierStokes2D(viscosity=0.01), pgt.Domain(x=(1, 8), y=(-2, 2), t=(0, 19.9))
result = pgt.reconstruct(
    readings,
    pde,
    domain,
    model=pgt.PGT.for_problem(readings, pde, domain),  # the transformer, through anchors
    training=pgt.Training(steps=steps, collocation=50 if is_tiny else 1000),
)

moment = wake.isel(t=[100])
field = result.grid(x=wake.x.values, y=wake.y.values, t=moment.t.values)
errors = pgt.metrics.relative_l2(
    moment.assign(p=pgt.metrics.remove_mean(moment.p)),
    field.assign(p=pgt.metrics.remove_mean(field.p)),
)
print("relative L2 errors at the middle snapshot:", errors)
