"""A file is whole or not there, and a folder that cannot be written to is refused at once."""

import os

import pytest

from pgt.core.errors import InputError
from pgt.core.files import (
    TEMPORARY_PREFIX,
    in_one_piece,
    remove_unfinished,
    require_writable,
)


def test_the_old_file_stands_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("old")
    with in_one_piece(path) as temporary:
        temporary.write_text("new")
        assert (temporary.parent, temporary.suffix) == (tmp_path, ".txt")
        assert temporary.name.startswith(TEMPORARY_PREFIX)
        with in_one_piece(path) as other:  # another process, in the middle of the same file
            assert other != temporary
            other.write_text("theirs")
        assert path.read_text() == "theirs"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_who_may_read_a_file_the_user_has_said(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        with in_one_piece(tmp_path / "notes.txt") as temporary:
            temporary.write_text("private, or not")
    finally:
        os.umask(before)
    assert (tmp_path / "notes.txt").stat().st_mode & 0o777 == mode


def test_what_fails_leaves_nothing_behind(tmp_path):
    def interrupted():
        with in_one_piece(tmp_path / "notes.txt") as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_system_names_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "notes.txt"
    with pytest.raises(OSError, match=r"notes\.txt") as caught, in_one_piece(path):
        raise OSError(28, "No space left on device", "somewhere else")
    assert caught.value.filename == str(path)


def test_what_nobody_finished_is_removed(tmp_path):
    (tmp_path / "below").mkdir()
    for name in (
        f"{TEMPORARY_PREFIX}field-x.nc",
        f"below/{TEMPORARY_PREFIX}a.json",
        "field.nc",
        ".hidden",
    ):
        (tmp_path / name).write_text("")
    remove_unfinished(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".hidden", "below", "field.nc"]
    assert len(list((tmp_path / "below").iterdir())) == 1
    remove_unfinished(tmp_path, below=True)
    assert list((tmp_path / "below").iterdir()) == []


def test_a_folder_below_a_file_is_refused_with_the_remedy(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot write to .*file/out .*another folder with -o"):
        require_writable(tmp_path / "file" / "out")
