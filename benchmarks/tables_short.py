"""The table of the README: of each part of the measurements the row that says most."""

from pathlib import Path

from table_text import as_row, as_table, in_per_cent, mean_of, measured_on
from tables_families import published
from tables_zoo import MACHINES, ahead, commits_of, stated_well

from pgt.bench.zoo.summary import Found

Cells = tuple[str, str, str]  # measured, beside it, measured on


def short_table(found: dict, zoo: Path) -> str | None:
    """None where nothing is stored."""
    rows = [
        as_row(what, *says(found[case])) for what, (case, says) in ROWS.items() if case in found
    ]
    return as_table(
        "Relative L2 errors of fields where nothing else is said; seconds are wall-clock:",
        "| what | measured | beside it | measured on |",
        _zoo_rows(zoo) + rows,
    )


def _zoo_rows(folder: Path) -> list[str]:
    found = {machine: Found.read(folder / machine) for machine in MACHINES}
    return [
        as_row(
            f"60 problems of all kinds, all defaults, on {MACHINES[machine]}",
            f"ahead on {ahead(part)}; the error it states within a factor 2 on {stated_well(part)}",
            "the best of RBF, a Gaussian process and, where it ran, jinns",
            commits_of(part),
        )
        for machine, part in found.items()
        if part.pairs()
    ]


def _heat(result: dict) -> Cells:
    took = mean_of(result["runs"], "seconds")
    ours = f"{result['rel_l2']:.1e} in {took:.0f} s"
    return ours, "5.9e-03 in 570 s (paper)", measured_on(result)


def _noise(result: dict) -> Cells:
    return f"{result['rel_l2']:.1e}", "5.0e-02 (the readings)", measured_on(result)


def _wake(result: dict) -> Cells:
    ours = f"{result['snapshot']['overall']['mean']:.1e} in {result['seconds']:.0f} s"
    return ours, "3.4e-02 in 2820 s (paper)", measured_on(result)


def _pressure(result: dict) -> Cells:
    ours = f"p {result['snapshot']['relative_l2']['p']:.1e}"
    return ours, "p 4.6e-02 (paper, p observed)", measured_on(result)


def _viscosity(result: dict) -> Cells:
    ours = f"{100 * abs(result['relative_errors']['viscosity']):.2g} %"
    return ours, "4.7 % (Raissi et al. 2019, 5000 samples)", measured_on(result)


def _bands(result: dict) -> Cells:
    return f"{100 * result['inside']['field']['u']:.0f} %", "90 %", measured_on(result)


def _hole(result: dict) -> Cells:
    ours, sines = (
        result["fields"]["plate"][name]["rel_l2"] for name in ("with functions", "without")
    )
    return f"{ours:.1e}", f"{sines:.1e} (sines that suit a box)", measured_on(result)


def _cylinder(result: dict) -> Cells:
    ours, box = (
        " / ".join(in_per_cent(result[name][force]) for force in ("drag", "lift"))
        for name in ("wall", "box")
    )
    earlier = f", `{result['box']['commit']}`" if "commit" in result["box"] else ""
    return ours, f"{box} (nothing known of the wall)", measured_on(result) + earlier


def _network(result: dict) -> Cells:
    heat = result["families"]["heat"]
    took = f" in {heat['milliseconds']:.0f} ms" if "milliseconds" in heat else ""
    gp = f"{heat['clean']['gp']:.1e} (a Gaussian process)"
    where = measured_on(heat if "commit" in heat else result)
    return f"{heat['clean']['median']:.1e}{took}", gp, where


def _yardstick(result: dict, law: str, direction: str) -> Cells:
    ours = result["laws"][law]["rows"][direction]["zero-shot"]["median"]
    others = ", ".join(
        f"{published(who, law, direction)} % ({name})"
        for name, who in result["published"].items()
        if law in who
    )
    return f"{ours:.2g} %", others, measured_on(result["laws"][law])


ROWS = {
    "heat from 100 readings, boundary and initial values known": ("default-heat", _heat),
    "heat, three modes, from 100 readings with 5 % noise": ("default-three-modes-noise", _noise),
    "wake of a cylinder from 1500 samples of u, v and p": ("default-wake", _wake),
    "the same, p hidden": ("default-wake-hidden", _pressure),
    "its viscosity, guessed five times too large (SIREN)": ("viscosity", _viscosity),
    "share of a field inside its bands of 90 %, 5 % noise": ("bands-heat", _bands),
    "conduction around a hole, from 100 readings": ("shapes", _hole),
    "drag / lift of a cylinder from 500 readings of u and v": ("cylinder", _cylinder),
    "heat by a network that comes with the library, 64 readings": ("pretrained", _network),
    "source of Poisson's equation from 500 of 128 × 128 values, law known": (
        "yardstick",
        lambda result: _yardstick(result, "poisson", "inverse"),
    ),
    "Burgers' equation from five sensors, law known": (
        "yardstick",
        lambda result: _yardstick(result, "burgers", "sensors"),
    ),
}
