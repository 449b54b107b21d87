"""The frame around a network: all units outside, one set of weights in many frames."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few_readings import DOMAINS, POINTS, changed, readings

import pgt
from pgt.kernels.kernel_cases import ALL_KERNELS
from pgt.models.frame import Frame, Gamma
from pgt.nn.precision import cast
from pgt.nn.scaling import Scaling

SIZES = {"width": 8, "heads": 2, "decoder_width": 12, "decoder_layers": 2}


@eqx.filter_jit
def standardised(model, observations, points):
    """The field in units of its spread, about its mean."""
    context = model.encode(observations)
    values = jax.vmap(lambda z: model.decode(context, z))(points)
    return model.scaling.standardise(values)


# ------------------------------------------------------------------------- one network, two systems

# The same bar in metres and seconds, and in millimetres and minutes; there from another origin and
# with a temperature in another unit.
METRE, SECOND, ORIGIN, DEGREE, ZERO = 1e3, 1 / 60, np.array([-7.0, 3.0]), 1.8, 32.0
UNITS = np.array([METRE, SECOND])


def in_other_units(observations):
    return changed(
        observations,
        points=observations.points * UNITS + ORIGIN,
        values=observations.values * DEGREE + ZERO,
    )


def other_domain():
    ends = np.stack([DOMAINS["open"].lower, DOMAINS["open"].upper]) * UNITS + ORIGIN
    return pgt.Domain(x=tuple(ends[:, 0]), t=tuple(ends[:, 1]))


IN_OTHER_UNITS = {
    "heat": (pgt.kernels.HeatKernel(0.5), pgt.kernels.HeatKernel(0.5 * METRE**2 / SECOND)),
    "wave": (pgt.kernels.WaveKernel(0.7), pgt.kernels.WaveKernel(0.7 * METRE / SECOND)),
    "advection_diffusion": (
        pgt.kernels.AdvectionDiffusionKernel((0.3,), 0.5),
        pgt.kernels.AdvectionDiffusionKernel((0.3 * METRE / SECOND,), 0.5 * METRE**2 / SECOND),
    ),
    "poisson": (
        pgt.kernels.PoissonKernel(1.5, has_time=True),
        pgt.kernels.PoissonKernel(1.5 * METRE, has_time=True),
    ),
}
QUICKEST = (("heat", 0), ("advection_diffusion", 6))  # each compiles a network twice


@pytest.mark.parametrize(
    ("kernel", "other", "anchors"),
    [
        pytest.param(
            *pair,
            anchors,
            id=f"{name}-{anchors}",
            marks=() if (name, anchors) in QUICKEST else pytest.mark.slow,
        )
        for name, pair in IN_OTHER_UNITS.items()
        for anchors in (0, 6)
    ],
)
def test_a_network_gives_the_same_field_in_the_frame_of_other_units(kernel, other, anchors):
    moved = in_other_units(readings())
    with jax.enable_x64(True):
        scaling, again = (
            cast(Scaling.fit(o, d), np.float64)
            for o, d in ((readings(), DOMAINS["open"]), (moved, other_domain()))
        )
        model = cast(pgt.PGT(scaling, kernel, anchors=anchors, **SIZES), np.float64)
        elsewhere = Frame(again, model.network, other)
        here = standardised(model, readings(), jnp.asarray(POINTS))
        points = again.origin.local(POINTS * UNITS + ORIGIN, moved.coords)
        there = standardised(elsewhere, again.origin.readings(moved), jnp.asarray(points))
    # The scales themselves are rounded to single precision.
    np.testing.assert_allclose(here, there, rtol=0, atol=1e-5)
    assert np.ptp(here) > 1e-2


def test_in_a_frame_of_another_kernel_it_is_another_field():
    scaling = Scaling.fit(readings(), DOMAINS["open"])
    model = pgt.PGT(scaling, pgt.kernels.HeatKernel(0.5), **SIZES)
    same = Frame(scaling, model.network, model.kernel)
    plain = Frame(scaling, model.network)
    one, two, three = (standardised(m, readings(), POINTS) for m in (model, same, plain))
    np.testing.assert_array_equal(one, two)
    assert np.abs(one - three).max() > 1e-6


def test_one_encoder_serves_many_systems_at_once():
    """Under vmap over readings, scalings and coefficients together, as in a loop."""
    sets = [readings(seed=seed) for seed in range(3)]
    domains = [pgt.Domain(x=(0, 2 + k), t=(-k, 3)) for k in range(3)]
    scalings = [Scaling.fit(o, d) for o, d in zip(sets, domains, strict=True)]
    network = pgt.PGT(scalings[0], pgt.kernels.HeatKernel(0.5), **SIZES).network
    with jax.enable_x64(True):
        assert_alike(*cast((network, scalings), np.float64), sets, jnp.array([0.1, 0.5, 2.0]))


def assert_alike(network, scalings, sets, diffusivities):
    def one(scaling, observations, diffusivity):
        model = Frame(scaling, network, pgt.kernels.HeatKernel(diffusivity))
        return standardised(model, observations, POINTS)

    def stack(trees):
        return jax.tree.map(lambda *leaves: np.stack(leaves), *trees)

    together = eqx.filter_jit(jax.vmap(one))(stack(scalings), stack(sets), diffusivities)
    each = [one(*system) for system in zip(scalings, sets, diffusivities, strict=True)]
    np.testing.assert_allclose(together, np.stack(each), atol=1e-9)
    assert np.abs(each[0] - each[1]).max() > 1e-3


# ----------------------------------------------------------------------------- what a network is given


def test_readings_in_unit_coordinates_and_standardised():
    scaling = Scaling.fit(readings(), DOMAINS["open"])
    hidden = changed(readings(), values=np.where(readings().mask, readings().values, np.nan))
    seen = Frame(scaling, pgt.PINN(scaling, width=2).network).unit_readings(hidden)
    np.testing.assert_allclose(seen.points, (readings().points - [1, 1.5]) / [1, 1.5], atol=1e-6)
    values, mask = np.asarray(seen.values), np.asarray(seen.mask)
    np.testing.assert_array_equal(mask, readings().mask)
    assert (values[~mask] == 0).all()
    for column, visible in zip(values.T, mask.T, strict=True):
        assert column[visible].mean() == pytest.approx(0, abs=1e-6)
        assert column[visible].std() == pytest.approx(1, rel=1e-5)


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


def test_a_large_offset_costs_gamma_no_digits():
    """A day of readings, counted in seconds from long ago: floats are 16 s apart there."""
    day, ago = 86_400.0, 2.0**27
    points = np.random.default_rng(3).uniform((0, 0), (1, day), (12, 2))
    values = np.sin(points)

    def gamma(start):
        observations = pgt.Observations.from_arrays(
            points + np.array([0, start]), values, coords=("x", "t"), fields=("u", "v")
        )
        scaling = Scaling.fit(observations, pgt.Domain(x=(0, 1), t=(start, start + day)))
        # The spacing of readings must not depend on the offset, whose rounding is not ours.
        scaling = dataclasses.replace(scaling, resolution=np.float32([0.1, 60.0]))
        model = pgt.PGT(scaling, pgt.kernels.HeatKernel(1e-5), **SIZES)
        seen = model.unit_readings(scaling.origin.readings(observations))
        return np.asarray(seen.gamma(seen.points, seen.points))

    now, then = gamma(0.0), gamma(ago)
    assert (np.isneginf(now) == np.isneginf(then)).all()
    visible = np.isfinite(now)
    np.testing.assert_allclose(now[visible], then[visible], rtol=2e-4, atol=2e-4)


def test_the_field_of_a_frame_is_the_networks_in_physical_units():
    scaling = Scaling.fit(readings(), DOMAINS["open"])
    model = pgt.SIREN(scaling, width=6, layers=2, frequency=4.0)
    z = POINTS[0]
    inside = model.network.decode((), jnp.asarray((z - [1, 1.5]) / [1, 1.5], jnp.float32))
    expected = inside * scaling.spread + scaling.mean
    np.testing.assert_allclose(model.decode((), z), expected, rtol=1e-5)
    assert model.tunable() is model.network.tunable()


def test_a_reading_is_never_in_its_own_future():
    """Compiled, a product and a difference may be one instruction, which rounds only once."""
    influence = eqx.filter_jit(lambda gamma, points: gamma(points, points))
    for seed in range(5):
        found = readings(n=60, seed=seed)
        scaling = Scaling.fit(found, pgt.Domain(x=(0, 2 + seed), t=(-seed, 3)))
        points = jnp.asarray(scaling.to_unit(found.points), jnp.float32)
        own = jnp.diagonal(influence(Gamma(pgt.kernels.HeatKernel(0.1), scaling), points)[0])
        assert np.isfinite(own).all()
