"""Models: a model maps readings to a field that can be evaluated at any point.

Each model is found in run files under the name that it registers.

- field_model.py: the contracts of a model and of a network, and the frame that converts units
- pgt.py, family_pgt.py: the Physics-Guided Transformer for one data set, and for a family of systems
- hypernetwork.py: a network that writes the SIREN of one system of a family
- coordinate_networks.py: PINN, SIREN and WIRE
- deeponet.py, fno.py, pinnsformer.py: DeepONet, the Fourier neural operator and PINNsFormer
- features.py: sums of random sines, fitted in closed form
- exact_waves.py, singular_functions.py: waves that satisfy an equation; functions at holes and corners
- tensor_grid.py: sums of sines on a tensor grid
- mesh_solution.py: piecewise polynomials on the mesh of the solver
- boundary_lift.py: a model that meets boundary values by construction
- linearised.py: a fitted model, moved along one direction of its posterior
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
