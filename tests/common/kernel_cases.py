"""Every kernel, ready for the tests that all of them must pass."""

from pgt.kernels.advection_diffusion_kernel import AdvectionDiffusionKernel
from pgt.kernels.elliptic import HelmholtzKernel, PoissonKernel, ScreenedPoissonKernel
from pgt.kernels.heat_kernel import HeatKernel
from pgt.kernels.kernel import LearnableStrength, NoKernel, SumKernel
from pgt.kernels.wave_kernel import WaveKernel

ALL_KERNELS = (
    ("none", lambda d: NoKernel()),
    ("heat", lambda d: HeatKernel(0.1)),
    ("heat_smoothing", lambda d: HeatKernel(0.1, causal=False)),
    ("advection_diffusion", lambda d: AdvectionDiffusionKernel((1.0, -0.5, 0.2)[:d], 0.1)),
    ("wave", lambda d: WaveKernel(1.5)),
    ("poisson", lambda d: PoissonKernel(0.7, has_time=True)),
    ("screened_poisson", lambda d: ScreenedPoissonKernel(0.3, has_time=True)),
    ("helmholtz", lambda d: HelmholtzKernel(4.0, has_time=True)),
    ("sum", lambda d: SumKernel(HeatKernel(0.1), WaveKernel(1.5))),
    ("learnable_strength", lambda d: LearnableStrength(HeatKernel(0.1), heads=3)),
    (
        "learnable_sum",
        lambda d: LearnableStrength(
            SumKernel(WaveKernel(1.0), PoissonKernel(0.5, has_time=True)), heads=2
        ),
    ),
)
"""(name, factory): `factory(d)` makes a kernel for points with d = 1, 2 or 3 spatial axes and time.

A new kernel is added here and inherits the contract tests.
"""
