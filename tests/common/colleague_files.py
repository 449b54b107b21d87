"""Files as colleagues send them: printed by programs and databases, typed in, copied from a page.

`COLLEAGUES` hold the readings of `instrument_files`, `UNCLEAR` have the sentence that must come.
"""

from instrument_files import DAY, START, Instrument, long, wide

LINE = "+-----+-----+------+\n"
HOBO = (
    '"Plot Title: rod"\n"#","Date Time, GMT+00:00","T x=0.1 m, °C","T x=0.5 m, °C",Coupler Attached,'
    "Coupler Detached,Host Connected,Button Down,Stopped,End Of File"
)
COLLEAGUES = {
    "a serial plotter": Instrument(long("", "t:{t}\tx:{x}\tT:{T}").lstrip(), "txt"),
    "names before every value": Instrument(
        long("", f"{DAY}T{{stamp}}Z x={{x}} T={{T}}").lstrip(), "log", {"t": START}
    ),
    "Markdown": Instrument(long("| t [s] | x [m] | T |\n|---|---|---|", "| {t} | {x} | {T} |"), "txt"),
    "MySQL": Instrument(
        LINE + long(f"| t | x | T |\n{LINE.strip()}", "| {t} | {x} | {T} |") + LINE
        + "6 rows in set (0.00 sec)\n", "txt"),
    "pandas, printed": Instrument(long("     t    x     T", "{n}   {t}  {x}  {T}"), "txt"),
    "lengths of time of ISO 8601": Instrument(long("time,x,T", "PT{t}S,{x},{T}").replace(".0S", "S")),
    "HOBO, with many events": Instrument(
        wide(HOBO, f"{{n}},{DAY} {{stamp}},{{a}},{{b}},,,,,,", f"\n4,{DAY} 10:03:00,,,Logged,,,,,Logged"),
        units={"x": "m", "T": "°C", "t": START},
    ),
    "places in millimetres behind a letter": Instrument(
        wide("t,T100mm,T500mm", "{t},{a},{b}"), units={"x": "mm"}
    ),
    "units in cells": Instrument(
        long("t;x;T", "{t} s;{x} m;{T} °C"), units={"x": "m", "t": "s", "T": "°C"}
    ),
    "quantities below each other": Instrument(
        long("t,x,quantity,value", "{t},{x},temperature,{T}\n{t},{x},humidity,45")
    ),
}  # fmt: skip
UNCLEAR = {
    "columns that touch": (
        "     t     x       T\n     0   0.1-121.000\n     0   0.5-125.000\n", "line 2 has 2 cell(s)"),
    "VTK": ("# vtk DataFile Version 3.0\nrod\nASCII\n", "this is a file of VTK"),
    "cells of Excel that were too narrow": (
        "time,x,T\n########,0.1,21\n########,0.5,22\n", "no row follows it; lines that begin with # are"),
}  # fmt: skip
