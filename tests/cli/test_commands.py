"""The commands on a small table, as a new user would call them."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from typer.testing import CliRunner

from harmonium import ModelFolder
from harmonium.cli import app
from harmonium.cli.commands import COMMANDS
from harmonium.cli.console import put_items, put_json_list
from harmonium.cli.frame_files import write_frames
from harmonium.model_folder.passages import Passage
from tests.cases.bad_input import assert_one_sentence

RUNNER = CliRunner(env={"COLUMNS": "140"})
N = 120


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, N)
    words = ["dirty rude noisy awful smelly", "clean quiet kind lovely bright"]
    frame = pd.DataFrame(
        {
            "text": [" ".join(rng.choice(words[k].split(), 4)) for k in kind],
            "price": (40 + 40 * kind + 5 * rng.normal(size=N)).round(1),
            "stars": np.array(["bad", "good"])[kind],
        }
    )
    path = tmp_path_factory.mktemp("data") / "hotels.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def model(data: Path) -> Path:
    output = data.parent / "made"
    config = data.parent / "fit.toml"
    config.write_text('target = "stars"\ntext = "text"\nnumber = ["price"]\ntopics = 9\nseed = 3\nepochs = 5\n')
    result = RUNNER.invoke(
        app,
        ["fit", str(data), "-o", str(output), "--config", str(config), "--topics", "4", "--no-refit"],
        catch_exceptions=False,
    )
    assert result.exit_code == 0, result.output
    assert "held out" in result.stderr and "linear model" in result.stderr and "without looking" in result.stderr
    assert "words" in result.stderr and result.stdout == ""
    return output


def test_options_win_over_the_file_which_wins_over_defaults(model: Path) -> None:
    folder = ModelFolder.open(model)
    assert folder.model.n_topics_ == 4 and folder.notes["seed"] == 3
    assert folder.target is not None and folder.target.columns.tolist() == ["stars"]
    assert list(folder.model.families_) == ["text", "numbers"]


def run(*arguments: object) -> str:
    result = RUNNER.invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_predict_takes_the_raw_file_and_writes_what_is_asked_for(model: Path, data: Path, tmp_path: Path) -> None:
    stars = pd.read_csv(data)["stars"]
    found = pd.read_csv(io.StringIO(run("predict", model, data)))
    assert (found["prediction"] == stars).mean() > 0.95 and found["probability"].between(0.5, 1).all()
    assert json.loads(run("predict", model, data, "--json"))[0]["prediction"] == stars[0]
    run("predict", model, data, "-o", tmp_path / "out.jsonl")
    assert len(pd.read_json(tmp_path / "out.jsonl", lines=True)) == N


def test_answers_name_their_rows_and_carry_columns(model: Path, data: Path, tmp_path: Path) -> None:
    new = pd.read_csv(data).head(40)
    new.insert(1, "guest_id", [f"g{row}" for row in range(40)])
    new.to_csv(tmp_path / "new.csv", index=False)
    found = pd.read_csv(io.StringIO(run("predict", model, tmp_path / "new.csv", "--keep", "price, stars")))
    assert found.columns.tolist() == ["guest_id", "price", "stars", "prediction", "probability"]
    assert found["guest_id"].tolist() == new["guest_id"].tolist() and found["price"].tolist() == new["price"].tolist()
    assert pd.read_csv(io.StringIO(run("predict", model, data)))["row"].tolist() == list(range(N))
    result = RUNNER.invoke(app, ["transform", str(model), str(data), "--keep", "prize"])
    assert result.exit_code == 2 and "did you mean 'price'?" in result.stderr


def test_a_search_shows_the_passage(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = pd.read_csv(io.StringIO(run("search", model, "dirty", "-n", 3)))
    assert found.columns.tolist() == ["row", "score", "passage", "text", "price", "stars"]
    assert found["passage"].str.contains("dirty").all() and found["score"].nunique() > 1
    items = pd.DataFrame({"row": [3], "score": [0.5], "passage": [Passage("a dirty room", ((2, 7),))], "text": ["x"]})
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    put_items(items, False, ["text"], "The score is …")
    shown = capsys.readouterr()
    assert "dirty" in shown.out and "text" not in shown.out and "score is" in shown.err


def test_transform_and_annotate(model: Path, data: Path) -> None:
    latent = pd.read_csv(io.StringIO(run("transform", model, data)))
    assert latent["row"].tolist() == list(range(N))
    assert [*latent.columns[4:6], latent.columns[-1]] == ["topic_3", "dimension_0", "dimension_29"]
    placed = pd.read_csv(io.StringIO(run("transform", model, data, "--map")))
    np.testing.assert_allclose(placed[["map_x", "map_y"]], ModelFolder.open(model).map, atol=0.02)
    pd.testing.assert_frame_equal(placed.iloc[:, :-2], latent)
    found = pd.read_csv(io.StringIO(run("annotate", model, data, "--top", 1)))
    assert (found["label"] == pd.read_csv(data)["stars"]).mean() > 0.95
    words = pd.read_csv(io.StringIO(run("annotate", model, data, "--view", "text", "--top", 2)))
    assert len(words) == 2 * N


def test_search_by_words_columns_and_items(model: Path, data: Path) -> None:
    stars = pd.read_csv(data)["stars"]
    found = json.loads(run("search", model, "rude and dirty", "-n", 5, "--json"))
    assert [item["stars"] for item in found] == ["bad"] * 5 and "dirty" in found[0]["text"]
    found = json.loads(run("search", model, "--where", "price=85", "-n", 5, "--columns", "stars", "--json"))
    assert {item["stars"] for item in found} == {"good"} and set(found[0]) == {"row", "score", "stars"}
    found = json.loads(run("search", model, "--like", 0, "-n", 3, "--json"))
    assert {item["stars"] for item in found} == {stars[0]} and 0 not in [item["row"] for item in found]


def test_topics_are_edited_and_edits_undone(model: Path, data: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(model, tmp_path / "edited")
    predicted = run("predict", folder, data)
    edits = ["--merge", "3,1", "--split", "0=dirty, rude", "--rename", "3=noise", "--first", "3", "--hide", "2"]
    topics = json.loads(run("topics", folder, *edits, "--json"))
    assert {topic["topic"] for topic in topics} == {3, 0, 4} and "noise" in {topic["label"] for topic in topics}
    latent = pd.read_csv(io.StringIO(run("transform", folder, data)))
    assert latent.columns[1:5].tolist() == ["noise", "topic_0", "topic_4", "dimension_0"]
    assert run("predict", folder, data) == predicted
    assert len(json.loads(run("topics", folder, "--undo", 5, "--json"))) == 4
    for wrong in (["--undo", "1"], ["--merge", "3"], ["--rename", "3,1=a"], ["--hide", "9"]):
        result = RUNNER.invoke(app, ["topics", str(folder), *wrong])
        assert result.exit_code == 2 and "got" in result.output


def test_topics_by_a_column_of_the_items(data: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(data).drop(columns="stars").assign(date=pd.date_range("2023-01-01", periods=N, freq="W"))
    frame.to_csv(tmp_path / "dated.csv", index=False)
    fitted = ["fit", str(tmp_path / "dated.csv"), "-o", str(tmp_path / "plain"), "--text", "text", "--topics", "2"]
    result = RUNNER.invoke(app, [*fitted, "--epochs", "5", "--drop", "price"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    rows = json.loads(run("topics", tmp_path / "plain", "--by", "date", "--freq", "Y", "--json"))
    assert [row["group"] for row in rows] == ["2023", "2024", "2025"] * 2
    run("topics", tmp_path / "plain", "--by", "date", "-o", tmp_path / "by.csv")
    table = pd.read_csv(tmp_path / "by.csv")
    assert table.columns.tolist() == ["topic", "label", "group", "n", "prevalence", "low", "high"]
    wrong = RUNNER.invoke(app, ["topics", str(tmp_path / "plain"), "--freq", "Y"])
    assert wrong.exit_code and "go with --by" in wrong.stderr


def test_topics_info_and_explain(model: Path, data: Path) -> None:
    topics = json.loads(run("topics", model, "--json"))
    assert len(topics) == 4
    different = sum(topic["same_as"] is None for topic in topics)
    assert sum(line.startswith("topic ") for line in run("topics", model).splitlines()) == different
    assert "topic" in run("topics", model) and "item" in run("topics", model)
    assert json.loads(run("info", model, "--json"))["items"]["n"] == N
    assert "HarmoniumClassifier" in run("info", model) and "held out" in run("info", model)
    for new in ([], [data]):
        why = json.loads(run("explain", model, *new, "--row", 5, "--json", "-n", 100))
        total = why["base"] + sum(feature["total"] for feature in why["features"])
        assert total == pytest.approx(why["score"], abs=1e-6)
    assert "The average item has" in run("explain", model) and "│█" in run("explain", model)


def test_topics_name_features_that_they_raise_and_items_by_their_texts(model: Path) -> None:
    folder, shown, topic = ModelFolder.open(model), run("topics", model), ""
    relevance = {view: folder.model.topics(view, n=None, by="relevance") for view in folder.model.families_}
    n_listed = 0
    for line in shown.splitlines():
        if line.startswith("topic "):
            topic = line.split(":")[0].removeprefix("topic ")
        elif line.startswith("  item "):
            number, title = line.removeprefix("  item ").split(": ", 1)
            assert title == folder.items["text"][int(number)]
        elif ": " in line:
            view, names = line.strip().split(": ", 1)
            n_listed += len(names.split(", "))
            assert (relevance[view][int(topic)][names.split(", ")] >= 0).all()
    assert 0 < n_listed < relevance["text"].size + relevance["numbers"].size


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["fit", "nowhere.csv"], "does not exist"),
        (["fit", "{data}", "-o", "x.pkl"], "no ending"),
        (["fit", "{data}", "-o", "{data}"], "no ending"),
        (["fit", "{data}", "--target", "colour"], "column of the table"),
        (["fit", "{data}", "--task", "class"], "no --target"),
        (["fit", "{data}", "--text", "text", "--tags", "text"], "one role"),
        (["fit", "{data}", "--role", "text"], "COLUMN=ROLE"),
        (["fit", "{data}", "--text", "colour"], "correct the name"),
        (["fit", "{data}", "--model", "nothing"], "correct the name"),
        (["fit", "{data}", "--model", "dwh", "--target", "stars"], "does not suit"),
        (["fit", "{data}", "--others", "all"], "infer or drop"),
        (["fit", "{data}", "--text", "text", "--model", "befh", "--epochs", "3"], "takes none"),
        (["fit", "{data}", "--seed", "-1"], "--seed"),
        (["fit", "{matrix}", "--text", "name"], "holds views"),
        (["fit", "{matrix}", "--model", "rbm"], "needs 0 or 1"),
        (["fit", "{data}", "--config", "{data}"], "TOML"),
        (["predict", "{model}", "nowhere.csv"], "does not exist"),
        (["predict", "nowhere", "{data}"], "nothing at"),
        (["predict", "{model}", "{data}", "-o", "x.pkl"], "--output"),
        (["search", "{model}"], "give one of them"),
        (["search", "{model}", "zebra"], "vocabulary"),
        (["search", "{model}", "--like", "999"], "below"),
        (["search", "{model}", "--where", "price"], "COLUMN=VALUE"),
        (["search", "{data}", "rude"], "must be that of a model"),
        (["search", "rude", "{model}"], "must come before the words"),
        (["predict", "{data}", "{model}"], "must be that of a model"),
        (["fit", "{model}"], "is a model folder"),
        (["explain", "{model}", "--row", "999"], "below"),
        (["explain", "{model}", "--of", "ugly"], "correct the name"),
        (["topics", "nowhere"], "nothing at"),
    ],
)
def test_refusals_are_one_sentence_on_stderr(model: Path, data: Path, arguments: list[str], says: str) -> None:
    matrix = data.parent / "counts.npz"
    scipy.sparse.save_npz(matrix, 3 * scipy.sparse.eye_array(30, format="csr"))
    result = RUNNER.invoke(app, [argument.format(model=model, data=data, matrix=matrix) for argument in arguments])
    assert result.exit_code == 2, result.output
    assert says in result.stderr and result.stdout == "" and "Traceback" not in result.stderr
    assert_one_sentence(result.stderr.strip().splitlines()[-1].replace(str(data.parent), "folder"))


def test_small_numbers_keep_their_digits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.DataFrame({"prediction": [3.3e-12, np.nan], "kind": ["a", None]})
    expected = [{"prediction": 3.3e-12, "kind": "a"}, {"prediction": None, "kind": None}]
    write_frames([frame], tmp_path / "x.jsonl")
    assert [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()] == expected
    put_json_list([frame])
    assert json.loads(capsys.readouterr().out) == expected


def test_a_matrix_is_no_table(model: Path, tmp_path: Path) -> None:
    scipy.sparse.save_npz(tmp_path / "m.npz", scipy.sparse.eye_array(3, 10, format="csr"))
    result = RUNNER.invoke(app, ["predict", str(model), str(tmp_path / "m.npz")])
    assert result.exit_code == 2 and result.stdout == ""
    assert_one_sentence(result.stderr.strip().splitlines()[-1])


def test_a_fault_of_the_library_says_so_and_ends_with_1(monkeypatch: pytest.MonkeyPatch, model: Path) -> None:
    def fail(path: Path) -> None:
        raise RuntimeError("something")

    monkeypatch.setattr("harmonium.model_folder.ModelFolder.open", fail)
    result = RUNNER.invoke(app, ["topics", str(model)])
    assert result.exit_code == 1 and "RuntimeError: something" in result.stderr


def test_every_command_has_help() -> None:
    for name in COMMANDS:
        assert RUNNER.invoke(app, [name, "--help"]).exit_code == 0


# ---- questions to odd tables -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "n_rows", "said"),
    [
        (["--text", "review", "--target", "review"], 30, "must be read or predicted, not both"),
        (["--target", "ratng"], 30, r"\(did you mean 'rating'\?\)"),
        (["--target", "rating"], 12, "Only 12 rows have a value of 'rating', too few to hold some out"),
        (["--target", "name"], 30, "has 30 classes in 30 rows, most of them once"),
    ],
    ids=["both", "misspelt", "few", "classes"],
)
def test_odd_targets_are_questioned(tmp_path: Path, options: list[str], n_rows: int, said: str) -> None:
    texts = ["dogs bark at night", "cats and dogs sleep", "stocks fell on markets"]
    rows = [f"{texts[row % 3]},guest {chr(97 + row % 26)}{row},{row % 5}" for row in range(n_rows)]
    (tmp_path / "data.csv").write_text("\n".join(["review,name,rating", *rows]))
    arguments = ["fit", str(tmp_path / "data.csv"), "--output", str(tmp_path / "model"), "--epochs", "1", *options]
    result = RUNNER.invoke(app, arguments)
    assert re.search(said, " ".join(result.stderr.split())), result.stderr


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 2), (["demo", "--help"], 2)])
def test_closed_output_is_a_sentence(arguments: list[str], code: int) -> None:
    command = " ".join([shlex.quote(sys.executable), "-m", "harmonium", *arguments, ">&-"])
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr, "report it" in done.stderr) == (code, False, False)
    assert "output must have a place" in done.stderr


@pytest.mark.parametrize(
    ("output", "code"), [("| true", 1), ("2> /dev/full", 2), ("2>&-", 2)], ids=["left", "full", "closed"]
)
def test_output_that_cannot_be_written_is_no_traceback(output: str, code: int, capfd: pytest.CaptureFixture) -> None:
    program = "import os, sys; from harmonium.cli.errors import one_line_errors\nwith one_line_errors():\n"
    program += "    sys.stdout.write('x' * 10**6); sys.stdout.flush(); raise ValueError('no')"
    command = f"set -o pipefail; {shlex.quote(sys.executable)} -c {shlex.quote(program)} {output}"
    assert subprocess.run(["bash", "-c", command], stdout=subprocess.DEVNULL, check=False).returncode == code
    assert not capfd.readouterr().err
