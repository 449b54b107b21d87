"""What records say together."""

import made_zoo
import pytest

from pgt_bench.zoo.summary import Found, errors_table, summary


def test_ours_is_compared_with_the_best_rival():
    errors = {"ours": 0.01, "siren": 0.001, "rbf": 0.2, "gp": 0.1}
    found = Found(tuple(made_zoo.record("beam", m, e) for m, e in errors.items()))
    assert found.ratio("beam") == pytest.approx(0.1)
    assert "Tuned on: better than the best rival on 1 of 1 problems" in summary(found)
    assert "0.1 (geometric mean), at worst 0.1 (beam)" in summary(found)


def test_a_row_shows_the_best_hidden_fields_and_failures():
    found = Found(
        (
            made_zoo.record("vortices", "ours", 0.01),
            made_zoo.record("vortices", "gp", None),
            made_zoo.record("beam", "ours", 0.5),
        )
    )
    table = errors_table(found)
    assert "| vortices | tuned on | **1.0e-02** (p 2.0e-02) | failed |  |" in table
    assert "| beam | tuned on | **5.0e-01** | – |  |" in table


def test_stated_errors_and_bands_are_judged():
    said = [(0.01, 0.01), (0.04, 0.01), (0.001, 0.01)]
    found = Found(
        tuple(
            made_zoo.record(
                "beam", method, true, seed=seed, coverage={"w": 0.9 - 0.1 * seed},
                stated={"value": value, "low": None, "high": None},
            )
            for method in ("ours", "bands")
            for seed, (value, true) in enumerate(said)
        )
    )  # fmt: skip
    text = summary(found)
    assert "within a factor 2 of the true one in 1 of 3 runs, at worst 10 times too small" in text
    assert "hold 0.80 of the field on average over 1 problem, at least 0.700 (beam)" in text
