"""Units are selected with classes, numbers and labels to predict."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from harmonium import IBP, HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic
from harmonium.core.parameters import HEAD_BIAS
from harmonium.estimators.input import known_views
from harmonium.heads import LabelView, MultiLabelHinge
from harmonium.objectives import Discriminative
from harmonium.training.growth.prune import Selected, prune
from harmonium.training.supervised import epoch_search
from harmonium.views.data import Data
from tests.cases.selection import FEW, HAS, QUICK, X, classes_of

QUICK_HEAD = Stochastic(
    max_iter=30,
    batch_size=0.05,
    learning_rate=0.06,
    max_update=3.0,
    schedule="constant",
    weight_decay=0.08,
    average=True,
)


@pytest.mark.parametrize(
    "settings_",
    [
        {"head": Hinge(C=1.0)},
        {"head": Hinge(C=1.0, solver="alternate")},
        {"head": LabelView(), "driver": QUICK},
        {"head": LabelView(), "objective": Discriminative(0.5), "driver": QUICK},
    ],
    ids=["joint", "alternate", "label", "discriminative"],
)
def test_classes_some_unknown(settings_: dict[str, Any]) -> None:
    y = classes_of(HAS)
    partly = np.where(np.arange(300) % 4 == 0, -1, y)
    defaults = {"hidden": IBP(truncation=8), "driver": QUICK_HEAD, "validation_fraction": 0, "random_state": 0}
    model = HarmoniumClassifier(**{**defaults, **settings_}).fit(X, partly)
    assert 2 <= model.n_components_ <= 7 and model.fitted_.usage.shape == (model.n_components_,)
    assert model.score(X[::4], y[::4]) > 0.85
    assert model.coef_.shape == (4, model.n_components_)


def test_numbers() -> None:
    y = HAS @ np.array([1.0, -2.0, 0.5]) + 10
    model = HarmoniumRegressor(hidden=IBP(truncation=8), driver=QUICK_HEAD, validation_fraction=0.2, random_state=0)
    partly = np.where(np.arange(300) % 4 == 0, np.nan, y)
    assert model.fit(X, partly).score(X[::4], y[::4]) > 0.8
    assert model.n_components_ < 8 and model.fitted_.C > 0


def test_several_labels() -> None:
    model = HarmoniumClassifier(
        hidden=IBP(truncation=8), head=MultiLabelHinge(C=1.0), driver=QUICK_HEAD, validation_fraction=0, random_state=0
    ).fit(X, HAS.astype(int))
    assert (model.predict(X) == HAS).mean() > 0.9 and model.n_components_ < 8


def test_batches_without_a_single_label() -> None:
    y = np.full(300, -1)
    y[:10] = np.arange(10) % 2
    model = HarmoniumClassifier(hidden=IBP(truncation=8), head=Hinge(C=1.0), driver=FEW, random_state=0)
    model.fit(X, y)
    assert np.isfinite(model.transform(X)).all() and set(model.predict(X)) <= {0, 1}


def test_held_out_rows_judge_what_a_fit_would_keep() -> None:
    y = classes_of(HAS)
    settings: dict[str, Any] = {"hidden": IBP(truncation=8), "head": Hinge(C=1.0), "random_state": 0}
    driver = Stochastic(max_iter=4, batch_size=0.05, learning_rate=0.06, max_update=3.0, schedule="constant")
    with patch.object(epoch_search, "prune", wraps=prune) as pruned:
        model = HarmoniumClassifier(driver=driver, **settings).fit(X, y)
    assert pruned.call_count >= len(model.fitted_.validation["epoch"])
    assert all(n_items > 0 for _, _, _, n_items in (call.args for call in pruned.call_args_list))
    # scores are those of what is left
    problem, training, data = model.fitted_.problem, model.fitted_.training, Data(known_views(model, X))
    before = epoch_search.held_out_scores(problem, data, training)
    shifted = {**training.result, HEAD_BIAS: training.result[HEAD_BIAS] + 1}
    with patch.object(epoch_search, "prune", lambda *_: Selected(problem, shifted, np.zeros(0), 0)):
        np.testing.assert_allclose(epoch_search.held_out_scores(problem, data, training), before + 1, atol=1e-5)
