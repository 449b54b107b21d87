"""Tables of the README about families: networks trained over them, and what their laws allow."""

from table_text import as_row, as_table, measured_on


def pretrained_table(found: dict) -> str | None:
    if "pretrained" not in found:
        return None
    result = found["pretrained"]
    rows = [
        as_row(
            f"`{name}`",
            *(_scored(family[kind]) for kind in ("clean", "noise")),
            _milliseconds(family),
            measured_on(family if "commit" in family else result),
        )
        for name, family in result["families"].items()
    ]
    return as_table(
        f"Networks that come with the library, each on {result['systems']} systems that it has not "
        f"seen, {result['readings']} scattered readings of each: median of the relative error (worst "
        "tenth), that of a Gaussian process without the equation, and the share of the field inside "
        "bands of 90 %; the time of one answer with its band on 64 × 64 points:",
        "| family | clean | 5 % noise | one answer | measured on |",
        rows,
    )


def _milliseconds(family: dict) -> str:
    """Not there where the machine was busy."""
    return f"{family['milliseconds']:.0f} ms" if "milliseconds" in family else "–"


def _scored(row: dict) -> str:
    errors = f"{row['median']:.1e} ({row['tenth']:.1e})"
    return f"{errors}; Gaussian process {row['gp']:.1e}; inside {row['inside']:.2f}"


def refined_table(found: dict) -> str | None:
    if "refined" not in found:
        return None
    labels = ("at once", "refined", "from the law", "from nothing", "from the network")
    result = found["refined"]
    rows = [
        as_row(
            f"`{name}`",
            str(family["systems"]),
            *(_error_and_seconds(family.get(label)) for label in labels),
            measured_on(family),
        )
        for name, family in result["families"].items()
    ]
    return as_table(
        f"The same networks on other systems, {result['readings']} clean readings of each, and "
        "where their answers lead: median of the relative error and of the seconds, after one "
        "system that compiles. Refined: the most probable system of the family, from the "
        "network's answer; from the law: the same without the network; from nothing: "
        "`pgt.reconstruct` with all defaults and a limit of 10 s, without the law; from the network: "
        "the same, with the network's answer as its start, where the equation is not linear:",
        f"| family | systems | {' | '.join(labels)} | measured on |",
        rows,
    )


def _error_and_seconds(row: dict | None) -> str:
    return f"{row['median']:.1e}, {row['seconds']:.2g} s" if row else "–"


def yardstick_table(found: dict) -> str | None:
    if "yardstick" not in found:
        return None
    result, rows = found["yardstick"], []
    for name, law in result["laws"].items():
        for direction, methods in law["rows"].items():
            said = [_said(methods, label) for label in ("zero-shot", "floor", "interpolated")]
            others = [_published(who, name, direction) for who in result["published"].values()]
            systems = str(min(row["systems"] for row in methods.values()))
            rows.append(as_row(f"{name}, {direction}", systems, *said, *others, measured_on(law)))
    return as_table(
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
