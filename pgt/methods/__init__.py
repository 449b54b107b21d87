"""Ways to fit a field, beside the training of networks and the closed form of sines.

fit      which method fits which model
solver   the equation as a hard constraint: Gauss-Newton's method through its solution, and the posterior
"""
