"""Items are found by any of their views, among items with any other."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from sklearn.exceptions import NotFittedError

from harmonium import Bernoulli, Harmonium, HarmoniumClassifier, Stochastic, load
from harmonium.core.batch import Batch
from harmonium.core.parameters import weights_of
from harmonium.energy import Energy
from harmonium.estimators.input import known_views
from harmonium.exceptions import InvalidViewError
from harmonium.families import ReplicatedSoftmax
from harmonium.hidden import FactorUnits, GaussianUnits
from harmonium.objectives.problem import Problem
from harmonium.queries.search import linearised, search_coordinates
from harmonium.search import NearestNeighbours
from harmonium.training import FittedModel, Spectral
from harmonium.training.state import Training
from harmonium.views import Views
from tests.cases.bad_input import refuse
from tests.cases.models import compatible_pairs, make_family, make_hidden, make_parameters, random_batch

N_ROWS, N_CLASSES = 300, 3
DRIVER = Stochastic(max_iter=30, batch_size=30)
SUBSETS = (("words",), ("colours",), ("counts",), ("words", "colours"), ("words", "colours", "counts"))


def planted(seed: int = 0) -> tuple[dict[str, Any], np.ndarray]:
    """Three views that have nothing in common but a class."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, N_CLASSES, N_ROWS)
    own = kind[:, None] == np.arange(12) % N_CLASSES
    views = {
        "words": (rng.random((N_ROWS, 12)) < np.where(own, 0.7, 0.1)).astype(np.float32),
        "colours": rng.normal(size=(N_ROWS, 5)) + 2 * np.random.default_rng(9).normal(size=(N_CLASSES, 5))[kind],
        "counts": rng.poisson(np.where(own, 2.0, 0.3)).astype(np.float32),
    }
    return views, kind


def of(views: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: views[name] for name in names}


def fit(hidden: str, **given: Any) -> Harmonium:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Harmonium(6, hidden=hidden, driver=DRIVER, random_state=0, **given).fit(planted()[0])


@pytest.fixture(scope="module", params=["gaussian", "bernoulli"])
def model(request: pytest.FixtureRequest) -> Harmonium:
    return fit(request.param)


@pytest.mark.parametrize("among", SUBSETS)
@pytest.mark.parametrize("query", SUBSETS)
def test_the_class_is_found_by_any_views_among_any_others(
    model: Harmonium, query: tuple[str, ...], among: tuple[str, ...]
) -> None:
    new, kind = planted(1)
    old, known = planted(2)
    rows, scores = model.search(of(new, query), of(old, among))
    assert rows.shape == scores.shape == (N_ROWS, 10) and rows.dtype == np.int64 and scores.dtype == np.float32
    assert (known[rows] == kind[:, None]).mean() > 0.75
    assert (np.diff(scores, axis=1) <= 0).all() and np.abs(scores).max() <= 1


def test_one_word_finds_colours(model: Harmonium) -> None:
    old, known = planted(2)
    query = np.full((12, 12), np.nan)
    np.fill_diagonal(query, 1)
    rows, _ = model.search({"words": query}, of(old, ("colours",)))
    assert (known[rows] == np.arange(12)[:, None] % N_CLASSES).mean() > 0.9


@pytest.mark.parametrize("names", SUBSETS)
def test_an_item_finds_itself(model: Harmonium, names: tuple[str, ...]) -> None:
    views = of(planted(1)[0], names)
    scores = model.search(views, views, n=1)[1]
    np.testing.assert_allclose(scores, 1, atol=1e-5)


def test_coordinates_are_those_of_the_joint_normal_distribution() -> None:
    """With Gaussian views and units the model is linear: E[h | some views], by the covariance of everything."""
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(200, 2))
    views = {name: latent @ rng.normal(size=(2, 4)) + 3 * rng.normal(size=(200, 4)) for name in ("a", "b", "c")}
    model = Harmonium(2, hidden=GaussianUnits(), driver=Stochastic(max_iter=20), random_state=0).fit(views)
    fitted = model.fitted_
    weights = {name: fitted.parameters[weights_of(name)].astype(np.float64) for name in views}
    stacked = np.concatenate(list(weights.values()))
    precision = np.block([[np.eye(12), -stacked], [-stacked.T, np.eye(2)]])
    covariance = np.linalg.inv(precision)
    assert np.linalg.eigvalsh(stacked.T @ stacked)[-1] < 0.9  # within the bound
    values, directions = np.linalg.eigh(covariance[12:, 12:])
    whitening = (directions / np.sqrt(values)) @ directions.T
    for names in (("a",), ("a", "c"), ("a", "b", "c")):
        at = np.concatenate([np.arange(4) + 4 * list(views).index(name) for name in names])
        batch = known_views(model, of(views, names)).batch(slice(0, 200), fitted.families)
        statistic = np.hstack([np.asarray(batch.views[name].statistic) - fitted.reference[name] for name in names])
        expected = statistic @ np.linalg.solve(covariance[np.ix_(at, at)], covariance[np.ix_(at, [12, 13])]) @ whitening
        np.testing.assert_allclose(model.search_coordinates(of(views, names)), expected, atol=1e-5)


@pytest.mark.parametrize(("family", "hidden"), compatible_pairs())
def test_every_family_and_layer_has_a_linear_model(family: str, hidden: str) -> None:
    energy = Energy({"x": make_family(family)}, make_hidden(hidden))
    parameters = make_parameters(energy, 0)
    batch: Batch = random_batch(energy, parameters, 50)
    reference = {"x": np.asarray(batch.views["x"].statistic).mean(axis=0)}
    linear = linearised(FittedModel(Problem(energy, reference), Training(parameters)))
    assert (np.diag(linear.root) > 0).all() and np.linalg.eigvalsh(linear.precision)[0] >= 0.1 - 1e-9
    assert np.isfinite(linear.reader(["x"])).all() and np.isfinite(linear.reader([])).all()


def test_slopes_are_averages_over_the_spread_that_they_give() -> None:
    fitted = fit("bernoulli").fitted_
    linear = linearised(fitted)
    # of items, the naturals of scaled units have the covariance P⁻¹ - I
    deviation = np.sqrt(np.diag(np.linalg.inv(linear.precision) - np.eye(6)) / np.diag(linear.root) ** 2)
    natural = fitted.parameters["hidden.bias"].astype(np.float64)
    for name, mean in fitted.reference.items():
        natural = natural + mean @ fitted.parameters[weights_of(name)]
    for unit in range(6):
        centre, spread = natural[unit], deviation[unit]
        slope = quad(lambda z, c=centre, s=spread: norm.pdf(z) * expit(c + s * z) * expit(-c - s * z), -10, 10)[0]
        np.testing.assert_allclose(linear.root[unit, unit] ** 2, slope, rtol=0.01)


def test_rows_without_a_view_are_like_rows_of_the_others(model: Harmonium) -> None:
    views = planted(1)[0]
    gaps = {name: np.array(view, dtype=np.float64) for name, view in views.items()}
    gaps["words"][:100] = gaps["colours"][50:150] = np.nan
    gaps["counts"][:70] = np.nan
    with pytest.warns(UserWarning, match="lack every view"):
        found = model.search_coordinates(gaps)
    for rows, names in (
        (slice(0, 50), ("colours",)),
        (slice(70, 100), ("counts",)),
        (slice(100, 150), ("words", "counts")),
        (slice(150, None), ("words", "colours", "counts")),
    ):
        np.testing.assert_allclose(found[rows], model.search_coordinates(of(views, names))[rows], atol=1e-5)
    assert (found[50:70] == 0).all()
    with pytest.warns(UserWarning, match="lack every view"):
        rows, scores = model.search(of(views, ("colours",)), gaps, n=N_ROWS)
    assert (scores[(rows >= 50) & (rows < 70)] == 0).all()


def test_average_values_are_no_news(model: Harmonium) -> None:
    average = planted()[0]["colours"].mean(axis=0, keepdims=True)
    np.testing.assert_allclose(model.search_coordinates({"colours": average}), 0, atol=1e-4)
    with_gap = np.array([[np.nan, *average[0, 1:]]])
    np.testing.assert_allclose(model.search_coordinates({"colours": with_gap}), 0, atol=1e-4)


def test_the_length_of_a_text_does_not_matter() -> None:
    model = fit("bernoulli", views={"words": Bernoulli(), "colours": "infer", "counts": ReplicatedSoftmax()})
    counts = planted(1)[0]["counts"][:20] + 1
    once, thrice = (model.search_coordinates({"counts": times * counts}) for times in (1, 3))
    np.testing.assert_allclose(thrice, 3 * once, rtol=1e-4, atol=1e-5)


def test_sparse_views_frames_and_views_give_the_same(model: Harmonium) -> None:
    views = planted(1)[0]
    expected = model.search_coordinates(views)
    np.testing.assert_allclose(
        model.search_coordinates({**views, "words": sp.csr_array(views["words"])}), expected, atol=1e-5
    )
    read = known_views(model, views)
    assert isinstance(read, Views)
    np.testing.assert_array_equal(model.search_coordinates(read), expected)
    np.testing.assert_array_equal(search_coordinates(model.fitted_, read), expected)


def test_an_index_is_used_again(model: Harmonium) -> None:
    new, old = of(planted(1)[0], ("words",)), of(planted(2)[0], ("colours",))
    index = NearestNeighbours().fit(model.search_coordinates(old))
    for found, expected in zip(model.search(new, index, n=7), model.search(new, old, n=7), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_all_items_are_returned_if_there_are_fewer(model: Harmonium) -> None:
    views = planted(1)[0]
    rows, _ = model.search(of(views, ("words",)), {"colours": views["colours"][:4]})
    assert rows.shape == (N_ROWS, 4) and (np.sort(rows, axis=1) == np.arange(4)).all()


def test_a_saved_model_finds_the_same(model: Harmonium, tmp_path: Path) -> None:
    new, old = of(planted(1)[0], ("words",)), of(planted(2)[0], ("colours", "counts"))
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    for found, expected in zip(again.search(new, old), model.search(new, old), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_model_that_predicts_searches_too() -> None:
    views, kind = planted()
    model = HarmoniumClassifier(6, head="label_view", hidden="gaussian", driver=DRIVER, random_state=0).fit(views, kind)
    new, truth = planted(1)
    rows, _ = model.search(of(new, ("words",)), of(views, ("colours",)))
    assert (kind[rows] == truth[:, None]).mean() > 0.75


def test_bad_calls_are_refused(model: Harmonium) -> None:
    views = planted(1)[0]
    words, colours = of(views, ("words",)), of(views, ("colours",))
    before = model.fitted_
    refuse(lambda: model.search(words, colours, n=0), ValueError, "n >= 1")
    refuse(lambda: model.search(words, colours, n=2.5), TypeError, "n >= 1")
    refuse(lambda: model.search({"sound": views["words"]}, colours), InvalidViewError, "The model has the views")
    refuse(lambda: model.search(words, {"sound": views["words"]}), InvalidViewError, "The model has the views")
    refuse(lambda: model.search({}, colours), InvalidViewError, "At least one view")
    refuse(lambda: model.search(words, {"colours": np.empty((0, 5))}), InvalidViewError, "at least one row")
    refuse(lambda: model.search({"words": 2 * views["words"]}, colours), InvalidViewError, "needs 0 or 1")
    with pytest.raises(ValueError, match="take both from the same model"):
        model.search(words, NearestNeighbours().fit(np.ones((4, 3))))
    with pytest.raises(NotFittedError, match="nothing was indexed"):
        model.search(words, NearestNeighbours())
    with pytest.raises(NotFittedError):
        Harmonium().search(words, colours)
    assert model.fitted_ is before


def test_cosines_do_not_depend_on_the_rotation_of_factors() -> None:
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(200, 3)) @ np.array([[1.0, 0.8, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 1.0]])
    views = {name: factors @ rng.normal(size=(3, 8)) + 0.5 * rng.normal(size=(200, 8)) for name in "xy"}
    scores = []
    for rotation in ("varimax", "promax", None):
        layer = FactorUnits(rotation)
        model = Harmonium(3, hidden=layer, driver=Spectral(selects=False), random_state=0).fit(views)
        query, among = (model.search_coordinates({name: views[name]}) for name in "xy")
        query, among = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (query, among))
        scores.append(query @ among.T)
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-3)
    np.testing.assert_allclose(scores[2], scores[0], atol=1e-3)
