"""The stream engine against nested `jax.jacfwd`, one rule at a time."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.nn import layers
from pgt.physics.taylor_mode import PropagationPlan, propagate

# All first derivatives, all six second ones, and the Laplacian as a form of its own.
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
LAPLACIAN = ((0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0))
PLAN = PropagationPlan(
    (0, 1, 2), (*(((i, j, 1.0 if i == j else 0.5),) for i, j in PAIRS), LAPLACIAN)
)
POINT = np.array([0.3, -0.7, 0.45])
MATRIX = np.random.default_rng(0).normal(size=(4, 3))
PAIR = MATRIX.reshape(2, 2, 3)


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


def nested(function, z):
    """The stack of PLAN by differentiating the function's Jacobian; one pass for all three."""
    jacobian = _with_itself(jax.jacfwd(lambda z: (function(z),) * 2, has_aux=True))
    second, (first, value) = jax.jacfwd(jacobian, has_aux=True)(z)
    rows = [value, *jnp.moveaxis(first, -1, 0)]
    rows += [second[..., i, j] for i, j in PAIRS]
    return jnp.stack([*rows, jnp.trace(second, axis1=-2, axis2=-1)])


def _with_itself(jacobian):
    """(the Jacobian, which is differentiated on; the Jacobian and the value, which are kept)"""

    def both(z):
        found = jacobian(z)
        return found[0], found

    return both


QUICK = {"xla_backend_optimization_level": 0}  # many small programs: compiling them is the cost


def both(function, z):
    return propagate(function, z, PLAN), nested(function, z)


def agree(ours, expected, tolerance=1e-12):
    scale = float(jnp.abs(expected).max())
    assert scale > 0, "a function that is zero everywhere tests nothing"
    np.testing.assert_allclose(ours, expected, atol=tolerance * scale)


def in_batches(functions, z, size=12):
    """As `all_at_once`, a dozen at a time: a program of all takes longer to compile than its parts."""
    names, results = list(functions), {}
    for first in range(0, len(names), size):
        batch = {name: functions[name] for name in names[first : first + size]}
        results |= all_at_once(batch, z)
    return results


def all_at_once(functions, z):
    """Our stack and the nested one for many functions, compiled together; errors stay apart."""
    errors = {}

    def run(z):
        results = {}
        for name, function in functions.items():
            try:
                results[name] = both(function, z)
            except Exception as error:  # reported by the test of that name
                errors[name] = error
        return results

    return jax.jit(run, compiler_options=QUICK)(jnp.asarray(z)) | errors


def look_up(results, name):
    if isinstance(results[name], Exception):
        raise results[name]
    agree(*results[name])


RULES = {
    "sum and difference of streams": lambda z: z + 2 * z**2 - jnp.sin(z),
    "stream plus constant": lambda z: jnp.sin(z + jnp.arange(3.0)),
    "constant plus stream": lambda z: jnp.sin(jnp.arange(3.0) + z),
    "stream minus constant": lambda z: jnp.sin(z - jnp.arange(3.0)),
    "constant minus stream": lambda z: jnp.sin(jnp.arange(3.0) - z),
    "one minus stream": lambda z: (1 - z) ** 3,
    "minus": lambda z: jnp.exp(-z),
    # Eleven: as many as there are streams, so that a number taken for a vector has a shape that fits.
    "number plus constants": lambda z: z[0] ** 2 + jnp.arange(11.0),
    "constants minus a number": lambda z: jnp.arange(11.0) - z[0] ** 2,
    "number times constants": lambda z: z[0] ** 2 * jnp.arange(11.0),
    "number over constants": lambda z: z[0] ** 2 / jnp.arange(1.0, 12.0),
    "constants over a number": lambda z: jnp.arange(1.0, 12.0) / (2 + z[0]),
    "vector times and over a number": lambda z: jnp.sin(z) * z[1] / (2 + z[0]) - z[2],
    "product of streams": lambda z: z * jnp.sin(z[::-1]) * z[0],
    "product with a constant": lambda z: jnp.arange(1.0, 4.0) * jnp.sin(z) * 2.0,
    "square": lambda z: z * z,
    "matrix times stream": lambda z: MATRIX @ jnp.sin(z),
    "matrix times matrix": lambda z: (MATRIX @ jnp.outer(jnp.sin(z), z)).reshape(-1),
    "vectors times matrices": lambda z: jnp.einsum("hi,jhi->hj", jnp.stack([z, z**2]), PAIR).reshape(-1),
    "matrices times vectors": lambda z: jnp.einsum("jhi,hi->hj", PAIR, jnp.stack([z, z**2])).reshape(-1),
    "tensor times matrix": lambda z: jnp.tensordot(PAIR, jnp.outer(z, z**2)[:2], axes=[[0, 2], [0, 1]]),
    "matrix times stream, rounding said": lambda z: jax.lax.dot(
        jnp.asarray(MATRIX), z, precision=("highest", "default")
    ),
    "matrix times stream by an algorithm": lambda z: jax.lax.dot(
        jnp.asarray(MATRIX), z, precision=jax.lax.DotAlgorithmPreset.F64_F64_F64
    ),
    "stream times matrix": lambda z: jnp.sin(z) @ MATRIX.T,
    "stream times stream": lambda z: jnp.outer(z, jnp.sin(z)) @ jnp.cos(z),
    "einsum": lambda z: jnp.einsum("ij,jk->ik", jnp.outer(z, z), jnp.outer(z, z) + 1)[0],
    "stream over constant": lambda z: jnp.sin(z) / jnp.arange(1.0, 4.0),
    "constant over stream": lambda z: 2.0 / (2 + jnp.sin(z)),
    "stream over stream": lambda z: z / (2 + jnp.cos(z[::-1])),
    "select by a constant": lambda z: jnp.where(jnp.array([True, False, True]), z**2, jnp.sin(z)),
    "select by the stream": lambda z: jnp.where(z > 0, z**3, jnp.cos(z)),
    "select against a constant": lambda z: jnp.where(z > 0, z**3, 7.0),
    "concatenate": lambda z: jnp.concatenate([z**2, jnp.ones(2), jnp.sin(z)]),
    "stack": lambda z: jnp.stack([z[0] * z[1], jnp.cos(z[2]), 1.0]),
    "stack with constants": lambda z: jnp.stack([z**2, jnp.arange(3.0)]).reshape(-1),
    "unpack": lambda z: (lambda a, b, c: a * b - c)(*jnp.unstack(jnp.sin(jnp.outer(z, z)), axis=1)),
    "index outside": lambda z: z.at[jnp.array([0, 7])].get(mode="fill", fill_value=2.0) ** 2,
    "size of a complex number": lambda z: jnp.abs(z**2 + 1j * jnp.sin(z)),
    "index": lambda z: z[1] * z[jnp.array([2, 0])],
    "index by a traced number": lambda z: jnp.sin(z)[jnp.argmax(z)][None],
    "slice and reverse": lambda z: z[1:] ** 2 * z[::-1][:2],
    "set an entry": lambda z: (z**2).at[1].set(z[0] * z[2]),
    "add to an entry": lambda z: (z**2).at[1].add(z[0] * z[2]),
    "reshape, transpose, sum": lambda z: jnp.outer(z, z**2).T.reshape(-1)[1:7].sum(keepdims=True),
    "mean and variance": lambda z: jnp.stack([jnp.mean(z**2), jnp.var(z)]),
    "pad": lambda z: jnp.pad(z**2, 1, constant_values=3.0),
    "split": lambda z: jnp.split(jnp.concatenate([z, z**2]), 2)[1] * jnp.split(z, 3)[0],
    "cumulative sum": lambda z: jnp.cumsum(z**2),
    "nothing left to differentiate": lambda z: jnp.arange(1.0, 3.0),
    "the point itself": lambda z: z,
    "number turned into an integer": lambda z: jnp.sin(z) + (10 * z).astype(int).astype(float),
    "look-up by the point": lambda z: jnp.arange(9.0)[(4 + 4 * z).astype(int)] * z,
    "rounding": lambda z: jnp.floor(4 * z) * z + jnp.sign(z),
    "stop_gradient": lambda z: jax.lax.stop_gradient(z**2) * z + jax.lax.stop_gradient(z),
    "jit": lambda z: jax.jit(lambda y: jnp.sin(y) * y)(z) + 1,
    "checkpoint": lambda z: jax.checkpoint(lambda y: jnp.sin(y) * y)(z),
    "relu": lambda z: jax.nn.relu(z) * z,
    "gelu": jax.nn.gelu,
    "softmax": lambda z: jax.nn.softmax(MATRIX @ z),
    "softplus": jax.nn.softplus,
    "silu": jax.nn.silu,
    "layer norm": lambda z: (z - z.mean()) * jax.lax.rsqrt(jnp.mean((z - z.mean()) ** 2) + 1e-5),
    "sort": lambda z: jnp.sort(z**2) * z,
    "maximum": lambda z: jnp.maximum(jnp.sin(z), z**2),
    "largest": lambda z: jnp.max(z**3)[None] * z,
    "clip": lambda z: jnp.clip(z**2, 0.1, 0.4) * z,
    "cumulative product": jnp.cumprod,
    "product of all": lambda z: jnp.prod(jnp.sin(z))[None],
    "logsumexp": lambda z: jax.nn.logsumexp(MATRIX @ z)[None],
    "power of streams": lambda z: (2 + z) ** (1 + z**2),
    "atan2": lambda z: jnp.arctan2(z, 2 + z[::-1]),
    "solve": lambda z: jnp.linalg.solve(jnp.outer(z, z) + 3 * jnp.eye(3), z),
    "scan": lambda z: jax.lax.scan(lambda c, x: (jnp.sin(c * x) + c, c), z, jnp.arange(3.0))[0],
    "loop": lambda z: jax.lax.fori_loop(0, 3, lambda i, c: jnp.sin(c) + z, z),
    "cond": lambda z: jax.lax.cond(z[0] > 0, lambda y: y**3, jnp.sin, z),
    "vmap inside": lambda z: jax.vmap(lambda row: jnp.tanh(row @ z))(jnp.asarray(MATRIX)),
    "convolution": lambda z: jnp.convolve(z**2, jnp.array([1.0, -2.0]))[:3],
}  # fmt: skip


UNARY = {
    name: getattr(jnp, name)
    for name in [
        "sin",
        "cos",
        "tan",
        "tanh",
        "sinh",
        "cosh",
        "arcsin",
        "arccos",
        "arctan",
        "arcsinh",
        "arctanh",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log1p",
        "sqrt",
        "cbrt",
        "square",
        "abs",
    ]
} | {
    "arccosh": lambda z: jnp.arccosh(1.5 + z),
    "logistic": jax.nn.sigmoid,
    "erf": jax.scipy.special.erf,
    "erfc": jax.scipy.special.erfc,
    "rsqrt": jax.lax.rsqrt,
    "integer_pow": lambda z: z**-3,
    "sine": layers.sin,
    "cosine": layers.cos,
}


@pytest.fixture(scope="module")
def rules():
    with jax.enable_x64(True):
        return in_batches(RULES, POINT)


@pytest.fixture(scope="module")
def unary():
    with jax.enable_x64(True):
        return in_batches(UNARY, np.abs(POINT))


@pytest.mark.parametrize("name", RULES)
def test_rule(rules, name):
    look_up(rules, name)


@pytest.mark.parametrize("name", UNARY)
def test_unary(unary, name):
    look_up(unary, name)


def test_a_custom_vjp_is_differentiated_through_its_formula():
    @jax.custom_vjp
    def cube(x):
        return x**3

    cube.defvjp(lambda x: (cube(x), x), lambda x, g: (3 * x**2 * g,))
    ours = jax.jit(lambda z: propagate(lambda y: cube(y) * y, z, PLAN), compiler_options=QUICK)
    theirs = jax.jit(lambda z: nested(lambda y: y**4, z), compiler_options=QUICK)
    agree(ours(POINT), theirs(POINT))


def network(weights, z):
    """Dense layers, attention and a product: what a field model is made of."""
    h = jnp.sin(weights["a"] @ z + weights["b"])
    scores = jax.nn.softmax(weights["k"] @ h)
    return weights["o"] @ (h * (1 + scores @ weights["k"])) / (1.5 + jnp.tanh(z[0]))


@functools.cache
def weights():
    random = np.random.default_rng(2)
    shapes = {"a": (6, 3), "b": (6,), "k": (5, 6), "o": (2, 6)}
    return {name: random.normal(size=shape) for name, shape in shapes.items()}


def test_gradient_with_respect_to_parameters():
    def loss(by):
        return lambda w: jnp.sum(by(functools.partial(network, w), jnp.asarray(POINT)) ** 2)

    ours = jax.jit(jax.grad(loss(lambda f, z: propagate(f, z, PLAN))))(weights())
    theirs = jax.jit(jax.grad(loss(nested)))(weights())
    for name in ours:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-9, atol=1e-9)


def test_reverse_mode_agrees_too():
    function = functools.partial(network, weights())

    @functools.partial(jax.jit, compiler_options=QUICK)
    def run(z):
        return (
            propagate(function, z, PLAN),
            jax.jacrev(function)(z),
            jax.jacrev(jax.jacrev(function))(z),
        )

    stack, first, second = run(jnp.asarray(POINT))
    np.testing.assert_allclose(stack[1:4], first.T, atol=1e-11)
    np.testing.assert_allclose(stack[-1], jnp.trace(second, axis1=1, axis2=2), atol=1e-10)


def test_vmap_and_jit_give_the_same():
    points = jnp.asarray(np.random.default_rng(3).uniform(-1, 1, (5, 3)))
    one = functools.partial(propagate, functools.partial(network, weights()), plan=PLAN)
    batched, single = jax.jit(jax.vmap(one)), jax.jit(one)
    expected = jnp.stack([single(z) for z in points])
    np.testing.assert_allclose(batched(points), expected, atol=1e-12)
