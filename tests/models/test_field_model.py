"""The contract that every model keeps."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few_readings import DOMAINS, POINTS, changed, field, readings
from kernel_cases import ALL_KERNELS
from model_cases import ALL_MODELS

import pgt
from pgt.core.errors import InputError
from pgt.models.field_model import (
    AbstractNetwork,
    Gamma,
    UnitReadings,
)
from pgt.nn.scaling import Scaling
from pgt.nn.trees import cast, combine, count_parameters, partition
from pgt.physics import Heat
from pgt.physics.derivatives import differentiate


def padded(observations, count):
    """Rows that measure nothing, far from everything else and full of rubbish."""
    n, (d, c) = count, (len(observations.coords), len(observations.fields))
    return changed(
        observations,
        points=np.concatenate([observations.points, np.full((n, d), 0.123)]),
        values=np.concatenate([observations.values, np.full((n, c), np.nan)]),
        mask=np.concatenate([observations.mask, np.zeros((n, c), bool)]),
        noise=np.concatenate([observations.noise, np.zeros((n, c))]),
    )


# Periodic as "pgt" is, or as "siren" is: the embedding is theirs.
ALIKE = {"pgt_siren", "pgt_film_mlp", "pgt_mlp", "pgt_uncertain", "pinn", "wire", "deeponet"}
CASES = [
    (case, kind)
    for kind in DOMAINS
    for case in ALL_MODELS
    if kind == "open" or case.name not in ALIKE
]


# Every case compiles a dozen programs: variants of what is tested anyway wait for `make smoke`.
VARIANTS = {"pgt_siren", "pgt_film_mlp", "pgt_mlp"}
PARAMETERS = [
    pytest.param(
        (case, kind),
        id=f"{case.name}-{kind}",
        marks=pytest.mark.slow
        if case.name in VARIANTS or (kind == "periodic" and case.name not in ("pgt", "fno"))
        else (),
    )
    for case, kind in CASES
]


@pytest.fixture(scope="module", params=PARAMETERS)
def chosen(request):
    return request.param


@pytest.fixture(scope="module")
def model(chosen):
    case, kind = chosen
    return case.build(Scaling.fit(readings(), DOMAINS[kind]), Heat(0.5), 3)


@pytest.fixture(scope="module")
def plain(model):
    values = field(model, readings(), POINTS)
    assert values.shape == (5, 2)
    assert np.isfinite(values).all()
    assert np.ptp(values[:, 0]) > 1e-3
    return values


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=2e-5)


def test_order_of_readings_does_not_matter(model, plain):
    shuffled = readings().take(np.random.default_rng(2).permutation(9))
    close(field(model, shuffled, POINTS), plain)


def test_readings_matter_and_so_does_what_is_hidden(chosen, model, plain):
    """Except for a coordinate network, to which they are targets and nothing else."""
    other = readings()
    values = np.where(other.mask, other.values + 1, 0.0)
    mask = other.mask.copy()
    mask[0, 1] = False
    for moved in (changed(other, values=values), changed(other, mask=mask)):
        shift = np.abs(field(model, moved, POINTS) - plain).max()
        assert (shift > 1e-6) == chosen[0].reads


@pytest.mark.parametrize("rubbish", [np.nan, np.inf, 1e30])
def test_a_hidden_value_is_never_read(model, plain, rubbish):
    hidden = changed(readings(), values=np.where(readings().mask, readings().values, rubbish))
    np.testing.assert_array_equal(field(model, hidden, POINTS), plain)


def test_padding_changes_nothing(model, plain):
    close(field(model, padded(readings(), 4), POINTS), plain)


@eqx.filter_jit
def weights_gradient(model, observations):
    trained, fixed = partition(model)

    def total(trained):
        model = combine(trained, fixed)
        context = model.encode(observations)
        return jnp.sum(jax.vmap(lambda z: model.decode(context, z))(POINTS) ** 2)

    return jax.grad(total)(trained)


def test_gradients_are_finite_and_reach_the_whole_model(model):
    rubbish = np.where(readings().mask, readings().values, np.nan)
    gradient = weights_gradient(model, padded(changed(readings(), values=rubbish), 4))
    for path, leaf in jax.tree_util.tree_flatten_with_path(gradient)[0]:
        assert np.isfinite(leaf).all(), path
        if ".variance" not in jax.tree_util.keystr(path):
            assert np.any(leaf != 0), path


def test_encode_under_vmap_equals_a_loop(model):
    sets = [readings(seed=s) for s in range(3)]
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *sets)
    run = eqx.filter_jit(lambda m, o: jax.vmap(lambda one: field(m, one, POINTS))(o))
    close(run(model, stacked), np.stack([field(model, one, POINTS) for one in sets]))


def test_decode_is_smooth(model):
    names = ("u", "u_x", "v_t", "u_xx", "v_xt", "u_tt")

    @eqx.filter_jit
    def run(model, points):
        context = model.encode(readings())
        read = differentiate(lambda y: model.decode(context, y), names, ("x", "t"), ("u", "v"))

        def one(z):
            table = read(z)
            return jnp.stack([table(name) for name in names])

        return jax.vmap(one)(points)

    corners = np.array([[0, 0], [2, 3], [1, 1.5]], np.float32)
    at_readings = readings().points[:3].astype(np.float32)
    derivatives = run(model, np.concatenate([corners, at_readings, POINTS]))
    assert np.isfinite(derivatives).all()
    step = 1e-2
    shift = np.array([step, 0], np.float32)
    ahead, behind = (field(model, readings(), POINTS + s * shift)[:, 0] for s in (1, -1))
    np.testing.assert_allclose(
        derivatives[-5:, 1], (ahead - behind) / (2 * step), rtol=0.05, atol=0.05
    )


def test_what_is_tunable_is_neither_encoded_nor_looked_at(model):
    """A second-order step encodes and looks once and changes only what comes after."""
    shaken = eqx.tree_at(
        lambda m: m.tunable(), model, jax.tree.map(lambda a: a + 1.0, model.tunable())
    )

    @eqx.filter_jit
    def run(model):
        context, halves = model.encode(readings()), model.halves()
        seen = halves and jax.vmap(lambda z: halves.look(context, z))(POINTS)
        return (context, seen), field(model, readings(), POINTS)

    (seen, values), (again, moved) = run(model), run(shaken)
    jax.tree.map(np.testing.assert_array_equal, seen, again)
    assert np.abs(values - moved).max() > 1e-3


def test_the_halves_are_the_whole(chosen, model, plain):
    halves = model.halves()
    assert (halves is not None) == chosen[0].name.startswith(("pgt", "fno"))
    if halves is None:
        return

    @eqx.filter_jit
    def run(model):
        context, (look, answer) = model.encode(readings()), model.halves()
        return jax.vmap(lambda z: answer(look(context, z), z))(POINTS)

    close(run(model), plain)


@eqx.filter_jit
def with_slope(model, points):
    context = model.encode(readings())
    both = jax.vmap(lambda z: jax.jvp(lambda y: model.decode(context, y), (z,), (1.0 * X_AXIS,)))
    return both(points)


X_AXIS = np.array([1, 0], np.float32)


def test_a_periodic_axis_repeats_with_its_derivative(model):
    lower, upper = (np.float32([[x, t] for t in (0.1, 1.0, 2.9)]) for x in (0.0, 2.0))
    pairs = list(zip(with_slope(model, lower), with_slope(model, upper), strict=True))
    if not any(model.scaling.periodic):
        assert np.abs(pairs[0][0] - pairs[0][1]).max() > 1e-2
        return
    for left, right in pairs:
        np.testing.assert_allclose(left, right, atol=1e-4 * np.abs(left).max())
    moved = changed(readings(), points=readings().points + 2.0 * X_AXIS)
    close(field(model, moved, POINTS), field(model, readings(), POINTS))


# ------------------------------------------------------------------------------- model cases


@pytest.mark.parametrize("case", ALL_MODELS, ids=lambda case: case.name)
def test_same_seed_same_weights(case):
    scaling = Scaling.fit(readings(), DOMAINS["open"])
    first, again, other = (case.build(scaling, Heat(0.5), seed) for seed in (3, 3, 4))
    assert eqx.tree_equal(first, again)
    assert not eqx.tree_equal(partition(first)[0], partition(other)[0])
    assert 0 < count_parameters(first) < 1_000_000


# ------------------------------------------------------------------------------- network


class Mean(AbstractNetwork):
    """The mean of the visible readings, everywhere."""

    offset: jax.Array

    def encode(self, readings):
        count = jnp.maximum(jnp.sum(readings.mask, axis=0), 1)
        return jnp.sum(readings.values, axis=0) / count

    def decode(self, context, z):
        return context + self.offset

    def tunable(self):
        return self.offset


def unit_readings():
    values = jnp.asarray([[1.0, 0.0], [0.0, 0.0], [3.0, 2.0]])
    mask = jnp.asarray([[True, False], [False, False], [True, True]])
    points = jnp.zeros((3, 2))
    return UnitReadings(points, values, mask, lambda r, s: jnp.zeros((1, len(r), len(s))))


def test_a_network_needs_no_more_than_three_methods():
    network = Mean(jnp.array([0.5, -1.0]))
    np.testing.assert_allclose(network.encode(unit_readings()), [2.0, 2.0])
    scaling = pgt.Scaling.fit(readings(), DOMAINS["open"])
    model = pgt.extend.Frame(scaling, network)
    # The mean of standardised readings is 0.
    expected = scaling.mean + scaling.spread * np.array([0.5, -1.0], np.float32)
    np.testing.assert_allclose(
        field(model, readings(), POINTS), np.tile(expected, (5, 1)), rtol=1e-5
    )
    assert model.halves() is None
    assert not model.predicts_variance
    with pytest.raises(pgt.InputError, match=r"Mean predicts no variance.*variance_head=True"):
        network.log_variance(None, jnp.zeros(2))


# ----------------------------------------------------------------------------- what a network is given


def kernel_of(name):
    return dict(ALL_KERNELS)[name](1)


@pytest.mark.parametrize("name", [name for name, _ in ALL_KERNELS])
def test_gamma_is_the_kernel_between_physical_points(name):
    """Less the influence of a point on itself where the whole domain is a point."""
    kernel, domain = kernel_of(name), DOMAINS["periodic"]
    with jax.enable_x64(True):
        scaling = cast(Scaling.fit(readings(), domain), np.float64)
        points = np.asarray(readings().points, float)
        unit = jnp.asarray(scaling.to_unit(points))
        found = Gamma(kernel, scaling)(unit[:4], unit)
        bias = kernel.bias(points[:4], points, scaling.resolution, scaling.period)
        here = jnp.asarray(points[0])
        own = kernel.log_influence(here, here, jnp.asarray(domain.extent))
    assert np.isfinite(own).all()
    np.testing.assert_allclose(found, bias - own[:, None, None], rtol=1e-9, atol=1e-9)


def test_a_reading_is_never_in_its_own_future():
    """Compiled, a product and a difference may be one instruction, which rounds only once."""
    influence = eqx.filter_jit(lambda gamma, points: gamma(points, points))
    for seed in range(5):
        found = readings(n=60, seed=seed)
        scaling = Scaling.fit(found, pgt.Domain(x=(0, 2 + seed), t=(-seed, 3)))
        points = jnp.asarray(scaling.to_unit(found.points), jnp.float32)
        own = jnp.diagonal(influence(Gamma(pgt.kernels.HeatKernel(0.1), scaling), points)[0])
        assert np.isfinite(own).all()


def test_a_variance_is_predicted_or_refused(chosen, model):
    """In the contract of all: nobody asks for an attribute."""
    assert model.predicts_variance == (chosen[0].name == "pgt_uncertain")

    def shape_of_variance():  # nothing is compiled to know it
        return eqx.filter_eval_shape(
            lambda m: m.log_variance(m.encode(readings()), POINTS[0]), model
        ).shape

    if model.predicts_variance:
        assert shape_of_variance() == (2,)
    else:
        with pytest.raises(InputError, match="variance_head=True"):
            shape_of_variance()
