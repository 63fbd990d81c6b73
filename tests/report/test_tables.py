"""Tables of topics, classes and features against direct NumPy computations."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_validate

from harmonium import Harmonium, HarmoniumClassifier, Hinge, Stochastic, Views
from harmonium.metrics import topic_distribution
from harmonium.report import class_profiles, class_table, feature_table, latent_means, sensitivity_table, topic_table
from tests.cases.report import N_ROWS, direct_means, fit_case, fit_gaussian, make_classifier


@pytest.fixture(scope="module")
def case():
    return fit_case()


@pytest.mark.parametrize("output", ["mean", "natural", "coordinates"])
def test_latent_means_do_not_depend_on_output(case, output):
    model = make_classifier(output=output).fit(case.X, case.y)
    np.testing.assert_allclose(latent_means(model, case.X), direct_means(model, case.X), rtol=1e-4)


def test_topic_table_by_hand(case):
    names = [f"item{row}" for row in range(N_ROWS)]
    table = topic_table(case.model, case.X, case.y, n_features=4, n_items=2, item_names=names, by="effect")
    assert table.columns.tolist() == ["words", "colour", "share", "items", "classes", "speaks for"]
    assert table.index.name == "topic"
    means = latent_means(case.model, case.X)[:, :3].astype(float)
    shifted = means - means.min(axis=1, keepdims=True)
    distribution = shifted / shifted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(table["share"], distribution.mean(axis=0))
    by_class = np.array([distribution[case.y == name].mean(axis=0) for name in ("cars", "med", "space")])
    by_class /= by_class.sum(axis=0)
    for topic in range(3):
        share = np.asarray(case.X["words"]).mean(axis=0)
        effects = case.model.fitted_.parameters["words.weights"][:, topic] * np.sqrt(share * (1 - share))
        assert table["words"][topic] == ", ".join(f"words_{i}" for i in np.argsort(-effects)[:4])
        # of items that have a hundredth more or less of a topic, those come first that have little of others
        typical = sorted(range(N_ROWS), key=lambda i: (-np.round(means[i, topic], 2), means[i].sum()))
        assert table["items"][topic] == ", ".join(names[i] for i in typical[:2])
        order = np.argsort(-by_class[:, topic])
        expected = [f"{('cars', 'med', 'space')[i]} {by_class[i, topic]:.2f}" for i in order]
        assert table["classes"][topic] == ", ".join(expected)


def test_topic_table_says_less_without_data(case):
    assert topic_table(case.model).columns.tolist() == ["words", "colour", "speaks for"]
    assert topic_table(case.model, case.X).columns.tolist() == ["words", "colour", "share", "items", "speaks for"]
    first = topic_table(case.model, case.X, n_items=1)["items"].astype(int)
    means = latent_means(case.model, case.X)[:, :3]
    np.testing.assert_allclose(means[first, range(3)], means.max(axis=0), atol=0.01)


def test_topic_table_shows_negative_weights_of_unbounded_units():
    matrix = np.random.default_rng(0).normal(size=(30, 5))
    model = fit_gaussian(matrix)
    table = topic_table(model, n_features=2, by="weight")
    assert table.columns.tolist() == ["view0", "view0 (negative)"]
    weights = model.fitted_.parameters["view0.weights"]
    for topic in range(2):
        smallest = np.argsort(weights[:, topic])[:2]
        assert table["view0 (negative)"][topic] == ", ".join(f"view0_{i}" for i in smallest)


def test_a_view_may_have_the_name_of_a_column():
    X = {"items": np.tile(np.eye(3), (4, 1))}
    table = topic_table(Harmonium(2, driver=Stochastic(max_iter=2)).fit(X), X)
    assert table.columns.tolist() == ["items", "share", "items"]


def test_topics_that_no_class_uses_have_no_classes():
    profiles = class_profiles(pd.DataFrame({0: [0.5, 1.0], 1: [0.5, 0.0], 2: [0.0, 0.0]}, index=["a", "b"]))
    np.testing.assert_allclose(profiles, [[1 / 3, 1, 0], [2 / 3, 0, 0]])


def test_class_table(case):
    y = case.y.astype(object)
    y[:5] = None
    table = class_table(case.model, case.X, y)
    distribution = topic_distribution(latent_means(case.model, case.X)[:, :3])
    for name in ("cars", "med", "space"):
        np.testing.assert_allclose(table.loc[name], distribution[y == name].mean(axis=0))


def test_feature_table(case):
    table = feature_table(case.model, ["words_7", "words_0"], view="words")
    np.testing.assert_array_equal(table, case.model.fitted_.parameters["words.weights"][[7, 0], :3])
    assert table.index.tolist() == ["words_7", "words_0"]
    assert feature_table(case.model, "colour_1", "colour").shape == (1, 3)


def test_sensitivity_table(case):
    table = sensitivity_table(make_classifier(), case.X, case.y, "head__C", [0.1, 10.0], cv=2)
    assert table.columns.tolist() == ["value", "train_mean", "train_std", "test_mean", "test_std"]
    for row, value in enumerate([0.1, 10.0]):
        scores = cross_validate(
            make_classifier(head=Hinge(C=value)), Views(case.X), case.y, cv=2, return_train_score=True
        )
        expected = [f(scores[f"{part}_score"]) for part in ("train", "test") for f in (np.mean, np.std)]
        np.testing.assert_allclose(table.iloc[row, 1:].astype(float), expected)


def test_classes_that_a_topic_speaks_for_have_the_sign_of_the_coefficients():
    y = np.repeat(["a", "b", "c"], 20)
    words = np.kron(np.eye(3), np.ones((20, 4)))
    model = HarmoniumClassifier(3, head=Hinge(C=1.0, linear_part=False), validation_fraction=0, random_state=0).fit(
        words, y
    )
    table = topic_table(model)
    assert table.columns.tolist() == ["view0", "speaks for"]
    relative = model.coef_ - model.coef_.mean(axis=0)
    for topic in range(3):
        best = np.argsort(-relative[:, topic])
        expected = [f"{'abc'[k]} {relative[k, topic]:+.2f}" for k in best if relative[k, topic] > 0]
        assert table["speaks for"][topic] == ", ".join(expected)
