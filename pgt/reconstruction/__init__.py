"""The result of a fit: a field that can be evaluated anywhere, and its error."""

from pgt.reconstruction.cross_validation import CrossValidation as CrossValidation
from pgt.reconstruction.cross_validation import cross_validate as cross_validate
from pgt.reconstruction.result import Reconstruction as Reconstruction
