"""A result at a glance: a few lines, a figure, a page."""

import difflib
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from pgt.ground.attempts import Attempts
from pgt.ground.numbers import number
from pgt.models.linearised import network_of
from pgt.physics.bordered import bare
from pgt.physics.names import own_names, rewritten
from pgt.reconstruction.evidence import descent_of
from pgt.reconstruction.learnt import known_intervals
from pgt.trust.convergence import convergence

if TYPE_CHECKING:
    from pgt.reconstruction.result import Reconstruction

LONGEST = 100  # characters of an equation in the few lines
MOST_LINES = 4  # of fields or coefficients
CAME_DOWN = {True: "converged", False: "not converged", None: "cannot be told whether it converged"}


def in_brief(result: "Reconstruction") -> str:
    """What it is, how it went and how far to trust it, in a few lines."""
    pde, summary = result.pde, result.summary
    model = f"{type(network_of(result.model)).__name__}, {summary.get('parameter_count', 0):,} parameters"
    lines = [
        f"Reconstruction of {', '.join(pde.fields)} over {', '.join(pde.coords)}",
        f"  equation  {equation_text(bare(pde))}",
        f"  readings  {len(result.observations)} fitted, {len(result.held_out)} held out",
        f"  model     {model}, {seconds_of(summary):.1f} s",
        *(
            f"  learnt    {name} = {said}"
            for name, said in list(learnt(result).items())[:MOST_LINES]
        ),
        *_errors(result),
        f"  verdict   {_came_down(result)}; see .verdict(), .doubts, .report()",
    ]
    return "\n".join(lines)


def seconds_of(summary: Mapping) -> float:
    """Of all steps, first and second order."""
    return sum(summary.get(name) or 0.0 for name in ("seconds", "polish_seconds"))


def no_such_name(cls: type, name: str) -> str:
    """What to say of a name that results do not have: which one was perhaps meant.

    >>> no_such_name(type("Field", (), {"suspicious": print}), "suspects")
    "'Field' object has no attribute 'suspects'; did you mean 'suspicious()'?"
    """
    words = [known for known in dir(cls) if not known.startswith("_")]
    close = difflib.get_close_matches(name, words, n=1)
    calls = ["()" if callable(getattr(cls, word)) else "" for word in close]
    hint = "".join(f"; did you mean '{w}{c}'?" for w, c in zip(close, calls, strict=True))
    return f"{cls.__name__!r} object has no attribute {name!r}{hint}"


def _came_down(result: "Reconstruction") -> str:
    return CAME_DOWN[convergence(descent_of(result))[0]]


def equation_text(pde) -> str:
    """The equation as it is written, else its name."""
    about, name = getattr(type(pde), "about", None), type(pde).__name__
    written = "; ".join(getattr(pde, "texts", ()))
    if about and not written:
        written = f"{name}: {rewritten(about.equation, own_names(pde), pde.fields)}"
    text = written or name
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def learnt(result: "Reconstruction") -> dict[str, str]:
    """The learnt coefficients by name, with their intervals where they are known."""
    known = known_intervals(result)
    return {
        name: known[name].in_words if name in known else number(value, 4)
        for name, value in result.parameters.items()
    }


def _errors(result: "Reconstruction") -> list[str]:
    known = list(result.field_error.items())[:MOST_LINES]
    if not known and result.summary.get("held_out_error") is not None:
        return [
            f"  error     {number(result.summary['held_out_error'], 2)} of the spread, held out"
        ]
    return [f"  error     {name}: {error.in_words}"[:120] for name, error in known]


def provenance(result: "Reconstruction") -> dict:
    """What a dataset says of where it comes from."""
    kept = ("version", "seed", "held_out_error")
    record = result.record
    return {
        "source": "physics-guided-transformer",
        "equation": type(bare(result.pde)).__name__,
        **{name: record[name] for name in kept if record.get(name) is not None},
    }


def plot(result: "Reconstruction", name: str | None, axes: Mapping[str, Any]) -> Any:
    """The field on a grid, and the readings."""
    plots = _above("pgt.plots")
    return plots.field(drawable(result.grid(name, **axes)), name, sensors=result.observations)


def report(result: "Reconstruction", path: Path, axes: Mapping[str, Any]) -> Path:
    """The page that a run from a run file leaves."""
    attempts, field = Attempts(), result.grid(**axes)
    data = _above("pgt.runs.report").report_data(result, field, attempts=attempts)
    written = _above("pgt.report").write_report(data, path, attempts)
    attempts.warn()
    return written


def drawable(field: xr.Dataset) -> xr.Dataset:
    """A figure shows two axes at most: of further ones the middle; and the fields, not their spread."""
    names = [n for n in field.data_vars if not str(n).endswith("_std")]
    spare = [axis for axis in ("t", "z", "y") if axis in field.dims][: max(len(field.dims) - 2, 0)]
    return field[names].isel({axis: field.sizes[axis] // 2 for axis in spare})


def _above(name: str):
    """A module that is built upon this one: fetched when it is asked for, for the core does without."""
    return importlib.import_module(name)
