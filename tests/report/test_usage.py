"""Use of units and examples of features, by hand."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.special import expit

from harmonium import Bernoulli, Categorical, Gaussian, Harmonium, Poisson, Stochastic, Views
from harmonium.core.parameters import HIDDEN_BIAS
from harmonium.report import UsageDisplay, feature_examples, latent_means, usage_table
from tests.cases.report import N_ROWS, direct_means, fit_case, fit_selected


@pytest.fixture(scope="module")
def selected():
    return fit_selected()


@pytest.fixture(scope="module")
def case():
    return fit_case()


def direct_presence(model, X):
    """E[z] and E[z h] of real units, by the formula."""
    parameters = model.fitted_.parameters
    natural = model.families_["view0"].codec.encode(X[0]) @ parameters["view0.weights"] + parameters[HIDDEN_BIAS]
    presence = expit(model.fitted_.energy.layer(parameters).log_odds_ + natural**2 / 2)
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
    np.testing.assert_allclose(table["usage"], model.fitted_.usage[order], rtol=1e-4)
    assert (table["mean"].abs() < table["usage"]).any()


def test_usage_of_units_that_every_item_has_is_their_mean(case):
    table = usage_table(case.model, case.X)
    assert table.columns.tolist() == ["usage", "mean"]
    means = direct_means(case.model, case.X).mean(axis=0)[: case.model.n_topics_]
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
    monkeypatch.setattr("harmonium.report.tables.usage._BLOCK_ROWS", 7)
    monkeypatch.delattr("harmonium.kernels.sparse.csr.SparseRows.toarray")  # never needed
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
        assert table["features"][topic] == model.fitted_.feature_names["code"][int(np.argmax(more))]
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
