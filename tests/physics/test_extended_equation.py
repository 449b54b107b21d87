"""Equations with further terms: their residuals, names and mistakes."""

import jax
import jax.numpy as jnp
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.core.unknown import named_unknowns, resolve
from pgt.physics.derivatives import residual_names
from pgt.physics.extended_equation import ExtendedEquation
from pgt.physics.unknown_conditions import functions_of

HEAT = pgt.Equation("u_t = 0.02*u_xx")


class Numbers:
    """Derivatives with given values."""

    def __init__(self, **values):
        self.values = values

    def __call__(self, name):
        return jnp.asarray(self.values[name])

    def laplacian(self, field):
        return self(f"lap({field})")


def test_terms_are_on_the_right_hand_side():
    law = ExtendedEquation(HEAT, {"u*u_x": -1.0, "u^2": 3.0}, discrepancy=True)
    d = Numbers(u=2.0, u_x=5.0, u_t=7.0, u_xx=11.0, discrepancy=13.0)
    expected = 7.0 - 0.02 * 11.0 - (-1.0 * 2.0 * 5.0 + 3.0 * 4.0 + 13.0)
    assert law.residual(d)["equation"] == pytest.approx(expected)


def test_unknown_coefficients_are_named_after_their_terms_in_any_order():
    law = ExtendedEquation(pgt.Heat(pgt.Unknown(0.1)), {"u_x": pgt.Unknown(2.0), "1": 5.0})
    law = jax.tree.map(lambda leaf: leaf, law)
    assert [name for name, _ in named_unknowns(law)] == ["diffusivity", "u_x"]
    d = Numbers(u_t=0.0, u_x=3.0, **{"lap(u)": 0.0})
    assert resolve(law).residual(d)["heat"] == pytest.approx(-(5.0 + 2.0 * 3.0))


def test_every_equation_of_a_system_has_a_discrepancy():
    system = pgt.Equation("u_t = v", "v_t = -u")
    law = ExtendedEquation(system, {"u*v in equation_2": 1.0}, discrepancy=True)
    assert law.fields == ("u", "v", "discrepancy_1", "discrepancy_2")
    assert residual_names(law) == ("equation_1", "equation_2")
    d = Numbers(u=2.0, v=3.0, u_t=0.0, v_t=0.0, discrepancy_1=5.0, discrepancy_2=7.0)
    residuals = law.residual(d)
    assert residuals["equation_1"] == pytest.approx(-3.0 - 5.0)
    assert residuals["equation_2"] == pytest.approx(2.0 - 6.0 - 7.0)


def test_the_discrepancy_is_an_unknown_function_of_all_coordinates():
    functions = functions_of(ExtendedEquation(pgt.Heat(0.1), discrepancy=True))
    assert functions["discrepancy"].axes == ("x", "t")


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("k*u", "write a formula of the fields u and the coordinates x and t"),
        ("u_y", "write a formula of the fields u"),
        ("v_x", "'v_x' differentiates 'v'"),
        ("u*", "expected a number"),
        ("u in momentum", "there is no equation 'momentum'; the equations are equation"),
    ],
)
def test_a_term_that_is_no_formula_is_a_mistake(term, message):
    with pytest.raises(InputError, match=message.replace("*", r"\*")):
        ExtendedEquation(HEAT, {term: 1.0})


def test_a_field_cannot_have_the_name_of_the_discrepancy():
    taken = pgt.Equation("discrepancy_t = 0.1*discrepancy_xx")
    with pytest.raises(InputError, match="rename it"):
        ExtendedEquation(taken, discrepancy=True)
