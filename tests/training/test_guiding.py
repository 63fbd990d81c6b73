"""Guided topics: planted ones that only seeds find, seeds without support, and the gradient of the prior."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import harmonium
from harmonium import Harmonium, HarmoniumClassifier
from harmonium.exceptions import HarmoniumWarning
from harmonium.inspection import merge_duplicates
from harmonium.objectives.guide import Guide, SeedPrior
from harmonium.recipes import TopicModel

RNG = np.random.default_rng(0)
N, STRONG, WEAK = 600, 4, 2
STRONG_OF, WEAK_OF = RNG.integers(0, STRONG, N), RNG.integers(0, 8, N)  # a quarter of the items has a weak topic


def planted() -> pd.DataFrame:
    """Four strong topics of eight words each, and two weak ones of five words that cut across them."""
    share = np.full((N, 8 * STRONG + 5 * WEAK + 20), 0.05)
    for topic in range(STRONG):
        share[topic == STRONG_OF, 8 * topic : 8 * topic + 8] = 0.7
    for topic in range(WEAK):
        first = 8 * STRONG + 5 * topic
        share[topic == WEAK_OF, first : first + 5] = 0.5
    names = [f"strong{t}_{i}" for t in range(STRONG) for i in range(8)]
    names += [f"weak{t}_{i}" for t in range(WEAK) for i in range(5)] + [f"noise_{i}" for i in range(20)]
    return pd.DataFrame((RNG.random(share.shape) < share).astype(float), columns=names)


WORDS = planted()
SEEDS = {"first": ["weak0_0", "weak0_1"], "second": ["weak1_0", "weak1_1"]}


def of_topic(words: pd.Series, name: str) -> int:
    return sum(str(word).startswith(name) for word in words)


def test_seeds_find_the_planted_topic_that_is_not_found_without() -> None:
    free = TopicModel(5, random_state=0).fit({"words": WORDS}).topics(n=5)
    assert not any(of_topic(row, "weak0") >= 2 for _, row in free.iterrows())
    model = TopicModel(5, seeds={"first": SEEDS["first"]}, random_state=0).fit({"words": WORDS})
    table = model.topics(n=5)
    assert table.index.tolist() == ["first", 1, 2, 3, 4]
    # three of the words were not named
    assert of_topic(table.loc["first"], "weak0") == 5
    assert model.get_feature_names_out().tolist() == ["first", "topic_1", "topic_2", "topic_3", "topic_4"]
    latent = model.transform({"words": WORDS})
    assert latent[WEAK_OF == 0, 0].mean() > 2 * latent[WEAK_OF > 1, 0].mean()


def test_items_are_seeds_too() -> None:
    rows = np.flatnonzero(WEAK_OF == 0)[:20].tolist()
    model = TopicModel(5, seeds={"first": rows}, random_state=0).fit({"words": WORDS})
    assert of_topic(model.topics(n=5).loc["first"], "weak0") >= 3


def test_topics_beside_a_prediction_are_guided_and_kept(tmp_path: Path) -> None:
    model = HarmoniumClassifier(6, seeds=SEEDS, validation_fraction=0.0, random_state=0)
    model.fit({"words": WORDS}, STRONG_OF % 2)
    assert of_topic(model.topics(n=5).loc["first"], "weak0") >= 4
    model.save(tmp_path / "model")
    assert harmonium.load(tmp_path / "model").topics(n=5).equals(model.topics(n=5))


def test_seeds_without_support_make_no_topic() -> None:
    with pytest.warns(HarmoniumWarning, match="'other'") as told:
        guided = TopicModel(4, seeds={"other": ["nowhere"]}, random_state=0).fit({"words": WORDS})
    assert len(told) == 1
    pd.testing.assert_frame_equal(guided.topics(), TopicModel(4, random_state=0).fit({"words": WORDS}).topics())


def test_noise_seldom_makes_a_topic() -> None:
    """By chance about one in a hundred seeds seems to be supported."""
    refused = 0
    for first in range(0, 20, 4):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            TopicModel(4, seeds={"other": [f"noise_{first}", f"noise_{first + 1}"]}, random_state=0).fit(
                {"words": WORDS}
            )
        refused += len(told) == 1 and "'other'" in str(told[0].message)
    assert refused >= 4


def test_a_phrase_that_is_no_feature_stands_for_its_words() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = TopicModel(5, seeds={"first": ["weak0_0 weak0_1", "weak0_2"]}, random_state=0).fit({"words": WORDS})
    assert of_topic(model.topics(n=5).loc["first"], "weak0") >= 3


def test_the_gradient_of_the_prior_is_its_derivative() -> None:
    rng = np.random.default_rng(1)
    places = np.array([0, 0, 1, 3]), np.array([0, 1, 1, 0])
    prior, weights = SeedPrior(*places, rng.normal(size=4), rng.random(4)), rng.normal(size=(4, 3))
    guide = Guide(("a", "b"), ((), ()), ((), ()), ((), ()), 5, {"w": prior})
    gradient = {"w.weights": np.zeros((4, 3))}
    loss = guide.charge(gradient, {"w.weights": weights}, 7)
    for place in np.ndindex(4, 3):
        moved = weights.copy()
        moved[place] += 1e-6
        after = guide.charge({"w.weights": np.zeros((4, 3))}, {"w.weights": moved}, 7)
        assert (after - loss) / 1e-6 == pytest.approx(gradient["w.weights"][place], abs=1e-4)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"seeds": {"a": "noise"}}, "needs seeds"),
        ({"seeds": ["noise"]}, "needs seeds"),
        ({"seeds": {"a": ["weak0_0"], "a ": ["weak1_0"]}}, "different names"),
        ({"seeds": {"a": [N]}}, "numbers from 0"),
        ({"seeds": {str(i): ["weak0_0"] for i in range(5)}}, "a topic each"),
        ({"seeds": {"a": ["weak0_0"]}, "hidden": "gaussian"}, "only raise"),
        ({"seeds": {"a": ["-weak0_0"]}}, "only say what is kept out"),
        ({"seeds": {"a": ["weak0_0", "-weak0_0"]}}, "'weak0_0' and keep it out"),
        ({"seeds": {"a": ["weak0_0", "-weak0_1 weak0_2"]}}, "are 2 of them; name each by itself"),
    ],
)
def test_seeds_that_make_no_sense_are_refused(settings: dict, says: str) -> None:
    with pytest.raises((ValueError, TypeError), match=says):
        TopicModel(4, **settings).fit({"words": WORDS})


def test_no_seeds_are_those_of_a_model_without() -> None:
    none: dict[str, list[str]] = {}
    plain, empty = (TopicModel(4, seeds=seeds, random_state=0).fit({"words": WORDS}) for seeds in (None, none))
    np.testing.assert_array_equal(plain.transform({"words": WORDS}), empty.transform({"words": WORDS}))


def weights(model: Harmonium, word: str) -> np.ndarray:
    return model.fitted_.parameters["words.weights"][WORDS.columns.get_loc(word)]


def test_a_feature_is_kept_out_of_a_topic_alone() -> None:
    seeds: dict[str, list[str]] = {"first": ["weak0_0", "weak0_1"]}
    told = {"first": [*seeds["first"], "-weak0_2", "-no such word"]}
    free, model = (TopicModel(5, seeds=one, random_state=0).fit({"words": WORDS}) for one in (seeds, told))
    assert weights(free, "weak0_2")[0] > 0 and "weak0_2" in set(free.topics(n=5).loc["first"])
    assert weights(model, "weak0_2")[0] == 0 and "weak0_2" not in set(model.topics(n=5).loc["first"])
    assert of_topic(model.topics(n=4).loc["first"], "weak0") == 4
    assert weights(model.partial_fit({"words": WORDS}), "weak0_2")[0] == 0


def test_two_topics_share_no_word_that_each_keeps_out() -> None:
    words = WORDS.assign(both=(RNG.random(N) < np.where(STRONG_OF < 2, 0.7, 0.05)).astype(float))
    seeds = {"one": ["strong0_0", "strong0_1"], "other": ["strong1_0", "strong1_1"]}
    told = {"one": [*seeds["one"], "both"], "other": [*seeds["other"], "-both"]}
    free, apart = (TopicModel(6, seeds=one, random_state=0).fit({"words": words}) for one in (seeds, told))
    shared = [set(model.topics(n=9).loc["one"]) & set(model.topics(n=9).loc["other"]) for model in (free, apart)]
    assert shared == [{"both"}, set()]


def test_guided_topics_are_never_merged_with_each_other() -> None:
    words = pd.concat([WORDS] * 3, ignore_index=True)  # enough items for seeds that share a topic to be supported
    seeds = {"one": ["strong0_0", "strong0_1"], "other": ["strong0_2", "strong0_3"]}
    model = TopicModel(8, seeds=seeds, random_state=0).fit({"words": words})  # more topics than there are
    assert np.corrcoef(model.transform({"words": words}), rowvar=False)[0, 1] > 0.3
    merged = merge_duplicates(model, {"words": words}, threshold=0.01)
    assert merged.topics().index.tolist()[:2] == ["one", "other"]
    assert merged.n_components_ < 8 and merged.fitted_.problem.guide == model.fitted_.problem.guide
    merged.partial_fit({"words": words})  # the prior goes on with as many units as are left
    assert merged.topics().index.tolist()[:2] == ["one", "other"]


def test_topics_that_are_counted_have_those_that_seeds_name() -> None:
    words = pd.concat([WORDS, WORDS.add_prefix("copy ")], axis=1)
    for seeds in (SEEDS, {f"s{i}": [f"strong0_{i}"] for i in range(8)}):
        model = HarmoniumClassifier("auto", seeds=seeds, validation_fraction=0.0, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HarmoniumWarning)  # some have nothing to go by: items have all seeds alike
            index = model.fit({"words": words}, STRONG_OF % 2).topics().index.tolist()
        guide = model.fitted_.problem.guide
        assert guide is not None and len(guide.names) > 1
        assert index[: len(guide.names)] == list(guide.names)
