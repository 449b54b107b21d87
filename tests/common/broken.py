"""Deliberately broken inputs: what every test of them needs."""

import json
import typing
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pgt.cli import app
from pgt.runs import fit as fitting

RUN = {
    "seed": 0,
    "observations": {"file": "sensors.csv", "coords": ["x", "t"], "fields": ["u"]},
    "domain": {"x": [0, 1], "t": [0, 1]},
    "pde": {"name": "heat", "diffusivity": 0.01},
}
DATE = "1979-05-27"  # a TOML value that no key takes


def bare(key: str) -> str:
    """A key as TOML writes it: in quotes where it is not ASCII."""
    return key if key.isascii() else f'"{key}"'


def toml(value) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{bare(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return value if value == DATE else json.dumps(value)


def document(run: dict) -> str:
    """A run file with one top-level key per line."""
    return "".join(f"{key} = {toml(value)}\n" for key, value in run.items())


def altered(**sections) -> str:
    """The run file with these top-level keys instead; None takes one away."""
    run = {key: value for key, value in (RUN | sections).items() if value is not None}
    return document(run)


def with_observations(**keys) -> str:
    return altered(observations=RUN["observations"] | keys)


def rows(count=20, seed=0) -> list[str]:
    numbers = np.random.default_rng(seed).uniform(0, 1, (count, 3))
    return [",".join(f"{number:.6f}" for number in row) for row in numbers]


def csv(*more: str, heading="x,t,u", body=None) -> str:
    return "\n".join([heading, *(rows() if body is None else body), *more]) + "\n"


def _train(*_, **__):
    raise AssertionError("training began")


def refuse(
    folder: Path, *expected: str, text=None, data=None, name="sensors.csv", output="out", words=()
) -> None:
    """Writes a run file and its readings, and asserts that `pgt fit` refuses them as it should."""
    write(folder / "run.toml", altered() if text is None else text)
    write(folder / name, csv() if data is None else data)
    target = folder / output
    before = target.read_bytes() if target.is_file() else None
    call = ["fit", str(folder / "run.toml"), "-o", str(target), *words]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "run_plan", _train)
        result = CliRunner().invoke(app, call)
    message = " ".join(result.output.split())
    assert result.exit_code == 2, (message, result.exception)
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in message
    for part in expected:
        assert part in message
    if before is None:
        assert not target.exists() or not list(target.iterdir()), "nothing half-written"
    else:
        assert target.read_bytes() == before


def write(path: Path, content: str | bytes | typing.Callable[[Path], None]) -> None:
    if callable(content):
        content(path)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
