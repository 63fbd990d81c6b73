"""Which whole numbers are counts: words, genes and visual words, but not ages, years, ratings, prices or codes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import CountVectorizer

from harmonium import Bernoulli, Gaussian, HarmoniumRegressor, HarmoniumWarning, Poisson, Stochastic, Views
from harmonium.families import Family, ReplicatedSoftmax
from harmonium.families.counts import looks_like_counts
from harmonium.hidden import BernoulliUnits, GaussianUnits
from harmonium.views.inferring import infer_family
from harmonium.views.sources.summary import Summary
from tests.cases.bad_input import quick

RNG = np.random.default_rng(0)
TEXTS = ["the sea is blue and the sky is blue", "a red rose is a rose", "sky and sea", "the red sky at the sea"] * 5


def summary_of(values: Any) -> Summary:
    return Views({"x": values}).source("x").summary()


def inferred(values: Any) -> type[Family]:
    return type(infer_family(summary_of(values), BernoulliUnits()))


def genes(n_rows: int = 300) -> np.ndarray:
    """Counts that are mostly zero and overdispersed, a few of which are high in every cell."""
    counts = RNG.negative_binomial(0.3, 0.3 / (0.3 + RNG.gamma(0.5, 2.0, size=200)), size=(n_rows, 200))
    counts[:, :5] = RNG.negative_binomial(8, 8 / (8 + 400.0), size=(n_rows, 5))
    return counts


def visual_words() -> np.ndarray:
    """Histograms of 600 points over 60 words, dense, with means of 10."""
    shares = RNG.dirichlet(np.full(60, 0.7), size=150)
    return np.stack([RNG.multinomial(600, share) for share in shares])


COUNTS: dict[str, Callable[[], Any]] = {
    "sparse_words": lambda: CountVectorizer().fit_transform(TEXTS),
    "dense_words": lambda: CountVectorizer().fit_transform(TEXTS).toarray(),
    "rare_words": lambda: scipy.sparse.csr_array(RNG.poisson(0.05, size=(500, 80))),
    "genes": genes,
    "few_cells": lambda: genes(25),
    "visual_words": visual_words,
    "pixels_of_digits": lambda: load_digits().data,  # by held-out accuracy no worse than Gaussian
    "number_of_children": lambda: RNG.choice(7, p=[0.4, 0.2, 0.25, 0.1, 0.03, 0.01, 0.01], size=(200, 1)),
    "missing_cells": lambda: np.where(RNG.random((200, 8)) < 0.2, np.nan, RNG.poisson(0.8, size=(200, 8))),
}
NUMBERS: dict[str, Callable[[], Any]] = {
    "ages": lambda: RNG.integers(18, 90, size=(200, 1)),
    "ages_with_infants": lambda: np.clip(np.abs(RNG.normal(38, 22, size=(2000, 1))), 0, 95).round(),
    "years": lambda: RNG.integers(1950, 2024, size=(100, 2)),
    "prices": lambda: RNG.lognormal(4, 1, size=(200, 3)).round() + 1,
    "zip_codes": lambda: RNG.integers(1000, 99_999, size=(200, 1)),
    "ratings_from_1": lambda: RNG.integers(1, 6, size=(200, 10)),
    "ratings_from_0": lambda: RNG.choice(6, p=[0.05, 0.1, 0.15, 0.3, 0.25, 0.15], size=(200, 5)),
    "codes_0_to_9": lambda: RNG.integers(0, 10, size=(200, 4)),
    "codes_0_to_2": lambda: RNG.integers(0, 3, size=(200, 4)),
    "identifiers": lambda: np.arange(500)[:, None],
    "one_year_among_counts": lambda: np.hstack([RNG.poisson(0.5, size=(100, 5)), RNG.integers(1950, 2024, (100, 1))]),
    "one_identifier_among_counts": lambda: np.hstack(
        [RNG.poisson(0.5, size=(100, 5)), RNG.integers(2000, 9e4, (100, 1))]
    ),
    "flags_and_ages": lambda: np.hstack([RNG.integers(0, 2, size=(200, 6)), RNG.integers(18, 90, size=(200, 2))]),
}


@pytest.mark.parametrize("case", COUNTS)
def test_counts_are_poisson(case: str) -> None:
    values = COUNTS[case]()
    assert inferred(values) is Poisson
    assert type(infer_family(summary_of(values), GaussianUnits())) is ReplicatedSoftmax


@pytest.mark.parametrize("case", NUMBERS)
def test_other_whole_numbers_are_gaussian(case: str) -> None:
    values = NUMBERS[case]()
    assert inferred(values) is Gaussian
    assert inferred(values.astype(np.float32)) is Gaussian


def test_columns_are_judged_one_by_one() -> None:
    counts, ages, codes = RNG.poisson(1.0, size=300), RNG.integers(18, 90, size=300), RNG.integers(0, 10, size=300)
    table = np.column_stack([counts, ages, RNG.normal(size=300), codes])
    assert looks_like_counts(summary_of(table)).tolist() == [True, False, False, False]


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 999), missing=st.booleans(), stored=st.sampled_from([np.int8, np.int64, np.float32]))
def test_the_summary_is_the_same_for_dense_and_sparse(seed: int, missing: bool, stored: Any) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.poisson(0.6, size=(20, 5)).astype(stored)
    plain, sparse = summary_of(dense), summary_of(scipy.sparse.csr_array(dense))
    np.testing.assert_allclose(plain.zeros, (dense == 0).mean(axis=0))
    np.testing.assert_allclose(sparse.zeros, plain.zeros)
    assert sparse.whole.tolist() == plain.whole.tolist() == [True] * 5
    broken = dense.astype(np.float64)
    broken[3, 2] = 0.5
    if missing:
        broken[0, :2] = np.nan
    summary = summary_of(broken)
    assert summary.whole.tolist() == [True, True, False, True, True]
    np.testing.assert_allclose(summary.zeros, np.nansum(broken == 0, axis=0) / (~np.isnan(broken)).sum(axis=0))


def test_zeros_and_ones_are_binary_however_frequent() -> None:
    for share in (0.02, 0.5, 0.98):
        assert inferred(RNG.random((200, 3)) < share) is Bernoulli


def test_a_regression_on_whole_numbers_works() -> None:
    """Ages, years and ratings as Poisson counts diverged, or explained a third of what they explain now."""
    ages, years = RNG.integers(18, 90, size=300), RNG.integers(1990, 2024, size=300)
    X = np.column_stack([ages, years, RNG.integers(1, 6, size=300)])
    y = 0.05 * ages - 0.1 * (years - 2000) + 0.1 * RNG.normal(size=300)
    model = HarmoniumRegressor(10, driver=Stochastic(max_iter=60, learning_rate=0.02), random_state=0).fit(X, y)
    assert type(model.families_["view0"]) is Gaussian
    assert model.score(X, y) > 0.85


def test_large_counts_are_told_of() -> None:
    counts = RNG.negative_binomial(0.3, 1e-7, size=(100, 3)) * (RNG.random((100, 3)) < 0.6)
    with pytest.warns(HarmoniumWarning, match=r"View 'rna' holds counts up to .* pass np\.log1p of it") as notices:
        model = quick(n_components=2).fit({"rna": counts})
    assert type(model.families_["rna"]) is Gaussian and notices[0].filename == __file__
    with pytest.warns(HarmoniumWarning, match="View 'rna' is Poisson, which cannot express means as large .* 'rna_0'"):
        quick(n_components=2, views=Poisson()).fit({"rna": counts})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(n_components=2).fit({"rna": RNG.integers(10**6, 10**7, size=(100, 3))})  # which are no counts
