"""The page: sections of HTML around the words, charts and maps, in one file that needs no other."""

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from pgt.core.attempts import Attempts, Strict
from pgt.core.doubt import Doubt
from pgt.core.errors import InputError
from pgt.core.files import in_one_piece
from pgt.core.numbers import listed, number, percent
from pgt.core.stage import Stage, stages_of
from pgt.report.charts import agreement_chart, line_chart
from pgt.report.contents import ReportData, written
from pgt.report.payload import payload, script_json
from pgt.report.sentences import (
    beside_interpolation,
    expected_errors,
    how_it_was_judged,
    interpolated_errors,
    is_left_out_in_turn,
    ranges,
    relative_errors,
    what_was_inferred,
    what_was_measured,
    which_model,
)


def all_sections(data: ReportData, attempts: Attempts) -> list[tuple[str, str, str]]:
    """Name, heading and HTML of every section that has something to show; of one that fails, why."""
    found = []
    for name, heading, make in (
        ("summary", "Summary", summary),
        ("field", "Field", lambda data: viewer("field")),
        ("held-out", "Held-out readings", agreement),
        ("error-bars", "Error bars", error_bars),
        ("residual", "Residual", residual),
        ("training", "Training", training),
        ("coefficients", "Coefficients", coefficients),
        ("run", "Reproduce", reproduce),
    ):
        body = attempts(f"{heading} in the report", partial(make, data))
        if body is None:
            body = f'<div class="doubts" role="note">{_paragraph(attempts.failures[-1])}</div>'
        found.append((name, heading, body))
    return [section for section in found if section[2]]


def summary(data: ReportData) -> str:
    verdict, tables = data.verdict, data.tables
    answer = {True: "Yes.", False: "No.", None: "Unknown."}[verdict.converged]
    parts = [
        _equation(data),
        _cards(data),
        *(_paragraph(sentence) for sentence in expected_errors(verdict)),
        _doubts(verdict.doubts),
        "<h3>What was measured</h3>",
        _paragraph(what_was_measured(data)),
        _measured_table(data),
        "<h3>What was inferred</h3>",
        _paragraph(" ".join(filter(None, (what_was_inferred(data), which_model(data.summary))))),
        "<h3>Did it converge?</h3>",
        _paragraph(f"{answer} {verdict.reason}"),
        _stage_table(stages_of(data.summary)),
        "<h3>How far to trust it</h3>",
        _paragraph(how_it_was_judged(data)) if verdict.held_out else "",
        _misfit_table(data),
        _suspicion_table("Suspicious readings", tables.suspicious),
        _suspicion_table("Drifting sensors", tables.drifting),
    ]
    return "".join(parts)


def viewer(name: str) -> str:
    """The place where the script puts its maps."""
    return f'<div class="viewer" data-viewer="{name}"></div>'


def agreement(data: ReportData) -> str:
    charts, in_turn = [], is_left_out_in_turn(data.verdict, data.fitted, data.held_out)
    kind = "readings, each left out in turn" if in_turn else "held-out readings"
    for name, found in data.verdict.held_out.items():
        chart = agreement_chart(*data.readings.pairs(name), name, data.unit(name))
        charts.append(_figure(chart, f"{name} at {found.readings} {kind}"))
    if not charts:
        return ""
    is_one_fit = data.verdict.folds is None
    which = "was not fitted" if is_one_fit else "the fit that predicts it did not see"
    if in_turn:
        which = "its own prediction does not rest on"
    before = (
        f"Each dot is a reading that {which}: what the sensor measured, and what the field says "
        "there. On the dashed line both agree."
    )
    return _paragraph(before) + f'<div class="charts">{"".join(charts)}</div>'


def error_bars(data: ReportData) -> str:
    coverage = data.tables.coverage
    if coverage is None:
        return ""
    rows = []
    for name in coverage["field"].to_numpy():
        at = coverage.sel(field=name)
        unit = data.unit(str(name))
        for level in at["level"].to_numpy():
            one = at.sel(level=level)
            shares = [percent(float(one[key])) for key in ("coverage", "uncalibrated")]
            rows.append(
                [
                    f"{name}, {percent(float(level))}",
                    *shares,
                    number(float(one["width"]), unit=unit),
                ]
            )
    before = (
        "How many readings, held out or left out in turn, lie inside bands of each level. The bands are "
        "calibrated on others of them, so the second column should be close to the first; without that, "
        "with the spread of the members and the noise as they are, it would be the third."
    )
    heads = ["band", "readings inside", "not calibrated", "width"]
    return _paragraph(before) + _table(heads, rows)


def residual(data: ReportData) -> str:
    if data.residual is None:
        return ""
    rows = []
    for name, array in data.residual.data_vars.items():
        values = array.to_numpy().astype(float)
        finite = values[np.isfinite(values)]
        sizes = (
            (np.sqrt(np.mean(finite**2)), np.abs(finite).max()) if finite.size else (np.nan,) * 2
        )
        unit = written(array.attrs.get("units", ""))
        rows.append([str(name), *(number(size, unit=unit) for size in sizes)])
    before = (
        "What is left of each equation when the field is put into it, in physical units: 0 where the "
        "equation holds exactly. Large values show where the field follows the readings against it."
    )
    table = _table(["equation", "root mean square", "largest"], rows)
    return _paragraph(before) + table + viewer("residual")


def training(data: ReportData) -> str:
    history = data.history
    steps = history["step"].to_numpy()
    lines = {name: (steps, column) for name, column in _columns(history["loss"], "term").items()}
    if len(data.held_out):  # last: the terms keep their colors
        lines["held-out error"] = (steps, history["held_out"].to_numpy())
    course = line_chart(lines, "step", "held-out error, losses")
    of_course = "Held-out error and unweighted loss terms, in units of the fields’ spread."
    stages = _figure(_costs(stages_of(data.summary)), OF_STAGES)
    charts = _figure(course, of_course) + stages
    return f'<div class="charts">{charts}</div>' if charts else ""


OF_STAGES = (
    "Cost of the least-squares fit. Each stage minimizes something else, so that its curve is no "
    "continuation of the one before."
)


def _costs(stages: Sequence[Stage]) -> str:
    """The costs of all stages, one after the other."""
    lines, start = {}, 0
    for number_of_stage, stage in enumerate(stages, 1):
        name = stage.name if len(stages) == 1 else f"{number_of_stage}. {stage.name}"
        lines[name] = (np.arange(start, start + len(stage.costs)), np.array(stage.costs))
        start += stage.iterations
    return line_chart(lines, "iteration", "cost")


def coefficients(data: ReportData) -> str:
    learnt = data.tables.coefficients
    if not learnt:
        return ""
    rows = []
    for name, (value, interval) in learnt.items():
        bounds = (
            "not estimated" if interval is None else " to ".join(number(v, 4) for v in interval)
        )
        rows.append([name, number(value, 4), bounds])
    charts, steps = "", data.history["step"].to_numpy()
    for name, values in _columns(data.history["coefficient"], "unknown").items():
        line = line_chart({name: (steps, values)}, "step", name, log=False)
        charts += _figure(line, f"{name} while it was learnt")
    level = data.tables.level
    interval = "interval" if level is None else f"interval of {percent(level)}"
    return _table(["coefficient", "learnt value", interval], rows) + (
        f'<div class="charts">{charts}</div>' if charts else ""
    )


def reproduce(data: ReportData) -> str:
    keys = ("version", "jax", "device", "seed", "parameter_count", "seconds", "polish_seconds")
    rows = [
        [key.replace("_", " "), _plain(data.summary[key])] for key in keys if key in data.summary
    ]
    settings = data.summary.get("training") or {}
    parts = [_table(["", ""], rows, heading=False)]
    if isinstance(settings, dict) and settings:
        listing = "\n".join(f"{name} = {_plain(value)}" for name, value in settings.items())
        parts.append(_details("Training settings", listing))
    if data.run_file:
        parts.append(_details("Run file", data.run_file))
    return "".join(parts) if rows or len(parts) > 1 else ""


def _columns(table: xr.DataArray, over: str) -> dict[str, np.ndarray]:
    """A column of the history for every name along this dimension."""
    names = [str(name) for name in table[over].to_numpy()]
    return dict(zip(names, table.transpose(over, "step").to_numpy(), strict=True))


def _equation(data: ReportData) -> str:
    """The equation with its coefficients, where it was written down."""
    text = data.summary.get("equation")
    return f'<p class="equation">{escape(text)}</p>' if isinstance(text, str) and text else ""


def _cards(data: ReportData) -> str:
    took = [data.summary.get(key) for key in ("seconds", "polish_seconds")]
    seconds = sum(t for t in took if isinstance(t, int | float))
    expected = [
        f"{name} {percent(error.value)}{' (doubtful)' if error.doubted else ''}"
        for name, error in data.verdict.field_error.items()
    ]
    cards = [
        ("expected error, whole domain", listed(expected) if expected else "not known"),
        ("held-out error, of the spread", relative_errors(data) or "not known"),
        ("interpolation instead", interpolated_errors(data) or "not known"),
        ("converged", {True: "yes", False: "no", None: "not known"}[data.verdict.converged]),
        ("readings", f"{len(data.fitted)} fitted, {len(data.held_out)} held out"),
    ]
    if seconds:
        cards.append(("time", number(seconds, 3, "s")))
    items = (f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in cards)
    return f'<dl class="cards">{"".join(items)}</dl>'


def _doubts(found: Sequence[Doubt]) -> str:
    if not found:
        return '<p class="fine">Nothing in these numbers gives cause for doubt.</p>'
    items = "".join(f"<li>{escape(doubt.sentence)}</li>" for doubt in found)
    return f'<div class="doubts" role="note"><h3>Take care</h3><ul>{items}</ul></div>'


def _stage_table(stages: Sequence[Stage]) -> str:
    rows = [
        [
            stage.name,
            str(stage.iterations),
            f"{number(stage.costs[0])} to {number(stage.costs[-1])}",
            number(stage.seconds, 3, "s"),
            stage.reason,
        ]
        for stage in stages
    ]
    return _table(["stage", "iterations", "cost", "time", "ended because"], rows)


def _measured_table(data: ReportData) -> str:
    rows = []
    for m in ranges(data):
        unit = data.unit(m.name)
        noise = number(m.noise, unit=unit) if m.noise else "not given"
        if m.estimated and not m.noise:
            noise = f"{number(m.estimated, unit=unit)} (estimated)"
        extent = f"{number(m.low)} to {number(m.high, unit=unit)}"
        rows.append([m.name, str(m.fitted), str(m.held_out), extent, noise])
    rows += [[name, "0", "0", "never measured", ""] for name in data.hidden]
    return _table(["field", "fitted", "held out", "range of readings", "noise σ"], rows)


def _misfit_table(data: ReportData) -> str:
    rows = []
    for name, found in data.verdict.held_out.items():
        shares = ["" if s is None else percent(s) for s in (found.relative, found.of_spread)]
        error = number(found.rmse, unit=data.unit(name))
        rows.append([name, str(found.readings), error, *shares, beside_interpolation(found)])
    if not rows:
        return _paragraph("No readings were held out, so there is no independent measure of error.")
    in_turn = is_left_out_in_turn(data.verdict, data.fitted, data.held_out)
    which = (
        "each reading as the others predict it" if in_turn else "readings the fit has never seen"
    )
    before = _paragraph(
        f"The error at {which}, as a root mean square; relative to the size of the readings, and to "
        "their spread about the mean; beside it that of interpolation without physics, by a Gaussian "
        "process."
    )
    heads = [
        "field", "readings", "held-out error", "of their size", "of their spread",
        "interpolation without physics",
    ]  # fmt: skip
    return before + _table(heads, rows)


def _suspicion_table(heading: str, table: pd.DataFrame | None) -> str:
    """A table of readings or sensors that the field contradicts, where there are any."""
    if table is None or table.empty:
        return ""
    shown = table.drop(columns=["held_out"], errors="ignore")
    rows = [
        [value if isinstance(value, str) else number(value, 4) for value in row]
        for row in shown.itertuples(index=False)
    ]
    heads = [str(name).replace("_", " ") for name in shown.columns]
    return f"<h3>{escape(heading)}</h3>{_table(heads, rows)}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], heading: bool = True) -> str:
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(c)}</td>" for c in rest)}</tr>'
        for first, *rest in rows
    )
    head = f"<thead><tr>{top}</tr></thead>" if heading else ""
    return f'<div class="scroll"><table>{head}<tbody>{body}</tbody></table></div>' if body else ""


def _figure(chart: str, caption: str) -> str:
    return f"<figure><figcaption>{escape(caption)}</figcaption>{chart}</figure>" if chart else ""


def _details(heading: str, text: str) -> str:
    return f"<details><summary>{escape(heading)}</summary><pre>{escape(text)}</pre></details>"


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _plain(value) -> str:
    if isinstance(value, float):
        return number(value, 4)
    return value if isinstance(value, str) else json.dumps(value, default=str)


# ------------------------------------------------------------------------------- the page

# The page: sections of HTML around the words, charts and maps, in one file that needs no other.


SCRIPTS = ("drawing.js", "picture.js", "viewer.js")
STYLE = "page.css"


def write_report(data: ReportData, path: Path, attempts: Attempts | None = None) -> Path:
    """Write the report as one HTML file that opens offline, whole or not at all.

    The file asks nothing of the network: style, script and data are inside, and its security policy
    forbids everything else.

    Parameters
    ----------
    data : what to show.
    path : the file to write; its folder must exist.
    attempts : keeps what could not be shown; left out, a warning says so.

    Returns
    -------
    The path written.
    """
    path = Path(path)
    tried = Attempts() if attempts is None else attempts
    text = page(data, tried)
    if attempts is None:
        tried.warn()
    try:
        with in_one_piece(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"report: cannot write {str(path)!r}: {error.strerror or error}. Name a file in an "
            "existing folder that you may write to."
        ) from None
    return path


def page(data: ReportData, attempts: Attempts | None = None) -> str:
    """The report as text. With `attempts` a section that fails says so in its place, and the maps stay
    empty where their data fail."""
    attempts = attempts or Strict()
    title = escape(str(data.field.attrs.get("title") or _title(data)))
    style = _asset(STYLE)
    script = "(() => {\n'use strict';\n" + "\n".join(map(_asset, SCRIPTS)) + "\n})();"
    sections = all_sections(data, attempts)
    nothing = {"viewers": {}, "readings": {}, "maps": {}, "walls": []}
    drawn = attempts("the maps in the report", lambda: payload(data), nothing)
    contents = json.dumps(drawn, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><h1>{title}</h1>{_navigation(sections)}</header>
<main id="main">
{"".join(_section(*section) for section in sections)}</main>
<noscript><p class="doubts">The maps are drawn by a script inside this file; allow scripts to see
them. All else is readable without.</p></noscript>
<script type="application/json" id="payload">{script_json(contents)}</script>
<script>{script}</script>
</body>
</html>
"""


def _title(data: ReportData) -> str:
    equation = str(data.field.attrs.get("equation", ""))
    return f"Reconstruction of {listed(data.fields)}" + (f" ({equation})" if equation else "")


def _navigation(sections: Sequence[tuple[str, str, str]]) -> str:
    links = (f'<a href="#{name}">{heading}</a>' for name, heading, _ in sections)
    return f'<nav aria-label="Sections">{"".join(links)}</nav>'


def _section(name: str, heading: str, body: str) -> str:
    title = f'<h2 id="{name}-h">{heading}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-h">{title}{body}</section>\n'


def _policy(style: str, script: str) -> str:
    """Only this style and this script may run, whatever text the data brings; nothing is fetched."""
    return f"default-src 'none'; style-src {_fingerprint([style])}; script-src {_fingerprint([script])}"


def _fingerprint(texts: Iterable[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)


def _asset(name: str) -> str:
    return resources.files("pgt.report").joinpath(name).read_text(encoding="utf-8")
