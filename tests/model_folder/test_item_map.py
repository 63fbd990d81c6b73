"""The map of items: the same wherever it is drawn, and new items lie among those that are like them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import NearestNeighbors

from harmonium import HarmoniumClassifier, ModelFolder, Stochastic
from harmonium.model_folder import ItemMap, item_map
from harmonium.model_folder.item_map import _middle
from harmonium.report import MapDisplay
from harmonium.report.summary.cards import Cards
from harmonium.report.summary.item_map import map_summary

WORDS = {"good": "clean quiet friendly lovely bright", "bad": "dirty rude noisy broken smelly"}


def digits() -> tuple[np.ndarray, np.ndarray]:
    images, y = load_digits(return_X_y=True)
    return images - images.mean(axis=0), y


def agreement(known: np.ndarray, y: np.ndarray, places: np.ndarray, truth: np.ndarray) -> float:
    """Return the share of the 15 nearest items on a map that have the same class."""
    nearest = NearestNeighbors(n_neighbors=15).fit(known).kneighbors(places, return_distance=False)
    return float((y[nearest] == truth[:, None]).mean())


def test_report_explorer_folder_and_display_have_the_same_map(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kind = np.repeat(["good", "bad"], 30)
    texts = [" ".join(rng.choice(WORDS[one].split(), 3, replace=False)) for one in kind]
    frame = pd.DataFrame({"text": texts, "price": rng.normal(np.where(kind == "good", 100, 60), 10), "kind": kind})
    model = HarmoniumClassifier(2, driver=Stochastic(max_iter=5), random_state=0).fit(frame, "kind")
    made = ModelFolder.create(tmp_path / "hotels", model, frame)
    display = MapDisplay.from_estimator(model, frame, kind, max_items=40)
    np.testing.assert_array_equal(display.map[["x", "y"]], made.map[display.map.index])
    opened = ModelFolder.open(tmp_path / "hotels")
    np.testing.assert_array_equal(MapDisplay.from_estimator(opened.model, frame).map[["x", "y"]], opened.map)
    summary = map_summary(opened, Cards(opened))
    np.testing.assert_allclose(2 * np.stack([summary["x"], summary["y"]], axis=1) - 1, made.map, atol=2e-4)
    np.testing.assert_allclose(opened.locate(frame), made.map, atol=0.02)


def test_items_of_the_map_keep_their_places() -> None:
    X, _ = digits()
    drawn = ItemMap().fit(X[:500])
    off = np.linalg.norm(drawn.transform(X[:500]) - drawn.embedding_, axis=1)
    assert np.quantile(off, 0.99) < 1e-3
    np.testing.assert_array_equal(drawn.embedding_, clone(drawn).fit_transform(3 * X[:500]))


def test_new_items_lie_with_their_class_nearly_as_if_the_map_had_been_drawn_with_them() -> None:
    X, y = digits()
    train, test = slice(0, 500), slice(500, 900)
    drawn = ItemMap().fit(X[train])
    placed = agreement(drawn.embedding_, y[train], drawn.transform(X[test]), y[test])
    together = ItemMap().fit_transform(X[:900])
    assert placed > agreement(together[train], y[train], together[test], y[test]) - 0.05
    assert placed > 0.8  # 0.1 by chance


def test_items_beyond_the_landmarks_are_placed_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = digits()
    monkeypatch.setattr(item_map, "_LANDMARKS", 300)
    drawn = ItemMap().fit(X[:900])
    assert drawn.embedding_.shape == (900, 2)
    assert agreement(drawn.embedding_, y[:900], drawn.embedding_, y[:900]) > 0.85


def test_the_middle_of_places_has_no_outliers_and_is_where_the_cost_is_least() -> None:
    places = np.array([[[0.0, 0.0], [0.02, 0.0], [0.9, 0.9]]])
    weight = np.array([[1.0, 2.0, 2.5]])
    found = _middle(places, weight)[0]
    grid = np.stack(np.meshgrid(*[np.linspace(-0.1, 1, 551)] * 2), axis=-1).reshape(-1, 1, 2)
    cost = (weight * np.log1p(np.square((places - grid) / 0.05).sum(axis=2))).sum(axis=1)
    np.testing.assert_allclose(found, grid[np.argmin(cost), 0], atol=2e-3)
    assert found[0] < 0.03


@pytest.mark.parametrize("shape", [(1, 3), (5, 4), (20, 1)])
def test_few_items_and_one_dimension_have_a_map_too(shape: tuple[int, int]) -> None:
    X = np.random.default_rng(0).normal(size=shape)
    drawn = ItemMap().fit(X)
    assert drawn.embedding_.shape == (len(X), 2)
    assert np.isfinite(drawn.transform(X)).all() and np.abs(drawn.embedding_).max() <= 1


def test_a_map_that_was_not_drawn_places_nothing() -> None:
    with pytest.raises(NotFittedError, match="call fit"):
        ItemMap().transform(np.eye(3))
    with pytest.raises(ValueError, match="random_state"):
        ItemMap(random_state="no").fit(np.eye(3))
