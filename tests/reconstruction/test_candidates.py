"""Which method fits which model."""

from mesh_problems import LINE, heat_readings

from pgt import PINN, Equation, Features, Scaling, Solver, Training
from pgt.methods.finished_fit import SOLVED_IN_CLOSED_FORM, SOLVED_ON_MESH
from pgt.methods.plan import method_of
from pgt.problem.assembly import assemble
from pgt.reconstruction.candidates import fit_task


def test_a_model_is_fitted_by_its_own_method():
    readings, pde = heat_readings(30), Equation("u_t = 0.1*u_xx")
    scaling = Scaling.fit(readings, LINE)
    ends = {
        type(model): fit_task(assemble(readings, pde, LINE, model=model), progress=False).fit
        for model in (Solver(scaling), Features(scaling, count=60, band=4.0))
    }
    assert (ends[Solver].stopped, ends[Features].stopped) == (SOLVED_ON_MESH, SOLVED_IN_CLOSED_FORM)
    assert isinstance(ends[Solver].model, Solver)


def test_a_network_is_fitted_by_the_steps_that_its_settings_ask_for():
    network = PINN(Scaling.fit(heat_readings(30), LINE), width=8, layers=2)
    assert method_of(network, Training()) == "second-order"
    assert method_of(network, Training(steps=10)) == "first-order"
