"""Files as instruments, simulations and archives write them, all with the same readings.

Two thermocouples at x = 0.1 and 0.5 m are read at 0, 60 and 120 s, as in `logger_files`; what a file
says of units, the survey must say, too.
"""

import datetime
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.io
from logger_files import ROWS, T, workbook

X, TIMES = (0.1, 0.5), (0.0, 60.0, 120.0)
CLOCKS = ("10:00:00", "10:01:00", "10:02:00")
DAY = "2024-03-12"
START = f"seconds since {DAY}T10:00:00"


class Instrument(NamedTuple):
    """What is written, as text, bytes or by a function, under which ending; the units that must show."""

    content: Any
    ending: str = "csv"
    units: Mapping[str, str] = MappingProxyType({})


def wide(heading: str, row: str, ends="", stamps=CLOCKS) -> str:
    """One line per instant: {stamp}, {n} from 0, {t}, {a} and {b}."""
    pairs = zip(stamps, TIMES, T, strict=True)
    lines = [row.format(stamp=s, n=n, t=t, a=a, b=b) for n, (s, t, (a, b)) in enumerate(pairs)]
    return "\n".join([heading, *lines]) + ends + "\n"


def long(heading: str, row: str, stamps=CLOCKS) -> str:
    """One line per reading: {x}, {t}, {T}, {stamp} and {n} from 0."""
    lines = [
        row.format(x=x, t=t, T=value, n=n, stamp=stamps[n // 2])
        for n, (x, t, value) in enumerate(ROWS)
    ]
    return "\n".join([heading, *lines, ""])


LVM = """\
LabVIEW Measurement\t
Separator\tTab
Date\t2024/03/12
Time\t10:00:00.1234567
***End_of_Header***\t
\t
Channels\t2\t\t
X0\t0.0000000000000000E+0\t0.0000000000000000E+0\t
Delta_X\t60.000000\t60.000000\t
***End_of_Header***\t\t\t
t\tT@x=0.1\tT@x=0.5\tComment"""


def _table() -> dict[str, Any]:
    moments = [np.datetime64(f"{DAY}T10:00:00") + np.timedelta64(int(t), "s") for _, t, _ in ROWS]
    readings = np.array([row[2] for row in ROWS])
    return {"x (m)": [r[0] for r in ROWS], "time": np.array(moments), "T [degC]": readings}


def _two_columns():
    rows = [["Datum", "Uhrzeit", "x [m]", "T [°C]"]]
    for n, (x, _, value) in enumerate(ROWS):
        rows.append([datetime.date(2024, 3, 12), datetime.time(10, n // 2), x, value])
    return workbook(("Log", rows))


def _structure(path):
    x, t, readings = (np.array(column) for column in zip(*ROWS, strict=True))
    scipy.io.savemat(path, {"rod": {"x": x, "t": t, "raw": {"T": readings}}, "note": "text"})


INSTRUMENTS = {
    "numpy.savetxt": Instrument(long("# rod 3\n# x t T", "{x:.9e} {t:.9e} {T:.9e}"), "txt"),
    "Fortran": Instrument(long("   x     t     T", " {x}D+00 {t}D+00 {T}D+00"), "dat"),
    "OpenFOAM": Instrument(
        wide("# Probe 0 (0.1 0 0)\n# Probe 1 (0.5 0 0)\n#  Probe  0  1\n#  Time", " {t} {a} {b}"), "dat",
    ),
    "ParaView": Instrument(
        long('"Time","T","vtkValidPointMask","Points:0","Points:1","Points:2"', "{t},{T},1,{x},0,0"),
    ),
    "ANSYS": Instrument(
        long("Node Number\tX Location (m)\tTime (s)\tTemperature (°C)", "{n}\t{x}\t{t}\t{T}"),
        "txt", {"x": "m", "t": "s", "T": "°C"},
    ),
    "the archive of a survey": Instrument(
        long("# WARNING\nagency\tsite\tdatetime\tx\tvalue\n5s\t15s\t20d\t6n\t14n",
             f"USGS\t0673\t{DAY} {{stamp}}\t{{x}}\t{{T}}"), "txt", {"t": START},
    ),
    "Excel, a date and a time": Instrument(_two_columns, "xlsx", {"x": "m", "T": "°C", "t": START}),
    "a structure of MATLAB": Instrument(_structure, "mat"),
    "Parquet with dates": Instrument(
        lambda path: pd.DataFrame(_table()).to_parquet(path), "parquet",
        {"x": "m", "T": "degC", "t": START},
    ),
    "NPZ with dates": Instrument(
        lambda path: np.savez(path, **_table()), "npz", {"x": "m", "T": "degC", "t": START},
    ),
}  # fmt: skip


def written(folder, instrument: Instrument):
    """The file of an instrument."""
    path = folder / f"T.{instrument.ending}"
    content = instrument.content
    if callable(content) and instrument.ending == "xlsx":
        content = content()
    if callable(content):
        content(path)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
