"""Files of archives, control rooms and spreadsheets; and what only looks like a table.

`ARCHIVES` hold the readings of `instrument_files`, `NO_TABLES` have the sentence that must come.
"""

import bz2
import zipfile

import h5py
import numpy as np
import xarray as xr
from instrument_files import DAY, START, TIMES, Instrument, X, long, wide
from logger_files import ROWS, T

PLAIN = long("x,t,T", "{x},{t},{T}")
NEXT = "seconds since 2024-03-13T10:00:00"
WORDS = {"German": "Zeit;Position;Temperatur", "French": "Temps;Position;Température"}
# A moment of 12 March 2024, with its minute left open.
SPELLINGS = {
    "a name of a month": "12 March 2024 10:0{}:00",
    "a name before the day": '"Mar 12, 2024 10:0{}:00"',
}
INFLUX = (
    "#group,false,false,true,false,false,true,true\n#default,_result,,,,,,\n"
    + long(",result,table,_start,_time,_value,_field,x",
           f",,{{n}},{DAY}T00:00:00Z,{DAY}T{{stamp}}Z,{{T}},temperature,{{x}}")
)  # fmt: skip


def _archive(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/", "")
        archive.writestr("data/rod.csv", PLAIN)


def _group(path):
    with h5py.File(path, "w") as file:
        for name, column in zip(("x", "t", "T"), zip(*ROWS, strict=True), strict=True):
            file[f"run/1/{name}"] = column


def _grid(**more):
    return xr.Dataset(
        {"T": (("time", "x"), np.array(T), more)}, {"time": list(TIMES), "x": list(X)}
    )


def _flagged(path):
    grid = _grid(ancillary_variables="T_qc")
    grid = grid.assign_coords(time=list(TIMES)).reindex(time=[*TIMES, 180.0], fill_value=99.0)
    bad = np.array([[1, 1], [1, 1], [1, 1], [4, 9]], np.int8)
    meanings = {"flag_values": np.array([1, 4, 9], np.int8), "flag_meanings": "good bad missing"}
    grid.assign(T_qc=(("time", "x"), bad, meanings)).to_netcdf(path, engine="h5netcdf")


def _by_attributes(path):
    names = {"standard_name": "time", "units": START}
    data = {"var1": (("a", "b"), np.array(T), {"standard_name": "sea_water_temperature"})}
    axes = {"a": ("a", list(TIMES), names), "b": ("b", list(X), {"axis": "X", "units": "m"})}
    xr.Dataset(data, axes).to_netcdf(path, engine="h5netcdf")


def _structured(path):
    np.savez(path, data=np.array([*map(tuple, ROWS)], [(name, float) for name in ("x", "t", "T")]))


ARCHIVES = {
    **{f"words in {name}": Instrument(long(words, "{t};{x};{T}")) for name, words in WORDS.items()},
    **{
        f"times with {name}": Instrument(
            long("Date,x,T", "{stamp},{x},{T}", [form.format(n) for n in range(3)]), units={"t": START}
        )
        for name, form in SPELLINGS.items()
    },
    "InfluxDB": Instrument(INFLUX, units={"t": START}),
    "OPC with rows that are bad": Instrument(
        long("SourceTimestamp,StatusCode,Value,x", f"{DAY}T{{stamp}}Z,Good,{{T}},{{x}}")
        + f"{DAY}T10:03:00Z,Bad_NoData,0,0.1\n", units={"t": START}),
    "WinCC": Instrument(
        long('"VarName";"TimeString";"x";"VarValue";"Validity";"Time_ms"',
             '"Rod";"12.03.2024 {stamp}";{x};{T};1;45363416666.{t:.0f}'), units={"t": START}),
    "a monitor of Star-CCM+": Instrument(
        wide('"Physical Time: Physical Time (s)","T: x=0.1 (K)","T: x=0.5 (K)"', "{t},{a},{b}"),
        units={"t": "s", "T": "K"}),
    "a column of milliseconds": Instrument(
        "Timestamp,Millisecond,x,T [degC]\n" + "".join(
            f"{DAY} 10:0{n // 2}:00,{(n % 2) * 0},{x},{v}\n" for n, (x, _, v) in enumerate(ROWS)
        ) + f"{DAY} 10:03:00,250,0.1,NaN\n", units={"t": START}),
    "minutes and seconds, as the heading says": Instrument(
        long("Elapsed (mm:ss),x,T", "{stamp},{x},{T}", ("00:00", "01:00", "02:00"))),
    "times below, places beside": Instrument(wide("t,0.1,0.5", "{t},{a},{b}")),
    "sentinels of computers and models": Instrument(
        PLAIN + "0.1,180,-32767\n0.5,180,2147483647\n0.1,240,-9.99e33\n0.5,240,undef\n"),
    "bzip2": Instrument(bz2.compress(PLAIN.encode()), "csv.bz2"),
    "ZIP": Instrument(_archive, "zip"),
    "HDF5 in a group": Instrument(_group, "h5"),
    "flags that say bad": Instrument(_flagged, "nc"),
    "names of CF alone": Instrument(_by_attributes, "nc", {"x": "m", "t": START}),
    "NPZ with columns in one array": Instrument(_structured, "npz"),
}  # fmt: skip

# Under a name that promises a table, with what is said.
NO_TABLES = {
    "a page": (b"<!DOCTYPE html>\n<html><title>Login</title>\n1,2\n", "a page of HTML or XML"),
    "XML": (b'<?xml version="1.0"?>\n<r x="1"/>\n', "a page of HTML or XML"),
    "JSON": (b'[{"x": 0.1, "t": 0, "T": 20.5}]', "JSON is not read; write it as CSV"),
    "PDF": (b"%PDF-1.4\n1 0 obj\n", "this is a PDF"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(80), "give it the ending .h5"),
    "an old workbook": (b"\xd0\xcf\x11\xe0" + bytes(80), "an old workbook of Excel"),
    "a matrix": (b"File:,IR_1.jpg\nEmissivity:,0.95\n20.5,21,22\n20.6,21,22\n20.7,21,22\n",
                 "line 3 holds numbers where the column names should stand"),
    "quantities below each other": (b"time,x,metric,a,b\n0,0,temp,20,1\n0,0,hum,45,2\n",
                                    "several quantities stand below each other"),
    "units below each other": (b"time,x,unit,value\n0,0,degC,20\n0,0,degF,68\n",
                               "'degC', 'degF'"),
    "below absolute zero": (b"x,t,T [degC]\n0,0,20\n1,0,21\n2,0,-300\n", "is below absolute zero"),
    "a time in several columns": (b"Year,DOY,Hour,x,T\n2024,72,10,0,1\n2024,72,11,0,2\n",
                                  "the time stands in the columns Year, DOY, Hour"),
    "a date and an hour": (b"YYYYMMDD,HHMM,x,T\n20240312,1000,0,1\n20240312,1001,0,2\n",
                           "the time stands in the columns YYYYMMDD, HHMM"),
    "hours, or what": (b"DATE,TIME,x,T\n20240312,0,0,1\n20240312,1,0,2\n20240313,0,0,3\n",
                       "may be hours, minutes or seconds"),
}  # fmt: skip
