"""`pgt live`: a field that follows readings as they arrive."""

import sys
from contextlib import ExitStack
from io import TextIOBase
from pathlib import Path
from typing import Annotated

import typer

from pgt.cli.console import console, mistakes_are_messages
from pgt.cli.interrupt import finishing

STANDARD_INPUT = "-"
TABLE, FIELD = "updates.csv", "field.nc"


def live(
    run_file: Annotated[Path, typer.Argument(help="A run file: equation, domain, conditions.")],
    readings: Annotated[
        str,
        typer.Argument(help="A table that grows, its first line the heading; - is standard input."),
    ],
    length: Annotated[
        float, typer.Option(help="How much time the window holds, in the unit of t.")
    ],
    horizon: Annotated[float, typer.Option(help="How far ahead the forecast is.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for everything.")] = Path(
        "runs/live"
    ),
    every: Annotated[int, typer.Option(min=1, help="Readings between two updates.")] = 50,
    max_readings: Annotated[int, typer.Option(min=24, help="The most that a window holds.")] = 2000,
    idle: Annotated[
        float | None, typer.Option(min=0.0, help="End after so many seconds without a reading.")
    ] = None,
) -> None:
    """Follow a table that grows: the field over the last stretch of time, and a forecast. Ctrl-C, or the
    end of standard input, writes the result and ends."""
    printed = console()
    with mistakes_are_messages(), ExitStack() as stack:
        is_stopped = stack.enter_context(finishing("Finishing; Ctrl-C again stops at once."))
        from pgt.config import load_run
        from pgt.core.errors import InputError
        from pgt.core.files import require_writable
        from pgt.live.following import chunks, read_lines
        from pgt.live.window import Window

        run = load_run(run_file)
        require_writable(output)
        follows = readings != STANDARD_INPUT
        source = stack.enter_context(_opened(readings)) if follows else sys.stdin
        table = stack.enter_context((output / TABLE).open("w", encoding="utf-8"))
        heading, window = "", None
        try:
            for lines in chunks(source.readline, every, is_stopped, follows=follows, idle=idle):
                heading, lines = (heading, lines) if heading else (lines[0], lines[1:])
                if not lines:
                    continue
                parts, new = read_lines(run, heading, lines)
                if window is None:
                    settings = {"method": run.method, "training": parts.training, "seed": run.seed}
                    window = Window(
                        parts.pde, parts.domain, parts.conditions, length=length, horizon=horizon,
                        max_readings=max_readings, model=run.model, **settings,
                    )  # fmt: skip
                window.add(new)
                if (forecast := window.forecast()) is not None:
                    _tell(window, forecast, table, printed)
        except KeyboardInterrupt:  # where `pgt` is a part of another program
            pass
        if window is None or window.result is None:
            raise InputError(f"{readings}: too few readings for a field; nothing is written.")
        window.result.save(output)
        window.result.to_netcdf(output / FIELD, progress=False)
    printed.print(f"written to {output}: {FIELD}, {TABLE} and the fit", soft_wrap=True)


def _opened(path: str) -> TextIOBase:
    return open(path, encoding="utf-8-sig")


def _tell(window, forecast, table: TextIOBase, printed) -> None:
    """One line on the terminal and one row of the table for an update."""
    from pgt.core.numbers import percent

    result, names = window.result, list(window.pde.fields)
    count = len(result.observations) + len(result.held_out)
    stated = {name: error.value for name, error in result.field_error.items()}
    if not table.tell():
        columns = [f"{name}_{kind}" for kind in ("error", "forecast_error") for name in names]
        table.write(",".join(["t", "readings", "forecast_t", *columns]) + "\n")
    numbers = [window.now, count, forecast.t, *(stated.get(n, float("nan")) for n in names)]
    numbers += [forecast.error[n] for n in names]
    table.write(",".join(f"{number:.10g}" for number in numbers) + "\n")
    table.flush()
    errors = ", ".join(f"{name} {percent(value)}" for name, value in stated.items())
    ahead = ", ".join(f"{name} ± {error:.3g}" for name, error in forecast.error.items())
    printed.print(
        f"t = {window.now:.6g}: {count} readings, error {errors}; at t = {forecast.t:.6g}: {ahead}",
        soft_wrap=True, highlight=False,
    )  # fmt: skip
