"""How programs are compiled that the host starts: `compiled` stands where `equinox.filter_jit` would.

Options are those of a whole program: what is compiled so cannot be part of another one.
"""

from collections.abc import Callable

import equinox as eqx

# Without Triton's matrix products a GPU program compiles three times faster and runs as fast: many kinds
# of each would be compiled and timed, and with all digits of float32 that took a minute for what a fit is
# asked at once. Products of readings and of residual points with the same weights are not to be made one:
# putting the rows together and taking them apart again costs more than a second product.
OPTIONS = {"xla_gpu_enable_triton_gemm": False, "xla_gpu_dot_merger_threshold_mb": 0}


def compiled(function: Callable) -> Callable:
    """The function, compiled for every kind of its arguments.

    >>> compiled(lambda x: x + 1)(1.0)
    2.0
    """
    return eqx.filter_jit(function, compiler_options=OPTIONS)  # pyright: ignore[reportCallIssue]
