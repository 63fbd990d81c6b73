"""Curves of single columns: found where the truth bends, exact in every sum, kept by files, absent elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from harmonium import (
    EpsilonInsensitive,
    HarmoniumClassifier,
    HarmoniumRegressor,
    Hinge,
    Poisson,
    Stochastic,
    Views,
    load,
)
from harmonium.core.batch import Batch
from harmonium.core.targets import Targets
from harmonium.estimators.input import known_views
from harmonium.heads import MultiLabelHinge
from harmonium.inspection import score_parts
from harmonium.linear.curve_search import Columns, add_curves
from harmonium.linear.curves import Curves, columns_of
from harmonium.linear.features import PreparedViews
from harmonium.linear.score_columns import out_of_fold
from harmonium.linear.search import linear_search
from harmonium.queries.prediction import scores
from harmonium.views.data import Data

RNG = np.random.default_rng(0)
N = 4000
FRAME = pd.DataFrame(
    {
        "age": RNG.uniform(20, 80, N).round(),
        "hours": RNG.normal(40, 10, N),
        "city": RNG.choice(["Rome", "Oslo", "Bern", "Linz"], N),
    }
)
FRAME.loc[RNG.random(N) < 0.1, "age"] = np.nan
FRAME.loc[RNG.random(N) < 0.05, "city"] = None
BEND = np.where(FRAME["age"].isna(), 1.5, 2 - np.abs(FRAME["age"].fillna(50) - 50) / 10)
CITY = FRAME["city"].map({"Rome": 1.0, "Oslo": -1.0, "Bern": 0.0, "Linz": 0.5}).fillna(0.0)
SCORE = (BEND + CITY).to_numpy()
RICH = np.where(RNG.random(N) < 1 / (1 + np.exp(-2 * SCORE)), "yes", "no")
PRICE = 100 * SCORE + 20 * RNG.normal(size=N)
FEW: dict[str, Any] = {"driver": Stochastic(max_iter=3), "random_state": 0}
TRAIN, TEST = slice(0, 3200), slice(3200, None)


def classifier(**keywords: Any) -> HarmoniumClassifier:
    return HarmoniumClassifier(3, **FEW, **keywords)


@pytest.fixture(scope="module", autouse=True)
def no_kernel() -> Iterator[None]:
    """Leave Nystroem features out, which would bend as well where rows are few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harmonium.linear.search._FEW_ROWS", 0)
        yield


@pytest.fixture(scope="module")
def model() -> HarmoniumClassifier:
    return classifier().fit(FRAME[TRAIN], RICH[TRAIN])


@pytest.fixture(scope="module")
def regressor() -> HarmoniumRegressor:
    return HarmoniumRegressor(3, **FEW).fit(FRAME[TRAIN], PRICE[TRAIN])


def curves_of(model: Any) -> Curves:
    part = model.fitted_.head.input_parts_[0]
    assert part is not None
    assert part.curves is not None
    return part.curves


# ---- found where they pay --------------------------------------------------------------------------------------------
def test_what_bends_is_found(model: HarmoniumClassifier, regressor: HarmoniumRegressor) -> None:
    straight = classifier(head=Hinge(linear_part="linear")).fit(FRAME[TRAIN], RICH[TRAIN])
    best = np.mean((SCORE[TEST] > 0) == (RICH[TEST] == "yes"))
    assert straight.score(FRAME[TEST], RICH[TEST]) < best - 0.05
    assert model.score(FRAME[TEST], RICH[TEST]) > best - 0.015
    assert regressor.score(FRAME[TEST], PRICE[TEST]) > 0.95
    assert model.fitted_.shares["curves"] > 0.2
    assert "from curves" in str(model.fitted_.account)
    assert straight.fitted_.head.input_parts_[0].curves is None  # type: ignore[union-attr]
    assert "curves" not in straight.fitted_.shares


def test_the_curve_is_the_truth(regressor: HarmoniumRegressor) -> None:
    why = regressor.explain(FRAME[TEST][:200])
    found = pd.DataFrame([one.table(by="view").set_index("view")["total"] for one in why])
    for name, truth in (("age", BEND), ("city", CITY)):
        off = found[name].to_numpy() / 100 - truth[TEST][:200]
        assert np.std(off) < 0.15


def test_labels_have_curves() -> None:
    labels = np.column_stack([RICH == "yes", RNG.random(N) < 0.3, PRICE > 200]).astype(int)
    model = classifier(head=MultiLabelHinge(measure="accuracy")).fit(FRAME[TRAIN], labels[TRAIN])
    assert model.fitted_.shares["curves"] > 0
    assert score_parts(model, FRAME[TEST][:5])["curves"].shape == (5, 3)


def test_lines_texts_and_noise_have_none() -> None:
    line = 2.0 * FRAME["hours"].to_numpy() + RNG.normal(size=N)
    found = HarmoniumRegressor(3, **FEW).fit(FRAME[["hours"]][TRAIN], line[TRAIN])
    assert found.score(FRAME[["hours"]][TEST], line[TEST]) > 0.99
    noise = HarmoniumRegressor(3, **FEW).fit(FRAME[TRAIN], RNG.normal(size=N)[TRAIN])
    assert noise.fitted_.shares.get("curves", 0.0) == 0
    words = Views({"words": scipy.sparse.csr_array(RNG.poisson(0.1, (200, 300)).astype(float))})
    families = {"words": Poisson().bind(words.source("words").summary())}
    assert Columns.of(PreparedViews(Data(words), families)) is None


# ---- exact sums ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["model", "regressor"])
def test_parts_add_up(name: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(name)
    rows = FRAME[TEST][:12]
    whole = scores(model.fitted_, known_views(model, rows))
    parts = score_parts(model, rows)
    factor, shift = model.fitted_.head.outputs_.units()
    np.testing.assert_allclose(sum(parts.values()), whole * factor + shift, rtol=1e-9, atol=1e-9)
    for row, why in enumerate(model.explain(rows)):
        np.testing.assert_allclose(why.scores, whole[row] * factor + shift, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(why.curves.sum(axis=0), parts["curves"][row], rtol=1e-9, atol=1e-9)
        for by in ("feature", "view"):
            table = why.table(why.outputs[-1], by=by)
            split = table["through_units"] + table["inputs"] + table["curves"]
            np.testing.assert_allclose(split, table["total"], atol=1e-9)
            assert np.isclose(table["total"].sum(), why.scores[-1] - why.base[-1])
        units = why.table(why.outputs[-1], by="topic")
        assert np.isclose(units["total"].sum(), why.scores[-1] - why.base[-1])
        assert np.isclose(why.to_dict(why.outputs[-1])["curves"], why.curves[:, -1].sum())


def test_curves_are_zero_on_average(model: HarmoniumClassifier) -> None:
    """Over the rows that they learn from: all but a few whose linear scores are beyond those of held-out rows."""
    parts = score_parts(model, FRAME[TRAIN])
    assert np.abs(parts["curves"].mean(axis=0)).max() < 0.1 * parts["curves"].std()


def test_what_is_missing_has_its_own_value(regressor: HarmoniumRegressor) -> None:
    unknown = pd.DataFrame({"age": [np.nan], "hours": [40.0], "city": ["Bern"]})
    assert abs(float(regressor.predict(unknown)[0]) - 150) < 25
    curves = curves_of(regressor)
    families = regressor.fitted_.families
    lacking = curves._shares(families, Batch({}, 2), {})
    for name, functions in curves.by_view.items():
        for column, function in functions.items():
            np.testing.assert_allclose(lacking[name][column][1], function.missing)
    no_numbers = pd.DataFrame({"age": [np.nan], "hours": [np.nan], "city": ["Bern"]})
    (why,) = regressor.explain(no_numbers)
    assert np.isclose(why.base[0] + why.table()["total"].sum(), regressor.predict(no_numbers)[0], rtol=1e-5)
    assert why.table().set_index("view")["curves"]["age"] != 0


# ---- files -----------------------------------------------------------------------------------------------------------
def test_files_keep_them(model: HarmoniumClassifier, tmp_path: Path) -> None:
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict_proba(FRAME[TEST]), model.predict_proba(FRAME[TEST]))
    assert again.fitted_.shares == model.fitted_.shares


def test_files_that_are_wrong_are_refused(model: HarmoniumClassifier) -> None:
    constants = curves_of(model).constants()
    name = next(key for key in constants if key.endswith("/thresholds") and len(constants[key]) > 2)
    values = name.replace("/thresholds", "/values")
    with pytest.raises(ValueError, match="ascending"):
        Curves.restored(constants | {name: constants[name][::-1]}, 2)
    with pytest.raises(ValueError, match="3 finite numbers"):
        Curves.restored(constants, 3)
    with pytest.raises(ValueError, match="2 finite numbers"):
        Curves.restored(constants | {values: np.full_like(constants[values], np.nan)}, 2)
    assert Curves.restored({"factors": np.zeros(0)}, 2) is None
    curves_of(model).check(model.families_, [], 2)
    with pytest.raises(ValueError, match="its 0 columns"):
        curves_of(model).check({"words": model.families_["numbers"]}, [], 2)
    with pytest.raises(ValueError, match="its 2 columns"):
        Curves({"numbers": {2: next(iter(curves_of(model).by_view["numbers"].values()))}}).check(model.families_, [], 2)


# ---- what they learn from --------------------------------------------------------------------------------------------
def test_columns_are_those_of_the_data(model: HarmoniumClassifier) -> None:
    views = known_views(model, FRAME[TRAIN])
    families = model.fitted_.families
    columns = Columns.of(PreparedViews(Data(views), families))
    assert columns is not None
    by_name = {name: number for number, name in enumerate(columns.names)}
    age, city = columns.values[:, by_name["numbers", 0]], columns.values[:, by_name["categories", 0]]
    np.testing.assert_array_equal(np.isnan(age), FRAME["age"][TRAIN].isna())
    known = ~np.isnan(age)
    assert np.corrcoef(pd.Series(age[known]).rank(), FRAME["age"][TRAIN][known].rank())[0, 1] > 0.9999
    levels = pd.Series(city).groupby(FRAME["city"][TRAIN].to_numpy()).nunique()
    assert (levels == 1).all()
    assert columns.are_codes.tolist() == [name == "categories" for name, _ in columns.names]
    batch = views.batch(np.arange(3), families).views["numbers"]
    np.testing.assert_array_equal(
        columns_of(families["numbers"], batch)[:, 0], columns.values[:3, by_name["numbers", 0]]
    )


@pytest.mark.parametrize("n_rows", [600, 3200])
def test_scores_are_by_models_that_have_not_seen_the_row(n_rows: int) -> None:
    """The target of a row does not move its own score, with three folds and with one."""
    rows = np.arange(n_rows)
    model = HarmoniumRegressor(2, **FEW).fit(FRAME[:n_rows], PRICE[:n_rows])
    head, families = model.fitted_.head, model.fitted_.families
    assert head is not None
    values = (PRICE[:n_rows, None] - PRICE[:n_rows].mean()) / PRICE[:n_rows].std()
    n_folds = 3 if n_rows < 3000 else 1
    held = np.array_split(rows, 3)[:n_folds] if n_folds == 3 else [rows[::7]]
    folds = [(np.setdiff1d(rows, part), part) for part in held]
    found = []
    changed = int(folds[0][0][5])
    for bump in (0.0, 1.0):
        moved = values.copy()
        moved[changed] += bump
        data = Data(known_views(model, FRAME[:n_rows]), Targets(moved, np.ones(n_rows)))
        search = linear_search(head, families, data, folds)
        found.append(out_of_fold(search, search.tried[0]).total)
    assert np.isfinite(found[0]).all(axis=1).mean() > 0.95
    np.testing.assert_array_equal(found[0][changed], found[1][changed])
    assert not np.array_equal(found[0], found[1])


def test_curves_stay_only_if_they_are_clearly_better(model: HarmoniumClassifier) -> None:
    head = model.fitted_.head
    assert head is not None
    rows = np.arange(3200)
    folds = [(rows[rows % 6 > 0], rows[rows % 6 == 0])]
    views = Data(
        known_views(model, FRAME[TRAIN]), Targets((RICH[TRAIN] == "yes")[:, None].astype(np.int64), np.ones(3200))
    )
    search = linear_search(head, model.fitted_.families, views, folds)
    plain = search.best()
    add_curves(search)
    curved = search.curved
    assert curved is not None
    assert search.best() is curved
    assert curved.error < plain.error
    base = search.simplest(search.best_without_kernel())
    # were they no better on rows that neither part has seen, they would not be chosen
    for worse in (
        {"losses": curved.losses_before, "losses_before": curved.losses},
        {"gains": -curved.gains},
    ):
        search.curved = replace(curved, **worse)
        assert not search.curved.improves(base, slice(None), search.targets.weight)
        assert search.best() is base
    # rows are left out in two more folds, as the search has but one
    assert len(curved.errors) == len(folds[0][1]) and len(curved.losses) > 3000


# ---- columns that act together ---------------------------------------------------------------------------------------
def test_columns_that_act_together_have_trees(tmp_path: Path) -> None:
    together = np.where(FRAME["age"].fillna(0) > 50, 1, -1) * np.where(FRAME["city"].isin(["Rome", "Bern"]), 1.0, -1.0)
    y = together * (FRAME["hours"].to_numpy() - 30) / 10 + 0.1 * RNG.normal(size=N)
    model = HarmoniumRegressor(3, **FEW).fit(FRAME[TRAIN], y[TRAIN])
    assert model.score(FRAME[TEST], y[TEST]) > 0.9  # curves of single columns explain nothing here
    assert curves_of(model).trees is not None and not curves_of(model).by_view
    predicted = model.predict(FRAME[TEST])
    for why, number in zip(model.explain(FRAME[TEST][:5]), predicted, strict=False):
        assert why.table()["total"].sum() + why.base[0] == pytest.approx(number)
    model.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "model.safetensors").predict(FRAME[TEST]), predicted)


def test_columns_that_only_add_have_curves(regressor: HarmoniumRegressor) -> None:
    assert curves_of(regressor).trees is None


def test_names_act_together_with_numbers(tmp_path: Path) -> None:
    """Trees ask for what a name is worth by the linear part, and say so."""
    rng = np.random.default_rng(1)
    makers, kinds = rng.integers(40, size=N), rng.integers(40, size=N)
    frame = pd.DataFrame(
        {
            "name": [f"maker{maker} kind{kind}" for maker, kind in zip(makers, kinds, strict=True)],
            "age": rng.integers(0, 20, N).astype(float),
            "km": rng.normal(size=N),
        }
    )
    worth = rng.normal(size=40)[makers] + rng.normal(size=40)[kinds]
    y = worth * np.where(frame["age"] > 10, 0.2, 2.0) + 0.1 * rng.normal(size=N)
    model = HarmoniumRegressor(3, **FEW).fit(frame[TRAIN], y[TRAIN])
    assert any(column < 0 for _, column in curves_of(model).tree_columns)
    straight = HarmoniumRegressor(3, head=EpsilonInsensitive(linear_part="linear"), **FEW).fit(frame[TRAIN], y[TRAIN])
    assert model.score(frame[TEST], y[TEST]) > straight.score(frame[TEST], y[TEST]) + 0.1
    predicted = model.predict(frame[TEST])
    for why, number in zip(model.explain(frame[TEST][:5]), predicted, strict=False):
        table = why.table()
        assert table["total"].sum() + why.base[0] == pytest.approx(number)
        assert {"(linear score)", "(linear score of name)"} & set(table["feature"])
        assert why.table(by="view")["total"].sum() + why.base[0] == pytest.approx(number)
    parts = score_parts(model, frame[TEST][:5])
    np.testing.assert_allclose(sum(parts.values())[:, 0], predicted[:5], atol=1e-5)
    model.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "model.safetensors").predict(frame[TEST]), predicted)
    with pytest.raises(ValueError, match="must be those of"):
        curves_of(model).check(model.fitted_.families, [], 1)


def test_columns_that_tell_nothing_of_labels_that_never_change_have_no_curves() -> None:
    X = pd.DataFrame({"a": [0.0] * 39 + [1.0]})
    model = HarmoniumClassifier(2, driver=Stochastic(max_iter=1), random_state=0).fit(X, np.ones((40, 2), dtype=int))
    np.testing.assert_array_equal(model.predict(X), 1)
