"""Continuous physical fields from scattered sensor readings and a governing equation.

The public names are those of the folders below, in the order of the flow. They are loaded when first
used, so that `import pgt`, and with it `pgt --help`, does not wait for JAX.
"""

import importlib as _importlib
import os as _os
import sys as _sys
from types import ModuleType as _Module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from pgt.core.arguments import Limits as Limits
from pgt.core.arguments import OneOf as OneOf
from pgt.core.arguments import Powers as Powers
from pgt.core.errors import DoubtWarning as DoubtWarning
from pgt.core.errors import InputError as InputError
from pgt.core.registry import register as register
from pgt.core.version import __version__ as __version__

if _TYPE_CHECKING:  # the same for editors and type checkers
    from pgt import datasets as datasets
    from pgt import families as families
    from pgt import io as io
    from pgt import metrics as metrics
    from pgt import plots as plots
    from pgt._reconstruct import reconstruct as reconstruct
    from pgt._reconstruct import solve as solve
    from pgt.data import *  # noqa: F403
    from pgt.families import Pretrained as Pretrained
    from pgt.families import Pretraining as Pretraining
    from pgt.families import pretrain as pretrain
    from pgt.kernels import *  # noqa: F403
    from pgt.models import *  # noqa: F403
    from pgt.physics import *  # noqa: F403
    from pgt.reconstruction import *  # noqa: F403
    from pgt.training import *  # noqa: F403
    from pgt.uncertainty import *  # noqa: F403

_FOLDERS = ("data", "kernels", "physics", "models", "training", "uncertainty", "reconstruction")
_MODULES = ("datasets", "families", "io", "metrics", "plots")
_DOORS = {
    "reconstruct": "_reconstruct",
    "solve": "_reconstruct",
    "pretrain": "families",
    "Pretraining": "families",
    "Pretrained": "families",
}
_HERE = ("register", "Limits", "OneOf", "Powers", "InputError", "DoubtWarning", "__version__")


def _load(name: str):
    if name == "__all__":
        value = _all()
    elif name in _MODULES:
        value = _importlib.import_module(f"pgt.{name}")
    else:
        value = getattr(_home(name), name)
    globals()[name] = value
    return value


def _all() -> list[str]:
    public = [name for folder in _FOLDERS for name in _names(folder)]
    return [*public, *_DOORS, *_HERE, *_MODULES]


def __dir__():
    return sorted({*globals(), *_all()})


if not _TYPE_CHECKING:  # whose checkers would then take any name for public
    __getattr__ = _load


def _home(name: str) -> _Module:
    """The module that has a public name: the first folder that knows it."""
    if name in _DOORS:
        return _importlib.import_module(f"pgt.{_DOORS[name]}")
    for folder in () if name.startswith("_") else _FOLDERS:
        if name in _names(folder):
            return _importlib.import_module(f"pgt.{folder}")
    raise AttributeError(f"module 'pgt' has no attribute {name!r}")


def _names(folder: str) -> list[str]:
    module = _importlib.import_module(f"pgt.{folder}")
    public = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    return [name for name, value in public.items() if not isinstance(value, _Module)]


def _configure_jax():
    """Set what JAX has to know before it is first used, through the environment if it is not imported.

    Compiled programs are kept between runs: the second start is many times faster. PGT_NO_CACHE=1
    switches that off; a folder that was chosen before stays. Arrays that a user's function captures stay
    constants of the traced program: newer versions of JAX keep them as NumPy arrays, whose type is wrong
    once double precision is switched on or off.
    """
    settings: dict[str, object] = {"jax_use_simplified_jaxpr_constants": False}
    if "PGT_NO_CACHE" not in _os.environ and not _has_cache():
        caches = _os.environ.get("XDG_CACHE_HOME") or _os.path.expanduser("~/.cache")
        settings |= {
            "jax_compilation_cache_dir": _os.path.join(caches, "pgt", "jax"),
            "jax_persistent_cache_min_compile_time_secs": 0.3,
        }
    jax = _sys.modules.get("jax")
    for name, value in settings.items():
        if jax is None:
            _os.environ.setdefault(name.upper(), str(value))
        elif hasattr(jax.config, name):
            jax.config.update(name, value)


def _has_cache() -> bool:
    """Whether a folder for compiled programs was chosen before."""
    jax = _sys.modules.get("jax")
    if jax is not None:
        return jax.config.jax_compilation_cache_dir is not None
    return "JAX_COMPILATION_CACHE_DIR" in _os.environ


_configure_jax()
