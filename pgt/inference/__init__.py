"""The linear-Gaussian engine: no models, no equations, rows of numbers.

linear_gaussian  rows, prior, noise level by evidence, leave-one-out and leave-group-out, draws
equation_prior   the prior that the rows of an equation imply
likelihood       the size of misfits, and whether two errors differ significantly
linear_algebra   factors and solves, on the host or on a device
"""
