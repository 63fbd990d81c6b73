"""Topics edited by hand: what shows them, what keeps them, and what they leave as it is."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

import harmonium
from harmonium import HarmoniumClassifier, ModelFolder, Stochastic
from harmonium.explore import make_app
from harmonium.inspection import TopicEdits, edit_topics
from harmonium.recipes import BEFH
from harmonium.report import (
    class_table,
    covariate_table,
    document_topics,
    explained_table,
    summarise,
    topic_labels,
    topic_table,
    usage_table,
)
from harmonium.report.page import render_report
from harmonium.training import Langevin

EDITS = TopicEdits().merge(0, 2).rename(0, "both").hide(1).order(3)
RNG = np.random.default_rng(0)
KIND = RNG.integers(0, 4, 120)
WORDS = pd.DataFrame(
    (RNG.random((120, 12)) < np.where(np.arange(12) % 4 == KIND[:, None], 0.7, 0.1)).astype(float),
    columns=[f"w{number}" for number in range(12)],
)


@pytest.fixture(scope="module")
def model() -> HarmoniumClassifier:
    return HarmoniumClassifier(4, driver=Stochastic(max_iter=5), validation_fraction=0.0, random_state=0).fit(
        {"words": WORDS}, KIND % 2
    )


@pytest.fixture(scope="module")
def shown(model: HarmoniumClassifier) -> HarmoniumClassifier:
    return edit_topics(model, EDITS)


def test_columns_are_those_of_the_topics_that_are_shown(model: Any, shown: Any) -> None:
    before, after = model.transform({"words": WORDS}), shown.transform({"words": WORDS})
    n_dimensions = model.n_components_ - 4
    expected = np.column_stack([before[:, 3], before[:, 0] + before[:, 2], before[:, 4:]])
    np.testing.assert_array_equal(after, expected)
    names = shown.get_feature_names_out().tolist()
    assert names[:3] == ["topic_3", "both", "dimension_0"] and len(names) == 2 + n_dimensions
    assert shown.n_topics_ == 2 and model.n_topics_ == 4 and shown.n_components_ == model.n_components_
    assert shown.set_output(transform="pandas").transform({"words": WORDS}).columns.tolist() == names
    shown.set_output(transform="default")


def test_predictions_and_search_stay_the_same_to_the_bit(model: Any, shown: Any) -> None:
    X = {"words": WORDS}
    np.testing.assert_array_equal(model.predict_proba(X), shown.predict_proba(X))
    np.testing.assert_array_equal(model.search_coordinates(X), shown.search_coordinates(X))


def test_weights_of_a_merged_topic_are_sums(model: Any, shown: Any) -> None:
    before, after = (one.topics(n=None, by="weight") for one in (model, shown))
    assert after.columns.tolist() == [3, "both"]
    np.testing.assert_array_equal(after["both"], before[0] + before[2])
    assert shown.topics(n=3).index.tolist() == [3, "both"]


def test_tables_name_topics_as_topics_does(shown: Any) -> None:
    X, keys = {"words": WORDS}, [3, "both"]
    assert topic_labels(shown)["both"] == "both" and topic_labels(shown).index.tolist() == keys
    assert topic_table(shown, X, KIND).index.tolist() == keys
    assert class_table(shown, X, KIND).columns.tolist() == keys
    assert explained_table(shown, X).columns.tolist() == [*keys, "all"]
    assert (
        set(usage_table(shown, X, KIND).index)
        == set(covariate_table(shown, X, {"a": KIND}, held_out=True)["topic"])
        == set(keys)
    )
    assert set(document_topics(shown, X, n=2)["topic"].stack()) == set(keys)


def test_explanations_still_add_up(shown: Any) -> None:
    split = edit_topics(shown, EDITS.split(3, ["w3", "w7"]))
    for model in (shown, split):
        why = model.explain({"words": WORDS[:1]})[0]
        by_topic = why.table(by="topic")
        assert by_topic["unit"].str.startswith("topic_").sum() == model.n_topics_ and "hidden topics" in set(
            by_topic["unit"]
        )
        np.testing.assert_allclose(why.base[why.predicted] + by_topic["total"].sum(), why.scores[why.predicted])
        assert why.to_dict()["topics"][0]["topic"] in {0, 3, 4}


def test_both_parts_of_a_split_topic_add_up_to_it(model: Any) -> None:
    taken = model.topics(n=2).loc[0].tolist()
    split, X = edit_topics(model, TopicEdits().split(0, taken)), {"words": WORDS}
    before, after = model.transform(X), split.transform(X)
    np.testing.assert_allclose(after[:, 0] + after[:, 1], before[:, 0], rtol=1e-5)
    # by hand: what the two words have in all that speaks for the unit
    weights = np.maximum(model.topics(n=None, by="weight")[0], 0)
    share = WORDS[taken] @ weights[taken] / np.maximum(WORDS @ weights, 1e-12)
    np.testing.assert_allclose(after[:, 1], before[:, 0] * share, rtol=1e-4, atol=1e-6)
    assert set(split.topics(n=2).loc[4]) == set(taken)


def test_files_keep_edits(shown: Any, tmp_path: Path) -> None:
    shown.save(tmp_path / "model.safetensors")
    loaded = harmonium.load(tmp_path / "model.safetensors")
    assert loaded.fitted_.edits == EDITS
    np.testing.assert_array_equal(loaded.transform({"words": WORDS}), shown.transform({"words": WORDS}))


def test_draws_of_a_merged_topic_are_added_before_their_spread_is_taken() -> None:
    X = RNG.normal(size=(40, 5))
    model = BEFH(2, driver=Langevin(n_draws=20, n_warmup=20, n_chains=1), random_state=0).fit(X)
    mean, spread = edit_topics(model, TopicEdits().merge(0, 1)).transform(X, return_std=True)
    alone = model.transform(X, return_std=True)
    np.testing.assert_allclose(mean[:, 0], alone[0].sum(axis=1), rtol=1e-4, atol=1e-5)
    assert (spread[:, 0] < alone[1].sum(axis=1)).any()


def test_folders_reports_and_pages_show_edits(rooms: ModelFolder, tmp_path: Path) -> None:
    folder = ModelFolder.open(shutil.copytree(rooms.path, tmp_path / "rooms"))
    edits = TopicEdits().merge(1, 0).rename(1, "noise").split(2, ["dirty"])
    written = folder.edit_topics(edits)
    opened = ModelFolder.open(written.path)
    np.testing.assert_array_equal(opened.topic_coordinates, written.topic_coordinates)
    assert opened.topic_coordinates.shape == (len(folder), folder.model.n_topics_)
    np.testing.assert_allclose(
        opened.topic_coordinates[:, 0], folder.coordinates[:, 0] + folder.coordinates[:, 1], rtol=1e-6
    )
    assert opened.summary()["topics"][0]["label"] == "noise"
    client = TestClient(make_app(opened))
    assert "noise" in client.get("/topics").text
    assert client.get("/topics/1.json").json()["label"] == "noise"
    assert client.get("/topics/0.json").status_code == 404
    assert all(client.get(address).status_code == 200 for address in ("/", "/items/0", "/values.json?by=topic:1"))
    assert "noise" in render_report(summarise(opened))
    assert opened.edit_topics(edits.undo().undo()).model.n_topics_ == folder.model.n_topics_ - 1


def test_edits_of_what_is_not_there_are_refused(model: Any) -> None:
    with pytest.raises(ValueError, match="features of the model"):
        edit_topics(model, TopicEdits().split(0, ["w99"]))
    with pytest.raises(ValueError, match="topics that are shown"):
        edit_topics(model, TopicEdits().hide(4))
    with pytest.raises(TypeError, match="TopicEdits"):
        edit_topics(model, [("merge", 0, 1)])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="inverse_transform needs all"):
        edit_topics(model, EDITS).inverse_transform(np.zeros((1, 3)))
