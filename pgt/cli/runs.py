"""Commands around a run file: init, check, fit, predict, compare, report, info."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from pgt.cli.console import console, mistakes_are_messages, stoppable
from pgt.cli.interrupt import saying
from pgt.core.doubt import INCOMPLETE, NOT_CONVERGED, HeldOutError, Verdict
from pgt.core.errors import InputError

if TYPE_CHECKING:  # help does not wait for JAX
    from pgt.reconstruction.cross_validation import CrossValidation

RunFile = Annotated[Path, typer.Argument(help="A run file, such as `pgt init` writes.")]
RunFolder = Annotated[Path, typer.Argument(help="A folder that `pgt fit` wrote.")]
Set = Annotated[
    list[str], typer.Option("--set", help="Overrule a key of the run file: training.steps=500.")
]


def init(
    equation: Annotated[
        list[str] | None,
        typer.Argument(help='A name such as heat, or text: "u_t = nu*u_xx"; or more files.'),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path(
        "run.toml"
    ),
    files: Annotated[
        list[Path], typer.Option("--from", help="Files of readings to write it from.")
    ] = [],  # noqa: B006
    named: Annotated[
        list[str], typer.Option("--equation", help="The equation, where files are given.")
    ] = [],  # noqa: B006
    sensors: Annotated[
        Path | None, typer.Option(help="A table of the names of sensors and their positions.")
    ] = None,
    columns: Annotated[
        list[str], typer.Option(help='A column that is called differently: x="pos. 1".')
    ] = [],  # noqa: B006
    dialect: Annotated[
        list[str], typer.Option(help='How the files are written: decimal=",".')
    ] = [],  # noqa: B006
) -> None:
    """Write a commented run file for an equation of the library, or for one given as text; with
    --from, from files of readings: coordinates, fields, domain, units and what is hidden."""
    from pgt.core.files import in_one_piece

    with mistakes_are_messages():
        if output.exists():
            raise InputError(f"{output} exists already; name another file with -o.")
        _require_no_run_file(equation or [])
        if files:
            from pgt.runs.init import from_files

            how = {"sensors": sensors, "columns": columns, "dialect": dialect}
            text, summary = from_files(files, equation or [], named, output, **how)
        else:
            from pgt.config.template import template

            words = [*(equation or []), *named]
            if not words:
                raise InputError("name an equation, such as heat, or files with --from.")
            text = template(words if len(words) > 1 else words[0])
            summary = "name your file of readings in it"
        with in_one_piece(output) as path:
            path.write_text(text, encoding="utf-8")
    typer.echo(f"{output}: {summary}, then `pgt check {output}`.")


def _require_no_run_file(words: list[str]) -> None:
    """Raise where the file to write stands in the place of the equation."""
    for word in words:
        if word.endswith(".toml"):
            raise InputError(
                f"{word} is a file, where an equation is expected: `pgt init heat -o {word}` writes it."
            )


def check(
    run_file: RunFile,
    overrides: Set = [],  # noqa: B006
) -> None:
    """Read everything, train nothing: ranges, units, coverage, what is hidden and what is learnt,
    and the plan of the fit."""
    from pgt.config import load_run

    with mistakes_are_messages():
        run = load_run(run_file, overrides)
        from pgt.runs.check import describe, draw, prepare

        if picture := draw(run):
            typer.echo(f"{picture}: the shape, its walls and the readings.", err=True)
        parts, plan = prepare(run)
        rows = describe(run, parts, plan)
    console().print(_two_columns(rows, str(run_file)))


def fit(
    run_file: RunFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for everything.")] = Path(
        "runs/fit"
    ),
    overrides: Set = [],  # noqa: B006
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run that stopped.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Begin anew where the folder holds a run.")
    ] = False,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=0.0, help="Train for this long, every fit.")
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option("--folds", min=2, help="Fit this many times more, to predict every reading."),
    ] = None,
    devices: Annotated[
        int | None,
        typer.Option("--devices", min=1, help="Share the rows over so many devices; default: all."),
    ] = None,
) -> None:
    """Reconstruct the field: the fit, a NetCDF file, figures, numbers and a report in one folder."""
    from pgt.config import load_run

    printed = console()
    if devices is not None:
        overrides = [*overrides, f"training.devices={devices}"]
    again = _again(run_file, output, overrides, seconds, folds)
    with mistakes_are_messages(), saying(lambda: "Stopped before it began."):
        run = load_run(run_file, overrides)
        from pgt.reconstruction.display import coefficient_texts
        from pgt.reconstruction.estimates import known_intervals
        from pgt.report.sentences import (
            expected_errors,
            how_it_ended,
            is_left_out_in_turn,
            which_model,
        )
        from pgt.runs.fit import fit as fit_run
        from pgt.runs.folder import is_begun

        saved = f"Stopped; continue with: {again}"
        with stoppable(lambda: saved if is_begun(output) else "Stopped; nothing was saved yet."):
            result, verdict, crossed, failures = fit_run(
                run, output, resume=resume, seconds=seconds, say=printed.print, folds=folds,
                overwrite=overwrite,
            )  # fmt: skip
    coefficients = [
        f"Learnt: {name} = {value}." for name, value in coefficient_texts(result).items()
    ]
    if coefficients and not known_intervals(result):
        coefficients.append('For their intervals write a table [error_bars], name = "ensemble".')
    outcome = which_model(result.summary), how_it_ended(result.summary)
    for line in (*expected_errors(verdict), *coefficients, *outcome):
        printed.print(line, soft_wrap=True, highlight=False)
    in_turn = is_left_out_in_turn(verdict, result.observations, result.held_out)
    if len(result.observations):
        printed.print(_held_out(verdict, crossed, in_turn))
    for doubt in verdict.doubts:
        printed.print(f"Note: {doubt.sentence}", style="yellow", soft_wrap=True)
    _require_all(failures, f"the fit itself is saved in {output}.")
    if verdict.exit_code:
        why = "did not converge" if verdict.exit_code == NOT_CONVERGED else "is not to be trusted"
        console(stderr=True).print(f"pgt: the fit {why}.", style="red")
        raise typer.Exit(verdict.exit_code)


def predict(
    folder: RunFolder,
    output: Annotated[Path, typer.Option("--output", "-o", help=".nc, .zarr, .csv or .vtr file.")],
    grid: Annotated[
        str | None,
        typer.Option(help="Per axis how many positions, x=101, or a range of them, t=0:1:11."),
    ] = None,
    at: Annotated[
        str | None, typer.Option(help="Axes that are held at one position, t=0.5, or at a date.")
    ] = None,
    points: Annotated[Path | None, typer.Option(help="A file with columns of coordinates.")] = None,
    quantities: Annotated[
        str, typer.Option(help="Fields, derivatives or vorticity, separated by commas.")
    ] = "",
) -> None:
    """Evaluate a fit on a grid or at points, derived quantities included."""
    from pgt.runs.predict import predict as predict_run

    with mistakes_are_messages():
        names = tuple(filter(None, quantities.split(",")))
        typer.echo(predict_run(folder, output, grid, points, names, at))


def compare(
    truth: Annotated[Path, typer.Argument(help="A NetCDF file with the field to compare with.")],
    estimate: Annotated[Path, typer.Argument(help="A NetCDF file on the same grid.")],
) -> None:
    """Errors between two fields."""
    from pgt import io, metrics

    with mistakes_are_messages():
        found = metrics.compare(io.read_field(truth), io.read_field(estimate))
    table = Table()
    for name in ("field", "relative L2", "rms error", "largest error"):
        table.add_column(name, justify="left" if name == "field" else "right")
    for name, error in found["relative_l2"].items():
        row = (error, found["rmse"][name], found["max_error"][name])
        table.add_row(name, *(f"{value:.3e}" for value in row))
    table.add_row("all, as one vector", f"{found['overall']['stacked']:.3e}", "", "")
    console().print(table)


def report(folder: RunFolder) -> None:
    """Write the report of a run again: one HTML page that opens offline."""
    from pgt.core.attempts import Attempts
    from pgt.runs.predict import rewrite_report

    attempts = Attempts()
    with mistakes_are_messages():
        typer.echo(rewrite_report(folder, attempts))
    _require_all(attempts.failures, "the rest of the report is written.")


def info(folder: RunFolder) -> None:
    """Describe a run: its equation and readings, the fit and how far to trust it."""
    from pgt.runs.predict import info as describe

    with mistakes_are_messages():
        rows = describe(folder)
    console().print(_two_columns(rows, str(folder)))


def _require_all(failures: Sequence[str], but: str) -> None:
    """Name the outputs that could not be made, and end with their exit code where there are any."""
    for failure in [*failures, but] if failures else []:
        console(stderr=True).print(f"pgt: {failure}", style="red", soft_wrap=True)
    if failures:
        raise typer.Exit(INCOMPLETE)


def _two_columns(rows: Sequence[tuple[str, str]], title: str) -> Table:
    table = Table(title=title, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _again(
    run_file: Path, output: Path, overrides: Sequence[str], seconds: float | None, folds: int | None
) -> str:
    """The command that continues a run, with the same overrides, without which it is another run."""
    words = ["pgt", "fit", str(run_file), "-o", str(output), "--resume"]
    words += [word for override in overrides for word in ("--set", override)]
    words += ["--seconds", str(seconds)] if seconds is not None else []
    return shlex.join(words + (["--folds", str(folds)] if folds is not None else []))


def _held_out(verdict: Verdict, folds: "CrossValidation | None", in_turn: bool) -> Table:
    unseen = "Readings that were not fitted"
    if in_turn:
        unseen = "Each reading predicted from all the others (leave-one-out)"
    if folds is not None:
        unseen = f"{folds.folds}-fold: each reading predicted by a fit that did not see it"
    spread = () if folds is None else ("± over folds",)
    table = Table(title=unseen)
    for name in (
        "field",
        "readings",
        "rms error",
        "of spread",
        *spread,
        "interpolation, of spread",
    ):
        table.add_column(name, justify="left" if name == "field" else "right")
    for name, found in verdict.held_out.items():
        numbers = [found.rmse, found.of_spread, found.interpolated_of_spread]
        if folds is not None:
            numbers.insert(2, _of_spread(folds.errors[name].spread, found))
        shown = ("" if value is None else f"{value:.1e}" for value in numbers)
        table.add_row(name, str(found.readings), *shown)
    return table


def _of_spread(relative: float | None, found: HeldOutError) -> float | None:
    """An error over the size of the readings, as one over their spread."""
    if relative is None or not found.relative or found.of_spread is None:
        return None
    return relative * found.of_spread / found.relative
