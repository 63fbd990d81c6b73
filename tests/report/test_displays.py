"""Displays draw their data in figures, where they are told."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from harmonium import Harmonium, Stochastic
from harmonium.metrics import average_divergence, class_topic_distribution, retrieval_report
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
    latent_means,
    usage_table,
)
from tests.cases.report import N_ROWS, fit_case, fit_gaussian, fit_selected, make_classifier


@pytest.fixture(scope="module")
def selected():
    return fit_selected()


@pytest.fixture(scope="module")
def case():
    return fit_case()


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
    expected = case.model.topics("words", n=None)[2].nlargest(4)
    first = display.features[display.features["topic"] == 2]
    assert first["feature"].tolist() == expected.index.tolist()
    np.testing.assert_array_equal(first["value"], expected)
    assert [bar.get_width() for bar in display.ax_[0, 0].patches] == pytest.approx(expected.tolist())
    profile = class_profiles(class_table(case.model, case.X, case.y))[2]
    assert [bar.get_width() for bar in display.ax_[0, 1].patches] == pytest.approx(profile.tolist())
    assert "topic 2" in display.ax_[0, 0].get_title()
    largest = TopicsDisplay.from_estimator(case.model, view="words").features["topic"].unique()
    norms = np.linalg.norm(case.model.topics("words", n=None), axis=0)
    assert largest.tolist() == np.argsort(-norms).tolist()


def test_topics_display_of_unbounded_units_shows_the_largest_absolute_weights():
    model = fit_gaussian(np.random.default_rng(0).normal(size=(30, 6)))
    shown = TopicsDisplay.from_estimator(model, topics=[1], n_features=3, by="weight").features
    assert set(shown["feature"]) == set(model.topics(n=None, by="weight")[1].abs().nlargest(3).index)
    assert shown["value"].is_monotonic_decreasing


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
    assert scale.figure_.axes[1].get_ylabel() == "y"
    named = MapDisplay.from_estimator(case.model, case.X, pd.Series(np.linspace(0, 1, N_ROWS), name="rating"))
    assert named.figure_.axes[1].get_ylabel() == "rating"
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
