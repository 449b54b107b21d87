"""Tables about families: networks trained over them, and what their laws allow."""

from table_text import as_row, as_table, measured_on

YARDSTICK = ("zero-shot", "refined", "floor", "interpolated")


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
        f"seen, {result['readings']} scattered readings of each, answered by the law of the family "
        "where it can: median of the relative error (worst tenth), that of the network alone and of a "
        "Gaussian process without the equation, and the share of the field inside bands of 90 %; the "
        "time of one answer with its band on 64 × 64 points, where the machine had nothing else to do:",
        "| family | clean | 5 % noise | one answer | measured on |",
        rows,
    )


def _milliseconds(family: dict) -> str:
    """Not there where the machine was busy."""
    return f"{family['milliseconds']:.0f} ms" if "milliseconds" in family else "–"


def _scored(row: dict) -> str:
    errors = f"{row['median']:.1e} ({row['tenth']:.1e})"
    errors += f"; network {row['network']:.1e}" if "network" in row else ""
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
            said = [_said(methods, label) for label in YARDSTICK]
            others = [published(who, name, direction) for who in result["published"].values()]
            counts = [row["systems"] for label, row in methods.items() if label != "interpolated"]
            systems = str(min(counts))
            rows.append(as_row(f"{name}, {direction}", systems, *said, *others, measured_on(law)))
    return as_table(
        f"The public yardstick: {result['nodes']} × {result['nodes']} nodes, {result['readings']} "
        "of them read, laws of DiffusionPDE, draws of our own. Forward: the source or the state "
        "at the start is read and the field scored; inverse: the reverse; Burgers: five sensors "
        "at 128 times. Relative error in %, median (worst tenth), and seconds: of a system, and "
        "of the next one that is read at the same places. The floor knows "
        "the law and the solver, and so does the answer at once, in closed form; for Burgers "
        "that is what the network of the library says. Refined: the flow at the start by a few "
        "second-order steps from there, seconds counted from the readings on. Published ones are as "
        "their authors print them "
        f"({'; '.join(who['where'] for who in result['published'].values())}):",
        "| law | systems | at once | refined | floor | interpolated | "
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


def published(who: dict, law: str, direction: str) -> str:
    """Forward and inverse stand together, one number alone."""
    numbers = who.get(law, "–")
    return str(numbers[direction == "inverse"] if isinstance(numbers, list) else numbers)


def wakes_table(found: dict) -> str | None:
    if "wakes" not in found:
        return None
    result, rows = found["wakes"], []
    for case, kinds in result["cases"].items():
        for kind, scores in kinds.items():
            cells = (
                " / ".join(f"{100 * scores[label][name]['median']:.2g}" for name in "uvp")
                for label in ("clean", "noise")
            )
            took = f"{result['milliseconds'][kind]:.0f} ms"
            rows.append(as_row(case, kind, *cells, took, measured_on(result)))
    beside = result["simulated"]["flows"]["100"]["beside the packaged"]
    return as_table(
        f"The wake of a cylinder at Re = 100 from simulations of our own at Re = 40 to 140 without it "
        f"(`benchmarks/wakes`): {result['sensors']} sensors read u and v at one instant and four before, "
        f"within {result['span']:g} units of time; relative error of u / v / p in % at that instant, "
        f"median of {result['systems']} phases and sets of sensors. Our simulation has "
        f"{result['simulated']['cells']} cells to a diameter and a Strouhal number of "
        f"{beside['strouhal']:.4f}; the packaged one, by finite elements, has "
        f"{beside['strouhal of the packaged']:.4f}, and ours is apart from it by "
        f"{100 * beside['u']:.2g} / {100 * beside['v']:.2g} / {100 * beside['p']:.2g} % of u / v / p:",
        "| readings of | by | clean | 5 % noise | one answer | measured on |",
        rows,
    )


def throughput_table(found: dict) -> str | None:
    if "throughput" not in found:
        return None
    result = found["throughput"]
    # Records of before the law answered have the networks' rates alone.
    alone = result.get("networks", result["families"])
    by_law = result["families"] if "networks" in result else {}
    rows = [
        as_row(
            f"`{name}`", batch, *([f"{by_law[name][batch]:.0f}"] if by_law else []), f"{rate:.0f}",
            measured_on(result),
        )
        for name, rates in alone.items()
        for batch, rate in rates.items()
    ]  # fmt: skip
    told = "| family | systems a call | systems a second |"
    return as_table(
        f"How many systems a second the same networks answer, {result['readings']} readings of each in "
        f"and fields with bands at {result['across']} × {result['across']} points out:",
        f"{told} the network alone | measured on |" if by_law else f"{told} measured on |",
        rows,
    )
