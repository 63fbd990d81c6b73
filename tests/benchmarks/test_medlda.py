"""MedLDA: its machine against liblinear, its words' topics against the formula, and topics that labels ask for."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma
from sklearn.svm import LinearSVC

from benchmarks.rivals.medlda import E_SWEEPS, MedLDA, crammer_singer


def test_the_machine_is_that_of_liblinear() -> None:
    rng = np.random.default_rng(0)
    X, codes = rng.dirichlet(np.ones(4), 60), rng.integers(0, 3, 60)
    duals = crammer_singer(X, codes, 2.0, np.zeros((60, 3)), 300)
    np.testing.assert_allclose(duals.sum(axis=1), 0, atol=1e-9)
    liblinear = LinearSVC(multi_class="crammer_singer", C=2.0, fit_intercept=False, tol=1e-8, max_iter=100_000)
    np.testing.assert_allclose(duals.T @ X, liblinear.fit(X, codes).coef_, atol=1e-3)


def test_topics_of_words_follow_the_formula() -> None:
    """φ written out for every document, word and topic."""
    rng = np.random.default_rng(1)
    counts, pull = rng.integers(0, 4, (5, 7)).astype(float), rng.normal(size=(5, 3))
    model = MedLDA(3)
    model.words_ = rng.dirichlet(np.ones(7), 3)
    shares, lengths = np.full((5, 3), 1 / 3), counts.sum(axis=1, keepdims=True)
    got, expected = model._infer(counts, pull, shares)
    for _ in range(E_SWEEPS):
        gamma = model.alpha + lengths * shares
        log_phi = (digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True)) + pull)[:, None, :]
        phi = np.exp(log_phi + np.log(model.words_.T))
        phi /= phi.sum(axis=2, keepdims=True)
        shares = np.einsum("dw,dwk->dk", counts, phi) / lengths
    np.testing.assert_allclose(got, shares)
    np.testing.assert_allclose(expected, np.einsum("dw,dwk->kw", counts, phi))


def test_labels_make_topics_of_what_they_need() -> None:
    """There are two topics to learn: most words tell what a document is about, and a few others its class."""
    rng = np.random.default_rng(0)
    y, about = np.arange(200) % 2, rng.integers(0, 2, 200)
    topics = np.zeros((4, 24))
    topics[0, :10] = topics[1, 10:20] = 0.1
    topics[2, 20:22] = topics[3, 22:] = 0.5
    counts = np.stack([rng.multinomial(20, row) for row in 0.7 * topics[about] + 0.3 * topics[2 + y]])
    right = {}
    for C in (1e-6, 16.0):
        model = MedLDA(2, C, n_iter=30).fit(counts[:100], y[:100])
        right[C] = np.mean(model.predict(counts[100:]) == y[100:])
    assert right[16.0] > 0.9 and right[1e-6] < 0.7
