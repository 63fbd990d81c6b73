"""Models that predict are the same on any number of threads, pickled or saved."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

import harmonium
from harmonium import DiscriminativeRBM, Harmonium, HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic
from harmonium.inspection import canonical_signs
from harmonium.recipes import TWH
from tests.cases.supervised import (
    FRESH,
    QUICK,
    X,
    Y,
    assert_same_predictions,
    classifier,
    regressor,
    some_labels,
    two_numbers,
)


# ---- reproducibility -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "model",
    [
        HarmoniumClassifier(**QUICK),
        classifier(head=Hinge(C=1.0, ridge=0.02, solver="alternate")),
        TWH(**QUICK),
        DiscriminativeRBM(**QUICK, generative=0.1),
    ],
    ids=["auto", "alternate", "label", "hybrid"],
)
def test_same_result_on_one_thread_or_two(model: HarmoniumClassifier) -> None:
    """Wide enough that products are cut into blocks, so that threads really share the work."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=150)
    words = scipy.sparse.random_array((150, 2500), density=0.01, rng=rng, format="csr")
    words.data[:] = 1
    data = {"words": words, "colour": np.eye(3)[y] + rng.normal(size=(150, 3))}
    model.set_params(n_components=20, driver=Stochastic(2, 50))
    one, two = (clone(model).set_params(n_jobs=n_jobs).fit(data, y) for n_jobs in (1, 2))
    for name, value in one.fitted_.parameters.items():
        np.testing.assert_array_equal(two.fitted_.parameters[name], value)
    assert_same_predictions(one, two, data)


def test_random_state_decides() -> None:
    model = clone(HarmoniumClassifier(**QUICK)).set_params(driver__max_iter=3)
    assert_same_predictions(clone(model).fit(X, Y), model.fit(X, Y))
    other = clone(model).set_params(random_state=1).fit(X, Y)
    assert not np.array_equal(other.components_, model.components_)


def test_pickle_keeps_the_model() -> None:
    model = HarmoniumClassifier(**QUICK).fit(X, Y)
    assert_same_predictions(pickle.loads(pickle.dumps(model)), model)


def test_turning_units_over_changes_no_prediction() -> None:
    model = classifier().fit(X, Y)
    before = model.decision_function(FRESH)
    weights = {name: value.copy() for name, value in model.fitted_.parameters.items()}
    model = canonical_signs(model)
    np.testing.assert_allclose(model.decision_function(FRESH), before, atol=1e-4)
    assert any(not np.array_equal(value, weights[name]) for name, value in model.fitted_.parameters.items())
    np.testing.assert_array_equal(model.classes_[model.predict_proba(FRESH).argmax(axis=1)], model.predict(FRESH))


# ---- files -----------------------------------------------------------------------------------------------------------
SAVED: dict[str, tuple[Any, Any]] = {
    "auto": (HarmoniumClassifier(**QUICK), lambda: (X, Y)),
    "texts": (classifier(), lambda: (X, np.array(["ant", "bee", "cat"])[Y])),
    "booleans": (classifier(), lambda: (X, Y > 0)),
    "floats": (classifier(), lambda: (X, Y + 0.0)),
    "costs": (classifier(head=Hinge(C=1.0, cost=1.5 - 1.5 * np.eye(3))), lambda: (X, Y)),
    "costs_listed": (classifier(head=Hinge(C=1.0, cost=[[0, 1, 2], [1, 0, 1], [3, 1, 0]])), lambda: (X, Y)),
    "weights": (classifier(head=Hinge(C=1.0, class_weight={1: 2.0})), lambda: (X, Y)),
    "own_weights": (HarmoniumClassifier(**QUICK, class_weight={1: 2.0}), lambda: (X, Y)),
    "columns": (classifier(), lambda: (X, np.stack([Y.astype(object), np.array(["a", "b", "c"])[Y]], axis=1))),
    "labels": (classifier(head=None, validation_fraction=0.15), some_labels),
    "number": (regressor(), lambda: (two_numbers()[0], two_numbers()[1][:, 0])),
    "numbers": (HarmoniumRegressor(**QUICK), two_numbers),
    "tri_wing": (TWH(**QUICK), lambda: (X, np.array(["ant", "bee", "cat"])[Y])),
    "tri_wing_labels": (TWH(**QUICK, validation_fraction=0), some_labels),
    "tri_wing_numbers": (TWH(**QUICK, task="regression", validation_fraction=0), two_numbers),
    "conditional": (DiscriminativeRBM(**QUICK), lambda: (X, Y)),
}


@pytest.mark.parametrize("case", SAVED)
def test_saved_models_predict_bit_for_bit(case: str, tmp_path: Path) -> None:
    model, make = SAVED[case]
    data, y = make()
    model = clone(model).set_params(driver__max_iter=4).fit(data, y)
    ending = "model" if len(case) % 2 else "model.safetensors"
    model.save(tmp_path / ending)
    again = harmonium.load(tmp_path / ending)
    assert type(again) is type(model) and repr(again) == repr(model)
    assert_same_predictions(model, again, data)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert again.fitted_.C == model.fitted_.C and again.fitted_.validation == model.fitted_.validation
    if hasattr(model, "classes_"):
        for one, two in zip(model.fitted_.meaning.classes, again.fitted_.meaning.classes, strict=True):
            np.testing.assert_array_equal(one, two)
            assert one.dtype == two.dtype
    # it goes on learning and is saved again
    again.partial_fit(data, y).save(tmp_path / ending)
    assert_same_predictions(again, harmonium.load(tmp_path / ending), data)
    n_iter = again.n_iter_
    assert again.set_params(warm_start=True).fit(data, y).n_iter_ == n_iter + 4


def test_the_unsupervised_model_is_untouched_by_all_this() -> None:
    assert not hasattr(Harmonium(), "predict") and not hasattr(Harmonium(), "head")
