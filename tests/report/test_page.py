"""The report: a summary of plain values that says what is known to be true, and a page that loads and runs nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score
from starlette.testclient import TestClient

from harmonium import Harmonium, HarmoniumRegressor, ModelFolder, Stochastic, TableViews, fit_folder
from harmonium.evaluation import HeldOut
from harmonium.explore import make_app
from harmonium.report.page import render_report, write_report
from harmonium.report.page.rendering import environment
from harmonium.report.summary import summarise
from harmonium.report.summary.curves import calibration, number_calibration, precision_recall
from harmonium.report.summary.item_map import colouring
from harmonium.report.summary.topics import same_topics
from tests.cases.explore import SCRIPT, WORDS


@pytest.fixture(scope="module")
def folder(rooms: ModelFolder) -> ModelFolder:
    return rooms


@pytest.fixture(scope="module")
def summary(folder: ModelFolder) -> dict:
    return summarise(folder)


def test_summary_is_plain_json_and_makes_the_same_page(summary: dict) -> None:
    text = json.dumps(summary, allow_nan=False)
    assert render_report(json.loads(text)) == render_report(summary)


def test_mistakes_are_those_that_were_made_the_most_confident_first(summary: dict) -> None:
    mistakes = summary["held_out"]["mistakes"]
    assert [(mistake["card"]["row"], mistake["probability"]) for mistake in mistakes] == [
        (6, 0.97),
        (12, 0.7),
        (0, 0.6),
    ]
    assert {(mistake["truth"], mistake["predicted"]) for mistake in mistakes} == {("bad", "good")}


def test_topics_have_shares_classes_and_typical_items(folder: ModelFolder, summary: dict) -> None:
    topics = summary["topics"]
    assert sum(topic["share"] for topic in topics) == pytest.approx(1)
    assert [topic["share"] for topic in topics] == sorted((topic["share"] for topic in topics), reverse=True)
    for topic in topics:
        first = topic["cards"][0]["row"]
        # of items that have a hundredth more or less of it, the one with least of others
        most = folder.coordinates[:, topic["topic"]].max()
        assert folder.coordinates[first, topic["topic"]] == pytest.approx(most, abs=0.01)
    # two kinds of items: each topic is about one of them, in its words as in its classes
    for topic in topics:
        kind = topic["classes"][0]["name"]
        ahead = folder.coordinates[folder.items["kind"] == kind, topic["topic"]].mean() - topic["mean"]
        assert topic["classes"][0]["ahead"] == pytest.approx(ahead / topic["spread"], rel=1e-4)
        assert set(topic["features"]["review"][:3]) <= set(WORDS[kind].split())


def test_ratings_stand_in_their_order_and_other_numbers_are_no_classes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    frame["stars"] = np.clip(np.round(3 + frame["a"]), 1, 5)
    frame["price"] = 10 * frame["a"] + rng.normal(size=120)
    for target, names in (("stars", ["1", "2", "3", "4", "5"]), ("price", None)):
        model = HarmoniumRegressor(2, driver=Stochastic(max_iter=2), random_state=0)
        folder = fit_folder(tmp_path / target, model, frame[["a", "b", "c", target]], target)
        classes = summarise(folder)["topics"][0]["classes"]
        assert classes == names or [entry["name"] for entry in classes] == names


def test_page_runs_and_loads_nothing(summary: dict, tmp_path: Path) -> None:
    write_report(summary, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert SCRIPT.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#39;") in page
    addresses = re.findall(r"(?:src|href)=\"([^\"]*)\"", page)
    assert addresses
    assert all(address.startswith(("#", "data:image/png;base64,")) for address in addresses)
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page


def test_map_keeps_the_places_of_the_folder(folder: ModelFolder, summary: dict) -> None:
    shown = summary["map"]
    assert shown["rows"] == list(range(len(folder)))
    places = np.stack([shown["x"], shown["y"]], axis=1) * 2 - 1
    np.testing.assert_allclose(places, folder.map, atol=2e-4)
    names = [shown["colour"]["names"][value] for value in shown["colour"]["values"]]
    assert names == folder.items["kind"].tolist()
    assert 3 not in [picture["row"] for picture in shown["pictures"]]  # it has none


def test_explained_shares_are_those_of_the_table(folder: ModelFolder, summary: dict) -> None:
    from harmonium.report import explained_table

    table = explained_table(folder.model, folder.items[["review", "tags", "price"]])
    found = {row["view"]: row["all"] for row in summary["explained"]["views"]}
    assert found == pytest.approx(table["all"].to_dict(), rel=1e-5)


def test_precision_and_recall_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    truth = np.eye(3)[rng.integers(0, 3, 200)]
    shares = rng.dirichlet(np.ones(3), 200) + 0.3 * truth
    curves = precision_recall(["a", "b", "c"], truth, shares)
    sizes = truth.sum(axis=0)
    assert [curve["name"] for curve in curves] == ["abc"[column] for column in np.argsort(-sizes, kind="stable")]
    for curve in curves:
        column = "abc".index(curve["name"])
        assert curve["average_precision"] == pytest.approx(average_precision_score(truth[:, column], shares[:, column]))
        assert curve["share"] == pytest.approx(sizes[column] / 200)


def test_calibration_of_probabilities_that_are_right_and_of_ones_that_are_not() -> None:
    rng = np.random.default_rng(2)
    confidence = rng.uniform(0.3, 1, 20_000)
    right = rng.random(20_000) < confidence
    assert calibration(confidence, right)["error"] < 0.02
    assert calibration(np.full(100, 0.95), np.arange(100) < 50)["error"] == pytest.approx(0.45)


def test_groups_of_predicted_numbers_have_their_true_means() -> None:
    predicted = np.repeat(np.arange(10.0), 20)
    truth = predicted + np.tile([-1.0, 1.0], 100)
    groups = number_calibration(truth, predicted)
    assert [group["predicted"] for group in groups] == list(range(10))
    assert [group["truth"] for group in groups] == pytest.approx(list(range(10)))
    assert [(group["lower"], group["upper"]) for group in groups[:1]] == [(-1.0, 1.0)]


def test_topics_that_say_the_same_are_found() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=(2, 100))
    coordinates = np.stack([one, other, 2 * one + 0.01 * other, -one], axis=1)
    assert same_topics(coordinates, [0, 1, 2, 3]) == {0: None, 1: None, 2: 0, 3: None}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([True, False, True], {"kind": "class", "names": ["True", "False"], "values": [0, 1, 0]}),
        ([0, 1, 50, 99, 100, *range(2, 50), *range(51, 99)], {"kind": "number", "low": 1.0, "high": 99.0}),
        ([None, None], {"kind": "class", "names": [], "values": [None, None]}),
    ],
)
def test_columns_colour_by_what_they_hold(values: list, expected: dict) -> None:
    found = colouring(pd.Series(values))
    assert {name: found[name] for name in expected} == expected
    if found["kind"] == "number":
        assert found["values"][:5] == [0.0, 0.0, 0.5, 1.0, 1.0]


def test_reports_of_numbers_and_of_models_without_a_target(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "name": [f"n{i}" for i in range(60)]})
    table["sum"] = table["a"] + table["b"]
    fit = {"driver": Stochastic(max_iter=2), "random_state": 0}
    regressor = HarmoniumRegressor(2, **fit).fit(table[["a", "b", "sum"]], "sum")
    rows = np.arange(20)
    truth = table["sum"].to_numpy()[rows, None]
    scores = {
        "measures": [
            {
                "measure": "R²",
                "higher_is_better": True,
                "models": [
                    {"name": "harmonium", "value": 0.5, "lower": 0.4, "upper": 0.6},
                    {
                        "name": "linear",
                        "value": 0.4,
                        "lower": 0.3,
                        "upper": 0.5,
                        "ahead": 0.1,
                        "ahead_lower": 0.0,
                        "ahead_upper": 0.2,
                    },
                ],
            }
        ]
    }
    wrong = truth + np.where(rows == 7, 5.0, 0.1)[:, None]
    made = ModelFolder.create(
        tmp_path / "sums",
        regressor,
        table[["a", "b"]],
        items=table,
        target="sum",
        held_out=HeldOut(rows, truth, wrong, scores),
    )
    summary = summarise(made)
    assert summary["held_out"]["mistakes"][0]["card"]["title"] == "n7"
    page = render_report(summary)
    assert "this model" in page and "linear model" in page
    assert '+0.100 (+0.000 to +0.200)<br><span class="quiet">over the linear model' in page
    plain = Harmonium(2, **fit).fit({"x": table[["a", "b"]].to_numpy()})
    summary = summarise(ModelFolder.create(tmp_path / "plain", plain, {"x": table[["a", "b"]].to_numpy()}))
    assert summary["held_out"] is None
    assert "columns that the model was fitted on" in render_report(summary)  # why nothing is said about shares


def test_an_item_without_text_is_called_by_its_number_once() -> None:
    number_of = environment().from_string("{% import 'charts.html' as charts %}{{ charts.number_of(card) }}").render
    assert number_of(card={"row": 41, "title": "item 41"}) == ""
    assert number_of(card={"row": 41, "title": "A quiet room"}) == "item 41"


def test_several_targets_have_a_report_and_pages(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    table = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    table["sum"], table["difference"] = table["a"] + table["b"], table["a"] - table["b"]
    model = HarmoniumRegressor(2, views=TableViews(), driver=Stochastic(max_iter=2), random_state=0)
    folder = fit_folder(tmp_path / "two", model, table, ["sum", "difference"])
    page = render_report(summarise(folder))
    assert "40</b>rows held out" in page
    asked = TestClient(make_app(folder)).get("/annotate", params={"column.a": "0.5"})
    assert asked.status_code == 200 and "difference" in asked.text and "Predictions" in asked.text


@pytest.mark.parametrize(
    ("share", "left", "width"), [(-0.5, 25.0, 25.0), (0.5, 50.0, 25.0), (-9.0, 0.0, 50.0), (0, 50, 0)]
)
def test_bars_with_signs_end_or_begin_at_zero(share: float, left: float, width: float) -> None:
    chart = environment().get_template("charts.html").module.signed_bar(share, "words")
    (found,) = re.findall(r'class="bar(?: negative)?" x="([\d.]+)" width="([\d.]+)"', str(chart))
    assert tuple(map(float, found)) == (left, width) and ("negative" in str(chart)) == (share < 0)
