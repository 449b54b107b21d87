"""How large and how long: what a preset gives every method, the same for all.

`smoke` checks that everything runs, with tiny networks and two steps: its errors compare nothing. `cpu`
is for two cores, `gpu` for one data-centre GPU. Decoders and
coordinate networks of one preset have the same depth and width; WIRE's complex layers are narrower by
√2, as its authors do, which gives the same number of weights.
"""

from dataclasses import dataclass, field
from typing import Any

from pgt.core.errors import InputError


@dataclass(frozen=True)
class Scale:
    """Sizes by model family, and the budget. `seconds` do not count the compilation of a step."""

    seconds: float
    steps: int
    collocation: int
    batch: int
    polish_share: float = 0.0  # of the seconds, for methods that get our recipe
    sizes: dict[str, Any] = field(default_factory=dict)
    newton: dict[str, Any] = field(default_factory=dict)  # sizes that second-order steps can take

    def sizes_for(self, recipe: str) -> dict[str, Any]:
        """The sizes with which a recipe has time for enough steps."""
        return self.newton if recipe == "newton" else self.sizes

    def share_for(self, recipe: str) -> float:
        """The share of the seconds that second-order steps have."""
        return {"ours": self.polish_share, "newton": NEWTON_SHARE, "authors": 0.0}[recipe]


NEWTON_SHARE = 0.6


SMALL = {"width": 24, "layers": 4}
HEAT = {
    "pgt": {"width": 32, "decoder_width": 20, "decoder_layers": 3, "frequency": 5.0},
    "anchors": 64,
    "pinn": SMALL,
    "siren": SMALL | {"frequency": 5.0},
    "wire": {"width": 17, "layers": 4},
    "fno": {"grid": 24, "modes": 8, "width": 12},
    "deeponet": {"width": 32, "layers": 3, "basis": 32},
    "pinnsformer": {"width": 16, "hidden": 64},
}
WAKE_GPU = {
    "pgt": {"width": 64, "decoder_width": 256, "decoder_layers": 4},
    "anchors": 128,
    "pinn": {"width": 256, "layers": 5},
    "siren": {"width": 256, "layers": 5, "frequency": 8.0},
    "wire": {"width": 181, "layers": 5},
    "fno": {"grid": (32, 16, 32), "modes": 6, "width": 20},
    "deeponet": {"width": 256, "layers": 5, "basis": 128},
    "pinnsformer": {},
}
WAKE_CPU = {
    "pgt": {"width": 32, "decoder_width": 64, "decoder_layers": 4},
    "anchors": 48,
    "pinn": {"width": 64, "layers": 5},
    "siren": {"width": 64, "layers": 5, "frequency": 8.0},
    "wire": {"width": 45, "layers": 5},
    "fno": {"grid": (24, 12, 24), "modes": 4, "width": 12},
    "deeponet": {"width": 64, "layers": 5, "basis": 64},
    "pinnsformer": {"width": 16, "hidden": 64},
}
WAKE_NEWTON = {
    "pgt": {"width": 32, "decoder_width": 48, "decoder_layers": 4},
    "anchors": 64,
    "pinn": {"width": 48, "layers": 4},
    "siren": {"width": 48, "layers": 4, "frequency": 8.0},
    "wire": {"width": 34, "layers": 4},
    "fno": {"grid": (24, 12, 24), "modes": 4, "width": 12},
    "deeponet": {"width": 48, "layers": 4, "basis": 48},
    "pinnsformer": {"width": 16, "hidden": 64},
}
TINY = {
    "pgt": {"width": 8, "blocks": 1, "decoder_width": 8, "decoder_layers": 1},
    "anchors": 8,
    "pinn": {"width": 8, "layers": 2},
    "siren": {"width": 8, "layers": 2, "frequency": 8.0},
    "wire": {"width": 6, "layers": 2},
    "fno": {"grid": 6, "modes": 2, "width": 4, "layers": 1},
    "deeponet": {"width": 8, "layers": 2, "basis": 8},
    "pinnsformer": {"width": 8, "hidden": 8},
}

SCALES = {
    ("heat", "smoke"): Scale(0.05, 2, 8, 64, 0.5, TINY),
    ("heat", "cpu"): Scale(50.0, 1000, 500, 2048, 0.8, HEAT),
    ("heat", "gpu"): Scale(20.0, 1000, 500, 2048, 0.8, HEAT),
    ("wake", "smoke"): Scale(0.05, 2, 8, 16, 0.0, TINY, TINY),
    ("wake", "cpu"): Scale(300.0, 1000, 600, 500, 0.0, WAKE_CPU, WAKE_NEWTON),
    ("wake", "gpu"): Scale(25.0, 1000, 2000, 2048, 0.0, WAKE_GPU, WAKE_NEWTON),
}
SMOKE = "smoke"
PRESETS = (SMOKE, "cpu", "gpu")


def require_preset(preset: str) -> None:
    """Raise before the first run, not at the first that needs a size."""
    if preset not in PRESETS:
        raise InputError(f"there is no preset {preset!r}; choose one of {', '.join(PRESETS)}.")


def scale_of(kind: str, preset: str) -> Scale:
    require_preset(preset)
    return SCALES[kind, preset]
