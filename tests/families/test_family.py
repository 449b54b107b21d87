"""The contract that every family keeps."""

import functools
import re
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.families.family import (
    get,
    names,
)
from pgt.nn.scaling import Scaling

FEW = {"nodes": 16, "times": 5}
KEYS = jax.random.split(jax.random.key(7), 4)


def small(name):
    """The family on a coarse grid."""
    known = pgt.families.get(name)
    return pgt.families.get(name, **{n: v for n, v in FEW.items() if hasattr(known, n)})


@functools.cache
def drawing(name):
    """Compiled once for all tests."""
    return jax.jit(jax.vmap(small(name).draw))


@functools.cache
def drawn(name):
    """Four systems."""
    return drawing(name)(KEYS)


def scaling_of(family, systems):
    domain = family.domain
    values = np.asarray(systems.values).reshape(-1, len(family.fields))
    return Scaling(
        middle=(domain.lower + domain.upper) / 2,
        half_extent=domain.extent / 2,
        mean=values.mean(0),
        spread=values.std(0),
        resolution=domain.extent / 10,
        periodic=tuple(axis in domain.periodic for axis in domain.axes),
    )


every = pytest.mark.parametrize("name", pgt.families.names())


@every
def test_draws_are_finite_of_their_shape_and_within_the_ranges(name):
    family, systems = small(name), drawn(name)
    grid = tuple(len(nodes) for nodes in family.axes.values())
    assert systems.values.shape == (4, *grid, len(family.fields))
    assert np.isfinite(systems.values).all()
    assert tuple(family.axes) == family.domain.axes
    assert set(systems.coefficients) == set(family.ranges)
    for coefficient, (low, high) in family.ranges.items():
        found = np.asarray(systems.coefficients[coefficient])
        assert ((found >= low * 0.9999) & (found <= high * 1.0001)).all()


@every
def test_nodes_lie_in_the_domain_and_no_period_is_closed(name):
    family = pgt.families.get(name)
    for axis, nodes in family.axes.items():
        low, high = family.domain.bounds(axis)
        assert nodes[0] == low
        assert nodes[-1] < high if axis in family.domain.periodic else nodes[-1] == high


@every
def test_the_key_decides_and_no_system_depends_on_another(name):
    systems = drawn(name)
    again = drawing(name)(KEYS[::-1])
    one, other = np.asarray(systems.values), np.asarray(again.values)[::-1]
    np.testing.assert_allclose(one, other, atol=1e-5 * np.abs(one).max())
    assert not np.allclose(one[0], one[1], atol=1e-3 * np.abs(one).max())


@every
def test_given_coefficients_are_used_and_others_are_refused(name):
    family = small(name)
    for coefficient, (low, high) in family.ranges.items():
        middle = (low * high) ** 0.5
        system = jax.eval_shape(lambda k, c=coefficient, m=middle: family.draw(k, {c: m}), KEYS[0])
        assert system.coefficients[coefficient].shape == ()
    with pytest.raises(pgt.InputError, match="has no coefficient 'warmth'"):
        family.draw(KEYS[0], {"warmth": 1.0})


@every
def test_its_equation_has_the_fields_and_takes_traced_coefficients(name):
    family, systems = small(name), drawn(name)
    first = {n: v[0] for n, v in systems.coefficients.items()}
    pde = family.pde(first)
    assert set(pde.fields) == set(family.fields)
    assert set(pde.coords) == set(family.domain.axes)
    assert isinstance(pde.kernel(), pgt.extend.AbstractKernel)

    def total(coefficients):
        numbers = jax.tree.leaves(eqx.filter(family.pde(coefficients), eqx.is_array))
        return sum(numbers, jnp.zeros(()))

    traced = jax.vmap(total)(systems.coefficients) if family.ranges else jnp.zeros(4)
    np.testing.assert_allclose(traced[0], total(first), rtol=1e-5)


@every
def test_numbers_are_of_order_one_and_move_with_the_domain(name):
    family, systems = small(name), drawn(name)
    first = {n: v[0] for n, v in systems.coefficients.items()}
    scaling = scaling_of(family, systems)
    numbers = family.numbers(first, scaling)
    assert numbers.ndim == 1
    assert np.isfinite(numbers).all()
    assert np.abs(numbers).max() < 2.5
    stretched = eqx.tree_at(
        lambda s: s.half_extent, scaling, scaling.half_extent * np.arange(1, len(family.axes) + 1)
    )
    assert not np.allclose(family.numbers(first, stretched), numbers)
    if family.ranges:
        many = jax.jit(jax.vmap(lambda c: family.numbers(c, scaling)))(systems.coefficients)
        assert many.shape == (4, numbers.size)


def test_the_families_are_known_by_name_and_made_with_other_settings():
    assert {"heat", "advection_diffusion", "wave", "burgers"} <= set(names())
    assert all(get(name).name == name for name in names())
    assert get("heat", nodes=9).axes["x"].size == 9


def test_a_wrong_name_is_answered_with_the_near_one():
    with pytest.raises(pgt.InputError, match=r"no family 'heet'; .*Did you mean 'heat'\?"):
        get("heet")
    with pytest.raises(pgt.InputError, match="name must be"):
        get(3)


PAGE = Path(__file__).parents[2] / "docs" / "families.md"
MARKS = "<!-- families:begin -->", "<!-- families:end -->"


def row(family):
    """What the page says of a family."""
    what = re.sub(r"\s+", " ", type(family).__doc__.partition("\n\n")[0]).strip()
    periodic = family.domain.periodic
    axes = [
        f"{axis}{'*' * (axis in periodic)} {'{:g} to {:g}'.format(*family.domain.bounds(axis))}"
        for axis in family.domain.axes
    ]
    nodes = " × ".join(str(len(found)) for found in family.axes.values())
    bounds = [f"{name} {low:g} to {high:g}" for name, (low, high) in family.ranges.items()]
    cells = (
        f"`{family.name}`",
        what,
        ", ".join(family.fields),
        ", ".join(axes),
        nodes,
        ", ".join(bounds),
    )
    return f"| {' | '.join(cells)} |"


def table():
    head = "| name | what | fields | axes | nodes | coefficients |\n|---|---|---|---|---|---|"
    return "\n".join([head, *(row(get(name)) for name in sorted(names()))])


def test_the_page_lists_every_family_with_its_law_and_ranges():
    begin, end = MARKS
    shown = PAGE.read_text(encoding="utf-8").partition(begin)[2].partition(end)[0].strip()
    assert shown == table(), f"write this into {PAGE.name}:\n{table()}"


ROD = pgt.families.get("heat")


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


def test_a_guess_is_said_and_found_where_the_law_is_known(network, readings):
    unknown = pgt.Heat(pgt.Unknown(0.05, positive=True))
    assert "diffusivity is unknown: 0.05 is its first guess" in network(readings, unknown).outside
    found = pgt.families.assimilate(ROD, readings, unknown)
    assert found.coefficients["diffusivity"] == pytest.approx(0.02, rel=1e-2)


OTHERS = [
    pgt.Heat(0.02, source=1.0),
    pgt.AdvectionDiffusion(1.0, 0.02),
    pgt.AllenCahn(0.02, 1.0),
    pgt.Equation("u_t = diffusivity*u_xx - u", diffusivity=0.02),
]


@pytest.mark.parametrize("pde", OTHERS)
def test_another_equation_with_a_coefficient_of_that_name_is_said(network, readings, pde):
    assert "the equation is not that of the family 'heat'" in network(readings, pde).outside
    with pytest.raises(pgt.InputError, match="not that of the family 'heat'"):
        pgt.families.assimilate(ROD, readings, pde)
