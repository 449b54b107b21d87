""""""

import os
from pathlib import Path

import pytest
from sensor_files import read, write

from pgt.core.errors import InputError
from pgt.io.file_access import check_suffix, write_safely


def test_broken_paths(tmp_path):
    path = write(tmp_path, "x,t,u\n0,1,2\n")
    with pytest.raises(InputError, match=r"no such file. In the same folder: sensors.csv"):
        read(tmp_path / "sensor.csv")
    with pytest.raises(InputError, match="Not even the folder"):
        read(tmp_path / "nowhere" / "sensors.csv")
    with pytest.raises(InputError, match="this is a folder"):
        read(tmp_path)
    with pytest.raises(InputError, match=r"ending '.docx' is unknown; known are .*\.csv, .*\.nc"):
        read(path.rename(tmp_path / "sensors.docx"))
    with pytest.raises(InputError, match=r"has no ending; known are .txt"):
        check_suffix(Path("T"), (".txt",))
    with pytest.raises(InputError, match="has no ending"):
        read(write(tmp_path, "", "sensors"))
    with pytest.raises(InputError, match=r"the system refuses access \(File name too long\)"):
        read(tmp_path / ("s" * 300 + ".csv"))
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "a\0.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="not an ordinary file"):
        read(tmp_path / "pipe.csv")


def test_a_file_takes_its_place_when_all_went_well(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    gone = r"could not be written \(the disk is gone\)"
    with pytest.raises(InputError, match=gone), write_safely(path):
        raise RuntimeError("the disk is gone")
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["a.txt"])
    with write_safely(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert (path.read_text(), os.listdir(tmp_path)) == ("new", ["a.txt"])
