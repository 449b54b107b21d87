"""Field to derivatives to residual: governing equations, formulas and conditions."""

from pgt.physics.advection_diffusion import AdvectionDiffusion
from pgt.physics.allen_cahn import AllenCahn
from pgt.physics.burgers import Burgers
from pgt.physics.conditions import AbstractCondition, Dirichlet, Initial, Neumann, Periodic
from pgt.physics.equation import Equation
from pgt.physics.exact import ALL_PDES, ExactCase
from pgt.physics.expression import Expression
from pgt.physics.gauge import Gauge
from pgt.physics.heat import Heat
from pgt.physics.navier_stokes import NavierStokes2D
from pgt.physics.pde import AbstractPDE, Derivatives
from pgt.physics.poisson import Laplace, Poisson
from pgt.physics.wave import Wave

__all__ = [
    "ALL_PDES",
    "AbstractCondition",
    "AbstractPDE",
    "AdvectionDiffusion",
    "AllenCahn",
    "Burgers",
    "Derivatives",
    "Dirichlet",
    "Equation",
    "ExactCase",
    "Expression",
    "Gauge",
    "Heat",
    "Initial",
    "Laplace",
    "NavierStokes2D",
    "Neumann",
    "Periodic",
    "Poisson",
    "Wave",
]
