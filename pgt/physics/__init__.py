"""Physics: governing equations and conditions, whose residuals are computed from derivatives of fields.

Each name is found in run files under the name that it registers.

- pde.py: the contract of an equation; equations/ has one file for each equation
- equation.py, calculus.py, expression.py: equations and formulas from text
- equation_checks.py: units, well-posedness, domain and equivalence of equations
- implied_kernel.py: the kernel that the form of an equation implies
- derivatives.py, taylor_mode.py: derivatives by name, computed in one forward pass
- conditions.py, wall_conditions.py, gauge.py: initial, boundary, physical wall and gauge conditions
- condition_values.py, interpolation_table.py: values of conditions and sources; tables of numbers
- unknown_function.py, unknown_conditions.py: unknown functions; unknowns of conditions
- coefficient_tree.py, unit_conversion.py: coefficients, and coefficients with units
- curved_coordinates.py, vectors.py: cylindrical and spherical coordinates; vector fields
- problem_inputs.py: the user's readings, equation and domain as the library's own
"""

from pgt.core.unknown import Unknown as Unknown
from pgt.physics.conditions import AbstractCondition as AbstractCondition
from pgt.physics.conditions import Dirichlet as Dirichlet
from pgt.physics.conditions import Initial as Initial
from pgt.physics.conditions import Neumann as Neumann
from pgt.physics.conditions import Periodic as Periodic
from pgt.physics.equation import Equation as Equation
from pgt.physics.equations.acoustics import Acoustics as Acoustics
from pgt.physics.equations.advection_diffusion import AdvectionDiffusion as AdvectionDiffusion
from pgt.physics.equations.allen_cahn import AllenCahn as AllenCahn
from pgt.physics.equations.boussinesq import Boussinesq as Boussinesq
from pgt.physics.equations.burgers import Burgers as Burgers
from pgt.physics.equations.darcy import Darcy as Darcy
from pgt.physics.equations.elasticity import Elasticity as Elasticity
from pgt.physics.equations.heat import Heat as Heat
from pgt.physics.equations.helmholtz import Helmholtz as Helmholtz
from pgt.physics.equations.maxwell import Maxwell as Maxwell
from pgt.physics.equations.navier_stokes import NavierStokes2D as NavierStokes2D
from pgt.physics.equations.navier_stokes import NavierStokes3D as NavierStokes3D
from pgt.physics.equations.poisson import Laplace as Laplace
from pgt.physics.equations.poisson import Poisson as Poisson
from pgt.physics.equations.shallow_water import ShallowWater as ShallowWater
from pgt.physics.equations.stokes import Stokes as Stokes
from pgt.physics.equations.wave import Wave as Wave
from pgt.physics.gauge import Gauge as Gauge
from pgt.physics.interpolation_table import Table as Table
from pgt.physics.pde import About as About
from pgt.physics.pde import AbstractPDE as AbstractPDE
from pgt.physics.unknown_function import UnknownFunction as UnknownFunction
from pgt.physics.wall_conditions import NoSlip as NoSlip
from pgt.physics.wall_conditions import Outflow as Outflow
from pgt.physics.wall_conditions import Robin as Robin
from pgt.physics.wall_conditions import Symmetry as Symmetry
from pgt.physics.wall_conditions import Traction as Traction
from pgt.physics.wall_conditions import Well as Well
