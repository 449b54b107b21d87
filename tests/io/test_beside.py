"""Files that say where the sensors of others are."""

from logger_files import POSITIONS, wide
from sensor_files import write

from pgt.ground.dialect import Dialect
from pgt.io.beside import table_of_sensors


def test_the_table_of_sensors_names_columns_or_files_of_the_others(tmp_path):
    log, places = (
        write(tmp_path, wide("Time;TC1;TC2"), "log.csv"),
        write(tmp_path, POSITIONS, "p.csv"),
    )
    alone = write(tmp_path, "t,T\n0,1\n1,2\n", "TC1.csv")
    assert table_of_sensors([log, places], Dialect()) == places
    assert table_of_sensors([alone, places], Dialect()) == places
    assert table_of_sensors([places], Dialect()) is None
    assert table_of_sensors([alone, log], Dialect()) is None
