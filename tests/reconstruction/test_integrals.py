"""Integrals over walls and inside, of fields whose integrals are known."""

from dataclasses import replace

import numpy as np
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.reconstruction.evaluation import Evaluation
from pgt.reconstruction.integrals import Integrals

LOG = np.log(0.5)
RING = pgt.Domain(
    x=(-1, 1),
    y=(-1, 1),
    shape=pgt.shapes.Disk(name="outer") - pgt.shapes.Disk(radius=0.5, name="inner"),
)


def conduction(points):
    return np.log(np.hypot(*points.T)) / LOG


@pytest.fixture(scope="module")
def ring():
    places = RING.even(60)
    readings = pgt.Observations.from_arrays(
        {"x": places[:, 0], "y": places[:, 1]}, {"u": conduction(places)}
    )
    scaling = pgt.Scaling.fit(readings, RING)
    return pgt.reconstruct(
        readings, pgt.Laplace(), RING,
        [pgt.Dirichlet(wall="outer", u=0.0), pgt.Dirichlet(wall="inner", u=1.0)],
        model=pgt.Features(scaling, count=300, band=16.0), error_bars=pgt.Posterior(samples=8),
    )  # fmt: skip


def test_what_is_conducted_in_is_conducted_out(ring):
    inward, outward = (ring.integrals.flux(wall) for wall in ("inner", "outer"))
    assert float(inward.flux) == pytest.approx(2 * np.pi / LOG, rel=1e-3)
    assert float(outward.flux) == pytest.approx(-2 * np.pi / LOG, rel=1e-3)
    assert 0 < float(outward.flux_std) < 0.1
    half = ring.integrals.flux("outer", where="x < 0")
    assert float(half.flux) == pytest.approx(-np.pi / LOG, rel=2e-3)


def test_the_total_is_that_of_the_exact_field(ring):
    # ∫ r log r dr from 0.5 to 1
    exact = 2 * np.pi * (-0.25 - (0.125 * LOG - 0.0625)) / LOG
    assert float(ring.integrals.total("u").total) == pytest.approx(exact, rel=2e-4)


def test_the_bar_of_a_total_counts_what_is_wrong_with_the_sum(monkeypatch, ring):
    """r^(2/3) sin(2θ/3) around the corner of an L is rough there, however well it is known."""
    corners = [(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)]
    domain = pgt.Domain(x=(-1, 1), y=(-1, 1), shape=pgt.shapes.Polygon(corners))

    def rough(self, names, points):
        x, y = points.T
        angle = np.mod(np.arctan2(y, x) - np.pi / 2, 2 * np.pi)
        return {"u": np.tile(np.hypot(x, y) ** (2 / 3) * np.sin(2 / 3 * angle), (3, 1))}

    monkeypatch.setattr(Evaluation, "evaluate_by_member", rough)
    found = Integrals(replace(ring.evaluation, domain=domain)).total("u")
    angle = np.linspace(0, 1.5 * np.pi, 60_001)
    reach = 1 / np.maximum(np.abs(np.cos(angle)), np.abs(np.sin(angle)))  # along it, in the L
    exact = np.trapezoid(np.sin(2 / 3 * angle) * reach ** (8 / 3) * 3 / 8, angle)
    wrong = abs(float(found.total) - exact)
    assert 1e-7 < wrong < 2 * float(found.total_std) < 1e-4


def test_a_grid_is_masked_outside_the_shape(ring):
    field = ring.grid(x=20, y=20)
    outside = np.hypot(*np.meshgrid(field.x, field.y))
    inside = (outside <= 1) & (outside >= 0.5)
    assert (np.isfinite(field.u) == inside).all()
    assert (field["mask"] == inside).all()
    assert list(field.data_vars) == ["u", "u_std", *[n for n in field.data_vars if "q" in str(n)]]


# ------------------------------------------------------------------------------ flows


def asked(domain, pde):
    """Integrals of a field without a model: `each` says what it is."""
    evaluation = object.__new__(Evaluation)
    for name, value in {"domain": domain, "pde": pde, "units": domain.units}.items():
        object.__setattr__(evaluation, name, value)
    return Integrals(evaluation)


@pytest.fixture
def flow(monkeypatch):
    """u = 1 + y², v = 0, p = 3 - x in a box with a hole, as if it had been fitted; two members."""
    domain = pgt.Domain(
        x=(-2, 2), y=(-1, 1), t=(0, 1), shape=-pgt.shapes.Disk(radius=0.5, name="hole")
    )
    slopes = {"u": lambda x, y: 1 + y**2, "p": lambda x, y: 3 - x, "u_y": lambda x, y: 2 * y}

    def each(self, names, points):
        x, y, _ = points.T
        found = {n: slopes.get(n, lambda x, y: 0 * x)(x, y) for n in names}
        return {n: np.stack([0.9 * v, 1.1 * v]) for n, v in found.items()}

    monkeypatch.setattr(Evaluation, "evaluate_by_member", each)
    return asked(domain, pgt.NavierStokes2D(viscosity=0.1))


def test_as_much_flows_in_as_out(flow):
    out = flow.flow(axis="x", side="upper", t=0.5)
    assert float(out.flow) == pytest.approx(2 + 2 / 3, rel=1e-3)
    assert float(out.flow_std) == pytest.approx(0.1 * np.sqrt(2) * (2 + 2 / 3), rel=1e-3)
    assert float(flow.flow("hole", t=0.5).flow) == pytest.approx(0, abs=1e-6)
    assert flow.flow(axis="x", side="lower").flow.sizes == {"t": 11}


def test_force_of_pressure_and_friction(flow):
    area = np.pi * 0.25
    force = flow.force("hole", t=[0.0, 1.0])
    # the gradients of p and of the shear: Gauss over the hole, dp/dx = -1 and μ u_yy = 0.2
    assert force.fx.to_numpy() == pytest.approx((1 + 0.2) * area, rel=1e-4)
    assert force.fy.to_numpy() == pytest.approx(0, abs=1e-6)
    assert float(flow.force("hole", viscosity=0.0, t=0.0).fx) == pytest.approx(area, rel=1e-4)


def test_what_cannot_be_integrated_is_refused(ring, flow):
    with pytest.raises(InputError, match="no velocity"):
        ring.integrals.flow("inner")
    with pytest.raises(InputError, match="there is no wall 'rim'"):
        flow.flow("rim")
