"""Fits of measured data beside what a practitioner does, and published figures.

    python benchmarks/measured.py DATA                 # writes benchmarks/results/measured.json
    python benchmarks/measured.py DATA dalem --out somewhere/

DATA is a folder with measurements of others, which are not part of this repository:

    pumping_tests/oude_korendijk.csv, dalem.csv    drawdown around wells (Kruseman and de Ridder)
    streambed/stream.csv, bed_temperatures.csv     temperatures below a river (Orgeval basin)
    sand_column/saturated.csv                      breakthrough of a tracer (Shiozawa; CXTFIT)
    lynx_hare/hudson_lynx_hare.json                pelts of two animals (Hudson Bay; posteriordb)
    rio_magnetic/rio-magnetic.csv                  magnetic anomaly along flight lines (CPRM; verde)

Every problem is stated as a user of the library would: the equation, what is known, first guesses that
are off by two to ten times. Beside it stands least squares on the classical solution, or on finite
differences. Intervals hold 90 %. Numbers are compared with those of AQTESOLV, of Hantush's solution and
of a reference posterior.
"""

import argparse
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp
from scipy.linalg import solve_banded
from scipy.optimize import least_squares
from scipy.special import erfc, erfcx, exp1

import pgt
from pgt.core.provenance import provenance
from pgt.inference.ridge_posterior import RidgePosterior

RESULTS = Path(__file__).parent / "results"
QUANTILE = 1.645  # of a normal number, for intervals that hold 90 %


def unknown(first: float) -> pgt.Unknown:
    """A positive coefficient."""
    return pgt.Unknown(first, positive=True)


def least_squares_of(names: str, misfit: Callable, first: list[float], skip: int = 0) -> dict:
    """Positive coefficients by least squares on their logarithms, with intervals."""
    found = least_squares(misfit, np.log(first), x_scale="jac")
    count = len(found.fun) - len(first)
    variance = np.linalg.inv(found.jac.T @ found.jac) * 2 * found.cost / count
    widths = QUANTILE * np.sqrt(np.diag(variance))
    intervals = {
        name: [float(np.exp(x - w)), float(np.exp(x)), float(np.exp(x + w))]
        for name, x, w in zip(names.split(), found.x, widths, strict=True)
    }
    return {"intervals": intervals, "rmse": float(np.sqrt(np.mean(found.fun**2)))}


def timed(readings, pde, domain, conditions, seconds: float):
    """The reconstruction, and what is said of it."""
    wall, processor = time.monotonic(), time.process_time()
    result = pgt.reconstruct(
        readings, pde, domain, conditions, training=pgt.Training(seconds=seconds),
        error_bars=pgt.Posterior(), progress=False,
    )  # fmt: skip
    fitted = time.process_time() - processor, time.monotonic() - wall
    doubts = [doubt.kind for doubt in result.verdict().doubts]
    tried = [[one["method"], one["outcome"]] for one in result.summary["plan"]]
    intervals = {
        name: [found.lower, found.value, found.upper]
        for name, found in result.intervals(0.9).items()
    }
    return result, {
        "intervals": intervals, "plan": tried,
        "stopped": result.summary["stopped"], "doubts": doubts,
        "processor_seconds": fitted[0], "seconds": fitted[1],
        "verdict_processor_seconds": time.process_time() - processor - fitted[0],
    }  # fmt: skip


def compared(result, field: str, points, read) -> dict:
    """The error at readings, and the share of them in the band that is to hold 90 % of new readings."""
    found = result.band(points, level=0.9, of="reading")
    lower, middle, upper = (np.asarray(found[f"{field}{end}"]) for end in ("_lower", "", "_upper"))
    return {
        "rmse": float(np.sqrt(np.mean((middle - read) ** 2))),
        "coverage": float(np.mean((lower <= read) & (read <= upper))),
    }


# ------------------------------------------------------------------------------ pumping tests


def theis(coefficients, r, t) -> np.ndarray:
    """Drawdown in a confined aquifer 7 m thick, 788 m³/d pumped."""
    k, storage = coefficients
    return 788 / (4 * np.pi * 7 * k) * exp1(r**2 * storage / (4 * k * t))


def hantush(coefficients, r, t) -> np.ndarray:
    """Drawdown in a leaky aquifer 37 m thick, 761 m³/d pumped."""
    k, storage, resistance = coefficients
    depth, leak = 37.0, r / np.sqrt(k * 37.0 * resistance)
    least = r**2 * storage / (4 * k * t)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    span = np.log(60 / least)[:, None]
    y = least[:, None] * np.exp((nodes + 1) / 2 * span)
    well = (np.exp(-y - leak[:, None] ** 2 / (4 * y)) * weights).sum(axis=1) * span[:, 0] / 2
    return 761 / (4 * np.pi * k * depth) * well


def around_well(rate: float) -> tuple:
    """No drawdown at the start and far away, and the rate of the well."""
    return pgt.Initial(s=0.0), pgt.Well(s=rate), pgt.Dirichlet("r", side="far", s=0.0)


def oude_korendijk(data: Path, seconds: float) -> dict:
    table = pd.read_csv(data / "pumping_tests/oude_korendijk.csv")
    r, t, s = (table[name].to_numpy(float) for name in ("r_m", "t_d", "drawdown_m"))
    pde = pgt.Equation("S*s_t = k*lap(s)", k=unknown(10.0), S=unknown(1e-4))
    readings = pgt.Observations.from_arrays({"r": r, "t": t}, {"s": s})
    domain = pgt.Domain(r=(0.1, 100), t=(0, 0.6), coordinates="polar")
    conditions = around_well(788 / 7)
    result, ours = timed(readings, pde, domain, conditions, seconds)
    ours |= compared(result, "s", {"r": r, "t": t}, s)
    rival = least_squares_of("k S", lambda p: theis(np.exp(p), r, t) - s, [30.0, 1e-4])
    published = {"k": 66.09, "S": 2.541e-5}
    return {"ours": ours, "least_squares": rival, "published": published}


def dalem(data: Path, seconds: float) -> dict:
    table = pd.read_csv(data / "pumping_tests/dalem.csv")
    r, t, s = (table[name].to_numpy(float) for name in ("r_m", "t_d", "drawdown_m"))
    pde = pgt.Equation(
        "37*S*s_t = 37*k*lap(s) - s/c", k=unknown(10.0), S=unknown(1e-4), c=unknown(1000.0)
    )
    readings = pgt.Observations.from_arrays({"r": r, "t": t}, {"s": s})
    domain = pgt.Domain(r=(0.1, 200), t=(0, 0.34), coordinates="polar")
    result, ours = timed(readings, pde, domain, around_well(761), seconds)
    ours |= compared(result, "s", {"r": r, "t": t}, s)
    rival = least_squares_of("k S c", lambda p: hantush(np.exp(p), r, t) - s, [30.0, 1e-4, 500.0])
    return {
        "ours": ours, "least_squares": rival, "published": {"k": 45.33, "S": 4.76e-5, "c": 331.0},
    }  # fmt: skip


# ------------------------------------------------------------------------------ stream bed

OFFSET = 0.05  # K, the standard deviation of the offsets of such sensors
DEPTHS = {0.1: "temperature_depth_1_C", 0.2: "temperature_depth_2_C", 0.3: "temperature_depth_3_C"}


def finite_differences(ke: float, ae: float, gradient, top, bottom, start) -> np.ndarray:
    """Temperatures 10, 20 and 30 cm deep by the rule of Crank and Nicolson, every 15 minutes."""
    count, now, found = len(start), start.copy(), [start[[10, 20, 30]]]
    h, diffused = 0.4 / (len(start) - 1), ke * 0.25
    for k in range(1, len(top)):
        along = diffused / h**2
        across = ae * (gradient[k] + gradient[k - 1]) / 2 * 0.25 / (2 * h)
        lower, middle, upper = along - across, -2 * along, along + across
        right = now.copy()
        right[1:-1] += (lower * now[:-2] + middle * now[1:-1] + upper * now[2:]) / 2
        right[0], right[-1] = top[k], bottom[k]
        bands = np.zeros((3, count))
        bands[1] = 1.0
        bands[1, 1:-1] -= middle / 2
        bands[0, 2:], bands[2, :-2] = -upper / 2, -lower / 2
        now = solve_banded((1, 1), bands, right)
        found.append(now[[10, 20, 30]])
    return np.array(found)


def stream_bed(data: Path, seconds: float, fitted: tuple[float, ...]) -> dict:
    """Thirteen days; readings at `fitted` depths are given, and all are compared."""
    stream = pd.read_csv(data / "streambed/stream.csv", parse_dates=["dates_parsed"])
    bed = pd.read_csv(data / "streambed/bed_temperatures.csv", parse_dates=["dates_parsed"])
    for table in (stream, bed):
        table["hour"] = (table.dates_parsed - stream.dates_parsed[0]).dt.total_seconds() / 3600
    times, bottom = bed.hour.to_numpy(float), bed.temperature_depth_4_C.to_numpy(float)
    read = {depth: bed[name].to_numpy(float) for depth, name in DEPTHS.items()}
    z, t = np.repeat(fitted, len(times)), np.tile(times, len(fitted))
    values = np.concatenate([read[depth] for depth in fitted])
    # Temperature sensors of this kind differ by some hundredths of a kelvin.
    sensors = pgt.Sensors(offset=OFFSET)
    readings = pgt.Observations.from_arrays({"z": z, "t": t}, {"T": values}, sensors=sensors)
    pde = pgt.Equation(
        "T_t = ke*T_zz + ae*dH/0.4*T_z", ke=unknown(2e-3), ae=pgt.Unknown(0.01, unit=0.01),
        dH=pgt.Table(stream, "dH", t="hour"),
    )  # fmt: skip
    conditions = (
        pgt.Dirichlet("z", side="lower", T=pgt.Table(stream, "temperature_stream_C", t="hour")),
        pgt.Dirichlet("z", side="upper", T=pgt.Table(bed, "temperature_depth_4_C", t="hour")),
    )
    domain = pgt.Domain(z=(0, 0.4), t=(0, float(times[-1])))
    result, ours = timed(readings, pde, domain, conditions, seconds)
    top, gradient = (stream[name].to_numpy(float) for name in ("temperature_stream_C", "dH"))
    known = [0.0, *DEPTHS, 0.4]
    first = [top[0], *(read[depth][0] for depth in DEPTHS), bottom[0]]
    start = np.interp(np.linspace(0, 0.4, 41), known, first)

    def rival(p):
        return finite_differences(np.exp(p[0]), p[1], gradient / 0.4, top, bottom, start)

    columns = [list(DEPTHS).index(depth) for depth in fitted]
    truth = np.array(list(read.values())).T
    best = least_squares(
        lambda p: (rival(p) - truth)[:, columns].ravel(), [np.log(2e-3), 0.0], x_scale="jac"
    )
    judged = [depth for depth in DEPTHS if depth not in fitted] or list(DEPTHS)
    at = [list(DEPTHS).index(depth) for depth in judged]
    points = {"z": np.repeat(judged, len(times)), "t": np.tile(times, len(judged))}
    gap = (rival(best.x) - truth)[:, at]
    return {
        "ours": ours | compared(result, "T", points, np.concatenate([read[d] for d in judged])),
        "least_squares": {
            "ke": float(np.exp(best.x[0])), "ae": float(best.x[1]),
            "rmse": float(np.sqrt(np.mean(gap**2))),
        },
        "published": {"rmse": 0.0337, "by": "Markov chain Monte Carlo, all depths fitted"},
    }  # fmt: skip


# ------------------------------------------------------------------------------ sand column


def third_type(coefficients, z, t) -> np.ndarray:
    """Concentration in a long column with a flux inlet (Lindstrom et al. 1967)."""
    v, dispersion = coefficients
    width = 2 * np.sqrt(dispersion * t)
    behind, front = (z + v * t) / width, (z - v * t) / width
    bell = np.exp(-(front**2))
    return (
        0.5 * erfc(front)
        + np.sqrt(v**2 * t / (np.pi * dispersion)) * bell
        - 0.5 * (1 + v * (z + v * t) / dispersion) * bell * erfcx(behind)
    )


def sand_column(data: Path, seconds: float) -> dict:
    """Readings 11 and 23 cm deep are fitted, those 17 cm deep predicted."""
    table = pd.read_csv(data / "sand_column/saturated.csv")
    z, t, c = (table[name].to_numpy(float) for name in ("z_cm", "t_h", "c_over_c0"))
    given, judged = np.isin(z, [11, 23]), z == 17
    pde = pgt.Equation("c_t = -v*J_z", "J = c - a*c_z", v=unknown(1.0), a=unknown(1.0))
    conditions = (
        pgt.Initial(c=0.0),
        pgt.Dirichlet("z", side="lower", J=1.0),
        pgt.Dirichlet("z", side="upper", c=0.0),
    )
    readings = pgt.Observations.from_arrays({"z": z[given], "t": t[given]}, {"c": c[given]})
    domain = pgt.Domain(z=(0, 60), t=(0, float(t.max())))
    result, ours = timed(readings, pde, domain, conditions, seconds)
    ours |= compared(result, "c", {"z": z[judged], "t": t[judged]}, c[judged])
    rival = least_squares_of(
        "v D", lambda p: third_type(np.exp(p), z[given], t[given]) - c[given], [2.0, 0.2]
    )
    best = [rival["intervals"][name][1] for name in ("v", "D")]
    gap = third_type(best, z[judged], t[judged]) - c[judged]
    rival["rmse"] = float(np.sqrt(np.mean(gap**2)))
    return {
        "ours": ours, "least_squares": rival, "published": {"v": 2.50, "D": 0.13, "rmse": 0.0255},
    }  # fmt: skip


# ------------------------------------------------------------------------------ lynx and hare


def lynx_hare(data: Path, seconds: float) -> dict:
    """Log-normal noise: the logarithms are fitted."""
    table = json.loads((data / "lynx_hare/hudson_lynx_hare.json").read_text())
    times = np.array([0, *table["ts"]], float)
    logs = np.log(np.array([table["y_init"], *table["y"]]))
    pde = pgt.Equation(
        "u_t = a - b*exp(v)", "v_t = -g + d*exp(u)",
        a=unknown(1.0), b=unknown(0.05), g=unknown(1.0), d=unknown(0.05),
    )  # fmt: skip
    readings = pgt.Observations.from_arrays({"t": times}, {"u": logs[:, 0], "v": logs[:, 1]})
    result, ours = timed(readings, pde, pgt.Domain(t=(0, 20)), (), seconds)
    ours |= compared(result, "u", {"t": times}, logs[:, 0])

    def misfit(p):
        a, b, g, d, *start = np.exp(p)
        found = solve_ivp(
            lambda t, y: [a - b * np.exp(y[1]), -g + d * np.exp(y[0])],
            (0, 20), np.log(start), t_eval=times, rtol=1e-8,
        )  # fmt: skip
        return (found.y.T - logs).ravel()

    start = [0.5, 0.03, 0.8, 0.03, 30.0, 4.0]
    rival = least_squares_of("a b g d hare lynx", misfit, start)
    posterior = {
        "a": [0.547, 0.063],
        "b": [0.0277, 0.0042],
        "g": [0.8, 0.089],
        "d": [0.0241, 0.0035],
    }
    return {"ours": ours, "least_squares": rival, "published": posterior}


# ------------------------------------------------------------------------------ magnetic survey

EARTH_RADIUS = 6371e3
# One source for each cell of this size in meters, at half of it below the readings of the cell: finer
# cells resolve shallower rocks and take more time.
CELL = 600.0
BLOCK = 2048  # the number of readings whose rows are computed at once
LINES_LEFT_OUT = 20  # they give the factor by which predictions err more than the posterior says
READINGS_OF_PROCESS = 1000  # of scikit-learn's process, whose time grows as the cube


def source_rows(positions: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """The potentials of point sources, which satisfy the Laplace equation above them."""
    square = sum((positions[:, None, k] - sources[None, :, k]) ** 2 for k in range(3))
    return CELL / 2 / np.sqrt(square)


def rio_magnetic(data: Path, seconds: float) -> dict:
    """Readings along flight lines are fitted, those along tie lines are predicted."""
    table = pd.read_csv(data / "rio_magnetic/rio-magnetic.csv")
    latitude, longitude = np.deg2rad(table.latitude), np.deg2rad(table.longitude)
    east = EARTH_RADIUS * np.cos(latitude.mean()) * (longitude - longitude.mean())
    north = EARTH_RADIUS * (latitude - latitude.mean())
    positions = np.stack([east, north, table.height_ell_m], axis=1)
    values, is_line = (
        table.total_field_anomaly_nt.to_numpy(),
        (table.line_type == "LINE").to_numpy(),
    )
    given, judged, read = positions[is_line], positions[~is_line], values[~is_line]
    lines = table.line_number.to_numpy()[is_line]
    found = {"ours": equivalent_sources(given, values[is_line], lines, judged, read)}
    for name, rival in (("verde_spline", verde_spline), ("gaussian_process", flat_process)):
        wall, processor = time.monotonic(), time.process_time()
        predicted = rival(given, values[is_line], judged)
        found[name] = errors_of(predicted, read, wall, processor)
    return found


def errors_of(predicted, read, wall: float, processor: float) -> dict:
    return {
        "rmse": float(np.sqrt(np.mean((predicted - read) ** 2))),
        "median_error": float(np.median(np.abs(predicted - read))),
        "processor_seconds": time.process_time() - processor, "seconds": time.monotonic() - wall,
    }  # fmt: skip


def equivalent_sources(given, values, lines, judged, read) -> dict:
    """A harmonic field: potentials of sources below the readings, σ and prior by the evidence."""
    wall, processor = time.monotonic(), time.process_time()
    cells = np.unique(np.floor(given[:, :2] / CELL), axis=0, return_inverse=True)[1].reshape(-1)
    counts = np.bincount(cells)
    sources = np.stack([np.bincount(cells, column) / counts for column in given.T], axis=1)
    sources[:, 2] -= CELL / 2
    middle, spread = np.median(values), np.std(values)
    standard = (values - middle) / spread
    blocks = (slice(start, start + BLOCK) for start in range(0, len(given), BLOCK))
    posterior = RidgePosterior.of((source_rows(given[b], sources), standard[b]) for b in blocks)
    tested = np.random.default_rng(0).permutation(np.unique(lines))[:LINES_LEFT_OUT]
    ratios = []
    for line in tested:
        inside = lines == line
        errors, sigmas = posterior.left_out(source_rows(given[inside], sources), standard[inside])
        ratios.append(np.abs(errors) / sigmas)
    width = np.quantile(np.concatenate(ratios), 0.9)
    rows = source_rows(judged, sources)
    predicted = middle + spread * rows @ posterior.weights
    half = width * spread * np.hypot(posterior.spread(rows), posterior.sigma)
    return errors_of(predicted, read, wall, processor) | {
        "coverage": float(np.mean(np.abs(predicted - read) <= half)),
        "half_width": float(np.median(half)), "calibration_factor": float(width / QUANTILE),
        "sigma": float(spread * posterior.sigma), "sources": len(sources),
    }  # fmt: skip


def verde_spline(given, values, judged) -> np.ndarray:
    """Biharmonic splines through the medians of as many cells, after a linear trend (verde's manual)."""
    import verde  # not among the packages of this project: pip install verde

    chain = verde.Chain([
        ("trend", verde.Trend(degree=1)),
        ("reduce", verde.BlockReduce(np.median, spacing=CELL)),
        ("spline", verde.Spline(damping=1e-10)),
    ])  # fmt: skip
    chain.fit((given[:, 0], given[:, 1]), values)
    return chain.predict((judged[:, 0], judged[:, 1]))


def flat_process(given, values, judged) -> np.ndarray:
    """scikit-learn's Gaussian process with a fitted length and noise, on a part of the readings."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, WhiteKernel

    part = np.random.default_rng(0).permutation(len(given))[:READINGS_OF_PROCESS]
    kernel = RBF(3.0, (0.1, 100.0)) + WhiteKernel(0.1)
    process = GaussianProcessRegressor(kernel, normalize_y=True).fit(
        given[part] / 1e3, values[part]
    )
    return process.predict(judged / 1e3)


SETS: Mapping[str, Callable[[Path, float], dict]] = {
    "oude_korendijk": oude_korendijk,
    "dalem": dalem,
    "sand_column": sand_column,
    "lynx_hare": lynx_hare,
    "stream_bed_fitted": lambda data, seconds: stream_bed(data, seconds, tuple(DEPTHS)),
    "rio_magnetic": rio_magnetic,
    "stream_bed_predicted": lambda data, seconds: stream_bed(data, seconds, (0.2,)),
}


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="*", choices=[[], *SETS], default=[])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    path = arguments.out / "measured.json"
    known = json.loads(path.read_text())["sets"] if path.exists() else {}
    for name in arguments.sets or SETS:
        known[name] = SETS[name](arguments.data, arguments.seconds)
        print(name, json.dumps(known[name]["ours"]))
        path.write_text(json.dumps({"provenance": provenance(), "sets": known}, indent=1) + "\n")


if __name__ == "__main__":
    main()
