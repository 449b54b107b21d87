"""How sure: members and their spread, calibration, intervals, suspicion, references, the verdict."""

from pgt.ground.verdict import Doubt as Doubt
from pgt.ground.verdict import Verdict as Verdict
from pgt.trust.members import Members as Members
