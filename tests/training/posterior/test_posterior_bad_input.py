"""Settings of chains, and questions without draws, are refused in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import harmonium
from harmonium import BDWH, IBP, LBFGS, Harmonium, HarmoniumClassifier, Langevin, Stochastic
from harmonium.exceptions import IncompatiblePartsError
from harmonium.inspection import diagnostics, to_arviz
from harmonium.objectives import ExactLikelihood
from harmonium.training import AdjustedLangevin, EmpiricalBayes, GaussianPrior
from tests.cases.posterior import QUICK, two_views


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_draws": 0}, "n_draws"),
        ({"n_warmup": -1}, "n_warmup"),
        ({"n_warmup": 0}, "tunes its steps"),
        ({"thin": 1.5}, "thin"),
        ({"n_chains": 0}, "n_chains"),
        ({"step": "large"}, "'auto'"),
        ({"step": -1.0}, "step"),
        ({"schedule": "cosine"}, "schedule"),
        ({"precondition": "yes"}, "precondition"),
        ({"batch_size": 0}, "batch_size"),
        ({"biases": "free"}, "biases"),
        ({"start": "here"}, "start"),
        ({"start": Langevin()}, "start"),
        ({"prior": 1.0}, "prior"),
        ({"prior": GaussianPrior(scale=0.0)}, "scale"),
        ({"prior": EmpiricalBayes(per="word")}, "per"),  # type: ignore[arg-type]
        ({"prior": {"sound": GaussianPrior()}}, "sound"),
        ({"checkpoint": 3}, "checkpoint"),
    ],
    ids=str,
)
def test_bad_settings_get_one_sentence(settings: dict[str, Any], message: str) -> None:
    model = BDWH(3, driver=Langevin(**{**QUICK, **settings}), random_state=0)
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        model.fit(two_views())
    assert str(caught.value).count("\n") == 0 and not hasattr(model, "families_")


def test_what_draws_are_needed_for_says_so() -> None:
    X = two_views()
    model = harmonium.DWH(3, driver=Stochastic(max_iter=1), random_state=0).fit(X)
    with pytest.raises(ValueError, match="Langevin"):
        model.transform(X, return_std=True)
    with pytest.raises(ValueError, match="of='value'"):
        model.predict_view("colour", {"words": X["words"]}, interval=0.9, of="mean")
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_view("colour", {"words": X["words"]}, interval=1.0)
    with pytest.raises(AttributeError, match="Langevin"):
        to_arviz(model)
    with pytest.raises(NotFittedError):
        diagnostics(Harmonium())


def test_what_cannot_be_sampled_is_refused() -> None:
    X = two_views()
    with pytest.raises(IncompatiblePartsError, match="head"):
        HarmoniumClassifier(3, driver=Langevin(**QUICK)).fit(X, np.arange(40) % 2)
    with pytest.raises(IncompatiblePartsError, match="selects units"):
        Harmonium(hidden=IBP(truncation=4), driver=Langevin(**QUICK)).fit(X)
    with pytest.raises(IncompatiblePartsError, match="needs the objective ExactLikelihood"):
        BDWH(3, driver=AdjustedLangevin(**QUICK)).fit(X)
    with pytest.raises(ValueError, match="at most 2000000 hidden states; 4 units"):
        BDWH(4, objective=ExactLikelihood(), driver=AdjustedLangevin(**QUICK)).fit(X)
    with pytest.raises(ValueError, match="LBFGS needs an objective with a loss"):
        BDWH(3, driver=Langevin(**{**QUICK, "start": LBFGS(max_iter=5)})).fit(X)
    with pytest.raises(ValueError, match="pass it to the driver"):
        BDWH(3, prior=GaussianPrior(), driver=Langevin())
