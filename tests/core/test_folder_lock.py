"""A folder has one owner; whoever comes second is told who it is."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pgt.core import folder_lock
from pgt.core.errors import InputError
from pgt.core.files import TEMPORARY_PREFIX
from pgt.core.folder_lock import LOCK, lock_folder

STARTS = int(os.environ.get("PGT_STARTS", "6"))
ROOT = Path(__file__).parents[2]
# Owns the folder for a moment and writes down that it began and ended; says who is in the way else.
SCRIPT = """
import sys, time
from pathlib import Path
from pgt.core.errors import InputError
from pgt.core.files import in_one_piece
from pgt.core.folder_lock import lock_folder
folder, log = map(Path, sys.argv[1:])
try:
    with lock_folder(folder):
        log.open("a").write("begin\\n")
        for number in range(20):
            with in_one_piece(folder / "state.json") as path:
                path.write_text(str(number) * 1000)
            time.sleep(0.002)
        log.open("a").write("end\\n")
except InputError as error:
    sys.exit(f"{error}")
"""


def started(script, *words):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script, *map(str, words)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def test_of_many_that_start_at_once_one_owns_the_folder(tmp_path):
    folder, log = tmp_path / "run", tmp_path / "log"
    folder.mkdir()
    waiting, ended = STARTS, []
    while waiting > 0:
        together = [started(SCRIPT, folder, log) for _ in range(min(waiting, 6))]
        ended += [(process.communicate()[1], process.returncode) for process in together]
        waiting -= len(together)
    lines = log.read_text().split()
    owners = [said for said, code in ended if code == 0]
    assert lines == ["begin", "end"] * len(owners)  # never two at a time
    assert owners
    for said, code in ended:
        assert code == 0 or "belongs to" in said, said
    assert [path.name for path in folder.iterdir()] == ["state.json"]


HOLDS = """
import sys, time
from pathlib import Path
from pgt.core.folder_lock import lock_folder
with lock_folder(Path(sys.argv[1])):
    open(Path(sys.argv[1]) / ".pgt-field-abc.nc", "w").write("half")
    print("mine", flush=True, file=sys.stderr)
    time.sleep(100)
"""


def test_a_killed_owner_leaves_nothing_behind(tmp_path):
    holder = started(HOLDS, tmp_path)
    assert holder.stderr is not None
    assert holder.stderr.readline() == "mine\n"
    with pytest.raises(InputError) as error, lock_folder(tmp_path):
        pass
    assert f"process {holder.pid} on " in str(error.value)
    assert "another folder" in str(error.value)
    assert (tmp_path / ".pgt-field-abc.nc").is_file()  # it is not ours
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    with lock_folder(tmp_path):
        assert [path.name for path in tmp_path.iterdir()] == [LOCK]
    assert list(tmp_path.iterdir()) == []


def test_folders_below_are_cleared_where_they_are_ours(tmp_path):
    (tmp_path / "below").mkdir()
    left, own = tmp_path / "below" / f"{TEMPORARY_PREFIX}a.json", tmp_path / ".mine-a1b2c3d4.txt"
    left.write_text("half")
    own.write_text("")
    with lock_folder(tmp_path):
        assert left.is_file()
    with lock_folder(tmp_path, below=True):
        assert not left.is_file()
    assert own.is_file()


def test_a_lock_that_its_owner_removed_meanwhile_is_asked_for_again(tmp_path, monkeypatch):
    lock = folder_lock._is_locked
    times = []

    def slow(handle, folder):
        if not times:
            (folder / LOCK).unlink()  # by the owner that ends in this moment
        times.append(time.time())
        return lock(handle, folder)

    monkeypatch.setattr(folder_lock, "_is_locked", slow)
    with lock_folder(tmp_path):
        assert (tmp_path / LOCK).is_file()
    assert len(times) == 2


def test_a_file_system_without_locks_is_said(tmp_path, monkeypatch):
    def unsupported(handle, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(folder_lock.fcntl, "flock", unsupported)
    with pytest.warns(UserWarning, match="without locks"), lock_folder(tmp_path):
        pass
