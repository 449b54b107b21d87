"""The networks that the paper compares with, each trained on the same hundred readings.

    python examples/rivals.py                   # all six, a few minutes on two cores
    python examples/rivals.py PINNsFormer 900   # one of them, and for how many steps

The heat equation on the unit square, with boundary and initial values known. Sizes and steps are such
that each is trained within about a minute on two cores. It shows how each of them is used and is no
comparison: that is on the page of results.
"""

import sys
import time

import pgt

SIZES = {
    "PINN": {"width": 24, "layers": 4},
    "SIREN": {"width": 24, "layers": 4, "frequency": 5.0},
    "WIRE": {"width": 17, "layers": 4},
    "FNO": {"grid": 24, "modes": 8, "width": 12},
    "DeepONet": {"width": 32, "layers": 3, "basis": 32},
    "PINNsFormer": {"width": 16, "hidden": 64, "output_hidden": 64},
}
STEPS = {
    "PINN": 6000, "SIREN": 2000, "WIRE": 1000, "FNO": 1000, "DeepONet": 6000, "PINNsFormer": 500,
}  # fmt: skip


def trained(name: str, steps: int | None = None) -> dict:
    """The relative L2 error of a trained network, its parameters, and the processor time it took."""
    truth, domain = pgt.datasets.heat(), pgt.Domain(x=(0, 1), t=(0, 1))
    readings = pgt.sample(truth, n=100, seed=0)
    began = time.process_time()
    result = pgt.reconstruct(
        readings,
        pgt.Heat(diffusivity=0.01),
        domain,
        [pgt.Dirichlet("x", u=0.0), pgt.Initial(u="sin(4*pi*x)")],
        model=getattr(pgt, name)(pgt.Scaling.fit(readings, domain), **SIZES[name]),
        training=pgt.Training(steps=steps or STEPS[name], collocation=500, polish=False),
        progress=False,
    )
    cpu_seconds = time.process_time() - began
    field = result.grid(x=truth.x.values, t=truth.t.values)
    return {
        "rel_l2": pgt.metrics.relative_l2(truth, field)["u"],
        "steps": steps or STEPS[name],
        "parameters": result.summary["parameter_count"],
        "cpu_seconds": cpu_seconds,
    }


if __name__ == "__main__":
    words = sys.argv[1:]
    steps = next((int(word) for word in words if word.isdigit()), None)
    for name in [word for word in words if word in SIZES] or SIZES:
        found = trained(name, steps)
        print(
            f"{name}, {found['steps']} steps: relative L2 error: {found['rel_l2']:.1e}, "
            f"{found['parameters']:,} parameters, {found['cpu_seconds']:.0f} CPU seconds",
            flush=True,
        )
