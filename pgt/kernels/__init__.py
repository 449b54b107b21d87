"""Kernels: the logarithm of an equation's Green's function, used as the additive attention bias Γ.

Each name here is public, as `pgt.kernels.HeatKernel`, and found in run files under the name that it
registers.

- kernel.py: the contract of a kernel, its helpers, and kernels made of kernels
- heat_kernel.py: diffusion
- advection_diffusion_kernel.py: diffusion in a mean flow
- wave_kernel.py: waves of a finite speed
- elliptic.py: the Poisson, screened Poisson and Helmholtz equations
"""

from pgt.kernels.advection_diffusion_kernel import (
    AdvectionDiffusionKernel as AdvectionDiffusionKernel,
)
from pgt.kernels.elliptic import HelmholtzKernel as HelmholtzKernel
from pgt.kernels.elliptic import PoissonKernel as PoissonKernel
from pgt.kernels.elliptic import ScreenedPoissonKernel as ScreenedPoissonKernel
from pgt.kernels.heat_kernel import HeatKernel as HeatKernel
from pgt.kernels.kernel import LearnableStrength as LearnableStrength
from pgt.kernels.kernel import NoKernel as NoKernel
from pgt.kernels.kernel import SumKernel as SumKernel
from pgt.kernels.wave_kernel import WaveKernel as WaveKernel
