"""Many systems of one equation: laws to draw them from, their solvers, and networks over them.

Every name here is public, as `pgt.families.get`. Where things are:

    what all share      family (what a family is), sensing (readings of many systems)
    laws                wave_sum_laws, periodic_laws, square_laws; solved (their base), and the solver
                        pseudo_spectral
    simulations         a family from a folder of NetCDF files
    assimilation        the most probable system behind readings: observation_operator,
                        map_estimate (the search), field_posterior (with bands)
    networks            pretraining, pretrained (in use), readout, card

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
