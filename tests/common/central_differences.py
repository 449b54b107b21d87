"""Eighth-order central differences: offsets −4 … 4."""

import numpy as np

FIRST = np.array([3, -32, 168, -672, 0, 672, -168, 32, -3]) / 840

SECOND = np.array([-9, 128, -1008, 8064, -14350, 8064, -1008, 128, -9]) / 5040
