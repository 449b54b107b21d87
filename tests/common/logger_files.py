"""Files as loggers write them, each with the readings that must come out, or the sentence.

All hold the same six readings: two thermocouples at x = 0.1 and 0.5 m, at 0, 60 and 120 s, and where it
says so one of them hidden.
"""

import datetime
import gzip
import io
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

NAN = float("nan")
ROWS = [
    (0.1, 0.0, 20.5), (0.5, 0.0, 21.0), (0.1, 60.0, 22.25), (0.5, 60.0, 23.5),
    (0.1, 120.0, 24.0), (0.5, 120.0, 25.75),
]  # fmt: skip
HIDDEN = [row if row[:2] != (0.5, 60.0) else (0.5, 60.0, NAN) for row in ROWS]
ORIGIN = {"t": "2024-03-12T10:00:00"}
STAMPED = "seconds since 2024-03-12T10:00:00"


class File(NamedTuple):
    """What is written, how it is read, and what must come out: rows (x, t, T), or a message."""

    files: dict[str, Any]
    rows: list[tuple[float, float, float]] | None = None
    said: str = ""
    options: Mapping[str, Any] = MappingProxyType({})
    units: Mapping[str, str] = MappingProxyType({})
    origin: Mapping[str, str] = MappingProxyType({})
    message: str = ""


def long(heading: str, row: str, *, rows=ROWS, end="\n") -> str:
    """A table with one reading per line."""
    lines = [row.format(x=x, t=t, T="" if value is NAN else value) for x, t, value in rows]
    return end.join([heading, *lines, ""])


def commas(text: str) -> str:
    return text.replace(".", ",")


STAMPS = ("10:00:00", "10:01:00", "10:02:00")
T = ((20.5, 21.0), (22.25, 23.5), (24.0, 25.75))


def wide(heading: str, *, date="2024-03-12 ", mark=";", times=STAMPS, values=T, comma=True) -> str:
    """A table with one column per thermocouple."""
    rows = [
        mark.join([f"{date}{time}", *(str(v).replace(".", ",") if comma else str(v) for v in pair)])
        for time, pair in zip(times, values, strict=True)
    ]
    return "\n".join([heading, *rows, ""])


PLACED = "Time;TC1 (x=0.1 m);TC2 (x=0.5 m)"
AT = {"columns": {"t": "Time"}}
POSITIONS = "sensor;x [m]\nTC1;0,1\nTC2;0,5\n"
TOA5 = (
    '"TOA5","CR1000","rod","12345"\n"TIMESTAMP","TC1","TC2"\n"TS","Deg C","Deg C"\n"","Avg","Avg"\n'
)
PREAMBLE = "Data Logger DL-100\nSerial number;12345\nInterval: 60 s\nChannels;2;thermocouples\n\n"


def workbook(*sheets: tuple[str, list[list]]) -> bytes:
    import openpyxl

    book, made = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(made)
    return made.getvalue()


START = datetime.datetime(2024, 3, 12, 10)
CELLS = [["x [m]", "t [s]", "T [°C]"], *map(list, ROWS)]
DATED = [
    ["made by", "logger"],
    [],
    ["Time", "TC1", "TC2"],
    *([START + datetime.timedelta(minutes=n), *pair] for n, pair in enumerate(T)),
]

LOGGERS = {
    "semicolons and decimal commas": File(
        {"a.csv": long("x;t;T", "{x};{t};{T}").replace(".", ",")},
        ROWS, "semicolons, decimal commas",
    ),
    "units in brackets": File(
        {"a.csv": long("x [m],t [s],T [°C]", "{x},{t},{T}")},
        ROWS, "commas", units={"x": "m", "t": "s", "T": "°C"},
    ),
    "units in the name": File(
        {"a.csv": long("x_mm,t_min,T_degC", "{x},{t},{T}",
                       rows=[(1e3 * x, t / 60, T) for x, t, T in ROWS])},
        [(x, t, T + 273.15) for x, t, T in ROWS],
        "commas, x converted from mm to m, t converted from min to s, T converted from degC to K",
        {"units": {"x": "m", "t": "s", "T": "K"}}, {"x": "m", "t": "s", "T": "K"},
    ),
    "units in a second row": File(
        {"a.csv": long("x;t;T\n[m];[s];[°C]", "{x};{t};{T}")},
        ROWS, "semicolons, units in a row of their own", units={"x": "m", "t": "s", "T": "°C"},
    ),
    "a preamble": File(
        {"a.csv": PREAMBLE + commas(long("x;t;T", "{x};{t};{T}"))},
        ROWS, "semicolons, 4 lines above the heading, decimal commas",
    ),
    "Campbell's TOA5": File(
        {"a.dat": TOA5 + wide("", mark=",", comma=False).lstrip("\n"), "positions.csv": POSITIONS}, ROWS,
        "commas, 1 line above the heading, units in a row of their own, 2 sensors, 3 time stamps, "
        f"t in {STAMPED}",
        {"columns": {"t": "TIMESTAMP"}, "sensors": "positions.csv"},
        {"x": "m", "t": STAMPED, "T": "Deg C"}, ORIGIN,
    ),
    "gzip": File(
        {"a.csv.gz": gzip.compress(long("x,t,T", "{x},{t},{T}").encode(), mtime=0)},
        ROWS, "gzip, commas",
    ),
    "Latin-1": File(
        {"a.csv": commas(long("x [m];t [s];T [°C]", "{x};{t};{T}")).encode("latin-1")},
        ROWS, "Latin-1, semicolons, decimal commas", units={"x": "m", "t": "s", "T": "°C"},
    ),
    "UTF-16": File(
        {"a.txt": long("x [m]\tt [s]\tT [°C]", "{x}\t{t}\t{T}").encode("utf-16")},
        ROWS, "UTF-16, tabs", units={"x": "m", "t": "s", "T": "°C"},
    ),
    "places in the heading": File(
        {"a.csv": wide(PLACED)}, ROWS,
        f"semicolons, decimal commas, 2 sensors, 3 time stamps, t in {STAMPED}",
        AT, {"x": "m", "t": STAMPED}, ORIGIN,
    ),
    "fields at places": File(
        {"a.csv": wide("t,T@x=0.1,T@x=0.5", date="", mark=",", times=(0, 60, 120), comma=False)},
        ROWS, "commas, 2 sensors, 3 time stamps",
    ),
    "positions in a second file": File(
        {"a.csv": wide("Time;TC1;TC2;"), "positions.csv": POSITIONS}, ROWS,
        f"semicolons, decimal commas, 2 sensors, 3 time stamps, t in {STAMPED}",
        AT | {"sensors": "positions.csv"}, {"x": "m", "t": STAMPED}, ORIGIN,
    ),
    "a column of sensor names": File(
        {
            "a.csv": long("t,sensor,T", "{t},TC{x},{T}").replace("TC0.1", "TC1").replace("TC0.5", "TC2"),
            "positions.csv": POSITIONS,
        },
        ROWS, "commas, 2 sensors", {"sensors": "positions.csv"}, {"x": "m"},
    ),
    "one file per sensor": File(
        {
            f"TC{n + 1}.csv": f"Position x: {x} m\nt;T\n"
            + "".join(f"{t};{value}\n" for at, t, value in ROWS if at == x)
            for n, x in enumerate((0.1, 0.5))
        },
        sorted(ROWS), "2 files, semicolons, 1 line above the heading", units={"x": "m"},
    ),
    "dates with points": File(
        {"a.csv": wide(PLACED, date="12.03.2024 ")}, ROWS,
        f"semicolons, decimal commas, 2 sensors, 3 time stamps, t in {STAMPED}",
        AT, {"x": "m", "t": STAMPED}, ORIGIN,
    ),
    "dates and times in two columns": File(
        {"a.csv": wide("Date;Time;TC1 (x=0,1 m);TC2 (x=0,5 m)", date="12.03.2024;")}, ROWS,
        f"semicolons, decimal commas, 2 sensors, 3 time stamps, t in {STAMPED}",
        {"columns": {"t": "Date + Time"}}, {"x": "m", "t": STAMPED}, ORIGIN,
    ),
    "American dates": File(
        {"a.csv": wide(PLACED.replace(";", ","), date="03/12/2024 ", mark=",", comma=False,
                       times=("10:00:00 AM", "10:01:00 AM", "10:02:00 AM"))},
        ROWS, f"commas, 2 sensors, 3 time stamps, t in {STAMPED}",
        AT | {"dialect": {"dates": "month first"}}, {"x": "m", "t": STAMPED}, ORIGIN,
    ),
    "dates that may be either": File(
        {"a.csv": wide(PLACED, date="01/02/2024 ")}, options=AT,
        message=r"'01/02/2024 10:00:00' may have the day or the month first. Say which: .*day first",
    ),
    "sentinels": File(
        {"a.csv": wide(PLACED, values=(T[0], (22.25, -9999), T[2]))}, HIDDEN,
        f"semicolons, decimal commas, 2 sensors, 3 time stamps, 1 sentinel hidden, t in {STAMPED}",
        AT, {"x": "m", "t": STAMPED}, ORIGIN,
    ),
    "a thousand or a decimal": File(
        {"a.csv": long("x;t;T", "{x};{t};1,234").replace("0.1", "1").replace("0.5", "2")},
        message=r"'1,234' may be 1234 or 1.234. .*decimal=",
    ),
    "thousands that show": File(
        {"a.csv": long("x;t;T", "{x};{t};{T}", rows=[(x, t, f"1.{int(10 * T):03d},5") for x, t, T in ROWS]
                       ).replace("0.1", "0,1").replace("0.5", "0,5").replace(".0;", ",0;")},
        [(x, t, 1000.5 + int(10 * T)) for x, t, T in ROWS],
        "semicolons, decimal commas, points between thousands",
    ),
    "Excel": File(
        {"a.xlsx": lambda: workbook(("Data", CELLS))}, ROWS, "sheet 'Data'",
        units={"x": "m", "t": "s", "T": "°C"},
    ),
    "Excel with dates, notes and another sheet": File(
        {"a.xlsx": lambda: workbook(("Log", DATED), ("About", [["rod 3"]])), "positions.csv": POSITIONS},
        ROWS, f"sheet 'Log', 1 line above the heading, 2 sensors, 3 time stamps, t in {STAMPED}",
        AT | {"sensors": "positions.csv", "dialect": {"sheet": "Log"}},
        {"x": "m", "t": STAMPED}, ORIGIN,
    ),
    "Excel without saying which sheet": File(
        {"a.xlsx": lambda: workbook(("Log", DATED), ("About", [["rod 3"]]))}, options=AT,
        message=r"the sheets 'Log', 'About' all hold something.*sheet=\"Log\"",
    ),
    "no positions anywhere": File(
        {"a.csv": wide("Time;TC1;TC2")}, options=AT,
        message=r"no column 'x'.*Known: Time, TC1, TC2.*T@x=0.1.*sensors=\"positions.csv\"",
    ),
    "a sentinel or a reading": File(
        {"a.csv": long("x;t;T", "{x};{t};{T}", rows=[(x, t, 40 * T - 999 - 820) for x, t, T in ROWS])
                  .replace("-459.0\n", "-999\n").replace(";-999.0\n", ";-999\n")},
        message=r"'T': -999 may be a reading.*missing=\[-999\]",
    ),
}  # fmt: skip


def written(folder, file: File):
    """The files of a case, in a folder; those of readings are what is to be read."""
    for name, content in file.files.items():
        content = content() if callable(content) else content
        data = content if isinstance(content, bytes) else content.encode("utf-8")
        (folder / name).write_bytes(data)
    return [folder / name for name in sorted(file.files) if name != "positions.csv"]
