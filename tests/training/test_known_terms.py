"""The unit of a residual does not hang on a first guess that is far off."""

import numpy as np
import pytest

import pgt
from pgt.data import Domain
from pgt.ground.unknown import Unknown
from pgt.nn.scaling import Scaling
from pgt.physics.bordered import bordered
from pgt.training.scales import typical_residuals, typical_rows


def scaling(spread: float, *extents: float, mean: float = 0.0) -> Scaling:
    half = np.float32(extents) / 2
    sizes = (np.float32([mean]), np.float32([spread]))
    return Scaling(half, half, *sizes, half, periodic=(False,) * len(half))


def unit(text: str, where: Scaling, **coefficients) -> float:
    (size,) = typical_residuals(pgt.Equation(text, **coefficients), where).values()
    return float(size)


def positive(initial: float) -> Unknown:
    return Unknown(initial, positive=True)


def test_growth_guessed_far_too_fast_leaves_the_unit_to_what_changes():
    """n_t is 450/12 at first sight and 375 at most; r n²/K would be ten thousand."""
    where, growth = scaling(450.0, 24.0, mean=600.0), "n_t = r*n*(1-n/K)"
    wild = [unit(growth, where, r=positive(r), K=positive(150.0)) for r in (3.0, 30.0, 3e4)]
    assert wild == pytest.approx([375.0] * 3, rel=0.2)
    near = unit(growth, where, r=positive(0.4), K=positive(1200.0))
    assert near == pytest.approx(unit(growth, where, r=0.4, K=1200.0))


def test_a_coefficient_that_divides_may_be_guessed_too_small():
    """a_tt is 0.8/3², in a field that swings ten times as often a hundred times that."""
    swing = "a_tt = -9.81/L*sin(a)"
    small = unit(swing, scaling(0.8, 6.0), L=positive(1e-3))
    assert small == pytest.approx(100 * 0.8 / 3**2, rel=0.2)


def test_an_equation_without_unknowns_is_left_alone_beside_one_that_has_some():
    texts = ("v_t = v - v^3/3 - w + 0.5", "w_t = e*(v + a - b*w)")
    half = np.float32([40.0])
    where = Scaling(half, half, np.zeros(2), np.ones(2), half, periodic=(False,))
    known = typical_residuals(pgt.Equation(*texts, e=0.3, a=2.0, b=0.1), where)
    learnt = pgt.Equation(*texts, e=positive(0.3), a=Unknown(2.0), b=Unknown(0.1))
    found = typical_residuals(learnt, where)
    assert found["equation_1"] == known["equation_1"]
    assert found["equation_2"] == pytest.approx(10 / 40, rel=0.2)  # not rounded away beside a


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
def test_where_every_term_has_an_unknown_the_first_guess_is_all_there_is(factor):
    steady, where = "v*u_x = D*u_xx", scaling(2.0, 2.0)
    learnt = unit(steady, where, v=positive(3.0 * factor), D=positive(factor))
    assert learnt == pytest.approx(unit(steady, where, v=3.0 * factor, D=factor))


def test_bounds_are_kept():
    """Where the coefficient is at least 50, so is its term."""
    where, slow = scaling(1.0, 2.0), scaling(1.0, 2e9)
    assert unit("u_t = -k*u", where, k=Unknown(900.0, bounds=(0.0, 1e3))) < 15
    assert unit("u_t = -k*u", slow, k=Unknown(900.0, bounds=(50.0, 1e3))) > 40


def test_an_exponent_that_leads_out_of_all_numbers_is_not_followed():
    where = scaling(20.0, 120.0, mean=100.0)
    learnt = unit("c_t = -k*c^n", where, k=positive(0.003), n=positive(1.5))
    assert learnt == pytest.approx(unit("c_t = -k*c^n", where, k=0.003, n=1.5))


def test_a_wall_that_is_guessed_far_too_cold_leaves_its_unit_to_the_slope():
    domain, where = Domain(x=(0, 2), t=(0, 1)), scaling(5.0, 2.0, 1.0)
    sizes = []
    for guess in (0.5, 1e5):
        cooled = pgt.Robin("x", side="upper", coefficient=positive(guess), u=0.0)
        pde, (known,) = bordered(pgt.Heat(0.1), [cooled])
        sizes.append(float(typical_rows(known.bind(domain, pde.fields), pde, where)[0]))
    assert sizes[0] < 15
    assert sizes[1] == pytest.approx(10 * 5.0, rel=0.6)
