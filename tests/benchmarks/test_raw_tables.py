"""Raw tables are split by MulTaBench's rule; every rival reads the same frames, and every fit is kept as a line."""

from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score, r2_score

from benchmarks import raw_tables
from benchmarks.rivals import frames

PACKAGES = {"skrub": "skrub", "CatBoost": "catboost", "LightGBM": "lightgbm", "EBM": "interpret"}


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
def test_rivals_find_what_names_and_numbers_tell(name: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "EBM_BAGS", 1)
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


def test_rivals_of_labels_find_what_names_tell() -> None:
    table = bikes()
    labels = np.column_stack([table["name"].str.startswith("cruiser"), table["place"] == "Rome"]).astype(int)
    X = table[["name", "place", "year"]]
    found = frames.predicted("linear model, words + characters + one-hot", X[:250], labels[:250], X[250:], True)
    assert f1_score(labels[250:], found, average="micro") > 0.9


# ---- the rule --------------------------------------------------------------------------------------------------------
def test_folds_have_a_tenth_for_the_test_at_most_ten_thousand_for_training_and_shares_of_classes() -> None:
    table = pd.DataFrame({"x": range(20_000), "y": ["a", "b", "b", "b"] * 5000})
    train, test = raw_tables.fold_of(table, "y", 0, raw_tables.TRAIN_ROWS)
    assert (len(train), len(test)) == (10_000, 2000) and not set(train["x"]) & set(test["x"])
    assert (test["y"] == "a").mean() == 0.25
    other = raw_tables.fold_of(table, "y", 1, raw_tables.TRAIN_ROWS)[1]
    assert set(other["x"]) != set(test["x"])


def test_every_fit_is_a_line_and_a_continued_run_measures_what_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw_tables, "LOADERS", {"bikewale": bikes})
    monkeypatch.setattr(raw_tables, "ProcessPoolExecutor", InThisProcess)
    (name, *_) = frames.FRAME_RIVALS
    options = SimpleNamespace(
        sets=("bikewale",),
        folds=1,
        rows=200,
        methods=(name,),
        ablation=(),
        ablation_folds=0,
        limit=60,
        continued=True,
        output=tmp_path,
    )
    raw_tables.run(options)
    options.folds = 2
    result = raw_tables.run(options)
    assert InThisProcess.n_tasks == 2  # not three
    lines = pd.read_csv(tmp_path / raw_tables.CSV)
    assert lines.columns.tolist() == raw_tables.COLUMNS and lines["fold"].tolist() == [0, 1]
    (table,) = (part for part in result.parts if part.get("name") == "bikewale")
    assert table["rows"][0]["folds"] == 2 and table["rows"][0]["R²"]["mean"] == pytest.approx(
        lines["score"].mean(), rel=1e-5
    )


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


def test_parts_are_compared_on_folds_that_all_have() -> None:
    lines = pd.DataFrame({"method": ["all", "all", "less", "rival"], "fold": [0, 1, 0, 1], "score": [1, 2, 3, 4]})
    assert raw_tables.on_same_folds(lines, ["all", "less"])["score"].tolist() == [1, 3]


def test_one_table_has_all_parts_that_were_left_out() -> None:
    ours, less, *_ = raw_tables.MODELS
    found = {"data": "bikewale", "method": [ours, ours, less], "fold": [0, 1, 0], "score": [0.5, 0.7, 0.4]}
    (first, second, third, *_) = raw_tables.ablation_table(pd.DataFrame(found).assign(processor_seconds=9.0))
    assert first == [ours, "0.5000 (9 s)"] and second == [less, "0.4000 (9 s)"] and third[1] == "–"


class InThisProcess:
    """Stand-in of a pool of processes, which a patched loader does not reach."""

    n_tasks = 0

    def __init__(self, *given: object) -> None:
        pass

    def __enter__(self) -> InThisProcess:
        return self

    def __exit__(self, *given: object) -> None:
        pass

    def submit(self, task, *given):
        type(self).n_tasks += 1
        return SimpleNamespace(result=lambda: task(*given))
