"""How influence spreads: the log Green's function of an equation as an additive bias Γ.

Every name here is public, as `pgt.HeatKernel`, and found in run files under the name it registers.
"""

from pgt.kernels.advection_diffusion import AdvectionDiffusionKernel as AdvectionDiffusionKernel
from pgt.kernels.base import AbstractKernel as AbstractKernel
from pgt.kernels.combine import LearnableStrength as LearnableStrength
from pgt.kernels.combine import NoKernel as NoKernel
from pgt.kernels.combine import SumKernel as SumKernel
from pgt.kernels.elliptic import HelmholtzKernel as HelmholtzKernel
from pgt.kernels.elliptic import PoissonKernel as PoissonKernel
from pgt.kernels.elliptic import ScreenedPoissonKernel as ScreenedPoissonKernel
from pgt.kernels.heat import HeatKernel as HeatKernel
from pgt.kernels.wave import WaveKernel as WaveKernel
