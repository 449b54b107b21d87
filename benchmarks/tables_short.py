"""The table of the README: of each part of the measurements the row that says most."""

from pathlib import Path

from table_text import (
    METHODS,
    all_measured_on,
    answered_by,
    as_row,
    as_table,
    mean_of,
    measured_on,
)
from tables_families import network_error
from tables_zoo import (
    MACHINES,
    ahead,
    commits_of,
    is_mixed,
    problems_of,
    rivals_of,
    stated_well,
    stored_zoos,
)
from tables_zoo import answered_by as answered_in_zoo

from pgt_bench.generator.comparison import NEAR, Line, read

Cells = tuple[str, str, str, str]  # answered by, measured, beside it, measured on


def short_table(found: dict, zoo: Path) -> str | None:
    """None where nothing is stored."""
    rows = [
        as_row(what, *says(found[case])) for what, (case, says) in ROWS.items() if case in found
    ]
    zoos = {machine: part for machine, part in stored_zoos(zoo).items() if not is_mixed(part)}
    return as_table(
        "Relative L2 errors unless something else is said; seconds are wall-clock. One seed, three for "
        "heat, 128 systems for the pretrained network.",
        "| what | answered by | measured | beside it | measured on |",
        [
            *_drawn_rows(zoo.parent / "generated" / "reporting.jsonl"),
            *(_zoo_row(MACHINES[machine], part) for machine, part in zoos.items()),
            *rows,
        ],
    )


def _drawn_rows(path: Path) -> list[str]:
    """Problems that are drawn from seeds on which nothing was tuned; none where nothing is stored."""
    lines = [Line(record) for record in read(path)]
    if not lines:
        return []
    factors = [factor for line in lines for factor in line.stated_over_true.values()]
    within = sum(1 / NEAR < factor < NEAR for factor in factors)
    failed = sum(line.error is None for line in lines)
    measured = (
        f"ahead on {sum(line.is_ahead for line in lines)} of {len(lines)}, {failed} failed; the error it "
        f"states within a factor 2 on {within} of {len(factors)} fields"
    )
    what = "problems drawn at random, all defaults, on two cores, 30 s each"
    who = "mesh, sum of sines, network"
    where = all_measured_on([line.record for line in lines])
    return [as_row(what, who, measured, "radial basis functions", where)]


def _zoo_row(machine, part) -> str:
    return as_row(
        f"{problems_of(part)} problems of all kinds, all defaults, on {machine}",
        answered_in_zoo(part),
        f"ahead on {ahead(part)}; the error it states within a factor 2 on {stated_well(part)}",
        rivals_of(part),
        commits_of(part),
    )


def _heat(result: dict) -> Cells:
    took = mean_of(result["runs"], "seconds")
    ours = f"{result['rel_l2']:.1e} in {took:.0f} s"
    return _solver(result), ours, "5.9e-03 in 570 s (paper)", measured_on(result)


def _solver(result: dict) -> str:
    return ", ".join(sorted({answered_by(run) for run in result["runs"]}))


def _wake(result: dict) -> Cells:
    ours = f"{result['snapshot']['overall']['mean']:.1e} in {result['seconds']:.0f} s"
    return answered_by(result), ours, "3.4e-02 in 2820 s (paper)", measured_on(result)


def _viscosity(result: dict) -> Cells:
    ours = f"{100 * abs(result['relative_errors']['viscosity']):.2g} %"
    beside = "4.7 % (Raissi et al. 2019, 5000 samples, convection unknown as well)"
    return METHODS["PGT"], ours, beside, measured_on(result)  # `instrument.py` names it


def _pumping_test(result: dict) -> Cells:
    one = result["sets"]["oude_korendijk"]
    low, value, high = one["ours"]["intervals"]["k"]
    ours = f"{value:.1f} m/d ({low:.1f} to {high:.1f}) in {one['ours']['seconds']:.0f} s"
    beside = f"{one['published']['k']:.1f} (AQTESOLV, published)"
    return "equation solved on a mesh", ours, beside, measured_on(result["provenance"])


def _noise(result: dict) -> Cells:
    ours = f"{result['rel_l2']:.1e}"
    return _solver(result), ours, "5.0e-02 (the readings)", measured_on(result)


def _network(result: dict) -> Cells:
    """The number of the network itself, not of the law that answers in its place."""
    heat = result["families"]["heat"]
    return "pretrained network", network_error(heat["clean"]), *_process_and_place(result)


def _process_and_place(result: dict) -> tuple[str, str]:
    heat = result["families"]["heat"]
    where = measured_on(heat if "commit" in heat else result)
    return f"{heat['clean']['gp']:.1e} (a Gaussian process)", where


ROWS = {
    "heat from 100 readings, boundary and initial values known": ("default-heat", _heat),
    "heat, three modes, from 100 readings with 5 % noise": ("default-three-modes-noise", _noise),
    "wake of a cylinder from 1500 samples of u, v and p": ("default-wake", _wake),
    "its viscosity from u and v, guessed five times too large": ("viscosity", _viscosity),
    "conductivity of an aquifer from a measured pumping test": ("measured", _pumping_test),
    "heat from 64 readings, without training anew": ("pretrained", _network),
}
