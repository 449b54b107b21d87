"""The field and the diffusivity together: the coefficient is learnt from noisy readings.

    python examples/unknown_diffusivity.py

The first guess is three times too large.
"""

import pgt

truth = pgt.datasets.heat(modes={1: 0.5, 3: 0.7, 5: -0.6}, diffusivity=0.01)
readings = pgt.sample(truth, n=200, noise=0.01, seed=0)
result = pgt.reconstruct(
    readings,
    pgt.Heat(diffusivity=pgt.Unknown(0.03, positive=True)),
    pgt.Domain(x=(0, 1), t=(0, 1)),
)

print("diffusivity:", result.parameters["diffusivity"], "(truth 0.01, first guess 0.03)")
field = result.grid(x=truth.x.values, t=truth.t.values)
print("relative L2 error:", pgt.metrics.relative_l2(truth, field)["u"])
