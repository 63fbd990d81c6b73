"""Explanations add up exactly to the scores, for every head, layer and linear part, and say what moves them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from harmonium import (
    IBP,
    TWH,
    DiscriminativeRBM,
    EpsilonInsensitive,
    Harmonium,
    HarmoniumClassifier,
    HarmoniumRegressor,
    Hinge,
    Stochastic,
    Views,
)
from harmonium.estimators.input import known_views
from harmonium.heads import MultiLabelHinge, Ordinal
from harmonium.hidden import BernoulliUnits, GaussianUnits
from harmonium.linear.nystroem import Nystroem
from harmonium.linear.scaling import ViewScaler
from harmonium.linear.skip import LinearPart
from harmonium.queries.explain import explain
from harmonium.queries.prediction import scores

RNG = np.random.default_rng(0)
N = 60
KIND = RNG.integers(0, 3, N)
WORDS = RNG.poisson(np.where(np.arange(12) // 4 == KIND[:, None], 1.5, 0.3)).astype(float)
TAGS = (RNG.random((N, 6)) < np.where(np.arange(6) // 2 == KIND[:, None], 0.7, 0.1)).astype(float)
NUMBERS = np.where(RNG.random((N, 3)) < 0.2, np.nan, np.eye(3)[KIND] + 0.5 * RNG.normal(size=(N, 3)))
NUMBERS[3] = np.nan
ITEMS = Views(
    {"words": scipy.sparse.csr_array(WORDS), "tags": scipy.sparse.csr_array(TAGS), "numbers": NUMBERS},
    present={"tags": RNG.random(N) < 0.7},
)
FEW = {"driver": Stochastic(max_iter=2), "random_state": 0}
NO_VALIDATION = {**FEW, "validation_fraction": 0.0}
LABELS = np.eye(3, dtype=int)[KIND]

CASES: dict[str, tuple[Harmonium, Any]] = {
    "hinge": (HarmoniumClassifier(4, head=Hinge(C=1.0), **NO_VALIDATION), KIND),
    "epsilon, linear part": (HarmoniumRegressor(4, **FEW), 2.0 * KIND + 7),
    "epsilon, two columns": (
        HarmoniumRegressor(4, head=EpsilonInsensitive(C=1.0), **NO_VALIDATION),
        np.stack([KIND, -3.0 * KIND], axis=1),
    ),
    "labels": (HarmoniumClassifier(4, head=MultiLabelHinge(C=1.0), **NO_VALIDATION), LABELS),
    "ordinal": (HarmoniumClassifier(4, head=Ordinal(C=1.0), **NO_VALIDATION), KIND),
    "gaussian units, softmax words": (
        HarmoniumClassifier(
            4,
            hidden=GaussianUnits(),
            views={"words": "replicatedsoftmax", "tags": "infer", "numbers": "infer"},
            head=Hinge(C=1.0),
            **NO_VALIDATION,
        ),
        KIND,
    ),
    "units that are found": (
        HarmoniumClassifier(4, hidden=IBP(truncation=4), head=Hinge(C=1.0), **NO_VALIDATION),
        KIND,
    ),
    "label as a view": (TWH(4, hidden=BernoulliUnits(), **FEW), KIND),
    "number as a view": (TWH(4, task="regression", hidden=BernoulliUnits(), **FEW), 1.5 * KIND),
}


@pytest.mark.parametrize("name", CASES)
def test_parts_add_up_to_the_scores(name: str) -> None:
    model, y = CASES[name]
    model.fit(ITEMS, y)
    rows = ITEMS[:8]
    factor, shift = model.fitted_.head.outputs_.units()  # type: ignore[union-attr]
    expected = scores(model.fitted_, rows) * factor + shift
    for row, why in enumerate(model.explain(rows)):  # type: ignore[attr-defined]
        # scores and what is missing are computed in single precision
        np.testing.assert_allclose(why.scores, expected[row], rtol=1e-5, atol=1e-6)
        if model.fitted_.meaning.kind == "number":  # type: ignore[union-attr]
            limits = model.fitted_.head.outputs_.limits  # type: ignore[union-attr]
            # what is predicted stops at the ends of a scale of few numbers
            within = why.scores if limits is None else np.clip(why.scores, *limits)
            np.testing.assert_allclose(within, np.ravel(model.predict(rows[[row]])), rtol=1e-5)  # type: ignore[attr-defined]
        total = why.base + why.topics.sum(axis=0) + why.directly.sum(axis=0)
        np.testing.assert_allclose(total, why.scores, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(why.through.sum(axis=0), why.topics.sum(axis=0), rtol=1e-6, atol=1e-9)
        units = why.table(why.outputs[-1], by="topic")
        for unit, total in zip(units["unit"], units["total"], strict=True):
            for by in ("feature", "view", "topic"):
                within = why.table(why.outputs[-1], by=by, unit=unit)["total"].sum()
                np.testing.assert_allclose(within, total, rtol=1e-6, atol=1e-9)
        for by in ("feature", "view", "topic"):
            moved = why.table(why.outputs[-1], by=by)["total"].sum()
            np.testing.assert_allclose(moved, why.scores[-1] - why.base[-1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_the_base_is_the_same_for_all_rows(name: str) -> None:
    """Rows that lack views, and rows of other lengths, are compared with the same average item."""
    model, y = CASES[name]
    model.fit(ITEMS, y)
    words, tags = (Views({view: data}) for view, data in (("words", WORDS[:2] * 5), ("tags", TAGS[:2])))
    rows = [*model.explain(ITEMS[:8]), *model.explain(words), *model.explain(tags)]  # type: ignore[attr-defined]
    for why in rows:
        np.testing.assert_array_equal(why.base, rows[0].base)


def test_the_base_is_the_same_for_all_rows_of_a_table() -> None:
    """Texts of all lengths, missing ones among them, categories and numbers, explained by default models."""
    texts = [" ".join(["good" if kind else "bad", "room", *["very"] * (row % 9)]) for row, kind in enumerate(KIND)]
    frame = pd.DataFrame({"text": texts, "price": NUMBERS[:, 0], "city": np.array(["Rome", "Oslo", "Bern"])[KIND]})
    frame.loc[4, ["text", "price"]] = None, 1.0
    for model, y in (
        (HarmoniumClassifier(**FEW), KIND),
        (HarmoniumRegressor(**FEW), 2.0 * KIND),
        (HarmoniumClassifier(**FEW), LABELS),
    ):
        model.fit(frame, y)
        found = model.explain(frame.head(8))
        expected = scores(model.fitted_, known_views(model, frame.head(8)))
        factor, shift = model.fitted_.head.outputs_.units()
        for row, why in enumerate(found):
            np.testing.assert_array_equal(why.base, found[0].base)
            total = why.base + why.through.sum(axis=0) + why.directly.sum(axis=0)
            np.testing.assert_allclose(total, expected[row] * factor + shift, rtol=1e-5, atol=1e-5)
            assert set(why.table(by="view")["view"]) == {"text", "price", "city"}
            city = why.features[why.features["view"] == "city"]["feature"].tolist()
            assert city == [f"city={frame['city'][row]}"]  # a category is one feature
        assert found[4].table(by="view")["view"].iloc[-1] == "text"


def test_classes_summed_out_exactly_add_up() -> None:
    model = DiscriminativeRBM(4, **FEW).fit(TAGS, KIND)
    expected = scores(model.fitted_, known_views(model, TAGS[:5]))
    for row, why in enumerate(model.explain(TAGS[:5])):
        total = why.base + why.topics.sum(axis=0) + why.directly.sum(axis=0)
        np.testing.assert_allclose(total, expected[row], rtol=1e-5, atol=1e-6)
        assert set(why.features["view"]) == set(model.fitted_.input_names)  # the label's own view is not looked at


def test_the_base_is_the_score_of_the_average_item() -> None:
    """An item whose statistics are the mean ones is not moved by anything."""
    model = HarmoniumRegressor(3, hidden=GaussianUnits(), head=EpsilonInsensitive(C=1.0), **NO_VALIDATION)
    X = RNG.normal(size=(50, 4)) + 3
    model.fit(X, X[:, 0])
    why = model.explain(X.mean(axis=0, keepdims=True))[0]
    np.testing.assert_allclose(why.topics, 0, atol=1e-5)
    np.testing.assert_allclose(why.base, model.predict(X.mean(axis=0, keepdims=True)), rtol=1e-5)


def test_linear_units_give_what_anyone_would_say() -> None:
    """With Gaussian units a feature adds Σ_k V_k W_ik (φ_i - φ̄_i): the effect of replacing it by its mean."""
    X = RNG.normal(size=(50, 4))
    model = HarmoniumRegressor(3, hidden=GaussianUnits(), head=EpsilonInsensitive(C=1.0), **NO_VALIDATION).fit(
        X, X[:, 0]
    )
    why = model.explain(X[:1])[0]
    for feature in range(4):
        replaced = X[:1].copy()
        replaced[0, feature] = X[:, feature].mean()
        difference = model.predict(X[:1]) - model.predict(replaced)
        np.testing.assert_allclose(why.through[feature], difference, rtol=1e-3, atol=1e-5)


# ---- the linear part -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("unit_rows", [True, False])
def test_words_by_rarity_in_unit_rows_add_up(unit_rows: bool) -> None:
    model = HarmoniumClassifier(3, head=Hinge(C=1.0), **NO_VALIDATION).fit(ITEMS, KIND)
    scaler = ViewScaler(np.zeros(12), RNG.random(12) + 0.5, sublinear_tf=True, unit_rows=unit_rows)
    path = LinearPart({"words": scaler}, {"words": RNG.normal(size=(12, 3))}, {"words": RNG.normal(size=3)})
    check_parts(model, path)
    check_parts(model, path, path.scaled(0.5))


def test_nystroem_features_add_up_and_their_gradients_are_right() -> None:
    model = HarmoniumClassifier(3, head=Hinge(C=1.0), **NO_VALIDATION).fit(ITEMS, KIND)
    known = RNG.normal(size=(20, 3))
    near = Nystroem.fitted(known, gamma=0.4)
    weights = RNG.normal(size=(near.basis.shape[1], 3))
    scaler = ViewScaler(np.zeros(3), np.ones(3), sublinear_tf=False, unit_rows=False, nystroem=near)
    check_parts(model, LinearPart({"numbers": scaler}, {"numbers": weights}, {"numbers": RNG.normal(size=3)}))
    row = np.array([0.3, -0.8, 1.1])
    whole = (near.transform(row[None]) - near.transform(np.zeros((1, 3)))) @ weights
    np.testing.assert_allclose(near.contributions(row, weights).sum(axis=0), whole[0], atol=1e-8)
    step = 1e-4 * row  # on a short line integrated gradients are gradients
    slopes = [
        (near.transform(row[None] + d) - near.transform(row[None] - d)) @ weights / 2e-5 for d in 1e-5 * np.eye(3)
    ]
    ends = [near.contributions(row + sign * step, weights).sum(axis=0) for sign in (1, -1)]
    np.testing.assert_allclose((ends[0] - ends[1]) / 2, step @ np.concatenate(slopes), rtol=1e-3)


def check_parts(model: HarmoniumClassifier, *parts: LinearPart) -> None:
    from dataclasses import replace

    fitted = replace(
        model.fitted_, problem=replace(model.fitted_.problem, head=model.fitted_.head.updated(input_parts_=parts))
    )
    rows = ITEMS[:6]
    expected = scores(fitted, rows)
    for row, why in enumerate(explain(fitted, rows)):
        total = why.base + why.topics.sum(axis=0) + why.directly.sum(axis=0)
        np.testing.assert_allclose(total, expected[row], rtol=1e-5, atol=1e-6)


# ---- how it is told --------------------------------------------------------------------------------------------------
def test_what_is_missing_is_marked_and_absent_words_are_one_line() -> None:
    model, y = CASES["hinge"]
    why = model.fit(ITEMS, y).explain(ITEMS[3:4])[0]  # type: ignore[attr-defined]
    table = why.features
    assert table[table["view"] == "numbers"]["feature"].tolist() == ["(missing)"]
    assert not table[table["view"] == "numbers"]["present"].any()
    words = table[table["view"] == "words"]["feature"].tolist()
    assert words.count("(absent)") == 1 and len(words) == 1 + np.count_nonzero(WORDS[3])


@pytest.mark.parametrize("unit", [None, "topic_0"])
def test_what_a_row_has_not_is_listed_last(unit: str | None) -> None:
    model, y = CASES["hinge"]
    model.fit(ITEMS, y)
    for why in model.explain(ITEMS[:8]):  # type: ignore[attr-defined]
        for by in ("feature", "view"):
            table = why.table(by=by, unit=unit)
            present = table["present"].to_numpy()
            assert not present[np.argmin(present) :].any() or present.all()
            for part in (table[present], table[~present]):
                assert part["total"].abs().is_monotonic_decreasing
        assert not set(why.table()["feature"][why.table()["present"]]) & {"(absent)", "(missing)"}
        listed = [entry["present"] for entry in why.to_dict(n=2)["features"]]
        assert listed == sorted(listed, reverse=True) and sum(listed) <= 2


def test_wrong_parts_are_refused() -> None:
    model, y = CASES["hinge"]
    why = model.fit(ITEMS, y).explain(ITEMS[:1])[0]  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="'feature', 'view' or 'topic'"):
        why.table(by="word")
    with pytest.raises(ValueError, match="topic_3, dimensions, inputs; got 'topic_9'"):
        why.table(unit="topic_9")


def test_the_predicted_class_is_explained_unless_another_is_asked_for() -> None:
    model, y = CASES["hinge"]
    model.fit(ITEMS, y)
    why = model.explain(ITEMS[:1])[0]  # type: ignore[attr-defined]
    told = why.to_dict(n=2)
    assert told["output"] == str(model.predict(ITEMS[:1])[0])  # type: ignore[attr-defined]
    topics = sum(topic["total"] for topic in told["topics"]) + told["topics_rest"]
    features = sum(entry["total"] for entry in told["features"]) + told["features_rest"]
    views = sum(entry["total"] for entry in told["views"])
    for listed in (topics + told["dimensions"] + told["inputs"] + told["curves"], features, views):
        np.testing.assert_allclose(told["base"] + listed, told["score"], rtol=1e-9)
    assert why.to_dict("2")["output"] == "2"
    with pytest.raises(ValueError, match="one of 0, 1, 2"):
        why.to_dict("9")


def test_parts_of_a_logarithm_are_factors_of_the_prediction() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    prices = np.exp(1 + X[:, 0] + 0.3 * rng.normal(size=120))
    y = pd.DataFrame({"price": prices, "plain": X[:, 1]})
    model = HarmoniumRegressor(2, head=EpsilonInsensitive(target_scale="log"), **FEW).fit(X, y["price"])
    why = model.explain(X[:1])[0]
    outputs = model.fitted_.head.outputs_  # type: ignore[union-attr]
    assert why.scale_of() == why.to_dict()["scale"] == "log(y)"
    for by in ("feature", "view", "topic"):
        product = np.exp(why.base[0]) * why.table(by=by)["factor"].prod()
        np.testing.assert_allclose(outputs.logs.smearing[0] * product, model.predict(X[:1])[0], rtol=1e-6)
    other = HarmoniumRegressor(2, **NO_VALIDATION).fit(X, y["plain"]).explain(X[:1])[0]
    assert other.scale_of() == "linear" and "factor" not in other.table()
    shifted = replace(why, log_offset=np.array([2.5]))
    assert shifted.scale_of("price") == "log(y + 2.5)"
