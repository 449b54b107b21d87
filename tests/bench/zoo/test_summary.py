"""What records say together."""

import made_zoo
import pytest

from pgt_bench.zoo.summary import Found, errors_table, geometric_mean, summary


def test_means_over_seeds_are_geometric():
    found = Found(tuple(made_zoo.record("beam", "gp", e, seed=s) for s, e in ((0, 0.1), (1, 0.4))))
    assert found.error("beam", "gp") == pytest.approx(0.2)
    assert found.error("beam", "rbf") is None
    assert geometric_mean([0.1, None]) is None


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


def test_every_problem_counts_alike_in_the_coverage_of_bands():
    shares = [("beam", {"w": 0.9}), ("stokes", {"u": 1.0, "v": 0.6})]
    found = Found(tuple(made_zoo.record(n, "bands", 0.1, coverage=own) for n, own in shares))
    said = "hold 0.85 of the field on average over 2 problems, at least 0.600 (stokes)"
    assert said in summary(found)


def test_bands_are_no_competitor():
    records = [
        made_zoo.record("beam", m, e) for m, e in (("ours", 0.2), ("bands", 0.1), ("gp", 0.3))
    ]
    found = Found(tuple(records))
    assert (found.ran, found.methods) == (["ours", "bands", "gp"], ["ours", "gp"])
    assert "| beam | tuned on | **2.0e-01** | 3.0e-01 | 0.67 |" in errors_table(found)
    assert "taken: ours 1 to 1, bands 1 to 1, gp 1 to 1" in summary(found)


def test_records_are_read_from_a_folder(tmp_path):
    made_zoo.write(tmp_path, made_zoo.whole_zoo())
    found = Found.read(tmp_path)
    assert len(found.problems) == 60
    assert len(found.pairs()) == 60


def test_where_it_was_measured_is_said():
    found = Found((made_zoo.record("beam", "ours", 0.5, device="gpu: H", commit="abc"),))
    said = (
        "Seconds given: 60; taken: ours 1 to 1; seeds: 0; measured on gpu: H; commits: ours `abc`."
    )
    assert summary(found).endswith(said)
    assert "No runs are stored yet" in summary(Found(()))


def test_a_row_names_the_model_that_answered_and_its_commit():
    found = Found((made_zoo.record("beam", "ours", 0.5, model="Features", commit="abc"),))
    assert "| beam | tuned on | **5.0e-01** |  | sum of sines, `abc` |" in errors_table(found)


def test_a_score_put_together_from_several_commits_says_so():
    runs = [("beam", "abc"), ("kdv", "def")]
    records = [made_zoo.record(name, "ours", 0.5, commit=commit) for name, commit in runs]
    assert "commits: ours `abc`, `def`" in summary(Found(tuple(records)))
    assert "`ours` are of 2 commits: no one version" in summary(Found(tuple(records)))
    assert "no one version" not in summary(Found(tuple(records[:1])))


def test_the_stated_interval_is_judged():
    stated = {"value": 0.1, "low": 0.05, "high": 0.2}
    made = [("beam", 0.15), ("kdv", 0.5), ("fisher", 0.01)]
    records = [made_zoo.record(name, "ours", error, stated=stated) for name, error in made]
    text = summary(Found(tuple(records)))
    assert "at worst 5 times too small and 10 times too large" in text
    assert "The interval stated for it holds the true error in 1 of 3 runs" in text


def test_stated_errors_and_bands_are_judged_by_group_as_well():
    stated = {"value": 0.1, "low": None, "high": None}
    made = [("beam", 0.15, 0.9), ("layer", 0.5, 0.8), ("hares", 0.11, 0.7)]
    records = [
        made_zoo.record(name, method, error, stated=stated, coverage={"u": share})
        for name, error, share in made
        for method in ("ours", "bands")
    ]
    text = summary(Found(tuple(records)))
    assert "By group: tuned on 1 of 1, held back 0 of 1, added later 1 of 1." in text
    assert "By group: tuned on 0.90, held back 0.80, added later 0.70." in text
