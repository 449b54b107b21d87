"""Sums of sines: a linear equation is one linear-Gaussian problem for each band of wavenumbers.

band_search         which bands are tried, and for how long
band_solution       the symbol of an equation, and the solve for one band
band_posterior      the answer, averaged over bands
smoothness_average  the answer, averaged over the smoothness of functions in conditions
design_rows         rows of the equation, the conditions and the readings
"""
