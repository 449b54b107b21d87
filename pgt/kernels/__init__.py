"""How influence spreads: the log Green's function of an equation as an additive bias Γ.

Every name here is public, as `pgt.kernels.HeatKernel`, and found in run files under the name it
registers.
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
