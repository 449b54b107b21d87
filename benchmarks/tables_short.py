"""The table of the README: of each part of the measurements the row that says most."""

from pathlib import Path

from table_text import (
    METHODS,
    answered_by,
    as_row,
    as_table,
    in_per_cent,
    mean_of,
    measured_on,
)
from tables_families import network_error
from tables_zoo import (
    MACHINES,
    MIXED,
    ahead,
    commits_of,
    is_mixed,
    problems_of,
    rivals_of,
    stated_well,
    stored_zoos,
)
from tables_zoo import answered_by as answered_in_zoo

Cells = tuple[str, str, str, str]  # answered by, measured, beside it, measured on


def short_table(found: dict, zoo: Path) -> str | None:
    """None where nothing is stored."""
    rows = [
        as_row(what, *says(found[case])) for what, (case, says) in ROWS.items() if case in found
    ]
    zoos = stored_zoos(zoo)
    mixed = f" {MIXED}" if any(is_mixed(part) for part in zoos.values()) else ""
    return as_table(
        "Relative L2 errors unless something else is said; seconds are wall-clock. One seed, three for "
        f"heat, 128 systems for the pretrained network.{mixed}",
        "| what | answered by | measured | beside it | measured on |",
        [*(_zoo_row(MACHINES[machine], part) for machine, part in zoos.items()), *rows],
    )


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


def _noise(result: dict) -> Cells:
    ours = f"{result['rel_l2']:.1e}"
    return _solver(result), ours, "5.0e-02 (the readings)", measured_on(result)


def _cylinder(result: dict) -> Cells:
    ours, box = (
        " / ".join(in_per_cent(result[name][force]) for force in ("drag", "lift"))
        for name in ("wall", "box")
    )
    earlier = f"; beside it `{result['box']['commit']}`" if "commit" in result["box"] else ""
    who = METHODS[result["settings"]["model"].upper()]
    return who, ours, f"{box} (nothing known of the wall)", measured_on(result) + earlier


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
    "drag / lift of a cylinder from 500 readings of u and v": ("cylinder", _cylinder),
    "heat from 64 readings, without training anew": ("pretrained", _network),
}
