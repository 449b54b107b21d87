"""Coefficients to be learnt: every value of theirs is admissible, and each has a name."""

import equinox as eqx
import jax.numpy as jnp
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.core.unknown import Unknown, named_unknowns
from pgt.physics import AdvectionDiffusion, Equation, Heat, NavierStokes2D


def test_its_start_may_have_a_unit():
    unknown = Unknown("0.6 m^2/min", bounds=(0.1, 2.0))
    assert repr(unknown) == "Unknown('0.6 m^2/min', bounds=(0.1, 2.0))"
    assert float(unknown.times(10.0).value) == pytest.approx(6.0)
    assert unknown.times(10.0).bounds == (1.0, 20.0)
    with pytest.raises(InputError, match="here write the number alone"):
        _ = unknown.value
    with pytest.raises(
        InputError, match=r"Unknown\(initial='a lot'\): initial must be a number, or text"
    ):
        Unknown("a lot")


@pytest.mark.parametrize("raw", [-5.0, 0.0, 5.0])
def test_no_step_of_the_optimiser_leaves_what_is_admissible(raw):
    def moved(unknown):
        return float(eqx.tree_at(lambda u: u.raw, unknown, jnp.asarray(raw)).value)

    assert moved(Unknown(0.3, positive=True)) > 0
    assert -1 < moved(Unknown(0.3, bounds=(-1.0, 2.0))) < 2
    assert moved(Unknown(-0.5)) == pytest.approx(0.5 * raw)


@pytest.mark.parametrize(
    ("pde", "names"),
    [
        (Heat(pgt.Unknown(0.1, positive=True)), ["diffusivity"]),
        (AdvectionDiffusion((pgt.Unknown(1.0), 2.0), pgt.Unknown(0.1), dimension=2),
         ["diffusivity", "velocity_0"]),
        (Equation("u_t + c*u_x = nu*u_xx", c=pgt.Unknown(1.0), nu=pgt.Unknown(0.1)), ["c", "nu"]),
        (Heat(0.1), []),
        (NavierStokes2D(pgt.Unknown(0.1), pgt.Unknown(1.0)), ["convection", "viscosity"]),
        (Heat(0.1, source=pgt.Unknown(1.0)), ["source"]),
    ],
    ids=["heat", "tuple", "equation", "none", "flow", "source"],
)  # fmt: skip
def test_coefficients_have_readable_names(pde, names):
    assert sorted(name for name, _ in named_unknowns(pde)) == names


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Unknown(float("nan")), "must be a finite number"),
        (lambda: Unknown(0.0, positive=True), "a starting value above 0"),
        (lambda: Unknown(2.0, bounds=(0.0, 2.0)), "strictly between the bounds"),
        (lambda: Unknown(0.5, positive=True, bounds=(-1.0, 1.0)), "it may be negative"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
