"""Topics in the form of other tools, and the table of their quality."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse

from harmonium import Stochastic, TopicModel, Views
from harmonium.inspection import bootstrap_stability
from harmonium.metrics import topic_coherence
from harmonium.report import document_info, pyldavis_inputs, quality_table, topic_info

NAMES = [f"word{number}" for number in range(12)]


@pytest.fixture(scope="module")
def fitted() -> tuple[TopicModel, Views, np.ndarray]:
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=150)
    words = (rng.random((150, 12)) < np.where(np.arange(12) % 3 == kind[:, None], 0.7, 0.1)).astype(np.float32)
    words[4] = 0
    X = Views({"words": scipy.sparse.csr_array(words)}, feature_names={"words": NAMES})
    return TopicModel(3, driver=Stochastic(max_iter=30), random_state=0).fit(X), X, words


def test_quality_is_that_of_the_measures(fitted: tuple) -> None:
    model, X, words = fitted
    table = quality_table(model, X, n_features=4, n_resamples=1)
    np.testing.assert_allclose(table["coherence"], topic_coherence(model.topics(n=4), words, NAMES))
    np.testing.assert_allclose(table["share"], model.transform(X).mean(axis=0), rtol=1e-5)
    np.testing.assert_array_equal(table["stability"], bootstrap_stability(model, X, 1))
    assert table["exclusivity"].between(0.34, 1).all()
    with pytest.raises(ValueError, match="n_features"):
        quality_table(model, X, n_features=1)


def test_features_that_count_nothing_are_refused() -> None:
    numbers = np.random.default_rng(0).normal(size=(30, 4))
    model = TopicModel(2, driver=Stochastic(max_iter=2), random_state=0).fit({"sizes": numbers})
    with pytest.raises(ValueError, match="words, tags or counts"):
        quality_table(model, {"sizes": numbers})


def test_pyldavis_gets_distributions_and_counts(fitted: tuple) -> None:
    model, X, words = fitted
    inputs = pyldavis_inputs(model, X)
    full = words.sum(axis=1) > 0
    np.testing.assert_array_equal(inputs["doc_lengths"], words[full].sum(axis=1))
    np.testing.assert_array_equal(inputs["term_frequency"], words.sum(axis=0))
    assert inputs["vocab"] == NAMES and inputs["doc_topic_dists"].shape == (full.sum(), 3) and not full[4]
    for name in ("topic_term_dists", "doc_topic_dists"):
        np.testing.assert_allclose(inputs[name].sum(axis=1), 1)


def test_tables_have_the_columns_of_bertopic(fitted: tuple) -> None:
    model, X, _ = fitted
    texts = [f"text {number}" for number in range(150)]
    topics, items = topic_info(model, X, texts), document_info(model, X, texts)
    assert topics.columns.tolist() == ["Topic", "Count", "Name", "Representation", "Representative_Docs"]
    assert topics["Count"].sum() == 150 and len(json.loads(topics.to_json(orient="records"))) == 3
    np.testing.assert_array_equal(items["Topic"], model.transform(X).argmax(axis=1))
    assert items.loc[items["Representative_document"], "Document"].isin(topics["Representative_Docs"].sum()).all()
    with pytest.raises(ValueError, match="one entry for each of the 150 rows"):
        document_info(model, X, texts[:3])
