"""Observations to field.

Each model is found in run files under the name that it registers.
"""

from pgt.models.boundary_lift import Lifted as Lifted
from pgt.models.coordinate_networks import PINN as PINN
from pgt.models.coordinate_networks import SIREN as SIREN
from pgt.models.coordinate_networks import WIRE as WIRE
from pgt.models.deeponet import DeepONet as DeepONet
from pgt.models.features import Features as Features
from pgt.models.field_model import AbstractFieldModel as AbstractFieldModel
from pgt.models.field_model import AbstractNetwork as AbstractNetwork
from pgt.models.field_model import AbstractTwoStageNetwork as AbstractTwoStageNetwork
from pgt.models.field_model import Frame as Frame
from pgt.models.field_model import UnitReadings as UnitReadings
from pgt.models.fno import FNO as FNO
from pgt.models.hypernetwork import HyperSirenSizes as HyperSirenSizes
from pgt.models.mesh_solution import Solver as Solver
from pgt.models.pgt import PGT as PGT
from pgt.models.pinnsformer import PINNsFormer as PINNsFormer
from pgt.nn.scaling import Scaling as Scaling
