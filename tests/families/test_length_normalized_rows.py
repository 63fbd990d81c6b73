"""Length-normalised rows: counts of different totals on one scale, against NumPy and enumeration given the totals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse
from scipy.special import logsumexp

import harmonium
from harmonium import Bernoulli, Harmonium, HarmoniumClassifier, Hinge, Poisson, Stochastic, Views
from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN_BIAS, bias_of, weights_of
from harmonium.core.targets import Labels, Targets, TargetSpec
from harmonium.energy import Energy
from harmonium.exceptions import ModelFileError
from harmonium.families import Binomial, NegativeBinomial
from harmonium.heads import LabelView
from harmonium.hidden import BernoulliUnits
from harmonium.inference.ais import annealed_log_partition
from harmonium.inference.exact import exact_expectations, exact_log_partition, hidden_states
from harmonium.inference.gibbs import gibbs_step, sample_views
from harmonium.inference.mean_field import fill_missing, mean_views
from harmonium.inference.perfect import perfect_sample
from harmonium.inference.pseudo import pseudo_log_likelihood
from harmonium.inference.symmetry import align, canonical_signs
from harmonium.kernels.sparse.csr import SparseRows
from harmonium.objectives import Discriminative, ExactLikelihood, MeanFieldCD, SampledCD
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from harmonium.training.drivers.projection import project
from tests.cases.models import make_hidden, make_parameters

TYPICAL = 2.5
FAMILIES = [Bernoulli, Poisson, NegativeBinomial]
HIDDEN = ["BernoulliUnits", "BinomialUnits"]


def length_normalized(kind: type, n_features: int = 3, typical: float = TYPICAL):
    return kind(length_normalize=True).restore(n_features, {"typical_size": np.array(typical)})


def small_model(kind: type, hidden: str = "BernoulliUnits", seed: int = 4):
    energy = Energy({"x": length_normalized(kind)}, make_hidden(hidden))
    return energy, make_parameters(energy, seed=seed)


def rows_of(kind: type, n_rows: int = 6, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).poisson(1.0, size=(n_rows, 3)).astype(float)
    drawn[0] = 0.0  # a row of nothing is one, too
    return np.minimum(drawn, 1) if kind is Bernoulli else drawn


def batch_of(family, values) -> Batch:
    return Batch({"x": ViewBatch(values, family.length.sizes(values))}, values.shape[0])


def statistics_of(objective, problem, parameters, batch, seed: int = 0) -> Statistics:
    statistics = Statistics.zeros_like(parameters)
    objective.accumulate(problem, parameters, batch, statistics, np.random.default_rng(seed), with_loss=True)
    return statistics


# ---- the model ---------------------------------------------------------------------------------------------------
def test_pull_is_a_root_between_nothing_and_its_cap() -> None:
    family = length_normalized(Bernoulli, 3, typical=9.0)
    np.testing.assert_allclose(family.length.row_weight(np.array([9.0, 1.0, 36.0])), [1.0, 3.0, 0.5])
    assert length_normalized(Bernoulli, 3, typical=100.0).length.row_weight(np.array([0.0, 1.0])).tolist() == [4.0, 4.0]
    assert family.length.row_weight(None) is None
    assert Bernoulli().restore(3, {}).length.row_weight(np.ones(2)) is None
    assert Bernoulli().restore(3, {}).length.sizes(np.ones((2, 3))) is None


@pytest.mark.parametrize("kind", FAMILIES)
def test_naturals_are_the_numpy_lines(kind: type) -> None:
    energy, parameters = small_model(kind)
    X = rows_of(kind)
    r = np.minimum(np.sqrt(TYPICAL / np.maximum(X.sum(axis=1), 1)), 4)
    W, theta, bias = (parameters[name] for name in (weights_of("x"), bias_of("x"), HIDDEN_BIAS))
    batch = batch_of(energy.families["x"], X)
    np.testing.assert_allclose(energy.hidden_natural(parameters, batch), bias + r[:, None] * (X @ W), atol=1e-12)
    h = np.random.default_rng(1).random((len(X), 2))
    expected = theta + r[:, None] * (h @ W.T)
    np.testing.assert_allclose(energy.view_natural(parameters, "x", h, batch.views["x"].size), expected, atol=1e-12)
    # where no size is known, rows are typical
    np.testing.assert_allclose(energy.view_natural(parameters, "x", h), theta + h @ W.T, atol=1e-12)
    # a projection that came with a draw, and rows that were filled in beside a sparse view
    batch.views["x"].projection = X @ W
    np.testing.assert_allclose(energy.hidden_natural(parameters, batch), bias + r[:, None] * (X @ W), atol=1e-12)
    filled = ViewBatch(np.zeros_like(X), batch.views["x"].size, fill=(np.arange(len(X)), X))
    natural = energy.hidden_natural(parameters, Batch({"x": filled}, len(X)))
    np.testing.assert_allclose(natural, bias + r[:, None] * (X @ W), atol=1e-12)


@pytest.mark.parametrize("size", [1.0, 2.5, 7.0])
@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("kind", FAMILIES)
def test_enumeration_given_the_total(kind: type, hidden: str, size: float) -> None:
    """Over rows of any total, free energies sum to log Z, joints to free energies; expectations are derivatives."""
    energy, parameters = small_model(kind, hidden)
    family = energy.families["x"]
    sizes = {"x": np.array([size])}
    exact = exact_log_partition(energy, parameters, sizes)
    states = np.array(list(itertools.product(range(2 if kind is Bernoulli else 61), repeat=3)), dtype=float)
    given = np.full(len(states), size)
    free = energy.free_energy(parameters, Batch({"x": ViewBatch(states, given)}, len(states)))
    assert logsumexp(-free) == pytest.approx(exact, abs=2e-5)
    h, _ = hidden_states(energy)
    repeated = Batch({"x": ViewBatch(np.repeat(states[1:2], len(h), axis=0), np.full(len(h), size))}, len(h))
    assert logsumexp(energy.joint(parameters, repeated, h)) == pytest.approx(-free[1], abs=1e-9)
    # p(x | h) of the joint is what view_natural says
    fixed = Batch({"x": ViewBatch(states, given)}, len(states))
    joint = energy.joint(parameters, fixed, np.repeat(h[-1:], len(states), axis=0))
    mean = np.exp(joint - logsumexp(joint)) @ states
    natural = energy.view_natural(parameters, "x", h[-1:], np.array([size]))
    np.testing.assert_allclose(mean, family.mean(natural)[0], atol=1e-5)
    expected = exact_expectations(energy, parameters, sizes).statistics
    for name in (HIDDEN_BIAS, weights_of("x"), bias_of("x")):
        for index in np.ndindex(parameters[name].shape):
            ends = []
            for sign in (1, -1):
                moved = parameters[name].copy()
                moved[index] += sign * 1e-5
                ends.append(exact_log_partition(energy, {**parameters, name: moved}, sizes))
            assert expected[name][index] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=2e-6, rel=2e-5), name


@pytest.mark.parametrize("kind", FAMILIES)
def test_gradient_of_the_exact_likelihood(kind: type) -> None:
    energy, parameters = small_model(kind)
    problem = Problem(energy, {"x": np.full(3, 0.4)})
    batch = batch_of(energy.families["x"], rows_of(kind))
    gradient = statistics_of(ExactLikelihood(), problem, parameters, batch).gradient
    for name, value in parameters.items():
        for index in np.ndindex(value.shape):
            losses = []
            for sign in (1, -1):
                moved = value.copy()
                moved[index] += sign * 1e-5
                losses.append(statistics_of(ExactLikelihood(), problem, {**parameters, name: moved}, batch).loss)
            assert gradient[name][index] == pytest.approx((losses[0] - losses[1]) / 2e-5, abs=3e-5, rel=1e-4), name


def test_gradient_of_the_conditional_likelihood() -> None:
    """That of classes given a length-normalised view, by finite differences."""
    classes = Targets(np.array([[0], [1], [2], [0], [1], [2]]), np.ones(6))
    head = LabelView().bind(Labels(TargetSpec("class", [np.arange(3)]), classes))
    label = harmonium.Categorical().restore(3, {"groups": np.array([0, 3])})
    energy = Energy({"x": length_normalized(Poisson), "label": label}, make_hidden("BernoulliUnits"))
    parameters = make_parameters(energy, seed=2)
    batch = batch_of(energy.families["x"], rows_of(Poisson))
    batch.views["label"] = ViewBatch(np.eye(3)[classes.values[:, 0]])
    problem = Problem(energy, {"x": np.ones(3), "label": np.full(3, 1 / 3)}, head)
    gradient = statistics_of(Discriminative(), problem, parameters, batch).gradient
    for index in np.ndindex(parameters["x.weights"].shape):
        losses = []
        for sign in (1, -1):
            moved = parameters["x.weights"].copy()
            moved[index] += sign * 1e-5
            losses.append(statistics_of(Discriminative(), problem, {**parameters, "x.weights": moved}, batch).loss)
        assert gradient["x.weights"][index] == pytest.approx((losses[0] - losses[1]) / 2e-5, abs=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", FAMILIES)
def test_sampled_cd_has_the_exact_expectation(kind: type, sparse: bool) -> None:
    """E over h0 ~ p(h | x0) and x1 ~ p(x | h0) of x1 and of r x1 m(x1), against many draws."""
    energy, parameters = small_model(kind)
    family = energy.families["x"]
    row, n_copies = np.array([[1.0, 0.0, 0.0]]), 20_000
    copies = np.repeat(row, n_copies, axis=0).astype(np.float32)
    single = {name: value.astype(np.float32) for name, value in parameters.items()}
    batch = batch_of(family, SparseRows.from_dense(copies) if sparse else copies)
    got = statistics_of(SampledCD(), Problem(energy, {}), single, batch).gradient
    h, _ = hidden_states(energy)
    repeated = batch_of(family, np.repeat(row, len(h), axis=0))
    joint = energy.joint(parameters, repeated, h)
    probability = np.exp(joint - logsumexp(joint))
    x = np.array(list(itertools.product(range(2 if kind is Bernoulli else 12), repeat=3)), dtype=float)
    given = Batch({"x": ViewBatch(x, np.ones(len(x)))}, len(x))
    hidden_mean = energy.layer(parameters).mean(energy.hidden_natural(parameters, given))
    r = np.sqrt(TYPICAL)
    of_x, of_pairs, squares = np.zeros(3), np.zeros((3, 2)), np.zeros((3, 2))
    for state, weight in zip(h, probability, strict=True):
        natural = energy.view_natural(parameters, "x", state[None, :], np.ones(1))
        log_p = x @ natural[0] + family.log_base(x).sum(axis=1) - family.log_partition(natural).sum()
        p = weight * np.exp(log_p)
        of_x += p @ x
        pairs = r * x[:, :, None] * hidden_mean[:, None, :]
        of_pairs += np.tensordot(p, pairs, axes=1)
        squares += np.tensordot(p, pairs**2, axes=1)
    m0 = energy.layer(parameters).mean(energy.hidden_natural(parameters, batch_of(family, row)))
    expected = of_pairs - r * row.T @ m0
    error = np.sqrt(squares / n_copies)
    assert np.all(np.abs(got[weights_of("x")] / n_copies - expected) < 5 * error + 1e-4)
    spread = np.sqrt((of_x + of_x**2 + 0.1) / n_copies)
    assert np.all(np.abs(got[bias_of("x")] / n_copies - (of_x - row[0])) < 5 * spread)


@pytest.mark.parametrize("sparse", [set(), {"x"}])
@pytest.mark.parametrize("size", [1.0, 6.0])
@pytest.mark.parametrize("kind", FAMILIES)
def test_gibbs_sampling_has_the_exact_moments(kind: type, size: float, sparse: set[str]) -> None:
    energy, parameters = small_model(kind)
    parameters = {name: value.astype(np.float32) for name, value in parameters.items()}
    n_chains, rng = 4000, np.random.default_rng(3)
    state = energy.layer(parameters).sample(np.zeros((n_chains, 2), dtype=np.float32), rng)
    for _ in range(30):
        state, batch = gibbs_step(energy, parameters, state, rng, {"x": np.full(n_chains, size)}, sparse)
    expected = exact_expectations(energy, parameters, {"x": np.array([size])}).statistics
    drawn = batch.views["x"].statistic
    assert isinstance(drawn, SparseRows) == bool(sparse)
    values = drawn.toarray() if sparse else drawn
    for found, name in ((state, HIDDEN_BIAS), (values, bias_of("x"))):
        error = found.std(axis=0) / np.sqrt(n_chains)
        assert np.all(np.abs(found.mean(axis=0) - expected[name]) < 5 * error + 1e-9), name


@pytest.mark.parametrize("size", [1.0, 6.0])
def test_annealing_is_within_its_error(size: float) -> None:
    energy, parameters = small_model(Poisson)
    exact = exact_log_partition(energy, parameters, {"x": np.array([size])})
    estimate = annealed_log_partition(energy, parameters, np.random.default_rng(0), 400, 60, sizes={"x": size})
    assert abs(estimate.value - exact) < 4 * estimate.standard_error + 1e-6


@pytest.mark.parametrize("kind", FAMILIES)
def test_pseudo_likelihood_by_enumeration(kind: type) -> None:
    """Conditionals of one cell given the others and the total, whichever values the cell takes."""
    energy, parameters = small_model(kind)
    X = rows_of(kind, 3, seed=5)
    batch = batch_of(energy.families["x"], X)
    n_probes = 400
    estimate = pseudo_log_likelihood(energy, parameters, batch, np.random.default_rng(0), n_probes)
    values = np.arange(2 if kind is Bernoulli else 60, dtype=float)
    for row, size in enumerate(batch.views["x"].size):
        terms = []
        for column in range(3):
            states = np.repeat(X[row : row + 1], len(values), axis=0)
            states[:, column] = values
            free = energy.free_energy(
                parameters, Batch({"x": ViewBatch(states, np.full(len(values), size))}, len(values))
            )
            terms.append(-free[int(X[row, column])] - logsumexp(-free))
        error = 3 * np.std(terms) / np.sqrt(n_probes)
        assert estimate[row] == pytest.approx(sum(terms), abs=5 * error + 1e-6)


@pytest.mark.parametrize("kind", FAMILIES)
def test_sparse_and_dense_rows_agree(kind: type) -> None:
    energy, parameters = small_model(kind)
    parameters = {name: value.astype(np.float32) for name, value in parameters.items()}
    problem = Problem(energy, {"x": np.full(3, 0.4, dtype=np.float32)})
    X = rows_of(kind, 9).astype(np.float32)
    dense, sparse = (batch_of(energy.families["x"], values) for values in (X, SparseRows.from_dense(X)))
    np.testing.assert_array_equal(dense.views["x"].size, sparse.views["x"].size)
    for objective in (MeanFieldCD(), ExactLikelihood()):
        one, two = (statistics_of(objective, problem, parameters, batch) for batch in (dense, sparse))
        assert one.loss == pytest.approx(two.loss, rel=1e-5)
        for name in parameters:
            np.testing.assert_allclose(one.gradient[name], two.gradient[name], atol=2e-4)


def test_rows_of_the_typical_total_are_as_without(monkeypatch: pytest.MonkeyPatch) -> None:
    # signs of topics are free, and chosen in the end, only where rows weigh alike
    monkeypatch.setattr("harmonium.training.fit.with_signs", lambda problem, training: training)
    rng = np.random.default_rng(0)
    X = np.zeros((40, 25))
    for row in X:
        row[rng.choice(25, 4, replace=False)] = 1
    fitted = [
        Harmonium(3, views=Bernoulli(length_normalize=level), driver=Stochastic(max_iter=3), random_state=0).fit(X)
        for level in (True, False)
    ]
    for name, value in fitted[1].fitted_.parameters.items():
        np.testing.assert_allclose(fitted[0].fitted_.parameters[name], value, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(fitted[0].transform(X), fitted[1].transform(X), rtol=1e-5)


# ---- what stays right, or is refused --------------------------------------------------------------------------------
@pytest.mark.parametrize("hidden", HIDDEN)
def test_negative_binomial_stays_below_its_pole_at_the_largest_pull(hidden: str) -> None:
    energy = Energy({"x": length_normalized(NegativeBinomial, typical=400.0)}, make_hidden(hidden))
    parameters = make_parameters(energy, seed=0, scale=3.0)
    parameters["x.bias"] += 5.0
    project(energy, parameters)
    states, _ = hidden_states(energy)
    for size in (0.0, 1.0, 400.0, 1e6):
        natural = energy.view_natural(parameters, "x", states, np.full(len(states), size))
        assert natural.max() < 0
        assert np.isfinite(exact_log_partition(energy, parameters, {"x": np.array([size])}))


def test_perfect_sampling_draws_rows_of_the_typical_total() -> None:
    energy = Energy({"x": length_normalized(Bernoulli)}, BernoulliUnits().bind(2))
    parameters = make_parameters(energy, seed=1)
    parameters["x.weights"] = np.abs(parameters["x.weights"])
    batch, _ = perfect_sample(energy, parameters, 4000, np.random.default_rng(0))
    drawn = batch.views["x"].statistic
    np.testing.assert_array_equal(batch.views["x"].size, TYPICAL)
    expected = exact_expectations(energy, parameters, {"x": np.array([TYPICAL])}).statistics[bias_of("x")]
    assert np.all(np.abs(drawn.mean(axis=0) - expected) < 5 * drawn.std(axis=0) / np.sqrt(4000))


def test_signs_are_not_free() -> None:
    energy, parameters = small_model(Bernoulli)
    with pytest.raises(ValueError, match=r"view 'x' is length-normalised.*length_normalize=False"):
        canonical_signs(energy, parameters, {"x": np.ones(3)})
    # units are put in order, but not turned over
    other = {**parameters, "x.weights": -parameters["x.weights"][:, ::-1], HIDDEN_BIAS: -parameters[HIDDEN_BIAS][::-1]}
    aligned = align(energy, other, parameters)
    batch = batch_of(energy.families["x"], rows_of(Bernoulli))
    np.testing.assert_allclose(energy.free_energy(aligned, batch), energy.free_energy(other, batch))


# ---- what is missing ------------------------------------------------------------------------------------------------
def test_what_is_missing_counts_as_in_a_typical_row() -> None:
    X = np.array([[1.0, 2.0, 0.0, 3.0], [np.nan] * 4, [np.nan, 2.0, 0.0, np.nan]])
    family = length_normalized(Poisson, 4, typical=6.0)
    view = Views({"x": X}).source("x").batch(slice(None), family)
    np.testing.assert_allclose(view.size, [6.0, 6.0, 2.0 + 3.0])
    assert family.length.row_weight(view.size)[1] == 1.0


def test_missing_cells_are_filled_in_at_the_pull_of_their_row() -> None:
    """The fixed point of mean field, by NumPy lines."""
    energy, parameters = small_model(Poisson)
    X = np.array([[3.0, 0.0, 4.0]])
    missing = np.array([[False, True, False]])
    size = np.array([7.0 + TYPICAL / 3])
    batch = Batch({"x": ViewBatch(X, size, missing)}, 1)
    filled = fill_missing(energy, parameters, batch, {"x": np.full(3, 0.5)}, n_iterations=200)
    W, theta, bias = (parameters[name] for name in (weights_of("x"), bias_of("x"), HIDDEN_BIAS))
    r = np.sqrt(TYPICAL / size[0])
    x = X[0].copy()
    for _ in range(200):
        m = 1 / (1 + np.exp(-(bias + r * x @ W)))
        x[1] = np.exp(theta[1] + r * W[1] @ m)
    np.testing.assert_allclose(filled.views["x"].statistic[0], x, rtol=1e-6)


def test_mean_views_pull_likewise() -> None:
    energy, parameters = small_model(Bernoulli)
    size = np.array([1.0, 9.0])
    h = np.array([[0.2, 0.9], [0.5, 0.1]])
    means, _ = mean_views(energy, parameters, h, {"x": size})
    natural = parameters["x.bias"] + np.sqrt(TYPICAL / size)[:, None] * (h @ parameters["x.weights"].T)
    np.testing.assert_allclose(means.views["x"].statistic, 1 / (1 + np.exp(-natural)), atol=1e-7)
    drawn = sample_views(energy, parameters, h, np.random.default_rng(0), {"x": size})
    np.testing.assert_array_equal(drawn.views["x"].size, size)


# ---- estimators -----------------------------------------------------------------------------------------------------
def words(n_rows: int = 60, n_words: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Texts of very different lengths in two classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 2
    length = rng.choice([0.03, 0.3], size=(n_rows, 1))
    favoured = (np.arange(n_words)[None, :] % 2 == y[:, None]) * 2.0 + 0.2
    return rng.poisson(length * favoured).astype(float), y


def classifier(**settings) -> HarmoniumClassifier:
    settings = {"head": Hinge(C=1.0, linear_part=False)} | settings
    return HarmoniumClassifier(3, driver=Stochastic(max_iter=3), random_state=0, **settings)


def is_length_normalized(model, view: str = "view0") -> bool:
    return model.families_[view].typical_size_ is not None


def only_view(model) -> str:
    return next(iter(model.families_))


@pytest.mark.parametrize("binary", [False, True])
def test_auto_levels_sparse_words_of_models_that_predict(binary: bool) -> None:
    X, y = words()
    X = np.minimum(X, 1) if binary else X
    for data in (X, scipy.sparse.csr_array(X)):
        model = classifier().fit(data, y)
        assert is_length_normalized(model, only_view(model))
        assert model.families_[only_view(model)].length_normalize is True  # so that it can be seen what was decided
        assert float(model.families_[only_view(model)].typical_size_) == pytest.approx(X.sum(axis=1).mean())


def test_auto_leaves_all_else_as_it_is() -> None:
    X, y = words()
    model = Harmonium(3, driver=Stochastic(max_iter=2), random_state=0).fit(X)
    assert not is_length_normalized(model, only_view(model))
    for refused in (
        classifier(head=LabelView()).fit(X, y),  # the label is a view
        classifier(views=Poisson(length_normalize=False)).fit(X, y),
        classifier().fit(X[:, :19], y),  # few columns
        classifier().fit((np.random.default_rng(0).random((60, 30)) < 0.6).astype(float), y),  # dense
        classifier(views=Binomial(int(X.max()))).fit(X, y),
    ):
        assert not is_length_normalized(refused, only_view(refused))
        assert refused.families_[only_view(refused)].constants() == {}


def test_level_rows_is_a_setting_of_models_without_head() -> None:
    X, _ = words()
    model = Harmonium(3, views=Poisson(length_normalize=True), driver=Stochastic(max_iter=2), random_state=0).fit(X)
    name = only_view(model)
    W = model.fitted_.parameters[f"{name}.weights"].astype(float)
    r = np.minimum(np.sqrt(X.sum(axis=1).mean() / np.maximum(X.sum(axis=1), 1)), 4)
    natural = model.fitted_.parameters["hidden.bias"] + r[:, None] * (X @ W)
    np.testing.assert_allclose(model.transform(X), 1 / (1 + np.exp(-natural)), atol=1e-5)
    # a row is judged by its own total, whatever others it comes with
    np.testing.assert_allclose(model.transform(X[:1]), model.transform(X)[:1])
    assert np.isfinite(model.score_samples(X)).all()


def test_dense_and_sparse_input_learn_alike() -> None:
    X, y = words()
    # means, as sparse draws spend other random numbers than dense ones; no topics, as an item between two clusters may
    # fall to either by rounding
    models = [
        classifier(objective=MeanFieldCD(), hidden="bernoulli").fit(data, y) for data in (X, scipy.sparse.csr_array(X))
    ]
    np.testing.assert_allclose(models[0].transform(X), models[0].transform(scipy.sparse.csr_array(X)), atol=1e-6)
    np.testing.assert_allclose(models[0].transform(X), models[1].transform(X), atol=1e-4)


def test_files_keep_it(tmp_path) -> None:
    X, y = words()
    model = classifier().fit(X, y)
    model.save(tmp_path / "model.safetensors")
    again = harmonium.load(tmp_path / "model.safetensors")
    name = only_view(model)
    assert again.families_[name].typical_size_ == model.families_[name].typical_size_
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("typical", [np.array(0.0), np.array(np.nan), np.array(np.inf), np.ones(2)])
def test_constants_that_cannot_be_are_refused(typical: np.ndarray) -> None:
    with pytest.raises(ValueError, match="typical_size must be one number"):
        Bernoulli().restore(3, {"typical_size": typical})
    assert issubclass(ModelFileError, ValueError)  # which files make of it


def test_rows_and_cells_may_be_missing() -> None:
    X, y = words()
    X[3], X[4, :5] = np.nan, np.nan
    other = np.random.default_rng(0).normal(size=(len(X), 2))
    model = classifier().fit({"words": X, "numbers": other}, y)
    assert is_length_normalized(model, "words")
    assert np.isfinite(model.transform({"words": X, "numbers": other})).all()
    assert np.isfinite(model.predict_view("words", {"numbers": other})).all()
    # without words the pull is 1, whatever is filled in
    assert np.isfinite(model.transform({"numbers": other})).all()


@pytest.mark.parametrize("value", [1, "yes", None, 0.5])
@pytest.mark.parametrize("kind", FAMILIES)
def test_other_values_are_refused(kind: type, value: object) -> None:
    X, _ = words()
    with pytest.raises(ValueError, match=rf"{kind.__name__} needs length_normalize True, False or 'auto'; got"):
        Harmonium(2, views=kind(length_normalize=value)).fit(X)
