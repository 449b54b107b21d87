"""Run files written from files of readings, and every hint of a message followed."""

import re
import shlex

import instrument_files
import pytest
from instrument_files import INSTRUMENTS
from logger_files import LOGGERS, POSITIONS, wide, written
from typer.testing import CliRunner

from pgt.cli import app
from pgt.config import load_run
from pgt.config.parts import Parts
from pgt.core.errors import InputError
from pgt.runs.init import from_files

READ = [name for name, file in LOGGERS.items() if not file.message]


def command(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def said(result):
    return " ".join(result.output.split())


@pytest.mark.parametrize("name", READ[::4])
def test_a_run_file_from_any_logger_loads(tmp_path, name):
    file = LOGGERS[name]
    files = written(tmp_path, file) + [tmp_path / "positions.csv"] * ("positions.csv" in file.files)
    how = [f'--dialect={key}="{value}"' for key, value in file.options.get("dialect", {}).items()]
    made = tmp_path / "run.toml"
    result = command("init", "--from", *files, "--equation", "heat", *how, "-o", made)
    assert result.exit_code == 0, result.output
    parts = Parts(load_run(made))
    assert len(parts.observations) == 6
    assert parts.pde.fields == ("u",)


def test_the_equation_may_be_filled_in_later(tmp_path):
    (tmp_path / "a.csv").write_text("x [m];t [s];T [°C]\n0,1;0;20,5\n0,5;1;21,5\n0,9;2;-9999\n")
    made = tmp_path / "run.toml"
    result = command("init", "--from", tmp_path / "a.csv", "-o", made)
    assert "3 rows of T over x, t, semicolons, decimal commas, 1 sentinel hidden" in said(result)
    result = command("check", made)
    assert (result.exit_code, "pde" in result.output) == (2, True)
    made.write_text(re.sub(r"(?m)^#(equations|a) ", r"\1 ", made.read_text()))
    result = command("check", made)
    assert result.exit_code == 0, result.output
    assert "semicolons, decimal commas, 1 sentinel hidden" in said(result)


# --- hints --------------------------------------------------------------------

RUN = """\
[observations]
file = "a.csv"
coords = ["x", "t"]
fields = ["T"]

[domain]
x = [0, 2]
t = [0, 200]

[pde]
equations = ["T_t = 0.01*T_xx"]
"""
# What is wrong, and what stands in the place of a name that only the user knows.
HINTS = {
    "another name": ("pos,t,T\n0,0,1\n1,1,2\n", "name in the file", "pos"),
    "repeated readings": ("x,t,T\n0,0,1\n0,0,2\n1,1,2\n", "", ""),
    "a thousand or a decimal": ("x;t;T\n0;0;1,234\n1;1;2\n", "", ""),
    "two decimal marks": ("x;t;T\n0;0;1,5\n1;1;2.5\n", "1,5", "1.5"),
    "day or month": ("x;t;T\n0;01/02/2024 10:00;1\n1;01/02/2024 10:01;2\n", "", ""),
    "a sentinel or a reading": ("x,t,T\n0,0,-700\n1,1,-999\n1,2,0\n", "", ""),
    "which separator": ("x,T;t\n0,1;2\n1,5;3\n", "", ""),
    "where the sensors are": (wide("t;TC1;TC2"), "", ""),
}


@pytest.mark.parametrize("name", HINTS)
def test_a_hint_for_a_run_file_is_toml_that_works(tmp_path, name):
    text, unknown, known = HINTS[name]
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "positions.csv").write_text(POSITIONS)
    (tmp_path / "run.toml").write_text(RUN)
    message = follow(tmp_path / "run.toml")
    hints = [hint for hint in re.findall(r"`([^`]+)`", message) if " = " in hint]
    assert hints, message
    worked = 0
    for hint in hints:
        hint = hint.replace(unknown, known) if unknown else hint
        (tmp_path / "run.toml").write_text(RUN.replace('fields = ["T"]', f'fields = ["T"]\n{hint}'))
        if name == "which separator":
            continue  # that it is TOML; the heading is broken whatever is said
        if name == "two decimal marks":
            (tmp_path / "a.csv").write_text(text.replace(unknown, known))
        worked += follow(tmp_path / "run.toml") == ""
    assert worked or name == "which separator"


def follow(path):
    """The message of a run file; none where it is right."""
    try:
        _ = Parts(load_run(path)).observations
    except InputError as error:
        return str(error)
    return ""


def test_a_hint_of_the_command_is_an_option_that_works(tmp_path):
    (tmp_path / "a.csv").write_text("where;t;T\n0;01/02/2024 10:00;1\n1;01/02/2024 10:01;2\n")
    words = ["init", "--from", str(tmp_path / "a.csv"), "--equation", "u_t = k*u_xx"]
    words += ["-o", str(tmp_path / "run.toml")]
    asked = []
    for _ in range(3):
        result = command(*words)
        if result.exit_code == 0:
            break
        hint = re.findall(r"`([^`]+)`", said(result))[0].replace("name in the file", "where")
        asked.append(hint)
        words += shlex.split(hint)
    assert result.exit_code == 0, result.output
    assert sorted(asked) == ["""--columns 'x="where"'""", """--dialect 'dates="day first"'"""]
    assert 'dialect = {dates = "day first"}' in (tmp_path / "run.toml").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--dialect", "mark=1"), "write one of separator, decimal"),
        (("--dialect", "decimal"), "write a name and a value"),
        (("--equation", "heta"), "did you mean 'heat'"),
        (("--sensors", "no.csv"), "no such file"),
    ],
)
def test_wrong_options_are_one_message(tmp_path, words, message):
    (tmp_path / "a.csv").write_text("x,t,u\n0,0,1\n1,1,2\n")
    made = tmp_path / "run.toml"
    result = command("init", "--from", tmp_path / "a.csv", "-o", made, *words)
    assert (result.exit_code, message in said(result)) == (2, True), result.output
    assert not made.exists()


@pytest.mark.parametrize("name", list(INSTRUMENTS)[::4])
def test_a_run_file_from_any_instrument_loads(tmp_path, name):
    path, made = instrument_files.written(tmp_path, INSTRUMENTS[name]), tmp_path / "run.toml"
    result = command("init", "--from", path, "--equation", "T_t = a*T_xx", "-o", made)
    assert result.exit_code == 0, result.output
    readings = Parts(load_run(made)).observations
    assert (readings.coords, readings.fields) == (("x", "t"), ("T",))
    assert int(readings.mask.sum()) == 6


def test_an_axis_that_is_missing_is_asked_for_in_words_that_help(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("time,lat,T\n0,47.1,20\n1,47.2,21\n")
    result = command("init", "--from", path, "--equation", "heat", "-o", tmp_path / "run.toml")
    assert "Angles such as 'lat' are no lengths: write distances" in said(result)
    path.write_text("time,T\n0,20\n1,21\n")
    result = command("init", "--from", path, "--equation", "heat", "-o", tmp_path / "run.toml")
    assert "`--sensors positions.csv`" in said(result)


def test_what_no_file_says_is_asked_for(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,t,u\n0,0,0,1\n1,0,0,2\n1,1,1,3\n0,1,1,2\n")
    for number, (equation, words) in enumerate(
        {"heat": "Write your diffusivity in it", "u_t = a*u_x + b*u_y": "Write your a and b in it",
         "laplace": "Look it over"}.items()
    ):  # fmt: skip
        made = tmp_path / f"{number}.toml"
        found = command("init", "--from", tmp_path / "a.csv", "--equation", equation, "-o", made)
        assert words in said(found), found.output


ODD = ('"', "'", "\\u0041", "\x01", "\u2028", "#", "[/]", "温度")


@pytest.mark.parametrize("odd", ODD, ids=ascii)
@pytest.mark.parametrize("place", ["heading", "not used", "file", "folder"])
def test_a_run_file_is_toml_whatever_files_and_headings_are_called(tmp_path, odd, place):
    folder = tmp_path / (f"a{odd}b" if place == "folder" else "a").replace("/", "")
    folder.mkdir()
    data = folder / ((f"a{odd}b" if place == "file" else "a").replace("/", "") + ".csv")
    heading = f"T{odd}1" if place == "heading" else "T"
    other = f"note{odd}1" if place == "not used" else "note"
    cells = (f'"{name.replace(chr(34), 2 * chr(34))}"' for name in ("x", "t", heading, other))
    rows = (f"0.{i},0.{i},{i},{i * i}\n" for i in range(6))
    data.write_text(f"{','.join(cells)}\n{''.join(rows)}", encoding="utf-8")
    for made in (tmp_path / "run.toml", folder / "run.toml"):
        text, _ = from_files([data], ["u_t = nu*u_xx"], [], made)
        made.write_text(text, encoding="utf-8")
        parts = Parts(load_run(made))
        assert len(parts.observations) == 6
        assert parts.observations.values[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
