"""Continuous physical fields from scattered sensor readings and a governing equation."""

import os as _os

import jax as _jax

# Compiled programs are kept between runs: the second start is many times faster.
if _jax.config.jax_compilation_cache_dir is None and "PGT_NO_CACHE" not in _os.environ:
    _jax.config.update(
        "jax_compilation_cache_dir",
        _os.path.join(
            _os.environ.get("XDG_CACHE_HOME", _os.path.expanduser("~/.cache")), "pgt", "jax"
        ),
    )
    _jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.3)

from pgt import datasets, metrics, plots
from pgt._errors import InputError
from pgt._reconstruct import default_model, reconstruct
from pgt._unknown import Unknown
from pgt._version import __version__
from pgt.data import Domain, Observations, ResidualAdaptive, Sobol, Uniform, sample
from pgt.models.pgt import PGT
from pgt.nn.scaling import Scaling
from pgt.reconstruction import Reconstruction
from pgt.training.settings import Polish, Training
