"""Where the table is in a text, and what separates its cells."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.io import layout
from pgt.io.layout import find_layout


def found(text, **options):
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    return tuple(find_layout(lines, Dialect(**options)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x,t\n1,2\n3,4", (",", 0, None, 1)),
        ("x;t\n1,5;2\n3;4,5", (";", 0, None, 1)),
        ("x t\n1 2\n3 4", (" ", 0, None, 1)),
        ("x|t\n1|2\n3|4", ("|", 0, None, 1)),
        ('"x [m]","t [s]"\n1, 2\n3, 4', (",", 0, None, 1)),
        ("Channel,Unit\n1,2\n2,3\nScans\nt,T,U\n0,1,2\n1,2,3\n2,3,4\n3,4,5", (",", 4, None, 5)),
        ("x\tt\t\n1\t2\t\n3\t4\t", ("\t", 0, None, 1)),
        ("Logger 5\nName;rod\nx;t\n1;2\n3;4", (";", 2, None, 3)),
        ("x;t\n[m];[s]\n1;2\n3;4", (";", 0, 1, 2)),
        ("x;t\nm;-\n1;2\n3;4", (";", 0, 1, 2)),
        ("x;t\nleft;warm\n1;2\n3;4", (";", 1, None, 2)),
        ("x;t;u\n0;left;warm\n1;2;3\n3;4;5", (";", 0, None, 1)),
        ("a;b;c\nt;T;U\nTS;K;K\n;Avg;Avg\n1;2;3\n4;5;6", (";", 1, 2, 4)),
        ("x;t;\n1;2\n3;4", (";", 0, None, 1)),
        ("x;t\n1;2;\n3;4;", (";", 0, None, 1)),
        ("t;T (x=0,1)\n10:00:00;1,5\n10:00:01;2,5", (";", 0, None, 1)),
        ("u, m/s;x\n0,5;1\n0,7;2", (";", 0, None, 1)),
    ],
)
def test_the_table_is_found(text, expected):
    assert found(text) == expected


def test_many_columns_are_refused_at_once(tmp_path):
    names = [f"c{n}" for n in range(50_000)]
    start = time.perf_counter()
    with pytest.raises(InputError, match="50,000 cells; at most 10,000 columns"):
        layout.check_heading(1, names)
    path = tmp_path / "a.csv"
    path.write_text("\n".join([",".join(names), *[",".join(["1.5"] * 50_000)] * 2]))
    from pgt.io import read_columns

    with pytest.raises(InputError, match="50,000 cells; at most 10,000 columns"):
        read_columns(path, coords=("x",), fields=("u",))
    assert time.perf_counter() - start < 30


@given(st.text(alphabet='x1,.;\t "\n-:/TC=@[]()°', max_size=80), st.booleans())
def test_any_text_has_a_layout_or_a_reason(text, space):
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    try:
        where = find_layout(lines, Dialect(separator="space" if space else None))
    except InputError:
        return
    assert 0 <= where.heading < where.first
    assert where.heading < len(lines)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("time,n,V,T\nTS,RN,Volts,Deg C\n,,Smp,Avg\n1,2,3,4\n2,3,4,5", (",", 0, 1, 3)),
        ("YY,MM,WTMP\nyr,mo,degC\n2024,3,4\n2024,3,5", (",", 0, 1, 2)),
        ("Name,rod,lab\nx,t/s,T/K\n1,2,3\n4,5,6", (",", 1, None, 2)),
    ],
)
def test_rows_about_columns_are_no_heading(text, expected):
    assert found(text) == expected
