"""Features of the benchmarks: tone and form of texts, tf-idf weights, mutual information."""

import doctest
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import mutual_info_score

from benchmarks.features import contextual, weights
from benchmarks.features import mutual_information as information
from benchmarks.features.mutual_information import mutual_information, select_by_mutual_information
from harmonium.datasets import load_hotels

HOTELS = Path(os.environ.get("HARMONIUM_DATA", "")) / "hotels" / "ratings.jsonl.gz"


def counts(text: str) -> dict[str, float]:
    """The features of one text, with the logarithm undone."""
    features, names = contextual.contextual_features([text])
    return dict(zip(names, np.expm1(features[0].astype(np.float64)).round(4).tolist(), strict=True))


def test_adjectives_are_plain_words_of_one_kind() -> None:
    assert len(contextual.POSITIVE_ADJECTIVES) >= 140 and len(contextual.NEGATIVE_ADJECTIVES) >= 140
    assert not contextual.POSITIVE_ADJECTIVES & contextual.NEGATIVE_ADJECTIVES
    assert all(
        word.isalpha() and word.islower() for word in contextual.POSITIVE_ADJECTIVES | contextual.NEGATIVE_ADJECTIVES
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A good, clean place.", (2, 0, 0, 0, 0)),
        ("Not a very good place", (0, 1, 0, 0, 1)),
        ("Not at all what anyone calls good", (1, 0, 0, 0, 1)),
        ("No. Good!", (1, 0, 0, 0, 1)),
        ("It isn't dirty", (0, 0, 0, 1, 1)),
        ("It isn’t dirty, it was TERRIBLE", (0, 0, 1, 1, 1)),
        ("It didnt seem noisy and was not great", (0, 1, 0, 1, 2)),
        ("never dirty\nor noisy", (0, 0, 0, 2, 1)),
        ("never\n\ndirty", (0, 0, 1, 0, 1)),
        ("", (0, 0, 0, 0, 0)),
    ],
)
def test_adjectives_are_turned_round_by_denying_words(text: str, expected: tuple[int, ...]) -> None:
    found = counts(text)
    names = ("pos_adj", "re_pos_adj", "neg_adj", "re_neg_adj", "denying")
    assert tuple(found[name] for name in names) == expected


def test_form_of_a_text() -> None:
    found = counts("WOW!! I've paid 3.50 for the TV... But why?\n\nWe really, REALLY liked your UK staff")
    expected = {"exclamation": 2, "question": 1, "shouted": 2, "contrast": 1, "pronoun": 3, "intensifier": 2}
    assert {name: found[name] for name in expected} == expected
    assert (found["sentences"], found["words"], found["sentence_length"]) == (4, 15, 3.75)


def test_features_are_finite_and_named() -> None:
    texts = ["", "...", "1 2 3", "Grand.", "good " * 5000]
    features, names = contextual.contextual_features(iter(texts))
    assert features.shape == (5, 14) and features.dtype == np.float32 and names == list(contextual.CONTEXTUAL_FEATURES)
    assert np.isfinite(features).all() and features.min() == 0 and features.max() < 9
    assert not features[:3].any()
    assert contextual.contextual_features([])[0].shape == (0, 14)
    with pytest.raises(TypeError, match="put it in a list"):
        contextual.contextual_features("one string")


@pytest.mark.skipif(not HOTELS.is_file(), reason="needs HARMONIUM_DATA with the folder hotels")
def test_signs_agree_with_the_ratings_of_hotels() -> None:
    views, ratings = load_hotels().train()
    features, names = contextual.contextual_features(views["text"])
    correlation = {name: np.corrcoef(column, ratings)[0, 1] for name, column in zip(names, features.T, strict=True)}
    assert correlation["pos_adj"] > 0.35 and correlation["neg_adj"] < -0.4
    assert correlation["re_pos_adj"] < -0.1 and correlation["denying"] < -0.2
    assert correlation["re_neg_adj"] > correlation["neg_adj"] + 0.3
    assert correlation["contrast"] < 0 < correlation["exclamation"]
    assert (features.std(axis=0) > 0.2).all() and (features.std(axis=0) < 1.2).all()


def test_tf_idf_learns_on_training_documents() -> None:
    train = np.array([[2, 2, 0, 0], [0, 1, 3, 0], [0, 4, 0, 0], [0, 0, 0, 0]])
    weighted, idf = weights.tf_idf(sparse.csr_matrix(train))
    np.testing.assert_allclose(idf, [2, np.log2(4 / 3), 2, 0])
    np.testing.assert_allclose(weighted.toarray()[0], [1, 0.5 * np.log2(4 / 3), 0, 0], rtol=1e-6)
    assert weighted.dtype == np.float32
    assert weighted[3].sum() == 0
    unseen, same = weights.tf_idf([[1, 0, 0, 1]], idf)
    np.testing.assert_allclose(unseen.toarray(), [[1, 0, 0, 0]])
    np.testing.assert_array_equal(same, idf)
    with pytest.raises(ValueError, match="same vocabulary"):
        weights.tf_idf(train[:, :2], idf)


@pytest.mark.parametrize("module", [contextual, information, weights])
def test_examples_run(module) -> None:
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, attempted = doctest.testmod(module, optionflags=options)
    assert failed == 0 < attempted


def test_mutual_information_agrees_with_scikit_learn() -> None:
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 4, 300)
    counts = generator.poisson(0.2 + 0.4 * (labels[:, None] == np.arange(12) % 5))
    counts[:, 10], counts[:, 11] = 0, 1
    expected = [mutual_info_score(labels, column > 0) for column in counts.T]
    np.testing.assert_allclose(mutual_information(sparse.csr_matrix(counts), labels), expected, atol=1e-12)
    names = np.array(["w", "x", "y", "z"])[labels]
    np.testing.assert_allclose(mutual_information(counts, names), expected, atol=1e-12)


def test_mutual_information_ignores_stored_zeros_and_keeps_its_input() -> None:
    counts = sparse.csr_matrix(np.array([[2.0], [3.0]]))
    counts.data[1] = 0.0
    np.testing.assert_allclose(mutual_information(counts, [0, 1]), [np.log(2)])
    assert counts.data.tolist() == [2.0, 0.0]
    with pytest.raises(ValueError, match="3 labels for 2 documents"):
        mutual_information(counts, [0, 1, 1])


def test_select_by_mutual_information_puts_the_best_first() -> None:
    counts = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 4, 0], [1, 0, 4, 0]])
    assert select_by_mutual_information(counts, [0, 0, 1, 1], k=2).tolist() == [2, 1]
    assert len(select_by_mutual_information(counts, [0, 0, 1, 1], k=99)) == 4
    with pytest.raises(ValueError, match="at least 1"):
        select_by_mutual_information(counts, [0, 0, 1, 1], k=0)
