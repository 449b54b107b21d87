"""The parts of a run file that the data say."""

import tomllib
from pathlib import Path

from sensor_files import write

from pgt.config import from_data
from pgt.core.dialect import Dialect
from pgt.io.survey import survey


def test_the_tables_say_what_was_found(tmp_path):
    path = write(tmp_path, "pos. [m];t;T [°C]\n0,5;0;20\n0,5;0;22\n0,75;0;-9999\n")
    found = survey([path], columns={"x": "pos. [m]"}, dialect=Dialect(decimal=","))
    text = from_data.observations(found, tmp_path / "runs")
    assert tomllib.loads(text) == {
        "file": "../sensors.csv",
        "coords": ["x", "t"],
        "fields": ["T"],
        "columns": {"T": "T [°C]", "x": "pos. [m]"},
        "units": {"x": "m", "T": "°C"},
        "duplicates": "mean",
        "dialect": {"decimal": ","},
    }
    assert "# semicolons, decimal commas, 1 sentinel hidden." in text
    assert "# T: 1 of 3 readings hidden." in text
    assert tomllib.loads(from_data.bounds(found)) == {"x": [0.5, 0.75], "t": [0, 1]}


def test_an_equation_to_fill_in_uses_the_names(tmp_path):
    found = survey([write(tmp_path, "x,t,T\n0,0,1\n1,1,2\n")])
    lines = from_data.equation(found).replace("\n#", "\n")
    assert tomllib.loads(lines) == {"equations": ["T_t = a*T_xx"], "a": 0.01}
    steady = survey([write(tmp_path, "x,y,T\n0,0,1\n1,1,2\n")])
    assert '"0 = a*T_xx"' in from_data.equation(steady)
    decay = survey([write(tmp_path, "t,T\n0,1\n1,2\n")])
    assert '"T_t = -a*T"' in from_data.equation(decay)
    assert Path(found.files[0]).name == "sensors.csv"
