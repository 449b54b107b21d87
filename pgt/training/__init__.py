"""The settings of a fit, and what they choose from: samplers, weightings of the losses and optimizers.

`Training`, `Polish`, `Ensemble`, `Posterior` and `Stage` are also in `pgt` itself. Run files use the
names under which samplers, weightings and optimizers are registered.

- settings.py: the settings of training, of the polish and of error bars
- optimisers.py: first-order optimizers, SOAP among them, and the schedule of the learning rate
- weighting.py: combinations of the named losses into one number
"""

from pgt.core.stage import Stage as Stage
from pgt.data.sampling import Graded as Graded
from pgt.data.sampling import ResidualAdaptive as ResidualAdaptive
from pgt.data.sampling import Sobol as Sobol
from pgt.data.sampling import Uniform as Uniform
from pgt.training.settings import Ensemble as Ensemble
from pgt.training.settings import Polish as Polish
from pgt.training.settings import Posterior as Posterior
from pgt.training.settings import Training as Training
from pgt.training.weighting import Fixed as Fixed
from pgt.training.weighting import GradientNorm as GradientNorm
from pgt.training.weighting import Uncertainty as Uncertainty
