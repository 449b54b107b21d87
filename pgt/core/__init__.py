"""The foundation of all other modules; it knows no physics.

errors, attempts, doubt, stage    input errors, failures, verdicts on a fit, stages of a fit
arguments, checked, registry      limits of arguments, their checks, and registered parts by name
parser, expression_trees          formulas from text, and their values
unknown                           coefficients that are learned
numbers, types                    numbers as text and as arrays, array types
dialect                           how tables of readings are written
files, folder_lock, manifest, serialise    safe files, owned folders, checksums, saved objects
fingerprint, provenance, machine, progress    identity of objects, versions, memory, progress
"""
