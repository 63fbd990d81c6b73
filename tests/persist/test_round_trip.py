"""Model files: what goes in comes out, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import harmonium
from harmonium import Bernoulli, Columns, Gaussian, Harmonium, HarmoniumWarning, Stochastic
from harmonium.core.parts import registered
from harmonium.exceptions import IncompatiblePartsError
from harmonium.families import Binomial
from harmonium.hidden import SpikeSlab
from harmonium.objectives import MeanFieldCD
from harmonium.persist import load_model
from harmonium.training import Adam
from tests.cases.models import REAL, hidden_names
from tests.cases.persist import COUNTS, DATA, SECOND, fitted


def part(kind: str, name: str) -> Any:
    if name == REAL:
        return SpikeSlab(kind="real", variance=0.8)
    part_class: Any = registered(kind)[name]
    return part_class(4) if part_class is Binomial else part_class()


def assert_same(model: Harmonium, again: Harmonium, X: Any) -> None:
    for view in model.families_:
        assert model.topics(view, n=None, by="weight").equals(again.topics(view, n=None, by="weight"))
    np.testing.assert_array_equal(model.transform(X), again.transform(X))
    np.testing.assert_array_equal(model.score_samples(X), again.score_samples(X))


@pytest.mark.parametrize("ending", ["model.safetensors", "model"])
@pytest.mark.parametrize("hidden", hidden_names())
@pytest.mark.parametrize("family", sorted(registered("family")))
def test_every_pair_of_parts_survives(family: str, hidden: str, ending: str, tmp_path: Path) -> None:
    X = {"x": DATA.get(family, COUNTS), "other": SECOND}
    model = Harmonium(
        3,
        views={"x": part("family", family), "other": Gaussian("learn")},
        hidden=part("hidden", hidden),
        driver=Stochastic(max_iter=2),
        random_state=0,
    )
    try:
        model.fit(X)
    except IncompatiblePartsError:
        pytest.skip("cannot be normalised together")
    model.save(tmp_path / ending)
    again = harmonium.load(tmp_path / ending)
    assert_same(model, again, X)
    for name, other in (("x", "other"), ("other", "x")):
        given_view = {other: X[other]}
        np.testing.assert_array_equal(model.predict_view(name, given_view), again.predict_view(name, given_view))
    assert again.history_ == model.history_
    assert (again.n_iter_, again.n_components_) == (model.n_iter_, model.n_components_)
    assert repr(again) == repr(model)


@pytest.mark.parametrize(
    "views",
    [
        {"a": slice(0, 5), "b": Columns(slice(5, None, 1), Gaussian())},
        {"a": Columns([0, 1, 2, 3, 4], Bernoulli()), "b": (5, 6, 7)},
        {"a": range(5), "b": np.arange(5, 8)},
        {"a": Columns(np.arange(8) < 5), "b": np.arange(8) >= 5},
        {"a": [f"c{i}" for i in range(5)], "b": np.array(["c5", "c6", "c7"])},
    ],
)
def test_columns_of_one_frame_survive(views: Any, tmp_path: Path) -> None:
    X = pd.DataFrame(np.hstack([DATA["Bernoulli"], SECOND]), columns=[f"c{i}" for i in range(8)])
    model = Harmonium(2, views=views, driver=Stochastic(max_iter=1), random_state=0).fit(X)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert_same(model, again, X)
    assert list(again.feature_names_in_) == list(X.columns)
    assert again.n_features_in_ == 8
    clone(again).fit(X)
    with pytest.raises(ValueError, match="feature names"):
        again.transform(X.rename(columns={"c0": "other"}))


@pytest.mark.parametrize("views", [[Bernoulli(), "infer"], (Bernoulli(), Gaussian()), {"view0": Bernoulli()}])
def test_lists_of_families_survive(views: Any, tmp_path: Path) -> None:
    model = Harmonium(2, views=views, driver=Stochastic(max_iter=1, optimizer=Adam(beta1=0.8)), random_state=0)
    model.fit([DATA["Bernoulli"], SECOND]).save(tmp_path / "model.safetensors")
    again = load_model(tmp_path / "model.safetensors")
    assert type(again.views) is type(views)
    assert again.driver.optimizer.beta1 == 0.8
    assert repr(again.views) == repr(views)


def test_a_loaded_model_goes_on_learning_and_is_saved_again(tmp_path: Path) -> None:
    model = fitted(objective=MeanFieldCD(n_steps=2))
    X = {"words": DATA["Bernoulli"], "colour": SECOND}
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model").partial_fit(X).partial_fit(X)
    assert again.n_iter_ == model.n_iter_ + 2
    assert not np.array_equal(again.transform(X), model.transform(X))
    again.save(tmp_path / "model")
    assert_same(again, load_model(tmp_path / "model"), X)
    description, tensors = sorted(entry.name for entry in (tmp_path / "model").iterdir())
    assert description == "model.json" and tensors.startswith("tensors-")


def test_what_was_fitted_counts_rather_than_later_set_params(tmp_path: Path) -> None:
    model = fitted().set_params(n_components=9, output="natural")
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert (again.n_components, again.n_components_) == (9, 3)
    assert_same(model, again, {"words": DATA["Bernoulli"], "colour": SECOND})


def test_views_without_feature_names(tmp_path: Path) -> None:
    model = fitted()
    del model.fitted_.feature_names["colour"]
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert list(again.fitted_.feature_names) == ["words"]


def test_saving_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    model = fitted()
    for name in ("a.safetensors", "b.safetensors"):
        model.save(tmp_path / name)
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()


def test_generators_are_saved_as_none_with_a_warning(tmp_path: Path) -> None:
    model = fitted(random_state=np.random.RandomState(0))
    with pytest.warns(HarmoniumWarning, match="saved as None"):
        model.save(tmp_path / "model")
    assert load_model(tmp_path / "model").random_state is None


def test_numpy_numbers_and_infinities_survive(tmp_path: Path) -> None:
    model = fitted(n_components=np.int64(3), random_state=np.int32(4))
    model.history_["odd"] = [float("nan"), float("inf"), np.float32(0.1)]
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.random_state == 4
    np.testing.assert_array_equal(again.history_["odd"], model.history_["odd"])
