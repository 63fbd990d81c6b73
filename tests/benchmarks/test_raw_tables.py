"""Raw tables are split by MulTaBench's rule; every rival reads the same frames, and every fit is kept as a line."""

from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, r2_score

from benchmarks import raw_tables
from benchmarks.rivals import frames

PACKAGES = {"skrub": "skrub", "CatBoost": "catboost", "LightGBM": "lightgbm"}


def bikes(n_rows: int = 300) -> pd.DataFrame:
    """Prices that follow from the kind in a name and from a number, with holes."""
    generator = np.random.default_rng(0)
    kinds = generator.choice(["scooter", "cruiser"], n_rows)
    table = pd.DataFrame(
        {
            "name": [f"{kind} {number}" for kind, number in zip(kinds, generator.integers(0, 90, n_rows), strict=True)],
            "place": generator.choice(["Rome", "Oslo"], n_rows),
            "year": generator.integers(2000, 2020, n_rows).astype(float),
        }
    )
    table["price"] = 10.0 * (kinds == "cruiser") + table["year"] - 2000 + generator.normal(0, 1, n_rows)
    table["dear"] = np.where(table["price"] > table["price"].median(), "yes", "no")
    table.loc[::50, ["place", "year"]] = None
    return table


# ---- rivals ----------------------------------------------------------------------------------------------------------
def test_strings_that_repeat_are_categories_and_strings_of_many_values_are_texts() -> None:
    rows = np.arange(300)
    table = pd.DataFrame({"page": rows, "place": rows % 40, "name": rows % 41}).astype(str).assign(year=rows)
    found = frames.Columns.of(table)
    assert found == frames.Columns(numbers=["year"], categories=["place", "name"], texts=["page", "name"])


@pytest.mark.parametrize("name", list(frames.FRAME_RIVALS))
@pytest.mark.parametrize("target", ["price", "dear"])
def test_rivals_find_what_names_and_numbers_tell(name: str, target: str) -> None:
    for word, package in PACKAGES.items():
        if name.startswith(word):
            pytest.importorskip(package)
    table, classes = bikes(), target == "dear"
    X, y = table[["name", "place", "year"]], table[target]
    found = frames.predicted(name, X[:250], y[:250], X[250:], classes)
    score = (accuracy_score if classes else r2_score)(y[250:], found)
    if frames.FRAME_RIVALS[name] is frames.without_looking:
        assert score < (0.7 if classes else 0.01)
    else:
        assert score > 0.75


# ---- the rule --------------------------------------------------------------------------------------------------------
def test_folds_have_a_tenth_for_the_test_at_most_ten_thousand_for_training_and_shares_of_classes() -> None:
    table = pd.DataFrame({"x": range(20_000), "y": ["a", "b", "b", "b"] * 5000})
    train, test = raw_tables.fold_of(table, "y", 0, raw_tables.TRAIN_ROWS)
    assert (len(train), len(test)) == (10_000, 2000) and not set(train["x"]) & set(test["x"])
    assert (test["y"] == "a").mean() == 0.25
    other = raw_tables.fold_of(table, "y", 1, raw_tables.TRAIN_ROWS)[1]
    assert set(other["x"]) != set(test["x"])


def test_every_fit_is_a_line_of_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_tables, "LOADERS", {"bikewale": bikes})
    monkeypatch.setattr(raw_tables, "ProcessPoolExecutor", InThisProcess)
    (name, *_) = frames.FRAME_RIVALS
    settings = {"sets": ("bikewale",), "folds": 2, "once": (), "rows": 200, "methods": (name,), "limit": 60}
    result = raw_tables.run(SimpleNamespace(**settings, output=tmp_path))
    assert [value[:4] for value in result.values] == [["bikewale", name, "R²", fold] for fold in (0, 1)]
    (table,) = (part for part in result.parts if part.get("name") == "bikewale")
    scores = [value[4] for value in result.values]
    assert table["rows"][0]["folds"] == 2 and table["rows"][0]["R²"]["mean"] == pytest.approx(np.mean(scores), rel=1e-5)


def test_a_fit_that_takes_too_long_has_no_score_and_one_that_fails_is_no_such_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken(InThisProcess):
        def submit(self, task, *given):
            raise BrokenProcessPool

    monkeypatch.setattr(raw_tables, "ProcessPoolExecutor", Broken)
    seconds = iter([0.0, 70.0, 70.0, 75.0])
    monkeypatch.setattr(raw_tables, "seconds_of_children", lambda: next(seconds))
    line = raw_tables.measured_within(60, "bikewale", 0, "slow", 200)
    assert line[4] is None and raw_tables.too_slow([line]) == {("bikewale", "slow")}
    with pytest.raises(BrokenProcessPool):
        raw_tables.measured_within(60, "bikewale", 0, "slow", 200)


class InThisProcess:
    """Stand-in of a pool of processes, which a patched loader does not reach."""

    def __init__(self, *given: object) -> None:
        pass

    def __enter__(self) -> InThisProcess:
        return self

    def __exit__(self, *given: object) -> None:
        pass

    def submit(self, task, *given):
        return SimpleNamespace(result=lambda: task(*given))
