"""The linear-Gaussian engine: no models, no equations, rows of numbers.

linear_gaussian  rows, posterior, leave-one-out and leave-group-out predictions, draws
evidence         stiffness and noise levels of greatest evidence
equation_prior   the prior that the rows of an equation imply
gaussian_process interpolation without an equation
likelihood       the size of misfits, and whether two errors differ significantly
linear_algebra   factors and solves, on the host or on a device
"""
