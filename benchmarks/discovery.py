"""Whether the missing term of an equation is found, and whether a complete equation stays as it is.

    python benchmarks/discovery.py
    python benchmarks/discovery.py --only burgers --out somewhere/

Ten equations, each once without one of its terms and once complete. 200 readings at random places with
noise of 2 % of their spread; nothing is known of initial and boundary values but what is listed as
`known`. Leaves `discovery.json`: what was found among the candidates of the library, with coefficients,
and processor seconds.
"""

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pgt
from pgt.core.provenance import provenance
from pgt.discovery import discover, library

RESULTS = Path(__file__).parent / "results"
READINGS, NOISE = 200, 0.02
UNIT = pgt.Domain(x=(0, 1), t=(0, 1))
RING = pgt.Domain(x=(0, 1), t=(0, 1), periodic="x")
PLATE = pgt.Domain(x=(0, 1), y=(0, 1))


class Case(NamedTuple):
    """An equation without a term, the term with its coefficient, and what determines the truth."""

    law: str
    term: str
    coefficient: float
    conditions: tuple
    domain: pgt.Domain = UNIT
    known: tuple = ()  # the conditions that are also given to the discovery


CASES = {
    "decay": Case(
        "u_t = 0.02*u_xx", "u", -1.5,
        (pgt.Initial(u="sin(pi*x) + 0.5*sin(3*pi*x) + 1"), pgt.Dirichlet("x", u=1.0)),
    ),
    "burgers": Case(
        "u_t = 0.02*u_xx", "u*u_x", -1.0,
        (pgt.Initial(u="sin(2*pi*x) + 0.5"), pgt.Dirichlet("x", u=0.5)),
    ),
    "fisher": Case(
        "u_t = 0.005*u_xx + 4*u", "u^2", -4.0,
        (pgt.Initial(u="0.1 + 0.5*exp(-50*(x - 0.3)^2)"), pgt.Neumann("x", u=0.0)),
    ),
    "advection": Case(
        "u_t = 0.01*u_xx", "u_x", -0.8,
        (pgt.Initial(u="exp(-40*(x - 0.3)^2)"), pgt.Dirichlet("x", u="0.3*sin(4*t)^2")),
    ),
    "dispersion": Case(
        "u_t = -0.5*u_x + 0.002*u_xx", "u_xxx", -0.003,
        (pgt.Initial(u="sin(2*pi*x) + 0.5*cos(4*pi*x)"),), RING,
    ),
    "heat source": Case(
        "u_t = 0.05*u_xx", "1", 1.0,
        (pgt.Initial(u="sin(2*pi*x)"), pgt.Dirichlet("x", u=0.0)),
    ),
    "phase field": Case(
        "u_t = 0.005*u_xx + 5*u", "u^3", -5.0,
        (pgt.Initial(u="0.4*cos(3*pi*x) + 0.1"), pgt.Neumann("x", u=0.0)),
    ),
    "damped string": Case(
        "u_tt = u_xx", "u_t", -2.0,
        (pgt.Initial(u="sin(pi*x) + 0.3*sin(2*pi*x)", u_t=0.0), pgt.Dirichlet("x", u=0.0)),
    ),
    "growing surface": Case(
        "u_t = 0.02*u_xx", "u_x^2", 0.3,
        (pgt.Initial(u="cos(2*pi*x) + 0.3*cos(4*pi*x)"), pgt.Neumann("x", u=0.0)),
    ),
    "cooling plate": Case(
        "u_xx + u_yy = 0", "u", 20.0,
        (
            pgt.Dirichlet("x", side="lower", u="sin(pi*y) + 0.5"),
            pgt.Dirichlet("x", side="upper", u=0.5),
            pgt.Dirichlet("y", u="0.5"),
        ), PLATE,
    ),
}  # fmt: skip


def complete(case: Case) -> str:
    """The text of the equation with its missing term."""
    return f"{case.law} + {case.coefficient}*({case.term})"


def readings_of(case: Case, seed: int) -> pgt.Observations:
    """Noisy readings of the solution at random places."""
    truth = pgt.solve(complete(case), case.domain, case.conditions, progress=False)
    points = np.random.default_rng(seed).uniform(
        case.domain.lower, case.domain.lower + case.domain.extent, (READINGS, 2)
    )
    columns = dict(zip(case.domain.axes, points.T, strict=True))
    values = np.asarray(truth.at(**columns).u)
    spread = np.std(values)
    noise = np.random.default_rng(seed + 1).standard_normal(READINGS)
    return pgt.Observations.from_arrays(columns, {"u": values + NOISE * spread * noise})


def run(case: Case, law: str, readings: pgt.Observations) -> dict:
    """What is found for one law."""
    found = discover(readings, law, case.domain, case.known, progress=False)
    return {
        "law": law,
        "candidates": len(library(pgt.Equation(law, coords=case.domain.axes))),
        "terms": [
            {
                "text": term.text, "coefficient": term.coefficient, "lower": term.lower,
                "upper": term.upper, "gain": term.gain,
            }
            for term in found.terms
        ],
        "first": found.terms[0].text if found.terms else None,
        "alone": found.candidates.head(3).to_dict("records"),
        "discrepancy": [one.in_words for one in found.discrepancies],
        "remaining_gain": [one.gain for one in found.remaining],
        "noise": found.noise,
        "note": found.note,
        "cpu_seconds": found.seconds,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=CASES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    rows, right, clean = {}, 0, 0
    for name in arguments.only or CASES:
        case = CASES[name]
        readings = readings_of(case, arguments.seed)
        missing, whole = (run(case, law, readings) for law in (case.law, complete(case)))
        missing |= {"truth": {"text": case.term, "coefficient": case.coefficient}}
        missing["is_named_first"] = missing["first"] == case.term
        whole["is_left_alone"] = not whole["terms"]
        right, clean = right + missing["is_named_first"], clean + whole["is_left_alone"]
        rows[name] = {"missing": missing, "complete": whole}
        terms = [f"{t['coefficient']:.4g}*{t['text']}" for t in missing["terms"]]
        false = [f"{t['coefficient']:.3g}*{t['text']}" for t in whole["terms"]]
        print(
            f"{name}: {case.coefficient}*{case.term} -> {', '.join(terms) or 'none'} "
            f"({missing['cpu_seconds']:.0f} s); complete -> {', '.join(false) or 'none'} "
            f"({whole['cpu_seconds']:.0f} s)",
            flush=True,
        )
        result = {
            "settings": {"readings": READINGS, "noise": NOISE, "seed": arguments.seed},
            "equations": len(rows),
            "named_first": right,
            "left_alone": clean,
            "cases": rows,
            "provenance": provenance(),
        }
        arguments.out.mkdir(parents=True, exist_ok=True)
        text = json.dumps(result, indent=1, default=float) + "\n"
        (arguments.out / "discovery.json").write_text(text, encoding="utf-8")
    print(f"named first: {right} of {len(rows)}; no false term: {clean} of {len(rows)}")


if __name__ == "__main__":
    main()
