"""From bytes to lines."""

import bz2
import gzip
import lzma
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgt.core.errors import InputError
from pgt.io import encoding, read_columns
from pgt.io.encoding import iterate_lines, open_text_file

TEXT = "x [µm];T [°C]\n1;2\n"


def lines(path):
    with open_text_file(path) as (file, said):
        return list(iterate_lines(file)), said


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (TEXT.encode(), []),
        (TEXT.encode("utf-8-sig"), []),
        (TEXT.encode("latin-1"), ["Latin-1"]),
        (TEXT.encode("utf-16"), ["UTF-16"]),
        (gzip.compress(TEXT.encode("utf-16"), mtime=0), ["gzip", "UTF-16"]),
        (TEXT.replace("\n", "\r\n").encode(), []),
    ],
)
def test_the_encoding_shows(tmp_path, data, said):
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    assert lines(path) == ([(1, "x [µm];T [°C]\n"), (2, "1;2\n")], said)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            gzip.compress(TEXT.encode(), mtime=0)[:-9],
            "gzip file cannot be unpacked, or is cut short or damaged",
        ),
        (b"\x1f\x8b nothing", "gzip file cannot be unpacked, or is cut short or damaged"),
        (TEXT.encode("utf-16")[:-1], "the text is damaged"),
    ],
)
def test_damage_is_said(tmp_path, data, message):
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        lines(path)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_characters_need_a_mark(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes("x;T\n1;2\n".encode(encoding))
    with pytest.raises(InputError, match="UTF-16 without a byte order mark"):
        lines(path)


def test_a_line_without_end_is_refused_early(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "MAX_LINE_CHARACTERS", 100)
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


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["[Content_Types].xml", "xl/workbook.xml"], r"this is a workbook.*\.xlsx"),
        (["a.csv", "b.csv"], "the archive holds 2 files; unpack it"),
    ],
)
def test_an_archive_holds_one_text(tmp_path, names, message):
    path = tmp_path / "a.csv"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "x,u\n1,2\n")
    with pytest.raises(InputError, match=message):
        read_columns(path, coords=("x",), fields=("u",))


@pytest.mark.parametrize("module", [gzip, bz2, lzma], ids=lambda module: module.__name__)
@pytest.mark.parametrize(
    "piece", [bytes(1 << 20), b"0.5,0.5,1.0\n" * 80_000], ids=["zeros", "rows"]
)
def test_what_unpacks_to_far_more_than_a_table_is_refused_early(
    tmp_path, module, piece, monkeypatch
):
    monkeypatch.setattr(encoding, "HARMLESS_BYTES", 1 << 20)
    path = tmp_path / "a.csv.packed"
    with module.open(path, "wb") as file:
        file.write(b"x,t,u\n")
        for _ in range(5):
            file.write(piece)
    with pytest.raises(InputError, match=r"unpacks to more than \d+ MiB"):
        lines(path)


@pytest.mark.parametrize("start", [b"PK\x03\x04", b"BZh91AY", b"\xfd7zXZ\x00"])
def test_a_packed_file_that_is_damaged_is_said(tmp_path, start):
    path = tmp_path / "a.csv"
    path.write_bytes(start + bytes(40))
    with pytest.raises(InputError, match=r"is cut short or damaged"):
        read_columns(path, coords=("x",), fields=("u",))
