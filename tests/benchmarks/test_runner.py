"""Benchmarks are listed and run by one runner; what the READMEs say is what the stored results give."""

from __future__ import annotations

import copy
import doctest
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from benchmarks import __main__ as command_line
from benchmarks import best, provenance, readme, registry, rendering, results, runner
from benchmarks.measuring import with_error
from tests.cases.repository import ROOT

HEAVY = ("tomotopy", "cca_zoo", "mofapy2", "skrub", "catboost", "lightgbm")


@pytest.fixture
def example() -> dict:
    found = results.Result()
    found.text("Three ways.")
    rows = [["ours", with_error([0.75, -0.25]), [1, 2]], ["theirs", float("nan"), None]]
    found.table("ways", {"method": None, "loss": "{:.2f}", "units": None}, rows)
    made = {"commit": "0123abcd", "sources": {"harmonium.kernels": "00ff"}, "seconds": 150.0, "seeds": 2}
    return results.stored("example", "Example", found, {"rounds": (1, 2)}, ["It was once another."], made)


# ---- registry --------------------------------------------------------------------------------------------------------
def test_every_module_that_is_run_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["list"]) == 0
    listed = capsys.readouterr().out
    runnable = [path.stem for path in (ROOT / "benchmarks").glob("*.py") if "def run(options" in path.read_text()]
    assert sorted(runnable) == registry.names()
    for name in runnable:
        benchmark, _ = registry.load(name)
        (line,) = (line for line in listed.splitlines() if line.split()[0] == name)
        for part in (benchmark.claim, benchmark.takes, *benchmark.data):
            assert part in line


def test_quick_settings_are_settings_of_the_same_kind() -> None:
    for name in registry.names():
        benchmark, _ = registry.load(name)
        for setting, value in (benchmark.quick or {}).items():
            assert type(value) is type(benchmark.settings[setting]), (name, setting)


def test_the_registry_does_not_import_heavy_rivals() -> None:
    code = "import sys; from benchmarks import registry; registry.names(); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not set(HEAVY) & set(run.stdout.split())


def test_an_unknown_name_is_refused_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("nothing", "results", "rivals.lda"):
        assert command_line.main(["run", name]) == 1
        assert capsys.readouterr().err.strip() == (
            f"There is no benchmark {name!r}; `python -m benchmarks list` shows all."
        )


# ---- results ---------------------------------------------------------------------------------------------------------
def test_every_result_has_a_benchmark_follows_the_schema_and_shows_its_figures() -> None:
    assert set(results.names()) <= set(registry.names())
    for name in results.names():
        result = results.read(name)  # checks the schema
        benchmark, _ = registry.load(name)
        assert result["title"] == benchmark.title
        assert set(result["settings"]) <= set(benchmark.settings)  # a setting may be younger than a result
        for part in result["parts"]:
            if part["kind"] == "figure":
                assert (results.FOLDER / part["file"]).exists(), part["file"]


def test_numbers_formats_and_spreads_are_rendered(example: dict) -> None:
    results.validate(example)
    assert rendering.markdown(example).split("\n\n", 3)[3] == (
        "Three ways.\n\n| method | loss | units |\n|---|---|---|\n| ours | 0.25 ± 0.50 | 1, 2 |\n| theirs |  |  |\n\n"
        "The values of single repetitions are lines of [example.csv](example.csv).\n\n"
        "## How the protocol came about\n\nIt was once another.\n"
    )
    shown = {0.00123456: "0.00123", 1234.5: "1.23e+03", 12.0: "12", 1234: "1234", 0.25: "0.25"}
    assert {value: rendering.shown(value) for value in shown} == shown


def test_what_is_written_is_read_again(example: dict, tmp_path: Path) -> None:
    path = results.write(example, tmp_path)
    assert results.read("example", tmp_path) == example == json.loads(path.read_text())
    assert max(map(len, path.read_text().splitlines())) <= results.WIDTH


def test_values_that_a_cell_sums_up_are_lines_beside_the_result(tmp_path: Path) -> None:
    found = results.Result()
    rows = [["a", 2, with_error([1, 2]), 3], ["b", 2, with_error([3, float("nan")]), 4]]
    found.table("ways", ["method", "units", "loss", "seconds"], rows)
    document = results.stored("example", "Example", found, {}, [], {"commit": "", "sources": {}, "seconds": None})
    results.write_values(document, found.values, tmp_path)
    assert (tmp_path / "example.csv").read_text().splitlines()[:2] == [
        ",".join(results.VALUES),
        'ways,"a, 2",loss,0,1.0',
    ]
    values = results.read_values(document, tmp_path)
    assert values["ways", "a, 2", "loss"] == [1, 2] and np.isnan(values["ways", "b, 2", "loss"][1])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda result: result.pop("date"), "A result must have the fields"),
        (lambda result: result.update(date="today"), "'date' must be YYYY-MM-DD, got 'today'"),
        (lambda result: result["parts"].append({"kind": "song"}), "a part must be of the kinds text, heading"),
        (lambda result: result["parts"].append(result["parts"][1]), "tables must have different names"),
        (lambda result: result["parts"][1]["rows"].append({"method": "ours"}), "table 'ways': a row lacks a column"),
        (lambda result: result["parts"][1]["rows"][0].update(units=True), "True is no cell of 'units'"),
        (lambda result: result["remarks"].append(3), "remarks and history must be texts, got 3"),
    ],
)
def test_what_is_not_a_result_is_refused_in_one_sentence(example: dict, change, sentence: str) -> None:
    wrong = copy.deepcopy(example)
    change(wrong)
    with pytest.raises(results.InvalidResult, match=sentence):
        results.validate(wrong)


def test_objects_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(TypeError, match="A result holds numbers and text"):
        results.Result().table("models", ["model"], [[object()]])


# ---- READMEs ---------------------------------------------------------------------------------------------------------
def test_rendered_pages_are_what_the_data_give(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["render", "--check"]) == 0, capsys.readouterr().err


def test_a_number_changed_by_hand_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page, folder = tmp_path / "README.md", tmp_path / "results"
    page.write_text(re.sub(r"\*\*0\.\d+\*\*", "**0.000**", readme.README.read_text(), count=1))
    shutil.copytree(results.FOLDER, folder)
    (folder / "growth.md").write_text("All is well.\n")
    (folder / "orphan.md").write_text("Nobody made me.\n")
    monkeypatch.setattr(readme, "README", page)
    monkeypatch.setattr(results, "FOLDER", folder)
    assert command_line.main(["render", "--check"]) == 1
    assert capsys.readouterr().err == (
        "growth.md, README.md, orphan.md differ from the data; run `python -m benchmarks render`.\n"
    )
    assert command_line.main(["render"]) == 0
    (folder / "orphan.md").unlink()
    assert command_line.main(["render", "--check"]) == 0


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ({"row": "the true model", "format": ".2f"}, "−5.70"),
        ({"row": ["the true model", "independent features"], "take": "range", "format": ".1f"}, "−6.9–−5.7"),
        ({"row": "sampled CD-1", "minus": {"row": "the true model"}, "times": 1000, "format": ".0f"}, "−23"),
        ({"setting": "chains", "format": ","}, "20,000"),
        ({"quoted": "34,523", "source": "a paper"}, "34,523"),
    ],
)
def test_numbers_of_the_readme_are_found(place: dict, shown: str) -> None:
    assert readme._number({"benchmark": "correctness", "table": "truth", "column": "nats a row", **place}) == shown


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ({"table": "nowhere"}, "correctness has no table 'nowhere', only pairs, truth"),
        ({"column": "bits"}, "Table 'truth' of correctness has no column 'bits'"),
        ({"row": "nobody"}, "name a row and column with numbers"),
        ({}, "stands for 7 numbers; say which to take"),
        ({"setting": "colour"}, "correctness has no setting 'colour'"),
        ({"quoted": "12"}, "The quoted number '12' of readme_table.toml needs a source"),
        ({"colour": "red"}, "A number of readme_table.toml has no colour"),
        ({"row": "sampled CD-1", "take": "best"}, "can take all, smallest, largest"),
    ],
)
def test_places_that_no_result_has_are_refused_in_one_sentence(place: dict, sentence: str) -> None:
    with pytest.raises(readme.UnknownPlace, match=sentence):
        readme._number({"benchmark": "correctness", "table": "truth", "column": "nats a row", **place})


def test_every_number_of_the_readme_is_shown() -> None:
    for row in tomllib.loads(readme.ROWS.read_text())["row"]:
        shown = re.findall(r"\{(\w+)\}", " ".join(row[column] for column in readme.COLUMNS))
        assert set(shown) == set(row["numbers"]), row["what"]


def test_the_scorecard_names_a_command_for_each_row() -> None:
    lines = [line for line in readme.scorecard().splitlines() if line.startswith("|")]
    rows = [line for line in lines if not line.startswith(("| what |", "|---"))]
    assert len(rows) == sum("area" in row for row in readme.all_rows())
    assert all(name in registry.names() for line in rows for name in re.findall(r"`(\w+)`", line.split("|")[-2]))
    assert all("`" in line.split("|")[-2] for line in rows)


def test_an_unknown_area_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readme, "all_rows", lambda: [{"area": "weather", "what": "rain"}])
    with pytest.raises(readme.UnknownPlace, match="The scorecard has no area weather, only what the papers define"):
        readme.scorecard()


def test_a_result_that_is_not_there_is_refused_in_one_sentence() -> None:
    with pytest.raises(results.InvalidResult, match="`python -m benchmarks run nothing` makes it"):
        results.read("nothing")


def test_what_is_better_by_more_than_a_standard_error_is_bold(monkeypatch: pytest.MonkeyPatch) -> None:
    place = {"benchmark": "example", "table": "ways", "column": "loss", "format": ".1f"}
    row = {"what": "loss", "cell": "{ours}, {theirs}", "from": place, "numbers": {"ours": "ours", "theirs": "theirs"}}
    found = results.Result()

    def shown(ours: object, theirs: object) -> str:
        found.parts.clear()
        found.table("ways", {"method": None, "loss": None}, [["ours", ours], ["theirs", theirs]])
        document = results.stored("example", "", found, {}, [], {"commit": "", "sources": {}, "seconds": None})
        monkeypatch.setattr(readme, "_result", lambda name: document)
        monkeypatch.setattr(readme, "_each", lambda name: {})
        return readme._filled({**row, "smaller": ["ours theirs"]}, "cell")

    assert shown({"mean": 1, "spread": 0.1}, {"mean": 2, "spread": 0.1}) == "**1.0**, 2.0"
    assert shown({"mean": 1, "spread": 0.8}, {"mean": 2, "spread": 0.8}) == "1.0, 2.0"
    assert shown(1, 2) == "1.0, 2.0"
    with pytest.raises(readme.UnknownPlace, match="has bold by hand; name what competes"):
        readme._filled({**row, "cell": "**{ours}**"}, "cell")


def test_values_of_the_same_seeds_are_compared_in_pairs() -> None:
    assert doctest.testmod(best).failed == 0
    ours, theirs = (best.Number(np.mean(each), 9.0, tuple(each)) for each in ([1, 5, 9], [2, 6, 10.1]))
    assert best.clearly_best({"ours": ours, "theirs": theirs}, smaller=True) == "ours"
    assert best.clearly_best({"ours": ours, "theirs": best.Number(6.0, 9.0)}, smaller=True) is None


def test_stale_results_are_refused_by_a_release(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(provenance, "state", lambda result: "current")
    monkeypatch.setattr(registry, "names", results.names)
    assert command_line.check_sources(only_stale=True) == 0 and not capsys.readouterr().err
    states = {"growth": "older than harmonium.core"}
    monkeypatch.setattr(provenance, "state", lambda result: states.get(result["benchmark"], "current"))
    assert command_line.main(["render", "--check", "--fresh"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.split()[0] == "growth" and line.endswith("older than harmonium.core")


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="must have <!-- results:begin --> and <!-- results:end --> once each"):
        readme.between("A page.", "results", "A table.")


# ---- runner ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["bayes_exact"])
def test_a_benchmark_runs_from_end_to_end(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["run", name, "--quick", "--output", str(tmp_path)]) == 0
    found, kept = results.read(name, tmp_path), results.read(name)
    assert (tmp_path / f"{name}.md").read_text() == rendering.markdown(found)
    assert rendering.markdown(found) in capsys.readouterr().out
    benchmark, _ = registry.load(name)
    assert found["settings"] == {**benchmark.settings, **benchmark.quick}
    assert found["seconds"] > 0 and found["peak_mb"] > 10
    # the stored result came from the same code: the same tables, columns and formats
    assert {name: part["columns"] for name, part in results.tables(found).items()} == {
        name: part["columns"] for name, part in results.tables(kept).items()
    }


def test_settings_are_options_of_their_own_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict = {}
    monkeypatch.setattr(runner, "run", lambda name, settings, output: given.update(settings, name=name, output=output))
    arguments = ["--folds", "2", "--resume", "--output", str(tmp_path)]
    assert command_line.main(["run", "weak_shapes", *arguments]) == 0
    assert given == {"name": "weak_shapes", "folds": 2, "resume": True, "output": tmp_path}
    given.clear()
    assert command_line.main(["run", "growth", "--quick", "--documents", "10", "20"]) == 0
    assert given["documents"] == (10, 20) and given["words"] == 200


def test_a_run_with_other_settings_does_not_replace_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["run", "growth", "--quick"]) == 1
    assert "name a folder for the result with --output" in capsys.readouterr().err


def test_the_plan_has_the_time_of_the_stored_run_if_it_had_the_settings_of_now(
    example: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    for settings, minutes in (({"rounds": (1, 2)}, 2.5), ({"rounds": (1,)}, 7)):
        benchmark = registry.Benchmark("Example", "nothing", 7, settings=settings)
        monkeypatch.setattr(registry, "load", lambda name, benchmark=benchmark: (benchmark, None))
        results.write(example, tmp_path)
        assert runner.expected_minutes("example") == minutes


def test_all_runs_each_in_a_process_of_its_own_and_says_what_it_cannot_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(registry, "names", lambda: ["growth", "bayes_exact"])
    monkeypatch.setattr(provenance, "lacking", lambda name: ["nowhere"] if name == "growth" else [])
    monkeypatch.setattr(
        subprocess, "run", lambda command, cwd: started.append(command) or subprocess.CompletedProcess(command, 0)
    )
    assert command_line.main(["all", "--plan", "--again"]) == 1 and not started
    told = capsys.readouterr()
    assert "growth: 4 min; from here on" in told.out and "growth needs nowhere, which is not installed" in told.err
    assert command_line.main(["all", "--quick", "--output", str(tmp_path)]) == 1
    (command,) = started
    assert command[2:] == ["benchmarks", "run", "bayes_exact", "--quick", "--output", str(tmp_path)]
    assert command_line.main(["all", "--quick"]) == 1


def test_a_new_run_keeps_the_history_and_prints_old_remarks(
    example: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark = registry.Benchmark("Example", "nothing", 1)
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(registry, "load", lambda name: (benchmark, lambda options: results.Result()))
    results.write({**example, "remarks": ["It was cold."]}, tmp_path)
    runner.run("example")
    found = results.read("example", tmp_path)
    assert found["history"] == ["It was once another."] and found["remarks"] == []
    assert "It was cold." in capsys.readouterr().out
