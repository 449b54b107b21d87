"""The system that is meant: coefficients and equations of others are never taken for the family's."""

import jax
import pytest

import pgt
from pgt.families.known_coefficients import coefficient_values, has_equation_of

ROD = pgt.families.get("heat")
OTHERS = [
    pgt.Heat(0.02, source=1.0),
    pgt.AdvectionDiffusion(1.0, 0.02),
    pgt.AllenCahn(0.02, 1.0),
    pgt.Equation("u_t = diffusivity*u_xx - u", diffusivity=0.02),
]


@pytest.fixture(scope="module")
def network():
    return pgt.families.shipped("heat")


@pytest.fixture(scope="module")
def readings():
    truth = ROD.dataset(ROD.draw(jax.random.key(1), {"diffusivity": 0.02}))
    return pgt.sample(truth, n=40, seed=0)


@pytest.mark.parametrize(
    "value", [-0.02, 0.0, float("nan"), float("inf"), "2 mm^2/s", [0.02, 0.03]]
)
def test_what_is_no_number_above_zero_is_refused(network, readings, value):
    with pytest.raises(pgt.InputError, match=r"'diffusivity' is .* write a number above 0"):
        network(readings, {"diffusivity": value})


def test_a_coefficient_that_the_family_does_not_have_is_refused(network, readings):
    with pytest.raises(pgt.InputError, match="has no coefficient 'velocity'"):
        network(readings, {"diffusivity": 0.02, "velocity": 1.0})


@pytest.mark.parametrize("pde", OTHERS)
def test_another_equation_with_a_coefficient_of_that_name_is_said(network, readings, pde):
    assert "the equation is not that of the family 'heat'" in network(readings, pde).outside
    with pytest.raises(pgt.InputError, match="not that of the family 'heat'"):
        pgt.families.assimilate(ROD, readings, pde)


@pytest.mark.parametrize(
    "pde", [pgt.Heat(0.02), pgt.Equation("u_t = diffusivity*u_xx", diffusivity=0.02)]
)
def test_its_own_equation_is_taken_however_it_is_written(network, readings, pde):
    assert network(readings, pde).outside == ()
    assert coefficient_values(ROD, pde) == {"diffusivity": 0.02}


def test_a_guess_is_said_and_found_where_the_law_is_known(network, readings):
    unknown = pgt.Heat(pgt.Unknown(0.05, positive=True))
    assert "diffusivity is unknown: 0.05 is its first guess" in network(readings, unknown).outside
    found = pgt.families.assimilate(ROD, readings, unknown)
    assert found.coefficients["diffusivity"] == pytest.approx(0.02, rel=1e-2)


def test_simulations_have_coefficients_with_signs_and_no_equation_once_stored(tmp_path):
    for number, speed in enumerate((-1.0, 0.5, 1.0)):
        grid = pgt.datasets.heat().isel(x=slice(0, 9), t=slice(0, 8)).assign_attrs(speed=speed)
        pgt.io.write_field(grid, tmp_path / f"{number}.nc")

    def carried(speed):
        return pgt.Equation("u_t + speed*u_x = 0", speed=speed)

    family = pgt.families.Simulations(tmp_path, carried, ["speed"])
    assert coefficient_values(family, {"speed": -0.5}) == {"speed": -0.5}
    with pytest.raises(pgt.InputError, match=r"write a number\. Its systems have -1 to 1"):
        coefficient_values(family, {"speed": float("nan")})
    assert has_equation_of(family, carried(-0.5))
    assert not has_equation_of(family, pgt.AdvectionDiffusion(0.5, 0.1))
    assert has_equation_of(family.without_systems(), carried(-0.5))  # nobody can tell
