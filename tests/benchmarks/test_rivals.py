import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.rivals import corr_lda, gm_lda, gm_mix, plsi


def make_counts(seed=0, n_documents=240, n_topics=4, words_per_topic=12, n_shared=6, length=60):
    """Documents over planted topics with words of their own and some shared ones."""
    generator = np.random.default_rng(seed)
    n_words = n_topics * words_per_topic + n_shared
    word_given_topic = np.zeros((n_topics, n_words))
    for z in range(n_topics):
        word_given_topic[z, z * words_per_topic : (z + 1) * words_per_topic] = generator.dirichlet(
            np.full(words_per_topic, 5.0)
        )
    word_given_topic[:, :-n_shared] *= 0.8
    word_given_topic[:, -n_shared:] = 0.2 / n_shared
    topics = generator.dirichlet(np.full(n_topics, 0.2), n_documents)
    counts = np.stack([generator.multinomial(length, p / p.sum()) for p in topics @ word_given_topic])
    return sp.csr_array(counts), topics, word_given_topic


def random_tables(counts, n_topics, seed=0):
    generator = np.random.default_rng(seed)
    topics = generator.dirichlet(np.ones(n_topics), counts.shape[0])
    return topics, np.ascontiguousarray(generator.dirichlet(np.ones(counts.shape[1]), n_topics).T)


def plain_step(counts, topics, word_given_topic, beta):
    """One tempered EM step with the posterior written out for every document, word and topic."""
    dense = counts.toarray()
    posterior = (topics[:, None, :] * word_given_topic[None, :, :]) ** beta
    posterior /= np.maximum(posterior.sum(axis=2, keepdims=True), 1e-300)
    expected = dense[:, :, None] * posterior
    by_document, by_word = expected.sum(axis=1), expected.sum(axis=0)
    return by_document / by_document.sum(axis=1, keepdims=True), by_word / by_word.sum(axis=0)


@pytest.mark.parametrize("beta", [1.0, 0.8])
def test_step_equals_plain_numpy(beta):
    counts, _, _ = make_counts(n_documents=30)
    topics, words = random_tables(counts, 5)
    kernel = plsi.em_step(plsi.Counts.from_matrix(counts, np.float64, by_word=True), topics, words, beta)
    for got, expected in zip(kernel, plain_step(counts, topics, words, beta), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("beta", [1.0, 0.8])
def test_folding_in_equals_plain_numpy(beta):
    counts, _, _ = make_counts(n_documents=30)
    _, words = random_tables(counts, 5)
    expected = np.full((30, 5), 0.2)
    for _ in range(25):
        expected, _ = plain_step(counts, expected, words, beta)
    got = plsi.fold_in(plsi.Counts.from_matrix(counts, np.float64), words, beta, n_iter=25)
    np.testing.assert_allclose(got, expected, atol=1e-10)
    single = plsi.fold_in(plsi.Counts.from_matrix(counts, np.float32), words.astype(np.float32), beta, n_iter=25)
    np.testing.assert_allclose(single, expected, atol=1e-4)


def test_log_likelihood_equals_plain_numpy():
    counts, _, _ = make_counts(n_documents=30)
    topics, words = random_tables(counts, 5)
    got = plsi.log_likelihood(plsi.Counts.from_matrix(counts, np.float64), topics, words)
    assert got == pytest.approx((counts.toarray() * np.log(topics @ words.T)).sum())


def test_likelihood_does_not_decrease_at_beta_one():
    counts, _, _ = make_counts()
    topics, words = random_tables(counts, 6)
    layout = plsi.Counts.from_matrix(counts, np.float64, by_word=True)
    scores = []
    for _ in range(60):
        topics, words = plsi.em_step(layout, topics, words)
        scores.append(plsi.log_likelihood(layout, topics, words))
    assert (np.diff(scores) >= -1e-9 * abs(scores[0])).all()
    assert scores[-1] > scores[0]


def test_planted_topics_are_recovered():
    everything, all_topics, word_given_topic = make_counts(n_documents=300)
    counts, topics = everything[:240], all_topics[:240]
    # EM has poor local optima, so the best of a few starts is looked at, as one would in practice.
    models = [plsi.PLSI(4, random_state=seed).fit(counts) for seed in range(4)]
    model = max(models, key=lambda fitted: max(score for _, _, score in fitted.history_))
    similarity = np.corrcoef(np.concatenate([model.components_, word_given_topic]))[4:, :4]
    matched = similarity.argmax(axis=1)
    assert sorted(matched) == [0, 1, 2, 3]
    assert similarity.max(axis=1).min() > 0.95
    assert np.abs(model.document_topics_[:, matched] - topics).mean() < 0.06
    unseen = model.transform(everything[240:])
    assert np.abs(unseen[:, matched] - all_topics[240:]).mean() < 0.06


@pytest.mark.parametrize("validation_fraction", [0.0, 0.1])
def test_probabilities_sum_to_one(validation_fraction):
    counts, _, _ = make_counts()
    model = plsi.PLSI(4, max_iter=30, validation_fraction=validation_fraction).fit(counts)
    assert model.held_out_rows_.size == round(240 * validation_fraction)
    for rows in (model.document_topics_, model.components_, model.transform(counts[:7])):
        assert (rows >= 0).all()
        np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-5)


def test_temperature_rule():
    # Far more topics than the data hold overfit, so that beta has to be lowered.
    counts, _, _ = make_counts(n_documents=120, length=25)
    model = plsi.PLSI(20).fit(counts)
    betas = np.array([beta for _, beta, _ in model.history_])
    scores = np.array([score for _, _, score in model.history_])
    assert betas[0] == 1
    assert model.beta_ < 1
    lowered = np.diff(betas)
    assert ((lowered == 0) | np.isclose(lowered, -0.025)).all()
    stalled = np.diff(scores) <= model.tolerance * np.abs(scores[1:])
    np.testing.assert_array_equal(lowered[1:] < 0, stalled[:-1])
    assert model.beta_ == betas[scores.argmax()]
    best_at_one = scores[betas == 1].max()
    assert scores.max() > best_at_one


def test_plain_em_stays_at_beta_one():
    counts, _, _ = make_counts()
    assert plsi.PLSI(4, validation_fraction=0.0).fit(counts).beta_ == 1


def test_empty_documents_and_unknown_words():
    counts, _, _ = make_counts()
    padded = sp.hstack([counts, sp.csr_array((counts.shape[0], 1))], format="csr")
    model = plsi.PLSI(4, max_iter=10).fit(sp.vstack([padded, sp.csr_array((1, padded.shape[1]))], format="csr"))
    unknown = np.zeros((2, padded.shape[1]))
    unknown[1, -1] = 3
    np.testing.assert_allclose(model.transform(unknown), 0.25)
    assert np.isfinite(model.document_topics_).all()


def test_same_seed_same_result():
    counts, _, _ = make_counts()
    first, second = (plsi.PLSI(3, max_iter=20, random_state=5).fit_transform(counts) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("value", [-1.0, np.nan])
def test_bad_counts_are_refused(value):
    with pytest.raises(ValueError, match="finite counts"):
        plsi.PLSI(2).fit(np.array([[1.0, value]]))


def make_words_and_features(n_items=500, n_topics=3, n_words=60, n_features=12, length=40, seed=0):
    generator = np.random.default_rng(seed)
    word_given_topic = generator.dirichlet(np.full(n_words, 0.1), n_topics)
    mean, scale = 2 * generator.normal(size=(n_topics, n_features)), generator.uniform(0.5, 1, (n_topics, n_features))
    topics = generator.dirichlet(np.full(n_topics, 0.3), n_items)
    counts = np.stack([generator.multinomial(length, p) for p in topics @ word_given_topic])
    own = (generator.random((n_items, n_features, 1)) > topics.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    column = np.arange(n_features)
    features = mean[own, column] + scale[own, column] * generator.normal(size=own.shape)
    return sp.csr_array(counts), features, topics, mean


def test_gm_lda_recovers_what_was_planted_and_its_bound_rises():
    words, features, topics, mean = make_words_and_features()
    model = gm_lda.GMLDA(3, tolerance=1e-7).fit(words[:400], features[:400])
    assert (np.diff(model.bounds_) > -1e-9 * abs(model.bounds_[-1])).all() and len(model.bounds_) > 3
    assert 0.2 < model.alpha_ < 0.45
    shares = model.transform(words[400:], features[400:])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    matched = np.corrcoef(shares.T, topics[400:].T)[3:, :3].argmax(axis=1)
    assert sorted(matched) == [0, 1, 2]
    assert np.abs(shares[:, matched] - topics[400:]).mean() < 0.06
    assert np.abs(model.mean_[matched] - mean).mean() < 0.15
    for part in ({"words": words[400:]}, {"features": features[400:]}):
        assert np.abs(model.transform(**part)[:, matched] - topics[400:]).mean() < 0.12


def test_gm_lda_bound_is_below_the_likelihood_of_one_item():
    """One word and one feature: the likelihood is a sum over the topics of both, with second moments of θ."""
    words, features, _, _ = make_words_and_features(n_features=1)
    model = gm_lda.GMLDA(3, max_iter=3).fit(words, features)
    word, value = 4, 0.3
    counts = sp.csr_array(([1.0], ([0], [word])), shape=(1, 60))
    bound = model._expect(counts, np.array([[value]]))[1]
    density = np.exp(-0.5 * (value - model.mean_[:, 0]) ** 2 / model.variance_[:, 0])
    density /= np.sqrt(2 * np.pi * model.variance_[:, 0])
    share, alpha = model.word_given_topic_[:, word], model.alpha_
    moment = alpha * (alpha + np.eye(3)) / (3 * alpha * (3 * alpha + 1))
    exact = np.log(share @ moment @ density)
    assert exact - 1.0 < bound <= exact


def rises(bounds):
    return (np.diff(bounds) > -1e-9 * abs(bounds[-1])).all() and len(bounds) > 2


def test_gm_mix_finds_planted_components_and_its_likelihood_rises():
    generator = np.random.default_rng(0)
    topic = generator.integers(0, 3, 300)
    word_given_topic, mean = generator.dirichlet(np.full(30, 0.2), 3), generator.normal(size=(3, 4))
    words = np.stack([generator.multinomial(8, word_given_topic[z]) for z in topic])
    features = mean[topic] + generator.normal(size=(300, 4))
    model = gm_mix.GMMix(3).fit(words[:200], features[:200])
    assert rises(model.bounds_)
    found = model.transform(sp.csr_array(words[200:]), features[200:])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    table = np.array([[(found.argmax(axis=1) == a)[topic[200:] == b].sum() for a in range(3)] for b in range(3)])
    assert sorted(table.argmax(axis=1)) == [0, 1, 2] and table.max(axis=1).sum() > 85
    log_joint = np.log([1 / 3] * 3)  # one item by hand
    model.log_weights_ = log_joint
    density = np.prod(
        np.exp(-0.5 * (features[0] - model.mean_) ** 2 / model.variance_) / np.sqrt(model.variance_), axis=1
    )
    by_hand = np.exp(words[0] @ model.log_words_.T) * density
    np.testing.assert_allclose(model.transform(words[:1], features[:1])[0], by_hand / by_hand.sum())


def test_corr_lda_recovers_planted_topics_and_its_bound_rises():
    generator = np.random.default_rng(0)
    n_items, n_features = 200, 10
    shares = generator.dirichlet(np.full(3, 0.3), n_items)
    own = (generator.random((n_items, n_features, 1)) > shares.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    mean = 2 * generator.normal(size=(3, n_features))
    features = mean[own, np.arange(n_features)] + 0.7 * generator.normal(size=own.shape)
    word_given_topic = generator.dirichlet(np.full(20, 0.2), 3)
    words = np.zeros((n_items, 20))
    for item in range(n_items):
        for feature in generator.integers(0, n_features, 15):  # a word has the topic of the feature that it chooses
            words[item, generator.choice(20, p=word_given_topic[own[item, feature]])] += 1
    model = corr_lda.CorrLDA(3, alpha=0.3, tolerance=1e-6).fit(words[:150], features[:150])
    assert rises(model.bounds_)
    found = model.transform(words[150:], features[150:])
    matched = np.corrcoef(found.T, shares[150:].T)[3:, :3].argmax(axis=1)
    assert sorted(matched) == [0, 1, 2]
    assert np.abs(found[:, matched] - shares[150:]).mean() < 0.1
    assert np.abs(np.exp(model.log_words_[matched]) - word_given_topic).mean() < 0.03


def test_corr_lda_bound_is_below_the_likelihood_of_one_item():
    """One feature and one word: both have the feature's topic, whose probability is even a priori."""
    generator = np.random.default_rng(1)
    model = corr_lda.CorrLDA(3, max_iter=3).fit(generator.poisson(1.0, (40, 5)), generator.normal(size=(40, 1)))
    word, value = np.eye(5)[[2]], np.array([[0.4]])
    bound = model._bound(word, value, *model._expect(word, value, np.full((1, 1, 3), 1 / 3), 50))
    bound -= model.smoothing * model.log_words_.sum()
    exact = np.log(np.mean(np.exp(model.log_words_[:, 2] + model._gaussian(value)[0, 0])))
    assert exact - 1.0 < bound <= exact
