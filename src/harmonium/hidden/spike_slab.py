"""Units that items have or lack: a spike at zero and a slab of other values, under a prior on their use."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Literal, Self

import numpy as np
from scipy.special import gammaln

from harmonium.hidden import sticks
from harmonium.hidden.base import HiddenLayer
from harmonium.hidden.born_units import BornUnits
from harmonium.hidden.selection import Selection, SelectionContext
from harmonium.hidden.useful_units import UsefulUnits
from harmonium.kernels.elementwise import logistic, softplus
from harmonium.support import Support
from harmonium.validation import Choice, Number

_LOG_TWO_PI = float(np.log(2 * np.pi))
# rounds of the factorised iteration, which contracts fast except near its rare bifurcations; a convention
_ROUNDS = 25
# Smallest share of items for which a unit is born, and rounds in which its prior settles: conventions.
_SMALLEST_SHARE, _SETTLING = 0.02, 20
# A unit that no item uses could never become useful, so units without evidence wait in a queue: items have the first
# one with this prior probability, and each of the others with a fixed share of the probability of the one before, so
# that the next feature is found by one unit and not by all of them at once. A head tells units apart from the start, so
# more of them can learn at a time, and the probabilities fall slowly. The first two values were set by hand on draws 0
# to 4 of benchmarks/infinite_truth, the third on the first trial of Wikipedia in benchmarks/infinite_views.
_FIRST_IN_QUEUE, _FALL, _FALL_WITH_HEAD = 0.2, 2 / 3, 0.95


class SpikeSlab(HiddenLayer):
    """Hidden layer of units that items have or lack; it infers which are needed.

    A unit has the value z · h, where z says whether the item has it. Units are born from what is left unexplained, as
    many as stand out of chance. Where something is predicted and the views say clearly more about it than these units,
    others are added for the loss; those without evidence are removed at the end of ``fit``.

    Parameters
    ----------
    alpha : float or "learn", default=2.0
        Number of units that an item is expected to have a priori; "learn" takes the value that maximises the bound on
        the prior. The default is a convention; see `IBP`.
    kind : {"binary", "real"}, default="binary"
        Value h of a unit for an item that has it: 1, or a real number (the slab).
    variance : float, default=1.0
        Variance s² of the slab. It is not learned, as it is the same as a factor s of all weights, which are.
    inference : {"joint", "factorised"}, default="joint"
        How z and h are inferred: together and exactly, or by the iteration ν ↔ E[h] of the paper. For binary units both
        are the same.
    relevance : float, default=1.0
        Factor of what the weights of a unit cost with a head, and in ``partial_fit``. The cost comes from the evidence
        and is half a logarithm for each weight, so that a unit stays only if it explains more than that; 1.0 charges it
        in full. With 0 there is no cost, and units are kept on little evidence.
    n_units : int, optional
        Number of units K. By default it is the ``n_components`` of the estimator.

    See Also
    --------
    IBP : The same with a prior that does not depend on the number of units.

    Notes
    -----
    The finite Beta-Bernoulli model of eq. 2-4: z ~ Bernoulli(π_k) with π_k ~ Beta(α / K, 1). Given the posterior of π,
    a unit is an exponential family with log-odds o_k = E[log π_k] - E[log(1 - π_k)].

    References
    ----------
    Chen, Zhu, Sun & Zhang (2013), Learning harmonium models with infinite latent features.

    Examples
    --------
    >>> layer = SpikeSlab(kind="real").bind(1).at({"log_odds": np.zeros(1)})
    >>> layer.mean(np.array([[0.0], [2.0]])).round(2).tolist()  # ν s² a with ν = σ(o + s² a² / 2)
    [[0.0], [1.76]]
    """

    settings = {
        **HiddenLayer.settings,
        "alpha": Number(remedy="2.0 is usual, 'learn' infers it", also=("learn",)),
        "variance": Number(remedy="1.0 is usual"),
        "relevance": Number(inclusive=True, remedy="1.0 is usual"),
        "kind": Choice(("binary", "real")),
        "inference": Choice(("joint", "factorised")),
    }
    selects = True
    grows = True
    #: name of the setting that gives the number of units
    size_setting = "n_units"
    log_odds_: np.ndarray

    def __init__(
        self,
        alpha: float | Literal["learn"] = 2.0,
        kind: Literal["binary", "real"] = "binary",
        variance: float = 1.0,
        inference: Literal["joint", "factorised"] = "joint",
        relevance: float = 1.0,
        n_units: int | None = None,
    ) -> None:
        super().__init__(n_units)
        self.alpha = alpha
        self.kind = kind
        self.variance = variance
        self.inference = inference
        self.relevance = relevance

    def usual_size(self, n_rows: int | None) -> int:
        """Return 50: units that are not needed go."""
        return super().usual_size(None)

    def restore(self, n_units: int) -> Self:
        """Return a fitted copy with a given number of units, and the prior at its start."""
        layer = super().restore(n_units)
        return layer.at(layer.own_parameters())

    def goes_on_from(self, began: HiddenLayer) -> bool:
        """Tell whether the settings are the same, as units may have been removed since."""
        return self._same_settings(began)

    # ---- which units stay ----------------------------------------------------------------------------------------
    def selection(self, context: SelectionContext) -> Selection:
        """Return a selection by evidence, or one that keeps units that were born."""
        born = not context.has_head and not context.streams
        return BornUnits(self, context) if born else UsefulUnits(self, context)

    def log_odds_of_another(self, n_units: np.ndarray, n_items: int) -> np.ndarray:
        """Return the prior log-odds of one more unit that any item has.

        Each of the K units is had by an item with the probability 1 - Γ(n + 1) Γ(1 + α / K) / Γ(n + 1 + α / K).
        """
        if self.alpha == "learn":  # the best α makes both as likely
            return np.zeros(len(n_units))
        share = float(self.alpha) / self.n_units_
        log_unused = gammaln(n_items + 1) + gammaln(1 + share) - gammaln(n_items + 1 + share)
        free = np.maximum(self.n_units_ - n_units, 1e-9)
        return np.asarray(np.log(free / (n_units + 1)) + np.log(-np.expm1(log_unused)) - log_unused)

    def weights_from_sources(self, effects: np.ndarray, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return weights and shares of items by which units stand for sources.

        A binary unit stands for the rarer side of a source, whose skewness (1 - 2p) / √(p (1 - p)) tells how rare. Real
        units have weights of the likelihood's maximum, W = L (I + LᵀL)^-½ / s, if all items have them.
        """
        if self._real:
            values, vectors = np.linalg.eigh(effects.T @ effects)
            root = (vectors / np.sqrt(1 + np.maximum(values, 0))) @ vectors.T
            return effects @ root / np.sqrt(self.variance), np.full(effects.shape[1], 0.5)
        centred = sources - sources.mean(axis=0)
        skewness = np.power(centred, 3).mean(axis=0)
        rarity = np.abs(skewness) / np.sqrt(4 + np.square(skewness))
        share = np.maximum((1 - rarity) / 2, _SMALLEST_SHARE)
        return effects * np.where(skewness < 0, -1, 1) / np.sqrt(share * (1 - share)), share

    def prior_of_use(self, share: np.ndarray, n_items: int) -> dict[str, np.ndarray]:
        """Return own parameters that have settled on shares of the items."""
        own = self.own_parameters()
        for _ in range(_SETTLING):
            own = self.settle(own, share * n_items, n_items, np.full(len(share), np.inf))
        return own

    def counts(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray | float:
        """Return how many rows are expected to have each unit."""
        return self.presence(natural, mean).sum(axis=0)

    def remark(self, n_found: int) -> str | None:
        """Return a sentence if there may be more units to find, or if none was found."""
        if n_found == self.n_units_:
            return (
                f"All {self.n_units_} units of {type(self).__name__} are in use, so there may be more to find; pass a "
                f"larger {self.size_setting}."
            )
        if not n_found:
            return (
                f"{type(self).__name__} found no unit that stands out of chance, and kept one; use more rows, or a "
                "larger learning_rate or more epochs if something is predicted."
            )
        return None

    def waiting_log_odds(self, n_waiting: int, has_head: bool = False) -> np.ndarray:
        """Return the prior log-odds of units without evidence, by place in the queue.

        Parameters
        ----------
        n_waiting : int
            Number of units in the queue.
        has_head : bool, default=False
            Whether the model has a head.

        Returns
        -------
        ndarray of shape (n_waiting,)
            Log-odds, which fall from place to place.
        """
        # from place 100 on probabilities stay the same, which keeps those of very long queues from underflowing
        place = np.minimum(np.arange(n_waiting), 100.0)
        chance = _FIRST_IN_QUEUE * (_FALL_WITH_HEAD if has_head else _FALL) ** place
        return np.log(chance) - np.log1p(-chance)

    # ---- the prior and its posterior -----------------------------------------------------------------------------
    @property
    def own_names(self) -> tuple[str, ...]:
        """Names of the own parameters: log-odds, sticks and α."""
        return ("log_odds", "beta", "alpha")

    def own_parameters(self) -> dict[str, np.ndarray]:
        """Return initial log-odds, Beta parameters and α.

        Log-odds are in the order of the units. The Beta parameters, from which they follow, are in the order of rank.
        """
        alpha = 2.0 if self.alpha == "learn" else float(self.alpha)
        beta = np.stack([np.full(self.n_units_, self._concentration(alpha)), np.ones(self.n_units_)], axis=1)
        log_odds = self.waiting_log_odds(self.n_units_)
        return {"log_odds": log_odds, "beta": beta, "alpha": np.array([alpha])}

    def at(self, own: Mapping[str, np.ndarray]) -> Self:
        """Return the layer with given log-odds."""
        layer = copy(self)
        layer.log_odds_ = own["log_odds"]
        return layer

    @staticmethod
    def rank(counts: np.ndarray, evidence: np.ndarray) -> np.ndarray:
        """Return the units in the order of the sticks.

        Those that stand out come first, by use, then the others, by evidence.

        Parameters
        ----------
        counts : ndarray of shape (units,)
            Number of items that are expected to have each unit.
        evidence : ndarray of shape (units,)
            How many times larger the weights of each unit are than chance would make them.

        Returns
        -------
        ndarray of int of shape (units,)
            Numbers of the units.
        """
        found = evidence >= 1
        return np.lexsort((-np.where(found, counts, evidence), ~found))

    def settle(
        self,
        own: Mapping[str, np.ndarray],
        counts: np.ndarray,
        n_items: float,
        evidence: np.ndarray,
        share: float = 1.0,
        has_head: bool = False,
    ) -> dict[str, np.ndarray]:
        """Return the own parameters after a step of coordinate ascent.

        Units with an evidence of at least 1 are ranked by use. The others wait in the order of their evidence.

        Parameters
        ----------
        own : mapping of str to ndarray
            Own parameters before the step.
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
            Own parameters by name.
        """
        alpha, found = float(own["alpha"][0]), evidence >= 1
        rank = self.rank(counts, evidence)
        step = self._update(own["beta"].astype(np.float64), counts[rank].astype(np.float64), n_items, alpha)
        beta = own["beta"] + share * (step - own["beta"])
        if self.alpha == "learn":
            alpha += share * (sticks.best_alpha(beta, self._concentration(1.0)) - alpha)
        ranked = self._log_odds(beta)
        n_found = int(found.sum())
        ranked[n_found:] = self.waiting_log_odds(len(rank) - n_found, has_head)
        log_odds = np.empty(len(rank))
        log_odds[rank] = ranked
        return {"log_odds": log_odds, "beta": beta, "alpha": np.array([alpha])}

    def prior_bound(self, own: Mapping[str, np.ndarray], counts: np.ndarray, n_items: float) -> float:
        """Return a lower bound of the prior terms E[log p(z | π)] - KL(q(π) ‖ p(π)).

        Parameters
        ----------
        own : mapping of str to ndarray
            Own parameters.
        counts : ndarray of shape (units,)
            Number of items that are expected to have each unit, in the order of rank.
        n_items : float
            Number of items.

        Returns
        -------
        float
            The bound, in nats for all items together.
        """
        return self._bound(own["beta"].astype(np.float64), counts, n_items, float(own["alpha"][0]))

    def _concentration(self, alpha: float) -> float:
        return alpha / self.n_units_

    def _update(self, beta: np.ndarray, counts: np.ndarray, n_items: float, alpha: float) -> np.ndarray:
        return sticks.independent_update(counts, n_items, alpha)

    def _log_odds(self, beta: np.ndarray) -> np.ndarray:
        return sticks.independent_log_odds(beta)

    def _bound(self, beta: np.ndarray, counts: np.ndarray, n_items: float, alpha: float) -> float:
        return sticks.independent_bound(beta, counts, n_items, alpha)

    # ---- units given their naturals --------------------------------------------------------------------------------
    @property
    def _real(self) -> bool:
        return self.kind == "real"

    @property
    def support(self) -> Support:
        """The values 0 and 1, or all real numbers with an atom at 0."""
        return Support("finite real numbers", atom=True) if self._real else Support("0 or 1", 0, 1, integer=True)

    @property
    def conditional_variance(self) -> float:
        """Variance s² of a unit that the item has."""
        return float(self.variance)

    def turned_bias(self, bias: np.ndarray) -> np.ndarray:
        """Return the bias of turned units, whose prior log-odds stay as they are."""
        return -bias - 2 * self.log_odds_

    def _presence_natural(self, natural: np.ndarray) -> np.ndarray:
        """Return the log-odds of z = 1 given the views, with h summed out."""
        return self.log_odds_ + (0.5 * self.variance * np.square(natural) if self._real else natural)

    def presence(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray:
        """Return ν = E[z]."""
        if not self._real:
            return mean if mean is not None else logistic(self._presence_natural(natural))
        if self.inference == "factorised":
            return self._factorised(natural)
        return logistic(self._presence_natural(natural))

    def _factorised(self, natural: np.ndarray) -> np.ndarray:
        """Return ν = σ(o + E[h] a) with E[h] = s² ν a, iterated from the joint posterior."""
        strength = self.variance * np.square(natural)
        presence = logistic(self.log_odds_ + 0.5 * strength)
        for _ in range(_ROUNDS):
            presence = logistic(self.log_odds_ + strength * presence)
        return presence

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """Return the log-odds, with the density of the slab, or 0 where the value is 0."""
        if not self._real:
            return self.log_odds_ * values
        slab = self.log_odds_ - 0.5 * (np.square(values) / self.variance + _LOG_TWO_PI + np.log(self.variance))
        return np.where(values == 0, 0, slab).astype(values.dtype, copy=False)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """Return log(1 + exp(o + a)), or log(1 + exp(o + s² a² / 2)) for real units.

        With factorised inference it is the bound that the iteration maximises.
        """
        if not self._real or self.inference == "joint":
            return softplus(self._presence_natural(natural))
        presence = self._factorised(natural.astype(np.float64))
        entropy = -(presence * np.log(np.maximum(presence, 1e-300)))
        entropy -= (1 - presence) * np.log(np.maximum(1 - presence, 1e-300))
        bound = presence * self.log_odds_ + 0.5 * self.variance * np.square(presence * natural) + entropy
        return bound.astype(natural.dtype, copy=False)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """Return ν, or ν s² a for real units; s² ν² a with factorised inference."""
        presence = self.presence(natural)
        if not self._real:
            return presence
        return presence * (self.variance * natural) * (presence if self.inference == "factorised" else 1)

    def mean_derivative(self, natural: np.ndarray) -> np.ndarray:
        """Return ν (1 - ν), or s² ν + (s² a)² ν (1 - ν) for real units.

        With factorised inference the derivative goes through the fixed point.
        """
        presence = self.presence(natural)
        spread = presence * (1 - presence)
        if not self._real:
            return spread
        slope = self.variance * natural
        if self.inference == "joint":
            return self.variance * presence + np.square(slope) * spread
        by_natural = 2 * spread * presence * slope / (1 - spread * slope * natural)
        return self.variance * np.square(presence) + 2 * slope * presence * by_natural

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Flip a coin for each z, then draw normal numbers where it is 1."""
        chance = logistic(self._presence_natural(natural))
        there = (rng.random(natural.shape, dtype=np.float32) < chance).astype(natural.dtype)
        if not self._real:
            return there
        noise = rng.standard_normal(natural.shape, dtype=np.float32).astype(natural.dtype, copy=False)
        return there * (self.variance * natural + float(np.sqrt(self.variance)) * noise)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Return the most probable h where z = 1 is more probable than z = 0, else 0."""
        there = (self._presence_natural(natural) > 0).astype(natural.dtype)
        return there * (self.variance * natural) if self._real else there
