"""The settings of a fit: steps, seconds, error bars, optimisers and weightings.

Every name here is public, for example as `pgt.Training`. Run files use the names under which weightings
and optimizers are registered.
"""

from pgt.core.stage import Stage as Stage
from pgt.training.settings import Ensemble as Ensemble
from pgt.training.settings import Polish as Polish
from pgt.training.settings import Posterior as Posterior
from pgt.training.settings import Training as Training
from pgt.training.weighting import AbstractWeighting as AbstractWeighting
from pgt.training.weighting import Fixed as Fixed
from pgt.training.weighting import GradientNorm as GradientNorm
from pgt.training.weighting import Uncertainty as Uncertainty
