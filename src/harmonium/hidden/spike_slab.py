"""Units that items have or lack: a spike (not there) and a slab (there, with a value), under a prior on their use."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Literal, Self

import numpy as np

from harmonium.hidden import sticks
from harmonium.hidden.base import HiddenLayer
from harmonium.hidden.selection import Circumstances, Selection
from harmonium.hidden.useful_units import UsefulUnits
from harmonium.kernels.elementwise import logistic, softplus
from harmonium.support import Support
from harmonium.validation import Choice, Number

_LOG_TWO_PI = float(np.log(2 * np.pi))
_ROUNDS = 25  # of the factorised iteration; it contracts fast except near its rare bifurcations
# A unit nobody uses would never learn to be of use, so those without evidence wait in a queue: the first is had with
# this probability, each of the others with a share of that of the one before, so that the next feature is found by one
# unit and not by all of them at once. What a head asks for tells units apart from the start: then more of them can
# learn at a time, and the probabilities fall slowly.
_FIRST_IN_QUEUE, _FALL, _FALL_WITH_HEAD = 0.2, 2 / 3, 0.95


class SpikeSlab(HiddenLayer):
    """Units z · h with z ~ Bernoulli(π_k), π_k ~ Beta(α / K, 1): which units are of use is inferred.

    The finite Beta-Bernoulli model of Chen et al. (2013), eq. 2-4. Given the posterior of π, a unit is an exponential
    family with its own log-odds o_k = E[log π_k] - E[log(1 - π_k)]; z and h are inferred together.

    Parameters
    ----------
    alpha : float or "learn", default=2.0
        Number of units that an item is expected to have a priori; "learn" takes the value that makes the bound on the
        prior largest.
    kind : {"binary", "real"}, default="binary"
        What a unit is for an item that has it: 1, or a real number (the slab).
    variance : float, default=1.0
        Variance s² of the slab.
    inference : {"joint", "factorised"}, default="joint"
        Posterior of z and h: together and exact, or the iteration ν ↔ E[h] of the paper. The same for binary units.
    relevance : float, default=1.0
        Weight of what the weights of a unit cost: half a logarithm of the evidence for each of them, so that a unit
        stays only if it explains more than that. 0 switches it off: units are then kept on little evidence.
    n_units : int, optional
        Number of units K; default: the estimator's ``n_components``.

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

    def restore(self, n_units: int) -> Self:
        """Copy of the layer with so many units: all of them, or those that are left."""
        layer = super().restore(n_units)
        return layer.at(layer.own_parameters())

    def goes_on_from(self, began: HiddenLayer) -> bool:
        """Units may have been removed since."""
        return self._same_settings(began)

    # ---- which units stay ----------------------------------------------------------------------------------------
    def selection(self, circumstances: Circumstances) -> Selection:
        """Select units by the evidence for them."""
        return UsefulUnits(self, circumstances)

    def counts(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray | float:
        """How many rows have each unit."""
        return self.presence(natural, mean).sum(axis=0)

    def remark(self, n_found: int) -> str | None:
        """Say so if the number of units was too small, or none was of use."""
        if n_found == self.n_units_:
            return (
                f"All {self.n_units_} units of {type(self).__name__} are in use, so there may be more to find; pass a "
                f"larger {self.size_setting}."
            )
        if not n_found:
            return (
                f"{type(self).__name__} found no unit that stands out of chance, and kept one; use more rows, a larger "
                "learning_rate or more epochs, or a smaller relevance."
            )
        return None

    def waiting_log_odds(self, n_waiting: int, has_head: bool = False) -> np.ndarray:
        """Log-odds at which units without evidence are kept, by their place in the queue."""
        place = np.minimum(np.arange(n_waiting), 100.0)
        chance = _FIRST_IN_QUEUE * (_FALL_WITH_HEAD if has_head else _FALL) ** place
        return np.log(chance) - np.log1p(-chance)

    # ---- the prior and its posterior -----------------------------------------------------------------------------
    @property
    def own_names(self) -> tuple[str, ...]:
        """As in `own_parameters`."""
        return ("log_odds", "beta", "alpha")

    def own_parameters(self) -> dict[str, np.ndarray]:
        """Log-odds of each unit, the Beta parameters behind them (units in order of rank), and α."""
        alpha = 2.0 if self.alpha == "learn" else float(self.alpha)
        beta = np.stack([np.full(self.n_units_, self._concentration(alpha)), np.ones(self.n_units_)], axis=1)
        log_odds = self.waiting_log_odds(self.n_units_)
        return {"log_odds": log_odds, "beta": beta, "alpha": np.array([alpha])}

    def at(self, own: Mapping[str, np.ndarray]) -> Self:
        """The layer with these log-odds."""
        layer = copy(self)
        layer.log_odds_ = own["log_odds"]
        return layer

    def settle(
        self,
        own: Mapping[str, np.ndarray],
        counts: np.ndarray,
        n_items: float,
        evidence: np.ndarray,
        share: float = 1.0,
        has_head: bool = False,
    ) -> dict[str, np.ndarray]:
        """Own parameters after a step of coordinate ascent, or a ``share`` of it when counts are estimates.

        ``evidence`` says how far the weights of each unit stand out of what chance would give them; units with at least
        1 are ranked by use, the others wait in the order of their evidence (see `waiting_log_odds`).
        """
        alpha, found = float(own["alpha"][0]), evidence >= 1
        rank = np.lexsort((-np.where(found, counts, evidence), ~found))
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
        """Lower bound of the prior terms E[log p(z | π)] - KL(q(π) ‖ p(π)), for counts in order of rank."""
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
        """0 or 1; or the real line, of which 0 has a probability of its own."""
        return Support("finite real numbers", atom=True) if self._real else Support("0 or 1", 0, 1, integer=True)

    @property
    def conditional_variance(self) -> float:
        """s², of a unit that is there."""
        return float(self.variance)

    def turned_bias(self, bias: np.ndarray) -> np.ndarray:
        """The log-odds are counted from the same end as ever."""
        return -bias - 2 * self.log_odds_

    def _presence_natural(self, natural: np.ndarray) -> np.ndarray:
        """Log-odds of z = 1 given the views, h summed out."""
        return self.log_odds_ + (0.5 * self.variance * np.square(natural) if self._real else natural)

    def presence(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray:
        """ν = E[z]; ``mean`` saves work where it is known and the same."""
        if not self._real:
            return mean if mean is not None else logistic(self._presence_natural(natural))
        if self.inference == "factorised":
            return self._factorised(natural)
        return logistic(self._presence_natural(natural))

    def _factorised(self, natural: np.ndarray) -> np.ndarray:
        """ν = σ(o + E[h] a) with E[h] = s² ν a, iterated from the joint posterior."""
        strength = self.variance * np.square(natural)
        presence = logistic(self.log_odds_ + 0.5 * strength)
        for _ in range(_ROUNDS):
            presence = logistic(self.log_odds_ + strength * presence)
        return presence

    def log_base(self, values: np.ndarray) -> np.ndarray:
        """Log-odds where the unit is there, with the density of the slab; 0 where it is not."""
        if not self._real:
            return self.log_odds_ * values
        slab = self.log_odds_ - 0.5 * (np.square(values) / self.variance + _LOG_TWO_PI + np.log(self.variance))
        return np.where(values == 0, 0, slab).astype(values.dtype, copy=False)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """log(1 + exp(o + a)), or log(1 + exp(o + s²a²/2)); factorised: the bound that its iteration maximises."""
        if not self._real or self.inference == "joint":
            return softplus(self._presence_natural(natural))
        presence = self._factorised(natural.astype(np.float64))
        entropy = -(presence * np.log(np.maximum(presence, 1e-300)))
        entropy -= (1 - presence) * np.log(np.maximum(1 - presence, 1e-300))
        bound = presence * self.log_odds_ + 0.5 * self.variance * np.square(presence * natural) + entropy
        return bound.astype(natural.dtype, copy=False)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """ν, or ν s² a; factorised: ν E[h] = s² ν² a."""
        presence = self.presence(natural)
        if not self._real:
            return presence
        return presence * (self.variance * natural) * (presence if self.inference == "factorised" else 1)

    def mean_derivative(self, natural: np.ndarray) -> np.ndarray:
        """ν (1 - ν), or s² ν + (s² a)² ν (1 - ν); factorised: through the fixed point."""
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
        """Coin flips for z, then normal numbers where it is 1."""
        chance = logistic(self._presence_natural(natural))
        there = (rng.random(natural.shape, dtype=np.float32) < chance).astype(natural.dtype)
        if not self._real:
            return there
        noise = rng.standard_normal(natural.shape, dtype=np.float32).astype(natural.dtype, copy=False)
        return there * (self.variance * natural + float(np.sqrt(self.variance)) * noise)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """0 unless the unit is more probably there than not, then the most probable value."""
        there = (self._presence_natural(natural) > 0).astype(natural.dtype)
        return there * (self.variance * natural) if self._real else there
