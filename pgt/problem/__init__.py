"""The problem that is fitted, assembled from the arguments of the user.

assembly      the task of one fit: model, equation, readings and settings
losses        the terms of the loss
field_scales  typical sizes of hidden fields, residuals and wall functions
linearity     in which of its unknowns an equation is linear
budget        time and memory of a fit
checkpoint    storage of a fit in progress
"""
