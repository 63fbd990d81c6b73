"""Units that agree become one: what the merged model says, against the model with duplicates and by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from harmonium import (
    IBP,
    Bernoulli,
    EpsilonInsensitive,
    Harmonium,
    HarmoniumClassifier,
    HarmoniumRegressor,
    Hinge,
    Langevin,
    Stochastic,
    load,
)
from harmonium.core.parameters import HIDDEN_BIAS, couplings, record
from harmonium.energy import Energy
from harmonium.heads import LabelView
from harmonium.hidden import BernoulliUnits, BinomialUnits, GaussianUnits
from harmonium.hidden.selection.merging import agreeing_units
from harmonium.inspection import merge_duplicates
from harmonium.report import near_duplicates

N_ROWS = 120
DRIVER = Stochastic(max_iter=3, learning_rate=0.02, batch_size=20)


def make_data(seed=0):
    rng = np.random.default_rng(seed)
    numbers = np.arange(N_ROWS) % 3
    words = (rng.random((N_ROWS, 12)) < np.where(np.arange(12) // 4 == numbers[:, None], 0.7, 0.05)).astype(float)
    return {"words": words, "colour": np.eye(3)[numbers] + rng.normal(size=(N_ROWS, 3))}, numbers


def with_parameters(model, parameters):
    """The same model with other parameters, of any number of units."""
    fitted = model.fitted_
    hidden = fitted.energy.hidden.restore(len(parameters[HIDDEN_BIAS]))
    problem = replace(fitted.problem, energy=Energy(fitted.families, hidden))
    training = fitted.training.with_parameters(parameters)
    model.fitted_ = replace(fitted, problem=problem, training=training)
    return model.set_params(n_components=hidden.n_units_)


def with_copies(model, n_copies=2, steepness=1.0):
    """The model with a unit for each group of four words, in which two or more make it likely, and copies of the first.

    Naturals are odd multiples of the steepness, but for the little that colours add.
    """
    units = [0] * n_copies + [1, 2]
    parameters = {name: value.copy() for name, value in model.fitted_.parameters.items()}
    groups = np.arange(model.families_["words"].n_features_) // 4 % 3
    parameters["words.weights"] = 2 * steepness * np.eye(3, dtype=np.float32)[groups]
    parameters[HIDDEN_BIAS] = np.full(3, -3 * steepness, dtype=np.float32)
    if "colour.weights" in parameters:
        parameters["colour.weights"] = 0.1 * np.eye(3, dtype=np.float32)
    for name, value in parameters.items():
        if record(name).unit_axis is not None:
            parameters[name] = np.take(value, units, axis=record(name).unit_axis)
    return with_parameters(model, parameters)


def make(kind, **settings):
    settings = {"driver": DRIVER, "random_state": 0, "hidden": BernoulliUnits()} | settings
    X, numbers = make_data()
    if kind == "classes":
        return HarmoniumClassifier(3, head=Hinge(C=1.0), validation_fraction=0, **settings).fit(X, numbers), X
    if kind == "label as a view":
        return HarmoniumClassifier(3, head=LabelView(), validation_fraction=0, **settings).fit(X, numbers), X
    if kind == "linear part":
        return HarmoniumClassifier(3, **settings).fit(X, numbers), X
    if kind == "numbers":
        head = EpsilonInsensitive(C=1.0)
        return HarmoniumRegressor(3, head=head, validation_fraction=0, **settings).fit(X, X["colour"][:, 0]), X
    return Harmonium(3, **settings).fit(X), X


def rms(one, other):
    return np.sqrt(np.mean([np.square(one[name] - other[name]).mean() for name in one]))


@pytest.mark.parametrize("n_copies", [2, 3])
@pytest.mark.parametrize("kind", ["views", "classes", "numbers", "label as a view", "linear part"])
def test_copies_become_one_and_the_model_says_the_same(kind, n_copies):
    model, X = make(kind)
    model = with_copies(model, n_copies, steepness=20)  # units are on or off, so the sums are exact
    smaller = merge_duplicates(model, X)
    assert (model.n_components_, smaller.n_components_, smaller.n_components) == (2 + n_copies, 3, 3)
    np.testing.assert_allclose(smaller.transform(X), model.transform(X)[:, n_copies - 1 :], atol=1e-6)
    before, after = model.reconstruct(X), smaller.reconstruct(X)
    for name in X:
        np.testing.assert_allclose(after[name], before[name], atol=1e-5)
    if kind != "views":
        np.testing.assert_allclose(smaller.predict(X), model.predict(X), atol=1e-5)


@pytest.mark.parametrize("hidden", [BinomialUnits(3), BernoulliUnits(weights="nonnegative")])
def test_other_units_with_a_largest_value(hidden):
    model, X = make("views", hidden=hidden)
    model = with_copies(model, steepness=20)
    smaller = merge_duplicates(model, X)
    assert smaller.n_components_ == 3
    assert rms(smaller.reconstruct(X), model.reconstruct(X)) < 1e-6


@pytest.mark.parametrize("length_normalize", [False, True])
def test_undecided_units_change_less_than_if_one_of_them_is_left_out(length_normalize):
    words = np.tile(make_data()[0]["words"], (1, 2))
    words[::2, 12:] = 0
    X = {"words": words}
    model = Harmonium(
        3, views={"words": Bernoulli(length_normalize=length_normalize)}, driver=DRIVER, random_state=0
    ).fit(X)
    model = with_copies(model, steepness=0.5)
    before, after = model.reconstruct(X), merge_duplicates(model, X).reconstruct(X)
    one = with_copies(model, 1, steepness=0.5).reconstruct(X)
    assert rms({"words": after}, {"words": before}) < 0.5 * rms({"words": one}, {"words": before})


def test_parameters_by_hand():
    model, X = make("classes")
    model = with_copies(model)
    old, new = model.fitted_.parameters, merge_duplicates(model, X).fitted_.parameters
    before = model.transform(X).mean(axis=0, dtype=np.float64)
    assert new[HIDDEN_BIAS].tolist() == pytest.approx([2 * old[HIDDEN_BIAS][0], *old[HIDDEN_BIAS][2:]])
    natural = sum(model.families_[name].codec.encode(X[name]) @ new[f"{name}.weights"] for name in X) + new[HIDDEN_BIAS]
    after = expit(natural.astype(np.float64)).mean(axis=0)
    for (weights, bias), (left, moved) in zip(couplings(old), couplings(new), strict=True):
        np.testing.assert_allclose(left, [2 * weights[0], weights[2], weights[3]], rtol=1e-5)
        np.testing.assert_allclose(moved + after @ left, bias + before @ weights, atol=1e-4)


def test_idle_units_go_and_leave_what_they_add():
    model, X = make("views")
    parameters = {name: value.copy() for name, value in model.fitted_.parameters.items()}
    for name in X:
        parameters[f"{name}.weights"][:, 1] = np.linspace(-1e-5, 1e-5, parameters[f"{name}.weights"].shape[0])
    parameters[HIDDEN_BIAS][1] = -1
    model = with_parameters(model, parameters)
    smaller = merge_duplicates(model, X)
    assert smaller.n_components_ == 2
    assert rms(smaller.reconstruct(X), model.reconstruct(X)) < 1e-5
    nothing = with_parameters(model, {name: np.zeros_like(value) for name, value in parameters.items()})
    assert merge_duplicates(nothing, X).n_components_ == 1


def test_nothing_to_merge_leaves_the_model_as_it_is():
    model, X = make("views")
    same = merge_duplicates(model, X, threshold=1.01)
    assert same is not model
    for name, value in model.fitted_.parameters.items():
        np.testing.assert_allclose(same.fitted_.parameters[name], value, atol=1e-6)


def test_the_given_model_stays_and_the_new_one_is_like_any_other(tmp_path):
    model, X = make("classes", warm_start=True)
    model = with_copies(model)
    before = {name: value.copy() for name, value in model.fitted_.parameters.items()}
    smaller = merge_duplicates(model, X)
    assert model.n_components == model.n_components_ == 4
    for name, value in before.items():
        np.testing.assert_array_equal(model.fitted_.parameters[name], value)
    smaller.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "model.safetensors").predict_proba(X), smaller.predict_proba(X))
    assert near_duplicates(smaller, X, view="words").empty
    y = make_data()[1]
    n_iter = smaller.n_iter_
    assert smaller.partial_fit(X, y).n_components_ == 3
    assert smaller.fit(X, y).n_iter_ > n_iter  # goes on, with as many units


def test_a_number_of_units_that_the_layer_states():
    X, _ = make_data()
    model = Harmonium(hidden=BernoulliUnits(4), driver=DRIVER, warm_start=True, random_state=0).fit(X)
    smaller = merge_duplicates(model, X, threshold=0.01)
    assert 1 <= smaller.n_components_ < 4
    assert smaller.hidden.n_units == smaller.n_components_ and model.hidden.n_units == 4
    assert smaller.fit(X).n_components_ == smaller.n_components_


def test_which_units_agree():
    agreement = np.array([[1, 0.95, 0.5, 0.9], [0.95, 1, 0.92, 0.2], [0.5, 0.92, 1, 0.1], [0.9, 0.2, 0.1, 1]])
    assert agreeing_units(agreement, np.array([0, 1, 2, 3]), 0.9) == [(1, 0), (3, 0)]
    assert agreeing_units(agreement, np.array([1, 0, 2, 3]), 0.9) == [(0, 1), (2, 1)]
    assert agreeing_units(agreement, np.array([2, 3]), 0.9) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden": GaussianUnits()}, "Only units with a largest value .* got GaussianUnits"),
        ({"hidden": IBP(truncation=4)}, "merged while a layer that selects its units is fitted; got IBP"),
        ({"driver": Langevin(n_draws=3, n_warmup=3, n_chains=1, start=None)}, "got a model with draws"),
    ],
)
def test_models_whose_units_cannot_be_merged_are_refused(settings, message):
    model, X = make("views", **settings)
    with pytest.raises(ValueError, match=message):
        merge_duplicates(model, X)


def test_bad_arguments_are_refused():
    model, X = make("views")
    with pytest.raises(ValueError, match="threshold"):
        merge_duplicates(model, X, 0)
    with pytest.raises(ValueError, match="at least two items"):
        merge_duplicates(model, {name: value[:1] for name, value in X.items()})
    with pytest.raises(TypeError, match="model must be a fitted Harmonium"):
        merge_duplicates("model", X)


def test_a_merged_model_names_its_topics_and_is_read_from_its_file(tmp_path):
    X = (np.random.default_rng(0).random((60, 6)) < 0.4).astype(np.float32)
    model = Harmonium(6, driver=Stochastic(max_iter=3), random_state=0).fit(X)
    merged = merge_duplicates(model, X, threshold=0.2)
    assert merged.n_components_ < 6
    assert merged.topics(n=3).shape == (merged.n_components_, 3)
    merged.save(tmp_path / "model.safetensors")
    assert load(tmp_path / "model.safetensors").topics(n=3).equals(merged.topics(n=3))
