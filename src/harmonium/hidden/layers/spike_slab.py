"""Units that items have or lack: a spike at zero and a slab of other values, under a prior on their use."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Literal, Self

import numpy as np

from harmonium.core.support import Support
from harmonium.core.validation import Choice, Number
from harmonium.hidden.base import HiddenLayer
from harmonium.hidden.selection.prior import BetaBernoulliPrior
from harmonium.kernels.elementwise import logistic, softplus

_LOG_TWO_PI = float(np.log(2 * np.pi))
# rounds of the factorised iteration, which contracts fast except near its rare bifurcations; a convention
_ROUNDS = 25


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
        """Return a fitted copy with a given number of units, and the prior at its start."""
        layer = super().restore(n_units)
        return layer.at(layer.extra_parameters())

    def goes_on_from(self, began: HiddenLayer) -> bool:
        """Tell whether the settings are the same, as units may have been removed since."""
        return self._same_settings(began)

    @property
    def selection(self) -> BetaBernoulliPrior:
        """The prior of the units' use."""
        return BetaBernoulliPrior(self)

    def extra_parameters(self) -> dict[str, np.ndarray]:
        """Return initial log-odds, Beta parameters and α of the prior."""
        return self.selection.initial()

    def at(self, extra: Mapping[str, np.ndarray]) -> Self:
        """Return the layer with given log-odds."""
        layer = copy(self)
        layer.log_odds_ = extra["log_odds"]
        return layer

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

    def _presence_natural(self, natural: np.ndarray) -> np.ndarray:
        """Return the log-odds of z = 1 given the views, with h summed out."""
        return self.log_odds_ + (0.5 * self.variance * np.square(natural) if self._real else natural)

    def presence(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray:
        """Return ν = E[z], the probability that a row has each unit.

        Parameters
        ----------
        natural : ndarray of shape (rows, units)
            Natural parameters.
        mean : ndarray of shape (rows, units), optional
            Means at these natural parameters, which saves work where they are known.

        Returns
        -------
        ndarray of shape (rows, units)
            Probabilities.
        """
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
