"""Tables beyond the paper: hidden fields and coefficients, shapes, functions."""

from table_text import (
    METHODS,
    POLISHED,
    answered_by,
    as_row,
    as_table,
    in_per_cent,
    in_words,
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
BOX = {"shapes": "the commit that brought shapes", "now": "the commit measured on"}
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
    "bands-wake-cpu": (
        "wake, 5 % noise, p given at a corner: one draw on two cores, trained briefly: the spread of "
        "the members does not show an error that all of them share",
        "8 small PGTs, SOAP",
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


def rivals_table(found: dict) -> str | None:
    if "rivals" not in found:
        return None
    rows = [
        as_row(
            name,
            f"{row['rel_l2']:.1e}",
            f"{row['steps']:,}",
            f"{row['parameters']:,}",
            f"{row['cpu_seconds']:.0f}",
            measured_on(row),
        )
        for name, row in found["rivals"]["rows"].items()
    ]
    return as_table(
        "The networks that the paper compares with, each trained with SOAP by `examples/rivals.py` on "
        "the heat equation, 100 readings, boundary and initial values known. Sizes and steps differ: "
        "this shows each of them trained and what that costs. The comparison is on the page of results. "
        "Seconds are those of processor time, all cores together, nothing compiled before:",
        "| answered by | rel L2 | steps | parameters | CPU seconds | measured on |",
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
        "error against the exact field, and by which model; beside it the sum of sines that suits a box, "
        "fewer of them, and without functions of holes and corners:",
        "| field | all defaults | sines alone | measured on |",
        rows,
    )


def measures_table(found: dict) -> str | None:
    if "shapes" not in found:
        return None
    result = found["shapes"]
    measures, where = result["measures"], measured_on(result)
    worst = {part: max(measures[s][part] for s in measures) for part in ("measure", "boundary")}
    rows = [
        as_row(f"area or volume of {len(measures)} shapes, largest relative error",
             f"{worst['measure']:.1e}", where),
        as_row("length or surface of their walls", f"{worst['boundary']:.1e}", where),
    ]  # fmt: skip
    rows += [
        as_row(f"inside test of {result['points']:,} points, {name}", f"{seconds:.2f} s", where)
        for name, seconds in result["inside"].items()
    ]
    return as_table(
        "Shapes themselves; seconds are those of one processor:",
        "| what | measured | measured on |",
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
            ", ".join(f"{100 * run['rel_l2']:.1f} %" for run in result[name]),
            ", ".join(f"{run['inside']:.2f}" for run in result[name]),
            measured_on(result | {"commit": _commits(result, name)}),
        )
        for name, what in FUNCTIONS.items()
        if name in result
    ]
    return as_table(
        "Functions of equations and conditions that are not known, from readings of the field with 1 % "
        "noise, one number for each draw of the readings: relative L2 error of the function, and the "
        "share of it inside bands of 90 %:",
        "| function | answered by | error | inside the band | measured on |",
        rows,
    )


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


def box_table(found: dict) -> str | None:
    if "box-cost" not in found:
        return None
    result = found["box-cost"]
    rows = [
        as_row(
            kind.upper(),
            BOX[name],
            *(
                f"{fit['programs'][name][key]} ({fit['programs']['before'][key]})"
                for key in ("step", "all")
            ),
            *(_ratio(fit, name, key) for key in ("compile", "step")),
            measured_on(result),
        )
        for kind, fit in result["fits"].items()
        for name in fit["programs"]
        if name != "before"
    ]
    return as_table(
        "What shapes cost a problem in a box: instructions that XLA leaves of the step and of all that "
        "is compiled, in brackets those of the commit before shapes; processor time over its, in turn, "
        "the median of many:",
        "| model | at | the step | all | compiling | one step | measured on |",
        rows,
    )


def _ratio(fit: dict, name: str, key: str) -> str:
    """Of times, where they were measured as well."""
    return f"{fit['ratios'][name][key]:.2f}" if "ratios" in fit else "–"


def space_table(found: dict) -> str | None:
    if "dns-3d" not in found:
        return None
    result = found["dns-3d"]
    asked = result["settings"]
    rows = [
        as_row(
            ("all defaults of that commit: " if name == "default" else "") + answered_by(fit),
            " / ".join(f"{fit[field]:.1e}" for field in ("u", "v", "w", "p")),
            f"{fit['seconds']:.0f}",
            in_words(fit["parameter_count"]),
            measured_on(result),
        )
        for name, fit in result["fits"].items()
    ]
    return as_table(
        f"Vortices that decay in space over time, Re = {1 / asked['viscosity']:.0f}, from "
        f"{asked['samples']:,} readings of u, v and w with {100 * asked['noise']:g} % noise, p hidden: "
        "relative L2 errors against a simulation of our own:",
        "| answered by | u / v / w / p | seconds | parameters | measured on |",
        rows,
    )


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
        in_words(result["parameters"]),
        measured_on(result),
    )
    return as_table(
        "Beltrami's flow in space over time, from 800 readings of u, v and w, p hidden: relative L2 "
        "errors, and the one that is stated of the velocity:",
        "| answered by | u / v / w / p | stated | seconds | parameters | measured on |",
        [row],
    )
