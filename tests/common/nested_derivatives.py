"""The derivatives of a function by nothing but nested `jax.jvp`: slow, short, independent."""

import jax
import jax.numpy as jnp


class NestedDerivatives:
    """Implements the `Derivatives` protocol for field(z) -> (c,) at one point."""

    def __init__(self, field, z, coords, fields):
        self.field, self.z, self.coords, self.fields = field, z, coords, fields

    def __call__(self, name):
        if name in self.coords:
            return self.z[self.coords.index(name)]
        base, _, letters = (name, "", "") if name in self.fields else name.rpartition("_")

        def function(z):
            return self.field(z)[self.fields.index(base)]

        for letter in letters:
            function = self._along(function, self.coords.index(letter))
        return function(self.z)

    def laplacian(self, field):
        return sum(self(f"{field}_{c}{c}") for c in self.coords if c != "t")

    @staticmethod
    def _along(function, axis):
        return lambda z: jax.jvp(function, (z,), (jnp.eye(z.size)[axis],))[1]


def residual_at(pde, field, z):
    return pde.residual(NestedDerivatives(field, z, pde.coords, pde.fields))


def random_points(bounds, coords, n, seed=0):
    lower = jnp.array([bounds[c][0] for c in coords])
    upper = jnp.array([bounds[c][1] for c in coords])
    return jax.random.uniform(
        jax.random.key(seed), (n, len(coords)), lower.dtype, minval=lower, maxval=upper
    )
