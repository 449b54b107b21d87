"""Files as colleagues send them: printed by programs and databases, typed in, copied from a page.

`COLLEAGUES` hold the readings of `instrument_files`, `UNCLEAR` have the sentence that must come.
"""

from instrument_files import CLOCKS, DAY, START, Instrument, long, wide

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
    "PostgreSQL": Instrument(long(" t | x | T\n---+---+---", " {t} | {x} | {T}") + "(6 rows)\n", "txt"),
    "pandas, printed": Instrument(long("     t    x     T", "{n}   {t}  {x}  {T}"), "txt"),
    "lengths of time of ISO 8601": Instrument(long("time,x,T", "PT{t}S,{x},{T}").replace(".0S", "S")),
    "`date` of a shell": Instrument(
        long("time,x,T", "Tue 12 Mar {stamp} CET 2024,{x},{T}"), units={"t": START.replace("10:", "09:")}
    ),
    "numbers typed in as text": Instrument(long("t,x,T", "'{t},'{x},'{T}")),
    "a slash between date and time": Instrument(
        long("Date/Time,x,T", f"{DAY} {{stamp}},{{x}},{{T}}"), units={"t": START}
    ),
    "HOBO, with many events": Instrument(
        wide(HOBO, f"{{n}},{DAY} {{stamp}},{{a}},{{b}},,,,,,", f"\n4,{DAY} 10:03:00,,,Logged,,,,,Logged"),
        units={"x": "m", "T": "°C", "t": START},
    ),
    "places behind a line": Instrument(wide("t,T_0.1,T_0.5", "{t},{a},{b}")),
    "places in brackets": Instrument(wide("t;T(0.1);T(0.5)", "{t};{a};{b}")),
    "places in millimetres behind a letter": Instrument(
        wide("t,T100mm,T500mm", "{t},{a},{b}"), units={"x": "mm"}
    ),
    "units in cells": Instrument(
        long("t;x;T", "{t} s;{x} m;{T} °C"), units={"x": "m", "t": "s", "T": "°C"}
    ),
    "quantities below each other": Instrument(
        long("t,x,quantity,value", "{t},{x},temperature,{T}\n{t},{x},humidity,45")
    ),
    "clocks before every value": Instrument(
        "".join(f"[{DAY} {c}] x=0.1 T={a}\n[{DAY} {c}] x=0.5 T={b}\n"
                for c, (a, b) in zip(CLOCKS, ((20.5, 21.0), (22.25, 23.5), (24.0, 25.75)), strict=True)),
        "txt", {"t": START}),
}  # fmt: skip
UNCLEAR = {
    "columns that touch": (
        "     t     x       T\n     0   0.1-121.000\n     0   0.5-125.000\n", "line 2 has 2 cell(s)"),
    "VTK": ("# vtk DataFile Version 3.0\nrod\nASCII\n", "this is a file of VTK"),
    "cells of Excel that were too narrow": (
        "time,x,T\n########,0.1,21\n########,0.5,22\n", "no row follows it; lines that begin with # are"),
}  # fmt: skip
