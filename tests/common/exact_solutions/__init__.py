"""Exact solutions: every equation of the zoo with a field on which its residual is zero.

Adding an equation means adding a line to the `CASES` of its kind; the tests of all equations then apply
to it.
"""

from exact_solutions.case import ExactCase as ExactCase
from exact_solutions.exact_cases import ALL_PDES as ALL_PDES
