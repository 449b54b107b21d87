"""The units a problem is written in change nothing: the same seeds give the same numbers.

Metres and seconds, or millimetres and hours with values around 300 K: the history of training, in units
of the fields' spread, agrees to rounding, and with it the relative error of the part that varies.
"""

import dataclasses

import jax
import numpy as np
import pytest

import pgt
from pgt.data import Domain, Observations
from pgt.ground.unknown import Unknown
from pgt.nn.scaling import Scaling
from pgt.training.scales import typical_residuals, with_hidden_scales, with_unknown_units

RANDOM = np.random.default_rng(3)
PLACES, NOISE = RANDOM.uniform(0, 1, (40, 2)), RANDOM.standard_normal(40)
# SOAP turns the gradient into the eigenvectors of its own square, which rounding decides at first;
# Adam shows what the problem itself does.
TRAINING = pgt.Training(
    steps=16, collocation=32, check_every=5, optimiser="adam", precision="float64", hold_out=0.2
)


@dataclasses.dataclass(frozen=True)
class Units:
    """What one unit of the first system is in another; values are shifted by `offset` as well."""

    length: float = 1.0
    time: float = 1.0
    offset: float = 0.0

    @property
    def diffusivity(self) -> float:
        return self.length**2 / self.time


SI, OTHER = Units(), Units(length=1e3, time=1 / 3600, offset=300.0)


def rod(units: Units):
    """Heat in a rod of 0.2 m over 100 s, of unknown diffusivity, in some units."""
    length, time, diffusivity = 0.2, 100.0, 4e-5
    x, t = PLACES.T
    decay = np.exp(-diffusivity * (np.pi / length) ** 2 * time * t)
    values = 5 * np.sin(np.pi * x) * decay + 0.3 * NOISE
    readings = Observations.from_arrays(
        {"x": x * length * units.length, "t": t * time * units.time}, {"u": values + units.offset}
    )
    domain = Domain(x=(0, length * units.length), t=(0, time * units.time))
    pde = pgt.Heat(Unknown(2e-5 * units.diffusivity))
    model = pgt.PINN(Scaling.fit(readings, domain), width=6, layers=2)
    # Few iterations: the rounding of 300 K is an error of 3e-7 at first, which grows with every step.
    polish = pgt.Polish(iterations=21, points=49, evidence=True)
    training = dataclasses.replace(TRAINING, polish=polish)
    return pgt.reconstruct(readings, pde, domain, model=model, training=training)


def vortices(length: float, speed: float):
    """Taylor–Green vortices, their pressure never read: in units of 1/length and 1/speed."""
    time = length / speed
    x, y, t = np.random.default_rng(5).uniform(0, 1, (3, 40))
    decay = np.exp(-0.2 * t)
    u, v = np.sin(3 * x) * np.cos(3 * y) * decay, -np.cos(3 * x) * np.sin(3 * y) * decay
    places = {"x": x * length, "y": y * length, "t": t * time}
    readings = Observations.from_arrays(places, {"u": u * speed, "v": v * speed})
    pde = pgt.NavierStokes2D(0.01 * length * speed, convection=Unknown(0.5))
    domain = Domain(x=(0, length), y=(0, length), t=(0, time))
    scaling = Scaling.fit(readings.aligned(pde.fields), domain)
    model = pgt.PINN(scaling, width=8, layers=2)
    training = dataclasses.replace(TRAINING, polish=False)
    return pgt.reconstruct(readings, pde, domain, model=model, training=training)


def same_history(one, other, rtol: float):
    assert one.history.sizes["step"] > 1
    assert one.history.sizes["term"] > 1
    for name in ("loss", "weight", "held_out"):
        np.testing.assert_allclose(other.history[name], one.history[name], rtol=rtol, err_msg=name)


@pytest.mark.slow
def test_a_rod_in_metres_and_seconds_or_millimetres_and_hours_around_300_kelvin():
    """With an unknown coefficient, in training and in the polish under a prior."""
    one, other = rod(SI), rod(OTHER)
    same_history(one, other, rtol=1e-4)
    costs = (np.concatenate([s.costs for s in r.stages]) for r in (one, other))
    np.testing.assert_allclose(*costs, rtol=1e-4)
    found = one.parameters["diffusivity"]
    assert abs(found / 2e-5 - 1) > 1e-2  # it has moved
    assert other.parameters["diffusivity"] / OTHER.diffusivity == pytest.approx(found, rel=1e-3)
    field, shifted = (r.grid(x=9, t=5).u.to_numpy() for r in (one, other))
    np.testing.assert_allclose(shifted - 300, field, atol=1e-3 * np.ptp(field))


@pytest.mark.slow
def test_a_flow_with_a_hidden_pressure_in_other_units():
    one, other = vortices(1.0, 1.0), vortices(1e-3, 10.0)
    same_history(one, other, rtol=1e-4)
    assert other.parameters["convection"] == pytest.approx(one.parameters["convection"], rel=1e-5)
    pressure, scaled = (r.grid(x=4, y=4, t=2).p.to_numpy() for r in (one, other))
    np.testing.assert_allclose(scaled / 100, pressure, rtol=1e-3, atol=1e-4)


# -------------------------------------------------------------------------------- the scales


def scaling_of(pde, spread, extent):
    count = len(pde.coords)
    arrays = (np.zeros(count), np.asarray(extent) / 2, 0 * np.asarray(spread), spread, extent)
    return Scaling(*(np.float32(a) for a in arrays), periodic=(False,) * count)


def hidden_scale(pde, spread, extent, measured):
    """The spreads after the equation has given one to each field that was not measured."""
    mask = np.tile([f in measured for f in pde.fields], (3, 1))
    points, zero = np.zeros((3, len(pde.coords))), np.zeros(mask.shape)
    readings = Observations(points, zero, mask, zero, None, pde.coords, pde.fields)
    model = pgt.PINN(scaling_of(pde, spread, extent), width=4, layers=1)
    return np.asarray(with_hidden_scales(model, readings, pde).scaling.spread)


def level_of(pde, spread, extent):
    """Mean and spread of the last field after the equation has given them."""
    mask = np.tile([f != pde.fields[-1] for f in pde.fields], (3, 1))
    points, zero = np.zeros((3, len(pde.coords))), np.zeros(mask.shape)
    readings = Observations(points, zero, mask, zero, None, pde.coords, pde.fields)
    model = pgt.PINN(scaling_of(pde, spread, extent), width=4, layers=1)
    scaling = with_hidden_scales(model, readings, pde).scaling
    return float(scaling.mean[-1]), float(scaling.spread[-1])


def test_a_hidden_pressure_is_as_large_as_the_flow_says():
    """ρU² where convection rules; of the order of νU/L where friction does."""
    fast = hidden_scale(pgt.NavierStokes2D(1e-9), [3.0, 3.0, 1.0], [2.0, 2.0, 50.0], ("u", "v"))
    assert 3.0**2 < fast[2] < 2 * 3.0**2  # two products of random numbers of size U²
    slow = hidden_scale(pgt.NavierStokes2D(1e3), [3.0, 3.0, 1.0], [2.0, 2.0, 50.0], ("u", "v"))
    assert 1e3 * 3.0 < slow[2] < 2 * 1e3 * 3.0


def test_a_hidden_velocity_follows_from_continuity_and_then_the_pressure():
    spread = hidden_scale(pgt.NavierStokes2D(1e-9), [3.0, 1.0, 1.0], [2.0, 0.2, 50.0], ("u",))
    assert 0.1 < spread[1] < 1.0  # U L_y / L_x = 0.3
    assert 3.0 < spread[2] < 30.0


def test_a_field_that_enters_as_a_square_is_balanced_too():
    pde = pgt.Equation("u_t = 5*w^2", "w_t = w_xx", fields=("u", "w"))
    spread = hidden_scale(pde, [4.0, 1.0], [2.0, 2.0], ("u",))
    sizes = typical_residuals(pde, scaling_of(pde, spread, [2.0, 2.0]))
    assert sizes["equation_1"] == pytest.approx(4.0 * np.sqrt(2), rel=0.3)  # √(1 + 1) of u_t


def test_a_positive_source_begins_where_its_equation_says_whatever_the_first_guess():
    levels = []
    for initial in (0.01, 100.0):
        source = pgt.UnknownFunction("x", positive=True, initial=initial)
        pde = pgt.Equation("u_t = u_xx + q", q=source)
        level, spread = level_of(pde, [4.0, 1.0], [2.0, 2.0])
        levels.append(initial * np.exp(level))
        assert 0.3 < spread < 1.5
    assert levels == pytest.approx([levels[0]] * 2, rel=1e-3)
    assert 2 < levels[0] < 20  # u_t and u_xx are 4


@pytest.mark.parametrize(("source", "level"), [(0.0, 0.0), (-1000.0, np.log(1000 / 3))])
def test_a_positive_function_in_every_unknown_term_is_as_large_as_the_source_says(source, level):
    """Or, without one, as the user says."""
    pde = pgt.Equation(
        "div(k*grad(u)) = source",
        source=source,
        k=pgt.UnknownFunction("x", "y", positive=True, initial=3.0),
    )
    assert level_of(pde, [1.0, 1.0], [2.0, 2.0])[0] == pytest.approx(level, abs=1.0)


def test_an_unknown_whose_term_is_limited_is_counted_in_its_own_units():
    """tanh(10⁹ k) is 1 for every k that is tried: no secant meets the axis."""
    pde = pgt.Equation("u_t = 9*tanh(1000000000*k)*u_xx", k=Unknown(0.5))
    suited = with_unknown_units(pde, scaling_of(pde, [2.0], [2.0, 2.0]))
    (coefficient,) = jax.tree.leaves(suited, is_leaf=lambda n: isinstance(n, Unknown))
    assert coefficient.unit == pytest.approx(0.5)


def test_a_chosen_scale_is_left_alone():
    chosen = hidden_scale(pgt.NavierStokes2D(0.01), [3.0, 3.0, 7.0], [2.0, 2.0, 50.0], ("u", "v"))
    assert chosen.tolist() == [3.0, 3.0, 7.0]


@pytest.mark.parametrize("initial", [0.0, 1e-6, -3.0])
def test_an_unknown_is_counted_in_units_of_what_its_term_needs(initial):
    """u_t ~ 2/1, u_xx ~ 2/0.1²: the coefficient's own size is 0.01, unless it starts higher."""
    pde = pgt.Equation("u_t = k*u_xx", k=Unknown(initial))
    suited = with_unknown_units(pde, scaling_of(pde, [2.0], [0.2, 2.0]))
    (coefficient,) = jax.tree.leaves(suited, is_leaf=lambda n: isinstance(n, Unknown))
    assert float(coefficient.value) == pytest.approx(initial)
    assert coefficient.unit == pytest.approx(max(abs(initial), 0.01), rel=0.3)


def test_a_field_that_reads_the_same_everywhere_is_measured_by_itself():
    readings = Observations.from_arrays({"x": [0.0, 1.0]}, {"u": [2e-3, 2e-3]})
    assert Scaling.fit(readings, Domain(x=(0, 1))).spread == pytest.approx(2e-3)


@pytest.mark.parametrize(
    "kernel",
    [
        lambda s: pgt.HeatKernel(0.3 * s**2),
        lambda s: pgt.WaveKernel(340.0 * s),
        lambda s: pgt.PoissonKernel(0.7 * s, has_time=True),
        lambda s: pgt.ScreenedPoissonKernel(0.7 * s, has_time=True),
        lambda s: pgt.AdvectionDiffusionKernel((2.0 * s,), 0.3 * s**2),
    ],
)
def test_what_an_encoder_sees_has_no_units(kernel):
    def context(scale):
        places = {"x": PLACES[:, 0] * scale, "t": PLACES[:, 1]}
        readings = Observations.from_arrays(places, {"u": NOISE})
        scaling = Scaling.fit(readings, Domain(x=(0, scale), t=(0, 1)))
        model = pgt.PGT(scaling, kernel(scale), width=4, heads=1, blocks=1, decoder_width=4)
        return model.encode(readings)

    for one, other in zip(context(1.0), context(1e3), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


def test_of_a_model_that_was_fitted_before():
    """Its scales are arrays of JAX, which take no list for an index."""
    readings = Observations.from_arrays(
        {"x": [0.0, 1.0, 0.5], "t": [0.0, 0.5, 1.0]}, {"u": [0.0, 1.0, 2.0]}
    )
    scaling = Scaling.fit(readings, Domain(x=(0, 1), t=(0, 1)))
    fitted = jax.tree.map(jax.numpy.asarray, scaling)
    assert typical_residuals(pgt.Burgers(0.1), fitted) == typical_residuals(
        pgt.Burgers(0.1), scaling
    )


@pytest.mark.parametrize(("fields", "axes", "words"), [
    (("u",), "xt", "made for 1 fields, the equation has 2, u, p"),
    (("u", "p"), "x", "made for 1 coordinates, the equation has 2, x, t"),
])  # fmt: skip
def test_a_model_whose_scales_are_those_of_other_fields_or_axes_is_refused(fields, axes, words):
    """As scales of the readings are, where a field is hidden."""
    table = {name: np.linspace(0, 1, 5) for name in "xt"}
    readings = Observations.from_arrays(table, {"u": np.arange(5.0)})
    part = Observations.from_arrays({a: table[a] for a in axes}, {"u": np.arange(5.0)})
    scaling = Scaling.fit(part.aligned(fields), Domain(**dict.fromkeys(axes, (0, 1))))
    pde = pgt.Equation("u_t = -p_x", "p_t = -u_x")
    with pytest.raises(pgt.InputError, match=words):
        pgt.reconstruct(
            readings, pde, Domain(x=(0, 1), t=(0, 1)), model=pgt.PINN(scaling, width=2, layers=1)
        )
