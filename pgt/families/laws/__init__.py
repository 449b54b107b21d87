"""Laws from which systems are drawn: one file for each equation, and one line for it here."""

from pgt.families.laws.advection_diffusion import (
    AdvectionDiffusionFamily as AdvectionDiffusionFamily,
)
from pgt.families.laws.allen_cahn import AllenCahnFamily as AllenCahnFamily
from pgt.families.laws.burgers import BurgersFamily as BurgersFamily
from pgt.families.laws.darcy import DarcyFamily as DarcyFamily
from pgt.families.laws.fisher import FisherFamily as FisherFamily
from pgt.families.laws.heat import HeatFamily as HeatFamily
from pgt.families.laws.helmholtz import HelmholtzFamily as HelmholtzFamily
from pgt.families.laws.kuramoto_sivashinsky import (
    KuramotoSivashinskyFamily as KuramotoSivashinskyFamily,
)
from pgt.families.laws.navier_stokes import NavierStokesFamily as NavierStokesFamily
from pgt.families.laws.poisson import PoissonFamily as PoissonFamily
from pgt.families.laws.wave import Wave2DFamily as Wave2DFamily
from pgt.families.laws.wave import WaveFamily as WaveFamily
