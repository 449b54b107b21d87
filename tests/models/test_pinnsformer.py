"""PINNsFormer against its definition, its derivatives, and the equation it was made for."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.models.pinnsformer import PINNsFormer
from pgt.nn.scaling import Scaling
from pgt.nn.trees import cast

SMALL = {"width": 8, "heads": 2, "hidden": 12, "output_hidden": 10, "step": 0.02}


def build(periodic=(), **options):
    """Over (x, y), y in the place of time: of axes called t none may be periodic."""
    points = np.random.default_rng(0).uniform(0, (2, 3), (9, 2))
    values = np.sin(points[:, :1]) + np.array([0.0, 2.0])
    data = pgt.Observations.from_arrays(points, values, coords=("x", "y"), fields=("u", "v"))
    domain = pgt.Domain(x=(0, 2), y=(0, 3), periodic=periodic)
    return PINNsFormer(Scaling.fit(data, domain), **(SMALL | options))


def shaken(model):
    """Amplitudes and biases too away from where they start, so that none of them can hide."""
    random = np.random.default_rng(5)
    weights, fixed = eqx.partition(model.tunable(), eqx.is_array)
    weights = jax.tree.map(lambda a: a + 0.1 * np.float32(random.standard_normal(a.shape)), weights)
    return eqx.tree_at(lambda m: m.tunable(), model, eqx.combine(weights, fixed))


@eqx.filter_jit
def field(model, points):
    return jax.vmap(lambda z: model.decode((), z))(jnp.asarray(points))


def by_hand(model, z):
    """The whole sequence through encoder and decoder, every token of it; the first value returned."""
    network, along = model.network, model.network.sequence
    extent = 2 * model.scaling.half_extent[along.time_axis]
    sequence = np.tile(np.asarray(z, float), (along.times, 1))
    sequence[:, along.time_axis] += along.step * extent * np.arange(along.times)
    unit = jnp.asarray(model.scaling.to_unit(sequence))
    seen = np.stack([np.asarray(along.embedding(row)) for row in unit])

    def dense(layer, x):
        return x @ np.asarray(layer.weight).T + layer.bias

    def wave(activation, x):
        first, second = np.asarray(activation.amplitudes)
        return first * np.sin(x) + second * np.cos(x)

    def mlp(network, x):
        x = wave(network.waves[0], dense(network.first, x))
        return dense(network.third, wave(network.waves[1], dense(network.second, x)))

    def attention(part, askers, answerers):
        projections = (part.queries, part.keys, part.values)
        sources = (askers, answerers, answerers)
        heads = [
            np.split(x @ np.asarray(p.weight).T, p.heads, axis=1)
            for p, x in zip(projections, sources, strict=True)
        ]
        mixed = []
        for query, key, value in zip(*heads, strict=True):
            weights = np.exp(query @ key.T / np.sqrt(query.shape[1]))
            mixed.append(weights / weights.sum(1, keepdims=True) @ value)
        return np.concatenate(mixed, axis=1) @ np.asarray(part.mix).T

    def layer(part, x, memory=None):
        asking = wave(part.waves[0], x)
        x = x + attention(part.attention, asking, asking if memory is None else memory)
        return x + mlp(part.mlp, wave(part.waves[1], x))

    tokens = memory = dense(network.mixer, seen)
    for part in network.encoder:
        memory = layer(part, memory)
    memory = wave(network.encoder_wave, memory)
    for part in network.decoder:
        tokens = layer(part, tokens, memory)
    values = mlp(network.output, wave(network.decoder_wave, tokens))
    return values[0] * model.scaling.spread + model.scaling.mean


@pytest.mark.parametrize(
    ("periodic", "layers", "time_axis"),
    [((), 1, -1), ((), 2, 0), (("x",), 1, -1), (("x",), 1, 0), (("x", "y"), 2, -1)],
)
def test_only_what_is_needed_equals_the_whole_sequence(periodic, layers, time_axis):
    with jax.enable_x64(True):
        model = cast(shaken(build(periodic, layers=layers, time_axis=time_axis)), np.float64)
        points = np.array([[0.3, 0.7], [2.0, 3.0]])
        expected = [by_hand(model, z) for z in points]
        np.testing.assert_allclose(field(model, points), expected, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_trained_on_heat_and_saved(tmp_path):
    random = np.random.default_rng(0)
    points = random.uniform(0, 1, (30, 2))
    u = np.sin(np.pi * points[:, 0]) * np.exp(-0.1 * np.pi**2 * points[:, 1])
    data = pgt.Observations.from_arrays(points, u[:, None], coords=("x", "t"), fields=("u",))
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    model = PINNsFormer(Scaling.fit(data, domain), width=4, heads=1, hidden=6, output_hidden=6)
    training = pgt.Training(steps=20, collocation=16, check_every=5, polish=False)
    result = pgt.reconstruct(
        data, pgt.Heat(0.1), domain, model=model, training=training, progress=False
    )
    total = result.history.loss.sel(term=["data", "heat"]).sum("term")
    assert float(total[-1]) < float(total[0])
    result.save(tmp_path)
    again = pgt.Reconstruction.load(tmp_path)
    assert eqx.tree_equal(result.model, again.model)
    np.testing.assert_array_equal(result.grid(x=5, t=4).u, again.grid(x=5, t=4).u)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 9, "heads": 2}, "multiple of heads"),
        ({"heads": 0}, "heads must be a whole number from 1 up"),
        ({"layers": 0}, "layers=0"),
        ({"times": 0}, "times must be a whole number from 1 up"),
        ({"step": 0.0}, "step must be a number above 0"),
        ({"step": float("nan")}, "step must be a finite number above 0"),
        ({"time_axis": 2}, "from 0 to 1"),
        ({"time_axis": -3}, "time_axis must be a whole number from -1 up"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(pgt.InputError, match=message):
        build(**options)
