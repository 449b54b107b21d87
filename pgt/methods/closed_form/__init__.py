"""Sums of sines: a linear equation is one linear-Gaussian problem for each band of frequencies.

band_search         which bands are tried, and which fit is kept
band_solution       the fit in one band, by one solve or by Gauss-Newton's method
band_posterior      the posterior of one band, or averaged over bands
smoothness_average  the posterior averaged over the smoothness of unknown functions in conditions
streamed_readings   all readings of a stream, by one pass over its files
design_rows         the rows of equation, conditions and readings, linear in the weights
equation_symbol     the symbol of an equation, which gives the waves that satisfy it
"""
