"""Rows to loss to optimiser.

Every name here is public, as `pgt.Training`; weightings are found in run files under the name they
register.
"""

from pgt.training.default_model import default_model as default_model
from pgt.training.error_bars import Ensemble as Ensemble
from pgt.training.error_bars import Posterior as Posterior
from pgt.training.settings import Polish as Polish
from pgt.training.settings import Training as Training
from pgt.training.weighting import AbstractWeighting as AbstractWeighting
from pgt.training.weighting import Fixed as Fixed
from pgt.training.weighting import GradientNorm as GradientNorm
from pgt.training.weighting import Uncertainty as Uncertainty
