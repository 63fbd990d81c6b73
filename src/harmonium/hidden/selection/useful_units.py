"""Selection of units by their evidence: the prior of their use follows the data during training, and units without
evidence are removed at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from harmonium.core.parameters import HEAD_WEIGHTS, HIDDEN, Parameters, copy_parameters, couplings, extra_of, units_of
from harmonium.hidden.selection.evidence import Evidence
from harmonium.hidden.selection.merging import merge_units
from harmonium.hidden.selection.selection import Pruned, Selection, SelectionContext, Use

if TYPE_CHECKING:
    from harmonium.hidden.selection.prior import BetaBernoulliPrior

# the cost of weights changes slowly, so it is charged for this many batches at a time, which saves time; a convention
_CHARGED_EVERY = 5
# κ of the steps t^-κ of the posterior of the sticks when counts come from a part of the items: a convention within
# (0.5, 1], for which stochastic variational inference converges (Hoffman, Blei, Wang & Paisley 2013)
_FORGETTING = 0.6
# a unit that adds less than this to every score, whose margin is 1, makes no difference to a head; a convention
_SMALLEST_DIFFERENCE = 0.02


class UsefulUnits(Selection):
    """Selection of the units of a `SpikeSlab` layer, which follows their use during passes over the data."""

    def __init__(self, prior: BetaBernoulliPrior, context: SelectionContext) -> None:
        self._prior, self._layer = prior, prior.layer
        self._n_items = context.n_items
        self._has_head = context.has_head
        self._is_length_normalized = context.is_length_normalized
        self._evidence = Evidence(context, float(prior.layer.relevance))
        self._uncharged = self._batches = 0

    def begin(self, parameters: Parameters) -> None:
        """Put all units into the queue."""
        log_odds = parameters[extra_of(HIDDEN, "log_odds")]
        log_odds[:] = self._prior.waiting_log_odds(len(log_odds), self._has_head)

    def charge(
        self, gradient: Parameters, parameters: Parameters, n_rows: int, last: bool = False, at_once: bool = False
    ) -> float:
        """Charge the weights of the units, for several batches at a time; the last batch leaves nothing uncharged."""
        self._uncharged = n_rows if at_once else self._uncharged + n_rows
        self._batches += 1
        if not (at_once or last or self._batches == _CHARGED_EVERY):
            return 0.0
        charged, self._uncharged, self._batches = self._uncharged, 0, 0
        return self._evidence.charge(gradient, parameters, charged)

    def update(
        self, parameters: Parameters, counts: np.ndarray | float, n_rows: int, n_before: int | None = None
    ) -> None:
        """Take a step of coordinate ascent, a full one if counts are over all items."""
        use = np.asarray(counts, dtype=np.float64) * (self._n_items / max(n_rows, 1))
        share = 1.0 if n_before is None else (1.0 + n_before) ** -_FORGETTING
        evidence = self.evidence(parameters)
        extra = self._prior.updated(self._extra(parameters), use, self._n_items, evidence, share, self._has_head)
        for name, value in extra.items():
            parameters[extra_of(HIDDEN, name)][:] = value

    def _extra(self, parameters: Parameters) -> dict[str, np.ndarray]:
        return {name: parameters[extra_of(HIDDEN, name)] for name in self._prior.parameter_names}

    def read(self, parameters: Parameters, presence: Callable[[Parameters], np.ndarray]) -> dict[str, float]:
        """Return how many units stand out, and the bound on the prior terms in nats per item."""
        evidence = self.evidence(parameters)
        counts = presence(parameters).astype(np.float64) * self._n_items
        in_order = counts[self._prior.rank(counts, evidence)]
        bound = self._prior.bound(self._extra(parameters), in_order, self._n_items)
        return {"n_components": float((evidence >= 1).sum()), "prior_bound": bound / self._n_items}

    def prune(self, parameters: Parameters, use: Use) -> Pruned:
        """Keep the units that stand out, at least one, merge those that agree, and fold the others into the biases."""
        evidence, found = self.evidence(parameters), self.found(parameters, use)
        kept = found if found.any() else np.arange(len(found)) == int(np.argmax(evidence))
        if self._layer.kind == "binary":
            log_odds = parameters[extra_of(HIDDEN, "log_odds")]
            # a unit cannot be turned over where rows weigh differently, so its opposite stays beside it
            agreement = np.maximum(use.correlation, 0) if self._is_length_normalized else use.correlation
            parameters, kept = merge_units(parameters, log_odds, kept, agreement, evidence)
        return Pruned(self._layer.restore(int(kept.sum())), self._without(parameters, kept, use.mean), int(found.sum()))

    def evidence(self, parameters: Parameters) -> np.ndarray:
        """Return the evidence of each unit, the head included; units with at least 1 stand out."""
        return self._evidence.of_all(parameters)

    def found(self, parameters: Parameters, use: Use) -> np.ndarray:
        """Return which units stand out.

        With a head, units stand out easily, as each item weighs much. Those without evidence from the views alone must
        therefore also make a difference to its scores.
        """
        found = self.evidence(parameters) >= 1
        if self._has_head:
            found &= (self._evidence.of_views(parameters) >= 1) | self._matters_to_head(parameters, use)
        return found

    def _matters_to_head(self, parameters: Parameters, use: Use) -> np.ndarray:
        if HEAD_WEIGHTS not in parameters:  # a label that is a view gives evidence as all views do
            return np.ones(len(use.mean), dtype=bool)
        return use.deviation * np.abs(parameters[HEAD_WEIGHTS]).max(axis=1) >= _SMALLEST_DIFFERENCE

    def _without(self, parameters: Parameters, kept: np.ndarray, mean: np.ndarray) -> Parameters:
        """Return parameters of the units that are kept; what the others contribute on average goes to the biases."""
        result = copy_parameters(parameters)
        average = mean[~kept].astype(np.float32)
        for weights, bias in couplings(result):
            bias += average @ weights[~kept]
        result = units_of(result, kept)
        log_odds, beta = extra_of(HIDDEN, "log_odds"), extra_of(HIDDEN, "beta")
        result[log_odds] = result[log_odds][kept]
        result[beta] = result[beta][: int(kept.sum())]  # in order of rank, and units that stand out rank first
        return result
