"""From bytes to lines."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgt.ground.errors import InputError
from pgt.io import encoding, read_columns
from pgt.io.encoding import numbered, opened

TEXT = "x [µm];T [°C]\n1;2\n"


def lines(path):
    with opened(path) as (file, said):
        return list(numbered(file)), said


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (TEXT.encode(), []),
        (TEXT.encode("utf-8-sig"), []),
        (TEXT.encode("latin-1"), ["Latin-1"]),
        (TEXT.encode("utf-16"), ["UTF-16"]),
        (TEXT.encode("utf-16-le"), ["UTF-16"]),
        (TEXT.encode("utf-16-be"), ["UTF-16"]),
        (gzip.compress(TEXT.encode("utf-16"), mtime=0), ["gzip", "UTF-16"]),
        (TEXT.replace("\n", "\r\n").encode(), []),
    ],
)
def test_the_encoding_shows(tmp_path, data, said):
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    assert lines(path) == ([(1, "x [µm];T [°C]\n"), (2, "1;2\n")], said)


def test_bytes_that_windows_does_not_know_are_still_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"caf\xe9 \x81\n")
    assert lines(path)[0] == [(1, "café \x81\n")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(TEXT.encode(), mtime=0)[:-9], "gzip file is cut short or damaged"),
        (b"\x1f\x8b nothing", "gzip file is cut short or damaged"),
        (TEXT.encode("utf-16")[:-1], "the text is damaged"),
    ],
)
def test_damage_is_said(tmp_path, data, message):
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        lines(path)


def test_a_line_without_end_is_refused_early(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "LONGEST_LINE", 100)
    path = tmp_path / "a.csv"
    path.write_text("x\n" + "1" * 101)
    with pytest.raises(InputError, match="line 2 has more than 100 characters"):
        lines(path)
    packed = tmp_path / "b.csv.gz"
    packed.write_bytes(gzip.compress(b"0" * 10**7))
    with pytest.raises(InputError, match="line 1 has more than 100 characters"):
        lines(packed)


@given(st.binary(max_size=80), st.booleans())
def test_any_bytes_are_lines_or_refused(tmp_path_factory, data, packed):
    path = tmp_path_factory.mktemp("bytes") / "a.csv"
    path.write_bytes(gzip.compress(data) if packed else data)
    try:
        found, _ = lines(path)
    except InputError:
        return
    assert [number for number, _ in found] == list(range(1, len(found) + 1))


def test_an_archive_is_no_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"PK\x03\x04" + bytes(40))
    with pytest.raises(InputError, match=r"ZIP archive, or a workbook.*\.xlsx"):
        read_columns(path, coords=("x",), fields=("u",))
