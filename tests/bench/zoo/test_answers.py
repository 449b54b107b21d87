"""Every method is asked the same, and answers on the truth's grid."""

import pytest

from pgt.models.coordinate_networks import SIREN
from pgt.training.settings import Posterior
from pgt_bench.zoo import answers, judge
from pgt_bench.zoo.catalogue import get


def _asked(name, seconds=1.0):
    problem = get(name)
    return answers.Asked(problem, problem.load(0), seconds, 0)


@pytest.mark.parametrize("answer", [answers.by_rbf, answers.by_gaussian_process])
def test_interpolation_reads_what_was_measured_and_given(answer):
    asked = _asked("layer")
    found = answer(asked)
    assert judge.errors(asked.problem, found.fields)["measured"] < 0.05
    assert found.about["readings_used"] == 52


class _Result:
    """What the front door would return."""

    def __init__(self, model, truth):
        self.model, self.truth, self.members = model, truth, None
        self.summary = {"parameter_count": 3, "stopped": "steps", "held_out_error": 0.25}
        self.summary["model"] = type(model).__name__

    def grid(self, **axes):
        return self.truth


@pytest.mark.parametrize(
    ("answer", "bars"),
    [
        (answers.by_default, None),
        (answers.with_bands, Posterior()),
        (answers.by_model(answers.named_model("SIREN")), None),
    ],
)
def test_the_library_is_asked_with_its_defaults(answer, bars, monkeypatch):
    asked, calls = _asked("layer", seconds=7.0), []

    def reconstruct(*given, model, training, error_bars, seed, progress):
        calls.append((training.seconds, error_bars))
        return _Result("default" if model is None else model(seed), asked.setup.truth)

    monkeypatch.setattr(answers, "reconstruct", reconstruct)
    found = answer(asked)
    assert calls == [(7.0, bars)]
    assert found.about["model"] in ("str", SIREN.__name__)
    assert found.about["stated"] == {"value": 0.25, "low": None, "high": None}
    assert judge.errors(asked.problem, found.fields)["measured"] == 0
