"""What a part of your own is derived from, and how run files come to know it.

A subclass of an abstract class here is a new equation, condition, kernel, model, shape, sampler or
weighting; `register` gives it a name in run files, and `Limits`, `OneOf` and `Powers` in the
annotations of its arguments say which values are allowed.
"""

from pgt.core.arguments import Limits as Limits
from pgt.core.arguments import OneOf as OneOf
from pgt.core.arguments import Powers as Powers
from pgt.core.registry import register as register
from pgt.data.condition_regions import AbstractRegion as AbstractRegion
from pgt.data.sampling import AbstractSampler as AbstractSampler
from pgt.geometry import AbstractShape as AbstractShape
from pgt.kernels.kernel import AbstractKernel as AbstractKernel
from pgt.models.field_model import AbstractFieldModel as AbstractFieldModel
from pgt.models.field_model import AbstractNetwork as AbstractNetwork
from pgt.models.field_model import AbstractTwoStageNetwork as AbstractTwoStageNetwork
from pgt.models.field_model import Frame as Frame
from pgt.models.field_model import UnitReadings as UnitReadings
from pgt.physics.conditions import AbstractCondition as AbstractCondition
from pgt.physics.pde import About as About
from pgt.physics.pde import AbstractPDE as AbstractPDE
from pgt.training.weighting import AbstractWeighting as AbstractWeighting
from pgt.uncertainty.members import Members as Members
