"""The linear-Gaussian engine. It knows rows of numbers, no models and no equations.

linear_gaussian   rows, posterior, leave-one-out and leave-group-out predictions, draws
evidence          the stiffness and the noise levels of greatest evidence
equation_prior    the prior that the rows of an equation imply
sensor_effects    offset, gain, drift and clock of sensors
gaussian_process  interpolation without an equation
likelihood        the cost of misfits, and whether two errors differ significantly
linear_algebra    factorizations and solves, on the host or on a device
"""
