"""Every file of a folder has a checksum, and so has the list of them."""

import hashlib

import pytest

from pgt.core.errors import InputError
from pgt.core.manifest import (
    NAME,
    changed_files,
    read_manifest,
    require_intact,
    require_unchanged,
    write_manifest,
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "b.png").write_bytes(b"\x00\xff" * 100)
    (tmp_path / "mine.txt").write_text("not of the run")
    write_manifest(tmp_path, ["a.json", "b.png"])
    return tmp_path


def test_a_changed_file_is_named(folder):
    (folder / "b.png").write_bytes(b"\x00\xff" * 99 + b"\x00\xfe")
    with pytest.raises(InputError, match=r"b\.png: damaged or changed"):
        require_unchanged(folder)
    assert require_unchanged(folder, editable=["b.png"]) == ["b.png"]
    require_intact(folder / "a.json")
    require_intact(folder / "mine.txt")
    with pytest.raises(InputError, match="damaged or changed"):
        require_intact(folder / "b.png")


def test_no_bit_of_the_list_itself_can_change(folder):
    path = folder / NAME
    whole = path.read_bytes()
    for place in range(0, 8 * len(whole), 7):
        content = bytearray(whole)
        content[place // 8] ^= 1 << (place % 8)
        path.write_bytes(content)
        with pytest.raises(InputError, match=NAME):
            read_manifest(folder)
    for length in range(0, len(whole), 11):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=NAME):
            read_manifest(folder)


@pytest.mark.parametrize("name", ["../a", "/etc/a", "a/../../b", "a//b", r"..\\a", ".hidden"])
def test_a_list_names_no_file_outside_the_folder(tmp_path, name):
    lines = f"{'0' * 64}  {name}\n"
    code = hashlib.sha256(lines.encode()).hexdigest()
    (tmp_path / NAME).write_text(f"{lines}# of the lines above: {code}\n")
    with pytest.raises(InputError, match=NAME):
        read_manifest(tmp_path)


def test_files_in_folders_are_listed_and_hidden_ones_are_not(folder):
    (folder / "part").mkdir()
    for name in ("part/c.bin", "part/.d", ".e"):
        (folder / name).write_text("c")
    write_manifest(folder, ["part/c.bin", "part/.d", ".e"])
    assert sorted(read_manifest(folder)) == ["a.json", "b.png", "part/c.bin"]
    (folder / "part" / "c.bin").write_text("d")
    assert changed_files(folder) == changed_files(folder, below="part/") == ["part/c.bin"]
    assert changed_files(folder, below="a") == []
