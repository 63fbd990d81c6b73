"""Factors: coordinates that leave the model as it is, rotations, and the spectral driver against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.decomposition import FactorAnalysis
from sklearn.decomposition._factor_analysis import _ortho_rotation

from harmonium import Bernoulli, Gaussian, Harmonium, HarmoniumClassifier, Stochastic, load
from harmonium.core.parameters import HEAD_BIAS, HEAD_WEIGHTS, HIDDEN_BIAS, bias_of, extra_of, weights_of
from harmonium.datasets import load_cll
from harmonium.energy import Energy
from harmonium.estimators.input import known_views
from harmonium.families import ReplicatedSoftmax
from harmonium.hidden import FactorUnits, GaussianUnits
from harmonium.inference.exact import exact_log_partition
from harmonium.inference.mean_field import fill_missing, mean_views
from harmonium.inference.symmetry import in_coordinates
from harmonium.kernels.rotation import promax, varimax
from harmonium.objectives import MeanFieldCD
from harmonium.training import Spectral
from harmonium.training.drivers import spectral
from harmonium.training.drivers.projection import project
from tests.cases.models import make_family, make_parameters, random_batch


def simple_loadings(n_factors: int = 3, width: int = 8, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    loadings = np.kron(np.eye(n_factors), np.ones((width, 1))) * rng.uniform(0.7, 1.3, (n_factors * width, 1))
    return loadings * np.linspace(1.3, 0.8, n_factors)


def factor_data(n_rows: int = 500, noise: float = 0.7, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Values with simple loadings, and the factors that they come from."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n_rows, 3))
    return factors @ simple_loadings().T + noise * rng.normal(size=(n_rows, 24)) + 5.0, factors


def model_covariance(model: Harmonium) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of p(x) of a model of standardised normal features, from its parameters alone."""
    parameters = {name: value.astype(np.float64) for name, value in model.fitted_.parameters.items()}
    weights, covariance = parameters["view0.weights"], parameters["hidden.covariance"]
    precision = np.diag(np.exp(-parameters["view0.log_variance"])) - weights @ covariance @ weights.T
    linear = parameters["view0.bias"] + weights @ covariance @ parameters["hidden.bias"]
    return np.linalg.solve(precision, linear), np.linalg.inv(precision)


# ---- rotations -------------------------------------------------------------------------------------------------------
def test_varimax_is_that_of_scikit_learn() -> None:
    loadings = np.random.default_rng(0).normal(size=(30, 4)) ** 3
    theirs = _ortho_rotation(loadings, method="varimax", tol=1e-9, max_iter=2000).T
    rotation = varimax(loadings)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(4), atol=1e-12)

    def criterion(turned: np.ndarray) -> float:
        return float(np.var(np.square(turned), axis=0).sum())

    assert criterion(loadings @ rotation) == pytest.approx(criterion(theirs), rel=1e-6)
    assert criterion(loadings @ rotation) > criterion(loadings)


def test_promax_finds_factors_that_correlate() -> None:
    rng = np.random.default_rng(0)
    simple, related = simple_loadings(), np.array([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
    root = np.linalg.cholesky(related)
    mixed = simple @ root @ np.linalg.qr(rng.normal(size=(3, 3)))[0]  # factors of variance 1, and turned
    oblique = promax(mixed)
    correlations = np.linalg.inv(oblique.T @ oblique)
    np.testing.assert_allclose(np.diag(correlations), 1, atol=1e-12)
    assert np.sort(np.abs(correlations[np.triu_indices(3, 1)]))[-1] == pytest.approx(0.5, abs=0.05)


# ---- coordinates -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("rotate_only", [True, False])
def test_other_coordinates_leave_the_model_as_it_is(rotate_only: bool) -> None:
    energy = Energy({"a": make_family("Bernoulli"), "b": make_family("Gaussian")}, FactorUnits().bind(2))
    parameters = make_parameters(energy, 3, scale=0.3)
    # units are neither so wide nor so narrow, in either coordinates, that the grid of the enumeration misses them
    parameters["hidden.covariance"] = np.array([[0.5, 0.2], [0.2, 0.4]])
    project(energy, parameters)
    parameters |= {HEAD_WEIGHTS: np.array([[1.0], [-2.0]]), HEAD_BIAS: np.array([0.5])}
    rng = np.random.default_rng(0)
    matrix = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    if not rotate_only:
        matrix = matrix @ np.array([[0.9, 0.3], [0.0, 0.6]])
    shift = np.zeros(2) if rotate_only else rng.normal(size=2)
    moved = in_coordinates(energy, parameters, matrix, shift)
    batch = random_batch(energy, parameters, 20)
    free, other = energy.free_energy(parameters, batch), energy.free_energy(moved, batch)
    if rotate_only:
        np.testing.assert_allclose(other, free, atol=1e-10)
    log_p = -free - exact_log_partition(energy, parameters)
    # sums over the grid of the enumeration may be wrong by 1 in 150,000 for each unit
    np.testing.assert_allclose(-other - exact_log_partition(energy, moved), log_p, rtol=0, atol=3e-5)
    mean = energy.layer(parameters).mean(energy.hidden_natural(parameters, batch))
    moved_mean = energy.layer(moved).mean(energy.hidden_natural(moved, batch))
    np.testing.assert_allclose(moved_mean @ matrix.T + shift, mean, atol=1e-10)
    views, others = mean_views(energy, parameters, mean)[0], mean_views(energy, moved, moved_mean)[0]
    for name in energy.families:
        np.testing.assert_allclose(others.views[name].statistic, views.views[name].statistic, atol=1e-10)
    np.testing.assert_allclose(
        moved_mean @ moved[HEAD_WEIGHTS] + moved[HEAD_BIAS],
        mean @ parameters[HEAD_WEIGHTS] + parameters[HEAD_BIAS],
        atol=1e-10,
    )


def test_units_of_variance_1_are_gaussian_units() -> None:
    energies = [Energy({"x": make_family("Bernoulli")}, layer.bind(2)) for layer in (GaussianUnits(), FactorUnits())]
    plain = make_parameters(energies[0], 1)
    batch = random_batch(energies[0], plain, 10)
    with_covariance = plain | {extra_of("hidden", "covariance"): np.eye(2)}
    np.testing.assert_allclose(
        energies[1].free_energy(with_covariance, batch), energies[0].free_energy(plain, batch), atol=1e-12
    )


@pytest.mark.parametrize("rotation", ["varimax", "promax", None])
def test_factors_have_the_canonical_form(rotation: str | None) -> None:
    X, _ = factor_data()
    model = Harmonium(8, hidden=FactorUnits(rotation), random_state=0).fit(X)
    found = model.transform(X).astype(np.float64)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(found.std(axis=0), 1, rtol=1e-3)
    if rotation != "promax":
        np.testing.assert_allclose(np.corrcoef(found.T), np.eye(found.shape[1]), atol=1e-3)
    loadings = model.fitted_.parameters["view0.weights"] * X.std(axis=0)[:, None]
    explained = np.square(loadings).sum(axis=0)
    assert (np.diff(explained) <= 0).all()
    assert (np.take_along_axis(loadings, np.abs(loadings).argmax(axis=0)[None], axis=0) > 0).all()


@pytest.mark.parametrize("equal", ["views", "features"])
def test_what_is_simple_is_judged_as_the_setting_says(equal: str) -> None:
    """The loadings in these units are those that no further varimax changes."""
    X, _ = factor_data()
    X[:, ::3] *= 4
    views = [X[:, :20], X[:, 20:]]
    driver = Spectral(selects=False)
    model = Harmonium(3, hidden=FactorUnits(equal=equal), driver=driver, random_state=0).fit(views)
    parts = []
    for number, view in enumerate(views):
        deviation = view.std(axis=0)
        loadings = model.fitted_.parameters[f"view{number}.weights"]  # of standardised features
        balanced = deviation / np.sqrt(np.square(deviation).sum())
        parts.append(loadings * balanced[:, None] if equal == "views" else loadings)
    np.testing.assert_allclose(np.abs(varimax(np.concatenate(parts))), np.eye(3), atol=2e-3)


def test_a_model_trained_by_gradients_ends_in_the_same_form_with_the_same_predictions() -> None:
    X, factors = factor_data(200)
    y = factors[:, 0] > 0
    driver = Stochastic(max_iter=5)
    settings = {"driver": driver, "validation_fraction": 0, "head": "hinge", "random_state": 0}
    plain = HarmoniumClassifier(3, hidden=GaussianUnits(), **settings).set_params(head__C=1.0).fit(X, y)
    model = HarmoniumClassifier(3, hidden=FactorUnits(), **settings).set_params(head__C=1.0).fit(X, y)
    np.testing.assert_allclose(model.transform(X).std(axis=0), 1, rtol=1e-2)
    # the same fit but for coordinates: training does not know of them
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=2e-2)
    np.testing.assert_allclose(model.reconstruct(X), plain.reconstruct(X), atol=2e-2)


# ---- the spectral driver ---------------------------------------------------------------------------------------------
def test_known_factors_and_their_number_are_found() -> None:
    X, factors = factor_data()
    model = Harmonium(hidden="factor", random_state=0).fit(X)
    assert model.n_components_ == 3
    loadings, precision = simple_loadings(), 0.7**-2
    inverse = np.linalg.inv(np.eye(3) + precision * loadings.T @ loadings)
    best = precision * (X - 5.0) @ loadings @ inverse  # what the true model expects of the factors
    agreement, largest = (np.corrcoef(found.T, factors.T)[:3, 3:] for found in (model.transform(X), best))
    order = np.abs(agreement).argmax(axis=0)
    matched = agreement[order] * np.sign(agreement[order].diagonal())[:, None]
    np.testing.assert_allclose(matched.diagonal(), largest.diagonal(), atol=0.02)
    np.testing.assert_allclose(matched, largest, atol=0.15)  # one factor each


def test_without_shrinkage_the_model_is_the_closed_form_of_largest_likelihood() -> None:
    """Covariance U (Λ - 1) Uᵀ + 1 for the eigenvectors U of standardised data with noise 1 (Tipping & Bishop 1999)."""
    X, _ = factor_data(400)
    driver = Spectral(selects=False, shrinkage=1.0)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)  # one scale, so that balancing changes nothing
    model = Harmonium(3, views=Gaussian(1.0), hidden=FactorUnits(), driver=driver, random_state=0).fit(standard)
    variances, axes = np.linalg.eigh(np.cov(standard.T, bias=True))
    # what is left out is the variance that chance gives to a direction, here below the noise of 1
    left = variances[:-3].sum() / (24 - 3)
    closed = np.eye(24) + axes[:, -3:] @ np.diag(variances[-3:] - left) @ axes[:, -3:].T
    mean, covariance = model_covariance(model)
    np.testing.assert_allclose(covariance, closed, atol=2e-3)
    np.testing.assert_allclose(mean, 0, atol=1e-3)
    oracle = multivariate_normal(np.zeros(24), closed).logpdf(standard)
    batch = known_views(model, standard).batch(np.arange(400), model.families_)
    shifted = -model.fitted_.energy.free_energy(model.fitted_.parameters, batch)
    np.testing.assert_allclose(shifted - shifted.mean(), oracle - oracle.mean(), atol=2e-2)


def test_learned_variances_come_near_factor_analysis() -> None:
    X, _ = factor_data(2000)
    driver = Spectral(selects=False, shrinkage=1.0)
    model = Harmonium(3, views=Gaussian("learn"), hidden=FactorUnits(), driver=driver, random_state=0).fit(X)
    theirs = FactorAnalysis(3).fit((X - X.mean(axis=0)) / X.std(axis=0))
    np.testing.assert_allclose(model_covariance(model)[1], theirs.get_covariance(), atol=0.06)
    ratio = np.exp(model.fitted_.parameters["view0.log_variance"]) / theirs.noise_variance_
    np.testing.assert_allclose(ratio, 1, atol=0.15)


def test_noise_has_few_factors_and_one_is_kept() -> None:
    X = np.random.default_rng(0).normal(size=(150, 40))
    assert Harmonium(hidden="factor", random_state=0).fit(X).n_components_ <= 2


def test_large_tables_are_decomposed_by_random_projections(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = factor_data(300)
    exact = Harmonium(hidden="factor", random_state=0).fit(X)
    monkeypatch.setattr(spectral, "_LARGE", 10)
    model = Harmonium(hidden="factor", random_state=0).fit(X)
    np.testing.assert_allclose(model.transform(X), exact.transform(X), atol=1e-3)


def test_more_rows_than_features_and_the_reverse_are_the_same() -> None:
    X, _ = factor_data(23)  # one row less than features
    tall = np.concatenate([X, X])  # decomposed by features
    settings = {"hidden": FactorUnits(), "driver": Spectral(selects=False, shrinkage=1.0), "random_state": 0}
    wide_model, tall_model = Harmonium(3, **settings).fit(X), Harmonium(3, **settings).fit(tall)
    explained = [np.square(model.components_).sum(axis=1) for model in (wide_model, tall_model)]
    np.testing.assert_allclose(wide_model.transform(X), tall_model.transform(X), atol=0.05)
    np.testing.assert_allclose(*explained, rtol=0.1)


@pytest.mark.parametrize("X", [np.ones((1, 3)), np.ones((5, 3)), np.eye(2), np.arange(4.0)[:, None]])
def test_data_with_little_to_find_give_a_finite_model(X: np.ndarray) -> None:
    model = Harmonium(4, views=Gaussian(), hidden="factor", random_state=0).fit(X)
    assert model.n_components_ == 1
    assert np.isfinite(model.transform(X)).all() and np.isfinite(model.reconstruct(X)).all()


def test_leukaemia_patients_have_the_factors_that_are_known(data_home: str) -> None:
    """Trisomy 12 and the status of IGHV, both among the mutations; see benchmarks/factors."""
    data = load_cll(data_home)
    trisomy = data.views["mutations"][:, data.feature_names["mutations"].index("trisomy12")]
    status = np.where(data.target < 0, np.nan, data.target)
    views = data.views | {"mutations": np.column_stack([data.views["mutations"], status]).astype(np.float32)}
    factors = Harmonium(hidden="factor", random_state=0).fit_transform(views)
    for covariate, least in ((trisomy, 0.8), (status, 0.92)):
        known = ~np.isnan(covariate)
        assert np.abs(np.corrcoef(factors[known].T, covariate[known])[-1, :-1]).max() >= least


def test_views_of_any_width_count_the_same() -> None:
    rng = np.random.default_rng(0)
    shared, own = rng.normal(size=(2, 300))
    wide = np.outer(own, np.ones(200)) + rng.normal(size=(300, 200))
    narrow = np.outer(shared, np.ones(5)) + 0.5 * rng.normal(size=(300, 5))
    model = Harmonium(hidden=FactorUnits(), random_state=0).fit([wide, narrow])
    assert model.n_components_ == 2
    # the factor of the narrow view explains more of it than the other one of the wide view, though of fewer features
    assert abs(np.corrcoef(model.transform([wide, narrow])[:, 0], shared)[0, 1]) > 0.9
    model.set_params(view_weights=[3.0, 1.0]).fit([wide, narrow])
    assert abs(np.corrcoef(model.transform([wide, narrow])[:, 0], own)[0, 1]) > 0.9


def test_rows_that_lack_a_view_get_their_factors_from_the_others() -> None:
    X, factors = factor_data(400)
    views = {"a": X[:, ::2].copy(), "b": X[:, 1::2].copy()}
    views["b"][:150] = np.nan
    views["a"][200, 3] = np.nan
    model = Harmonium(hidden="factor", random_state=0).fit(views)
    assert model.n_components_ == 3
    agreement = np.abs(np.corrcoef(model.transform(views)[:150].T, factors[:150].T)[:3, 3:])
    # the third factor has four features of loading 0.8 there: no estimate of it correlates by more than 0.92
    assert agreement.max(axis=1).min() > 0.85
    truth, guess = X[:150, 1::2], model.predict_view("b", {"a": views["a"][:150]})
    assert 1 - np.square(truth - guess).sum() / np.square(truth - truth.mean(axis=0)).sum() > 0.5


def test_views_that_are_missing_as_a_whole_are_inferred_exactly() -> None:
    """The conditional mean of a normal distribution, where ten rounds of mean field are far from it."""
    energy = Energy({"a": make_family("Gaussian"), "b": make_family("Gaussian")}, FactorUnits().bind(2))
    parameters = make_parameters(energy, 5, scale=0.9)
    weights = np.concatenate([parameters[weights_of(name)] for name in "ab"])
    bias = np.concatenate([parameters[bias_of(name)] for name in "ab"])
    log_variance = np.concatenate([parameters[extra_of(name, "log_variance")] for name in "ab"])
    covariance = parameters[extra_of("hidden", "covariance")]
    precision = np.diag(np.exp(-log_variance)) - weights @ covariance @ weights.T
    mean = np.linalg.solve(precision, bias + weights @ covariance @ parameters[HIDDEN_BIAS])
    batch = random_batch(energy, parameters, 6)
    observed = batch.views["a"].statistic
    expected = mean[3:] - (observed - mean[:3]) @ np.linalg.solve(precision[3:, 3:], precision[3:, :3]).T
    batch.views["b"].statistic = np.zeros((6, 3))
    batch.views["b"].missing = np.ones((6, 3), dtype=bool)
    reference = {"a": np.zeros(3), "b": np.zeros(3)}
    filled = fill_missing(energy, parameters, batch, reference, n_iterations=1)
    np.testing.assert_allclose(filled.views["b"].statistic, expected, atol=1e-8)


def test_files_and_further_fits_keep_the_factors(tmp_path: object) -> None:
    X, _ = factor_data(200)
    model = Harmonium(6, hidden="factor", random_state=0, warm_start=True).fit(X)
    model.save(f"{tmp_path}/factors.safetensors")
    again = load(f"{tmp_path}/factors.safetensors")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    before = model.transform(X)
    np.testing.assert_allclose(model.fit(X).transform(X), before, atol=1e-3)
    trained = model.set_params(driver=Stochastic(max_iter=2)).fit(X)
    assert trained.n_components_ == 3 and np.isfinite(trained.transform(X)).all()


def test_mean_field_training_can_go_on_from_factors() -> None:
    X, _ = factor_data(100)
    model = Harmonium(3, hidden="factor", random_state=0, warm_start=True).fit(X)
    model.set_params(driver="lbfgs", objective=MeanFieldCD()).fit(X)
    assert np.isfinite(model.history_["loss"][-1:]).all()


def test_there_is_no_partial_fit_of_a_decomposition() -> None:
    assert not hasattr(Harmonium(hidden="factor"), "partial_fit")
    assert not hasattr(Harmonium(hidden="factor", driver="spectral"), "partial_fit")
    assert hasattr(Harmonium(hidden="factor", driver="stochastic"), "partial_fit")


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"hidden": GaussianUnits(), "driver": "spectral"}, "Spectral needs FactorUnits"),
        ({"hidden": "factor", "views": ReplicatedSoftmax()}, "without totals or lengths of rows"),
        ({"hidden": FactorUnits("quartimax")}, "rotation 'varimax', 'promax' or None"),
        ({"hidden": "factor", "driver": Spectral(shrinkage=0.0)}, "shrinkage"),
    ],
)
def test_what_cannot_be_done_is_refused(settings: dict, text: str) -> None:
    X = np.random.default_rng(0).integers(1, 4, size=(20, 5)).astype(float)
    with pytest.raises(ValueError, match=text):
        Harmonium(2, **settings).fit(X)


def test_binary_views_are_factored_too() -> None:
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(800, 2))
    X = (rng.random((800, 20)) < 1 / (1 + np.exp(-2 * np.repeat(factors, 10, axis=1)))).astype(float)
    model = Harmonium(views=Bernoulli(), hidden="factor", random_state=0).fit(X)
    assert model.n_components_ == 2
    assert np.abs(np.corrcoef(model.transform(X).T, factors.T)[:2, 2:]).max(axis=1).min() > 0.85
    assert np.abs(model.reconstruct(X) - X).mean() < 0.36


def test_rare_tags_of_rows_that_lack_them_are_what_enumeration_expects() -> None:
    """Weights by the variance of rare tags at their means made nearly all of them certain, also in the exact model."""
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(3000, 2))
    numbers = factors @ rng.normal(size=(2, 8)) + rng.normal(size=(3000, 8))
    natural = -4.5 + 1.5 * np.repeat(factors, 5, axis=1)
    tags = (rng.random((3000, 10)) < 1 / (1 + np.exp(-natural))).astype(float)
    model = Harmonium(2, views={"tags": Bernoulli()}, hidden="factor", random_state=0).fit(
        {"numbers": numbers, "tags": tags}
    )
    rows = {"numbers": numbers[:200]}
    found = model.predict_view("tags", rows)
    expected = _expected_tags(model, rows)
    np.testing.assert_allclose(found, expected, atol=0.1)
    np.testing.assert_allclose(found.mean(), expected.mean(), rtol=0.25)
    assert 0.5 < found.mean() / tags.mean() < 1.5

    def nats(chance: np.ndarray) -> float:
        return float(-np.log(np.where(tags[:200] == 1, chance, 1 - chance)).sum(axis=1).mean())

    assert nats(found) < nats(np.tile(tags.mean(axis=0), (200, 1)))


def _expected_tags(model: Harmonium, rows: dict[str, np.ndarray]) -> np.ndarray:
    """Return E[tags | numbers] over all states of the tags, with the factors integrated out."""
    parameters = {name: value.astype(np.float64) for name, value in model.fitted_.parameters.items()}
    states = (np.arange(2**10)[:, None] >> np.arange(10)) & 1
    batch = known_views(model, rows).batch(slice(None), {"numbers": model.families_["numbers"]})
    told = parameters[HIDDEN_BIAS] + batch.views["numbers"].statistic @ parameters[weights_of("numbers")]
    units = told[:, None, :] + states @ parameters[weights_of("tags")]
    covariance = parameters[extra_of("hidden", "covariance")]
    log_weight = states @ parameters[bias_of("tags")] + 0.5 * np.einsum("rsk,kl,rsl->rs", units, covariance, units)
    share = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    return (share / share.sum(axis=1, keepdims=True)) @ states
