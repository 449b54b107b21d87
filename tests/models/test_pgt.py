"""The contract every model keeps, and what is special about a PGT."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.ground.errors import InputError
from pgt.kernels.base import AbstractKernel
from pgt.kernels.combine import NoKernel
from pgt.models.cases import ALL_MODELS
from pgt.models.pgt import PGT, _check_sizes
from pgt.nn.attention import attend, with_one
from pgt.nn.draw import Draw
from pgt.nn.film import FilmDecoder
from pgt.nn.frozen import combine, count_parameters, partition
from pgt.nn.scaling import Scaling
from pgt.physics import Heat, NavierStokes2D
from pgt.physics.derivatives import differentiate

DOMAINS = {
    "open": Domain(x=(0, 2), t=(0, 3)),
    "periodic": Domain(x=(0, 2), t=(0, 3), periodic=("x",)),
}
POINTS = np.random.default_rng(1).uniform((0, 0), (2, 3), (5, 2)).astype(np.float32)


def readings(n=9, seed=0, fields=2):
    random = np.random.default_rng(seed)
    values = random.normal(3.0, 2.0, (n, fields))
    values[1, 0] = np.nan
    points = random.uniform((0, 0), (2, 3), (n, 2))
    names = ("u", "v")[:fields]
    return Observations.from_arrays(points, values, coords=("x", "t"), fields=names)


def changed(observations, **fields):
    return dataclasses.replace(observations, **fields)


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


@eqx.filter_jit
def field(model, observations, points):
    context = model.encode(observations)
    return jax.vmap(lambda z: model.decode(context, z))(points)


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


def test_what_the_polish_tunes_is_not_looked_at(model):
    """The least-squares finish looks once and changes only what comes after."""
    shaken = eqx.tree_at(
        lambda m: m.polished(), model, jax.tree.map(lambda a: a + 1.0, model.polished())
    )

    @eqx.filter_jit
    def run(model):
        context = model.encode(readings())
        return jax.vmap(lambda z: model.look(context, z))(POINTS), field(model, readings(), POINTS)

    (seen, values), (again, moved) = run(model), run(shaken)
    np.testing.assert_array_equal(seen, again)
    assert np.abs(values - moved).max() > 1e-3


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


@pytest.mark.parametrize("case", ALL_MODELS, ids=lambda case: case.name)
def test_same_seed_same_weights(case):
    scaling = Scaling.fit(readings(), DOMAINS["open"])
    first, again, other = (case.build(scaling, Heat(0.5), seed) for seed in (3, 3, 4))
    assert eqx.tree_equal(first, again)
    assert not eqx.tree_equal(partition(first)[0], partition(other)[0])
    assert 0 < count_parameters(first) < 1_000_000


# ---------------------------------------------------------------------------------------- PGT


def build(kernel=None, **options):
    scaling = Scaling.fit(readings(), DOMAINS["open"])
    sizes = {"width": 8, "heads": 2, "decoder_width": 12, "decoder_layers": 2}
    return PGT(scaling, NoKernel() if kernel is None else kernel, **(sizes | options))


def test_sizes_of_the_defaults_stay_below_a_million():
    flow = Observations.from_arrays(
        np.random.default_rng(0).uniform(0, 1, (400, 3)), np.ones((400, 3)),
        coords=("x", "y", "t"), fields=("u", "v", "p"),
    )  # fmt: skip
    scaling = Scaling.fit(flow, Domain(x=(0, 1), y=(0, 1), t=(0, 1)))
    assert count_parameters(PGT(scaling, NavierStokes2D(0.01).kernel(), anchors=64)) < 1_000_000


class Zero(AbstractKernel):
    def log_influence(self, receiver, source, resolution):
        return jnp.zeros(1)


class Bump(AbstractKernel):
    def log_influence(self, receiver, source, resolution):
        return -5 * jnp.sum((receiver - source) ** 2)[None]


@pytest.mark.parametrize("anchors", [0, 6])
def test_the_kernel_is_the_bias_and_nothing_else(anchors):
    none, zero, bump = (
        field(build(k, anchors=anchors, seed=1), readings(), POINTS)
        for k in (NoKernel(), Zero(), Bump())
    )
    np.testing.assert_allclose(none, zero, atol=1e-6)
    # FiLM starts near the identity, so the context is felt weakly at first; but it is felt.
    assert np.abs(none - bump).max() > 1e-6


def test_a_causal_kernel_cannot_see_the_future():
    """Under the heat kernel a context token is made only of earlier readings."""
    # One block: the global token sees everything, and a second block would see the global token.
    model = build(Heat(0.5).kernel(), blocks=1)
    late = int(np.argmax(readings().points[:, 1]))
    values = readings().values.copy()
    values[late] += 100.0
    keys, moved = (model.encode(o).keys for o in (readings(), changed(readings(), values=values)))
    others = np.arange(9) != late
    np.testing.assert_allclose(keys[others], moved[others], atol=1e-5)
    assert np.abs(keys[late] - moved[late]).max() > 1e-3


def test_attention_is_softmax():
    random = np.random.default_rng(0)
    query, keys, values = (random.normal(size=s) for s in ((2, 4), (5, 2, 4), (5, 2, 4)))
    bias = random.normal(size=(2, 5))
    bias[:, 3] = -np.inf
    logits = np.einsum("hk,mhk->hm", query, keys) / 2 + bias
    weights = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    expected = np.einsum("hm,mhk->hk", weights, values)
    query, keys, values, bias = (jnp.asarray(a, jnp.float32) for a in (query, keys, values, bias))
    np.testing.assert_allclose(attend(query, keys, with_one(values), bias), expected, atol=1e-5)
    # Large logits do not overflow, and an invisible value is multiplied by exactly zero.
    poisoned = values.at[3].set(1e30)
    big = attend(100 * query, 100 * keys, with_one(poisoned), bias)
    assert np.isfinite(big).all()
    assert np.abs(big).max() < 10


def test_film_starts_as_a_plain_siren():
    decoder = FilmDecoder(2, 1, 8, 16, 3, 8.0, "sine", Draw(0))
    z = jnp.asarray([0.3, -0.4])
    network = decoder.network
    h = np.sin(network.first_weight @ z + network.first_bias)
    for weight in network.hidden:
        h = np.sin(weight @ h)
    for context in np.random.default_rng(0).normal(size=(5, 2, 8)).astype(np.float32):
        value = decoder.answer(z, decoder.look(jnp.asarray(context[0]), jnp.asarray(context[1])))
        np.testing.assert_allclose(value, network.readout @ h, atol=0.01)


def test_film_is_the_formula():
    """α, β, ω read from the hypernetwork, layer by layer, in numpy."""
    decoder = FilmDecoder(2, 1, 4, 6, 2, 8.0, "sine", Draw(0))
    random = np.random.default_rng(1)
    decoder = eqx.tree_at(
        lambda d: (d.film_weight, d.film_bias, d.context_bias),
        decoder,
        tuple(
            jnp.asarray(random.normal(size=a.shape), jnp.float32)
            for a in (decoder.film_weight, decoder.film_bias, decoder.context_bias)
        ),
    )
    z, local, everywhere = (random.normal(size=n).astype(np.float32) for n in (2, 4, 4))
    context = np.tanh(
        decoder.context_weight @ np.concatenate([local, everywhere]) + decoder.context_bias
    )
    network = decoder.network
    h = np.sin(network.first_weight @ z + network.first_bias)
    for weight, film, bias in zip(
        network.hidden, decoder.film_weight, decoder.film_bias, strict=True
    ):
        alpha, beta, omega = np.split(film @ context + bias, 3)
        h = np.sin((1 + omega) * ((1 + alpha) * (weight @ h) + beta))
    value = decoder.answer(
        jnp.asarray(z), decoder.look(jnp.asarray(local), jnp.asarray(everywhere))
    )
    np.testing.assert_allclose(value, network.readout @ h + network.offset, atol=1e-5)


def test_siren_statistics():
    """Sitzmann et al. 2020, theorem 1.8: pre-activations N(0, 1), activations arcsine."""
    network = FilmDecoder(2, 1, 8, 512, 4, 30.0, "sine", Draw(0)).network
    z = np.random.default_rng(0).uniform(-1, 1, (2, 200))
    h = np.sin(network.first_weight @ z + np.asarray(network.first_bias)[:, None])
    for weight in network.hidden:
        pre = weight @ h
        # sin of N(0, s²) has variance (1 - e^(-2s²)) / 2, so s² settles at 0.8 rather than 1.
        assert 0.85 < np.std(pre) < 1.05
        assert np.mean(np.abs(pre) < np.std(pre)) == pytest.approx(0.683, abs=0.02)
        h = np.sin(pre)
        assert np.var(h) == pytest.approx((1 - np.exp(-2 * np.var(pre))) / 2, abs=0.02)


def test_log_variance():
    model = build(variance_head=True)
    context = model.encode(readings())
    assert model.log_variance(context, POINTS[0]).shape == (2,)
    plain = build()
    with pytest.raises(InputError, match="variance_head=True"):
        plain.log_variance(plain.encode(readings()), POINTS[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 9, "heads": 2}, "multiple of heads"),
        ({"blocks": 0}, "at least 1"),
        ({"decoder_layers": 0}, "at least 1"),
        ({"anchors": -1}, "at least 0"),
        ({"heads": 0}, "heads"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(InputError, match=message):
        build(**options)


def test_a_wrong_decoder_is_named():
    with pytest.raises(InputError, match="film-siren, siren, film-mlp, mlp"):
        _check_sizes(8, 2, 1, 1, 0, "mpl")


# ---------------------------------------------------------------------------------------- scaling


def test_scaling_is_undone_and_ignores_hidden_values():
    observations = readings()
    scaling = Scaling.fit(observations, DOMAINS["open"])
    inside = scaling.to_unit(observations.points)
    assert np.abs(inside).max() <= 1
    np.testing.assert_allclose(scaling.from_unit(inside), observations.points, atol=1e-6)
    u = observations.values[observations.mask[:, 0], 0]
    assert scaling.mean[0] == pytest.approx(u.mean(), rel=1e-6)
    assert scaling.spread[0] == pytest.approx(u.std(), rel=1e-6)
    np.testing.assert_allclose(
        scaling.to_physical(scaling.standardise(observations.values)),
        observations.values,
        atol=1e-5,
    )


def test_scaling_of_constant_and_hidden_fields():
    table = {"u": np.full(4, 300.0), "v": np.zeros(4)}
    observations = Observations.from_arrays({"x": np.arange(4.0), "t": np.arange(4.0)}, table)
    scaling = Scaling.fit(observations.aligned(("u", "v", "p")), Domain(x=(0, 3), t=(0, 3)))
    np.testing.assert_array_equal(scaling.spread, [300.0, 1.0, 1.0])
    np.testing.assert_array_equal(scaling.mean, [300.0, 0.0, 0.0])
