"""Binomial units that differ in their numbers of trials: Gehler, Holub & Welling (2006), eq. 2, 3 and 6."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from harmonium import RAP, Bernoulli, Harmonium
from harmonium.energy import Energy
from harmonium.hidden import BinomialUnits
from harmonium.inference.symmetry import align
from harmonium.persist import load_model
from tests.cases.models import make_parameters, random_batch

M = [1, 4, 9]


def test_units_have_their_own_binomial_distributions() -> None:
    layer = BinomialUnits(M=M).bind(7)
    natural = np.array([[0.3, -1.2, 0.8], [-2.0, 0.1, 3.0]])
    expected = binom(np.array(M), 1 / (1 + np.exp(-natural)))
    assert layer.n_units_ == 3 and layer.largest.tolist() == M and layer.support.upper == 9
    np.testing.assert_allclose(layer.mean(natural), expected.mean())
    np.testing.assert_allclose(layer.mean_derivative(natural), expected.var())
    np.testing.assert_array_equal(layer.mode(natural), np.minimum(np.floor((np.array(M) + 1) * expected.args[1]), M))
    for value in range(10):  # the last ones no value of the first units
        h = np.full_like(natural, value)
        log_mass = natural * h + layer.log_base(h) - layer.log_partition(natural)
        np.testing.assert_allclose(np.exp(log_mass), expected.pmf(value), atol=1e-12)
    drawn = layer.sample(np.repeat(natural[:1], 4000, axis=0), np.random.default_rng(0))
    error = np.sqrt(expected.var()[0] / len(drawn))
    assert np.all(np.abs(drawn.mean(axis=0) - expected.mean()[0]) < 5 * error) and (drawn.max(axis=0) <= M).all()
    assert layer.mean(natural.astype(np.float32)).dtype == np.float32


def test_one_number_of_trials_given_three_times_is_that_number() -> None:
    X = np.random.default_rng(0).poisson(1.0, size=(40, 6))
    fits = [RAP(3, M=trials, random_state=0).fit(X) for trials in (2, [2, 2, 2])]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)


def test_models_are_saved_and_go_on(tmp_path: Path) -> None:
    X = np.random.default_rng(0).poisson(1.0, size=(40, 6))
    model = RAP(M=np.array(M), random_state=0, warm_start=True).fit(X)
    assert model.components_.shape == (3, 6)
    model.save(tmp_path / "model.safetensors")
    again = load_model(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.fit(X).components_, model.fit(X).components_)
    with pytest.raises(ValueError, match="Training can only go on with the 3 hidden units it began with"):
        model.set_params(hidden=BinomialUnits(M=[1, 4, 8])).fit(X)


def test_alignment_leaves_units_at_places_of_their_values() -> None:
    energy = Energy({"x": Bernoulli().restore(3, {})}, BinomialUnits(M=[2, 2, 5]).bind(3))
    reference, other = make_parameters(energy, 0), make_parameters(energy, 1)
    for name in ("x.weights", "hidden.bias"):  # the last unit is most like the first place
        other[name][..., 2] = reference[name][..., 0]
    batch = random_batch(energy, reference, 8)
    difference = energy.free_energy(other, batch) - energy.free_energy(align(energy, other, reference), batch)
    np.testing.assert_allclose(difference, difference[0], atol=1e-9)


def test_units_that_differ_cannot_be_chosen_in_training() -> None:
    with pytest.raises(ValueError, match="an M for each of its 2 units; got 3; pass one M for all"):
        BinomialUnits(M=M).restore(2)
    X = np.random.default_rng(0).poisson(1.0, size=(60, 6))
    model = Harmonium(hidden=BinomialUnits(M=M, weights="nonnegative"), random_state=0).fit(X)
    assert model.partial_fit(X).components_.shape == (3, 6)  # opens no units
