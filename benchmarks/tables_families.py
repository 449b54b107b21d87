"""Tables about families: networks trained over them, and what their laws allow."""

from table_text import as_row, as_table, measured_on

YARDSTICK = ("zero-shot", "floor", "interpolated")


LAW, NETWORK, PROCESS = "law and solver", "network", "Gaussian process, no equation"


def pretrained_table(found: dict) -> str | None:
    """A row for each of those that answer: nothing of one stands in the row of another."""
    if "pretrained" not in found:
        return None
    result = found["pretrained"]
    rows = [
        as_row(
            f"`{name}`", who, *said, measured_on(family if "commit" in family else result)
        )
        for name, family in result["families"].items()
        for who, said in _answers(family).items()
    ]  # fmt: skip
    return as_table(
        f"Pretrained families, each on {result['systems']} systems drawn from the family that were not "
        f"trained on, {result['readings']} scattered readings of each. The default answer comes from "
        "the law of the family and its solver, which also made the truth; the network that comes with "
        "the library answers with `law=False`. Median of the relative error (worst tenth), share of the "
        "field inside bands of 90 %, and the time of one answer with its band on 64 × 64 points. A dash "
        "was not measured:",
        "| family | answered by | clean | inside | 5 % noise | inside | one answer | measured on |",
        rows,
    )


def _answers(family: dict) -> dict[str, list[str]]:
    """Errors on clean and noisy readings, shares inside bands, and milliseconds, by who answered."""
    kinds = [family[kind] for kind in ("clean", "noise")]
    took = f"{family['milliseconds']:.0f} ms" if "milliseconds" in family else "–"
    law = [cell for row in kinds for cell in (_median_and_tenth(row), f"{row['inside']:.2f}")]
    process = [cell for row in kinds for cell in (f"{row['gp']:.1e}", "–")]
    answers = {LAW: [*law, took], PROCESS: [*process, "–"]}
    if all("network" in row for row in kinds):
        alone = [c for row in kinds for c in (network_error(row), _inside_of_network(row))]
        answers = {LAW: answers[LAW], NETWORK: [*alone, "–"], PROCESS: answers[PROCESS]}
    return answers


def _median_and_tenth(row: dict) -> str:
    return f"{row['median']:.1e} ({row['tenth']:.1e})"


def network_error(row: dict) -> str:
    """The median error of the network itself: `median` is that of the law, where it answers."""
    return f"{row['network']:.1e}"


def _inside_of_network(row: dict) -> str:
    return f"{row['network inside']:.2f}" if "network inside" in row else "–"


def refined_table(found: dict) -> str | None:
    if "refined" not in found:
        return None
    labels = {
        "at once": "network",
        "from the law": "`assimilate`",
        "from nothing": "`pgt.reconstruct`",
        "from the network": "`pgt.reconstruct` from the network",
    }
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
        "The same networks (without the law) on other systems, beside methods without a network; "
        f"{result['readings']} clean readings of each: median of the relative error and of the seconds, "
        "after one system that compiles. `assimilate`: second-order steps through the solver of the "
        "family to its most probable system. `pgt.reconstruct` knows the equation and not the law, "
        "with all defaults of its commit and a limit of 10 s; from the "
        "network: with the network's answer as its start, where the equation is not linear:",
        f"| family | systems | {' | '.join(labels.values())} | measured on |",
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
            if "network" in methods:
                alone = [_said(methods, "network"), *["–"] * (len(said) + len(others) - 1)]
                rows.append(
                    as_row(f"{name}, {direction}: the pretrained network", systems, *alone,
                           measured_on(law))
                )  # fmt: skip
    return as_table(
        f"The laws of DiffusionPDE: {result['nodes']} × {result['nodes']} nodes, {result['readings']} "
        "of them read. Ours knows the law and its solver, and so the distribution that systems are drawn "
        "from; no network answers but in the last row. The draws are our own: the published numbers, as "
        f"their authors print them ({'; '.join(who['where'] for who in result['published'].values())}), "
        "are of other draws. Forward: the source or the state at the start is read and the field "
        "scored; inverse: the reverse; Burgers: five sensors at 128 times. Relative error in %, median "
        "(worst tenth), and seconds: of a system, and of the next one read at the same places. At once: "
        "a Gaussian conditional in closed form; for Burgers the law of the library's family, in a few "
        "second-order steps. Iterated: second-order steps through the solver; where readings "
        "are linear in what is random, the closed form itself. Interpolated: thin plates, for Burgers a "
        "Gaussian process of 256 of the 640 readings, which the network sees as well:",
        "| law | systems | at once | iterated | interpolated | "
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
    first = "law and solver: systems a second" if by_law else "network: systems a second"
    told = f"| family | systems a call | {first} |"
    return as_table(
        f"How many systems a second the same families answer, {result['readings']} readings of each in "
        f"and fields with bands at {result['across']} × {result['across']} points out:",
        f"{told} network: systems a second | measured on |" if by_law else f"{told} measured on |",
        rows,
    )
