"""Field to derivatives to residual: governing equations, formulas and conditions.

Every name here is public, as `pgt.Heat`, and found in run files under the name it registers.
"""

from pgt.ground.unknown import Unknown as Unknown
from pgt.physics.about import About as About
from pgt.physics.acoustics import Acoustics as Acoustics
from pgt.physics.advection_diffusion import AdvectionDiffusion as AdvectionDiffusion
from pgt.physics.allen_cahn import AllenCahn as AllenCahn
from pgt.physics.boussinesq import Boussinesq as Boussinesq
from pgt.physics.burgers import Burgers as Burgers
from pgt.physics.conditions import AbstractCondition as AbstractCondition
from pgt.physics.conditions import Dirichlet as Dirichlet
from pgt.physics.conditions import Initial as Initial
from pgt.physics.conditions import Neumann as Neumann
from pgt.physics.conditions import Periodic as Periodic
from pgt.physics.darcy import Darcy as Darcy
from pgt.physics.elasticity import Elasticity as Elasticity
from pgt.physics.equation import Equation as Equation
from pgt.physics.gauge import Gauge as Gauge
from pgt.physics.heat import Heat as Heat
from pgt.physics.helmholtz import Helmholtz as Helmholtz
from pgt.physics.maxwell import Maxwell as Maxwell
from pgt.physics.navier_stokes import NavierStokes2D as NavierStokes2D
from pgt.physics.navier_stokes import NavierStokes3D as NavierStokes3D
from pgt.physics.pde import AbstractPDE as AbstractPDE
from pgt.physics.poisson import Laplace as Laplace
from pgt.physics.poisson import Poisson as Poisson
from pgt.physics.shallow_water import ShallowWater as ShallowWater
from pgt.physics.stokes import Stokes as Stokes
from pgt.physics.traction import Traction as Traction
from pgt.physics.unknown_function import UnknownFunction as UnknownFunction
from pgt.physics.wall_conditions import NoSlip as NoSlip
from pgt.physics.wall_conditions import Outflow as Outflow
from pgt.physics.wall_conditions import Robin as Robin
from pgt.physics.wall_conditions import Symmetry as Symmetry
from pgt.physics.wave import Wave as Wave
