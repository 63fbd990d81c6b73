"""From a table to a folder: rows held out, models compared, and a fit that goes on where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.metrics import r2_score

import harmonium
from harmonium import (
    EpsilonInsensitive,
    HarmoniumRegressor,
    ModelFolder,
    Stochastic,
    TableViews,
    fit_folder,
)
from harmonium.cli.model_names import MODELS, make_model
from harmonium.cli.target_column import read_target
from harmonium.core.notices import notice
from harmonium.core.raw_target import read_raw_target
from harmonium.estimators.input.labels import read_classes
from harmonium.evaluation.split import split_rows
from harmonium.model_folder import fit as folder_fit
from harmonium.views import Views
from tests.cases.folders import FRAME, KIND, READER, N


def regressor(**settings: Any) -> HarmoniumRegressor:
    driver = Stochastic(max_iter=3)
    head = EpsilonInsensitive(C=1.0)
    return HarmoniumRegressor(
        3, views=READER, head=head, driver=driver, validation_fraction=0.0, random_state=0, **settings
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    X = FRAME[["text", "price", "stars"]]
    return fit_folder(tmp_path_factory.mktemp("fits") / "stars", regressor(), X, "stars", items=FRAME)


def test_the_folder_has_scores_on_rows_that_were_held_out(folder: ModelFolder) -> None:
    held_out = ModelFolder.open(folder.path).held_out
    assert held_out is not None and held_out.scores["n_rows"] == len(held_out) == 32
    assert held_out.scores["n_learned"] == 128 and held_out.scores["refitted"]
    learned = np.setdiff1d(np.arange(N), held_out.rows)
    trial = regressor().fit(FRAME.iloc[learned][["text", "price"]].reset_index(drop=True), FRAME["stars"][learned])
    again = trial.predict(FRAME.iloc[held_out.rows][["text", "price"]])
    np.testing.assert_allclose(held_out.predicted[:, 0], again, rtol=1e-6)
    value = held_out.scores["measures"][0]["models"][0]["value"]
    assert value == pytest.approx(r2_score(FRAME["stars"][held_out.rows], again))
    assert not folder.path.with_name("stars.unfinished").exists()


def test_its_model_is_fitted_on_all_rows(folder: ModelFolder) -> None:
    X = FRAME[["text", "price"]]
    whole = regressor().fit(X, FRAME["stars"])
    np.testing.assert_array_equal(folder.model.predict(X), whole.predict(X))  # type: ignore[attr-defined]


def test_without_refit_it_is_the_model_that_was_compared(tmp_path: Path) -> None:
    X = FRAME[["text", "price", "stars"]]
    made = fit_folder(tmp_path / "x", regressor(), X, "stars", refit=False)
    assert made.model.fitted_.training.n_items == 128 and made.scores is not None and not made.scores["refitted"]
    assert len(made) == N


class Stop(Exception):
    """Stands for a process that is killed."""


@pytest.mark.parametrize("after", ["trial", "final"])
def test_a_fit_that_was_stopped_goes_on_to_the_same_result(
    tmp_path: Path, folder: ModelFolder, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    fits: list[int] = []

    def fit(self: HarmoniumRegressor, X: Any, y: Any) -> HarmoniumRegressor:
        if len(fits) == (1 if after == "trial" else 2):
            raise Stop
        fits.append(len(X))
        return original(self, X, y)

    def create(*given: Any, **others: Any) -> ModelFolder:
        raise Stop

    original = HarmoniumRegressor.fit
    X = FRAME[["text", "price", "stars"]]
    with monkeypatch.context() as patch:
        patch.setattr(HarmoniumRegressor, "fit", fit)
        if after == "final":
            patch.setattr(folder_fit.ModelFolder, "create", create)
        with pytest.raises(Stop):
            fit_folder(tmp_path / "stars", regressor(), X, "stars", items=FRAME)
    assert not (tmp_path / "stars").exists() and len(fits) == (1 if after == "trial" else 2)
    with monkeypatch.context() as patch:
        patch.setattr(HarmoniumRegressor, "fit", lambda self, X, y: fits.append(len(X)) or original(self, X, y))
        again = fit_folder(tmp_path / "stars", regressor(), X, "stars", items=FRAME)
    assert len(fits) == 2  # nothing was done twice
    np.testing.assert_array_equal(again.coordinates, folder.coordinates)
    assert again.scores == folder.scores
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stars"]


def test_another_share_of_rows_is_learned_from_anew(tmp_path: Path) -> None:
    X, fits = FRAME[["text", "price", "stars"]], []

    def fit(self: HarmoniumRegressor, X: Any, y: Any) -> Any:
        fits.append(len(y))
        if len(fits) == 2:
            raise KeyboardInterrupt
        return whole(self, X, y)

    whole = HarmoniumRegressor.fit
    with patch.object(HarmoniumRegressor, "fit", fit):
        with pytest.raises(KeyboardInterrupt):
            fit_folder(tmp_path / "stars", regressor(), X, "stars", holdout=0.2)
        fit_folder(tmp_path / "stars", regressor(), X, "stars", holdout=0.5)
    assert fits == [N - N // 5, N, N // 2, N]


def test_other_data_do_not_go_on_from_it() -> None:
    first, second = (folder_fit._key(regressor(), FRAME, FRAME["stars"] + shift) for shift in (0, 1))
    assert first != second and first == folder_fit._key(regressor(), FRAME.copy(), FRAME["stars"])
    assert first != folder_fit._key(regressor(n_jobs=2), FRAME, FRAME["stars"])
    assert first != folder_fit._key(regressor(), FRAME.rename(columns={"price": "cost"}), FRAME["stars"])
    matrix = np.eye(3)
    one, same, other = (
        folder_fit._key(regressor(), Views({"x": x}), None) for x in (matrix, matrix.copy(), matrix[::-1])
    )
    assert one == same != other
    assert folder_fit._key(regressor(), object(), None) != folder_fit._key(regressor(), object(), None)


# ---- choosing --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "task"), [("stars", "number"), ("class", "class"), ("tags", "labels"), ("price", "number")]
)
def test_the_data_tell_what_a_target_is(name: str, task: str) -> None:
    assert read_target(FRAME, name).task == task


def test_targets_are_what_they_stand_for() -> None:
    frame = pd.DataFrame({"share": ["13%", "7.5%", "20%"], "kind": ["a", "?", "b"], "code": [1, 2, 1]})
    assert read_target(frame, "share").y.tolist() == [13, 7.5, 20]
    assert read_target(frame, "kind").y.tolist() == ["a", None, "b"]
    assert read_target(frame, "code", "class").y.tolist() == [1, 2, 1]
    assert read_target(FRAME, "tags").y.columns.tolist() == ["bad", "cheap", "dear", "good"]
    with pytest.raises(ValueError, match="correct the name"):
        read_target(frame, "colour")
    with pytest.raises(ValueError, match="must have numbers"):
        read_target(frame, "kind", "number")


@pytest.mark.parametrize("name", ["auto", *MODELS])
def test_every_model_is_made_by_its_word_or_refused(name: str) -> None:
    for task in (None, "number", "class"):
        try:
            made = make_model(name, task, 7, seed=3)  # type: ignore[arg-type]
        except ValueError as error:
            assert "choose" in str(error)
            continue
        assert made.random_state == 3
        assert bool(made.kinds) == (task is not None)
    assert make_model("auto", "class", 7).n_components == 7


@pytest.mark.parametrize("form", ["dict", "list", "sparse", "array", "polars", "anndata"])
def test_whatever_a_model_takes_can_be_held_out_and_recognised(form: str, tmp_path: Path) -> None:
    matrix = np.stack([KIND, 1 - KIND, np.random.default_rng(0).integers(0, 2, N)], axis=1).astype(np.float32)
    rows: Any = {"dict": {"v": matrix}, "list": [matrix, matrix], "array": matrix}.get(form)
    if form == "sparse":
        rows = scipy.sparse.csc_array(matrix)
    elif form == "polars":
        rows = pytest.importorskip("polars").DataFrame({"text": FRAME["text"].tolist()})
    elif form == "anndata":
        rows = pytest.importorskip("anndata").AnnData(matrix)
    model = HarmoniumRegressor(
        2, head=EpsilonInsensitive(C=1.0), driver=Stochastic(max_iter=2), validation_fraction=0.0, random_state=0
    )
    folder = fit_folder(tmp_path / "made", model, rows, FRAME["stars"].to_numpy(), refit=False)
    assert folder.scores["n_rows"] == 32 and len(folder) == N  # type: ignore[index]
    keys = {folder_fit._key(model, folder_fit._as_rows(rows), None) for _ in range(2)}
    assert len(keys) == 1


def test_an_interrupt_says_nothing_of_models_that_nobody_gets(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    class Stopped(HarmoniumRegressor):
        def fit(self, X: Any, y: Any = None, **given: Any) -> Any:
            notice("Training was interrupted after 4 epochs; fit again with warm_start=True to go on.")
            raise KeyboardInterrupt

    model = Stopped(2, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        fit_folder(tmp_path / "stars", model, FRAME[["price"]], FRAME["stars"])
    assert not recwarn.list


def test_a_model_in_closed_form_is_kept_like_others(tmp_path: Path) -> None:
    model = make_model("clusters", None, 2, views=TableViews({"text": "words"}))
    assert fit_folder(tmp_path / "spaces", model, FRAME[["text"]]).coordinates.shape == (N, 2)


def test_sparse_labels_stay_small_on_their_way() -> None:
    tags = ["a|b", "b|c", "a|c", "a|b|c"] * 40
    known = read_target(pd.DataFrame({"t": tags}), "t", "labels").y
    some = read_target(pd.DataFrame({"t": [None, *tags[1:]]}), "t", "labels").y
    assert isinstance(known.dtypes.iloc[0], pd.SparseDtype) and some.dtypes.iloc[0].itemsize == 2
    assert read_raw_target(known).values.dtype == np.int8
    for y, n_unknown in ((known, 0), (some, 3)):
        targets = read_classes(y, None).targets
        assert targets.stored.dtype == np.int8 and np.isnan(targets.values).sum() == n_unknown
        np.testing.assert_array_equal(targets.values[1:], np.asarray(known, dtype=float)[1:])
        np.testing.assert_array_equal(np.vstack(list(targets.blocks())), targets.values)
        np.testing.assert_array_equal(targets.column(1), targets.values[:, 1])
        learned, held_out = split_rows(y, 0.2, seed=0)
        assert len(held_out) == 32 and (n_unknown == 0 or 0 in learned)


def test_a_refused_fit_leaves_no_folder_beside(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="finite"):
        fit_folder(tmp_path / "model", harmonium.Harmonium(2), np.full((10, 2), np.inf))
    assert list(tmp_path.iterdir()) == []


def test_a_place_where_no_folder_can_be_is_refused_before_anything_is_fitted(tmp_path: Path) -> None:
    (tmp_path / "ring").symlink_to(tmp_path / "ring")
    announced: list[str] = []
    with pytest.raises(OSError, match="ring of links; choose another path"):
        fit_folder(
            tmp_path / "ring", regressor(), FRAME[["text", "price", "stars"]], "stars", callback=announced.append
        )
    assert not announced and [place.name for place in tmp_path.iterdir()] == ["ring"]
