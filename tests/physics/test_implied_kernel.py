"""Equations as text get the kernel that their form implies, the one the classes of the library have."""

import jax
import pytest

import pgt
from pgt import Equation
from pgt.core.registry import parts

ADVECTION = "u_t + a*u_x + b*u_y = D*lap(u) + x*sin(t)"
FLOW = (
    "u_t + c*(u*u_x + v*u_y) = -p_x + nu*lap(u)",
    "v_t + c*(u*v_x + v*v_y) = -p_y + nu*lap(v)",
    "u_x + v_y = 0",
)
SPACE = (
    "u_t + u*u_x + v*u_y + w*u_z = -p_x + nu*lap(u)",
    "v_t + u*v_x + v*v_y + w*v_z = -p_y + nu*lap(v)",
    "w_t + u*w_x + v*w_y + w*w_z = -p_z + nu*lap(w)",
    "u_x + v_y + w_z = 0",
)
SLOW = ("p_x = nu*lap(u)", "p_y = nu*lap(v)", "u_x + v_y = 0")
HEATED = (
    "u_t + u*u_x + v*u_y = -p_x + nu*lap(u)",
    "v_t + u*v_x + v*v_y = -p_y + nu*lap(v) + b*T",
    "T_t + u*T_x + v*T_y = nu*lap(T)",
    "u_x + v_y = 0",
)
# By the run-file name: the class, and the same equation as text.
ZOO = {
    "heat": [
        (pgt.Heat(0.3), Equation("u_t = D*u_xx", D=0.3)),
        (pgt.Heat(0.3, 2, "x"), Equation("2*u_t - x = 0.6*(u_xx + u_yy)")),
        (pgt.Heat(0.3, 3), Equation("u_t = D*lap(u)", D=0.3, coords=("x", "y", "z"))),
    ],
    "advection_diffusion": [
        (pgt.AdvectionDiffusion(0.7, 0.1), Equation("u_t + 0.7*u_x = 0.1*u_xx + sin(pi*x)")),
        (pgt.AdvectionDiffusion((0.7, -0.4), 0.1, 2), Equation(ADVECTION, a=0.7, b=-0.4, D=0.1)),
        (pgt.AdvectionDiffusion((0.7, 0.0), 0.1, 2), Equation(ADVECTION, a=0.7, b=0, D=0.1)),
    ],
    "burgers": [(pgt.Burgers(0.01), Equation("u_t + u*u_x = nu*u_xx", nu=0.01))],
    "allen_cahn": [
        (pgt.AllenCahn(1e-4, 5.0), Equation("u_t = D*u_xx + r*(u - u^3)", D=1e-4, r=5.0)),
    ],
    "wave": [
        (pgt.Wave(1.5), Equation("u_tt = c^2*u_xx", c=1.5)),
        (pgt.Wave(1.5, 2), Equation("u_tt/c^2 - lap(u) = x*y", c=1.5)),
    ],
    "poisson": [
        (pgt.Poisson("x"), Equation("lap(u) = x", coords=("x", "y"))),
        (pgt.Poisson("x", 1), Equation("-3*u_xx = x")),
    ],
    "laplace": [(pgt.Laplace(3), Equation("u_xx + u_yy + u_zz = 0"))],
    "navier_stokes": [
        (pgt.NavierStokes2D(0.05, 2.0), Equation(*FLOW, nu=0.05, c=2.0)),
        (
            pgt.NavierStokes2D(0.05, steady=True),
            Equation(*(text.split("_t + c*")[-1] for text in FLOW), nu=0.05),
        ),
    ],
    "navier_stokes_3d": [(pgt.NavierStokes3D(0.05), Equation(*SPACE, nu=0.05))],
    "stokes": [(pgt.Stokes(0.05), Equation(*SLOW, nu=0.05))],
    "boussinesq": [(pgt.Boussinesq(0.05, 0.05, 2.0), Equation(*HEATED, nu=0.05, b=2.0))],
    "darcy": [
        (pgt.Darcy(0.5), Equation("0 = K*lap(h) + x", K=0.5, coords=("x", "y"))),
        (pgt.Darcy(0.5, 1, 0.1), Equation("S*h_t = K*h_xx", K=0.5, S=0.1)),
    ],
    "helmholtz": [(pgt.Helmholtz(2.0), Equation("lap(u) + 4*u = x*y"))],
}
# Systems of first order, and mixed derivatives: the class knows what no form of a text implies.
OWN_KERNELS = {
    "acoustics": pgt.Acoustics(1.5),
    "elasticity": pgt.Elasticity(1.0, 0.3),
    "maxwell": pgt.Maxwell(),
    "shallow_water": pgt.ShallowWater(),
}


def test_every_equation_of_the_library_is_here():
    own = {n for n, cls in parts("equation").items() if cls.__module__.startswith("pgt.")}
    assert own == set(ZOO) | set(OWN_KERNELS)
    assert not any(isinstance(pde.kernel(), pgt.kernels.NoKernel) for pde in OWN_KERNELS.values())


@pytest.mark.parametrize(("of_class", "text"), [pair for pairs in ZOO.values() for pair in pairs])
def test_a_text_has_the_kernel_of_its_class(of_class, text):
    expected, found = of_class.kernel(), text.kernel()
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    assert jax.tree.leaves(found) == pytest.approx(jax.tree.leaves(expected), rel=1e-12)
    assert not text.implied_kernel().why


def test_other_forms():
    def kernel(*texts, **options):
        return repr(Equation(*texts, **options).kernel())

    assert kernel("lap(u) - 4*u = f", f=1.0, coords=("x", "y")) == repr(
        pgt.kernels.ScreenedPoissonKernel(0.5)
    )
    assert kernel("u_xx + q^2*u = sin(x)", q=3.0) == repr(pgt.kernels.HelmholtzKernel(3.0))
    assert kernel("lap(u) = t", coords=("x", "t")) == repr(
        pgt.kernels.PoissonKernel(1.0, has_time=True)
    )
    damped = "u_tt + 0.1*u_t + sin(u) = 4*u_xx"
    assert kernel(damped) == repr(pgt.kernels.WaveKernel(2.0))
    # The stream function holds at every instant; the recovery variable does not spread at all.
    vorticity = ("w_t + s_y*w_x - s_x*w_y = 0.1*lap(w)", "lap(s) = -w")
    assert kernel(*vorticity) == repr(pgt.kernels.HeatKernel(0.1))
    nerve = ("u_t = 0.2*u_xx + u - u^3 - w", "w_t = e*(u - w)")
    assert kernel(*nerve, e=0.08) == repr(pgt.kernels.HeatKernel(0.2))


def test_it_follows_what_is_known_of_a_coefficient():
    pde = Equation("u_t = D*u_xx", D=pgt.Unknown(0.05, positive=True))
    assert pde.kernel().diffusivity == pytest.approx(0.05)
    own = pgt.kernels.WaveKernel(3.0)
    assert Equation("u_t = u_xx", kernel=own).kernel() is own
    none = Equation("u_t = u_xx", kernel=pgt.kernels.NoKernel())
    assert isinstance(none.kernel(), pgt.kernels.NoKernel)


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (["u_t = -k*u"], "no Laplacian"),
        (["u_t + k*u_x = 0"], "no Laplacian"),
        (["u_x = k*x"], "no Laplacian"),
        (["u_t = k*u_xx + 2*u_yy"], "no Laplacian"),
        (["u_t = -k*u_xx"], "wrong sign"),
        (["u_tt = -k*u_xx"], "wrong sign"),
        (["u_t = k*u_xxx + u_xx"], "u_xxx"),
        (["u_t + k*u_xxxx = u_xx"], "u_xxxx"),
        (["u_tx = k*u_xx"], "u_tx"),
        (["u_t = k*(1 + u)*u_xx"], "u_xx"),
        (["x*u_t = k*u_xx"], "u_t "),
        (["exp(u_t) = k*u_xx"], "u_t "),
        (["u_t = u_xx/x + k"], "u_xx"),
        (["u_t = (k - 2)^0.5*u_xx"], "u_xx"),
        (["u_t + v_t = k*u_xx"], "u and v"),
        (["u_t = u_xx + k*v_xx", "v_t = v_xx"], "several fields"),
        (["u_t = u_xx", "v_t = k*v_xx"], "differently"),
        (["k*u_x = lap(u)"], "carried along"),
        (["u_xx + k*lap(v) = 0"], "u and v"),
    ],
)
def test_a_form_that_is_none_says_so(texts, why):
    implied = Equation(*texts, k=0.5).implied_kernel()
    assert isinstance(implied.kernel, pgt.kernels.NoKernel)
    assert implied.why.startswith("the equation's form is not one of heat-like")
    reason = implied.why.rpartition(": ")[2]
    assert why in reason


def test_extremes_do_not_fail():
    long = " + ".join(["u_xx"] * 1400)
    assert Equation(f"u_t = {long}").kernel().diffusivity == pytest.approx(1400)
    # What is not finite by a constant's value is known only here; by numbers alone it is refused before.
    for text, k in (
        ("u_t = k**12*u_xx", 1e30),
        ("u_t = 1/k*u_xx", 0),
        ("u_t = log(k)*u_xx", 0),
        ("u_t*k = u_xx", 0),
    ):
        assert isinstance(
            Equation(text, k=k).kernel(), pgt.kernels.NoKernel | pgt.kernels.PoissonKernel
        )
    assert isinstance(
        Equation("u_t*0 = u_xx").kernel(), pgt.kernels.NoKernel | pgt.kernels.PoissonKernel
    )
    for text in ("u_t = 1e200*1e200*u_xx", "u_t = 1/0*u_xx", "u_t = log(0)*u_xx"):
        with pytest.raises(pgt.InputError, match="without variables is not finite"):
            Equation(text)
