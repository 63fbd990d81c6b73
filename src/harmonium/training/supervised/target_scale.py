"""Choice of the scale that numbers are learned on, by linear models on held-out rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harmonium.core.targets import Targets
from harmonium.heads import Head
from harmonium.linear.comparison import is_better, mean_error
from harmonium.linear.search import LinearSearch
from harmonium.views.data import Data


def on_better_scale(head: Head, search: LinearSearch) -> Head:
    """Return the head with targets on another scale if that is clearly better on the user's scale, else the same.

    The best linear model is fitted again to targets on each other scale, with a C of its own. Squared errors on the
    scale of the user are compared, by the rule of one standard error.
    """
    weight = search.targets.weight
    truth = head.outputs_.decoded(search.targets).values
    first = search.best_without_kernel()
    best, lowest = head, _squares(head.outputs_.predict(first.scores), truth)
    for other in head.other_scales(search.all_targets):
        held_out = rescaled(search.targets, head, other)
        trial = LinearSearch(other, search.views, rescaled(search.all_targets, head, other), search.folds, held_out)
        scores = trial.tuned(first.settings).scores
        errors = _squares(other.outputs_.calibrated(scores, held_out).predict(scores), truth)
        is_lower = mean_error(errors, weight) < mean_error(lowest, weight)
        if is_better(errors, lowest, weight) if best is head else is_lower:
            best, lowest = other, errors
    return best


def rescaled(targets: Targets, head: Head, other: Head) -> Targets:
    """Return targets of a head as another one takes them, whose scale is another."""
    return replace(targets, stored=other.outputs_.encoded(head.outputs_.decoded(targets)).stored)


def rescaled_data(data: Data, head: Head, other: Head) -> Data:
    """Return data with targets as another head takes them."""
    return replace(data, targets=rescaled(data.known_targets, head, other))


def _squares(predicted: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return squared errors of rows in units of the variance, averaged over outputs; unknown ones are 0."""
    spread = np.nanstd(truth, axis=0)
    errors = np.where(np.isnan(truth), 0.0, predicted - truth) / np.where(spread > 0, spread, 1.0)
    return np.square(errors).mean(axis=1)
