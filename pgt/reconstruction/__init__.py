"""The result: a field that can be asked anywhere, and predictions of readings that a fit did not see."""

from pgt.reconstruction.cross_validate import cross_validate as cross_validate
from pgt.reconstruction.cross_validation import CrossValidation as CrossValidation
from pgt.reconstruction.result import Reconstruction as Reconstruction
