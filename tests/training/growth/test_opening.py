"""New topics of `partial_fit`: found when content changes, not otherwise, and the same bits for a seed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from harmonium import Harmonium, HarmoniumClassifier, Stochastic, TopicModel, load
from harmonium.exceptions import HarmoniumWarning
from harmonium.recipes import iEFH

N_WORDS, N_TOPICS, N_COMMON = 12, 6, 30


def documents(n_items: int, n_topics: int, seed: int) -> np.ndarray:
    """Return words of items, each of one of the first topics; words of the others are rare."""
    rng = np.random.default_rng(seed)
    chance = np.full((n_items, N_TOPICS * N_WORDS + N_COMMON), 0.02)
    chance[:, N_TOPICS * N_WORDS :] = 0.15
    topic = rng.integers(n_topics, size=n_items)
    chance[:, : N_TOPICS * N_WORDS][topic[:, None] == np.repeat(np.arange(N_TOPICS), N_WORDS)] = 0.4
    return (rng.random(chance.shape) < chance).astype(float)


def found(model: Harmonium) -> list[set[int]]:
    """Return for each topic of the model which planted topics its first words are of."""
    words = model.topics(n=8).map(lambda name: int(name.split("_")[1]) // N_WORDS)
    return [set(row) for row in words.to_numpy()]


def quiet(model: Harmonium, *batches: np.ndarray) -> Harmonium:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HarmoniumWarning)
        for batch in batches:
            model.partial_fit(batch)
    return model


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model") / "topics.safetensors"
    TopicModel(4, random_state=0).fit(documents(500, 4, 0)).save(path)
    return str(path)


def test_topics_are_opened_when_content_changes_and_the_old_ones_stay(fitted: str) -> None:
    model = load(fitted)
    before = found(model)
    assert before == [{0}, {1}, {2}, {3}] or sorted(map(min, before)) == [0, 1, 2, 3]
    with pytest.warns(HarmoniumWarning, match="1 new topics? were opened, from number 4 on"):
        model.partial_fit(documents(300, 5, 1))
    again = quiet(load(fitted), documents(300, 5, 1))
    for name, value in model.fitted_.parameters.items():
        assert np.array_equal(value, again.fitted_.parameters[name])
    quiet(model, documents(300, 6, 2), documents(300, 6, 3))
    assert model.n_components_ == 6 and model.transform(documents(5, 6, 4)).shape == (5, 6)
    assert found(model)[:4] == before and found(model)[4:] == [{4}, {5}]


def test_opened_topics_are_kept_in_files_and_learn_on(fitted: str, tmp_path) -> None:
    model = quiet(load(fitted), documents(300, 5, 1))
    model.save(tmp_path / "more.safetensors")
    restored = quiet(load(tmp_path / "more.safetensors"), documents(300, 6, 2))
    assert restored.n_components == 4 and restored.n_components_ == 6
    assert restored.set_params(warm_start=True).fit(documents(300, 6, 3)).n_components_ == 6
    with pytest.raises(ValueError, match="can only go on with the 6 hidden units"):
        restored.set_params(n_components=3).partial_fit(documents(300, 6, 2))


def test_no_topic_is_opened_without_news_or_room(fitted: str) -> None:
    # the topics are too few for the words that there are, which is no news
    coarse = TopicModel(2, random_state=0).fit(documents(500, 4, 0))
    assert quiet(coarse, *(documents(300, 4, seed) for seed in (5, 6, 7))).n_components_ == 2
    model = load(fitted)
    model.partial_fit(documents(300, 6, 1), new_topics=0)
    assert model.n_components_ == 4


def test_units_that_are_inferred_are_opened_up_to_the_truncation() -> None:
    model = iEFH(8, driver=Stochastic(max_iter=60), random_state=0).fit(documents(250, 4, 0))
    n_before = model.n_components_
    assert quiet(model, documents(300, 5, 1), documents(300, 6, 2)).n_components_ == n_before + 2
    assert {4} in found(model) and {5} in found(model)


def test_models_that_open_no_topics_say_so(fitted: str) -> None:
    X = documents(60, 2, 0)
    with pytest.raises(ValueError, match="new_topics need units that are on or off"):
        Harmonium(3).partial_fit(X, new_topics=1)
    with pytest.raises(ValueError, match="needs a whole number new_topics >= 0"):
        TopicModel(3).partial_fit(X, new_topics=-1)
    with pytest.raises(TypeError):
        HarmoniumClassifier().partial_fit(X, X[:, 0], new_topics=1)
