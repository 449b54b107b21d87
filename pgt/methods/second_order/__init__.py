"""Gauss-Newton steps in float64.

gauss_newton          the whole fit: without a prior, then under a prior if the readings are noisy
least_squares_system  the parameters, rows and held-out error of one fit, and the first prior
residual_rows         the rows of the loss as functions of the parameters
jacobian              the derivative of the rows
least_squares         one damped step, and the evidence for noise and prior
descent               many steps
residual_correlation  whether residuals at the readings are noise
field_noise           the noise of each field
"""
