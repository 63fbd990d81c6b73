"""The model as a distribution: densities sum to one, bounds hold, samples are data."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
import threadpoolctl
from scipy.special import logsumexp
from sklearn.model_selection import GridSearchCV

from harmonium import Bernoulli, Categorical, Gaussian, Harmonium, Poisson, Stochastic
from harmonium.families import Binomial, ReplicatedSoftmax
from harmonium.hidden import BernoulliUnits, BinomialUnits
from harmonium.inspection import log_partition, modes
from harmonium.kernels.runtime import threads

QUICK = Stochastic(max_iter=5, learning_rate=0.02)


@pytest.fixture(scope="module")
def two_views() -> Harmonium:
    rng = np.random.default_rng(0)
    topic = rng.integers(0, 2, size=(300, 1))
    a = (rng.random((300, 3)) < np.where(topic, 0.8, 0.2)).astype(float)
    b = (rng.random((300, 2)) < np.where(topic, 0.9, 0.3)).astype(float)
    return Harmonium(2, driver=Stochastic(max_iter=60, learning_rate=0.05), random_state=0).fit({"a": a, "b": b})


def all_rows(width: int) -> np.ndarray:
    return np.array(list(itertools.product([0.0, 1.0], repeat=width)))


def test_probabilities_of_all_rows_sum_to_one(two_views: Harmonium) -> None:
    rows = all_rows(5)
    log_p = two_views.score_samples({"a": rows[:, :3], "b": rows[:, 3:]}) - log_partition(two_views, "exact").value
    assert np.exp(log_p).sum() == pytest.approx(1.0, abs=1e-4)


def test_incomplete_rows_get_a_lower_bound_of_their_probability(two_views: Harmonium) -> None:
    """log Σ_b p(a, b) by enumeration is never below the bound, and close to it."""
    log_z = log_partition(two_views, "exact").value
    for row in all_rows(3):
        a = np.repeat(row[None, :], 4, axis=0)
        exact = logsumexp(two_views.score_samples({"a": a, "b": all_rows(2)})) - log_z
        bound = two_views.score_samples({"a": row[None, :]})[0] - log_z
        assert exact - 0.5 < bound <= exact + 1e-5
    cells = np.array([[1.0, np.nan, 0.0]])
    exact = logsumexp(two_views.score_samples({"a": np.array([[1.0, x, 0.0] for x in (0, 1)]), "b": np.ones((2, 2))}))
    bound = two_views.score_samples({"a": cells, "b": np.ones((1, 2))})[0]
    assert exact - 0.5 < bound <= exact + 1e-5


def test_densities_are_in_the_units_of_the_data() -> None:
    """Measuring in centimetres instead of metres divides a density by 100 for each column."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    one, two = (Harmonium(2, driver=QUICK, random_state=0).fit(scale * X) for scale in (1.0, 100.0))
    difference = one.score_samples(X) - two.score_samples(100 * X)
    np.testing.assert_allclose(difference, 3 * np.log(100), rtol=1e-3)
    assert one.score(X) - two.score(100 * X) == pytest.approx(3 * np.log(100), rel=1e-3)


def test_scores_of_counts_prefer_the_family_that_made_them() -> None:
    rng = np.random.default_rng(0)
    rates = np.exp(rng.normal(0, 0.3, (600, 2)) @ rng.normal(0, 0.8, (2, 6)) + 1.5)
    X = rng.poisson(rates).astype(float)
    search = GridSearchCV(Harmonium(4, random_state=0), {"views": [Gaussian(), Poisson()]}, cv=2).fit(X)
    assert isinstance(search.best_params_["views"], Poisson)


@pytest.mark.parametrize(
    ("family", "data"),
    [
        (Poisson(), np.random.default_rng(0).poisson(300.0, size=(40, 3))),
        (Binomial(255), np.random.default_rng(0).integers(0, 256, size=(40, 3))),
    ],
)
def test_pseudo_likelihood_of_large_counts_is_that_of_a_probability(family, data: np.ndarray) -> None:
    model = Harmonium(2, views=family, driver=Stochastic(max_iter=3, learning_rate=1e-4), random_state=0)
    assert model.fit(data.astype(float)).score(data.astype(float)) < 0


def test_pseudo_likelihood_of_narrow_gaussians() -> None:
    """With weights of nearly nothing a site's conditional is its normal density, whatever its variance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1))
    for variance in (1.0, 1e-3):
        driver = Stochastic(max_iter=1, learning_rate=1e-12)
        model = Harmonium(1, views=Gaussian(variance=variance), driver=driver, random_state=0).fit(X)
        for name in list(model.fitted_.parameters):
            if name.endswith("weights"):
                model.fitted_.parameters[name][:] = 0
        x = (X - X.mean()) / X.std()
        mean = variance * model.fitted_.parameters["view0.bias"][0]
        expected = (-0.5 * (x - mean) ** 2 / variance - 0.5 * np.log(2 * np.pi * variance)).mean()
        expected -= np.log(X.std())  # in the units of the data
        assert model.score(X) == pytest.approx(expected, rel=1e-3)


def test_exact_enumeration_of_many_trials_leaves_nothing_out() -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((50, 3)) < 0.5).astype(float)
    model = Harmonium(1, hidden=BinomialUnits(M=200), driver=Stochastic(max_iter=1, learning_rate=1e-6)).fit(X)
    rows = all_rows(3)
    total = logsumexp(model.score_samples(rows))
    assert log_partition(model, "exact").value == pytest.approx(total, abs=1e-3)


def test_samples_of_categories_are_codes_again() -> None:
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, 3, size=60), rng.integers(0, 2, size=60)]).astype(float)
    model = Harmonium(2, views=Categorical(), driver=QUICK, random_state=0).fit(codes)
    drawn = model.sample(5, n_steps=10)
    assert drawn.shape == (5, 2) and drawn.max() <= 2
    assert model.transform(drawn).shape == (5, 2)
    assert model.transform(modes(model, codes)[0]).shape == (60, 2)


def test_annealing_asks_for_enough_effort_and_known_views() -> None:
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, size=(40, 5)).astype(float) + 1
    model = Harmonium(2, views=ReplicatedSoftmax(), driver=QUICK, random_state=0).fit(counts)
    assert np.isfinite(log_partition(model, n_chains=10, n_temperatures=10, sizes={"view0": 7.0}).value)
    for wrong in ({"n_chains": 1}, {"n_temperatures": 1}, {"sizes": {"typo": 3.0}}):
        with pytest.raises(ValueError, match=r"\.$"):
            log_partition(model, **wrong)


def test_score_does_not_make_sparse_data_dense() -> None:
    import tracemalloc

    import scipy.sparse

    words = scipy.sparse.random_array((3000, 20000), density=0.001, format="csr", rng=np.random.default_rng(0))
    words.data[:] = 1.0
    model = Harmonium(2, views=Bernoulli(), hidden=BernoulliUnits(), driver=Stochastic(max_iter=1)).fit(words)
    tracemalloc.start()
    assert np.isfinite(model.score(words))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6  # dense, it would be 240 MB in float32


def test_an_interrupted_computation_leaves_the_next_ones_right() -> None:
    release = threading.Event()

    def interrupted(block: int) -> None:
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        release.wait(5)

    with threads.compute(2):
        timer = threading.Timer(0.2, release.set)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            threads.run_blocks(interrupted, 4)
        for _ in range(10):
            done = np.zeros(6, dtype=int)

            def task(block: int, done: np.ndarray = done) -> None:
                done[block] += 1

            threads.run_blocks(task, 6)
            assert (done == 1).all()


def test_blas_has_its_threads_back_when_several_computed_at_once() -> None:
    def blas_threads() -> list[int]:
        return [info["num_threads"] for info in threadpoolctl.threadpool_info() if info["user_api"] == "blas"]

    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with threads.compute(1):
            entered.set()
            leave.wait(5)

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with threads.compute(1):
            holder = threading.Thread(target=hold)
            holder.start()
            entered.wait(5)
        assert set(blas_threads()) == {1}  # somebody still computes
        leave.set()
        holder.join()
        assert blas_threads() == before and set(before) == {2}
