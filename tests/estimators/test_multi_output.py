"""Several targets of different kinds: each as its own model predicts it, with unknown cells, weights and files."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import accuracy_score, make_scorer, r2_score
from sklearn.model_selection import cross_validate

from harmonium import HarmoniumClassifier, HarmoniumMultiOutput, HarmoniumRegressor, Stochastic, load
from harmonium.cli.data_blocks import new_blocks
from harmonium.cli.errors import OptionError
from harmonium.exceptions import HarmoniumWarning, ModelFileError
from harmonium.metrics import ignoring_unknown

RNG = np.random.default_rng(0)
N = 80
NUMBERS = RNG.normal(size=(N, 3))
X = pd.DataFrame(NUMBERS, columns=["a", "b", "c"], index=[f"row {i}" for i in range(N)])
TARGETS = pd.DataFrame(
    {
        "rating": np.where(np.arange(N) % 4, NUMBERS[:, 0] + 3, np.nan),
        "place": np.where(NUMBERS[:, 1] > 0, "Rome", "Oslo").astype(object),
        "tags": [[tag for tag, value in zip(("warm", "wet", "dry"), row, strict=True) if value > 0] for row in NUMBERS],
    },
    index=X.index,
)
TARGETS.loc[X.index[::5], "place"] = None
TARGETS.at[X.index[3], "tags"] = None
NAMES = list(TARGETS.columns)
DRIVER = Stochastic(max_iter=2)
CLASSIFIER, REGRESSOR = HarmoniumClassifier(2, driver=DRIVER), HarmoniumRegressor(2, driver=DRIVER)


def estimator() -> HarmoniumMultiOutput:
    return HarmoniumMultiOutput(CLASSIFIER, REGRESSOR, random_state=0)


@pytest.fixture(scope="module")
def fitted() -> HarmoniumMultiOutput:
    return estimator().fit(X.join(TARGETS), NAMES)


def test_each_target_is_predicted_as_by_its_own_model(fitted: HarmoniumMultiOutput) -> None:
    assert fitted.kinds_ == {"rating": "number", "place": "class", "tags": "label"}
    assert fitted.target_names_.tolist() == NAMES
    found = fitted.predict(X)
    assert found.columns.tolist() == NAMES and found.index.equals(X.index)
    alone = clone(REGRESSOR).set_params(random_state=0).fit(X, TARGETS["rating"])
    np.testing.assert_array_equal(found["rating"], alone.predict(X))
    of_place = clone(CLASSIFIER).set_params(random_state=0).fit(X, TARGETS["place"])
    np.testing.assert_array_equal(found["place"], of_place.predict(X))
    np.testing.assert_array_equal(fitted.predict_proba(X)["place"], of_place.predict_proba(X))
    of_tags = clone(CLASSIFIER).set_params(random_state=0).fit(X, TARGETS["tags"])
    assert found["tags"].tolist() == [of_tags.classes_[row > 0].tolist() for row in of_tags.predict(X)]
    assert fitted.predict_proba(X)["tags"].columns.tolist() == ["dry", "warm", "wet"]
    assert found.equals(fitted.predict(X.join(TARGETS)))  # columns of targets are left out
    assert fitted.explain(X[:2], "rating")[1].scores[0] == pytest.approx(alone.explain(X[1:2])[0].scores[0])


def test_targets_beside_x_are_those_of_its_columns(fitted: HarmoniumMultiOutput) -> None:
    for y in (TARGETS, TARGETS.iloc[::-1]):  # rows go by their names
        assert estimator().fit(X, y).predict(X).equals(fitted.predict(X))
    bare = HarmoniumMultiOutput(CLASSIFIER, REGRESSOR, random_state=0).fit(NUMBERS, TARGETS[["rating"]].to_numpy())
    assert bare.predict(NUMBERS).columns.tolist() == ["0"]


def test_scores_leave_unknown_cells_out(fitted: HarmoniumMultiOutput) -> None:
    found = fitted.score_targets(X, TARGETS)
    predicted = fitted.predict(X)
    known = TARGETS["rating"].notna()
    assert found["rating"] == pytest.approx(r2_score(TARGETS["rating"][known], predicted["rating"][known]))
    labelled = TARGETS["place"].notna()
    assert found["place"] == accuracy_score(TARGETS["place"][labelled], predicted["place"][labelled])
    right = [
        truth is not None and set(truth) == set(one)
        for truth, one in zip(TARGETS["tags"], predicted["tags"], strict=True)
    ]
    assert found["tags"] == pytest.approx(sum(right) / TARGETS["tags"].notna().sum())
    assert fitted.score(X, TARGETS) == pytest.approx(found.mean())
    nothing = TARGETS.assign(place=None)
    assert np.isnan(fitted.score_targets(X, nothing)["place"])
    assert fitted.score(X, nothing) == pytest.approx(found[["rating", "tags"]].mean())
    with pytest.raises(ValueError, match="all are missing"):
        fitted.score(X, TARGETS.assign(rating=np.nan, place=None, tags=None))


def test_weights_of_cells_are_those_of_each_model() -> None:
    weights = np.where(RNG.random((N, 2)) < 0.3, 0.0, RNG.integers(1, 4, size=(N, 2)))
    both = TARGETS[["rating", "place"]]
    found = estimator().fit(X, both, weights)
    alone = clone(REGRESSOR).set_params(random_state=0).fit(X, both["rating"], weights[:, 0])
    np.testing.assert_array_equal(found.predict(X)["rating"], alone.predict(X))
    used = both["place"].notna().to_numpy() & (weights[:, 1] > 0)
    predicted = found.predict(X)["place"]
    expected = accuracy_score(both["place"][used], predicted[used], sample_weight=weights[used, 1])
    assert found.score_targets(X, both, weights)["place"] == pytest.approx(expected)
    with pytest.raises(ValueError, match="HarmoniumMultiOutput"):
        HarmoniumRegressor().fit(NUMBERS, NUMBERS[:, :2], np.ones((N, 2)))


def test_cross_validation_with_measures_of_each_target() -> None:
    measure = ignoring_unknown({"rating": r2_score, "place": accuracy_score})
    found = cross_validate(estimator(), X, TARGETS[["rating", "place"]], cv=2, scoring=make_scorer(measure))
    own = cross_validate(estimator(), X, TARGETS[["rating", "place"]], cv=2)
    np.testing.assert_allclose(found["test_score"], own["test_score"])


def test_files_keep_all_models(fitted: HarmoniumMultiOutput, tmp_path: Path) -> None:
    for name in ("model", "model.safetensors"):
        fitted.save(tmp_path / name)
        again = load(tmp_path / name)
        assert again.predict(X).equals(fitted.predict(X)) and again.kinds_ == fitted.kinds_
        assert again.classifier.n_components == 2 and again.random_state == 0
        assert again.predict(X.join(TARGETS)).equals(fitted.predict(X))
    crossed = clone(fitted)
    crossed.estimators_, crossed.kinds_ = fitted.estimators_, fitted.kinds_ | {"place": "number"}
    crossed.save(tmp_path / "crossed")
    with pytest.raises(ModelFileError, match="'place' has not"):
        load(tmp_path / "crossed")


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (["rating", "nowhere"], {}, "'nowhere'"),
        (NAMES, {"kinds": {"stars": "number"}}, "'stars'"),
        (NAMES, {"kinds": {"rating": "float"}}, "'number', 'class' or 'label'"),
        (NAMES, {"kinds": {"place": "number"}}, "holds none"),
        (["rating", "empty"], {}, "Target 'empty': y must be known"),
    ],
)
def test_wrong_targets_are_refused(y: list[str], options: dict[str, object], message: str) -> None:
    model = estimator().set_params(**options)
    with warnings.catch_warnings(), pytest.raises(ValueError, match=message):
        warnings.simplefilter("ignore", HarmoniumWarning)
        model.fit(X.join(TARGETS).assign(empty=None), y)
    assert not hasattr(model, "estimators_")
    with pytest.raises(ValueError, match="must be fitted"):
        model.predict(X)


def test_other_wrong_input(fitted: HarmoniumMultiOutput) -> None:
    with pytest.raises(ValueError, match="sample_weight must have"):
        estimator().fit(X, TARGETS, np.ones((N, 2)))
    with pytest.raises(TypeError, match="a mapping"):
        estimator().set_params(kinds="number").fit(X, TARGETS)
    with pytest.raises(ValueError, match="one of 'rating', 'place', 'tags'"):
        fitted.explain(X[:1], "stars")
    with pytest.raises(ValueError, match=r"y must have the targets 'rating'.*got 'place', 'tags'"):
        fitted.score(X, TARGETS[["place", "tags"]])
    with pytest.raises(OptionError, match="this one is HarmoniumMultiOutput"):
        next(new_blocks(fitted, Path("rows.csv"), None))
