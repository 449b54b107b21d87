"""Laws from which systems are drawn: one file for each equation, and one line for it here."""

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
