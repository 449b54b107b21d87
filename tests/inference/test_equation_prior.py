"""What an equation says by itself, against the formulas written out in full."""

import numpy as np
import pytest

from pgt.inference.equation_prior import Basis, ConditionalBasis

OWN, OTHERS = 5, 3


def equation(rows=12, alone=2, seed=0):
    """Rows of fields and of what stands in them; the last ones of the latter alone."""
    random = np.random.default_rng(seed)
    found = random.normal(size=(rows + alone, OWN + OTHERS))
    found[rows:, :OWN] = 0.0
    return found, random.normal(size=rows + alone)


def moments(basis, rho):
    """Mean and covariance of the weights, in units of s²."""
    prior = basis.prior(rho)
    root = basis.vectors @ prior.along(np.eye(len(prior.mean))).T
    across = prior.across(basis.vectors)
    np.testing.assert_allclose(root, across, atol=1e-12)
    return basis.vectors @ prior.mean, root @ root.T


def joint(rows, target, rho, sizes):
    precision = np.diag(1 / sizes**2) + rho * rows.T @ rows
    return rho * np.linalg.solve(precision, rows.T @ target), np.linalg.inv(precision)


@pytest.mark.parametrize("rows", [0, 4, 12])
def test_all_weights_together(rows):
    matrix, target = equation(rows, alone=0)
    mean, covariance = moments(Basis(matrix, target), 30.0)
    expected = joint(matrix, target, 30.0, np.ones(OWN + OTHERS))
    np.testing.assert_allclose(mean, expected[0], atol=1e-12)
    np.testing.assert_allclose(covariance, expected[1], atol=1e-12)


@pytest.mark.parametrize("rho", [1e-2, 30.0])
def test_a_soft_equation_tells_of_all_that_stands_in_it(rho):
    matrix, target = equation()
    sizes = np.array([2.0, 0.5, 1.0])
    mean, covariance = moments(ConditionalBasis(matrix, target, sizes), rho)
    expected = joint(matrix, target, rho, np.append(np.ones(OWN), sizes))
    np.testing.assert_allclose(mean, expected[0], atol=1e-10)
    np.testing.assert_allclose(covariance, expected[1], atol=1e-10)


def test_a_stiff_equation_that_can_be_solved_says_nothing_of_what_stands_in_it():
    """As many rows as weights of fields: for every k there is a u. Joint, the smallness of u would be
    held against k."""
    matrix, target = equation(rows=OWN, alone=0)
    matrix[:, :OWN] += 4 * np.eye(OWN)
    sizes, rho = np.array([2.0, 0.5, 1.0]), 1e14
    mean, covariance = moments(ConditionalBasis(matrix, target, sizes), rho)
    fields, others = matrix[:, :OWN], matrix[:, OWN:]
    gain = -np.linalg.solve(fields, others)
    np.testing.assert_allclose(covariance[:OWN, OWN:], gain @ covariance[OWN:, OWN:], atol=1e-8)
    np.testing.assert_allclose(matrix @ mean, target, atol=1e-8)
    held = np.linalg.inv(
        np.diag(1 / sizes**2) + gain.T @ gain
    )  # by the size of u, which is a prior
    np.testing.assert_allclose(covariance[OWN:, OWN:], held, rtol=1e-2)


def test_rows_of_what_stands_in_the_equation_alone_count_in_full():
    matrix, target = equation(alone=1)
    mean, covariance = moments(ConditionalBasis(matrix, target, np.ones(OTHERS)), 1e12)
    last = matrix[-1]
    assert last @ mean == pytest.approx(target[-1], abs=1e-6)
    assert last @ covariance @ last < 1e-10
