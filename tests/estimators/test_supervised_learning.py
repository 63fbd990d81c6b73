"""Classes, numbers and labels are learned from any views, and what was learned can be read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.metrics import f1_score

from harmonium import (
    LBFGS,
    DiscriminativeRBM,
    EpsilonInsensitive,
    Gaussian,
    Harmonium,
    HarmoniumClassifier,
    HarmoniumRegressor,
    Hinge,
    Stochastic,
    Views,
)
from harmonium.heads import LabelView, MultiLabelHinge
from harmonium.inspection import annotate_view
from harmonium.objectives import MeanFieldCD
from harmonium.recipes import TWH
from tests.cases.supervised import (
    FRESH,
    N_ROWS,
    QUICK,
    Y_FRESH,
    X,
    Y,
    assert_same_predictions,
    classifier,
    regressor,
    some_labels,
    two_numbers,
    two_views,
)


# ---- learning --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "model",
    [
        classifier(),
        HarmoniumClassifier(**QUICK),
        classifier(head=Hinge(C=1.0, ridge=0.02, solver="alternate")),
        classifier(
            head=Hinge(C=1.0, ridge=0.02, solver="alternate"), objective=MeanFieldCD(), driver=LBFGS(max_iter=20)
        ),
        TWH(**QUICK),
        DiscriminativeRBM(**QUICK),
        DiscriminativeRBM(**QUICK, generative=0.01),
    ],
    ids=["joint", "auto", "alternate", "batch", "label", "conditional", "hybrid"],
)
def test_classes_are_learned_and_predicted_from_any_views(model: HarmoniumClassifier) -> None:
    model.fit(X, Y)
    both, words, colour = (
        model.score(data, Y_FRESH) for data in (FRESH, {"words": FRESH["words"]}, {"colour": FRESH["colour"]})
    )
    assert both > 0.93
    assert words > 0.7 and colour > 0.7
    assert both > max(words, colour)
    partly = {"words": FRESH["words"].copy(), "colour": FRESH["colour"].copy()}
    partly["colour"][::2] = np.nan
    assert max(words, colour) - 0.05 < model.score(partly, Y_FRESH) < both + 0.01


@pytest.mark.parametrize(
    "model",
    [
        regressor(driver=Stochastic(30, 20, learning_rate=0.05)),
        regressor(head=EpsilonInsensitive(C=1.0, solver="alternate")),
        HarmoniumRegressor(**QUICK),
        TWH(
            6,
            task="regression",
            views={"colour": Gaussian("learn")},
            driver=Stochastic(40, 20, 0.03),
            random_state=0,
            validation_fraction=0,
        ),
    ],
    ids=["joint", "alternate", "auto", "label"],
)
def test_numbers_are_learned_one_or_several(model: HarmoniumRegressor) -> None:
    data, y = two_numbers()
    fresh, expected = two_numbers(300, seed=1)
    assert model.fit(data, y).score(fresh, expected) > 0.8
    assert model.predict(fresh).shape == (300, 2)
    one = clone(model).fit(data, y[:, 0])
    assert one.predict(fresh).shape == (300,) and one.score(fresh, expected[:, 0]) > 0.8
    assert one.score({"colour": fresh["colour"]}, expected[:, 0]) > 0.5


def test_numbers_that_look_like_classes_stay_numbers() -> None:
    data, y = two_numbers()
    for head in (EpsilonInsensitive(C=1.0), LabelView()):
        model = regressor(head=head).fit(data, (y[:, 0] > 10).astype(int))
        assert model.predict(data).min() > -0.6 and model.predict(data).max() < 1.6
        assert model.score(data, (y[:, 0] > 10).astype(int)) > 0.3


@pytest.mark.parametrize("head", [None, MultiLabelHinge(C=1.0), LabelView()], ids=["auto", "hinge", "label"])
def test_several_labels_dense_or_sparse(head: Any) -> None:
    data, labels = some_labels()
    fresh, expected = some_labels(300, seed=1)
    model = classifier(n_components=10, head=head, validation_fraction=0.15 if head is None else 0).fit(data, labels)
    assert_same_predictions(clone(model).fit(data, scipy.sparse.csr_array(labels)), model, fresh)
    assert_same_predictions(clone(model).fit(data, labels.astype(bool)), model, fresh)
    predicted, probability = model.predict(fresh), model.predict_proba(fresh)
    assert predicted.shape == probability.shape == model.decision_function(fresh).shape == (300, 4)
    assert f1_score(expected, predicted, average="micro") > 0.75
    if head is not None:  # nothing was held out to cut by
        np.testing.assert_array_equal(predicted, probability > 0.5)
    np.testing.assert_array_equal(predicted, model.decision_function(fresh) > 0)
    np.testing.assert_array_equal(model.classes_, np.arange(4))
    table = model.annotate(fresh, top=2, names=["tree", "sun", "sea", "bird"])
    assert table.shape == (600, 4) and set(table["label"]) <= {"tree", "sun", "sea", "bird"}
    first = table[table["rank"] == 1]
    np.testing.assert_allclose(first["probability"], probability.max(axis=1))


def test_weight_of_labels_that_are_there_finds_more_of_them() -> None:
    """Without calibration; held-out rows then show what scores are worth, whatever the weight."""
    data, labels = some_labels()
    fresh, expected = some_labels(300, seed=1)
    plain, calibrated = (
        [
            classifier(head=MultiLabelHinge(C=0.3, positive_weight=w), validation_fraction=fraction).fit(data, labels)
            for w in (0.2, 5.0)
        ]
        for fraction in (0, 0.15)
    )
    assert plain[0].predict(data).sum() < 0.9 * plain[1].predict(data).sum()
    for model in calibrated:
        assert model.predict_proba(fresh).mean() == pytest.approx(expected.mean(), abs=0.15)


def test_several_columns_of_classes() -> None:
    data, y = two_views()
    other = np.where(data["colour"][:, 0] > 1, "warm", "cold")
    table = np.stack([y.astype(object), other.astype(object)], axis=1)
    model = classifier(n_components=10).fit(data, table)
    assert [list(classes) for classes in model.classes_] == [[0, 1, 2], ["cold", "warm"]]
    predicted = model.predict(data)
    assert predicted.shape == (N_ROWS, 2) and set(predicted[:, 0]) == {0, 1, 2}
    assert (predicted == table).mean(axis=0).min() > 0.85
    assert [part.shape for part in model.predict_proba(data)] == [(N_ROWS, 3), (N_ROWS, 2)]
    assert [part.shape for part in model.decision_function(data)] == [(N_ROWS, 3), (N_ROWS,)]
    numbers = classifier().fit(data, np.stack([y, y % 2 + 5], axis=1))
    assert numbers.predict(data).dtype.kind == "i"
    # one column unknown, the other not
    table[::3, 0] = None
    table[1::3, 1] = None
    partly = classifier().fit(data, table)
    assert [list(classes) for classes in partly.classes_] == [[0, 1, 2], ["cold", "warm"]]
    assert (partly.predict(data)[:, 0] == y).mean() > 0.85
    chosen = classifier(validation_fraction=0.15).fit(data, table)
    assert (chosen.predict(data)[:, 0] == y).mean() > 0.85
    with pytest.raises(ValueError, match="annotate is for one column"):
        model.annotate(data)


# ---- views -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("head", [Hinge(C=1.0), Hinge(C=1.0, ridge=0.02, solver="alternate"), LabelView()], ids=str)
def test_views_missing_for_some_rows(head: Any) -> None:
    partly = {name: view.copy() for name, view in X.items()}
    partly["words"][::3] = np.nan
    partly["colour"][1::3] = np.nan
    partly["colour"][2::6, 0] = np.nan
    model = classifier(n_components=10, head=head).fit(partly, Y)
    assert model.score(partly, Y) > 0.7 and model.score(FRESH, Y_FRESH) > 0.9
    sparse = Views(
        {"words": scipy.sparse.csr_array(X["words"]), "colour": X["colour"]}, {"words": np.arange(N_ROWS) > 99}
    )
    assert clone(model).fit(sparse, Y).score(FRESH, Y_FRESH) > 0.9


def test_a_view_may_be_called_label_unless_the_label_is_one() -> None:
    data = {"words": X["words"], "label": X["colour"]}
    fresh = {"words": FRESH["words"], "label": FRESH["colour"]}
    model = classifier(validation_fraction=0.15).fit(data, Y)
    reference = classifier(validation_fraction=0.15).fit(X, Y)
    assert model.fitted_.validation == reference.fitted_.validation
    np.testing.assert_array_equal(model.predict_proba(fresh), reference.predict_proba(FRESH))
    alone = classifier(validation_fraction=0.15).fit({"label": X["colour"]}, Y)
    assert alone.score({"label": FRESH["colour"]}, Y_FRESH) > 0.75


def test_order_of_rows_and_slices_do_not_change_predictions() -> None:
    for model in (classifier(), classifier(head=LabelView()), classifier(head=LabelView("exact"))):
        model.fit(X, Y)
        order = np.random.default_rng(0).permutation(400)
        whole = model.predict_proba(Views(FRESH))
        np.testing.assert_allclose(model.predict_proba(Views(FRESH)[order]), whole[order], rtol=1e-6)
        np.testing.assert_allclose(model.predict_proba(Views(FRESH)[3:9]), whole[3:9], rtol=1e-6)


# ---- what was learned ------------------------------------------------------------------------------------------------
def test_topics_by_effect_weigh_features_by_their_deviation() -> None:
    rng = np.random.default_rng(0)
    tags = (rng.random((200, 4)) < [0.02, 0.1, 0.5, 0.9]).astype(float)
    counts = rng.poisson([0.2, 1.0, 3.0], size=(200, 3))
    model = Harmonium(2, driver=Stochastic(max_iter=2), random_state=0).fit({"tags": tags, "counts": counts})
    share, rate = tags.mean(axis=0), counts.mean(axis=0)
    for view, deviation in (("tags", np.sqrt(share * (1 - share))), ("counts", np.sqrt(rate))):
        effects = model.topics(view, n=None, by="weight").to_numpy() * deviation[:, None]
        expected = np.argsort(-effects, axis=0).T
        names = np.asarray(model.fitted_.feature_names[view])
        np.testing.assert_array_equal(model.topics(view, n=4, by="effect").to_numpy(), names[expected])
    with pytest.raises(ValueError, match="by must be"):
        model.topics("tags", by="size")


def test_annotate_view_ranks_what_predict_view_expects() -> None:
    rng = np.random.default_rng(0)
    tags, colour = (rng.random((60, 5)) < 0.4).astype(float), rng.normal(size=(60, 3))
    model = Harmonium(3, driver=Stochastic(max_iter=3), random_state=0).fit({"tags": tags, "colour": colour})
    table = annotate_view(model, "tags", {"colour": colour}, top=2)
    expected = model.predict_view("tags", {"colour": colour})
    assert len(table) == 120
    np.testing.assert_allclose(table.query("rank == 1")["probability"], expected.max(axis=1))
    with pytest.raises(ValueError, match="top"):
        annotate_view(model, "tags", {"colour": colour}, top=0)
