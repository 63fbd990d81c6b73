"""Tables that stay in their files: read in blocks, fitted from shards, and asked about block by block."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from harmonium import ModelFolder, load
from harmonium.cli import app
from harmonium.files import DataFileError, TableFile, is_large, read_data
from harmonium.model_folder.streaming import StreamedTable
from harmonium.storage import replacing

RNG = np.random.default_rng(0)
N = 230
KIND = RNG.integers(0, 2, N)
FRAME = pd.DataFrame(
    {
        "text": [" ".join(RNG.choice(["dirty rude noisy", "clean quiet kind"][k].split(), 3)) for k in KIND],
        "price": np.where(RNG.random(N) < 0.1, np.nan, (50.0 + 30 * KIND + 5 * RNG.normal(size=N)).round(2)),
        "rooms": RNG.integers(1, 9, N),
        "mixed": [str(i) if i < 200 else f"{i}a" for i in range(N)],
        "late": [None] * 100 + [7] * (N - 100),
        "stars": (1.0 + 3 * KIND + 0.3 * RNG.normal(size=N)).round(3),
    }
)
FRAME.loc[5, "text"] = None
WAYS = ["csv", "jsonl", "parquet", "folder", "csv.gz"]


def written(folder: Path, way: str) -> Path:
    path = folder / f"table.{way}"
    if way == "csv":
        FRAME.to_csv(path, index=False)
    elif way == "csv.gz":
        path.write_bytes(gzip.compress(FRAME.to_csv(index=False).encode()))
    elif way == "jsonl":
        FRAME.to_json(path, orient="records", lines=True)
    elif way == "parquet":
        FRAME.to_parquet(path, index=False)
    else:
        path = folder / "table"
        path.mkdir()
        for part in range(2):
            FRAME.iloc[part * 120 : (part + 1) * 120].to_parquet(path / f"{part}.parquet", index=False)
    return path


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harmonium.files.table_file.BLOCK_ROWS", 50)


@pytest.mark.parametrize("way", WAYS)
def test_blocks_are_the_table_that_is_read_whole(tmp_path: Path, way: str) -> None:
    path = written(tmp_path, way)
    table, whole = TableFile.surveyed(path, rows=50), read_data(path).X
    blocks = list(table.blocks())
    assert table.n_rows == N and max(map(len, blocks)) <= 50 and list(table.types) == list(whole.columns)
    joined = pd.concat(blocks, ignore_index=True)
    for name in whole.columns:
        if whole[name].dtype.kind in "iuf":
            np.testing.assert_array_equal(joined[name].to_numpy(float), whole[name].to_numpy(float))
        else:
            assert joined[name].dropna().tolist() == whole[name].dropna().tolist()
            assert joined[name].isna().tolist() == whole[name].isna().tolist()
    assert len({tuple(block.dtypes) for block in blocks}) == 1
    again = TableFile.surveyed(path, rows=1000)  # one block, which is not read twice
    assert len(list(again.blocks())) == (1 if way != "folder" else 2)


def test_what_is_wrong_far_down_is_refused_before_anything_else(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    for rows in ("1,2\n" * 100 + "1,2,3\n", "1,2\n" * 95 + "1,2,3,4\n", "1,2,3\n" * 100):
        path.write_text("a,b\n" + rows)
        with pytest.raises(DataFileError, match=r"longer ones|saw 4"):
            TableFile.surveyed(path, rows=10)
    path = tmp_path / "table.jsonl"
    path.write_text('{"a": 1}\n' * 30 + "{\n")
    with pytest.raises(DataFileError, match="line 31"):
        TableFile.surveyed(path, rows=10)


def test_truth_values_with_gaps_stay_truth_values(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("paid,n\n" + "True,1\nFalse,2\n" * 10 + ",3\n")
    table = TableFile.surveyed(path, rows=5)
    assert table.types == {"paid": "truth", "n": "whole"}
    assert [value for block in table.blocks() for value in block["paid"]] == [*([True, False] * 10), None]


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


OPTIONS = ("--text", "text", "--number", "price,rooms", "--target", "stars", "--topics", "3", "--epochs", "2", "--json")


@pytest.fixture(scope="module")
def streamed(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModelFolder, ModelFolder, Path]:
    place = tmp_path_factory.mktemp("streams")
    path = written(place, "csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harmonium.files.table_file.BLOCK_ROWS", 50)
        run("fit", path, *OPTIONS, "--stream", "-o", place / "streamed")
        run("fit", path, *OPTIONS, "-o", place / "whole")
    assert sorted(entry.name for entry in place.iterdir()) == ["streamed", "table.csv", "whole"]
    return ModelFolder.open(place / "streamed"), ModelFolder.open(place / "whole"), path


def test_a_streamed_fit_knows_what_one_in_memory_knows(streamed: tuple[ModelFolder, ModelFolder, Path]) -> None:
    found, expected, _ = streamed
    assert found.model.fitted_.table.reads_like(expected.model.fitted_.table)
    assert found.model.views_.equals(expected.model.views_)
    assert found.model.fitted_.feature_names == expected.model.fitted_.feature_names
    pd.testing.assert_frame_equal(found.items, expected.items)
    assert found.notes["streamed"] == {"rows": N, "kept": N} and "streamed" not in expected.notes
    assert found.scores["n_rows"] == expected.scores["n_rows"]
    assert [m["models"][1]["value"] for m in found.scores["measures"]] == pytest.approx(
        [m["models"][1]["value"] for m in expected.scores["measures"]], rel=0.02
    )
    assert found.search("rude", n=1)["score"][0] > 0
    X = FRAME[["text", "price", "rooms"]]
    np.testing.assert_array_equal(found.coordinates, found.model.transform(X))


def test_what_is_chosen_and_learned_from_all_rows(
    tmp_path: Path, small_blocks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder keeps some rows, and knows where they come from; the model has seen all of them."""
    monkeypatch.setattr("harmonium.model_folder.streaming.KEPT_ROWS", 100)
    monkeypatch.setattr("harmonium.model_folder.fit._MOST_HELD_OUT", 40)
    monkeypatch.setattr("harmonium.model_folder.fit._MOST_COMPARED", 60)
    path = written(tmp_path, "parquet")
    run("fit", path, *OPTIONS, "--stream", "-o", tmp_path / "m")
    folder = ModelFolder.open(tmp_path / "m")
    assert len(folder) == 77 and folder.items["data_row"].tolist() == list(range(0, N, 3))
    assert folder.items["stars"].tolist() == FRAME["stars"][::3].tolist()
    assert folder.model.fitted_.training.n_items == N
    assert (folder.scores["n_rows"], folder.scores["n_learned"], folder.scores["n_linear"]) == (40, 190, 60)
    held_out = folder.held_out
    np.testing.assert_array_equal(held_out.truth[:, 0], folder.items["stars"].to_numpy()[held_out.rows])


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_answers_in_blocks_are_those_of_the_whole_table(
    streamed: tuple[ModelFolder, ModelFolder, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    folder, _, path = streamed
    for ask in (("predict",), ("transform",), ("annotate", "--view", "text", "--top", "2")):
        found = []
        for rows in (40, 10_000):
            monkeypatch.setattr("harmonium.files.table_file.BLOCK_ROWS", rows)
            output = tmp_path / f"{rows}.{ending}"
            run(ask[0], folder.path, path, *ask[1:], "-o", output)
            found.append(read_data(output).X)
        pd.testing.assert_frame_equal(*found)
    monkeypatch.setattr("harmonium.files.table_file.BLOCK_ROWS", 40)
    listed = json.loads(run("annotate", folder.path, path, "--view", "text", "--top", "2", "--json"))
    assert [entry["row"] for entry in listed] == np.repeat(np.arange(N), 2).tolist()
    direct = load(folder.path).predict(FRAME[["text", "price", "rooms"]])
    written_down = pd.read_csv(pd.io.common.StringIO(run("predict", folder.path, path)))["prediction"]
    complete = FRAME[["text", "price", "rooms"]].notna().all(axis=1).to_numpy()
    np.testing.assert_allclose(written_down[complete], direct[complete], rtol=1e-12)
    # what is missing is inferred in single precision, whose rounding depends on where in its block a row stands
    np.testing.assert_allclose(written_down, direct, rtol=1e-6)


def test_an_answer_that_fails_half_way_leaves_the_old_file(
    streamed: tuple[ModelFolder, ModelFolder, Path], tmp_path: Path, small_blocks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _, path = streamed
    output = tmp_path / "out.csv"
    output.write_text("before")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(replacing, "flush_to_disk", full)
    result = CliRunner().invoke(app, ["predict", str(folder.path), str(path), "-o", str(output)])
    assert result.exit_code == 2 and "No space left" in result.output
    assert output.read_text() == "before" and [entry.name for entry in tmp_path.iterdir()] == ["out.csv"]


def test_large_files_stream_by_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "csv")
    assert not is_large(path) and not is_large(tmp_path / "none.csv") and not is_large(tmp_path)
    monkeypatch.setattr("harmonium.files.table_file.STREAMED_FROM", 4 * path.stat().st_size)
    assert not is_large(path)
    monkeypatch.setattr("harmonium.files.table_file.STREAMED_FROM", path.stat().st_size)
    assert is_large(path)
    said = CliRunner().invoke(app, ["fit", str(path), *OPTIONS[:-1], "--holdout", "0", "-o", str(tmp_path / "m")])
    assert "Streaming table.csv: 230 rows in blocks of 10,000" in " ".join(said.output.split())
    assert ModelFolder.open(tmp_path / "m").notes["streamed"]["rows"] == N


def test_what_cannot_be_streamed_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "csv")
    for options, text in (
        ((path, "--image", "text", "--stream"), "columns of pictures are read whole"),
        ((tmp_path / "x.npz", "--stream"), "takes .csv, .jsonl and .parquet"),
        ((path, "--stream", "--target", "none"), "must be a column of the table"),
    ):
        result = CliRunner().invoke(app, ["fit", *map(str, options)])
        assert result.exit_code == 2 and text in " ".join(result.output.split())


def test_a_table_is_looked_at_once_in_memory(tmp_path: Path) -> None:
    table = StreamedTable.opened(written(tmp_path, "csv"), "stars", kept=50)
    assert len(table.sample) == len(table.rows) == 46 and table.rows[1] == 5
    assert table.target is not None and table.target["stars"].tolist() == FRAME["stars"].tolist()
