"""Worked examples that leave field, figures, numbers and a report in one folder."""

from pgt.demo.heat_demo import interpolation_errors as interpolation_errors
from pgt.demo.heat_demo import run_heat_demo as run_heat_demo
from pgt.demo.heat_demo import table as table
from pgt.demo.wake_demo import run_wake_demo as run_wake_demo
