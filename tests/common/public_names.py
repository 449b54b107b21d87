"""Every public name with what it means: those of `pgt` itself, and those of its public modules."""

import types
from typing import Any

import pgt

# These define their functions; the others collect what is defined elsewhere.
DEFINING = {"metrics"}


def public_names() -> dict[str, Any]:
    """By name as a user writes it after `pgt.`: "Domain", "shapes.Disk", "metrics.compare"."""
    found: dict[str, Any] = {}
    for name in pgt.__all__:
        value = getattr(pgt, name)
        if isinstance(value, types.ModuleType):
            for part, thing in _parts(value).items():
                # `pgt.training` repeats the settings, beside what they choose from.
                if part not in found or found[part] is not thing:
                    found[f"{name}.{part}"] = thing
        elif name != "__version__":
            found[name] = value
    return found


def _parts(module: types.ModuleType) -> dict[str, Any]:
    home = module.__name__ if module.__name__.removeprefix("pgt.") in DEFINING else "pgt"
    return {
        name: thing
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", "").startswith(home)
    }
