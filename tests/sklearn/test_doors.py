"""Frames through the tools of scikit-learn: column transformers, pipelines, importances, cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from harmonium import Bernoulli, Columns, Gaussian, HarmoniumClassifier, Hinge, Stochastic, Views
from harmonium.estimators.input import known_views
from tests.cases.bad_input import quick, refuse

RNG = np.random.default_rng(0)
PEOPLE = [f"patient_{i}" for i in range(60)]
TABLE = pd.DataFrame(
    {"age": RNG.normal(40, 10, size=60), "height": RNG.normal(size=60), "ward": RNG.choice(["a", "b", "c"], size=60)},
    index=PEOPLE,
)
NUMBERS = TABLE[["age", "height"]]
SICK = pd.Series((TABLE["age"] > 40).astype(int), name="sick")


def classifier(**keywords: Any) -> HarmoniumClassifier:
    defaults: dict[str, Any] = {"head": Hinge(C=30.0), "validation_fraction": 0, "random_state": 0}
    return HarmoniumClassifier(4, driver=Stochastic(max_iter=60, learning_rate=0.05), **defaults, **keywords)


def transformer(sparse: bool = False) -> ColumnTransformer:
    return ColumnTransformer(
        [("numbers", StandardScaler(), ["age", "height"]), ("ward", OneHotEncoder(sparse_output=sparse), ["ward"])],
        sparse_threshold=1.0 if sparse else 0.0,
    )


@pytest.mark.parametrize("form", ["dense", "sparse", "pandas", "polars"])
def test_column_transformers_feed_estimators(form: str) -> None:
    first = transformer(form == "sparse")
    if form in ("pandas", "polars"):
        first.set_output(transform=form)
    names: Any = {"numbers": slice(0, 2), "ward": Columns(slice(2, 5), Bernoulli())}
    if form == "pandas":
        names = {"numbers": ["numbers__age", "numbers__height"], "ward": [f"ward__ward_{ward}" for ward in "abc"]}
    pipeline = make_pipeline(first, classifier(views=names)).fit(TABLE, SICK)
    assert [type(family) for family in pipeline[-1].families_.values()] == [Gaussian, Bernoulli]
    assert pipeline.score(TABLE, SICK) > 0.8
    if form == "pandas":
        assert pipeline[-1].fitted_.feature_names["numbers"] == ["numbers__age", "numbers__height"]


def test_frames_in_and_out_keep_rows_and_names() -> None:
    first = make_column_transformer((StandardScaler(), ["age", "height"]), verbose_feature_names_out=False)
    pipeline = make_pipeline(first, quick()).set_output(transform="pandas")
    latent = pipeline.fit_transform(TABLE)
    assert latent.index.tolist() == PEOPLE
    assert latent.columns.tolist() == list(pipeline.get_feature_names_out())
    assert pipeline[-1].feature_names_in_.tolist() == ["age", "height"]


@pytest.mark.parametrize("form", ["pandas", "polars", "numpy"])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_permutation_importance(form: str) -> None:
    X: Any = {"pandas": NUMBERS, "polars": pl.from_pandas(NUMBERS), "numpy": NUMBERS.to_numpy()}[form]
    y = SICK if form == "pandas" else SICK.to_numpy()
    model = classifier(views={"age": [0], "height": [1]}).fit(X, y)
    importance = permutation_importance(model, X, y, n_repeats=3, random_state=0).importances_mean
    assert importance[0] > 0.2 > abs(importance[1])


def test_views_are_no_array() -> None:
    both = Views({"body": NUMBERS})
    model = classifier().fit(both, SICK)
    refuse(lambda: np.asarray(both), TypeError, "Several views are no single array.*pass one matrix or data frame")
    with pytest.raises(TypeError, match="Several views are no single array"):
        permutation_importance(model, both, SICK)


def test_cross_validation_takes_views_for_a_dict() -> None:
    X = {"age": NUMBERS["age"], "height": NUMBERS[["height"]]}
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):  # of scikit-learn, which counts the views
        cross_val_score(classifier(), X, SICK, cv=3)
    model = classifier().fit(X, SICK)
    for views in (Views(X), known_views(model, X)):
        scores = cross_val_score(classifier(), views, SICK, cv=3)
        assert scores.shape == (3,) and scores.mean() > 0.7


def test_a_search_over_a_pipeline_with_frames() -> None:
    pipeline = Pipeline([("prepare", transformer()), ("model", classifier())])
    search = GridSearchCV(pipeline, {"model__n_components": [2, 4]}, cv=2).fit(TABLE, SICK)
    assert search.best_score_ > 0.7
