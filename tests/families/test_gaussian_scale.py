"""Columns of numbers on their own scales, where held-out rows say so."""

import numpy as np
import pytest

from harmonium import Gaussian, Harmonium, HarmoniumClassifier, Hinge, load
from harmonium.estimators.input import known_views


def components(n=400, n_noise=500, seed=0):
    """A view as principal components are: a few columns that vary much and say all, and many that hardly vary."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    signal = 5 * np.eye(3)[y] + 1.5 * rng.normal(size=(n, 3))
    return {"components": np.hstack([signal, 0.1 * rng.normal(size=(n, n_noise))]), "other": rng.normal(size=(n, 2))}, y


def is_on_one_scale(family):
    return np.ptp(family.scale_) == 0


def test_held_out_rows_choose_the_scale():
    (views, y), (new, truth) = components(), components(seed=1)
    chosen, held = (
        HarmoniumClassifier(
            3, views={"components": Gaussian(scale=scale)}, head=Hinge(linear_part=False), random_state=0
        ).fit(views, y)
        for scale in ("auto", "column")
    )
    assert is_on_one_scale(chosen.families_["components"])
    assert not is_on_one_scale(held.families_["components"])
    assert chosen.score(new, truth) > held.score(new, truth) + 0.05


def test_columns_are_standardised_where_their_scales_say_nothing():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = np.stack([0.01 * (y + 0.4 * rng.normal(size=300)), 100 * rng.normal(size=300)], axis=1)
    model = HarmoniumClassifier(3, random_state=0).fit(X, y)
    assert not is_on_one_scale(model.families_["view0"])
    assert model.score(X, y) > 0.85


def test_the_linear_part_and_files_go_along(tmp_path):
    (views, y), (new, _) = components(), components(seed=1)
    model = HarmoniumClassifier(3, random_state=0).fit(views, y)
    assert is_on_one_scale(model.families_["components"]) and model.fitted_.shares["inputs"] > 0
    head, families = model.fitted_.head, model.fitted_.families
    before = {name: Gaussian().restore(family.n_features_, family.constants()) for name, family in families.items()}
    # the same path for statistics that are standardised column by column
    before["components"].scale_ = views["components"].std(axis=0)
    (part,) = head.input_parts_
    path = part.rescaled(families, before)
    data = known_views(model, new)
    batches = [data.batch(np.arange(len(data)), part) for part in (families, before)]
    np.testing.assert_allclose(part.scores(families, batches[0]), path.scores(before, batches[1]), rtol=1e-4, atol=1e-5)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").decision_function(new), model.decision_function(new))


def test_a_scale_that_is_asked_for():
    X = np.random.default_rng(0).normal(3.0, [0.1, 1.0, 20.0], size=(200, 3))
    families = [
        Harmonium(3, views=Gaussian(scale=scale), random_state=0).fit(X).families_ for scale in ("auto", "view")
    ]
    auto, view = (next(iter(one.values())) for one in families)
    assert is_on_one_scale(view) and not is_on_one_scale(auto)
    np.testing.assert_allclose(view.scale_[0], np.sqrt(X.var(axis=0).mean()), rtol=1e-6)
    np.testing.assert_allclose(view.codec.decode(view.codec.encode(X)), X, atol=1e-6)


def test_variances_to_be_learned_need_standardised_columns():
    with pytest.raises(ValueError, match=r"scale='view'; pass scale='column'"):
        Gaussian(variance="learn", scale="view").check()
    assert not is_on_one_scale(
        HarmoniumClassifier(3, views={"components": Gaussian(variance="learn")}, random_state=0)
        .fit(*components())
        .families_["components"]
    )
