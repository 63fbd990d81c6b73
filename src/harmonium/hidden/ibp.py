"""The Indian buffet process: a prior over features without a number of features."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np

from harmonium.hidden import sticks
from harmonium.hidden.base import NUMBER_OF_UNITS
from harmonium.hidden.spike_slab import SpikeSlab


class IBP(SpikeSlab):
    """Units under an Indian buffet process: how many are of use is inferred from the data.

    The stick-breaking form π_k = Π_{j≤k} v_j, v_j ~ Beta(α, 1), with a truncated mean-field posterior (Chen et al.
    2013; Doshi-Velez et al. 2009). Units that nothing speaks for are removed at the end of ``fit``.

    Parameters
    ----------
    alpha : float or "learn", default=2.0
        Number of units that an item is expected to have a priori; "learn" takes the value that makes the bound on the
        prior largest. What is found depends little on it.
    truncation : int, optional
        Largest number of units; default: the estimator's ``n_components``. More cost time but change little else.
    kind : {"binary", "real"}, default="binary"
        What a unit is for an item that has it: 1, or a real number (the slab).
    variance : float, default=1.0
        Variance s² of the slab.
    inference : {"joint", "factorised"}, default="joint"
        Posterior of z and h: together and exact, or the iteration ν ↔ E[h] of the paper. The same for binary units.
    relevance : float, default=1.0
        Weight of what the weights of a unit cost: half a logarithm of the evidence for each of them, so that a unit
        stays only if it explains more than that. 0 switches it off: units are then kept on little evidence.

    References
    ----------
    Chen, Zhu, Sun & Zhang (2013), Learning harmonium models with infinite latent features.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium
    >>> rng = np.random.default_rng(0)
    >>> has = rng.random((500, 5)) < 0.4
    >>> X = has @ rng.normal(size=(5, 30)) * 2 + rng.normal(size=(500, 30))
    >>> Harmonium(hidden=IBP(truncation=50), random_state=0).fit(X).n_components_
    5
    """

    settings = {
        **{name: setting for name, setting in SpikeSlab.settings.items() if name != "n_units"},
        "truncation": NUMBER_OF_UNITS,
    }
    size_setting = "truncation"

    def __init__(
        self,
        alpha: float | Literal["learn"] = 2.0,
        truncation: int | None = None,
        kind: Literal["binary", "real"] = "binary",
        variance: float = 1.0,
        inference: Literal["joint", "factorised"] = "joint",
        relevance: float = 1.0,
    ) -> None:
        super().__init__(alpha, kind, variance, inference, relevance)
        self.truncation = truncation

    def bind(self, n_components: int) -> Self:
        """Copy of the layer that knows its largest number of units."""
        return self.restore(int(n_components if self.truncation is None else self.truncation))

    def _concentration(self, alpha: float) -> float:
        return alpha

    def _update(self, beta: np.ndarray, counts: np.ndarray, n_items: float, alpha: float) -> np.ndarray:
        return sticks.stick_update(beta, counts, n_items, alpha)

    def _log_odds(self, beta: np.ndarray) -> np.ndarray:
        return sticks.stick_log_odds(beta)

    def _bound(self, beta: np.ndarray, counts: np.ndarray, n_items: float, alpha: float) -> float:
        return sticks.stick_bound(beta, counts, n_items, alpha)
