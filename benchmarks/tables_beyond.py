"""Tables beyond the paper: hidden fields and coefficients, shapes, functions."""

import statistics

from table_text import (
    METHODS,
    POLISHED,
    answered_by,
    as_row,
    as_table,
    in_per_cent,
    measured_on,
)

SHAPES = {
    "ring": "conduction in a ring",
    "plate": "conduction around an insulated hole",
    "room": "Poisson's equation in an L, singular at its corner",
    "spreading": "heat in a ring over time",
}
FUNCTIONS = {
    "source": "source q(x) of a rod, 60 readings",
    "step": "conductivity k(x) of a rod, a steep step, 60 readings",
    "waves": "conductivity k(x) of a rod, waves, 60 readings",
    "bump": "conductivity k(x) of a rod, a bump, 60 readings",
    "conductivity": "conductivity k(x, y) of a plate, contrast 5, 200 readings",
    "wall": "temperature u(t) at the end of a rod, 4 sensors read 15 times",
    "kink": "the same with a kink",
    "flux": "flux q(t) at the end of a rod, a steep ramp, 4 sensors read 15 times",
    "inflow": "inflow u(t) of a channel, 4 sensors read 15 times",
    "inlet": "profile u(y) at the inlet of a channel, 60 readings",
}
CYLINDER = {"wall": "the wall, where the fluid rests", "box": "nothing of the wall"}


def _flow(result: dict) -> str:
    errors = " / ".join(f"{result['snapshot'][field]:.1e}" for field in ("u", "v", "p"))
    return f"u / v / p {errors}, {result['seconds']:.0f} s"


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
PGT = METHODS["PGT"]
ENSEMBLE = "8 PGTs, SOAP"
SMALL_SIREN = "small SIREN, SOAP, then Gauss–Newton"
INSTRUMENT = {
    "pressure": ("wake from u and v", PGT, _flow, "p 4.6e-02 (paper, p observed)"),
    "pressure-noise": ("the same, 5 % noise", PGT, _flow, ""),
    "viscosity": (
        "unknown viscosity, guessed five times too large",
        PGT,
        _coefficients,
        RAISSI.format("4.7 %"),
    ),
    "viscosity-noise": ("the same, 1 % noise", PGT, _coefficients, RAISSI.format("5.7 %")),
    "two-coefficients": (
        "unknown convection and viscosity, 5000 samples",
        PGT,
        _coefficients,
        RAISSI.format("0.08 %, 4.7 %"),
    ),
    "diffusivity-coverage": (
        "heat, unknown diffusivity, 100 readings with 2 % noise: intervals of 90 % that hold it",
        SMALL_SIREN,
        lambda result: f"{result['inside']} of {result['draws']}",
        "",
    ),
    "bands-heat": (
        "heat, three modes, 5 % noise: share of points inside bands of 90 %, ten draws",
        POLISHED,
        _inside,
        "",
    ),
    "bands-wake": (
        "wake, 5 % noise, p given at a corner: the same, three draws",
        ENSEMBLE,
        _inside,
        "",
    ),
    "ensemble-cost": (
        "wake: a step of 8 members trained at once, beside one of a single network",
        ENSEMBLE,
        lambda result: f"{result['ratio']:.1f} times as long",
        "",
    ),
    "outliers": (
        "heat, 5 % of 150 readings wrong by 20 σ: error with Student's likelihood, beside that without "
        "outliers",
        POLISHED,
        lambda result: f"{result['ratio']:.2f} times",
        "",
    ),
}


def instrument_table(found: dict) -> str | None:
    rows = [
        as_row(what, who, says(found[case]), reference, measured_on(found[case]))
        for case, (what, who, says, reference) in INSTRUMENT.items()
        if case in found
    ]
    return as_table(
        "Hidden pressure, unknown coefficients and error bars. Of the wake u and v are read 1500 times; "
        "errors are relative L2 (p without its mean per snapshot), those of coefficients relative:",
        "| what | answered by | measured | elsewhere | measured on |",
        rows,
    )


def shapes_table(found: dict) -> str | None:
    if "shapes" not in found:
        return None
    result = found["shapes"]
    rows = [
        as_row(
            SHAPES[name],
            *(_fitted(fits[key]) for key in ("with functions", "without")),
            measured_on(result),
        )
        for name, fits in result["fields"].items()
    ]
    return as_table(
        f"Fields in shapes from {result['readings']} readings, walls known, all defaults: relative L2 "
        "error against the exact field, beside sines that suit a box. The model has functions of holes "
        "and corners, and the first three exact fields are made of them:",
        "| field | all defaults | sines alone | measured on |",
        rows,
    )


def _commits(result: dict, name: str) -> str:
    """Those of the draws of a case, which may be measured at different times."""
    return "`, `".join(dict.fromkeys(run.get("commit", result["commit"]) for run in result[name]))


def functions_table(found: dict) -> str | None:
    if "unknown-functions" not in found:
        return None
    result = found["unknown-functions"]
    rows = [
        as_row(
            what,
            ", ".join(dict.fromkeys(answered_by(run) for run in result[name])),
            "{:.1f} % ({:.1f} %)".format(
                *_median_and_worst([100 * r["rel_l2"] for r in result[name]])
            ),
            "{:.2f} ({:.2f})".format(*_median_and_worst([-r["inside"] for r in result[name]], -1)),
            measured_on(result | {"commit": _commits(result, name)}),
        )
        for name, what in FUNCTIONS.items()
        if name in result
    ]
    return as_table(
        "Functions of equations and conditions that are not known, from readings of the field with 1 % "
        "noise, eight draws: relative L2 error of the function, and the share of it inside bands of "
        "90 %; median (worst):",
        "| function | answered by | error | inside the band | measured on |",
        rows,
    )


def _median_and_worst(values: list[float], sign: int = 1) -> tuple[float, float]:
    return sign * statistics.median(values), sign * max(values)


def cylinder_table(found: dict) -> str | None:
    if "cylinder" not in found:
        return None
    result = found["cylinder"]
    rows = [
        as_row(
            what,
            METHODS[result["settings"]["model"].upper()],
            " / ".join(f"{result[name][field]:.1e}" for field in ("u", "v", "p")),
            " / ".join(in_per_cent(result[name][force]) for force in ("drag", "lift")),
            f"{result[name]['seconds']:.0f}",
            measured_on(result | result[name]),  # a fit may be of an earlier day than the other
        )
        for name, what in CYLINDER.items()
        if name in result
    ]
    return as_table(
        f"Flow past a cylinder that stands in the domain, Re = 100, from {result['settings']['samples']} "
        "readings of u and v, p hidden: relative L2 errors outside the cylinder, and of the forces on it "
        "over time:",
        "| the fit knows | answered by | u / v / p | drag / lift | seconds | measured on |",
        rows,
    )


def _fitted(fit: dict) -> str:
    return f"{fit['rel_l2']:.1e} ({METHODS[fit['model']]})"


def beltrami_table(found: dict) -> str | None:
    if "default-beltrami" not in found:
        return None
    result = found["default-beltrami"]
    errors = result["errors"]["fields"] | result["errors"]["hidden"]
    row = as_row(
        f"all defaults: {answered_by(result)}",
        " / ".join(f"{errors[field]:.1e}" for field in ("u", "v", "w", "p")),
        f"{result['stated']['value']:.1e}",
        f"{result['took']:.0f}",
        measured_on(result),
    )
    return as_table(
        "Beltrami's flow in space over time, from 800 readings of u, v and w, p hidden: relative L2 "
        "errors, and the one that is stated of the velocity:",
        "| answered by | u / v / w / p | stated | seconds | measured on |",
        [row],
    )
