"""Reports on factors: signed weights, variance explained, and which items have which views."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harmonium import Harmonium, ModelFolder
from harmonium.report import explained_table, render_report, summarise


@pytest.fixture(scope="module")
def views() -> dict:
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(60, 1))
    rna = factor @ np.array([[2.0, -2.0, 0.0, 0.0]]) + 0.3 * rng.normal(size=(60, 4))
    drugs = factor @ np.array([[1.0, 0.0, -1.0]]) + 0.3 * rng.normal(size=(60, 3))
    drugs[:15] = np.nan
    return {"rna": rna, "drugs": drugs}


def test_reports_of_factors_have_signed_weights_and_shares_of_views(views: dict, tmp_path: Path) -> None:
    model = Harmonium(2, hidden="factor", random_state=0).fit(views)
    summary = summarise(ModelFolder.create(tmp_path / "cohort", model, views), X=views)
    found = {factor["topic"]: factor["weights"] for factor in summary["factors"]["factors"]}
    for view in views:
        table = model.topics(view, n=None, by="weight")
        for number, weights in found.items():
            for entry in weights[view]:
                assert entry["weight"] == pytest.approx(table[number].loc[entry["feature"]])
    first = summary["factors"]["factors"][0]["weights"]["rna"]
    assert {entry["feature"] for entry in first[:2]} == {"rna_0", "rna_1"}
    assert first[0]["weight"] * first[1]["weight"] < 0
    table = explained_table(model, views)
    assert {row["view"]: row["all"] for row in summary["explained"]["views"]} == pytest.approx(table["all"].to_dict())
    assert summary["coverage"] == [{"n": 45, "views": ["rna", "drugs"]}, {"n": 15, "views": ["rna"]}]
    page = render_report(summary)
    assert "Variance explained by factor and view" in page and "Which items have which views" in page
    assert "Harmonium with 2 factors" in page or "Harmonium with 1 factor." in page
    assert "Topics" not in page and "% of the items" not in page
    with pytest.raises(ValueError, match="X must have the 60 items"):
        summarise(ModelFolder.open(tmp_path / "cohort"), X={"rna": views["rna"][:5]})


def test_factors_that_do_not_correlate_have_no_neighbours_and_no_tree(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    views = {"rna": rng.normal(size=(200, 3)) @ rng.normal(size=(3, 30)) + 0.1 * rng.normal(size=(200, 30))}
    model = Harmonium(5, hidden="factor", random_state=0).fit(views)
    summary = summarise(ModelFolder.create(tmp_path / "cohort", model, views))
    assert len(summary["topics"]) == 3 and summary["tree"] is None
    assert all(topic["neighbours"] == [] for topic in summary["topics"])


def test_reports_of_topics_have_no_factors(rooms: ModelFolder) -> None:
    assert summarise(rooms)["factors"] is None
