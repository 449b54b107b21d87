"""The closed form against the formulas that it stands for, with matrices written out in full."""

import dataclasses

import numpy as np
import pytest

from pgt.inference.evidence import maximize_evidence
from pgt.inference.linear_gaussian import ReducedReadings, Rows

WEIGHTS = 6


def problem(readings, equations=4, seed=0, given=None, weights=WEIGHTS):
    random = np.random.default_rng(seed)
    return Rows(
        equation=random.normal(size=(equations, weights)),
        target=random.normal(size=equations),
        readings=random.normal(size=(readings, weights)),
        values=random.normal(size=readings),
        sigma=random.uniform(0.5, 2.0, readings),
        given=given,
    )


class Dense:
    """Prior and posterior of the weights at the ρ, s² and σ of a solution, by inverses."""

    def __init__(self, rows, solved):
        self.rows, rho = rows, 10.0**solved.log_stiffness
        self.noise = np.diag((solved.sigma * rows.sigma) ** 2)
        inner = np.eye(rows.equation.shape[1]) + rho * rows.equation.T @ rows.equation
        self.prior = solved.scale * np.linalg.inv(inner)
        self.prior_mean = rho * np.linalg.solve(inner, rows.equation.T @ rows.target)
        seen = rows.readings
        self.misfit = rows.values - seen @ self.prior_mean
        self.covariance = seen @ self.prior @ seen.T + self.noise
        gain = self.prior @ seen.T @ np.linalg.inv(self.covariance)
        self.mean = self.prior_mean + gain @ self.misfit
        self.posterior = self.prior - gain @ seen @ self.prior

    @property
    def likelihood(self):
        """Its logarithm, without its constant, n/2 log 2π."""
        square = self.misfit @ np.linalg.solve(self.covariance, self.misfit)
        return -0.5 * (np.linalg.slogdet(self.covariance)[1] + square)

    @property
    def evidence(self):
        """With the prior of the share of noise."""
        seen = self.rows.readings / self.rows.sigma[:, None]
        said = np.trace(seen @ self.prior @ seen.T) + np.sum((seen @ self.prior_mean) ** 2)
        noise = np.trace(self.noise / self.rows.sigma**2)
        prior = np.log(said / (said + noise))
        return self.likelihood + prior

    def without(self, inside):
        """Error and σ of the prediction of some readings by the others."""
        others = np.setdiff1d(np.arange(len(self.misfit)), inside)
        across = self.covariance[np.ix_(inside, others)]
        gain = across @ np.linalg.inv(self.covariance[np.ix_(others, others)])
        error = self.misfit[inside] - gain @ self.misfit[others]
        left = self.covariance[np.ix_(inside, inside)] - gain @ across.T
        return error, np.sqrt(np.diag(left))


CASES = pytest.mark.parametrize(
    ("readings", "equations", "given"),
    [(4, 3, None), (4, 9, 0.3), (6, 2, None), (15, 3, None), (15, 9, 0.9), (15, 0, 0.9)],
    ids=["fewer", "fewer_given", "as_many", "more", "more_given", "no_equation"],
)


@CASES
@pytest.mark.parametrize("exponent", [-1.0, 1.0])
def test_mean_spread_and_evidence_are_those_of_the_formulas(readings, equations, given, exponent):
    rows = problem(readings, equations, given=given)
    solved = ReducedReadings(rows).posterior(exponent)
    dense = Dense(rows, solved)
    np.testing.assert_allclose(solved.weights, dense.mean, rtol=1e-8, atol=1e-10)
    asked = np.random.default_rng(9).normal(size=(5, WEIGHTS))
    spread = np.sqrt(np.diag(asked @ dense.posterior @ asked.T))
    np.testing.assert_allclose(solved.spread(asked), spread, rtol=1e-7)
    assert solved.evidence == pytest.approx(dense.evidence, abs=1e-8)
    if given is not None:
        assert solved.sigma == pytest.approx(given)


@CASES
def test_no_other_scale_or_sigma_is_more_probable(readings, equations, given):
    rows = problem(readings, equations, given=given)
    solved = ReducedReadings(rows).posterior(0.5)
    levels = solved.scales
    best = int(np.argmax(levels.evidence))
    # Farther off, a σ/s is so small that inverses have no digits.
    near = np.arange(max(best - 12, 0), min(best + 13, len(levels.variance)))
    for k in near:
        dense = Dense(rows, _moved(solved, levels.variance[k], levels.sigma[k]))
        assert levels.evidence[k] == pytest.approx(dense.evidence, abs=1e-8)
        assert dense.evidence <= solved.evidence + 1e-8
        # σ/s is tried in steps, and where it is free, each with the s that has the greatest likelihood.
        for factor in (0.5, 0.99, 1.01, 2.0) if given is None else ():
            sizes = factor * levels.variance[k], np.sqrt(factor) * levels.sigma[k]
            assert Dense(rows, _moved(solved, *sizes)).likelihood < dense.likelihood
    if given is not None:
        assert levels.sigma == pytest.approx(given)
    steps = np.diff(
        np.log10(levels.variance if given is not None else levels.sigma**2 / levels.variance)
    )
    np.testing.assert_allclose(np.abs(steps), 0.25 if given is not None else 0.5, rtol=1e-6)


def _moved(solved, scale, sigma):
    kind = dataclasses.make_dataclass("Moved", ["log_stiffness", "scale", "sigma"])
    return kind(solved.log_stiffness, scale, sigma)


@CASES
def test_left_out_is_what_a_fit_without_the_reading_misses(readings, equations, given):
    rows = problem(readings, equations, given=given)
    solved = ReducedReadings(rows).posterior(1.0)
    dense = Dense(rows, solved)
    error, spread = solved.left_out()
    for i in range(readings):
        expected = dense.without(np.array([i]))
        np.testing.assert_allclose((error[i], spread[i]), np.ravel(expected), rtol=1e-6)


@pytest.mark.parametrize("count", [2, 3])  # of fifteen readings eight, more than there are weights
@CASES
def test_left_out_by_group(readings, equations, given, count):
    rows = problem(readings, equations, given=given)
    solved = ReducedReadings(rows).posterior(1.0)
    dense = Dense(rows, solved)
    groups = np.arange(readings) % count
    error, spread = solved.left_out(groups)
    for group in range(count):
        inside = np.flatnonzero(groups == group)
        expected = dense.without(inside)
        np.testing.assert_allclose(error[inside], expected[0], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(spread[inside], expected[1], rtol=1e-6)
    alone = solved.left_out(np.arange(readings))
    np.testing.assert_allclose(alone, solved.left_out(), rtol=1e-9)


def test_what_only_a_group_tells_of_exact_readings_the_others_do_not_know():
    """The inverse of the covariance has no digits left of it."""
    random, groups = np.random.default_rng(0), np.repeat(np.arange(4), WEIGHTS)
    seen = random.normal(size=(len(groups), WEIGHTS))
    seen[groups != 0, 4:] = 0.0  # the last weights are seen by the first group alone
    weights = random.normal(size=WEIGHTS)
    rows = Rows(np.zeros((0, WEIGHTS)), np.zeros(0), seen, seen @ weights, np.ones(len(groups)))
    solved = maximize_evidence(rows)
    errors, sigmas = solved.left_out(groups)
    own = groups == 0
    np.testing.assert_allclose(errors[own], seen[own, 4:] @ weights[4:], rtol=1e-9)
    open_still = np.sqrt(solved.scale * np.sum(seen[own, 4:] ** 2, axis=1))
    np.testing.assert_allclose(sigmas[own], open_still, rtol=1e-9)
    assert np.abs(errors[~own]).max() < 1e-12
    assert sigmas.min() > 0


@pytest.mark.parametrize("readings", [4, 15])
def test_draws_have_the_covariance_of_the_posterior(readings):
    rows = problem(readings)
    solved = _settled(ReducedReadings(rows).posterior(1.0))
    expected = Dense(rows, solved).posterior
    draws = solved.draw(20_000)
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    # Of 20,000 draws a covariance is known to some 0.7 %, a mean too.
    assert np.abs((draws.T @ draws / len(draws) - expected) / size).max() < 0.04
    assert np.abs(draws.mean(axis=0) / np.sqrt(np.diag(expected))).max() < 0.04
    np.testing.assert_array_equal(solved.draw(3, seed=1), solved.draw(3, seed=1))
    assert np.abs(solved.draw(3, seed=1) - solved.draw(3, seed=2)).min() > 0


@pytest.mark.parametrize("readings", [4, 15])
def test_a_few_draws_have_the_covariance_of_the_last_weights_exactly(readings):
    rows = problem(readings)
    solved = ReducedReadings(rows).posterior(1.0)
    last = solved.draw(5, last=2)[:, -2:]
    expected = Dense(rows, solved).posterior[-2:, -2:]
    np.testing.assert_allclose(last.T @ last / 5, expected, rtol=1e-9)
    np.testing.assert_array_equal(solved.draw(1, last=2), solved.draw(1))  # too few for it


@CASES
def test_the_evidence_beside_a_direction_is_that_of_the_formula(readings, equations, given):
    rows = problem(readings, equations, given=given)
    solved = ReducedReadings(rows).posterior(0.5)
    column = np.random.default_rng(3).normal(size=readings)
    expected = max(_evidences_beside(rows, solved, column))
    assert solved.evidence_with_error_along(column) == pytest.approx(expected, abs=2e-3)
    nothing = solved.evidence_with_error_along(np.zeros(readings))
    assert nothing == pytest.approx(solved.evidence, abs=1e-9)


def _evidences_beside(rows, solved, column):
    """At every σ/s that is tried, and where s² is free at many of it."""
    levels = solved.scales
    growths = np.geomspace(1e-2, 4, 401) if levels.is_free else [1.0]
    best = int(np.argmax(levels.evidence))
    near = range(max(best - 12, 0), min(best + 12, len(levels.variance)))
    for k in near:  # elsewhere inverses have no digits, and nothing is probable
        dense = Dense(rows, _moved(solved, levels.variance[k], levels.sigma[k]))
        inside, covariance, noise = dense.prior, dense.covariance, dense.noise
        found = []
        for growth in growths:
            dense.prior, dense.noise = growth * inside, growth * noise
            dense.covariance = growth * covariance + np.outer(column, column)
            found.append((dense.likelihood, dense.evidence))
        yield max(found)[1]


def _settled(solved):
    """As if σ and s² were known."""
    best = int(np.argmax(solved.scales.evidence))
    parts = (part[best : best + 1] for part in solved.scales[:3])
    solved.scales = solved.scales._replace(
        **dict(zip(("evidence", "variance", "sigma"), parts, strict=True)), is_free=False
    )
    return solved


def test_readings_that_fit_no_equation_are_not_all_taken_for_noise():
    """That they are nothing else is one of many shares of noise they may have."""
    random = np.random.default_rng(0)
    seen, equation = random.normal(size=(6, 40)), random.normal(size=(80, 40))
    solved = maximize_evidence(
        Rows(equation, np.zeros(80), seen, random.normal(size=6), np.ones(6))
    )
    said = seen @ (solved.weights + solved.draw(200)).T
    assert np.sqrt(np.mean(said**2)) > 0.3


# ------------------------------------------------------------------------- what is most probable


def synthetic(sigma, seed=0, weights=40, readings=300, equations=25):
    """Weights by chance of which an equation holds, and readings of them with noise."""
    random = np.random.default_rng(seed)
    truth = random.normal(size=weights)
    equation = random.normal(size=(equations, weights)) / np.sqrt(weights)
    seen = random.normal(size=(readings, weights)) / np.sqrt(weights)
    relative = random.uniform(0.5, 2.0, readings)
    values = seen @ truth + sigma * relative * random.normal(size=readings)
    return truth, Rows(equation, equation @ truth, seen, values, relative)


@pytest.mark.parametrize("sigma", [1e-6, 1e-2, 0.3])
def test_the_noise_is_found(sigma):
    truth, rows = synthetic(sigma)
    solved = maximize_evidence(rows)
    # 300 readings know it to 4 %, and it is sought in steps of 10^(1/4), a factor of 1.33 either way.
    assert sigma / 1.4 < solved.sigma < 1.4 * sigma
    error = solved.weights - truth
    spread = solved.spread(np.eye(len(truth)))
    assert 0.6 < np.sqrt(np.mean((error / spread) ** 2)) < 1.5
    assert np.abs(error).max() < 10 * sigma


def test_exact_rows_are_met_to_the_last_digits():
    """No condition number is squared: equation and readings span seven orders of magnitude."""
    random = np.random.default_rng(3)
    truth = random.normal(size=30)
    equation = random.normal(size=(24, 30)) * 10.0 ** -random.uniform(0, 7, 24)[:, None]
    seen = random.normal(size=(12, 30))
    rows = Rows(equation, equation @ truth, seen, seen @ truth, np.ones(12))
    solved = maximize_evidence(rows)
    assert np.abs(seen @ solved.weights - seen @ truth).max() < 1e-10
    assert np.abs(solved.weights - truth).max() < 1e-8
