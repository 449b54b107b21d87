"""Files as further loggers and programs write them, and tables that have to be refused in one sentence.

`PROGRAMS` hold the readings of `instrument_files`; `PLANES` velocities at the corners of a square.
"""

from typing import NamedTuple

from instrument_files import DAY, START, Instrument, long, wide
from logger_files import T, workbook

NOON = ("3/13/2024 10:00:00 AM", "3/13/2024 10:01:00 AM", "3/13/2024 10:02:00 AM")
NEXT = "seconds since 2024-03-13T10:00:00"
LVM = "LabVIEW Measurement\t\nX_Columns\t{}\n***End_of_Header***\t\n\t\nChannels\t2\t\t\n"
LVM += "X_Dimension\tTime\tTime\t\n"
LVM += "X0\t0.0\t0.0\t\nDelta_X\t60.0\t60.0\t\n***End_of_Header***\t\t\t\n"
ZONES = "".join(
    f'ZONE T="Step", STRANDID=1, SOLUTIONTIME={60 * n}\n0.1 {a}\n0.5 {b}\n'
    for n, (a, b) in enumerate(T)
)


def spread(rows):
    return lambda: workbook(("Log", rows))


PROGRAMS = {
    "Fluke": Instrument(
        "Fluke 2638A,,,\nStart Time,3/13/2024 10:00:00 AM,,\nInstrument,12345678,,\n"
        + wide("Scan,Time,Ch101 x=0.1m (C),Ch102 x=0.5m (C)", "{n},{stamp},{a},{b}",
               "\n4,3/13/2024 10:03:00 AM,Open TC,OVER", NOON),
        units={"x": "m", "T": "degC", "t": NEXT},
    ),
    "BenchVue": Instrument(
        "Keysight Technologies,DAQ970A,MY1,A.03\n"
        + wide("Sweep #,Time,Chan 101 (x=0.1) (C),Chan 102 (x=0.5) (C)",
               "{n},03/13/2024 {stamp}.000,{a:e},{b:e}", "\n4,03/13/2024 10:03:00.000,9.9E+37,9.9E+37"),
        units={"T": "degC", "t": NEXT},
    ),
    "PicoLog": Instrument(
        wide("Time,Channel 1 (x=0.1 m) Last (C),Channel 2 (x=0.5 m) Last (C)\n(s),(°C),(°C)\n",
             "{t},{a},{b}", "\n180,*****,*****"), units={"x": "m", "t": "s", "T": "°C"},
    ),
    "Omega": Instrument(
        wide("OM-DAQ-USB-2400\nTime (sec.),Temp 1 @ x=0.1 (Deg. C),Temp 2 @ x=0.5 (Deg. C)",
             "{t},{a},{b}"),
        units={"T": "Deg. C", "t": "sec"},
    ),
    "Testo": Instrument(
        wide("Date / time;[1] Messort x=0,1;[2] Messort x=0,5", "12.03.2024 {stamp};{a};{b}",
             "\n12.03.2024 10:03:00;-;-"), units={"t": START},
    ),
    "pandas, an index of dates": Instrument(
        wide(",T@x=0.1,T@x=0.5", f"{DAY} {{stamp}},{{a}},{{b}}"), units={"t": START},
    ),
    "Julia": Instrument(
        long("x,t,T", f"{{x}},{DAY}T{{stamp}}.000,{{T}}") + f"0.1,{DAY}T10:03:00.000,missing\n",
        units={"t": START},
    ),
    "quoted numbers with decimal commas": Instrument(
        long('"x";"t";"T"', '"{x}";"{t}";"{T}"').replace(".", ","),
    ),
    "a line for Excel": Instrument("sep=;\n" + long("x;t;T", "{x};{t};{T}")),
    "old line ends": Instrument(long("x,t,T", "{x},{t},{T}").replace("\n", "\r")),
    "Tecplot, a temperature and times": Instrument('VARIABLES = "x", "T"\n' + ZONES, "dat"),
    "ERDDAP": Instrument(
        long("time,latitude,longitude,x,temperature,temperature_qc\nUTC,degrees_north,degrees_east,m,degree_C,1",
             f"{DAY}T{{stamp}}Z,45.1,-20.2,{{x}},{{T}},1"),
        units={"x": "m", "T": "degree_C", "t": START},
    ),
}  # fmt: skip


class Plane(NamedTuple):
    """What is written under which name, and the unit of length."""

    content: str
    name: str = "a.csv"
    unit: str | None = None


CORNERS = [(0, 0, 1.5, 0.5), (1, 0, 1.25, 0.25), (0, 1, 1.75, 0.75), (1, 1, 1.0, 0.125)]


def corners(heading: str, row: str) -> str:
    """One line per corner: {x}, {y}, {u}, {v} and {n} from 0."""
    lines = [row.format(x=x, y=y, u=u, v=v, n=n) for n, (x, y, u, v) in enumerate(CORNERS)]
    return "\n".join([heading, *lines, ""])


PLANES = {
    "PIVlab": Plane(corners(
        "PIVlab by W.Th. & E.J.S., ASCII chart output - 12-Mar-2024\nFRAME: 1, filenames: A.bmp & B.bmp\n"
        "x [m],y [m],u [m/s],v [m/s],Vector type [-]", "{x},{y},{u},{v},1"), "a.txt", "m"),
    "OpenPIV": Plane(corners("# x\ty\tu\tv\tflags\tmask", "{x}\t{y}\t{u}\t{v}\t0\t0"), "a.txt"),
    "ParaView 5": Plane(corners(
        '"p","U_0","U_1","U_2","U_Magnitude","Points_0","Points_1","Points_2"',
        "9,{u},{v},0,7,{x},{y},0")),
    "SU2": Plane(corners(
        '"PointID","x","y","Density","Momentum_x","Velocity_x","Velocity_y"',
        "{n}, {x}, {y}, 1, 9, {u}, {v}")),
    "Star-CCM+": Plane(corners(
        '"Velocity[i] (m/s)","Velocity[j] (m/s)","Velocity[k] (m/s)","X (mm)","Y (mm)","Z (mm)"',
        "{u},{v},0,{x},{y},0"), unit="mm"),
    "DaVis": Plane(corners(
        'VARIABLES = "x [mm]", "y [mm]", "Vx [m/s]", "Vy [m/s]", "isValid"\nZONE T="a", I=2, J=2',
        "{x} {y} {u} {v} 1"), "a.dat", "mm"),
}  # fmt: skip

# What nobody can read, or only the user can decide, with what is said.
REFUSED = {
    "zones at one place": (
        'VARIABLES = "x", "T"\n' + 2 * 'ZONE T="a"\n0 1\n1 2\n', "SOLUTIONTIME"),
    "the year first": ("time,x,T\n24/03/13,0,1\n24/03/14,0,2\n", "may have the year first"),
    "two times": ("time,x,t\n0,0,1\n60,0,2\n", "'t' and 'time' may both be the time"),
    "one name twice": ("x,t,T,T\n0,0,1,2\n1,0,1,2\n", "two columns are named 'T'; rename one"),
    "a sum below": ("x,t,T\n0,0,1\n1,0,2\nTotal,,3\n", "line 4, column 'x': 'Total' is not a number"),
    "binary": ('"TOB1","CR1000"\n"S","RN"\n', "convert it to TOA5"),
    "a range": ("x,t,T\n0,0,1\n1,0,0.5-100\n2,0,3\n", "'0.5-100' is not a number"),
    "hours or minutes": ("time,x,T\n10:00,0,1\n10:01,0,2\n", "may be hours and minutes, or minutes and"),
    "99 of buoys": ("x,t,T\n0,0,1\n1,0,99.0\n2,0,1.5\n", "99 may be a reading"),
    "units in two places": (
        "x (mm),t (s),T\nm,s,K\n0,0,1\n1,0,2\n", "and the row of units below it 'm'"),
    "angles": ("lat,lon,T\n50,7,1\n51,7,2\n", "Angles such as 'lat' are no lengths"),
}  # fmt: skip
