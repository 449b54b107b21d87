"""Which term an equation lacks, from readings.

    term_evidence   the evidence of sets of terms, from one solution with a discrepancy
    discrepancy     the discrepancy of an equation: how large, where and in which sense
    missing_terms   `discover`: terms are chosen by evidence, and their coefficients estimated

The discrepancy of an equation (physics/extended_equation.py) is a smooth unknown source that makes it
agree with the readings. `discover` explains it by terms.
"""

from pgt.discovery.discrepancy import Discrepancy as Discrepancy
from pgt.discovery.missing_terms import Discovery as Discovery
from pgt.discovery.missing_terms import FoundTerm as FoundTerm
from pgt.discovery.missing_terms import discover as discover
from pgt.discovery.missing_terms import library as library
from pgt.physics.extended_equation import ExtendedEquation as ExtendedEquation
