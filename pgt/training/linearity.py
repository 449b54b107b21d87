"""Whether an equation is linear in its fields, so that a model linear in its weights needs one solve."""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np

from pgt.ground.unknown import named_unknowns, resolve
from pgt.nn.scaling import Scaling
from pgt.physics.derivatives import LAPLACIAN, DerivativeTable, parse_name, requested
from pgt.physics.pde import AbstractPDE

NEGLIGIBLE = 1e-8  # of the residual: what is left when that of a sum is compared with the sum
DRAWS = 4


def is_linear(pde: AbstractPDE, scaling: Scaling) -> bool:
    """Whether every residual is affine in the fields and their derivatives, the coefficients as they
    are now; tried on random numbers of the size that the scales suggest.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(), n=20)
    >>> scaling = Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> is_linear(pgt.Heat(0.01), scaling), is_linear(pgt.Burgers(0.01), scaling)
    (True, False)
    """
    with jax.enable_x64(True):
        return all(_is_affine(pde, scaling, seed) for seed in range(DRAWS))


def is_solved_at_once(pde: AbstractPDE, scaling: Scaling) -> bool:
    """Whether nothing multiplies a field but known numbers."""
    return not named_unknowns(pde) and is_linear(pde, scaling)


def _is_affine(pde: AbstractPDE, scaling: Scaling, seed: int) -> bool:
    known, names = resolve(pde), requested(pde)
    random = np.random.default_rng(seed)
    place = np.asarray(scaling.from_unit(random.uniform(-1, 1, len(pde.coords))), float)
    place = place + scaling.origin.along(pde.coords)
    here = {axis: float(value) for axis, value in zip(pde.coords, place, strict=True)}
    first, second = ({n: _draw(n, pde, scaling, random) for n in names} for _ in range(2))
    both = {name: first[name] + second[name] for name in names}
    nothing = dict.fromkeys(names, 0.0)
    found = [_residual(known, table | here) for table in (first, second, both, nothing)]
    with np.errstate(invalid="ignore"):  # exp(u) of a large u is infinite
        gap = found[2] - found[0] - found[1] + found[3]
    size = np.max(np.abs(found), axis=0)
    return bool(np.all(np.abs(gap) <= NEGLIGIBLE * size))  # of no numbers: no


def _residual(pde: AbstractPDE, table: Mapping[str, float]) -> np.ndarray:
    values = DerivativeTable({name: jnp.asarray(value) for name, value in table.items()})
    return np.asarray([float(r) for r in pde.residual(values).values()])


def _draw(name: str, pde: AbstractPDE, scaling: Scaling, random: np.random.Generator) -> float:
    """A derivative as large as the scales suggest."""
    if name in pde.coords:
        return 0.0
    bare = name[len(LAPLACIAN) + 1 : -1] if name.startswith(f"{LAPLACIAN}(") else name
    field, along = parse_name(bare, pde.coords, pde.fields)
    half = np.asarray(scaling.half_extent, float)
    if bare != name:
        spatial = [half[i] for i, axis in enumerate(pde.coords) if axis != "t"]
        size = 1 / min(spatial) ** 2
    else:
        size = 1 / float(np.prod(half[list(along)]))
    return float(scaling.spread[field]) * size * random.standard_normal()
