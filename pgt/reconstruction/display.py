"""The display of a result: a few lines of text, a figure, a page, and files of its field on a grid."""

import difflib
import importlib
import math
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from pgt.core.attempts import Attempts
from pgt.core.errors import InputError
from pgt.core.numbers import number
from pgt.core.progress import ProgressBar
from pgt.data.query_points import with_fixed
from pgt.models.linearised import network_of
from pgt.physics.unknown_conditions import bare
from pgt.physics.vectors import own_names, rewritten
from pgt.reconstruction.estimates import known_intervals
from pgt.reconstruction.verdict_evidence import descent_of
from pgt.uncertainty.convergence import convergence

if TYPE_CHECKING:
    from pgt.reconstruction.result import Reconstruction

# The largest length of an equation in the short text; longer ones are cut.
MAX_EQUATION_CHARACTERS = 100
# The largest number of lines for fields and for coefficients in the short text.
MAX_LINES_PER_KIND = 4
CONVERGENCE_WORDS = {
    True: "converged",
    False: "not converged",
    None: "cannot be told whether it converged",
}


def short_text(result: "Reconstruction") -> str:
    """A few lines about the problem, the course of the fit and its error."""
    pde, summary = result.pde, result.summary
    model = f"{type(network_of(result.model)).__name__}, {summary.get('parameter_count', 0):,} parameters"
    lines = [
        f"Reconstruction of {', '.join(pde.fields)} over {', '.join(pde.coords)}",
        f"  equation  {equation_text(bare(pde))}",
        f"  readings  {len(result.observations)} fitted, {len(result.held_out)} held out",
        f"  model     {model}, {seconds_of(summary):.1f} s",
        *(
            f"  learned   {name} = {text}"
            for name, text in list(coefficient_texts(result).items())[:MAX_LINES_PER_KIND]
        ),
        *_error_lines(result),
        f"  verdict   {_convergence_words(result)}; see .verdict(), .doubts, .report()",
    ]
    return "\n".join(lines)


def seconds_of(summary: Mapping) -> float:
    """The seconds of all first-order and second-order steps."""
    return sum(summary.get(name) or 0.0 for name in ("seconds", "polish_seconds"))


def unknown_name_message(cls: type, name: str) -> str:
    """The error message for an attribute that results do not have, with the most similar name.

    >>> unknown_name_message(type("Field", (), {"suspicious": print}), "suspects")
    "'Field' object has no attribute 'suspects'; did you mean 'suspicious()'?"
    """
    names = [attribute for attribute in dir(cls) if not attribute.startswith("_")]
    similar = difflib.get_close_matches(name, names, n=1)
    parentheses = ["()" if callable(getattr(cls, word)) else "" for word in similar]
    hint = "".join(f"; did you mean '{w}{c}'?" for w, c in zip(similar, parentheses, strict=True))
    return f"{cls.__name__!r} object has no attribute {name!r}{hint}"


def _convergence_words(result: "Reconstruction") -> str:
    return CONVERGENCE_WORDS[convergence(descent_of(result))[0]]


def equation_text(pde) -> str:
    """The text of the equation, or else its name."""
    about, name = getattr(type(pde), "about", None), type(pde).__name__
    written = "; ".join(getattr(pde, "texts", ()))
    if about and not written:
        written = f"{name}: {rewritten(about.equation, own_names(pde), pde.fields)}"
    text = written or name
    return (
        text
        if len(text) <= MAX_EQUATION_CHARACTERS
        else text[: MAX_EQUATION_CHARACTERS - 3] + "..."
    )


def coefficient_texts(result: "Reconstruction") -> dict[str, str]:
    """The learned coefficients in words by name, with their intervals if they are known."""
    estimates = known_intervals(result)
    return {
        name: estimates[name].in_words if name in estimates else number(value, 4)
        for name, value in result.parameters.items()
    }


def _error_lines(result: "Reconstruction") -> list[str]:
    errors = list(result.field_error.items())[:MAX_LINES_PER_KIND]
    if not errors and result.summary.get("held_out_error") is not None:
        return [
            f"  error     {number(result.summary['held_out_error'], 2)} of the spread, held out"
        ]
    return [f"  error     {name}: {error.in_words}"[:120] for name, error in errors]


def provenance(result: "Reconstruction") -> dict:
    """The attributes that say which run a dataset comes from."""
    kept = ("version", "seed", "held_out_error")
    record = result.record
    return {
        "source": "physics-guided-transformer",
        "equation": type(bare(result.pde)).__name__,
        **{name: record[name] for name in kept if record.get(name) is not None},
    }


def plot(result: "Reconstruction", name: str | None, axes: Mapping[str, Any]) -> Any:
    """A figure of the field on a grid, with the readings."""
    plots = _import_later("pgt.plots")
    return plots.field(drawable(result.grid(name, **axes)), name, sensors=result.observations)


def report(result: "Reconstruction", path: Path, axes: Mapping[str, Any]) -> Path:
    """The path of the HTML page, after writing it as a run from a run file does."""
    grid_axes = {axis: size for axis, size in axes.items() if axis != "at"}
    fixed_axes = with_fixed(grid_axes, axes.get("at"), result.domain)
    attempts, field = Attempts(), result.grid(**fixed_axes)
    data = _import_later("pgt.runs.report").report_data(result, field, attempts=attempts)
    page = _import_later("pgt.report").write_report(data, path, attempts)
    attempts.warn()
    return page


def write(
    result: "Reconstruction",
    path: Path,
    ending: str | None,
    requested: tuple[Sequence[str] | None, float | Sequence[float] | None],
    at: Mapping[str, Any] | None,
    axes: Mapping[str, Any],
    progress: bool | None = None,
) -> tuple[Path, dict[str, int]]:
    """(path, sizes of the grid) after writing the requested quantities and quantiles on a grid to a file.

    The grid is computed and written part by part, except for VTK files.
    """
    if ending is not None and path.suffix.lower() != ending:
        raise InputError(f"{path}: the name must end in {ending}.")
    writers, evaluation = _import_later("pgt.io.writers"), result.evaluation
    if path.suffix.lower() == ".vtr":
        field = result.grid(*requested, at=at, **axes)
        return writers.write_field(field, path), {str(d): n for d, n in field.sizes.items()}
    sizes, parts = evaluation.grid_parts(axes, evaluation.query(*requested), at)
    total = math.prod(sizes.values())
    if path.parent.is_dir() and (free := shutil.disk_usage(path.parent).free) < 8 * total:
        raise InputError(
            f"{path}: {total:,} points need {8e-9 * total:.3g} GB of disk for each quantity, and "
            f"{1e-9 * free:.3g} GB are free; ask for fewer points."
        )

    def parts_with_progress():
        finished = 0
        for where, part in parts:
            yield where, part
            finished += math.prod(part.sizes.values())
            bar.update("write", finished / total, {})

    with ProgressBar(progress, "write") as bar:
        return writers.write_parts(parts_with_progress(), sizes, path), sizes


def drawable(field: xr.Dataset) -> xr.Dataset:
    """The field without spreads and quantiles, over at most two axes, at the middle of the others."""
    names = [n for n in field.data_vars if not str(n).endswith(("_std", "_quantile"))]
    spare = [axis for axis in ("t", "z", "y") if axis in field.dims][: max(len(field.dims) - 2, 0)]
    return field[names].isel({axis: field.sizes[axis] // 2 for axis in spare})


def _import_later(name: str):
    """A module that imports this one, and so can be imported only when it is used."""
    return importlib.import_module(name)
