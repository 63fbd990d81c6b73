"""Tables against direct NumPy computations; displays draw their data in figures, with matplotlib imported late."""

import subprocess
import sys
from dataclasses import dataclass

import matplotlib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from matplotlib.figure import Figure
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline

import harmonium.report.drawing
from harmonium import (
    IBP,
    Bernoulli,
    Categorical,
    Gaussian,
    GaussianUnits,
    Harmonium,
    HarmoniumClassifier,
    Hinge,
    LabelView,
    Poisson,
    ReplicatedSoftmax,
    Stochastic,
    Views,
)
from harmonium.batch import ViewBatch
from harmonium.metrics import average_divergence, class_topic_distribution, retrieval_report, topic_distribution
from harmonium.params import HIDDEN_BIAS
from harmonium.parts import registered
from harmonium.report import (
    ClassTopicsDisplay,
    ExplainedDisplay,
    FeatureWeightsDisplay,
    MapDisplay,
    RetrievalDisplay,
    SensitivityDisplay,
    TopicsDisplay,
    UsageDisplay,
    class_profiles,
    class_table,
    explained_table,
    feature_examples,
    feature_table,
    latent_means,
    sensitivity_table,
    topic_table,
    usage_table,
)
from harmonium.report.explained import saturated_loss
from harmonium.training.monitor import loss_of_view, reconstruct, view_losses
from tests.conftest import SIZE, make_family

matplotlib.use("Agg")
N_ROWS = 60


@dataclass
class Case:
    model: HarmoniumClassifier
    X: dict[str, np.ndarray]
    y: np.ndarray


def make_classifier(**settings):
    defaults = {"head": Hinge(C=1.0), "driver": Stochastic(max_iter=3), "validation_fraction": 0, "random_state": 0}
    return HarmoniumClassifier(n_components=3, **(defaults | settings))


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    numbers = np.arange(N_ROWS) % 3
    words = (rng.random((N_ROWS, 12)) < np.where(np.arange(12) // 4 == numbers[:, None], 0.6, 0.1)).astype(float)
    X = {"words": words, "colour": np.eye(3)[numbers] + rng.normal(size=(N_ROWS, 3))}
    y = np.array(["cars", "med", "space"])[numbers]
    return Case(make_classifier().fit(X, y), X, y)


def fit_gaussian(matrix, n_components=2, variance=0.3, **settings):
    model = Harmonium(
        n_components,
        views=[Gaussian(variance)],
        hidden=GaussianUnits(),
        driver=Stochastic(max_iter=40, learning_rate=0.05),
        **settings,
    )
    return model.set_params(random_state=0).fit([matrix])


def direct_means(model, X):
    parameters = model.parameters_
    colour = model.families_["colour"].encode(X["colour"])
    return expit(
        parameters[HIDDEN_BIAS] + X["words"] @ parameters["words.weights"] + colour @ parameters["colour.weights"]
    )


# ---- tables ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("output", ["mean", "natural", "coordinates"])
def test_latent_means_do_not_depend_on_output(case, output):
    model = make_classifier(output=output).fit(case.X, case.y)
    np.testing.assert_allclose(latent_means(model, case.X), direct_means(model, case.X), rtol=1e-4)


def test_topic_table_by_hand(case):
    names = [f"item{row}" for row in range(N_ROWS)]
    table = topic_table(case.model, case.X, case.y, n_features=4, n_items=2, item_names=names)
    assert table.columns.tolist() == ["words", "colour", "share", "items", "classes"]
    assert table.index.name == "topic"
    means = latent_means(case.model, case.X).astype(float)
    shifted = means - means.min(axis=1, keepdims=True)
    distribution = shifted / shifted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(table["share"], distribution.mean(axis=0))
    by_class = np.array([distribution[case.y == name].mean(axis=0) for name in ("cars", "med", "space")])
    by_class /= by_class.sum(axis=0)
    for topic in range(3):
        share = np.asarray(case.X["words"]).mean(axis=0)
        effects = case.model.parameters_["words.weights"][:, topic] * np.sqrt(share * (1 - share))
        assert table["words"][topic] == ", ".join(f"words_{i}" for i in np.argsort(-effects)[:4])
        assert table["items"][topic] == ", ".join(names[i] for i in np.argsort(-means[:, topic])[:2])
        order = np.argsort(-by_class[:, topic])
        expected = [f"{('cars', 'med', 'space')[i]} {by_class[i, topic]:.2f}" for i in order]
        assert table["classes"][topic] == ", ".join(expected)


def test_topic_table_says_less_without_data(case):
    assert topic_table(case.model).columns.tolist() == ["words", "colour"]
    assert topic_table(case.model, case.X).columns.tolist() == ["words", "colour", "share", "items"]
    first = topic_table(case.model, case.X, n_items=1)["items"].astype(int)
    assert first.tolist() == latent_means(case.model, case.X).argmax(axis=0).tolist()


def test_topic_table_shows_negative_weights_of_unbounded_units():
    matrix = np.random.default_rng(0).normal(size=(30, 5))
    model = fit_gaussian(matrix)
    table = topic_table(model, n_features=2)
    assert table.columns.tolist() == ["view0", "view0 (negative)"]
    weights = model.parameters_["view0.weights"]
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
    distribution = topic_distribution(latent_means(case.model, case.X))
    for name in ("cars", "med", "space"):
        np.testing.assert_allclose(table.loc[name], distribution[y == name].mean(axis=0))


def test_feature_table(case):
    table = feature_table(case.model, ["words_7", "words_0"], view="words")
    np.testing.assert_array_equal(table, case.model.parameters_["words.weights"][[7, 0]])
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


# ---- use of units ------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def selected():
    """A model that selects real units, which items have or lack, and its data."""
    rng = np.random.default_rng(0)
    has = rng.random((400, 3)) < 0.4
    X = (has * rng.normal(size=(400, 3)) * 2) @ rng.normal(size=(3, 12)) + rng.normal(size=(400, 12)) * 0.5
    hidden = IBP(truncation=6, kind="real")
    driver = Stochastic(batch_size=100, max_iter=30, learning_rate=0.02)
    return Harmonium(hidden=hidden, driver=driver, random_state=0).fit([X]), [X], has[:, 0].astype(int)


def direct_presence(model, X):
    """E[z] and E[z h] of real units, by the formula."""
    parameters = model.parameters_
    natural = model.families_["view0"].encode(X[0]) @ parameters["view0.weights"] + parameters[HIDDEN_BIAS]
    presence = expit(model.energy_.layer(parameters).log_odds_ + natural**2 / 2)
    return presence, presence * natural


def test_usage_table_of_units_that_items_may_lack(selected):
    model, X, y = selected
    presence, mean = direct_presence(model, X)
    order = np.argsort(-presence.mean(axis=0))
    table = usage_table(model, X, y)
    assert table.index.tolist() == order.tolist() and table.index.name == "topic"
    assert table.columns.tolist() == ["usage", "mean", 0, 1, "spread", "closest class"]
    by_class = np.array([mean[y == label].mean(axis=0) for label in (0, 1)])
    expected = np.stack([presence.mean(axis=0), mean.mean(axis=0), *by_class, by_class.std(axis=0)], axis=1)
    np.testing.assert_allclose(table.iloc[:, :-1].astype(float), expected[order], rtol=1e-3, atol=1e-5)
    assert table["closest class"].tolist() == by_class.argmax(axis=0)[order].tolist()
    np.testing.assert_allclose(table["usage"], model.unit_usage_[order], rtol=1e-4)
    assert (table["mean"].abs() < table["usage"]).any()


def test_usage_of_units_that_every_item_has_is_their_mean(case):
    table = usage_table(case.model, case.X)
    assert table.columns.tolist() == ["usage", "mean"]
    means = direct_means(case.model, case.X).mean(axis=0)
    np.testing.assert_allclose(table["usage"], np.sort(means)[::-1], rtol=1e-4)
    np.testing.assert_array_equal(table["usage"], table["mean"])


@pytest.mark.parametrize("nothing", [None, np.nan, -1])
def test_items_without_a_label_count_only_where_classes_do_not(case, nothing):
    names = np.array(["cars", "med", "space"])
    y = np.searchsorted(names, case.y) if nothing is not None else case.y
    y = y.astype(float if nothing is np.nan else object)
    y[:20] = nothing
    table = usage_table(case.model, case.X, y)
    pd.testing.assert_frame_equal(table[["usage", "mean"]], usage_table(case.model, case.X))
    means = direct_means(case.model, case.X)[20:]
    for number, name in enumerate(names):
        expected = means[case.y[20:] == name].mean(axis=0)[table.index]
        np.testing.assert_allclose(table[number if nothing is not None else name], expected, rtol=1e-4)


def test_classes_may_have_the_names_of_columns(case):
    y = np.where(case.y == "cars", "mean", "spread")
    table = usage_table(case.model, case.X, y)
    assert table.columns.tolist() == ["usage", "mean", "mean", "spread", "spread", "closest class"]
    display = UsageDisplay.from_estimator(case.model, case.X, y, by_class=True)
    heights = [bar.get_height() for bar in display.ax_[0].patches]
    np.testing.assert_allclose(heights, table.iloc[:, 1])
    np.testing.assert_allclose(display.ax_[1].images[0].get_array(), table.iloc[:, 2:4].T)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_feature_examples_by_hand(case, form, monkeypatch):
    words = case.X["words"] * 3  # how often does not matter
    model = Harmonium(3, views=[Poisson()], driver=Stochastic(max_iter=20), random_state=0).fit([words])
    monkeypatch.setattr("harmonium.report.usage._BLOCK_ROWS", 7)
    monkeypatch.delattr("harmonium.kernels.sparse.SparseRows.dense")  # never needed
    table = feature_examples(model, [form(words)], y=case.y, n_features=2, n_items=7)
    means = latent_means(model, [words]).astype(float)
    assert table.columns.tolist() == ["features", "usage", "class", "class share"]
    assert table.index.tolist() == np.argsort(-means.mean(axis=0)).tolist()
    np.testing.assert_allclose(table["usage"], np.sort(means.mean(axis=0))[::-1], rtol=1e-4)
    for topic in range(3):
        best = np.argsort(-means[:, topic])[:7]
        more = (words[best] > 0).mean(axis=0) - (words > 0).mean(axis=0)
        largest = np.argsort(-more, kind="stable")[:2]
        assert table["features"][topic] == ", ".join(f"view0_{i}" for i in largest if more[i] > 0)
        counts = pd.Series(case.y[best]).value_counts()
        assert counts[table["class"][topic]] == counts.max()
        assert table["class share"][topic] == pytest.approx(counts.max() / 7)


def test_feature_examples_leave_out_what_is_frequent_everywhere_or_rare():
    rng = np.random.default_rng(0)
    group = np.arange(80) % 2
    words = (rng.random((80, 40)) < np.where(np.arange(40) % 2 == group[:, None], 0.6, 0.05)).astype(np.float32)
    words[:, 4] = 1  # in every item
    model = Harmonium(1, views={"words": Bernoulli()}, driver=Stochastic(max_iter=60), random_state=0)
    model.fit({"words": words})
    best = np.argsort(-latent_means(model, {"words": words})[:, 0])[:10]
    words[:, 5] = np.arange(80) == best[0]  # in one item
    shown = feature_examples(model, {"words": words}, "words", n_features=5, n_items=10)["features"][0].split(", ")
    assert len(shown) == 5
    assert "words_4" not in shown and "words_5" not in shown
    # all features that stand out are those of one group, whichever the unit has found
    assert len({int(name.removeprefix("words_")) % 2 for name in shown}) == 1
    everything = feature_examples(model, {"words": words}, n_items=80)
    assert everything["features"].tolist() == [""]


def test_feature_examples_of_real_values_are_in_standard_deviations(selected):
    model, X, _ = selected
    X = [X[0].copy()]
    X[0][5, 2] = np.nan
    table = feature_examples(model, X, n_features=12, n_items=9)
    means = latent_means(model, X)
    for topic in range(model.n_components_):
        best = np.argsort(-means[:, topic])[:9]
        score = (np.nanmean(X[0][best], axis=0) - np.nanmean(X[0], axis=0)) / np.nanstd(X[0], axis=0)
        assert table["features"][topic].split(", ") == [f"view0_{i}" for i in np.argsort(-score) if score[i] > 0]


def test_feature_examples_look_only_at_items_that_have_the_view(case):
    present = np.arange(N_ROWS) % 2 == 0
    code = np.searchsorted(["cars", "med", "space"], case.y)[:, None]
    X = Views({"colour": case.X["colour"], "code": np.where(present[:, None], code, np.nan)})
    model = Harmonium(2, views={"colour": Gaussian(), "code": Categorical()}, driver=Stochastic(max_iter=10))
    model.set_params(random_state=0).fit(X)
    table = feature_examples(model, X, "code", n_features=1, n_items=6)
    means = latent_means(model, X)
    rows = np.flatnonzero(present)
    for topic in range(2):
        best = rows[np.argsort(-means[rows, topic])[:6]]
        one_hot = np.eye(3)[code[:, 0]]
        more = one_hot[best].mean(axis=0) - one_hot[rows].mean(axis=0)
        assert table["features"][topic] == model.feature_names_["code"][int(np.argmax(more))]
    forms = [case.X["words"], scipy.sparse.csr_array(case.X["words"])]
    both = [Views({"words": words, "colour": case.X["colour"]}, present={"words": present}) for words in forms]
    model = Harmonium(2, driver=Stochastic(max_iter=10), random_state=0).fit(both[0])
    examples = [feature_examples(model, views, "words", n_items=6)["features"].tolist() for views in both]
    assert examples[0] == examples[1]


def test_items_of_feature_examples_without_labels_have_no_class(case):
    best = latent_means(case.model, case.X)[:, 0].argmax()
    y = case.y.astype(object)
    y[best] = None
    table = feature_examples(case.model, case.X, "words", y, n_items=1)
    assert table["class"][0] is None and np.isnan(table["class share"][0])


# ---- explained deviance ------------------------------------------------------------------------------------------
def test_losses_by_row_are_those_that_training_watches(case):
    problem, parameters = case.model._problem, case.model.parameters_
    batch = Views(case.X).batch(np.arange(N_ROWS), case.model.families_)
    hidden_mean = problem.energy.hidden.mean(problem.energy.hidden_natural(parameters, batch))
    losses = view_losses(problem, parameters, batch, hidden_mean)
    watched = reconstruct(problem, parameters, batch).reconstruction
    assert {name: loss.shape for name, loss in losses.items()} == {"words": (N_ROWS,), "colour": (N_ROWS,)}
    assert {name: float(loss.mean()) for name, loss in losses.items()} == watched


def test_explained_share_of_a_gaussian_view_is_r_squared():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 6)) + rng.normal(size=(80, 6)) * 0.3
    matrix[rng.random(matrix.shape) < 0.1] = np.nan
    model = fit_gaussian(matrix, variance="learn")
    latent = latent_means(model, [matrix]).astype(float)
    weights, bias = model.parameters_["view0.weights"], model.parameters_["view0.bias"]
    variance = np.exp(model.parameters_["view0.log_variance"])
    values = model.families_["view0"].encode(matrix)

    def squares(hidden):
        return np.nansum((values - variance * (bias + hidden @ weights.T)) ** 2 / variance)

    average = np.tile(latent.mean(axis=0), (80, 1))
    alone = [np.where(np.arange(2) == topic, latent, average) for topic in range(2)]
    expected = [1 - squares(hidden) / squares(average) for hidden in (*alone, latent)]
    table = explained_table(model, [matrix])
    assert table.columns.tolist() == [0, 1, "all"]
    assert table.index.tolist() == ["view0"]
    np.testing.assert_allclose(table.loc["view0"].astype(float), expected, rtol=1e-4, atol=1e-6)
    assert table.loc["view0", "all"] > 0.5


def test_topics_of_different_features_add_up():
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(200, 2))
    matrix = np.repeat(factors, 3, axis=1) + rng.normal(size=(200, 6)) * 0.3
    model = fit_gaussian(matrix)
    model.parameters_["view0.weights"][:] = np.repeat(np.eye(2), 3, axis=0)
    shares = explained_table(model, [matrix]).loc["view0"]
    assert shares[0] + shares[1] == pytest.approx(shares["all"])
    # all of what a topic explains lies in its own half of the features
    assert 0.1 < shares[0] < 0.5


def test_explained_share_of_a_binary_view(case):
    average = np.tile(latent_means(case.model, case.X).mean(axis=0, dtype=float), (N_ROWS, 1))

    def loss(hidden):
        natural = case.model.parameters_["words.bias"] + hidden @ case.model.parameters_["words.weights"].T
        return -np.log(np.where(case.X["words"] == 1, expit(natural), expit(-natural))).sum()

    expected = 1 - loss(latent_means(case.model, case.X)) / loss(average)
    assert explained_table(case.model, case.X).loc["words", "all"] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("family", [Bernoulli(), Poisson(), ReplicatedSoftmax()])
def test_explained_shares_of_sparse_and_dense_views_are_the_same(family, monkeypatch):
    counts = (np.random.default_rng(0).random((40, 8)) < 0.3).astype(np.float32)
    counts[0, 0] = 1
    model = Harmonium(3, views=[family], driver=Stochastic(max_iter=5), random_state=0).fit([counts])
    dense = explained_table(model, [counts])
    np.testing.assert_allclose(explained_table(model, [scipy.sparse.csr_array(counts)]), dense, rtol=1e-4, atol=1e-6)
    monkeypatch.setattr("harmonium.report.explained._BLOCK_CELLS", 56)  # seven rows a block
    np.testing.assert_allclose(explained_table(model, [counts]), dense, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", registered("family"))
def test_no_natural_parameter_beats_the_saturated_loss(name):
    family = make_family(name)
    own = {key: np.asarray(value) - 0.3 for key, value in family.own_parameters().items()}
    values = np.eye(3)[[2]] if name in ("Bernoulli", "Categorical") else np.array([[2.0, 0.0, 1.0]])
    if name == "Chain":
        values = np.array([[2.0, 1.0, 1.0, 0.0]])
    view = ViewBatch(values, size=np.array([SIZE]) if family.typical_sizes(1) is not None else None)
    low, high = family.natural_limits

    def loss(natural):
        return loss_of_view(family, view, natural[None, :], own)[0]

    n_features = values.shape[1]
    found = minimize(loss, np.full(n_features, -1.0), method="L-BFGS-B", bounds=[(low, high)] * n_features)
    assert saturated_loss(family, view, own)[0] == pytest.approx(found.fun, abs=1e-4)


def test_views_that_are_not_there_or_never_vary_explain_nothing(case):
    assert explained_table(case.model, {"colour": case.X["colour"]}).index.tolist() == ["colour"]
    labelled = make_classifier(head=LabelView()).fit(case.X, case.y)
    assert explained_table(labelled, case.X).index.tolist() == ["words", "colour"]
    constant = np.ones((10, 2))
    model = Harmonium(2, views=[Gaussian()], driver=Stochastic(max_iter=1)).fit([np.eye(10)[:, :2]])
    model.parameters_["view0.weights"][:] = 0
    model.parameters_["view0.bias"][:] = model.families_["view0"].encode(constant)[0]
    assert explained_table(model, [constant]).isna().all(axis=None)


# ---- displays ----------------------------------------------------------------------------------------------------
def all_displays(case, new_ax=lambda: None):
    model, X, y = case.model, case.X, case.y
    report = retrieval_report(X["colour"], X["colour"], y, y)
    return [
        TopicsDisplay.from_estimator(model, X, y, view="words", n_features=4, ax=new_ax()),
        ClassTopicsDisplay.from_estimator(model, X, y, ax=new_ax()),
        FeatureWeightsDisplay.from_estimator(model, ["words_0", "words_5"], "words", ax=new_ax()),
        UsageDisplay.from_estimator(model, X, y, ax=new_ax()),
        UsageDisplay.from_estimator(model, X, y, by_class=True, ax=new_ax()),
        ExplainedDisplay.from_estimator(model, X, ax=new_ax()),
        MapDisplay.from_estimator(model, X, y, max_items=30, ax=new_ax()),
        SensitivityDisplay.from_estimator(make_classifier(), X, y, values=[0.1, 10.0], cv=2, ax=new_ax()),
        RetrievalDisplay.from_reports({"colour": report}, ax=new_ax()),
    ]


def test_every_display_draws(case):
    for display in all_displays(case):
        assert isinstance(display.figure_, Figure)
        assert display._repr_png_().startswith(b"\x89PNG")
        figure = Figure()
        ax = figure.subplots(1, 2)[1]
        assert display.plot(ax=ax) is figure
        assert display.figure_ is figure
        figure.canvas.draw()


def test_displays_draw_where_they_are_told(case):
    figure = Figure(layout="constrained")
    parts = iter(figure.subfigures(1, 9))
    for display in all_displays(case, lambda: next(parts).subplots()):
        assert display.figure_ is figure


def test_topics_display_holds_what_it_draws(case):
    display = TopicsDisplay.from_estimator(case.model, case.X, case.y, view="words", topics=[2, 0], n_features=4)
    expected = case.model.loadings("words")[2].nlargest(4)
    first = display.weights[display.weights["topic"] == 2]
    assert first["feature"].tolist() == expected.index.tolist()
    np.testing.assert_array_equal(first["weight"], expected)
    assert [bar.get_width() for bar in display.ax_[0, 0].patches] == pytest.approx(expected.tolist())
    profile = class_profiles(class_table(case.model, case.X, case.y))[2]
    assert [bar.get_width() for bar in display.ax_[0, 1].patches] == pytest.approx(profile.tolist())
    assert "topic 2" in display.ax_[0, 0].get_title()
    largest = TopicsDisplay.from_estimator(case.model, view="words").weights["topic"].unique()
    norms = np.linalg.norm(case.model.loadings("words"), axis=0)
    assert largest.tolist() == np.argsort(-norms).tolist()


def test_topics_display_of_unbounded_units_shows_the_largest_absolute_weights():
    model = fit_gaussian(np.random.default_rng(0).normal(size=(30, 6)))
    shown = TopicsDisplay.from_estimator(model, topics=[1], n_features=3).weights
    assert set(shown["feature"]) == set(model.loadings()[1].abs().nlargest(3).index)
    assert shown["weight"].is_monotonic_decreasing


def test_class_topics_display_shows_the_divergence(case):
    display = ClassTopicsDisplay.from_estimator(case.model, case.X, case.y)
    assert display.divergence == pytest.approx(average_divergence(class_table(case.model, case.X, case.y)))
    assert display.ax_.get_title() == f"average KL {display.divergence:.2f}"
    assert np.isnan(ClassTopicsDisplay.from_estimator(case.model, case.X, ["one"] * N_ROWS).divergence)


def test_usage_display_holds_what_it_draws(selected):
    model, X, y = selected
    table = usage_table(model, X, y)
    display = UsageDisplay.from_estimator(model, X, y, n_units=2)
    pd.testing.assert_frame_equal(display.table, table.iloc[:2])
    np.testing.assert_allclose([bar.get_height() for bar in display.ax_.patches], table["mean"].iloc[:2])
    spread = display.ax_.collections[0].get_segments()
    np.testing.assert_allclose([(line[1] - line[0])[1] / 2 for line in spread], table["spread"].iloc[:2])
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == [str(unit) for unit in table.index[:2]]
    # means of both signs hide how many items have the unit, so that is shown too
    (dots,) = (line for line in display.ax_.lines if line.get_marker() == "o")
    np.testing.assert_allclose(dots.get_ydata(), table["usage"].iloc[:2])
    unsorted = UsageDisplay.from_estimator(model, X, sort=False)
    assert unsorted.table.index.tolist() == list(range(model.n_components_))
    assert unsorted.table.columns.tolist() == ["usage", "mean"]


def test_usage_display_by_class(case):
    display = UsageDisplay.from_estimator(case.model, case.X, case.y, by_class=True)
    classes = display.table[["cars", "med", "space"]].T
    np.testing.assert_allclose(display.ax_[1].images[0].get_array(), classes)
    assert [text.get_text() for text in display.ax_[1].get_yticklabels()] == ["cars", "med", "space"]
    assert display.ax_[0].get_xlim() == display.ax_[1].get_xlim()
    assert not any(line.get_marker() == "o" for line in display.ax_[0].lines)


def test_map_display(case):
    display = MapDisplay.from_estimator(case.model, case.X, case.y, max_items=20)
    assert display.map.shape == (20, 3)
    assert display.map.index.tolist() == np.linspace(0, N_ROWS - 1, 20).astype(int).tolist()
    assert display.map["label"].tolist() == case.y[display.map.index].tolist()
    table = class_topic_distribution(latent_means(case.model, case.X), case.y)
    assert display.divergence == pytest.approx(average_divergence(table))
    assert f"average KL {display.divergence:.2f}" in display.ax_.get_title()


def test_map_display_of_other_labels(case):
    nothing = MapDisplay.from_estimator(case.model, case.X)
    assert nothing.map["label"].isna().all() and np.isnan(nothing.divergence) and nothing.ax_.get_legend() is None
    partly = MapDisplay.from_estimator(
        case.model, case.X, np.where(np.arange(N_ROWS) < 9, np.nan, np.arange(N_ROWS) % 2)
    )
    shown = [text.get_text() for text in partly.ax_.get_legend().get_texts()]
    assert shown == ["unlabelled", "0", "1"]
    scale = MapDisplay.from_estimator(
        case.model, case.X, np.where(np.arange(N_ROWS) < 9, np.nan, np.linspace(0, 1, N_ROWS))
    )
    assert np.isnan(scale.divergence) and len(scale.figure_.axes) == 2
    one_topic = Harmonium(1, driver=Stochastic(max_iter=1)).fit(case.X)
    assert MapDisplay.from_estimator(one_topic, case.X, max_items=8).map.shape == (8, 3)


def test_sensitivity_display_chooses_its_axis(case):
    table = pd.DataFrame(
        {"value": [1, 10, 5], **{f"{p}_{s}": [0.1, 0.3, 0.2] for p in ("train", "test") for s in ("mean", "std")}}
    )
    display = SensitivityDisplay(table=table, parameter="n_components")
    display.plot()
    assert display.ax_.get_xscale() == "linear"
    assert display.ax_.lines[0].get_xdata().tolist() == [1, 5, 10]
    SensitivityDisplay(table=table.assign(value=[0.1, 1.0, 10.0]), parameter="head__C").plot()
    wide = SensitivityDisplay(table=table.assign(value=[0.01, 1.0, 10.0]), parameter="head__C")
    wide.plot()
    assert wide.ax_.get_xscale() == "log"
    named = SensitivityDisplay(table=table.assign(value=["joint", "alternate", "none"]), parameter="head__solver")
    named.plot()
    assert [text.get_text() for text in named.ax_.get_xticklabels()] == ["joint", "alternate", "none"]


def test_retrieval_display(case):
    reports = {
        "colour": retrieval_report(case.X["colour"], case.X["colour"], case.y, case.y),
        "words": retrieval_report(case.X["words"] + 0.1, case.X["words"] + 0.1, case.y, case.y),
    }
    display = RetrievalDisplay.from_reports(reports)
    for line, (name, report) in zip(display.ax_.lines, reports.items(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), report.recall)
        np.testing.assert_array_equal(line.get_ydata(), report.precision)
        assert line.get_label() == f"{name} (AP {report.average_precision:.3f})"


# ---- refusals ----------------------------------------------------------------------------------------------------
def refusals(case):
    model, X, y = case.model, case.X, case.y
    return {
        "not a model": (lambda: topic_table(make_pipeline(PCA())), TypeError, "Pipeline"),
        "unknown feature": (lambda: feature_table(model, ["words_99"], "words"), ValueError, "'words_99'"),
        "no feature": (lambda: feature_table(model, [], "words"), ValueError, "none"),
        "unknown view": (lambda: feature_table(model, ["words_1"], "sound"), ValueError, "'sound'"),
        "view not named": (lambda: TopicsDisplay.from_estimator(model), ValueError, "named"),
        "y without X": (lambda: topic_table(model, y=y), ValueError, "no X"),
        "y without X in a display": (lambda: TopicsDisplay.from_estimator(model, y=y), ValueError, "no X"),
        "names without X": (lambda: topic_table(model, item_names=["a"]), ValueError, "item_names"),
        "too few names": (lambda: topic_table(model, X, item_names=["a"]), ValueError, "60 rows"),
        "too few labels": (lambda: class_table(model, X, y[:5]), ValueError, "60"),
        "too few labels of a map": (lambda: MapDisplay.from_estimator(model, X, y[:5]), ValueError, "60 rows"),
        "too few labels of units": (lambda: usage_table(model, X, y[:5]), ValueError, "60 rows"),
        "no labels of units": (lambda: usage_table(model, X, [None] * N_ROWS), ValueError, "at least one"),
        "no items of units": (lambda: feature_examples(model, X, "words", n_items=0), ValueError, "n_items"),
        "view not there": (lambda: feature_examples(model, {"words": X["words"]}, "colour"), ValueError, "'colour'"),
        "view of examples not named": (lambda: feature_examples(model, X), ValueError, "named"),
        "no units": (lambda: UsageDisplay.from_estimator(model, X, n_units=0), ValueError, "n_units"),
        "classes without y": (lambda: UsageDisplay.from_estimator(model, X, by_class=True), ValueError, "no y"),
        "no features": (lambda: topic_table(model, n_features=0), ValueError, "n_features"),
        "unknown topic": (lambda: TopicsDisplay.from_estimator(model, view="words", topics=[3]), ValueError, "0 to 2"),
        "same topic": (lambda: TopicsDisplay.from_estimator(model, view="words", topics=[1, 1]), ValueError, "differ"),
        "too few items": (
            lambda: MapDisplay.from_estimator(model, {"words": X["words"][:3]}),
            ValueError,
            "at least 4 rows",
        ),
        "unknown parameter": (
            lambda: sensitivity_table(make_classifier(head=None), X, y, "head__C", [1]),
            ValueError,
            "head=",
        ),
        "no values": (lambda: sensitivity_table(make_classifier(), X, y, "head__C", []), ValueError, "values"),
        "not a report": (lambda: RetrievalDisplay.from_reports({"a": 0.5}), TypeError, "float"),
        "no reports": (lambda: RetrievalDisplay.from_reports({}), TypeError, "mapping"),
        "not axes": (lambda: ClassTopicsDisplay.from_estimator(model, X, y, ax="here"), TypeError, "str"),
        "free axes": (
            lambda: TopicsDisplay.from_estimator(model, view="words", ax=Figure().add_axes((0, 0, 1, 1))),
            ValueError,
            "subplots",
        ),
    }


def test_refusals_are_one_sentence(case):
    for what, (call, kind, part) in refusals(case).items():
        with pytest.raises(kind) as refusal:
            call()
        message = str(refusal.value)
        assert part in message, (what, message)
        assert message.endswith(".") and "\n" not in message and message.count("; ") <= 3, (what, message)


def test_matplotlib_is_imported_late_and_missed_in_one_sentence(case, monkeypatch):
    command = "import sys, harmonium.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0
    monkeypatch.setattr(harmonium.report.drawing, "find_spec", lambda name: None)
    for call in (
        lambda: ClassTopicsDisplay.from_estimator(case.model, case.X, case.y),
        lambda: MapDisplay(map=pd.DataFrame()).plot(),
    ):
        with pytest.raises(ImportError, match=r'pip install "harmonium\[plot\]"\.$'):
            call()
