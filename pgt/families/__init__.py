"""Families: many systems of one equation, their random laws, their solvers, and networks over them.

Every name here is public, as `pgt.families.get`. The files:

    family                  the base class of families, families by name, known coefficients
    sensing                 readings of many systems: drawn at random, or given as arrays
    laws/                   random laws of systems with their solvers (wave_sum_laws, periodic_laws,
                            square_laws; base class in solved, spectral solver in pseudo_spectral)
    simulations             a family whose systems are the NetCDF files of a folder
    assimilation            `assimilate`: the MAP estimate of a system from readings
    observation_operator    readings as a function of the unknowns of a system
    map_estimate            the Gauss–Newton search, and the comparison with alternative laws
    field_posterior         Gaussian conditioning with an unknown noise level; bands on a grid
    networks/               networks over families: pretraining, pretrained (in use), readout, card

A law is found by its registered name, `get("heat")`.
"""

from pgt.families import laws as laws
from pgt.families.assimilation import Assimilation as Assimilation
from pgt.families.assimilation import assimilate as assimilate
from pgt.families.family import AbstractFamily as AbstractFamily
from pgt.families.family import SampledSystem as SampledSystem
from pgt.families.family import get as get
from pgt.families.family import names as names
from pgt.families.laws.solved import AbstractSolved as AbstractSolved
from pgt.families.networks.pretrained import Pretrained as Pretrained
from pgt.families.networks.pretrained import shipped as shipped
from pgt.families.networks.pretrained import shipped_names as shipped_names
from pgt.families.networks.pretraining import Pretraining as Pretraining
from pgt.families.networks.pretraining import pretrain as pretrain
from pgt.families.sensing import Sensing as Sensing
from pgt.families.simulations import Simulations as Simulations
from pgt.models.family_pgt import FamilyPGTSizes as FamilyPGTSizes
from pgt.models.hypernetwork import HyperSirenSizes as HyperSirenSizes
