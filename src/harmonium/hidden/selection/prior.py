"""Priors of which items have which unit: finite Beta-Bernoulli, and the Indian buffet process.

A prior says how often units are used before any data are seen, and follows their use during training. Units without
evidence wait in a queue. Where units are to grow, it says what a new one is like, and what speaks for one more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import digamma, gammaln

from harmonium.core.parameters import Parameters
from harmonium.hidden.selection import sticks
from harmonium.hidden.selection.rule import SelectionRule
from harmonium.hidden.selection.selection import Selection, SelectionContext, Use
from harmonium.hidden.selection.useful_units import UsefulUnits
from harmonium.kernels.binary_sources import BinarySources, rarer_side
from harmonium.kernels.rotation import ica_rotation

if TYPE_CHECKING:
    from harmonium.hidden.layers.spike_slab import SpikeSlab

# Smallest share of items for which a unit is born, and updates in which its prior comes to rest: conventions.
_SMALLEST_SHARE, _UPDATES = 0.02, 20
# Smallest deviation of a source, which keeps those that all rows have, or none, from being divided by.
_SMALLEST_DEVIATION = 1e-3
# Iterations of independent components where binary sources go on from there: a convention, which saves time.
_ROUGHLY = 50
# A unit that no item uses could never become useful, so units without evidence wait in a queue: items have the first
# one with this prior probability, and each of the others with a fixed share of the probability of the one before, so
# that the next feature is found by one unit and not by all of them at once. A head tells units apart from the start, so
# more of them can learn at a time, and the probabilities fall slowly. The first two values were set by hand on draws 0
# to 4 of benchmarks/infinite_truth, the third on the first trial of Wikipedia in benchmarks/infinite_views.
_FIRST_IN_QUEUE, _FALL, _FALL_WITH_HEAD = 0.2, 2 / 3, 0.95


#: effects of sources, and their values
Sources = tuple[np.ndarray, np.ndarray]


class BetaBernoulliPrior(SelectionRule):
    """Prior of K units that items have with probabilities π_k ~ Beta(α / K, 1).

    Parameters
    ----------
    layer : SpikeSlab
        The layer, whose ``alpha`` is the number of units that an item is expected to have, or "learn".
    """

    #: names of the extra parameters of the layer that belong to the prior
    parameter_names = ("log_odds", "beta", "alpha")
    #: name of the setting that gives the number of units
    size_setting = "n_units"
    layer: SpikeSlab

    @property
    def prior(self) -> BetaBernoulliPrior:
        """The prior itself."""
        return self

    def presence(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray:
        """Return ν = E[z]."""
        return self.layer.presence(natural, mean)

    def counts(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray | float:
        """Return how many rows are expected to have each unit."""
        return self.layer.presence(natural, mean).sum(axis=0)

    def start(self, context: SelectionContext) -> Selection:
        """Return a selection by evidence, or one that keeps units that were born."""
        born = not context.has_head and not context.streams
        return BornUnits(self, context) if born else UsefulUnits(self, context)

    def remark(self, n_found: int) -> str | None:
        """Return a sentence if there may be more units to find, or if none was found."""
        name, n_units = type(self.layer).__name__, self.layer.n_units_
        if n_found == n_units:
            return (
                f"All {n_units} units of {name} are in use, so there may be more to find; pass a larger "
                f"{self.size_setting}."
            )
        if not n_found:
            return (
                f"{name} found no unit that stands out of chance, and kept one; use more rows, or a larger "
                "learning_rate or more epochs if something is predicted."
            )
        return None

    # ---- posterior of the use --------------------------------------------------------------------------------------
    def initial(self) -> dict[str, np.ndarray]:
        """Return initial log-odds, Beta parameters and α.

        Log-odds are in the order of the units. The Beta parameters, from which they follow, are in the order of rank.
        """
        n_units = self.layer.n_units_
        alpha = 2.0 if self.layer.alpha == "learn" else float(self.layer.alpha)
        beta = np.stack([np.full(n_units, self._concentration(alpha)), np.ones(n_units)], axis=1)
        return {"log_odds": self.waiting_log_odds(n_units), "beta": beta, "alpha": np.array([alpha])}

    def waiting_log_odds(self, n_waiting: int, has_head: bool = False) -> np.ndarray:
        """Return the prior log-odds of units without evidence, by place in the queue, from which on they fall."""
        # from place 100 on probabilities stay the same, which keeps those of very long queues from underflowing
        place = np.minimum(np.arange(n_waiting), 100.0)
        chance = _FIRST_IN_QUEUE * (_FALL_WITH_HEAD if has_head else _FALL) ** place
        return np.log(chance) - np.log1p(-chance)

    @staticmethod
    def rank(counts: np.ndarray, evidence: np.ndarray) -> np.ndarray:
        """Return the units in the order of the sticks: those that stand out, by use, then the others, by evidence."""
        found = evidence >= 1
        return np.lexsort((-np.where(found, counts, evidence), ~found))

    def updated(
        self,
        extra: Mapping[str, np.ndarray],
        counts: np.ndarray,
        n_items: float,
        evidence: np.ndarray,
        share: float = 1.0,
        has_head: bool = False,
    ) -> dict[str, np.ndarray]:
        """Return the parameters of the prior after a step of coordinate ascent.

        Units with an evidence of at least 1 are ranked by use. The others wait in the order of their evidence.

        Parameters
        ----------
        extra : mapping of str to ndarray
            Parameters before the step, by name.
        counts : ndarray of shape (units,)
            Number of items that are expected to have each unit.
        n_items : float
            Number of items.
        evidence : ndarray of shape (units,)
            How many times larger the weights of each unit are than chance would make them.
        share : float, default=1.0
            Share of the step that is taken; less than 1 if counts are estimates.
        has_head : bool, default=False
            Whether the model has a head.

        Returns
        -------
        dict of str to ndarray
            Parameters by name.
        """
        alpha, found = float(extra["alpha"][0]), evidence >= 1
        rank = self.rank(counts, evidence)
        step = self._update(extra["beta"].astype(np.float64), counts[rank].astype(np.float64), n_items, alpha)
        beta = extra["beta"] + share * (step - extra["beta"])
        if self.layer.alpha == "learn":
            alpha += share * (sticks.best_alpha(beta, self._concentration(1.0)) - alpha)
        ranked = self._log_odds(beta)
        n_found = int(found.sum())
        ranked[n_found:] = self.waiting_log_odds(len(rank) - n_found, has_head)
        log_odds = np.empty(len(rank))
        log_odds[rank] = ranked
        return {"log_odds": log_odds, "beta": beta, "alpha": np.array([alpha])}

    def bound(self, extra: Mapping[str, np.ndarray], counts: np.ndarray, n_items: float) -> float:
        """Return a lower bound of E[log p(z | π)] - KL(q(π) ‖ p(π)), in nats for all items; counts are by rank."""
        return self._bound(extra["beta"].astype(np.float64), counts, n_items, float(extra["alpha"][0]))

    # ---- growth ------------------------------------------------------------------------------------------------------
    def sources(self, scores: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> list[Sources]:
        """Return independent sources behind factors; binary units may stand for such with two values, or for any.

        Parameters
        ----------
        scores : ndarray of shape (rows, factors)
            Factors, of variance 1 plus noise.
        rows : ndarray of int
            Rows that sources are told apart by.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        list of (ndarray of shape (factors, sources), ndarray of shape (rows, sources))
            By how much each factor changes with a standard deviation of each source, and values of the sources, whose
            variances are 1, plus that of noise.
        """
        if self.layer.kind == "real":
            rotation = ica_rotation(scores[rows], rng)
            return [(rotation.T, scores @ rotation.T)]
        rotation = ica_rotation(scores[rows], rng, _ROUGHLY)
        found = BinarySources(scores[rows], rotation)
        presence = found.presence(scores)
        deviation = np.maximum(presence.std(axis=0), _SMALLEST_DEVIATION)
        two_valued = found.effects.T * deviation, (presence - presence.mean(axis=0)) / deviation
        return [two_valued, (rotation.T, scores @ rotation.T)]

    def weights_from_sources(self, effects: np.ndarray, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return weights by which units stand for sources, and shares of the items that have them.

        A binary unit stands for the rarer side of a source, whose skewness tells how rare that is. Real units have
        weights of the likelihood's maximum, W = L (I + LᵀL)^-½ / s, if all items have them.

        Parameters
        ----------
        effects : ndarray of shape (features, units)
            By how much a feature changes with a standard deviation of a source, in standard deviations of the feature
            given the units.
        sources : ndarray of shape (rows, units)
            Values of the sources, whose variances are 1 plus that of noise.

        Returns
        -------
        weights : ndarray of shape (features, units)
            By how much the natural parameter of a feature changes with a unit, in the same units.
        share : ndarray of shape (units,)
            Shares of the items.
        """
        if self.layer.kind == "real":
            values, vectors = np.linalg.eigh(effects.T @ effects)
            root = (vectors / np.sqrt(1 + np.maximum(values, 0))) @ vectors.T
            return effects @ root / np.sqrt(self.layer.variance), np.full(effects.shape[1], 0.5)
        share, side = rarer_side(sources)
        share = np.maximum(share, _SMALLEST_SHARE)
        return effects * side / np.sqrt(share * (1 - share)), share

    def for_shares(self, share: np.ndarray, n_items: int) -> dict[str, np.ndarray]:
        """Return the parameters of the prior to which shares of the items that have each unit lead."""
        extra = self.initial()
        for _ in range(_UPDATES):
            extra = self.updated(extra, share * n_items, n_items, np.full(len(share), np.inf))
        return extra

    def log_odds_of_another(self, n_units: np.ndarray, n_items: int) -> np.ndarray:
        """Return the prior log-odds of one more unit that any item has, for numbers of units that there are.

        Each of the K units is had by an item with the probability 1 - Γ(n + 1) Γ(1 + α / K) / Γ(n + 1 + α / K).
        """
        if self.layer.alpha == "learn":  # the best α makes both as likely
            return np.zeros(len(n_units))
        return self._log_odds_of_another(n_units, n_items, float(self.layer.alpha))

    def _log_odds_of_another(self, n_units: np.ndarray, n_items: int, alpha: float) -> np.ndarray:
        share = alpha / self.layer.n_units_
        log_unused = gammaln(n_items + 1) + gammaln(1 + share) - gammaln(n_items + 1 + share)
        free = np.maximum(self.layer.n_units_ - n_units, 1e-9)
        return np.asarray(np.log(free / (n_units + 1)) + np.log(-np.expm1(log_unused)) - log_unused)

    # ---- posterior of each π_k -------------------------------------------------------------------------------------
    def _concentration(self, alpha: float) -> float:
        return alpha / self.layer.n_units_

    def _update(self, beta: np.ndarray, counts: np.ndarray, n_items: float, alpha: float) -> np.ndarray:
        return sticks.independent_update(counts, n_items, alpha)

    def _log_odds(self, beta: np.ndarray) -> np.ndarray:
        return sticks.independent_log_odds(beta)

    def _bound(self, beta: np.ndarray, counts: np.ndarray, n_items: float, alpha: float) -> float:
        return sticks.independent_bound(beta, counts, n_items, alpha)


class IndianBuffetPrior(BetaBernoulliPrior):
    """Prior of any number of units, by breaking sticks: π_k = Π_{j≤k} v_j with v_j ~ Beta(α, 1).

    The number of units that any of n items has is Poisson with mean α (1 + 1/2 + … + 1/n) (Griffiths & Ghahramani
    2011).
    """

    size_setting = "truncation"

    def _log_odds_of_another(self, n_units: np.ndarray, n_items: int, alpha: float) -> np.ndarray:
        expected = alpha * (digamma(n_items + 1) + np.euler_gamma)
        return np.asarray(np.log(expected) - np.log(n_units + 1.0))

    def _concentration(self, alpha: float) -> float:
        return alpha

    def _update(self, beta: np.ndarray, counts: np.ndarray, n_items: float, alpha: float) -> np.ndarray:
        return sticks.stick_update(beta, counts, n_items, alpha)

    def _log_odds(self, beta: np.ndarray) -> np.ndarray:
        return sticks.stick_log_odds(beta)

    def _bound(self, beta: np.ndarray, counts: np.ndarray, n_items: float, alpha: float) -> float:
        return sticks.stick_bound(beta, counts, n_items, alpha)


class BornUnits(UsefulUnits):
    """Selection of the units of a `SpikeSlab` layer whose births were justified, so that nothing is charged for them.

    Units that became the same for all items are removed, and those that agree become one.
    """

    def begin(self, parameters: Parameters) -> None:
        """Leave the prior as it was at birth."""

    def charge(
        self, gradient: Parameters, parameters: Parameters, n_rows: int, last: bool = False, at_once: bool = False
    ) -> float:
        """Charge nothing."""
        return 0.0

    def evidence(self, parameters: Parameters) -> np.ndarray:
        """Return the evidence of each unit, which counts as found whatever it is."""
        return np.maximum(super().evidence(parameters), 1.0)

    def found(self, parameters: Parameters, use: Use) -> np.ndarray:
        """Return which units differ from item to item."""
        return ~self._layer.groups.idle(use.deviation)
