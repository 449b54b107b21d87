"""The unknowns in which an equation is linear, tested on random numbers.

A model that is linear in its weights needs a single solve for a linear equation. If the equation is
linear but for its coefficients or functions, one solve per iterate of these suffices.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pgt.core.unknown import is_unknown, named_unknowns, resolve
from pgt.nn.scaling import Scaling
from pgt.physics.derivatives import LAPLACIAN, DerivativeTable, parse_name, requested
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import Bordered, functions_of

LINEAR, NONLINEAR = "linear", "nonlinear"
LINEAR_BUT_FOR_COEFFICIENTS = "linear but for its coefficients"
LINEAR_BUT_FOR_FUNCTIONS = "linear but for its functions"

# The largest relative difference between derivatives of a residual that may be rounding.
ROUNDING_SHARE = 1e-8
# The number of random fields on which linearity is tested.
RANDOM_TRIALS = 4
# The standard deviation by which coefficients are shifted, in their units or logarithms.
COEFFICIENT_SHIFT = 0.1


def is_linear(pde: AbstractPDE, scaling: Scaling) -> bool:
    """Whether every residual is affine in the fields and their derivatives for any coefficients, and so
    is every condition with unknown functions.

    This is tested on random numbers of the size of the scales.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(), n=20)
    >>> scaling = Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> is_linear(pgt.Heat(0.01), scaling), is_linear(pgt.Burgers(0.01), scaling)
    (True, False)
    """
    if isinstance(pde, Bordered) and not pde.is_affine:
        return False
    with jax.enable_x64(True):
        return all(_is_affine(pde, scaling, seed) for seed in range(RANDOM_TRIALS))


def is_linear_but_for_functions(pde: AbstractPDE, scaling: Scaling) -> bool:
    """Whether an equation is linear in its fields if its unknown functions are given.

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
        return all(_is_affine(pde, scaling, seed, held) for seed in range(RANDOM_TRIALS))


def linearity(pde: AbstractPDE, scaling: Scaling) -> str:
    """The linearity of an equation, as one of the texts above.

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


def is_solved_by_one_solve(pde: AbstractPDE, scaling: Scaling) -> bool:
    """Whether the equation is linear in its fields and has no unknown coefficients."""
    return not named_unknowns(pde) and is_linear(pde, scaling)


def _is_affine(
    pde: AbstractPDE, scaling: Scaling, seed: int, fixed_fields: tuple[str, ...] = ()
) -> bool:
    """Whether the residuals are affine in all fields but `fixed_fields`, on a random trial.

    They are affine if no derivative of a residual changes with the fields. Each derivative is compared
    with itself at other fields, so the scales do not matter: that of a hidden field is not known, and a
    product may be small beside it.
    """
    random, names = np.random.default_rng(seed), requested(pde)
    equation = resolve(_with_shifted_coefficients(pde, random))
    place = np.asarray(scaling.from_unit(random.uniform(-1, 1, len(pde.coords))), float)
    place = place + scaling.origin.along(pde.coords)
    coordinates = {axis: float(value) for axis, value in zip(pde.coords, place, strict=True)}
    first, second = ({n: _random_value(n, pde, scaling, random) for n in names} for _ in range(2))
    fixed = {name: first[name] for name in names if _belongs_to(name, pde, fixed_fields)}
    free = [name for name in names if name not in fixed and name not in coordinates]

    def residuals(values):
        table = DerivativeTable(
            {n: jnp.asarray(v) for n, v in (values | fixed | coordinates).items()}
        )
        return jnp.stack([jnp.asarray(r, float) for r in equation.residual(table).values()])

    slopes = [
        jax.jacfwd(residuals)({name: jnp.asarray(values[name]) for name in free})
        for values in (first, second)
    ]
    return all(
        np.allclose(slopes[0][name], slopes[1][name], rtol=ROUNDING_SHARE, atol=0) for name in free
    )


def _with_shifted_coefficients(pde: AbstractPDE, random: np.random.Generator) -> AbstractPDE:
    """The equation with randomly shifted unknown coefficients.

    A coefficient that starts at 0, or a power that starts at 1, would hide a nonlinear term.
    """

    def moved(node):
        if not is_unknown(node):
            return node
        return eqx.tree_at(
            lambda u: u.raw, node, node.raw + COEFFICIENT_SHIFT * random.standard_normal()
        )

    return jax.tree.map(moved, pde, is_leaf=is_unknown)


def _belongs_to(name: str, pde: AbstractPDE, fields: tuple[str, ...]) -> bool:
    """Whether a name is one of these fields or a derivative of one."""
    if name in pde.coords:
        return False
    return pde.fields[parse_name(_strip_laplacian(name), pde.coords, pde.fields)[0]] in fields


def _strip_laplacian(name: str) -> str:
    """The field of a Laplacian, or the name itself."""
    return name[len(LAPLACIAN) + 1 : -1] if name.startswith(f"{LAPLACIAN}(") else name


def _random_value(
    name: str, pde: AbstractPDE, scaling: Scaling, random: np.random.Generator
) -> float:
    """A random value of a derivative, of the size that the scales suggest."""
    if name in pde.coords:
        return 0.0
    plain = _strip_laplacian(name)
    field, along = parse_name(plain, pde.coords, pde.fields)
    half = np.asarray(scaling.half_extent, float)
    if plain != name:
        spatial = [half[i] for i, axis in enumerate(pde.coords) if axis != "t"]
        size = 1 / min(spatial) ** 2
    else:
        size = 1 / float(np.prod(half[list(along)]))
    return float(scaling.spread[field]) * size * random.standard_normal()
