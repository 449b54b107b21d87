"""Four ways to fit a field, and the plan that says which are tried.

plan           candidates: a method, a model and the reason
closed_form    sums of sines for linear equations: one solve for each band that is tried
solver         the equation solved on a mesh, unknowns fitted through its solution
second_order   Gauss-Newton steps in float64 on all weights, or on the decoder alone
first_order    gradient steps on large networks
finished_fit   what all of them return; history and coefficients: parts of it
"""
