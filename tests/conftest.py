"""Before any test: shapes checked at every call, one thread per process, compiled code kept."""

import gc
import inspect
import os
import typing
from pathlib import Path

# Set before numpy and JAX load, and inherited by the processes that tests start. Test problems are
# small: two workers with one thread each are faster than four threads fighting over two cores.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Kernels written by the compiler's older emitters compile more than three times faster than those of
# its newer ones, and a test runs them for moments. Cut in pieces for many threads, a program costs
# nearly twice the processor time of one in a single piece.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_cpu_multi_thread_eigen=false --xla_cpu_use_fusion_emitters=false "
    "--xla_cpu_parallel_codegen_split_count=1",
)
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".jax_cache"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.3")

import beartype
import hypothesis
import jax
import jaxtyping
import pytest
import threadpoolctl
from compiled_programs import let_go_now_and_then
from private_names import make_tests_cheaper

# Plugins of pytest load numpy before this file: without workers, which inherit what is set above, its
# products would spin on all cores, ten times the processor time where others use them.
threadpoolctl.threadpool_limits(1)


def names_shapes(annotation) -> bool:
    """Whether shapes are named in it; text may hold anything."""
    if isinstance(annotation, type):
        return issubclass(annotation, jaxtyping.AbstractArray)
    return isinstance(annotation, str) or any(map(names_shapes, typing.get_args(annotation)))


def checked_at_calls(*things, **options):
    """To compare the shapes of a call's arguments jaxtyping binds them anew at every call, a third of
    the time of tests that compile little. Who names no shapes has types checked, and nothing else."""
    whole = compare_shapes(*things, **options)
    if things:  # at once, and not as its import hook does
        return whole

    def decorate(thing):
        annotations = list(getattr(thing, "__annotations__", {}).values())
        is_plain = inspect.isfunction(thing) and not any(map(names_shapes, annotations))
        # What wraps a constructor names nothing, and jaxtyping has to know it for its own.
        return check_types(thing) if is_plain and annotations else whole(thing)

    return decorate


compare_shapes, jaxtyping.jaxtyped = jaxtyping.jaxtyped, checked_at_calls

# As for static checkers, a whole number is welcome where a float is asked for.
check_types = beartype.beartype(
    conf=beartype.BeartypeConf(is_pep484_tower=True, violation_type=jaxtyping.TypeCheckError)
)
jaxtyping.install_import_hook(
    ["pgt", "pgt_bench"], "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"
)

# Test programs run for moments: compiling them is the cost, and optimising them saves nothing. Set
# here and not in the environment: processes that tests start compile as users' do.
QUICKLY = "jax_disable_most_optimizations"
jax.config.update(QUICKLY, True)

make_tests_cheaper(jax.__version_info__)


@pytest.fixture
def optimised():
    """Compile as for users."""
    jax.config.update(QUICKLY, False)
    yield
    jax.config.update(QUICKLY, True)


# The same examples in every run; HYPOTHESIS_EXAMPLES=1000 searches longer.
hypothesis.settings.register_profile(
    "pgt",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "20")),
)
hypothesis.settings.load_profile("pgt")


def pytest_configure(config):
    # Two workers share the cache; a half-written entry is compiled anew, which JAX warns about.
    message = "ignore:Error (reading|writing) persistent compilation cache entry"
    config.addinivalue_line("filterwarnings", message)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Tests hold no examples in their docstrings: looking for them takes a while."""
    found = yield
    return [node for node in found if type(node).__name__ != "DoctestModule"]


def pytest_collection_finish():
    gc.freeze()  # what was imported stays


# Tracing makes many small objects that live as long as the program: looking through them for cycles
# after every few hundred, as Python does, takes a sixth of the time.
gc.set_threshold(50_000, 20, 20)


@pytest.fixture(autouse=True)
def _let_go_of_compiled_programs():
    yield
    let_go_now_and_then()
