"""Guides of topics in files: a loaded model goes on with its seeds; guides of other models are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import harmonium
from harmonium import TopicModel
from harmonium.exceptions import ModelFileError
from harmonium.objectives.guide import SeedPrior

RNG = np.random.default_rng(0)
N = 300


def planted() -> pd.DataFrame:
    """Three topics of five words each."""
    share = np.full((N, 20), 0.05)
    for topic in range(3):
        share[RNG.random(N) < 0.25, 5 * topic : 5 * topic + 5] = 0.6
    names = [f"topic{number // 5}_{number % 5}" for number in range(20)]
    return pd.DataFrame((RNG.random(share.shape) < share).astype(float), columns=names)


WORDS = planted()
SEEDS = {"first": ["topic0_0", "topic0_1", "-topic0_2", 0, 1], "second": ["topic1_0", "topic1_1"]}


def test_files_know_the_guide(tmp_path: Path) -> None:
    model = TopicModel(4, seeds=SEEDS, random_state=0).fit({"words": WORDS})
    model.save(tmp_path / "model")
    loaded = harmonium.load(tmp_path / "model")
    kept, guide = loaded.fitted_.problem.guide, model.fitted_.problem.guide
    assert guide is not None and kept is not None
    for name in ("names", "features", "excluded", "rows", "n_rows"):
        assert getattr(kept, name) == getattr(guide, name)
    for name in ("features", "topics", "means", "precision"):
        np.testing.assert_array_equal(getattr(kept.prior["words"], name), getattr(guide.prior["words"], name))
    loaded.partial_fit({"words": WORDS})
    assert loaded.fitted_.parameters["words.weights"][WORDS.columns.get_loc("topic0_2"), 0] == 0
    assert loaded.topics().index.tolist()[:2] == ["first", "second"]


@pytest.mark.parametrize(
    "change",
    [
        {"names": ()},
        {"names": ("first", "second", "third")},
        {"excluded": ((("words", 9999),), ())},
        {"features": (((("colours", 1),),), ())},
        {"prior": {}},
        {"prior": {"words": SeedPrior(*(np.arange(4),) * 2, *(np.ones(4, dtype=np.float32),) * 2)}},
        {"means": np.float32(np.inf)},
        {"precision": np.float32(-1)},
    ],
)
def test_a_guide_of_another_model_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    model = TopicModel(4, seeds=SEEDS, random_state=0).fit({"words": WORDS})
    guide = model.fitted_.problem.guide
    assert guide is not None
    prior = guide.prior["words"]
    forged = {name: np.full_like(prior.means, change[name]) for name in ("means", "precision") if name in change}
    change = {"prior": {"words": replace(prior, **forged)}} if forged else change
    problem = replace(model.fitted_.problem, guide=replace(guide, **change))
    model.fitted_ = replace(model.fitted_, problem=problem)
    model.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="seeds"):
        harmonium.load(tmp_path / "model")
