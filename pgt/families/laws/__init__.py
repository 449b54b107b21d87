"""Laws from which systems are drawn: one file for each equation, and one line for it here."""

from pgt.families.laws.advection_diffusion_law import (
    AdvectionDiffusionFamily as AdvectionDiffusionFamily,
)
from pgt.families.laws.allen_cahn_law import AllenCahnFamily as AllenCahnFamily
from pgt.families.laws.burgers_law import BurgersFamily as BurgersFamily
from pgt.families.laws.darcy_law import DarcyFamily as DarcyFamily
from pgt.families.laws.fisher import FisherFamily as FisherFamily
from pgt.families.laws.heat_law import HeatFamily as HeatFamily
from pgt.families.laws.helmholtz_law import HelmholtzFamily as HelmholtzFamily
from pgt.families.laws.kuramoto_sivashinsky import (
    KuramotoSivashinskyFamily as KuramotoSivashinskyFamily,
)
from pgt.families.laws.navier_stokes_law import NavierStokesFamily as NavierStokesFamily
from pgt.families.laws.poisson_law import PoissonFamily as PoissonFamily
from pgt.families.laws.wave_law import Wave2DFamily as Wave2DFamily
from pgt.families.laws.wave_law import WaveFamily as WaveFamily
