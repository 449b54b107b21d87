"""Exact attention of a PGT against nearest tokens, Γ of low rank and bfloat16: error and time.

    python benchmarks/attention.py                    # sizes for a CPU; writes results/attention.json
    python benchmarks/attention.py --readings 1500 --points 4000 --width 128 --steps 500    # for a GPU

Every form is trained from the same weights on the same readings of a heat equation by first-order steps.
`difference` compares the untrained encoders: the relative difference of the tokens from those of exact
attention. `error` is that of the trained field, `slope_error` that of u_xx, against the truth.
"""

import argparse
import json
from pathlib import Path

import jax
import numpy as np

import pgt
from pgt.core.provenance import provenance

FORMS = {
    "exact": {},
    "nearest 16": {"attention": "nearest", "attended": 16},
    "nearest 64": {"attention": "nearest", "attended": 64},
    "low rank 16": {"attention": "low-rank", "attended": 16},
    "low rank 64": {"attention": "low-rank", "attended": 64},
    "bfloat16": {"half": True},
    "nearest 64, bfloat16": {"attention": "nearest", "attended": 64, "half": True},
}
MODES = {1: 1.0, 3: 0.5}
DIFFUSIVITY = 0.05


def main() -> None:
    options = _options()
    truth = pgt.datasets.heat(MODES, diffusivity=DIFFUSIVITY)
    readings = pgt.sample(truth, n=options.readings, noise=0.01, seed=0)
    domain, pde = pgt.Domain(x=(0, 1), t=(0, 1)), pgt.Heat(DIFFUSIVITY)
    scaling = pgt.Scaling.fit(readings, domain)

    def model(form, seed=0):
        return pgt.PGT(
            scaling, pde.kernel(), width=options.width, heads=4, decoder_width=options.width,
            seed=seed, **FORMS[form],
        )  # fmt: skip

    exact, rows = _tokens(model("exact"), readings), {}
    for form in FORMS if options.forms is None else options.forms:
        difference = np.linalg.norm(_tokens(model(form), readings) - exact) / np.linalg.norm(exact)
        settings = pgt.Training(
            steps=options.steps, collocation=options.points, polish=False, batch=options.readings
        )
        result = pgt.reconstruct(
            readings, pde, domain, model=model(form), training=settings, progress=False
        )
        seconds = result.summary["seconds"] - result.summary["first_step_seconds"]
        found = result.grid(["u", "u_xx"], x=41, t=41)
        wanted = _truth(found)
        rows[form] = {
            "difference": float(difference),
            "error": _relative(found.u.to_numpy(), wanted["u"]),
            "slope_error": _relative(found.u_xx.to_numpy(), wanted["u_xx"]),
            "milliseconds_per_step": 1e3 * seconds / max(options.steps - 1, 1),
            "first_step_seconds": result.summary["first_step_seconds"],
        }
        print(form, rows[form], flush=True)
    sizes = {name: getattr(options, name) for name in ("readings", "points", "width", "steps")}
    options.out.mkdir(parents=True, exist_ok=True)
    whole = {"sizes": sizes, "forms": rows, **provenance(), "device": jax.devices()[0].device_kind}
    (options.out / "attention.json").write_text(json.dumps(whole, indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readings", type=int, default=256)
    parser.add_argument("--points", type=int, default=400)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--forms", nargs="*", choices=list(FORMS))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    return parser.parse_args()


def _tokens(model, readings) -> np.ndarray:
    """The values of all tokens that queries attend to."""
    return np.asarray(jax.jit(lambda m: m.encode(readings).values)(model))


def _truth(grid) -> dict[str, np.ndarray]:
    """The field and its second derivative on the grid, t along the rows."""
    x, t = grid.x.to_numpy()[None], grid.t.to_numpy()[:, None]
    waves = {
        k: amplitude * np.exp(-DIFFUSIVITY * (k * np.pi) ** 2 * t) * np.sin(k * np.pi * x)
        for k, amplitude in MODES.items()
    }
    u = np.asarray(sum(waves.values()))
    return {"u": u, "u_xx": np.asarray(sum(-((k * np.pi) ** 2) * w for k, w in waves.items()))}


def _relative(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


if __name__ == "__main__":
    main()
