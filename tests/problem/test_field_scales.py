"""The units a problem is written in change nothing: the same seeds give the same numbers.

Metres and seconds, or millimetres and hours with values around 300 K: the history of training, in units
of the fields' spread, agrees to rounding, and with it the relative error of the part that varies.


The unit of a residual does not hang on a first guess that is far off.

The size of functions in conditions, from the condition that they stand in.
"""

import jax
import numpy as np
import pytest

import pgt
from pgt.core.unknown import Unknown
from pgt.data import Domain, Observations
from pgt.methods.plan import choose
from pgt.nn.scaling import Scaling
from pgt.physics.unknown_conditions import bordered
from pgt.problem.field_scales import (
    typical_condition_rows,
    typical_residuals,
    with_hidden_scales,
    with_unknown_units,
)


def scaling(spread: float, *extents: float, mean: float = 0.0) -> Scaling:
    half = np.float32(extents) / 2
    sizes = (np.float32([mean]), np.float32([spread]))
    return Scaling(half, half, *sizes, half, periodic=(False,) * len(half))


def unit(text: str, where: Scaling, **coefficients) -> float:
    (size,) = typical_residuals(pgt.Equation(text, **coefficients), where).values()
    return float(size)


def positive(initial: float) -> Unknown:
    return Unknown(initial, positive=True)


def test_a_far_too_large_guess_does_not_set_the_size():
    """n_t is 450/12 at first sight and 375 at most; r n²/K would be ten thousand."""
    where, growth = scaling(450.0, 24.0, mean=600.0), "n_t = r*n*(1-n/K)"
    wild = [unit(growth, where, r=positive(r), K=positive(150.0)) for r in (3.0, 30.0, 3e4)]
    assert wild == pytest.approx([375.0] * 3, rel=0.2)
    near = unit(growth, where, r=positive(0.4), K=positive(1200.0))
    assert near == pytest.approx(unit(growth, where, r=0.4, K=1200.0))


def test_a_wrong_guess_in_a_condition_does_not_set_its_size():
    domain, where = Domain(x=(0, 2), t=(0, 1)), scaling(5.0, 2.0, 1.0)
    sizes = []
    for guess in (0.5, 1e5):
        cooled = pgt.Robin("x", side="upper", coefficient=positive(guess), u=0.0)
        pde, (known,) = bordered(pgt.Heat(0.1), [cooled])
        sizes.append(float(typical_condition_rows(known.bind(domain, pde.fields), pde, where)[0]))
    assert sizes[0] < 15
    assert sizes[1] == pytest.approx(10 * 5.0, rel=0.6)


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


def test_a_hidden_pressure_has_the_size_of_the_other_terms():
    """ρU² where convection rules; of the order of νU/L where friction does."""
    fast = hidden_scale(pgt.NavierStokes2D(1e-9), [3.0, 3.0, 1.0], [2.0, 2.0, 50.0], ("u", "v"))
    assert 3.0**2 < fast[2] < 2 * 3.0**2  # two products of random numbers of size U²
    slow = hidden_scale(pgt.NavierStokes2D(1e3), [3.0, 3.0, 1.0], [2.0, 2.0, 50.0], ("u", "v"))
    assert 1e3 * 3.0 < slow[2] < 2 * 1e3 * 3.0


def test_a_positive_source_starts_at_its_balanced_level_for_any_first_guess():
    levels = []
    for initial in (0.01, 100.0):
        source = pgt.UnknownFunction("x", positive=True, initial=initial)
        pde = pgt.Equation("u_t = u_xx + q", q=source)
        level, spread = level_of(pde, [4.0, 1.0], [2.0, 2.0])
        levels.append(initial * np.exp(level))
        assert 0.3 < spread < 1.5
    assert levels == pytest.approx([levels[0]] * 2, rel=1e-3)
    assert 2 < levels[0] < 20  # u_t and u_xx are 4


@pytest.mark.parametrize("initial", [0.0, 1e-6, -3.0])
def test_the_unit_of_an_unknown_balances_its_term(initial):
    """u_t ~ 2/1, u_xx ~ 2/0.1²: the coefficient's own size is 0.01, unless it starts higher."""
    pde = pgt.Equation("u_t = k*u_xx", k=Unknown(initial))
    suited = with_unknown_units(pde, scaling_of(pde, [2.0], [0.2, 2.0]))
    (coefficient,) = jax.tree.leaves(suited, is_leaf=lambda n: isinstance(n, Unknown))
    assert float(coefficient.value) == pytest.approx(initial)
    assert coefficient.unit == pytest.approx(max(abs(initial), 0.01), rel=0.3)


@pytest.mark.parametrize(("fields", "axes", "words"), [
    (("u",), "xt", "made for 1 fields, the equation has 2, u, p"),
    (("u", "p"), "x", "made for 1 coordinates, the equation has 2, x, t"),
])  # fmt: skip
def test_a_model_with_scales_of_other_fields_or_axes_is_refused(fields, axes, words):
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


BOX = pgt.Domain(x=(0, 4), t=(0, 1))
AT = np.linspace(0.1, 0.9, 40)
READINGS = pgt.Observations.from_arrays({"x": 4 * AT, "t": AT}, {"u": 300 + 5 * np.sin(20 * AT)})
MEAN, SPREAD = float(np.mean(READINGS.values)), float(np.std(READINGS.values))


def scaled(condition):
    scaling = choose(READINGS, pgt.Heat(0.1), BOX, [condition]).first.model.scaling
    return float(scaling.mean[1]), float(scaling.spread[1])


def test_an_unknown_outer_temperature_has_the_scale_of_its_field():
    beyond = pgt.Robin(
        "x", side="lower", coefficient=10.0, relative=True, u=pgt.UnknownFunction("t")
    )
    assert scaled(beyond) == pytest.approx((MEAN, SPREAD), rel=0.3)


def test_an_unknown_exchange_coefficient_balances_its_condition():
    exchange = pgt.UnknownFunction("t", positive=True)
    level, _ = scaled(pgt.Robin("x", side="lower", coefficient=exchange, u=600.0))
    assert np.exp(level) == pytest.approx(2.0, rel=0.3)  # of 300 h = 600
