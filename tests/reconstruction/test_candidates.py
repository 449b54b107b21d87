"""Which method fits which model."""

from mesh_problems import LINE, heat_readings

from pgt import Equation, Features, Scaling, Solver
from pgt.methods.finished_fit import SOLVED_IN_CLOSED_FORM, SOLVED_ON_MESH
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
