"""Tables about families: networks trained over them, and what their laws allow."""

from table_text import as_row, as_table, measured_on

LAW = "law and solver"
YARDSTICK = ("zero-shot", "interpolated")


def pretrained_table(found: dict) -> str | None:
    """A row for each family; nothing of one who answers stands in the column of another."""
    if "pretrained" not in found:
        return None
    result = found["pretrained"]
    rows = [
        as_row(
            f"`{name}`",
            *(f"{family[kind]['median']:.1e}" for kind in KINDS),
            *(network_error(family[kind]) for kind in KINDS),
            *(f"{family[kind]['gp']:.1e}" for kind in KINDS),
            f"{family['milliseconds']:.0f} ms" if "milliseconds" in family else "–",
            measured_on(family if "commit" in family else result),
        )
        for name, family in result["families"].items()
    ]
    who = (LAW, "network", "Gaussian process")
    columns = [f"{name}{kind}" for name in who for kind in ("", ", 5 % noise")]
    return as_table(
        f"Pretrained families, each on {result['systems']} systems that were not trained on, "
        f"{result['readings']} scattered readings of each: median of the relative error. The default "
        "answer comes from the law of the family and its solver, which also made the truth; the network "
        "answers with `law=False`:",
        f"| family | {' | '.join(columns)} | one answer of the law | measured on |",
        rows,
    )


KINDS = ("clean", "noise")


def network_error(row: dict) -> str:
    """The median error of the network itself: `median` is that of the law, where it answers."""
    return f"{row['network']:.1e}" if "network" in row else "–"


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
            if "network" in methods:
                alone = [_said(methods, "network"), *["–"] * (len(said) + len(others) - 1)]
                rows.append(
                    as_row(f"{name}, {direction}: the pretrained network", systems, *alone,
                           measured_on(law))
                )  # fmt: skip
    return as_table(
        f"The laws of DiffusionPDE: {result['nodes']} × {result['nodes']} nodes, {result['readings']} "
        "of them read. Ours knows the law and its solver, and so the distribution that systems are drawn "
        "from; no network answers but in the last row. The published numbers "
        f"({'; '.join(who['where'] for who in result['published'].values())}) are of other draws. "
        "Forward: the source or the state at the start is read and the field scored; inverse: the "
        "reverse; Burgers: five sensors at 128 times. Relative error in %, median (worst tenth):",
        "| law | systems | ours | interpolated without the equation | "
        f"{' | '.join(result['published'])} | measured on |",
        rows,
    )


def _said(methods: dict, label: str) -> str:
    if label not in methods:
        return "–"
    return f"{methods[label]['median']:.2g} ({methods[label]['tenth']:.2g})"


def published(who: dict, law: str, direction: str) -> str:
    """Forward and inverse stand together, one number alone."""
    numbers = who.get(law, "–")
    return str(numbers[direction == "inverse"] if isinstance(numbers, list) else numbers)
