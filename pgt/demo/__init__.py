"""Worked examples that leave field, figures, numbers and a report in one folder."""

from pgt.demo.heat import heat_demo as heat_demo
from pgt.demo.heat import interpolation_errors as interpolation_errors
from pgt.demo.heat import table as table
from pgt.demo.wake import wake_demo as wake_demo
