"""The page: sections of HTML around the words, charts and maps, in one file that needs no other."""

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources
from pathlib import Path

from pgt.core.attempts import Attempts, Strict
from pgt.core.errors import InputError
from pgt.core.files import in_one_piece
from pgt.core.numbers import listed
from pgt.report.contents import ReportData
from pgt.report.payload import payload, script_json
from pgt.report.sections import all_sections

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
