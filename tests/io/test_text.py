""""""

import re

import numpy as np
import pytest
from sensor_files import NAN, VALID, check, read, write

from pgt.core.errors import InputError
from pgt.io import read_columns


@pytest.mark.parametrize(
    "text",
    [
        "x,t,u\n0.5,0,1.5\n0.25,1,\n0.75,2,-3e-2\n",
        "t;note;u;x\n0;a,b;1.5;.5\n1;;NA;0.25\n2;;-0.03;0.75",
        "x\tt\tu\r\n0.5\t0\t1.5\r\n0.25\t1\tnan\r\n0.75\t2\t-.03\r\n",
        "  x   t u\n0.5 0 1.5\n 0.25 1 null\n0.75 2 -0.03\n",
        "\ufeffx,t,u\r0.5,0,1.5\r0.25,1,N/A\r0.75,2,-0.03\r",
        '# from the lab\n\n x , "t", u \n"0.5", 0,1.5\n# half time\n0.25,1,None\n0.75,2,-0.03\n',
        ",x,t,u\n0,0.5,0,1.5\n1,0.25,1,\n2,0.75,2,-0.03\n",
        'x;t;"u; raw, in K";u\n0.5;0;1;1.5\n0.25;1;1;NaN\n0.75;2;1;-0.03\n',
        "x\tt\tu, m/s\tu\n0.5\t0\t1\t1.5\n0.25\t1\t1\t\n0.75\t2\t1\t-0.03\n",
    ],
)
def test_text_tables(tmp_path, text):
    check(read(write(tmp_path, text)))


BROKEN = {
    "empty file": ("", "is empty"),
    "only comments": ("# nothing\n\n", "is empty"),
    "heading only": ("x,t,u\n", "line 1 is the heading, and no row follows"),
    "no heading": ("0,1,2\n0,2,3\n", "line 1 holds numbers where the column names"),
    "commented heading": ("# x,t,u\n0,1,2\n", "line 2 holds numbers.*without #"),
    "text in numbers": ("x,t,u\n0,1,2\n\n0,2,warm\n", "line 4, column 'u': 'warm' is not a number"),
    "text in coordinates": ("x,t,u\nleft,1,2\n", "line 2, column 'x': 'left'"),
    "missing coordinate": ("# c\nx,t,u\n0,1,2\n,1,3\n", "coordinate 'x', line 4, is nan"),
    "wrong separator": ("x~t~u\n0~1~2\n", r"no column 'x'.*Known: x~t~u"),
    "other separator in the rows": (
        "x,t,u\n0;1;2\n",
        "line 2 has 1 cell.*has 3, separated by comma",
    ),
    "mixed separators": ("x,t;u\n0,1;2\n", "commas and semicolons"),
    "two decimal marks": (
        "x;t;u\n0;1,5;2,5\n0;2.5;2,5\n",
        r"decimal points \(2.5\) and some decimal commas.*`dialect=pgt.io.Dialect\(decimal=",
    ),
    "a thousand or a decimal": ("x;t;u\n0;1;1,234\n", "'1,234' may be 1234 or 1.234."),
    "decimal commas split": ("x,t,u\n0,5,1,2,3,5\n", "line 2 has 6 cell.*decimal commas"),
    "one cell too many, and empty": ("x,t,u\n0,1,2\n0,2,.5,\n", "line 3 has 4 cell"),
    "too few cells": ("x,t,u\n0,1,2\n0,2\n", "line 3 has 2 cell"),
    "column twice": ("x,t,u,u\n0,1,2,3\n", "two columns are named 'u'"),
    "missing column": ("x,time,u\n0,1,2\n", "no column 't'.*Known: x, time, u"),
    "close name": ("x,t,u_\n0,1,2\n", "Did you mean 'u_'.*`columns={"),
    "NaN everywhere": ("x,t,u\n0,1,NaN\n0,2,\n", "every value"),
    "infinite": ("x,t,u\n0,1,inf\n", "field 'u', line 2, is infinite"),
    "too large": ("x,t,u\n0,1,1e999\n", "line 2, is infinite"),
    "duplicate rows": ("x,t,u\n0,1,2\n1,1,2\n# again\n0,1,2\n", "lines 2 and 5 both measure 'u'"),
    "underscore": ("x,t,u\n0,1,1_000\n", "'1_000' is not a number"),
    "foreign digits": ("x,t,u\n0,1,１２\n", "is not a number"),
    "open quotation mark": ('x,t,u\n0,1,"2\n0,2,3\n', "line 2: the quotation marks"),
    "marks inside a cell": ('x,t,u\n0,1,2"5"\n', "column 'u'"),
    "cell over two lines": ('x,t,u,note\n0,1,2,a"b,"c\n0,2,3,d"\n', "line 2"),
    "a blank that is none": ("x\tt\tu\n0\x1d1\x1d2", "line 2 has 1 cell"),
    "nul": ("x,t,u\n0,1,2\x00\n", "line 2, column 'u'"),
    "long text": ("x,t,u\n0,1," + "z" * 10**5 + "\n", "z{40}…' is not a number"),
    "latin-1": (
        "x,t,u\n0,1,2\n0,2,°\n".encode("latin-1"),
        "line 3, column 'u': '°' is not a number",
    ),
    "utf-16 cut short": ("x,t,u\n0,1,2\n".encode("utf-16")[:-1], "damaged.*save the file as UTF-8"),
    "binary": (bytes(range(256)), "sensors.csv: "),
    "negative noise": ("x,t,u,s\n0,1,2,-1\n", "`noise` of 'u', line 2, is -1"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_tables(tmp_path, case):
    content, message = BROKEN[case]
    path = write(tmp_path, content)
    noise = {"u": "s"} if "noise" in case else None
    with pytest.raises(InputError, match=message) as caught:
        read(path, noise=noise)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 600


def mutated(rng):
    data = bytearray(VALID)
    for _ in range(rng.integers(1, 4)):
        start = int(rng.integers(len(data) + 1))
        stop = start + int(rng.integers(0, 4))
        kind = rng.integers(4)
        if kind == 0:
            del data[start:stop]
        elif kind == 1:
            data[start:stop] = rng.choice(bytearray(ALPHABET), size=rng.integers(1, 4)).tobytes()
        elif kind == 2:
            data[start:start] = data[stop : stop + 8]
        else:
            del data[max(start, 12) :]
    return bytes(data)


def plainly_read(data):
    """x, t, u of a comma-separated file, without a single check; None where quotes occur."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    lines = [s.strip("\n") for s in re.split("\r\n|\r|\n", text)]
    rows = [line.split(",") for line in lines if line.strip() and line.strip()[0] != "#"]
    names = [cell.strip() for cell in rows[0]]
    if '"' in text or not {"x", "t", "u"} <= set(names):
        return None
    table = [[row[names.index(name)].strip() for name in "xtu"] for row in rows[1:]]
    hidden = ("", "na", "nan", "n/a", "null", "none")
    return [[NAN if c.lower() in hidden else float(c) for c in row] for row in table]


@pytest.mark.parametrize(
    ("count", "least"), [(300, 20), pytest.param(3000, 300, marks=pytest.mark.slow)]
)
def test_thousands_of_mutations_are_read_rightly_or_refused(tmp_path, count, least):
    rng, accepted = np.random.default_rng(4), 0
    for _ in range(count):
        path = write(tmp_path, data := mutated(rng))
        try:
            readings = read(path)
        except InputError:
            continue
        expected = plainly_read(data)
        if expected is not None:
            accepted += 1
            values = np.where(readings.mask, readings.values, NAN)
            np.testing.assert_array_equal(np.hstack([readings.points, values]), expected)
    assert least < accepted < count / 1.2


ALPHABET = b'0123456789.,;\t\n\r eE+-_"#xtuNa\x00\xff\xc3\xa9|'


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("x,t,T\n0.1,0,20.5\n0.5,0,21\nt,x,T\n60,0.1,22\n", "line 4 is another heading than line 1"),
        ("x,t,T\n0.1,0,20.5\n0.5,0,21\n\nx,t,p\n0.1,0,1000\n", "line 5 is another heading than line 1"),
        ("x,0.1,0.5,0.1\nt,0,0,60\nT,20.5,21,22.25\n", "line 1 begins with the name 'x'.* on its side"),
        ("x [m];0,1;0,5\nt [s];0;0\nT [K];20,5;21,5\n", "line 1 begins.*the table lies on its side"),
    ],
)  # fmt: skip
def test_several_tables_and_those_on_their_side_are_refused(tmp_path, table, message):
    """A comment in place of the other heading would put its rows below the wrong names."""
    with pytest.raises(InputError, match=message):
        read_columns(write(tmp_path, table, "a.csv"), coords=("x", "t"), fields=("T",))
