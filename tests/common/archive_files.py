"""Files of archives, control rooms, other languages and spreadsheets; and what only looks like a table.

`ARCHIVES` hold the readings of `instrument_files`, `NO_TABLES` have the sentence that must come.
"""

import bz2
import zipfile

import h5py
import numpy as np
import xarray as xr
from instrument_files import CLOCKS, DAY, START, TIMES, Instrument, X, long, wide
from logger_files import ROWS, T

PLAIN = long("x,t,T", "{x},{t},{T}")
NEXT = "seconds since 2024-03-13T10:00:00"
WORDS = {
    "Spanish": "Tiempo;Posición;Temperatura",
    "Italian": "Tempo;Posizione;Temperatura",
    "Polish": "Czas;Położenie;Temperatura",
    "Russian": "Время;Координата;Температура",
    "Chinese": "时间;位置;温度",
    "Japanese": "時間;位置;温度",
    "Dutch": "Tijd;Positie;Temperatuur",
}
# What the degree sign of one encoding is in another.
DEGREES = ("øC", "¡C", "Â°C", "\ufffdC", "?C", "&deg;C", "oC")
# A moment of 12 March 2024, with its minute left open.
SPELLINGS = {
    "French": "12 mars 2024 10:0{}:00",
    "Spanish": "12 de marzo de 2024 10:0{}:00",
    "Italian": "12 mar 2024 10:0{}:00",
    "a dash": "2024/03/12-10:0{}:00",
    "points": "12.03.2024 10.0{}.00",
    "signs of Japan": "2024年3月12日 10時0{}分",
}
INFLUX = (
    "#group,false,false,true,false,false,true,true\n#default,_result,,,,,,\n"
    + long(",result,table,_start,_time,_value,_field,x",
           f",,{{n}},{DAY}T00:00:00Z,{DAY}T{{stamp}}Z,{{T}},temperature,{{x}}")
)  # fmt: skip
BENCHLINK = (
    "Acquisition Date:,3/13/2024\nChannel,Name,Function,Range,Resolution,Gain,Offset,Label\n"
    "101,x=0.1,Temp (Type K),,,1,0,C\n102,x=0.5,Temp (Type K),,,1,0,C\n\nScan Control:\nInterval:,60\n\n"
)
AT_PLACES = "".join(
    f"{x},{','.join(str(pair[k]) for pair in T)}\n" for k, x in enumerate(X)
)  # a row per place


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
        f"degrees as {sign}": Instrument(long(f"x,t,T [{sign}]", "{x},{t},{T}"), units={"T": "degC"})
        for sign in DEGREES
    },
    **{
        f"times with {name}": Instrument(
            long("Date,x,T", "{stamp},{x},{T}", [form.format(n) for n in range(3)]), units={"t": START}
        )
        for name, form in SPELLINGS.items()
    },
    "Windows-1251": Instrument(long("Время, с;x;Температура, °С", "{t};{x};{T}").encode("cp1251"),
                               units={"t": "s"}),
    "GB 18030": Instrument(long("时间(秒),位置(米),温度(℃)", "{t},{x},{T}").encode("gb18030"),
                           units={"t": "s", "x": "m"}),
    "Shift JIS": Instrument(long("時間[s],位置[m],温度[℃]", "{t},{x},{T}").encode("shift_jis"),
                            units={"t": "s", "x": "m"}),
    "a heading of two lines in a cell": Instrument(long('x,t,"T\n[°C]"', "{x},{t},{T}"),
                                                   units={"T": "°C"}),
    "an end that is said": Instrument(PLAIN + "END_DATA\n"),
    "a list of channels above": Instrument(
        BENCHLINK
        + wide("Scan,Time,101 <x=0.1> (C),102 <x=0.5> (C)", "{n},3/13/2024 {stamp}:000,{a},{b}"),
        units={"t": NEXT, "T": "degC"}),
    "InfluxDB": Instrument(INFLUX, units={"t": START}),
    "OPC with rows that are bad": Instrument(
        long("SourceTimestamp,StatusCode,Value,x", f"{DAY}T{{stamp}}Z,Good,{{T}},{{x}}")
        + f"{DAY}T10:03:00Z,Bad_NoData,0,0.1\n", units={"t": START}),
    "WinCC": Instrument(
        long('"VarName";"TimeString";"x";"VarValue";"Validity";"Time_ms"',
             '"Rod";"12.03.2024 {stamp}";{x};{T};1;45363416666.{t:.0f}'), units={"t": START}),
    "a unit in a column": Instrument(long("t,x,value,unit", "{t},{x},{T},degC"), units={"T": "degC"}),
    "a monitor of Star-CCM+": Instrument(
        wide('"Physical Time: Physical Time (s)","T: x=0.1 (K)","T: x=0.5 (K)"', "{t},{a},{b}"),
        units={"t": "s", "T": "K"}),
    "a column of milliseconds": Instrument(
        "Timestamp,Millisecond,x,T [degC]\n" + "".join(
            f"{DAY} 10:0{n // 2}:00,{(n % 2) * 0},{x},{v}\n" for n, (x, _, v) in enumerate(ROWS)
        ) + f"{DAY} 10:03:00,250,0.1,NaN\n", units={"t": START}),
    "a date in three columns and a clock": Instrument(
        long("Year,Month,Day,Time,x,T", "2024,3,12,{stamp},{x},{T}"), units={"t": START}),
    "minutes and seconds, as the heading says": Instrument(
        long("Elapsed (mm:ss),x,T", "{stamp},{x},{T}", ("00:00", "01:00", "02:00"))),
    "times below, places beside": Instrument(wide("t,0.1,0.5", "{t},{a},{b}")),
    "a corner with both axes": Instrument("x [m]\\t [s],0,60,120\n" + AT_PLACES,
                                          units={"x": "m", "t": "s"}),
    "a glass fibre": Instrument(
        f"Fibre length [m],{','.join(f'{DAY} {clock}' for clock in CLOCKS)}\n" + AT_PLACES,
        units={"x": "m", "t": START}),
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
    "hours, or what": (b"DATE,TIME,x,T\n20240312,0,0,1\n20240312,1,0,2\n20240313,0,0,3\n",
                       "may be hours, hours and minutes, or seconds"),
}  # fmt: skip
