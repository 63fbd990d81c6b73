"""Files as people have them: classes called none, columns called score, lists of labels, rows in another order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from harmonium import HarmoniumRegressor, ModelFolder, Stochastic, TableViews, fit_folder
from harmonium.cli import app
from harmonium.cli.data_blocks import answer_blocks, new_blocks
from harmonium.cli.frame_files import write_frames
from harmonium.cli.item_search import search_items
from harmonium.cli.target_column import read_target
from harmonium.exceptions import HarmoniumWarning
from harmonium.files import TableFile, read_data
from harmonium.report.summary.cards import Cards
from harmonium.report.summary.topics import topics_summary

RUNNER = CliRunner(env={"COLUMNS": "140"})
RNG = np.random.default_rng(0)
N_ROWS = 120
WORDS = ["red", "oak", "cherry", "light", "fresh", "lemon", "dark", "tannin", "sweet", "honey", "pear", "wine", "good"]
TEXTS = [" ".join(RNG.choice(WORDS, 6)) for _ in range(N_ROWS)]
NUMBERS = RNG.normal(size=N_ROWS).round(3)


def run(*arguments: object) -> str:
    result = RUNNER.invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def fitted(frame: pd.DataFrame, place: Path, *options: object) -> ModelFolder:
    """The folder that the command makes of a table in a file, after two epochs."""
    frame.to_json(place / "data.jsonl", orient="records", lines=True)
    run("fit", place / "data.jsonl", "-o", place / "made", "--topics", 2, "--epochs", 2, *options)
    return ModelFolder.open(place / "made")


def regressor(roles: dict[str, str] | None = None) -> HarmoniumRegressor:
    return HarmoniumRegressor(2, views=TableViews(roles), driver=Stochastic(max_iter=2), random_state=0)


# ---- rows that have names ------------------------------------------------------------------------------------------
def test_held_out_rows_go_by_name_as_the_fit_does(tmp_path: Path) -> None:
    names = [f"r{row}" for row in range(N_ROWS)]
    X = pd.DataFrame({"text": TEXTS, "number": NUMBERS}, index=names)
    y = pd.Series([3.0 * ("oak" in text) + ("honey" in text) for text in TEXTS], index=names, name="y")
    straight, mixed = (
        fit_folder(tmp_path / name, regressor(), X, given)
        for name, given in (("straight", y), ("mixed", y.sample(frac=1, random_state=1)))
    )
    assert straight.scores is not None and straight.scores == mixed.scores
    assert straight.held_out is not None and mixed.held_out is not None
    np.testing.assert_array_equal(straight.held_out.truth, mixed.held_out.truth)


def test_items_of_a_folder_go_by_name(tmp_path: Path) -> None:
    X = pd.DataFrame({"text": TEXTS, "number": NUMBERS}, index=[f"r{row}" for row in range(N_ROWS)])
    model = regressor().fit(X, NUMBERS)
    items = pd.DataFrame({"title": X.index}, index=X.index).iloc[::-1]
    folder = ModelFolder.create(tmp_path / "made", model, X, items=items)
    assert folder.items["title"].tolist() == X.index.tolist()
    with pytest.raises(ValueError, match="items must name the same rows as X"):
        ModelFolder.create(tmp_path / "made", model, X, items=items.rename({"r0": "another"}))


# ---- targets -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("classes", [["none", "mild", "severe"], ["+", "-"], ["NA", "NB"], ["none", "-"]])
def test_classes_may_be_spelled_like_missing_values(classes: list[str]) -> None:
    cells = [*classes * 10, " ", None, "?"]
    with pytest.warns(HarmoniumWarning, match="are classes of their own"):
        target = read_target(pd.DataFrame({"class": cells}), "class")
    assert target.task == "class" and target.y.tolist() == [*classes * 10, None, None, None]


def test_a_gap_between_whole_numbers_is_no_class() -> None:
    target = read_target(pd.DataFrame({"ill": ["0", "1", "NA", "1", "-"] * 4}), "ill")
    assert target.task == "class" and target.y.tolist() == ["0", "1", None, "1", None] * 4
    with pytest.raises(ValueError, match="is empty"):
        read_target(pd.DataFrame({"ill": ["", " ", None]}), "ill")


def test_a_class_called_none_is_predicted_from_a_file(tmp_path: Path) -> None:
    pain = ["severe" if "oak" in text else "none" for text in TEXTS]
    pd.DataFrame({"text": TEXTS, "pain": pain}).to_csv(tmp_path / "data.csv", index=False)
    run("fit", tmp_path / "data.csv", "-o", tmp_path / "made", "--target", "pain", "--topics", 2, "--epochs", 2)
    folder = ModelFolder.open(tmp_path / "made")
    assert folder.model.classes_.tolist() == ["none", "severe"]  # type: ignore[attr-defined]


def test_two_decimal_numbers_are_classes(tmp_path: Path) -> None:
    halves = [0.5 if "oak" in text else -0.5 for text in TEXTS]
    folder = fitted(pd.DataFrame({"text": TEXTS, "half": halves}), tmp_path, "--target", "half")
    assert folder.model.classes_.tolist() == ["-0.5", "0.5"]  # type: ignore[attr-defined]


def test_a_report_takes_texts_with_several_labels(tmp_path: Path) -> None:
    labels = ["|".join(word for word in ("oak", "honey", "wine") if word in text.split()) for text in TEXTS]
    folder = fitted(pd.DataFrame({"text": TEXTS, "label": labels}), tmp_path, "--target", "label", "--task", "labels")
    [profile, _] = [topic["classes"] for topic in topics_summary(folder, Cards(folder))]
    assert sorted(entry["name"] for entry in profile) == ["honey", "oak", "wine"]


def test_a_report_takes_lists_of_the_only_label(tmp_path: Path) -> None:
    labels = pd.Series([["A"] if "oak" in text else [] for text in TEXTS], dtype=object)
    folder = fitted(pd.DataFrame({"text": TEXTS, "label": labels}), tmp_path, "--target", "label", "--text", "text")
    run("report", folder.path, "-o", tmp_path / "report.html")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    labels: list[Any] = [
        [label for label, word in (("A", "oak"), ("B", "honey")) if word in text.split()] for text in TEXTS
    ]
    labels[3] = None
    frame = pd.DataFrame({"text": TEXTS, "label": pd.Series(labels, dtype=object)})
    return fitted(frame, tmp_path_factory.mktemp("labelled"), "--target", "label", "--text", "text")


def test_a_report_takes_lists_of_labels(labelled: ModelFolder, tmp_path: Path) -> None:
    run("report", labelled.path, "-o", tmp_path / "report.html")
    found = labelled.model.transform(labelled.items[["text"]])
    has = np.array([value is not None and "A" in value for value in labelled.items["label"]])
    ahead = (found[has].mean(axis=0) - found.mean(axis=0)) / found.std(axis=0)
    for topic in topics_summary(labelled, Cards(labelled)):
        shown = {entry["name"]: entry["ahead"] for entry in topic["classes"]}
        assert set(shown) == {"A", "B"}
        np.testing.assert_allclose(shown["A"], ahead[topic["topic"]], rtol=1e-3, atol=1e-4)


# ---- columns and their names ---------------------------------------------------------------------------------------
def test_columns_that_are_an_index_in_parquet_are_kept(tmp_path: Path) -> None:
    frame = pd.DataFrame({"city": ["Rome", "Oslo"] * 5, "day": range(10), "x": pd.array([1, None] * 5, dtype="Int64")})
    wanted = frame.set_index(["city", "day"]).reset_index()
    for name, index in (("one", ["city"]), ("two", ["city", "day"])):
        path = tmp_path / f"{name}.parquet"
        frame.set_index(index).to_parquet(path)
        pd.testing.assert_frame_equal(read_data(path).items[["city", "day", "x"]], wanted)
        blocks = pd.concat(TableFile.surveyed(path, rows=3).blocks(), ignore_index=True)
        pd.testing.assert_frame_equal(blocks[["city", "day", "x"]], wanted, check_dtype=False)
    counted = frame.rename_axis("day")  # not in the file, as pandas can count by itself
    for name, other in (("unnamed", frame.iloc[::2]), ("counted", counted)):
        other.to_parquet(tmp_path / f"{name}.parquet")
        assert read_data(tmp_path / f"{name}.parquet").items.columns.tolist() == ["city", "day", "x"]


def test_a_search_tells_its_own_score_from_a_column_called_so(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": TEXTS, "score": RNG.integers(1, 6, N_ROWS), "row": NUMBERS, "row_": NUMBERS + 1})
    folder = fitted(frame, tmp_path, "--text", "text")
    found = search_items(folder, "oak", [], None, 5, "score,text,row")
    assert found.columns.tolist() == ["row", "score", "passage", "score_", "text", "row__"]
    assert found["score_"].tolist() == frame["score"][found["row"]].tolist()
    assert found["row__"].tolist() == frame["row"][found["row"]].tolist()
    assert "row_" in search_items(folder, "oak", [], None, 5, None).columns


def test_the_fit_uses_the_roles_that_were_shown(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = rng.choice(rng.choice(9000, 94, replace=False) + 1000, 150)  # 1.7 rows each, and fewer of fewer rows
    texts = [" ".join(rng.choice(WORDS, 6)) for _ in names]
    frame = pd.DataFrame({"author_id": names, "text": texts, "y": rng.normal(size=150).round(3)})
    shown = TableViews().fit(frame.drop(columns="y")).columns_["role"]
    folder = fitted(frame, tmp_path, "--target", "y", "--no-refit")
    assert folder.model.views_["role"].to_dict() == shown.to_dict()  # type: ignore[attr-defined]


def test_a_number_that_was_shown_is_one_though_more_cells_of_fewer_rows_are_none(tmp_path: Path) -> None:
    is_odd = np.arange(N_ROWS) % 20 == 0  # one in twenty is forgiven; without those held out it is one in sixteen
    cells = np.where(is_odd, [f"see note {row}" for row in range(N_ROWS)], NUMBERS.astype(str))
    target = np.where(is_odd, np.nan, NUMBERS)  # unknown targets are learned from
    frame = pd.DataFrame({"text": TEXTS, "cell": cells, "y": target})
    folder = fitted(frame, tmp_path, "--target", "y", "--no-refit")
    assert folder.scores is not None and folder.model.views_["role"]["cell"] == "number"  # type: ignore[attr-defined]
    assert folder.items["cell"].tolist() == cells.tolist()


# ---- cells ---------------------------------------------------------------------------------------------------------
KINDS: dict[str, tuple[Any, str | None]] = {
    "duration": (pd.to_timedelta(RNG.gamma(3, 2, N_ROWS), unit="h"), None),
    "durations as objects": (pd.Series(pd.to_timedelta(RNG.gamma(3, 2, N_ROWS), unit="h")).astype(object), None),
    "category of numbers": (pd.Categorical(RNG.integers(0, 4, N_ROWS) / 2), None),
    "truth or nothing": (pd.array(RNG.choice([True, False, None], N_ROWS), dtype="boolean"), None),
    "category of truth": (pd.array(RNG.choice([True, False, None], N_ROWS), dtype="boolean"), "category"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kept_cells_are_explained_as_they_were_predicted(kind: str, tmp_path: Path) -> None:
    values, role = KINDS[kind]
    X = pd.DataFrame({"x": NUMBERS, "cell": values})
    codes, _ = pd.factorize(X["cell"], sort=True)
    model = regressor(None if role is None else {"cell": role})
    fit_folder(tmp_path / "made", model, X, pd.Series(3.0 * codes + NUMBERS), holdout=0)
    folder = ModelFolder.open(tmp_path / "made")
    predicted = folder.predict(X.head(6))["prediction"].to_numpy()
    assert np.ptp(predicted) > 0.1
    np.testing.assert_allclose([folder.explain(row).scores[0] for row in range(6)], predicted, rtol=1e-4, atol=1e-4)


def test_texts_that_no_time_can_be_read_from_are_no_dates() -> None:
    frame = pd.DataFrame({"born": [f"{1400 + row}-0{row % 9 + 1}-15" for row in range(N_ROWS)], "x": NUMBERS})
    assert TableViews().fit(frame).columns_["role"]["born"] != "date"
    some = frame.assign(born=[f"{1600 + row}-0{row % 9 + 1}-15" for row in range(N_ROWS)])
    assert TableViews().fit(some).columns_["role"]["born"] == "date"


# ---- files of several blocks ---------------------------------------------------------------------------------------
def test_labels_may_be_lacking_in_the_first_block_of_a_parquet_file(tmp_path: Path) -> None:
    blocks = [
        pd.DataFrame({"prediction": pd.Series([[], []], dtype=object), "note": pd.Series([None, None], dtype=object)}),
        pd.DataFrame({"prediction": pd.Series([["A", "B"]], dtype=object), "note": ["x"]}),
    ]
    assert write_frames(blocks, tmp_path / "found.parquet") == 3
    found = pd.read_parquet(tmp_path / "found.parquet")
    assert [list(labels) for labels in found["prediction"]] == [[], [], ["A", "B"]]
    assert found["note"].tolist() == [None, None, "x"]


def test_what_counts_as_missing_is_counted_over_all_blocks(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": TEXTS, "number": NUMBERS, "other": NUMBERS[::-1], "y": NUMBERS})
    roles = {"text": "words", "number": "number", "other": "number"}
    model = regressor(roles).fit(frame.drop(columns="y"), NUMBERS)
    rows = [{"text": "oak", "number": "many" if row >= 9_999 else 1, "other": 2.0} for row in range(10_003)]
    rows[-1]["other"] = "few"
    (tmp_path / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def asked() -> Iterator[pd.DataFrame]:
        yield from answer_blocks(lambda block: pd.DataFrame({"y": model.predict(block)}), blocks)

    blocks = list(new_blocks(model, tmp_path / "new.jsonl", None))
    assert len(blocks) == 2
    with pytest.warns(HarmoniumWarning) as caught:
        assert sum(map(len, asked())) == 10_003
    told = [str(warning.message) for warning in caught if "count as missing" in str(warning.message)]
    assert told == [
        "Values of a kind that the training data do not have count as missing: 'number' (4 rows), 'other' (1 rows)."
    ]


def test_identifiers_beyond_what_views_hold_do_not_stop_a_table() -> None:
    ids = 1_700_570_000_000_000_000 + 1000 * np.arange(40).repeat(2)
    frame = pd.DataFrame({"author_id": ids, "price": np.random.default_rng(0).normal(size=80)})
    views = TableViews().fit(frame)
    assert views.columns_["role"]["price"] == "number"
    assert np.isfinite(views.transform(frame).source("numbers").summary().mean).all()
