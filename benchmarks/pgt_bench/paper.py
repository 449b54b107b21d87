"""What the paper prints in its tables 1 to 4, as plain data under the names our tables use.

E. Zeraatkar, R. Podorozhny and J. Tešić, "Physics-Guided Transformer (PGT): Physics-Aware Attention
Mechanism for PINNs". Times are in the words of the paper.
"""

# Table 1: by model and number of readings M.
_HEAT = ("train_error", "residual", "error", "gigaflops", "seconds")
_HEAT_SIZES = {"SIREN": 26_419, "PINN": 66_500, "PGT": 405_000_000}
_HEAT_ROWS = {
    ("SIREN", 100): (0.063, 0.18, 0.54, 6.5, "126 s"),
    ("SIREN", 200): (0.045, 0.14, 0.45, 6.8, "127 s"),
    ("SIREN", 500): (0.025, 0.18, 0.34, 7.5, "135 s"),
    ("PINN", 100): (0.026, 0.12, 0.226, 1.69, "65 s"),
    ("PINN", 200): (0.024, 0.19, 0.332, 1.75, "65.9 s"),
    ("PINN", 500): (0.021, 0.13, 0.313, 1.94, "66.8 s"),
    ("PGT", 100): (0.000076, 0.066, 0.0059, 116, "9.5 min"),
    ("PGT", 200): (0.000029, 0.066, 0.0028, 132, "13 min"),
    ("PGT", 500): (0.000017, 0.067, 0.0026, 190, "27.5 min"),
}
HEAT: dict[tuple[str, int], dict] = {
    (name, readings): dict(zip(_HEAT, row, strict=True)) | {"parameters": _HEAT_SIZES[name]}
    for (name, readings), row in _HEAT_ROWS.items()
}

# Table 2. "overall" is the mean of u, v and p, to rounding, in all rows but FNO and PI-DeepONet.
_WAKE = (
    "parameters", "gigaflops", "seconds", "overall", "u", "v", "p", "residual", "train_error",
)  # fmt: skip
_WAKE_ROWS = {
    "FNO": (2.360e6, 0.092, "4.41 s", 0.710, 0.2200, 1.4900, 0.770, 4.70e-2, 4.20e-4),
    "PI-DeepONet": (0.215e6, 176.12, "36 s", 0.095, 0.0600, 0.2300, 0.210, 4.20e-1, 3.90e-3),
    "PINNsFormer": (0.545e6, 13.200, "296 min", 0.080, 0.0400, 0.0900, 0.110, 8.30e-2, 8.30e-4),
    "SIREN": (0.264e6, 1.310, "2.5 min", 0.690, 0.3100, 1.0000, 0.770, 3.90e-4, 5.50e-2),
    "WIRE": (0.528e6, 5.200, "6.3 min", 0.018, 0.0041, 0.0350, 0.014, 5.10e-1, 1.54e-4),
    "PINN": (0.336e6, 1.600, "2.6 min", 0.110, 0.0400, 0.1400, 0.160, 8.40e-4, 1.19e-3),
    "PGT": (5.630e6, 32.860, "47 min", 0.034, 0.0160, 0.0410, 0.046, 8.30e-4, 6.50e-5),
}
WAKE: dict[str, dict] = {
    name: dict(zip(_WAKE, row, strict=True)) for name, row in _WAKE_ROWS.items()
}

# Table 3, by our name of the configuration. Its "reconstruction error" of the full model is the train
# error of table 2.
_ABLATION = ("train_error", "residual")
_ABLATION_ROWS = {
    "pgt-anchors": (6.50e-5, 8.30e-4),
    "no-pde": (8.80e-5, 2.90e-3),
    "no-bias": (3.00e-4, 1.30e-2),
    "no-physics": (3.60e-4, 3.50e-2),
    "decoder-siren": (1.83e-4, 1.10e-3),
    "decoder-film-mlp": (1.21e-4, 1.05e-3),
    "decoder-mlp": (3.12e-4, 1.42e-3),
}
ABLATION = {name: dict(zip(_ABLATION, row, strict=True)) for name, row in _ABLATION_ROWS.items()}

# Table 4, by our name of the method and the noise η: mean error of u and v, residual.
_LEVELS = (0.0, 0.01, 0.02, 0.05, 0.10, 0.20)
_NOISE_COLUMNS = {
    ("pgt-anchors", "error"): (0.0496, 0.0634, 0.0406, 0.0508, 0.0512, 0.0607),
    ("pgt-uw", "error"): (0.0410, 0.0861, 0.1054, 0.1102, 0.1551, 0.0400),
    ("pgt-anchors", "residual"): (1.61e-3, 1.99e-3, 1.86e-3, 1.49e-3, 1.92e-3, 1.82e-3),
    ("pgt-uw", "residual"): (4.55e-3, 6.80e-3, 7.78e-3, 7.63e-3, 7.74e-3, 4.64e-3),
}
NOISE = {
    (method, level): {
        quantity: _NOISE_COLUMNS[method, quantity][index] for quantity in ("error", "residual")
    }
    for method in ("pgt-anchors", "pgt-uw")
    for index, level in enumerate(_LEVELS)
}
