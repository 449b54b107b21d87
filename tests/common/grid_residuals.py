"""The residual of an equation on gridded fields, by central differences of eighth order."""

import jax
import jax.numpy as jnp
import numpy as np
from central_differences import FIRST


class GridDerivatives:
    """Fields on even nodes and their derivatives by name; NaN where the stencil leaves the grid."""

    def __init__(self, axes, fields):
        self.axes, self.fields = axes, fields

    def __call__(self, name):
        if name in self.axes:
            where = list(self.axes).index(name)
            shape = [-1 if i == where else 1 for i in range(len(self.axes))]
            grid = [len(nodes) for nodes in self.axes.values()]
            return np.broadcast_to(self.axes[name].reshape(shape), grid)
        field, _, letters = name.partition("_")
        values = self.fields[field]
        for axis in letters:
            values = difference(values, list(self.axes).index(axis), self.axes[axis])
        return values

    def laplacian(self, field):
        return sum(self(f"{field}_{2 * axis}") for axis in self.axes if axis != "t")


def difference(values, where, nodes):
    rows = np.moveaxis(values, where, 0)
    found = np.full(rows.shape, np.nan)
    inside = [rows[i : len(rows) - 8 + i] for i in range(9)]
    total = sum(weight * part for weight, part in zip(FIRST, inside, strict=True))
    found[4:-4] = total / (nodes[1] - nodes[0])
    return np.moveaxis(found, 0, where)


class Asked:
    """Notes what a residual asks for."""

    def __init__(self):
        self.names = {}

    def __call__(self, name):
        self.names[name] = lambda d: d(name)
        return jnp.zeros(())

    def laplacian(self, field):
        self.names[f"lap({field})"] = lambda d: d.laplacian(field)
        return jnp.zeros(())


class AtPoint:
    def __init__(self, values):
        self.values = values

    def __call__(self, name):
        return self.values[name]

    def laplacian(self, field):
        return self.values[f"lap({field})"]


def residuals(family, key, coefficients=None):
    """Of a drawn system in double precision, where the stencils fit: what is left of each equation, and
    the spread of every term that they ask for."""
    with jax.enable_x64(True):
        system = jax.jit(family.draw)(key, coefficients)
        values = np.asarray(system.values)
        fields = {name: values[..., i] for i, name in enumerate(family.fields)}
        pde, asked = family.pde(system.coefficients), Asked()
        pde.residual(asked)
        grid = GridDerivatives(family.axes, fields)
        found = {name: np.asarray(take(grid)) for name, take in asked.names.items()}
        inside = np.all([np.isfinite(v) for v in found.values()], axis=0)
        rows = {name: jnp.asarray(v[inside]) for name, v in found.items()}
        left = jax.vmap(lambda row: pde.residual(AtPoint(row)))(rows)
    scale = {name: float(np.std(v[inside])) for name, v in found.items()}
    return {name: np.asarray(v) for name, v in left.items()}, scale
