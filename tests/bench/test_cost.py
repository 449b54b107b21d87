"""What a step costs is what its matrix products cost."""

import pgt
from pgt.bench.cost import step_cost
from pgt.bench.problems import HeatProblem
from pgt.nn.frozen import count_parameters
from pgt.training.assemble import assemble


def test_flops_of_a_step_are_those_of_its_matrix_products():
    """Data only, Adam: forward, and backward twice that; two operations a weight and reading."""
    setup = HeatProblem(200, known=False).load(0)
    model = pgt.PINN(pgt.Scaling.fit(setup.observations, setup.domain), width=64, layers=4)
    training = pgt.Training(optimiser="adam", collocation=0, hold_out=0.0)
    task = assemble(setup.observations, setup.pde, setup.domain, model=model, training=training)
    cost = step_cost(task)
    expected = 3 * 2 * count_parameters(model) * 200
    assert 0.8 * expected < cost["flops"] < 1.5 * expected
    assert cost["peak_bytes"] > 4 * 3 * count_parameters(model)  # weights and Adam's two moments
