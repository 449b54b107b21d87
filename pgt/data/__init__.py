"""What was measured, and where; and the points at which the equation is enforced."""

from pgt.data.domain import Domain as Domain
from pgt.data.observations import Observations as Observations
from pgt.data.observations import sample as sample
