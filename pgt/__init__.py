"""Continuous physical fields from scattered sensor readings and a governing equation.

The names that most users need are here; `pgt.shapes`, `pgt.kernels`, `pgt.training` and
`pgt.families` have the others, and `pgt.extend` what own parts are derived from. They are loaded when
first used, so that `import pgt`, and with it `pgt --help`, does not wait for JAX. Two modules are
imported by name: `import pgt.sklearn` for the estimator, `import pgt.xarray` for the accessor.
"""

import importlib as _importlib
import os as _os
import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

from pgt.core.errors import DoubtWarning as DoubtWarning
from pgt.core.errors import InputError as InputError
from pgt.core.provenance import __version__ as __version__

if _TYPE_CHECKING:  # the same as _NAMES and _MODULES, for editors and type checkers
    from pgt import datasets as datasets
    from pgt import extend as extend
    from pgt import families as families
    from pgt import io as io
    from pgt import kernels as kernels
    from pgt import metrics as metrics
    from pgt import plots as plots
    from pgt import shapes as shapes
    from pgt import training as training
    from pgt._reconstruct import reconstruct as reconstruct
    from pgt._reconstruct import solve as solve
    from pgt.data import Domain as Domain
    from pgt.data import Observations as Observations
    from pgt.data import Sensors as Sensors
    from pgt.data import sample as sample
    from pgt.models import FNO as FNO
    from pgt.models import PGT as PGT
    from pgt.models import PINN as PINN
    from pgt.models import SIREN as SIREN
    from pgt.models import WIRE as WIRE
    from pgt.models import DeepONet as DeepONet
    from pgt.models import Features as Features
    from pgt.models import Lifted as Lifted
    from pgt.models import PINNsFormer as PINNsFormer
    from pgt.models import Scaling as Scaling
    from pgt.models import Solver as Solver
    from pgt.physics import Acoustics as Acoustics
    from pgt.physics import AdvectionDiffusion as AdvectionDiffusion
    from pgt.physics import AllenCahn as AllenCahn
    from pgt.physics import Boussinesq as Boussinesq
    from pgt.physics import Burgers as Burgers
    from pgt.physics import Darcy as Darcy
    from pgt.physics import Dirichlet as Dirichlet
    from pgt.physics import Elasticity as Elasticity
    from pgt.physics import Equation as Equation
    from pgt.physics import Gauge as Gauge
    from pgt.physics import Heat as Heat
    from pgt.physics import Helmholtz as Helmholtz
    from pgt.physics import Initial as Initial
    from pgt.physics import Laplace as Laplace
    from pgt.physics import Maxwell as Maxwell
    from pgt.physics import NavierStokes2D as NavierStokes2D
    from pgt.physics import NavierStokes3D as NavierStokes3D
    from pgt.physics import Neumann as Neumann
    from pgt.physics import NoSlip as NoSlip
    from pgt.physics import Outflow as Outflow
    from pgt.physics import Periodic as Periodic
    from pgt.physics import Poisson as Poisson
    from pgt.physics import Robin as Robin
    from pgt.physics import ShallowWater as ShallowWater
    from pgt.physics import Stokes as Stokes
    from pgt.physics import Symmetry as Symmetry
    from pgt.physics import Table as Table
    from pgt.physics import Traction as Traction
    from pgt.physics import Unknown as Unknown
    from pgt.physics import UnknownFunction as UnknownFunction
    from pgt.physics import Wave as Wave
    from pgt.physics import Well as Well
    from pgt.reconstruction import CrossValidation as CrossValidation
    from pgt.reconstruction import Reconstruction as Reconstruction
    from pgt.reconstruction import cross_validate as cross_validate
    from pgt.training import Ensemble as Ensemble
    from pgt.training import Polish as Polish
    from pgt.training import Posterior as Posterior
    from pgt.training import Training as Training
    from pgt.uncertainty import Doubt as Doubt
    from pgt.uncertainty import Verdict as Verdict

# The public names by the module of the package that has them.
_NAMES = {
    "_reconstruct": ("reconstruct", "solve"),
    "reconstruction": ("CrossValidation", "Reconstruction", "cross_validate"),
    "uncertainty": ("Doubt", "Verdict"),
    "data": ("Domain", "Observations", "Sensors", "sample"),
    "physics": (
        "Acoustics", "AdvectionDiffusion", "AllenCahn", "Boussinesq", "Burgers", "Darcy",
        "Dirichlet", "Elasticity", "Equation", "Gauge", "Heat", "Helmholtz", "Initial", "Laplace",
        "Maxwell", "NavierStokes2D", "NavierStokes3D", "Neumann", "NoSlip", "Outflow", "Periodic",
        "Poisson", "Robin", "ShallowWater", "Stokes", "Symmetry", "Table", "Traction",
        "Unknown", "UnknownFunction", "Wave", "Well",
    ),
    "models": (
        "DeepONet", "FNO", "Features", "Lifted", "PGT", "PINN", "PINNsFormer", "SIREN", "Scaling",
        "Solver", "WIRE",
    ),
    "training": ("Ensemble", "Polish", "Posterior", "Training"),
}  # fmt: skip
_MODULES = (
    "datasets", "extend", "families", "io", "kernels", "metrics", "plots", "shapes", "training",
)  # fmt: skip
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [*_HOMES, "InputError", "DoubtWarning", "__version__", *_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def __dir__():
    return sorted({*globals(), *__all__})


def _load(name: str):
    if name in _MODULES:
        value = _importlib.import_module(f"pgt.{name}")
    elif name in _HOMES:
        value = getattr(_importlib.import_module(f"pgt.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'pgt' has no attribute {name!r}{_hint(name)}", name=name)
    globals()[name] = value
    return value


def _hint(name: str) -> str:
    """Where else the name is, if anywhere."""
    for module in () if name.startswith("_") else _MODULES:
        if hasattr(_importlib.import_module(f"pgt.{module}"), name):
            return f"; write pgt.{module}.{name}"
    return ""


if not _TYPE_CHECKING:  # whose checkers would then take any name for public
    __getattr__ = _load


def _configure_jax():
    """Set what JAX has to know before it is first used, through the environment if it is not imported.

    Compiled programs are kept between runs: the second start is many times faster. PGT_NO_CACHE=1
    switches that off; a folder that was chosen before stays.
    """
    settings: dict[str, object] = {}
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
