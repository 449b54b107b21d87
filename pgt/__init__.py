"""Continuous physical fields from scattered sensor readings and a governing equation.

The public names, in the order of the flow. They are loaded when first used, so that `import pgt`,
and with it `pgt --help`, does not wait for JAX.
"""

import importlib as _importlib
import os as _os
import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

from pgt.ground.version import __version__ as __version__

if _TYPE_CHECKING:  # the same list once more, for editors and type checkers
    from pgt import datasets as datasets
    from pgt import io as io
    from pgt import metrics as metrics
    from pgt import plots as plots
    from pgt._reconstruct import default_model as default_model
    from pgt._reconstruct import reconstruct as reconstruct
    from pgt.data import Domain as Domain
    from pgt.data import Observations as Observations
    from pgt.data import ResidualAdaptive as ResidualAdaptive
    from pgt.data import Sobol as Sobol
    from pgt.data import Uniform as Uniform
    from pgt.data import sample as sample
    from pgt.ground.errors import InputError as InputError
    from pgt.ground.unknown import Unknown as Unknown
    from pgt.kernels import AbstractKernel as AbstractKernel
    from pgt.kernels import AdvectionDiffusionKernel as AdvectionDiffusionKernel
    from pgt.kernels import HeatKernel as HeatKernel
    from pgt.kernels import HelmholtzKernel as HelmholtzKernel
    from pgt.kernels import LearnableStrength as LearnableStrength
    from pgt.kernels import NoKernel as NoKernel
    from pgt.kernels import PoissonKernel as PoissonKernel
    from pgt.kernels import ScreenedPoissonKernel as ScreenedPoissonKernel
    from pgt.kernels import SumKernel as SumKernel
    from pgt.kernels import WaveKernel as WaveKernel
    from pgt.models.base import AbstractFieldModel as AbstractFieldModel
    from pgt.models.deeponet import DeepONet as DeepONet
    from pgt.models.fno import FNO as FNO
    from pgt.models.frame import Frame as Frame
    from pgt.models.network import AbstractNetwork as AbstractNetwork
    from pgt.models.network import AbstractTwoStageNetwork as AbstractTwoStageNetwork
    from pgt.models.network import UnitReadings as UnitReadings
    from pgt.models.pgt import PGT as PGT
    from pgt.models.pinn import PINN as PINN
    from pgt.models.pinnsformer import PINNsFormer as PINNsFormer
    from pgt.models.siren import SIREN as SIREN
    from pgt.models.wire import WIRE as WIRE
    from pgt.nn.scaling import Scaling as Scaling
    from pgt.physics import AbstractPDE as AbstractPDE
    from pgt.physics import AdvectionDiffusion as AdvectionDiffusion
    from pgt.physics import AllenCahn as AllenCahn
    from pgt.physics import Burgers as Burgers
    from pgt.physics import Dirichlet as Dirichlet
    from pgt.physics import Equation as Equation
    from pgt.physics import Gauge as Gauge
    from pgt.physics import Heat as Heat
    from pgt.physics import Initial as Initial
    from pgt.physics import Laplace as Laplace
    from pgt.physics import NavierStokes2D as NavierStokes2D
    from pgt.physics import Neumann as Neumann
    from pgt.physics import Periodic as Periodic
    from pgt.physics import Poisson as Poisson
    from pgt.physics import Wave as Wave
    from pgt.reconstruction.cross_validate import cross_validate as cross_validate
    from pgt.reconstruction.cross_validation import CrossValidation as CrossValidation
    from pgt.reconstruction.result import Reconstruction as Reconstruction
    from pgt.training.error_bars import Ensemble as Ensemble
    from pgt.training.error_bars import Posterior as Posterior
    from pgt.training.settings import Polish as Polish
    from pgt.training.settings import Training as Training
    from pgt.training.weighting import AbstractWeighting as AbstractWeighting
    from pgt.training.weighting import Fixed as Fixed
    from pgt.training.weighting import GradientNorm as GradientNorm
    from pgt.training.weighting import Uncertainty as Uncertainty
    from pgt.trust.members import Members as Members

_HOMES = {
    "pgt.data": "Domain Observations sample Uniform Sobol ResidualAdaptive",
    "pgt.kernels": "AbstractKernel NoKernel HeatKernel AdvectionDiffusionKernel WaveKernel "
    "PoissonKernel ScreenedPoissonKernel HelmholtzKernel SumKernel LearnableStrength",
    "pgt.ground.unknown": "Unknown",
    "pgt.physics": "AbstractPDE Heat AdvectionDiffusion Burgers AllenCahn Wave Poisson Laplace "
    "NavierStokes2D Equation Initial Dirichlet Neumann Periodic Gauge",
    "pgt.nn.scaling": "Scaling",
    "pgt.models.base": "AbstractFieldModel",
    "pgt.models.network": "AbstractNetwork AbstractTwoStageNetwork UnitReadings",
    "pgt.models.frame": "Frame",
    "pgt.models.pgt": "PGT",
    "pgt.models.pinn": "PINN",
    "pgt.models.siren": "SIREN",
    "pgt.models.wire": "WIRE",
    "pgt.models.pinnsformer": "PINNsFormer",
    "pgt.models.fno": "FNO",
    "pgt.models.deeponet": "DeepONet",
    "pgt.training.weighting": "AbstractWeighting Uncertainty Fixed GradientNorm",
    "pgt.training.settings": "Training Polish",
    "pgt.training.error_bars": "Ensemble Posterior",
    "pgt._reconstruct": "reconstruct default_model",
    "pgt.reconstruction.result": "Reconstruction",
    "pgt.trust.members": "Members",
    "pgt.reconstruction.cross_validate": "cross_validate",
    "pgt.reconstruction.cross_validation": "CrossValidation",
    "pgt.ground.errors": "InputError",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}
_PARTS = ("datasets", "io", "metrics", "plots")

__all__ = [*_HOME, *_PARTS, "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str):
    if name in _HOME:
        value = getattr(_importlib.import_module(_HOME[name]), name)
    elif name in _PARTS:
        value = _importlib.import_module(f"pgt.{name}")
    else:
        raise AttributeError(f"module 'pgt' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})


def _keep_compiled_programs():
    """Keep what JAX compiles between runs: the second start is many times faster.

    Said through the environment, so that it holds whenever JAX is first imported. PGT_NO_CACHE=1
    switches it off; a folder that was chosen before stays.
    """
    if "PGT_NO_CACHE" in _os.environ:
        return
    caches = _os.environ.get("XDG_CACHE_HOME") or _os.path.expanduser("~/.cache")
    settings = {
        "jax_compilation_cache_dir": _os.path.join(caches, "pgt", "jax"),
        "jax_persistent_cache_min_compile_time_secs": 0.3,
    }
    jax = _sys.modules.get("jax")
    if jax is not None:
        if jax.config.jax_compilation_cache_dir is None:
            for name, value in settings.items():
                jax.config.update(name, value)
    elif "JAX_COMPILATION_CACHE_DIR" not in _os.environ:
        for name, value in settings.items():
            _os.environ[name.upper()] = str(value)


_keep_compiled_programs()
