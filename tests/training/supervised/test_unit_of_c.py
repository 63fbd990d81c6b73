"""The unit of C: what an average item costs to describe by the marginals of its features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import entr
from sklearn.base import clone

import harmonium
from harmonium import Bernoulli, Gaussian, HarmoniumClassifier, Stochastic
from harmonium.training.drivers.run import Run
from tests.cases.supervised import QUICK, X, Y, classifier, regressor, some_labels, two_numbers


def loss_weights_used(model: Any, data: Any, y: Any, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Weights of the head's loss in nats, of every run of the driver."""
    loss_weights: list[float] = []
    run = Stochastic.run

    def recorded(self: Stochastic, given: Run) -> None:
        loss_weights.append(given.problem.loss_weight)
        run(self, given)

    monkeypatch.setattr(Stochastic, "run", recorded)
    model.fit(data, y)
    return loss_weights


def test_choice_and_final_fit_use_one_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    model = HarmoniumClassifier(**QUICK)
    loss_weights = loss_weights_used(model, X, Y, monkeypatch)
    baseline_nll = model.fitted_.baseline_nll
    assert loss_weights[-1] == 0  # topics are learned without the loss
    assert set(loss_weights[:-1]) == {model.fitted_.C * baseline_nll}  # on each of the folds, and on all rows
    assert model.fitted_.problem.loss_weight == model.fitted_.C * baseline_nll


@pytest.mark.parametrize("kind", ["class", "label", "number"])
def test_unit_does_not_depend_on_random_numbers(kind: str, tmp_path: Path) -> None:
    make: Any = regressor if kind == "number" else classifier
    data, y = {"class": (X, Y), "label": some_labels(), "number": two_numbers()}[kind]
    model = make(head=None, validation_fraction=0.15, driver=Stochastic(max_iter=1)).fit(data, y)
    baseline_nll = model.fitted_.baseline_nll
    assert baseline_nll > 1
    for seed in (1, 2):
        other = clone(model).set_params(random_state=seed, n_components=4)
        assert other.fit(data, y).fitted_.baseline_nll == baseline_nll
        assert clone(other).partial_fit(data, y).fitted_.baseline_nll == baseline_nll
    # nor does it change when training goes on
    assert clone(model).fit(data, y).partial_fit(data, y).fitted_.baseline_nll == baseline_nll
    model.save(tmp_path / "model")
    again = harmonium.load(tmp_path / "model")
    assert (
        again.fitted_.baseline_nll == baseline_nll
        and again.fitted_.problem.loss_weight == model.fitted_.problem.loss_weight
    )
    assert again.set_params(warm_start=True).fit(data, y).fitted_.baseline_nll == baseline_nll


def test_unit_is_the_entropy_of_the_marginals() -> None:
    """By hand: of binary features, and of Gaussians, whose unit is their own deviation."""
    words, colour = X["words"], X["colour"]
    share = words.mean(axis=0)
    of_words = (entr(share) + entr(1 - share)).sum()
    of_colour = 3 * 0.5 * (1 + np.log(2 * np.pi))
    model = classifier(views={"words": Bernoulli(), "colour": Gaussian()}).fit({"words": words, "colour": colour}, Y)
    assert model.fitted_.baseline_nll == pytest.approx(of_words + of_colour, rel=1e-5)
    # an item of few features costs at least one
    assert clone(model).set_params(views="infer").fit({"words": words[:, :1]}, Y).fitted_.baseline_nll == 1.0


def test_twice_the_features_make_twice_the_unit() -> None:
    """So that the same C serves a few features and many."""
    words = {"words": X["words"]}
    twice = {"words": np.hstack([X["words"], X["words"]])}
    baseline_nll = [classifier().fit(data, Y).fitted_.baseline_nll for data in (words, twice)]
    assert baseline_nll[1] == pytest.approx(2 * baseline_nll[0])
