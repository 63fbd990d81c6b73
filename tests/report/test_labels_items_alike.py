"""What topics are called, which topics items have, and which topics are alike."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from harmonium import Harmonium, Stochastic
from harmonium.core.parameters import HIDDEN_BIAS, copy_parameters
from harmonium.queries.topics.labels import distinct_labels
from harmonium.report import document_topics, latent_means, near_duplicates, topic_labels, topic_tree, usage_table
from harmonium.training import FittedModel
from tests.cases.report import fit_case, fit_gaussian, fit_selected

WORDS = ["moon", "nasa", "car", "road", "god", "bible"]


def with_weights(weights, bias, X):
    """A model of given weights, that is fitted to nothing."""
    weights, bias = np.asarray(weights, dtype=np.float32), np.asarray(bias, dtype=np.float32)
    model = Harmonium(len(bias), driver=Stochastic(max_iter=1), random_state=0).fit(X)
    parameters = copy_parameters(model.fitted_.parameters) | {"words.weights": weights, HIDDEN_BIAS: bias}
    fitted: FittedModel = model.fitted_
    fitted.training.parameters.update(parameters)
    model.fitted_ = replace(fitted, relevance={})  # what the fit says of its own weights
    return model


@pytest.fixture(scope="module")
def case():
    return fit_case()


@pytest.fixture(scope="module")
def themes():
    """Two pairs of topics, a topic of its own, and one that is the same for all items."""
    rng = np.random.default_rng(0)
    about = rng.random((200, 3)) < 0.3
    X = (rng.random((200, 6)) < np.where(np.repeat(about, 2, axis=1), 0.9, 0.05)).astype(float)
    weights = np.zeros((6, 6))
    weights[[0, 1], 0], weights[[0, 1], 3] = (4, 3), (3, 4)
    weights[[2, 3], 1], weights[[2, 3], 4] = (4, 3), (4, 3)
    weights[[4, 5], 2] = 4
    frame = pd.DataFrame(X, columns=WORDS, index=[f"d{row}" for row in range(200)])
    return with_weights(weights, [-4, -4, -4, -4, -4, -3], {"words": frame}), {"words": frame}


def test_labels_are_the_first_features_and_differ(case):
    labels = topic_labels(case.model, "words", n=2)
    assert labels.is_unique and labels.index.name == "topic"
    for topic, words in case.model.topics("words", 2).iterrows():
        assert labels[topic].startswith(", ".join(words))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([["a", "b", "c"], ["d", "e", "f"]], ["a, b", "d, e"]),
        ([["a", "b", "c", "d"], ["b", "a", "c", "e"]], ["a, b, c, d", "b, a, c, e"]),  # the same words, turned round
        ([["a", "b", "c"]] * 3, ["a, b", "a, b (2)", "a, b (3)"]),
        ([["a"], []], ["a", "–"]),
        ([["printer", "printers", "laser"], ["word_1", "word_10"]], ["printer, laser", "word_1, word_10"]),
        ([], []),
    ],
)
def test_labels_of_topics_that_share_features(names, expected):
    assert distinct_labels(names, 2) == expected


def test_strongest_topics_of_items(case):
    table = document_topics(case.model, case.X, n=2, view="words")
    means, labels = latent_means(case.model, case.X)[:, :3], topic_labels(case.model, "words")
    assert table.shape == (len(case.y), 6)
    for row in range(len(means)):
        order = np.argsort(-means[row])[:2]
        assert table["topic"].iloc[row].tolist() == order.tolist()
        np.testing.assert_allclose(table["mean"].iloc[row], means[row][order], rtol=1e-6)
        assert table["label"].iloc[row].tolist() == labels[order].tolist()
    assert document_topics(case.model, case.X, n=9, view="words")["topic"].shape[1] == 3  # there are no more


def test_weak_topics_are_left_out(themes):
    model, X = themes
    table, everything = document_topics(model, X, least=0.5), document_topics(model, X)
    strong = everything["mean"] >= 0.5
    assert 0 < strong.to_numpy().sum() < strong.size
    assert table.index.tolist() == X["words"].index.tolist()
    for name in ("topic", "mean", "label"):
        pd.testing.assert_frame_equal(table[name].notna(), strong)
        pd.testing.assert_frame_equal(table[name], everything[name].where(strong))


def test_pairs_that_say_the_same(themes):
    model, X = themes
    found = near_duplicates(model, X)
    assert found[["topic", "other"]].to_numpy().tolist() == [[1, 4], [0, 3]]
    means = latent_means(model, X).astype(np.float64)
    expected = [np.corrcoef(means[:, pair], rowvar=False)[0, 1] for pair in ([1, 4], [0, 3])]
    np.testing.assert_allclose(found["correlation"], expected, rtol=1e-6)
    assert found["label"].tolist() == topic_labels(model)[[1, 0]].tolist()
    assert found["common"].tolist() == [1.0, 1.0]  # there are no ten features
    assert near_duplicates(model, X, 0.999)[["topic", "other"]].to_numpy().tolist() == [[1, 4]]


def test_pairs_of_opposite_signs_are_found():
    matrix = np.random.default_rng(0).normal(size=(50, 4))
    model = with_weights([[2, -2], [0, 0], [0, 0], [0, 0]], [0, 0], {"words": matrix})
    assert near_duplicates(model, {"words": matrix}, 0.99)["correlation"].tolist() == pytest.approx([-1])


def test_topics_are_grouped_by_the_items_that_have_them(themes):
    model, X = themes
    tree = topic_tree(model, X)
    groups = {frozenset(rows.index.get_level_values("topic")) for _, rows in tree.groupby(level="group")}
    assert groups == {frozenset({0, 3}), frozenset({1, 4}), frozenset({2}), frozenset({5})}
    assert tree.index[-1] == ("(idle)", 5)
    assert tree["label"].droplevel("group").sort_index().tolist() == topic_labels(model).tolist()
    usage = usage_table(model, X)["usage"]
    np.testing.assert_allclose(tree["usage"].droplevel("group"), usage[tree.index.get_level_values("topic")])
    names = tree.index.get_level_values("group").unique()
    assert any(set(name.split(", ")[:2]) == {"moon", "nasa"} for name in names)


@pytest.mark.parametrize("n_groups", [1, 2, 3, 4, 5])
def test_groups_that_are_asked_for_are_contiguous(themes, n_groups):
    tree = topic_tree(*themes, n_groups)
    names = tree.index.get_level_values("group")[:-1]
    assert names.nunique() == n_groups
    assert (names != np.roll(names, 1)).sum() == (n_groups if n_groups > 1 else 0)


def test_topics_that_are_all_as_far_apart(themes):
    _, X = themes
    model = with_weights(np.zeros((6, 4)), np.zeros(4), X)
    assert topic_tree(model, X).index.get_level_values("group").tolist() == ["(idle)"] * 4
    assert near_duplicates(model, X).empty
    square = {"words": np.eye(6)}
    tree = topic_tree(with_weights(np.eye(6)[:, :4] * 5, np.full(4, -2), square), square)
    assert len(tree) == 4 and tree.index.get_level_values("topic").is_unique


@pytest.mark.parametrize("n_units", [1, 2, 3])
def test_trees_of_few_topics(n_units):
    X = np.random.default_rng(0).normal(size=(40, 4))
    tree = topic_tree(fit_gaussian(X, n_units), [X])
    assert sorted(tree.index.get_level_values("topic")) == list(range(n_units))


def test_units_that_items_may_lack():
    model, X, _ = fit_selected()
    assert len(topic_tree(model, X)) == model.n_components_
    assert document_topics(model, X, n=2)["label"].shape == (400, 2)


def test_bad_arguments_are_refused(case, themes):
    model, X = themes
    with pytest.raises(ValueError, match="n_groups must be at most 5"):
        topic_tree(model, X, 6)
    with pytest.raises(ValueError, match="n_groups"):
        topic_tree(model, X, 0)
    with pytest.raises(ValueError, match="threshold"):
        near_duplicates(model, X, 0)
    with pytest.raises(ValueError, match="least"):
        document_topics(model, X, least=np.nan)
    with pytest.raises(ValueError, match="at least two items"):
        topic_tree(model, {"words": X["words"][:1]})
    with pytest.raises(ValueError, match="view must be one of"):
        topic_labels(case.model, "sound")
    with pytest.raises(TypeError, match="model must be a fitted Harmonium"):
        topic_labels("model")
    with pytest.raises(ValueError, match=" n "):
        topic_labels(model, n=0)
