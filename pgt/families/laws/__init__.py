"""Laws: random distributions of systems with solvers, registered by name.

solved            the base classes of families with a solver
wave_sum_laws     linear laws with closed-form solutions: heat, advection–diffusion, waves
periodic_laws     nonlinear laws on periodic domains, solved by pseudo_spectral
pseudo_spectral   Fourier solvers with exponential time differencing
square_laws       steady laws on the unit square: Poisson, Helmholtz, Darcy
"""

from pgt.families.laws.periodic_laws import AllenCahnFamily as AllenCahnFamily
from pgt.families.laws.periodic_laws import BurgersFamily as BurgersFamily
from pgt.families.laws.periodic_laws import FisherFamily as FisherFamily
from pgt.families.laws.periodic_laws import (
    KuramotoSivashinskyFamily as KuramotoSivashinskyFamily,
)
from pgt.families.laws.periodic_laws import NavierStokesFamily as NavierStokesFamily
from pgt.families.laws.square_laws import DarcyFamily as DarcyFamily
from pgt.families.laws.square_laws import HelmholtzFamily as HelmholtzFamily
from pgt.families.laws.square_laws import PoissonFamily as PoissonFamily
from pgt.families.laws.wave_sum_laws import (
    AdvectionDiffusionFamily as AdvectionDiffusionFamily,
)
from pgt.families.laws.wave_sum_laws import HeatFamily as HeatFamily
from pgt.families.laws.wave_sum_laws import Wave2DFamily as Wave2DFamily
from pgt.families.laws.wave_sum_laws import WaveFamily as WaveFamily
