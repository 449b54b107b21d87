"""Second-order fits: Gauss-Newton steps in float64.

gauss_newton          the whole fit, first without a prior, then under a prior if the readings are noisy
residual_rows         the rows of the loss as functions of the parameters
jacobian              the derivative of the rows
least_squares         one damped step, and the evidence for noise and prior
descent               the parameters and rows of one fit, and many steps
residual_noise        whether residuals at the readings are noise, and the noise of each field
"""
