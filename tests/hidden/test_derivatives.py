"""Derivatives of means, and parts of their moves, against finite differences and fine sums."""

from __future__ import annotations

import numpy as np
import pytest

from harmonium.hidden import BernoulliUnits, ComposedUnits, FactorUnits, GaussianUnits
from harmonium.hidden.derivatives import by_natural, moved_by, secant
from tests.cases.models import hidden_names, make_hidden

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("name", hidden_names())
def test_a_loss_goes_through_the_means(name: str) -> None:
    layer, step = make_hidden(name), 1e-6
    if "covariance" in layer.extra_parameters():
        layer = layer.at({"covariance": np.array([[2.0, 0.5], [0.5, 1.0]])})
    natural, by_mean = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2))
    expected = np.zeros((3, 2))
    for unit in range(2):
        after, before = (layer.mean(natural + sign * step * np.eye(2)[unit]) for sign in (1, -1))
        expected[:, unit] = (by_mean * (after - before)).sum(axis=1) / (2 * step)
    if layer.groups.dimensions is not None:  # no loss moves topics
        expected[:, layer.groups.are_topics] = 0
    np.testing.assert_allclose(by_natural(layer, natural, by_mean), expected, rtol=1e-6, atol=1e-8)


def test_normal_groups_are_normal_together() -> None:
    layer = ComposedUnits(GaussianUnits(n_units=1), GaussianUnits(variance=2.0, n_units=2)).bind(1)
    assert layer.linear_mean and not ComposedUnits(GaussianUnits(n_units=1)).bind(1).linear_mean
    np.testing.assert_allclose(layer.mean(np.eye(3)), np.diag([1.0, 2.0, 2.0]))


def test_units_are_split_by_integrated_gradients() -> None:
    """The secant is the integral of the slopes along the line from the average item: compared with a fine sum."""
    layer = BernoulliUnits().bind(3)
    after, before = np.array([2.0, -1.0, 0.3]), np.array([-1.0, -1.5, 0.3])
    parts = RNG.normal(size=(5, 3))
    parts[-1] = after - before - parts[:-1].sum(axis=0)
    steps = (np.arange(20_000) + 0.5) / 20_000
    slopes = layer.mean_derivative(before + steps[:, None] * (after - before)).mean(axis=0)
    np.testing.assert_allclose(moved_by(layer, after, before, parts), parts * slopes, rtol=1e-6)


def test_units_that_depend_on_each_other_add_up() -> None:
    layer = FactorUnits().restore(2).at({"covariance": np.array([[2.0, 0.5], [0.5, 1.0]])})
    after, before = np.array([1.0, 2.0]), np.array([0.0, 2.0])
    parts = np.array([[3.0, -1.0], [-2.0, 1.0]])
    np.testing.assert_allclose(
        moved_by(layer, after, before, parts).sum(axis=0), layer.mean(after) - layer.mean(before)
    )


def test_secants_of_equal_ends_are_tangents() -> None:
    ends = np.array([0.7, -1.2])
    np.testing.assert_allclose(secant(np.exp, ends, ends), np.exp(ends), rtol=1e-8)
    np.testing.assert_allclose(secant(np.exp, ends + 1e-9, ends), np.exp(ends), rtol=1e-8)
