"""Trees of several columns: those of scikit-learn as arrays, exact in sums, refused if a file is damaged."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from harmonium.additive.boosting import AdditiveBoosting
from harmonium.additive.losses import Softmax, Squares
from harmonium.additive.trees import Trees

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=500), RNG.integers(0, 5, 500), RNG.normal(size=500)])
X[RNG.random(X.shape) < 0.1] = np.nan
Y = np.where(np.nan_to_num(X[:, 0]) > 0, 1.0, -1.0) * np.where(X[:, 1] > 2, 1, -1) + 0.1 * RNG.normal(size=500)
CODES = np.array([False, True, False])


def boosted(loss: Squares | Softmax, n_outputs: int) -> AdditiveBoosting:
    boosting = AdditiveBoosting(X, CODES, loss, np.ones(len(X)), np.zeros((len(X), n_outputs)), interactions=True)
    for _ in range(3):
        boosting.step()
    return boosting


@pytest.fixture(scope="module")
def trees() -> Trees:
    return boosted(Squares(Y[:, None]), 1).trees()[0]


def test_trees_are_those_of_scikit_learn() -> None:
    model = HistGradientBoostingRegressor(max_iter=7, random_state=0).fit(X, Y)
    trees = Trees.of([(tree.nodes, 0) for (tree,) in model._predictors], np.ones((1, 1)))
    found = trees.shares(X).sum(axis=1)[:, 0] + trees.mean[0] + model._baseline_prediction.ravel()[0]
    np.testing.assert_allclose(found, model.predict(X), atol=1e-9)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_steps_add_up_to_the_scores(n_classes: int) -> None:
    """New rows get the same in the units of the columns as training rows by the numbers of their bins."""
    classes = np.digitize(Y, [0.0, 0.9][: max(n_classes - 1, 1)])[:, None]
    loss = Softmax(classes, [n_classes]) if n_classes else Squares(Y[:, None])
    boosting = boosted(loss, max(n_classes, 1))
    trees, intercept = boosting.trees()
    np.testing.assert_allclose(trees.shares(X).sum(axis=1) + intercept, boosting.scores, atol=1e-9)


def test_shares_are_of_what_is_asked(trees: Trees) -> None:
    shares = trees.shares(X)[:, :, 0]
    assert shares[:, :2].std(axis=0).min() > 5 * shares[:, 2].std()
    np.testing.assert_allclose(shares.sum(axis=1).mean(), 0, atol=1e-9)
    np.testing.assert_allclose(trees.scaled(-2.0).shares(X)[:, :, 0], -2 * shares)


def test_arrays_of_a_file_are_checked(trees: Trees) -> None:
    kept = trees.constants()
    np.testing.assert_array_equal(Trees.restored(kept, 3, 1).shares(X), trees.shares(X))
    inner = np.flatnonzero(trees.columns >= 0)

    def changed(name: str, where: int, value: float) -> dict[str, np.ndarray]:
        array = kept[name].copy()
        array.flat[where] = value
        return kept | {name: array}

    for damaged, said in (
        ({"roots": kept["roots"]}, "trees have"),
        (kept | {"values": kept["values"][1:]}, "must have a threshold, a value and three children"),
        (changed("values", 0, np.nan), "finite"),
        (changed("children", 3 * inner[1], 0), "must lead from roots to leaves"),
        (changed("children", 3 * inner[1], len(trees.columns)), "must lead from roots to leaves"),
        (changed("columns", inner[0], 3), "by columns that there are"),
        (changed("roots", 0, -1), "must lead from roots to leaves"),
        (changed("functions", 0, 1), "must lead from roots to leaves"),
        (kept | {"children": kept["children"].astype(float)}, "must lead from roots to leaves"),
    ):
        with pytest.raises(ValueError, match=said):
            Trees.restored(damaged, 3, 1)
