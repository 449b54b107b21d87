"""Many systems of one equation: laws to draw them from, and the solvers that compute them.

Every name here is public, as `pgt.families.get`. Where things are:

    what a family is    family, system, line, states, registry, family_file (one in a file of Python);
                        given (which system of it is meant)
    computed ones       solved, with the solvers ring, torus, square and etdrk4; a file for each
                        equation
    simulations         simulations, simulation_files, folder, cycles and harmonics (those that
                        repeat), stencil
    what is read        sensing, rigs, asking, dimensionless
    networks            pretraining, then pretrained (in use), readout, card (what it is worth),
                        shipped, examples, networked (its answers)
    closed form         patterns and gaussian (a family as a Gaussian), assimilation and
                        conditioning (the most probable system), flow_before (that of a flow, from
                        its vorticity); at_once (the same in milliseconds) with posing, weighing and
                        beyond (what readings say against the law), judged_law (what that is worth);
                        said (answers at points and on grids)
"""

from pgt.families.advection_diffusion import AdvectionDiffusionFamily as AdvectionDiffusionFamily
from pgt.families.allen_cahn import AllenCahnFamily as AllenCahnFamily
from pgt.families.assimilation import Assimilated as Assimilated
from pgt.families.assimilation import assimilate as assimilate
from pgt.families.burgers import BurgersFamily as BurgersFamily
from pgt.families.cycles import Cycles as Cycles
from pgt.families.darcy import DarcyFamily as DarcyFamily
from pgt.families.family import AbstractFamily as AbstractFamily
from pgt.families.fisher import FisherFamily as FisherFamily
from pgt.families.flow_before import flow_before as flow_before
from pgt.families.heat import HeatFamily as HeatFamily
from pgt.families.helmholtz import HelmholtzFamily as HelmholtzFamily
from pgt.families.kuramoto_sivashinsky import (
    KuramotoSivashinskyFamily as KuramotoSivashinskyFamily,
)
from pgt.families.navier_stokes import NavierStokesFamily as NavierStokesFamily
from pgt.families.patterns import Patterns as Patterns
from pgt.families.patterns import learn_patterns as learn_patterns
from pgt.families.poisson import PoissonFamily as PoissonFamily
from pgt.families.pretrained import Pretrained as Pretrained
from pgt.families.pretraining import Pretraining as Pretraining
from pgt.families.pretraining import pretrain as pretrain
from pgt.families.registry import get as get
from pgt.families.registry import names as names
from pgt.families.sensing import Sensing as Sensing
from pgt.families.shipped import shipped as shipped
from pgt.families.shipped import shipped_names as shipped_names
from pgt.families.shipped import shipped_patterns as shipped_patterns
from pgt.families.simulations import Simulations as Simulations
from pgt.families.solved import AbstractSolved as AbstractSolved
from pgt.families.system import System as System
from pgt.families.wave import WaveFamily as WaveFamily
from pgt.families.wave_2d import Wave2DFamily as Wave2DFamily
