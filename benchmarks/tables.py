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

from table_text import METHODS, POLISHED, answered_by, as_row, as_table, mean_of, measured_on
from tables_beyond import (
    beltrami_table,
    cylinder_table,
    functions_table,
    instrument_table,
    shapes_table,
)
from tables_families import pretrained_table, yardstick_table
from tables_measured import discovery_table, generated_table, measured_table, survey_table
from tables_short import short_table

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
    "heat": "PGT by name: one mode, boundary and initial values known",
    "heat-longest": "the same, a wider decoder and 2000 second-order steps",
    "three-modes-noise": "PGT by name: three modes, readings only, 5 % noise",
}
WAKE = {
    "default-wake": "all defaults, a limit of 120 s",
    "default-wake-hidden": "the same, p hidden and compared less its mean",
    "default-wake-cpu": "all defaults, a limit of 720 s on two cores",
    "wake": "PGT by name",
    "wake-cpu": "a small PGT by name, on two cores",
}
PAPER_HEAT = "| paper: boundary and initial values known | PGT | 5.9e-03 | 570 | |"
PAPER_WAKE = "| paper | PGT | 0.034 | 0.016 / 0.041 / 0.046 | 2820 | |"
COSTS = {
    "rod": "8 thermocouples on a rod, 240 readings",
    "wells": "ground water in 40 wells, with error bars",
    "burgers": "150 readings of a moving front",
    "wall": "thermocouples in a wall, 1736 readings, diffusivity unknown",
    "beam": "a vibrating beam, 606 readings, stiffness unknown",
    "piv": "a steady flow, 144 places, pressure hidden",
    "dose": "a drug in two compartments, three rates unknown",
}


NOTHING = "No results are stored yet; `benchmarks/core.py` makes them."


def pages(folder: Path = RESULTS) -> dict[Path, str]:
    """What stands between the markers of each page."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    parts = [short_table(found, folder / "zoo"), cost_line(found)]
    short = "\n\n".join(part for part in parts if part) or NOTHING
    drawn = generated_table(folder / "generated")
    return {README: short, MEASUREMENTS: all_tables(found, drawn)}


def all_tables(found: dict, drawn: str | None = None) -> str:
    """Every table for which something is stored, under the headings of the page; `drawn` is that of
    problems drawn at random."""
    parts = [
        "\n\n".join([f"## {heading}", *tables])
        for heading, made in (_by_heading(found) | {"Problems drawn at random": (drawn,)}).items()
        if (tables := [table for table in made if table is not None])
    ]
    return "\n\n".join(parts) or NOTHING


def _by_heading(found: dict) -> dict[str, tuple[str | None, ...]]:
    return {
        "Time and memory": (cost_table(found), memory_table(found), anchors_table(found)),
        "Heat": (heat_table(found),),
        "The wake of a cylinder": (wake_table(found),),
        "Hidden fields, unknowns and error bars": (instrument_table(found), functions_table(found)),
        "Shapes and flows": (shapes_table(found), cylinder_table(found), beltrami_table(found)),
        "Measured data": (measured_table(found), survey_table(found)),
        "Terms that an equation lacks": (discovery_table(found),),
        "Laws and networks for many systems": (pretrained_table(found), yardstick_table(found)),
    }


def heat_table(found: dict) -> str | None:
    rows = [heat_row(name, found[case]) for case, name in HEAT.items() if case in found]
    return as_table(
        "Heat equation from 100 readings, relative L2 error on the 101 × 101 grid (mean over "
        "seeds):",
        "| case | answered by | rel L2 | seconds | measured on |",
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
        measured_on(result),
    )


def _who_solved(runs: list[dict]) -> str:
    """Sums of sines say that they are solved in closed form; the other cases name a PGT."""
    who = {answered_by(run) for run in runs}
    return POLISHED if who == {"–"} else ", ".join(sorted(who))


def wake_table(found: dict) -> str | None:
    rows = [wake_row(name, found[case]) for case, name in WAKE.items() if case in found]
    return as_table(
        "Cylinder wake at Re = 100 from 1500 samples of u, v, p. Errors are relative L2 at the middle "
        "snapshot. Ours is measured on the packaged simulation, the paper's on another one of the same "
        "flow:",
        "| case | answered by | mean of fields | u / v / p | seconds | measured on |",
        rows and [*rows, PAPER_WAKE],
    )


def wake_row(name: str, result: dict) -> str:
    errors = result["snapshot"]["relative_l2"]
    return as_row(
        name,
        answered_by(result) if "model" in result else METHODS["PGT"],  # `wake` names it itself
        f"{result['snapshot']['overall']['mean']:.1e}",
        " / ".join(f"{errors[field]:.1e}" for field in ("u", "v", "p")),
        f"{result['seconds']:.0f}",
        measured_on(result),
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
        for row in (result["rows"][0], result["rows"][-1])
    ]
    return as_table(
        "A step of a PGT whose readings are gathered by 128 anchors: time grows as "
        f"n^{result['time_exponent']:.2f}, peak memory as n^{result['memory_exponent']:.2f}:",
        "| readings | ms per step | peak memory | measured on |",
        rows,
    )


def cost_table(found: dict) -> str | None:
    if "fit-cost" not in found:
        return None
    result = found["fit-cost"]
    rows = [
        as_row(
            what,
            answered_by(row),
            f"{row['cpu_seconds']:.0f}",
            f"{row['peak_bytes'] / 2**30:.1f} GiB",
            measured_on(result),
        )
        for name, what in COSTS.items()
        if (row := result["rows"].get(name))
    ]
    return as_table(
        "`pgt fit` with all defaults, from its start to the files it leaves, nothing compiled before. "
        "Seconds are those of processor time, all cores together:",
        "| what | answered by | CPU seconds | peak memory | measured on |",
        rows,
    )


def cost_line(found: dict) -> str | None:
    """The range of the costs, in a sentence."""
    if "fit-cost" not in found:
        return None
    rows = [row for name, row in found["fit-cost"]["rows"].items() if name in COSTS]
    seconds = [row["cpu_seconds"] for row in rows]
    memory = [row["peak_bytes"] / 2**30 for row in rows]
    return (
        f"`pgt fit` with all defaults takes {min(seconds):.0f} to {max(seconds):.0f} s of processor time "
        f"and {min(memory):.1f} to {max(memory):.1f} GiB of memory on {len(rows)} small problems, "
        f"importing and compiling included ({measured_on(found['fit-cost'])})."
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
