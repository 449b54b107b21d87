"""Which method fits which model."""

from mesh_problems import LINE, heat_readings

from pgt import Equation, Features, Scaling, Solver
from pgt.methods.fit import METHODS, fit_task
from pgt.training.assemble import assemble
from pgt.training.loop import ON_MESH, SOLVED


def test_a_model_is_fitted_by_its_own_method():
    readings, pde = heat_readings(30), Equation("u_t = 0.1*u_xx")
    scaling = Scaling.fit(readings, LINE)
    ends = {
        type(model): fit_task(assemble(readings, pde, LINE, model=model), progress=False).fit
        for model in (Solver(scaling), Features(scaling, count=60, band=4.0))
    }
    assert (ends[Solver].stopped, ends[Features].stopped) == (ON_MESH, SOLVED)
    assert isinstance(ends[Solver].model, Solver)


def test_methods_are_for_models_that_need_no_training():
    assert not any(model.is_trained for model in METHODS)
