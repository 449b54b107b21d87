"""Exact solutions: every equation of the zoo with a field on which its residual is zero.

Adding an equation means adding a line to the `CASES` of its kind; the tests of all equations then apply
to it.
"""

from pgt.physics.exact.case import ExactCase as ExactCase
from pgt.physics.exact.exact_cases import ALL_PDES as ALL_PDES
