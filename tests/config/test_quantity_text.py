"""Coefficients with units of their own, in run files."""

import pytest

from pgt.config import load_run
from pgt.config.parts import Parts
from pgt.core.errors import InputError

RUN = """
[observations]
file = "rod.csv"
coords = ["x", "t"]
fields = ["T"]
units = {{x = "mm", t = "min", T = "K"}}
[domain]
x = [0, 100]
t = [0, 10]
[pde]
{pde}
"""
HEAT = 'name = "heat"\nfields = ["T"]\n'


@pytest.fixture
def pde_of(tmp_path):
    (tmp_path / "rod.csv").write_text("x [m],t [s],T [°C]\n0.01,0,20\n0.05,60,21\n")

    def build(text):
        (tmp_path / "run.toml").write_text(RUN.format(pde=text))
        return Parts(load_run(tmp_path / "run.toml")).pde

    return build


def test_an_amount_is_converted_to_the_units_of_the_run(pde_of):
    pde = pde_of(HEAT + 'diffusivity = "1.2e-5 m^2/s"')
    assert pde.diffusivity == pytest.approx(1.2e-5 * 1e6 * 60, rel=1e-12)


def test_number_and_unit_may_stand_in_a_table(pde_of):
    pde = pde_of(HEAT + 'diffusivity = {value = 1.2e-5, units = "m^2/s"}')
    assert pde.diffusivity == pytest.approx(720.0, rel=1e-12)
    with pytest.raises(InputError, match=r"line 13.*has to be in 'm2 s-1'"):
        pde_of(HEAT + 'diffusivity = {value = 3, units = "m/s"}')


def test_unknowns_begin_and_end_at_amounts(pde_of):
    given = '{unknown = true, initial = "1e-5 m^2/s", bounds = ["1e-6 m^2/s", "1e-4 m^2/s"]}'
    node = pde_of(HEAT + f"diffusivity = {given}").diffusivity
    assert float(node.value) == pytest.approx(600.0, rel=1e-6)
    assert node.bounds == pytest.approx((60.0, 6000.0))


def test_coefficients_of_a_text_are_converted_by_what_they_hold(pde_of):
    pde = pde_of('equations = ["T_t = k*T_xx + q"]\nk = "1.2e-5 m^2/s"\nq = "2 K/s"')
    assert pde.coefficients["k"] == pytest.approx(720.0)
    assert pde.coefficients["q"] == pytest.approx(120.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('diffusivity = "3 m/s"', r"run.toml, line 13.*'m/s', but this has to be in 'm2 s-1'"),
        ('diffusivity = "-3 m^2/s"', "diffusivity"),
        ('diffusivity = "a lot"', "diffusivity"),
    ],
)
def test_a_wrong_amount_names_file_line_and_both_units(pde_of, text, words):
    with pytest.raises(InputError, match=words):
        pde_of(HEAT + text)
