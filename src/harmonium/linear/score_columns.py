"""Linear scores as columns of trees: of all views together, and of each view whose columns trees cannot ask for.

Names, codes and words have too many columns for trees. Their linear scores are a column that trees can ask for beside
the numbers, so that what a name is worth may depend on the year. A score of a model that was fitted to the row says too
much of its target, so trees learn from scores of models that have not seen it (Wolpert 1992, Stacked generalization).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from harmonium.linear.curves import ALL_VIEWS, score_number
from harmonium.linear.search import LinearModel, LinearSearch

# Parts of the rows that are never held out, each of which gets its scores by a linear model of the others, and the
# fewest of these rows: a convention.
_PARTS, _FEWEST_LEFT = 3, 100
# Columns of scores at most, where a class or label has one each: a convention.
_MAX_COLUMNS = 20


@dataclass(frozen=True, eq=False)
class UnseenScores:
    """Scores of all rows, each by a linear model that has not seen it; NaN for a few rows without any.

    Attributes
    ----------
    total : ndarray of shape (rows, outputs)
        Scores.
    by_view : dict of str to ndarray of shape (rows, outputs)
        What each view adds to them, beyond its mean over all rows.
    """

    total: np.ndarray
    by_view: dict[str, np.ndarray]

    def columns(self, outputs: np.ndarray, unseen: Collection[str]) -> tuple[list[tuple[str, int]], np.ndarray]:
        """Return names and values of columns for trees; none if they would be many.

        Parameters
        ----------
        outputs : ndarray of int
            Outputs whose scores are of use.
        unseen : collection of str
            Views whose columns trees cannot ask for.
        """
        found = {ALL_VIEWS: np.sum([self.by_view[name] for name in sorted(self.by_view)], axis=0)}
        if len(unseen) and len(self.by_view) > 1:
            found |= {name: part for name, part in self.by_view.items() if name in unseen}
        for chosen in (found, {ALL_VIEWS: found[ALL_VIEWS]}):
            if len(chosen) * len(outputs) <= _MAX_COLUMNS:
                names = [(name, score_number(output)) for name in chosen for output in outputs.tolist()]
                return names, np.hstack([part[:, outputs] for part in chosen.values()])
        return [], np.zeros((len(self.total), 0))


def out_of_fold(search: LinearSearch, model: LinearModel) -> UnseenScores:
    """Return scores of all rows, each by a linear model that has not seen it.

    With a single fold, models of the same settings see two thirds of the rows that are never held out; scores beyond
    those of all held-out rows are not believed.
    """
    settings, features = model.settings, search.features(model.settings)
    rows_of_views = search.views.by_view(settings.preparation)
    means = search.mean_features(settings)
    shape = (len(search.all_targets.weight), model.scores.shape[1])
    found = UnseenScores(np.full(shape, np.nan), {name: np.full(shape, np.nan) for name in rows_of_views})

    def score(rows: np.ndarray, trained_on: np.ndarray) -> None:
        weights, bias = search.solve(settings, features, trained_on)
        found.total[rows] = features[rows] @ weights + bias
        for name, part in search.split(settings, weights).items():
            found.by_view[name][rows] = rows_of_views[name][rows] @ part - means[name] @ part

    for train, held in search.folds:
        score(held, train)
    left = np.setdiff1d(np.flatnonzero(search.all_targets.counting), np.concatenate([held for _, held in search.folds]))
    if len(search.folds) == 1 and len(left) >= _FEWEST_LEFT:
        for rows in np.array_split(np.random.default_rng(0).permutation(left), _PARTS):
            score(rows, np.setdiff1d(left, rows))
        # a category that only these rows have may have a weight that means nothing
        beyond = (found.total < model.scores.min(axis=0)) | (found.total > model.scores.max(axis=0))
        found.total[beyond.any(axis=1)] = np.nan
    return found
