"""How probable it is that labels are right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from harmonium import HarmoniumClassifier, HarmoniumRegressor, Hinge, Stochastic
from harmonium.inspection import label_quality
from harmonium.inspection.labels import probability_right

QUICK = HarmoniumClassifier(2, head=Hinge(linear_part=False), driver=Stochastic(max_iter=20), random_state=0)


@pytest.mark.parametrize(("n_classes", "flips"), [(2, 0.1), (4, 0.3)])
def test_share_of_flips_and_each_of_them_follow_from_probabilities_that_are_not_sharp_enough(
    n_classes: int, flips: float
) -> None:
    rng = np.random.default_rng(0)
    true = np.exp(3 * rng.normal(size=(3000, n_classes)))
    true /= true.sum(axis=1, keepdims=True)
    drawn = (rng.random((3000, 1)) > true.cumsum(axis=1)).sum(axis=1)
    is_flipped = rng.random(3000) < flips
    codes = np.where(is_flipped, (drawn + rng.integers(1, n_classes, size=3000)) % n_classes, drawn)
    dull = true**0.4
    quality = probability_right(dull / dull.sum(axis=1, keepdims=True), codes)
    of_label = true[np.arange(3000), codes]
    right, flipped = (1 - flips) * of_label, flips / (n_classes - 1) * (1 - of_label)
    assert abs(1 - quality.mean() - flips) < 0.03
    assert np.abs(quality - right / (right + flipped)).mean() < 0.02


def test_rows_go_by_their_names_and_unknown_labels_have_no_quality() -> None:
    names = [f"row {number}" for number in range(120)]
    kind = np.arange(120) % 2
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 2)) + 6 * kind[:, None] - 3, index=names)
    y = pd.Series(np.where(kind == 1, "dog", "cat"), index=names, dtype=object)
    y.iloc[0], y.iloc[1], y.iloc[2] = "dog", None, "fish"
    found = label_quality(QUICK, X, y.sample(frac=1, random_state=0), n_folds=2)
    assert found.index.tolist() == names == label_quality(QUICK, X, y.to_numpy(), n_folds=2).index.tolist()
    assert found["label"].iloc[3:].tolist() == y.iloc[3:].tolist()
    assert found["expected"].iloc[3:].tolist() == y.iloc[3:].tolist()
    assert found["expected"].iloc[1] is None
    assert found["quality"].isna().to_numpy().nonzero()[0].tolist() == [1, 2]  # unknown, and the only fish
    assert found["quality"].iloc[0] < 0.5 < found["quality"].iloc[3:].min()


def test_minus_one_is_no_class_where_it_is_an_unknown_label() -> None:
    kind = np.arange(120) % 2
    X = np.random.default_rng(0).normal(size=(120, 2)) + 6 * kind[:, None] - 3
    unknown = np.where(np.arange(120) % 3 == 2, -1, kind)
    asked = [None if one < 0 else int(one) for one in unknown]
    found, expected = (label_quality(QUICK, X, y, n_folds=2) for y in (unknown, asked))
    assert found["quality"].isna().tolist() == (unknown < 0).tolist() == expected["quality"].isna().tolist()
    assert set(found["expected"][unknown >= 0]) == {0, 1} and set(found["expected"][unknown < 0]) == {-1}


def test_what_cannot_be_judged_is_refused() -> None:
    X = np.zeros((6, 2))
    with pytest.raises(TypeError, match="needs a HarmoniumClassifier, fitted or not; got HarmoniumRegressor"):
        label_quality(HarmoniumRegressor(), X, np.arange(6))
    with pytest.raises(ValueError, match="one class for each row; got y of shape"):
        label_quality(QUICK, X, np.eye(6, 2))
    with pytest.raises(ValueError, match="needs labels of two classes at least; got 0"):
        label_quality(QUICK, X, [None] * 6)
    with pytest.raises(ValueError, match="needs a whole number n_folds >= 2; got 1"):
        label_quality(QUICK, X, np.arange(6) % 2, n_folds=1)
