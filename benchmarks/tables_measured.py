"""Tables of measured data and of problems that are drawn at random."""

from pathlib import Path
from statistics import geometric_mean

from table_text import all_measured_on, as_row, as_table, measured_on

from pgt_bench.generator.comparison import NEAR, TOO_LARGE, TOO_SMALL, Line, read

SETS = {
    "oude_korendijk": "pumping test, Oude Korendijk (2 wells)",
    "dalem": "pumping test, Dalem, leaky (4 wells)",
    "sand_column": "tracer in a sand column, 17 cm predicted",
    "lynx_hare": "lynx and hare, log-normal noise",
    "stream_bed_fitted": "stream bed, 13 days, three depths fitted",
    "stream_bed_predicted": "stream bed, 13 days, 10 and 30 cm predicted",
}
GROUPS = {"tuning": "seeds below 1000, for tuning", "reporting": "seeds from 1000 on"}


def measured_table(found: dict) -> str | None:
    """Fits of measured data, beside least squares on a classical solution and published figures."""
    if "measured" not in found:
        return None
    result = found["measured"]
    rows = [
        as_row(name, _intervals(one["ours"]), _intervals(one["least_squares"]), _published(one),
               f"{one['ours']['rmse']:.3g} / {one['least_squares']['rmse']:.3g}",
               f"{one['ours']['coverage']:.2f}", f"{one['ours']['seconds']:.0f}",
               measured_on(result["provenance"]))
        for key, name in SETS.items() if (one := result["sets"].get(key))
    ]  # fmt: skip
    return as_table(
        "Measurements of others (`benchmarks/measured.py` names the sources), all defaults with a limit "
        "of 60 seconds, beside least squares on a classical solution or finite differences. Intervals "
        "hold 90 %; coverage is the share of readings in bands that are to hold 90 % of new readings:",
        "| data | ours | least squares | published | RMSE, ours / least squares | coverage | s | "
        "measured on |",
        rows,
    )  # fmt: skip


def _intervals(one: dict) -> str:
    found = one.get("intervals", {})
    return ", ".join(f"{n} {v[1]:.3g} ({v[0]:.3g} to {v[2]:.3g})" for n, v in found.items()) or "–"


def _published(one: dict) -> str:
    numbers = {n: v for n, v in one["published"].items() if n != "by"}
    shown = {
        n: f"{v[0]:.3g} ± {v[1]:.2g}" if isinstance(v, list) else f"{v:.4g}"
        for n, v in numbers.items()
    }
    return ", ".join(f"{n} {text}" for n, text in shown.items())


def survey_table(found: dict) -> str | None:
    """The fit of an aeromagnetic survey by equivalent sources, beside other methods in the same run."""
    survey = found.get("measured", {}).get("sets", {}).get("rio_magnetic")
    if survey is None:
        return None
    names = {
        "ours": "equivalent sources, noise and scale by evidence",
        "verde_spline": "spline of verde",
        "gaussian_process": "Gaussian process of scikit-learn, 1000 readings",
    }
    rows = [
        as_row(name, f"{one['rmse']:.1f}", f"{one['median_error']:.1f}",
               f"{one['coverage']:.2f}" if "coverage" in one else "–", f"{one['seconds']:.0f}")
        for key, name in names.items() for one in [survey[key]]
    ]  # fmt: skip
    where = measured_on(found["measured"]["provenance"])
    return as_table(
        "Aeromagnetic survey, tie lines predicted from the other lines, in nT. A part of the tie lines "
        f"disagrees with lines beside them, which no method follows ({where}):",
        "| answered by | RMSE | median error | coverage of 90 % bands | s |",
        rows,
    )


def discovery_table(found: dict) -> str | None:
    """What `pgt discover` finds of equations that lack a term."""
    if "discovery" not in found:
        return None
    result = found["discovery"]
    rows = [
        as_row(name, f"`{one['missing']['law']}`",
               f"{one['missing']['truth']['coefficient']:.4g} `{one['missing']['truth']['text']}`",
               _terms(one["missing"]["terms"]),
               "none" if one["complete"]["is_left_alone"] else "some",
               f"{one['missing']['cpu_seconds']:.0f}")
        for name, one in result["cases"].items()
    ]  # fmt: skip
    where = measured_on(result["provenance"])
    return as_table(
        "Equations without one of their terms, from 200 readings with 2 % noise; nothing is known of "
        "initial and boundary values. The tenth equation of `benchmarks/discovery.py`, a growing surface "
        f"(`u_x^2`), was not finished after eight minutes and is not in the table ({where}):",
        "| case | equation | missing term | found | false terms of the complete equation | CPU s |",
        rows,
    )


def _terms(found: list[dict]) -> str:
    return ", ".join(f"{one['coefficient']:.4g} `{one['text']}`" for one in found) or "none"


def generated_table(folder: Path) -> str | None:
    """Problems that are drawn from seeds: those that defaults may be tuned on, and the others."""
    rows = [
        _generated_row(name, [Line(record) for record in read(folder / f"{key}.jsonl")])
        for key, name in GROUPS.items() if (folder / f"{key}.jsonl").exists()
    ]  # fmt: skip
    return as_table(
        "Problems drawn from seeds (`benchmarks/generated.py`): many kinds of equations, noise of 0 to "
        "10 %, scattered, clustered or fixed sensors, known and unknown conditions; 30 seconds each on "
        "two cores, beside interpolation by radial basis functions alone. Seeds from 1045 and 121 on, "
        "and nine that failed at the first commit, were run at the second one, which mends the failures:",
        "| problems | ahead | geometric mean of our error over the other | stated error within 2 × | "
        "over 3 × too small / 5 × too large | failed | measured on |",
        rows,
    )  # fmt: skip


def _generated_row(name: str, lines: list[Line]) -> str:
    ratios = [line.ratio for line in lines if line.ratio is not None]
    factors = [factor for line in lines for factor in line.stated_over_true.values()]

    def share(count: int) -> str:
        return f"{100 * count / len(factors):.0f} %"

    small, large = (sum(f < 1 / TOO_SMALL for f in factors), sum(f > TOO_LARGE for f in factors))
    return as_row(
        name, f"{sum(line.is_ahead for line in lines)} of {len(lines)}", f"{geometric_mean(ratios):.1e}",
        share(sum(1 / NEAR < f < NEAR for f in factors)),
        f"{share(small)} / {share(large)}",
        str(sum(line.error is None for line in lines)), all_measured_on([line.record for line in lines]),
    )  # fmt: skip
