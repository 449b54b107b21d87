"""Write the results in README.md and docs/measurements.md from the files in benchmarks/results.

    python benchmarks/tables.py          # rewrite both
    python benchmarks/tables.py --show   # print what the page of measurements gets

Every number comes from a file there, and benchmarks/README.md says which script wrote it; a case without
a file has no row. The paper's numbers stand beside ours, as the paper prints them (its tables 1 and 2),
and those of Raissi, Perdikaris and Karniadakis (2019) for unknown coefficients.
"""

import json
import sys
from pathlib import Path

from table_text import (
    METHODS,
    POLISHED,
    answered_by,
    as_row,
    as_table,
    in_words,
    mean_of,
    measured_on,
)
from tables_beyond import (
    beltrami_table,
    box_table,
    cylinder_table,
    functions_table,
    instrument_table,
    measures_table,
    rivals_table,
    shapes_table,
    space_table,
)
from tables_families import (
    pretrained_table,
    refined_table,
    throughput_table,
    yardstick_table,
)
from tables_short import short_table
from tables_zoo import zoo_table

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
README = ROOT / "README.md"
MEASUREMENTS = ROOT / "docs" / "measurements.md"
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"

HEAT = {
    "default-heat": "all defaults: one mode, boundary and initial values known",
    "default-heat-free": "all defaults: one mode, readings only",
    "default-three-modes": "all defaults: three modes, readings only",
    "default-three-modes-noise": "all defaults: three modes, readings only, 5 % noise",
    "heat": "one mode, boundary and initial values known",
    "heat-long": "the same, wider decoder, 500 iterations of polish",
    "heat-longest": "the same, 2000 iterations of polish",
    "heat-free": "one mode, readings only, 400 iterations of polish",
    "three-modes": "three modes, readings only",
    "three-modes-noise": "three modes, readings only, 5 % noise, polished under a prior",
}
WAKE = {
    "default-wake": "all defaults, a limit of 120 s",
    "default-wake-hidden": "the same, p hidden and compared less its mean",
    "default-wake-cpu": "all defaults, a limit of 720 s on two cores",
    "wake": "a model by name",
    "wake-cpu": "a small model by name, on two cores",
}
PAPER_HEAT = "| paper: boundary and initial values known | PGT | 5.9e-03 | 570 | – | 405 M | |"
PAPER_WAKE = "| paper | PGT | – | 0.034 | 0.016 / 0.041 / 0.046 | – | 8.3e-04 | 2820 | 5.6 M | |"


NOTHING = "No results are stored yet; `benchmarks/core.py` makes them."


def pages(folder: Path = RESULTS) -> dict[Path, str]:
    """What stands between the markers of each page."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    short = short_table(found, folder / "zoo") or NOTHING
    return {README: short, MEASUREMENTS: all_tables(found, folder / "zoo")}


def all_tables(found: dict, zoo: Path) -> str:
    """Every table for which something is stored, under the headings of the page."""
    parts = [
        "\n\n".join([f"## {heading}", *tables])
        for heading, made in _by_heading(found, zoo).items()
        if (tables := [table for table in made if table is not None])
    ]
    return "\n\n".join(parts) or NOTHING


def _by_heading(found: dict, zoo: Path) -> dict[str, tuple[str | None, ...]]:
    return {
        "The zoo": (zoo_table(zoo),),
        "Heat": (heat_table(found), rivals_table(found)),
        "The wake of a cylinder": (wake_table(found),),
        "Seconds and memory": (
            step_table(found),
            first_step_table(found),
            anchors_table(found),
            million_table(found),
            cost_table(found),
            memory_table(found),
        ),
        "What nobody measured, and error bars": (instrument_table(found), functions_table(found)),
        "Shapes and flows": (
            shapes_table(found),
            measures_table(found),
            box_table(found),
            cylinder_table(found),
            space_table(found),
            beltrami_table(found),
        ),
        "Networks and laws for many systems": (
            pretrained_table(found),
            throughput_table(found),
            refined_table(found),
            yardstick_table(found),
        ),
    }


def heat_table(found: dict) -> str | None:
    rows = [heat_row(name, found[case]) for case, name in HEAT.items() if case in found]
    return as_table(
        "Heat equation from 100 readings, relative L2 error on the 101 × 101 grid (mean over "
        "seeds):",
        "| case | answered by | rel L2 | seconds | of them to the first step | parameters "
        "| measured on |",
        rows and [*rows, PAPER_HEAT],
    )


def heat_row(name: str, result: dict) -> str:
    runs = result["runs"]
    errors = [run["rel_l2"] for run in runs]
    spread = f" ({min(errors):.1e} to {max(errors):.1e})" if len(runs) > 1 else ""
    return as_row(
        name,
        _who_solved(runs),
        f"{result['rel_l2']:.1e}{spread}",
        f"{mean_of(runs, 'seconds'):.0f}",
        f"{mean_of(runs, 'first_step_seconds'):.0f}",
        in_words(runs[0]["parameter_count"]),
        measured_on(result),
    )


def _who_solved(runs: list[dict]) -> str:
    """Sums of sines say that they are solved in closed form; the other cases name a PGT."""
    who = {answered_by(run) for run in runs}
    return POLISHED if who == {"–"} else ", ".join(sorted(who))


def wake_table(found: dict) -> str | None:
    rows = [wake_row(name, found[case]) for case, name in WAKE.items() if case in found]
    return as_table(
        "Cylinder wake at Re = 100 from 1500 samples of u, v, p. Errors are relative L2 at the "
        "middle snapshot (all fields as one vector, mean of the three fields, each), and over the whole "
        "volume (all fields as one vector); the "
        "residual is the mean square of the three equations. Ours is measured on the packaged "
        "simulation, the paper's on another one of the same flow:",
        "| case | answered by | all | mean | u / v / p | volume | residual | seconds | parameters "
        "| measured on |",
        rows and [*rows, PAPER_WAKE],
    )


def wake_row(name: str, result: dict) -> str:
    errors = result["snapshot"]["relative_l2"]
    return as_row(
        name,
        answered_by(result) if "model" in result else METHODS["PGT"],  # `wake` names it itself
        f"{result['snapshot']['overall']['stacked']:.1e}",
        f"{result['snapshot']['overall']['mean']:.1e}",
        " / ".join(f"{errors[field]:.1e}" for field in ("u", "v", "p")),
        f"{result['volume']['overall']['stacked']:.1e}",
        f"{result['residual']:.1e}",
        f"{result['seconds']:.0f}",
        in_words(result["parameter_count"]),
        measured_on(result),
    )


def step_table(found: dict) -> str | None:
    if "step" not in found:
        return None
    result = found["step"]
    torch = result["torch_milliseconds"]
    rows = [as_row("eager PyTorch, Adam", f"{torch:.1f}", "1.0", "–", measured_on(result))]
    for optimiser, name in (("adam", "Adam"), ("soap", "SOAP")):
        ours = result[optimiser]
        cells = (f"{ours['milliseconds']:.1f}", f"{torch / ours['milliseconds']:.1f}")
        rows.append(
            as_row(f"pgt, {name}", *cells, f"{ours['first_step_seconds']:.0f}", measured_on(result))
        )
    return as_table(
        "One training step of the exact form (Navier–Stokes residual, 1500 readings, 4000 collocation "
        "points, width 128, 4 blocks), all in one run:",
        "| what | ms per step | times faster | seconds to the first step, cold | measured on |",
        rows,
    )


def anchors_table(found: dict) -> str | None:
    if "anchors" not in found:
        return None
    result = found["anchors"]
    rows = [
        as_row(
            f"{row['readings']:,}",
            f"{row['milliseconds']:.1f}",
            "–" if row["peak_bytes"] is None else f"{row['peak_bytes'] / 2**30:.2f} GiB",
            measured_on(result),
        )
        for row in result["rows"]
    ]
    return as_table(
        f"Readings gathered by 128 anchors: time grows as n^{result['time_exponent']:.2f}, peak memory "
        f"as n^{result['memory_exponent']:.2f} over these two decades:",
        "| readings | ms per step | peak memory | measured on |",
        rows,
    )


def first_step_table(found: dict) -> str | None:
    if "first-step" not in found:
        return None
    result = found["first-step"]
    rows = [
        as_row(
            row["about"],
            f"{row['seconds']:.1f}",
            f"{row['import_seconds']:.1f}",
            measured_on(result),
        )
        for row in result["rows"].values()
    ]
    return as_table(
        "The first step, cold: a fresh process that finds nothing compiled, from the call on:",
        "| what | seconds | to import, before it | measured on |",
        rows,
    )


def million_table(found: dict) -> str | None:
    if "million" not in found:
        return None
    result = found["million"]
    rows = [
        as_row(
            "as usual" if run["memory"] is None else f"{run['memory']:g} GB",
            *(_seconds_of(run[name]) for name in ("first_step_seconds", "seconds_per_step")),
            "–" if run["peak_bytes"] is None else f"{run['peak_bytes'] / 1e9:.0f} GB",
            measured_on(result),
        )
        for run in result["runs"]
    ]
    return as_table(
        f"Second-order steps on all {result['weights']:,} weights of a network at once, "
        f"{result['rows']:,} rows, float64 (JJᵀ, strips of J):",
        "| memory for J | seconds of the first step | of the others | peak memory | measured on |",
        rows,
    )


def _seconds_of(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def cost_table(found: dict) -> str | None:
    if "fit-cost" not in found:
        return None
    result, tenfold = found["fit-cost"], found.get("fit-cost-10", {"rows": {}})["rows"]
    rows = [
        as_row(
            " ".join(row["about"].split()).rstrip("."),
            answered_by(row),
            f"{row['cpu_seconds']:.0f}",
            f"{tenfold[name]['cpu_seconds']:.0f}" if name in tenfold else "–",
            measured_on(result),
        )
        for name, row in result["rows"].items()
    ]
    return as_table(
        "`pgt fit` with all defaults, from its start to the files it leaves, compiling and all. Seconds "
        "are those of processor time, all cores together; of ten times the readings beside them:",
        "| what | answered by | CPU seconds | ten times the readings | measured on |",
        rows,
    )


def memory_table(found: dict) -> str | None:
    if "predict-memory" not in found:
        return None
    result = found["predict-memory"]
    rows = [
        as_row(
            name,
            f"{row['peak_bytes'] / 2**30:.2f} GiB",
            f"{row['seconds']:.0f}",
            measured_on(result),
        )
        for name, row in result["rows"].items()
    ]
    return as_table(
        f"`pgt predict` of {result['points']:,} points of a PGT, in a process of its own:",
        "| from what to what | peak memory | seconds | measured on |",
        rows,
    )


def rewritten(page: str, text: str) -> str:
    """The page with `text` between the markers."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def main():
    if sys.argv[1:] == ["--show"]:
        print(pages()[MEASUREMENTS])
        return
    for path, text in pages().items():
        page = path.read_text(encoding="utf-8")
        path.write_text(rewritten(page, text), encoding="utf-8")


if __name__ == "__main__":
    main()
