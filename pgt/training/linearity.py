"""Whether an equation is linear in its fields, so that a model linear in its weights needs one solve."""

from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pgt.ground.unknown import is_unknown, named_unknowns, resolve
from pgt.nn.scaling import Scaling
from pgt.physics.bordered import Bordered, functions_of
from pgt.physics.derivatives import LAPLACIAN, DerivativeTable, parse_name, requested
from pgt.physics.pde import AbstractPDE

LINEAR, NONLINEAR = "linear", "nonlinear"
LINEAR_BUT_FOR_COEFFICIENTS = "linear but for its coefficients"
LINEAR_BUT_FOR_FUNCTIONS = "linear but for its functions"

NEGLIGIBLE = 1e-8  # of the residual: what is left when that of a sum is compared with the sum
DRAWS = 4
MOVED = 0.1  # of the unit, or of the logarithm, of a coefficient


def is_linear(pde: AbstractPDE, scaling: Scaling) -> bool:
    """Whether every residual is affine in the fields and their derivatives, whatever becomes of the
    coefficients, and every condition, too, which may hold unknown functions; tried on random numbers
    of the size that the scales suggest.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(), n=20)
    >>> scaling = Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> is_linear(pgt.Heat(0.01), scaling), is_linear(pgt.Burgers(0.01), scaling)
    (True, False)
    """
    if isinstance(pde, Bordered) and not pde.is_affine:
        return False
    with jax.enable_x64(True):
        return all(_is_affine(pde, scaling, seed) for seed in range(DRAWS))


def is_linear_but_for_functions(pde: AbstractPDE, scaling: Scaling) -> bool:
    """Whether it is linear in its fields once its unknown functions are known.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(), n=20)
    >>> scaling = Scaling.fit(readings.aligned(("u", "log_k")), pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> texts = "u_t = div(k*grad(u))", "u_t = k*u*u_x"
    >>> k = pgt.UnknownFunction("x", positive=True)
    >>> [is_linear_but_for_functions(pgt.Equation(text, k=k), scaling) for text in texts]
    [True, False]
    """
    held = tuple(function.field(name) for name, function in functions_of(pde).items())
    with jax.enable_x64(True):
        return all(_is_affine(pde, scaling, seed, held) for seed in range(DRAWS))


def linearity(pde: AbstractPDE, scaling: Scaling) -> str:
    """Of an equation in its fields, as one of the words above.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(), n=20)
    >>> scaling = Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> linearity(pgt.Heat(pgt.Unknown(0.01)), scaling)
    'linear but for its coefficients'
    """
    if is_linear(pde, scaling):
        return LINEAR_BUT_FOR_COEFFICIENTS if named_unknowns(pde) else LINEAR
    if functions_of(pde) and is_linear_but_for_functions(pde, scaling):
        return LINEAR_BUT_FOR_FUNCTIONS
    return NONLINEAR


def is_solved_at_once(pde: AbstractPDE, scaling: Scaling) -> bool:
    """Whether nothing multiplies a field but known numbers."""
    return not named_unknowns(pde) and is_linear(pde, scaling)


def _is_affine(pde: AbstractPDE, scaling: Scaling, seed: int, held: tuple[str, ...] = ()) -> bool:
    """In all fields but those that are held."""
    random, names = np.random.default_rng(seed), requested(pde)
    known = resolve(_moved(pde, random))
    place = np.asarray(scaling.from_unit(random.uniform(-1, 1, len(pde.coords))), float)
    place = place + scaling.origin.along(pde.coords)
    here = {axis: float(value) for axis, value in zip(pde.coords, place, strict=True)}
    first, second = ({n: _draw(n, pde, scaling, random) for n in names} for _ in range(2))
    fixed = {name: first[name] for name in names if _is_of(name, pde, held)}
    second |= fixed
    both = {name: first[name] + second[name] for name in names} | fixed
    nothing = dict.fromkeys(names, 0.0) | fixed
    found = [_residual(known, table | here) for table in (first, second, both, nothing)]
    with np.errstate(invalid="ignore"):  # exp(u) of a large u is infinite
        gap = found[2] - found[0] - found[1] + found[3]
    size = np.max(np.abs(found), axis=0)
    return bool(np.all(np.abs(gap) <= NEGLIGIBLE * size))  # of no numbers: no


def _moved(pde: AbstractPDE, random: np.random.Generator) -> AbstractPDE:
    """With unknown coefficients a little apart from where they start: one that starts at 0, or a power
    that starts at 1, hides what it stands before."""

    def moved(node):
        if not is_unknown(node):
            return node
        return eqx.tree_at(lambda u: u.raw, node, node.raw + MOVED * random.standard_normal())

    return jax.tree.map(moved, pde, is_leaf=is_unknown)


def _is_of(name: str, pde: AbstractPDE, fields: tuple[str, ...]) -> bool:
    """Whether it is one of the fields or a derivative of one."""
    if name in pde.coords:
        return False
    return pde.fields[parse_name(_inside(name), pde.coords, pde.fields)[0]] in fields


def _inside(name: str) -> str:
    """Of a Laplacian, the field."""
    return name[len(LAPLACIAN) + 1 : -1] if name.startswith(f"{LAPLACIAN}(") else name


def _residual(pde: AbstractPDE, table: Mapping[str, float]) -> np.ndarray:
    values = DerivativeTable({name: jnp.asarray(value) for name, value in table.items()})
    return np.asarray([float(r) for r in pde.residual(values).values()])


def _draw(name: str, pde: AbstractPDE, scaling: Scaling, random: np.random.Generator) -> float:
    """A derivative as large as the scales suggest."""
    if name in pde.coords:
        return 0.0
    plain = _inside(name)
    field, along = parse_name(plain, pde.coords, pde.fields)
    half = np.asarray(scaling.half_extent, float)
    if plain != name:
        spatial = [half[i] for i, axis in enumerate(pde.coords) if axis != "t"]
        size = 1 / min(spatial) ** 2
    else:
        size = 1 / float(np.prod(half[list(along)]))
    return float(scaling.spread[field]) * size * random.standard_normal()
