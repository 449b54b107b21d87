"""Write the results section of the README from the files in benchmarks/results.

    python benchmarks/tables.py          # rewrite README.md
    python benchmarks/tables.py --show   # print the section only

Every number comes from a file that benchmarks/core.py, instrument.py, coverage_diffusivity.py,
fit_cost.py, shapes.py, unknown_functions.py, cylinder.py, pretrained.py, refined.py or yardstick.py
wrote; a case without a file has no row. The paper's numbers stand beside ours, as the paper prints them
(its tables 1 and 2), and those of Raissi, Perdikaris and Karniadakis (2019) for unknown coefficients.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
README = ROOT / "README.md"
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"

HEAT = {
    "default-heat": "all defaults: one mode, boundary and initial values known",
    "default-heat-free": "all defaults: one mode, readings only",
    "default-three-modes": "all defaults: three modes, readings only",
    "default-three-modes-noise": "all defaults: three modes, readings only, 5 % noise",
    "heat": "PGT: one mode, boundary and initial values known",
    "heat-long": "the same, wider decoder, 500 iterations of polish",
    "heat-longest": "the same, 2000 iterations of polish",
    "heat-free": "PGT: one mode, readings only, 400 iterations of polish",
    "three-modes": "PGT: three modes, readings only",
    "three-modes-noise": "PGT: three modes, readings only, 5 % noise, polished under a prior",
}
WAKE = {"wake": "pgt", "wake-cpu": "pgt, small, on the CPU"}
PAPER_HEAT = "| paper: PGT, boundary and initial values known | 5.9e-03 | 570 | – | 405 M | |"
PAPER_WAKE = "| paper: PGT | – | 0.034 | 0.016 / 0.041 / 0.046 | – | 8.3e-04 | 2820 | 5.6 M | |"


def section(folder: Path = RESULTS) -> str:
    """The text between the markers."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    parts = [
        table
        for table in (
            heat_table(found),
            wake_table(found),
            step_table(found),
            anchors_table(found),
            cost_table(found),
            instrument_table(found),
            shapes_table(found),
            measures_table(found),
            functions_table(found),
            box_table(found),
            cylinder_table(found),
            pretrained_table(found),
            refined_table(found),
            yardstick_table(found),
        )
        if table is not None
    ]
    return "\n\n".join(parts) or "No results are stored yet; `benchmarks/core.py` makes them."


def heat_table(found: dict) -> str | None:
    rows = [heat_row(name, found[case]) for case, name in HEAT.items() if case in found]
    return _table(
        "Heat equation from 100 readings, relative L2 error on the 101 × 101 grid (mean over "
        "seeds):",
        "| case | rel L2 | seconds | of them to the first step | parameters | measured on |",
        rows and [*rows, PAPER_HEAT],
    )


def heat_row(name: str, result: dict) -> str:
    runs = result["runs"]
    errors = [run["rel_l2"] for run in runs]
    spread = f" ({min(errors):.1e} to {max(errors):.1e})" if len(runs) > 1 else ""
    return _row(
        name,
        f"{result['rel_l2']:.1e}{spread}",
        f"{_mean(runs, 'seconds'):.0f}",
        f"{_mean(runs, 'first_step_seconds'):.0f}",
        _count(runs[0]["parameter_count"]),
        _where(result),
    )


def wake_table(found: dict) -> str | None:
    rows = [wake_row(name, found[case]) for case, name in WAKE.items() if case in found]
    return _table(
        "Cylinder wake at Re = 100 from 1500 samples of u, v, p. Errors are relative L2 at the "
        "middle snapshot (all fields as one vector, mean of the three fields, each), and over the whole "
        "volume (all fields as one vector); the "
        "residual is the mean square of the three equations. Ours is measured on the packaged "
        "simulation, the paper's on another one of the same flow:",
        "| model | all | mean | u / v / p | volume | residual | seconds | parameters | measured on |",
        rows and [*rows, PAPER_WAKE],
    )


def wake_row(name: str, result: dict) -> str:
    errors = result["snapshot"]["relative_l2"]
    return _row(
        name,
        f"{result['snapshot']['overall']['stacked']:.1e}",
        f"{result['snapshot']['overall']['mean']:.1e}",
        " / ".join(f"{errors[field]:.1e}" for field in ("u", "v", "p")),
        f"{result['volume']['overall']['stacked']:.1e}",
        f"{result['residual']:.1e}",
        f"{result['seconds']:.0f}",
        _count(result["parameter_count"]),
        _where(result),
    )


def step_table(found: dict) -> str | None:
    if "step" not in found:
        return None
    result = found["step"]
    torch = result["torch_milliseconds"]
    rows = [_row("eager PyTorch, Adam", f"{torch:.1f}", "1.0", "–", _where(result))]
    for optimiser, name in (("adam", "Adam"), ("soap", "SOAP")):
        ours = result[optimiser]
        cells = (f"{ours['milliseconds']:.1f}", f"{torch / ours['milliseconds']:.1f}")
        rows.append(
            _row(f"pgt, {name}", *cells, f"{ours['first_step_seconds']:.0f}", _where(result))
        )
    return _table(
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
        _row(
            f"{row['readings']:,}",
            f"{row['milliseconds']:.1f}",
            "–" if row["peak_bytes"] is None else f"{row['peak_bytes'] / 2**30:.2f} GiB",
            _where(result),
        )
        for row in result["rows"]
    ]
    return _table(
        f"Readings gathered by 128 anchors: time grows as n^{result['time_exponent']:.2f}, peak memory "
        f"as n^{result['memory_exponent']:.2f} over these two decades:",
        "| readings | ms per step | peak memory | measured on |",
        rows,
    )


def cost_table(found: dict) -> str | None:
    if "fit-cost" not in found:
        return None
    result = found["fit-cost"]
    rows = [
        _row(row["about"].rstrip("."), row["model"], f"{row['cpu_seconds']:.0f}", _where(result))
        for row in result["rows"].values()
    ]
    return _table(
        "`pgt fit` with all defaults, from its start to the files it leaves, compiling and all. Seconds "
        "are those of processor time, all cores together:",
        "| what | model | CPU seconds | measured on |",
        rows,
    )


def instrument_table(found: dict) -> str | None:
    rows = [
        _row(what, says(found[case]), reference, _where(found[case]))
        for case, (what, says, reference) in INSTRUMENT.items()
        if case in found
    ]
    return _table(
        "Hidden pressure, unknown coefficients and error bars. Of the wake u and v are read 1500 times; "
        "errors are relative L2 (p without its mean per snapshot), those of coefficients relative:",
        "| what | measured | elsewhere | measured on |",
        rows,
    )


def shapes_table(found: dict) -> str | None:
    if "shapes" not in found:
        return None
    result = found["shapes"]
    rows = [
        _row(
            SHAPES[name],
            *(_fitted(fits[key]) for key in ("with functions", "without")),
            _where(result),
        )
        for name, fits in result["fields"].items()
    ]
    return _table(
        f"Fields in shapes from {result['readings']} readings, walls known, all defaults: relative L2 "
        "error against the exact field; beside it the sum of sines that suits a box, fewer of them, and "
        "without functions of holes and corners:",
        "| field | all defaults | sines alone | measured on |",
        rows,
    )


def _fitted(fit: dict) -> str:
    return f"{fit['rel_l2']:.1e} ({fit['model']})"


def measures_table(found: dict) -> str | None:
    if "shapes" not in found:
        return None
    result = found["shapes"]
    measures, where = result["measures"], _where(result)
    worst = {part: max(measures[s][part] for s in measures) for part in ("measure", "boundary")}
    rows = [
        _row(f"area or volume of {len(measures)} shapes, largest relative error",
             f"{worst['measure']:.1e}", where),
        _row("length or surface of their walls", f"{worst['boundary']:.1e}", where),
    ]  # fmt: skip
    rows += [
        _row(f"inside test of {result['points']:,} points, {name}", f"{seconds:.2f} s", where)
        for name, seconds in result["inside"].items()
    ]
    return _table(
        "Shapes themselves; seconds are those of one processor:",
        "| what | measured | measured on |",
        rows,
    )


def functions_table(found: dict) -> str | None:
    if "unknown-functions" not in found:
        return None
    result = found["unknown-functions"]
    rows = [
        _row(
            what,
            ", ".join(f"{100 * run['rel_l2']:.1f} %" for run in result[name]),
            ", ".join(f"{run['inside']:.2f}" for run in result[name]),
            _where(result | {"commit": result[name][0].get("commit", result["commit"])}),
        )
        for name, what in FUNCTIONS.items()
        if name in result
    ]
    return _table(
        "Functions that stand in the equation and are not known, from readings of the field with 1 % "
        "noise, one number for each draw of the readings: relative L2 error of the function, and the "
        "share of it inside bands of 90 %:",
        "| function | error | inside the band | measured on |",
        rows,
    )


def box_table(found: dict) -> str | None:
    if "box-cost" not in found:
        return None
    result = found["box-cost"]
    rows = [
        _row(kind.upper(), f"{fit['ratios']['compile']:.2f}", f"{fit['ratios']['step']:.2f}",
             _where(result))
        for kind, fit in result["fits"].items()
    ]  # fmt: skip
    return _table(
        "What shapes cost a problem in a box: processor time now over that of the commit before shapes, "
        "both measured in turn, medians:",
        "| model | compiling | one step | measured on |",
        rows,
    )


def pretrained_table(found: dict) -> str | None:
    if "pretrained" not in found:
        return None
    result = found["pretrained"]
    rows = [
        _row(
            f"`{name}`",
            *(_scored(family[kind]) for kind in ("clean", "noise")),
            f"{family['milliseconds']:.0f} ms",
            _where(result),
        )
        for name, family in result["families"].items()
    ]
    return _table(
        f"Networks that come with the library, each on {result['systems']} systems that it has not "
        f"seen, {result['readings']} scattered readings of each: median of the relative error (worst "
        "tenth), that of a Gaussian process without the equation, and the share of the field inside "
        "bands of 90 %; the time of one answer with its band on 64 × 64 points:",
        "| family | clean | 5 % noise | one answer | measured on |",
        rows,
    )


def _scored(row: dict) -> str:
    errors = f"{row['median']:.1e} ({row['tenth']:.1e})"
    return f"{errors}; Gaussian process {row['gp']:.1e}; inside {row['inside']:.2f}"


def refined_table(found: dict) -> str | None:
    if "refined" not in found:
        return None
    result, labels = found["refined"], ("at once", "refined", "from the law", "from nothing")
    rows = [
        _row(
            f"`{name}`",
            str(family["systems"]),
            *(
                f"{family[label]['median']:.1e}, {family[label]['seconds']:.2g} s"
                for label in labels
            ),
            _where(family),
        )
        for name, family in result["families"].items()
    ]
    return _table(
        f"The same networks on other systems, {result['readings']} clean readings of each, and "
        "where their answers lead: median of the relative error and of the seconds, after one "
        "system that compiles. Refined: the most probable system of the family, from the "
        "network's answer; from the law: the same without the network; from nothing: "
        "`pgt.reconstruct` with all defaults and a limit of 10 s, without the law:",
        "| family | systems | at once | refined | from the law | from nothing | measured on |",
        rows,
    )


def yardstick_table(found: dict) -> str | None:
    if "yardstick" not in found:
        return None
    result, rows = found["yardstick"], []
    for name, law in result["laws"].items():
        for direction, methods in law["rows"].items():
            said = [_said(methods, label) for label in ("zero-shot", "floor", "interpolated")]
            others = [_published(who, name, direction) for who in result["published"].values()]
            systems = str(min(row["systems"] for row in methods.values()))
            rows.append(_row(f"{name}, {direction}", systems, *said, *others, _where(law)))
    return _table(
        f"The public yardstick: {result['nodes']} × {result['nodes']} nodes, {result['readings']} "
        "of them read, laws of DiffusionPDE, draws of our own. Forward: the source or the state "
        "at the start is read and the field scored; inverse: the reverse; Burgers: five sensors "
        "at 128 times. Relative error in %, median (worst tenth), and seconds: of a system, and "
        "of the next one that is read at the same places. The floor knows "
        "the law and the solver, and so does the answer at once, in closed form; for Burgers "
        "that is the network of the library. Published ones are as their authors print them "
        f"({'; '.join(who['where'] for who in result['published'].values())}):",
        "| law | systems | at once | floor | interpolated | "
        f"{' | '.join(result['published'])} | measured on |",
        rows,
    )


def _said(methods: dict, label: str) -> str:
    """Error and seconds; also those after the first system that is read at the same places."""
    if label not in methods:
        return "–"
    row, again = methods[label], methods.get(f"{label}, places known")
    later = f", then {again['seconds']:.2g} s" if again else ""
    return f"{row['median']:.2g} ({row['tenth']:.2g}), {row['seconds']:.2g} s{later}"


def _published(who: dict, law: str, direction: str) -> str:
    """Forward and inverse stand together, one number alone."""
    numbers = who.get(law, "–")
    return str(numbers[direction == "inverse"] if isinstance(numbers, list) else numbers)


def cylinder_table(found: dict) -> str | None:
    if "cylinder" not in found:
        return None
    result = found["cylinder"]
    rows = [
        _row(
            what,
            " / ".join(f"{result[name][field]:.1e}" for field in ("u", "v", "p")),
            " / ".join(f"{100 * result[name][force]:.2g} %" for force in ("drag", "lift")),
            f"{result[name]['seconds']:.0f}",
            _where(result),
        )
        for name, what in CYLINDER.items()
        if name in result
    ]
    return _table(
        f"Flow past a cylinder that stands in the domain, Re = 100, from {result['settings']['samples']} "
        "readings of u and v, p hidden: relative L2 errors outside the cylinder, and of the forces on it "
        "over time:",
        "| the fit knows | u / v / p | drag / lift | seconds | measured on |",
        rows,
    )


SHAPES = {
    "ring": "conduction in a ring",
    "plate": "conduction around an insulated hole",
    "room": "Poisson's equation in an L, singular at its corner",
    "spreading": "heat in a ring over time",
}
FUNCTIONS = {
    "source": "source q(x) of a rod, 60 readings",
    "conductivity": "conductivity k(x, y) of a plate, contrast 5, 200 readings",
}
CYLINDER = {"wall": "the wall, where the fluid rests", "box": "nothing of the wall"}


def _flow(result: dict) -> str:
    parts = [
        f"{name} " + " / ".join(f"{result[name][field]:.1e}" for field in ("u", "v", "p"))
        for name in ("snapshot", "volume")
    ]
    return f"u / v / p: {', '.join(parts)}, {result['seconds']:.0f} s"


def _coefficients(result: dict) -> str:
    errors = result["relative_errors"].items()
    return ", ".join(f"{name} {100 * abs(error):.2g} %" for name, error in errors)


def _inside(result: dict) -> str:
    parts = [
        f"of {of}s " + ", ".join(f"{name} {share:.3f}" for name, share in inside.items())
        for of, inside in result["inside"].items()
    ]
    return "; ".join(parts)


RAISSI = "{} (Raissi et al., both unknown, 5000 samples)"
INSTRUMENT = {
    "pressure": ("wake from u and v", _flow, "p 4.6e-02 (paper, p observed)"),
    "pressure-noise": ("the same, 5 % noise", _flow, ""),
    "viscosity": (
        "unknown viscosity, guessed five times too large",
        _coefficients,
        RAISSI.format("4.7 %"),
    ),
    "viscosity-noise": ("the same, 1 % noise", _coefficients, RAISSI.format("5.7 %")),
    "two-coefficients": (
        "unknown convection and viscosity, 5000 samples",
        _coefficients,
        RAISSI.format("0.08 %, 4.7 %"),
    ),
    "diffusivity-coverage": (
        "heat, unknown diffusivity, 100 readings with 2 % noise (SIREN): intervals of 90 % that hold it",
        lambda result: f"{result['inside']} of {result['draws']}",
        "",
    ),
    "bands-heat": (
        "heat, three modes, 5 % noise: share of points inside bands of 90 %, ten draws",
        _inside,
        "",
    ),
    "bands-wake": (
        "wake, 5 % noise, p given at a corner: the same with 8 members, three draws",
        _inside,
        "",
    ),
    "bands-wake-cpu": (
        "wake, 5 % noise, p given at a corner: one draw with 8 small members on two cores, trained "
        "briefly, so that what all of them miss no spread shows",
        _inside,
        "",
    ),
    "ensemble-cost": (
        "wake: a step of 8 members trained at once, beside one of a single network",
        lambda result: f"{result['ratio']:.1f} times as long",
        "",
    ),
    "outliers": (
        "heat, 5 % of 150 readings wrong by 20 σ: error with Student's likelihood, beside that without "
        "outliers",
        lambda result: f"{result['ratio']:.2f} times",
        "",
    ),
}


def _table(title: str, head: str, rows: list[str]) -> str | None:
    if not rows:
        return None
    return "\n".join([title, "", head, "|---" * (head.count("|") - 1) + "|", *rows])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _mean(runs: list[dict], name: str) -> float:
    return sum(run[name] for run in runs) / len(runs)


def _count(parameters: int) -> str:
    return f"{parameters / 1e3:.0f} k" if parameters < 1e6 else f"{parameters / 1e6:.1f} M"


def _where(result: dict) -> str:
    return f"{result['device']}, `{result['commit'] or 'unknown'}`"


def rewritten(readme: str, text: str) -> str:
    """The README with `text` between the markers."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def main():
    if sys.argv[1:] == ["--show"]:
        print(section())
    else:
        readme = README.read_text(encoding="utf-8")
        README.write_text(rewritten(readme, section()), encoding="utf-8")


if __name__ == "__main__":
    main()
