"""As many units are found as there are features in the data, whatever the parts, the seed and the truncation."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from harmonium import IBP, LBFGS, Harmonium, HarmoniumWarning, Stochastic
from harmonium.hidden import SpikeSlab
from harmonium.objectives import MeanFieldCD, PersistentCD
from tests.cases.selection import FEW, HAS, QUICK, X, assert_found, features, quick


def test_five_features_of_fifty_units() -> None:
    """The example of the documentation."""
    rng = np.random.default_rng(0)
    has = rng.random((500, 5)) < 0.4
    data = has @ rng.normal(size=(5, 30)) * 2 + rng.normal(size=(500, 30))
    model = Harmonium(hidden=IBP(truncation=50), random_state=0).fit(data)
    assert model.n_components_ == 5 and not model.fitted_.truncation_reached
    assert_found(model, has, data)


@pytest.mark.parametrize("seed", range(3))
def test_the_number_depends_neither_on_the_truncation_nor_on_the_seed(seed: int) -> None:
    data, has = features(seed=10 + seed)
    numbers = []
    for truncation in (6, 12):
        model = quick(truncation, random_state=seed).fit(data)
        numbers.append(model.n_components_)
        assert_found(model, has, data)
    assert abs(numbers[0] - 3) <= 1 and abs(numbers[0] - numbers[1]) <= 1


@pytest.mark.parametrize("seed", range(2))
def test_noise_has_no_features(seed: int) -> None:
    noise = np.random.default_rng(seed).normal(size=(300, 15))
    with pytest.warns(HarmoniumWarning, match=r"IBP found no unit that stands out of chance.*; use more rows.*\.$"):
        model = quick(random_state=seed).fit(noise)
    assert model.n_components_ == 1 and not model.fitted_.truncation_reached
    assert model.transform(noise).shape == (300, 1)


def test_too_small_a_truncation_is_said() -> None:
    with pytest.warns(HarmoniumWarning, match=r"All 2 units of IBP are in use.*; pass a larger truncation\.$") as found:
        model = quick(2).fit(X)
    assert model.fitted_.truncation_reached and model.n_components_ == 2
    assert found[0].filename == __file__
    with pytest.warns(HarmoniumWarning, match=r"All 2 units of SpikeSlab are in use.*; pass a larger n_units\.$"):
        Harmonium(2, hidden=SpikeSlab(), driver=QUICK, random_state=0).fit(X)


@pytest.mark.parametrize(
    "settings_",
    [
        {"hidden": SpikeSlab(n_units=8)},
        {"hidden": IBP("learn", truncation=8)},
        {"objective": PersistentCD()},
        {"driver": Stochastic(max_iter=200, batch_size=150, learning_rate=0.09)},  # two batches
    ],
    ids=["SpikeSlab", "learn", "PersistentCD", "large batches"],
)
def test_other_parts_find_them_too(settings_: dict[str, Any]) -> None:
    model = quick(**settings_).fit(X)
    assert 3 <= model.n_components_ <= 4 and not model.fitted_.truncation_reached
    assert_found(model, HAS, X)
    assert model.history_["n_components"][-1] == model.n_components_
    assert np.isfinite(model.history_["prior_bound"]).all()
    if model.hidden.alpha == "learn":
        assert model.fitted_.parameters["hidden.alpha"][0] != 2.0


def test_whole_batches_find_them_too() -> None:
    model = quick(10, objective=MeanFieldCD(), driver=LBFGS(max_iter=60)).fit(X)
    assert 3 <= model.n_components_ <= 4
    assert_found(model, HAS, X)


def test_real_units_need_no_more_than_there_are_directions() -> None:
    model = quick(layer={"kind": "real"}).fit(X)
    assert 1 <= model.n_components_ <= 5
    layer = model.fitted_.energy.layer(model.fitted_.parameters)
    natural = clone_output(model, "natural").transform(X)
    np.testing.assert_allclose(layer.presence(natural).mean(axis=0), model.fitted_.usage, atol=1e-5)
    apart = quick(layer={"kind": "real", "inference": "factorised"}, driver=FEW).fit(X)
    assert np.isfinite(apart.transform(X)).all() and np.isfinite(apart.score(X))


def clone_output(model: Harmonium, output: str) -> Harmonium:
    return pickle.loads(pickle.dumps(model)).set_params(output=output)


def test_several_views_some_missing() -> None:
    data, has = features(width=24)
    views = {"a": data[:, :10], "b": data[:, 10:18].copy(), "c": (data[:, 18:] > 0).astype(float)}
    views["b"][::5] = np.nan
    views["a"] = np.where(np.random.default_rng(1).random(views["a"].shape) < 0.05, np.nan, views["a"])
    model = quick().fit(views)
    assert 3 <= model.n_components_ <= 4
    assert_found(model, has, views)
    assert model.transform({"a": views["a"]}).shape == (300, model.n_components_)
    assert model.predict_view("b", {"a": views["a"], "c": views["c"]}).shape == (300, 8)


def test_fewest_rows_and_units() -> None:
    for n_rows in (1, 2, 9):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HarmoniumWarning)
            for kind in ("binary", "real"):
                model = Harmonium(hidden=IBP(truncation=1, kind=kind), driver=FEW, random_state=0).fit(X[:n_rows])
                assert model.n_components_ == 1 and np.isfinite(model.transform(X)).all()


def test_views_that_never_meet() -> None:
    data = {"a": X[:, :7].copy(), "b": X[:, 7:].copy()}
    data["a"][:150] = np.nan  # whole batches lack one of the views
    data["b"][150:] = np.nan
    for objective in (None, MeanFieldCD()):
        model = quick(driver=FEW, objective=objective).fit(data)
        assert np.isfinite(model.transform(data)).all() and np.isfinite(model.fitted_.usage).all()
