"""Array types of the library: n points with d coordinates, scalars, keys."""

import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

Point = Float[Array | np.ndarray, " d"]
Points = Float[Array | np.ndarray, "n d"]
Scalar = Float[Array | np.ndarray, ""]
Key = PRNGKeyArray
