"""Hidden units with a strength from 0 to M."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np

from harmonium.core.distributions import BinomialDistribution, Distribution
from harmonium.core.validation import Setting, Whole, shown
from harmonium.hidden.layers.bounded import BoundedUnits


class Trials(Setting):
    """A whole number of at least 1, or one for each unit."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse everything else."""
        whole = Whole(remedy="try 10")
        if np.ndim(value) == 0:
            whole.check(owner, name, value)
            return
        if np.ndim(value) != 1 or not len(value):
            raise ValueError(
                f"{owner} needs {name} to be a whole number, or a row of one for each unit; got {shown(value)}; pass "
                "for example [1, 1, 5]."
            )
        for position, one in enumerate(value):
            whole.check(owner, f"{name}[{position}]", one)


class BinomialUnits(BoundedUnits):
    """Hidden layer of units from 0 to M: an item has a topic to some degree.

    Parameters
    ----------
    M : int or sequence of int, default=10
        Number of trials: a unit acts as M binary units that share their weights. The default is a convention; the paper
        leaves M open. A sequence has one for each unit, and so gives the number of units.
    n_units : int, optional
        Number of units. By default it is the ``n_components`` of the estimator, or the length of ``M``.
    weights : {"signed", "nonnegative"}, default="signed"
        Whether weights of views may have any sign, or units can only raise features. Topics of non-negative weights are
        made of what is there and not of what is absent, and are easier to read; training then starts from clusters of
        the items. Drivers that sample from a posterior need signed weights.
    activity : float, optional
        Mean of a unit over the items, as a share of its largest value, to which training moves the units' biases.
        Default: whatever the data ask for.

    References
    ----------
    Gehler, Holub & Welling (2006), The rate adapting Poisson model for information retrieval and object recognition.

    Examples
    --------
    >>> import numpy as np
    >>> BinomialUnits(M=4).mean(np.zeros((1, 1))).tolist()
    [[2.0]]
    >>> BinomialUnits(M=[1, 4]).mean(np.zeros((1, 2))).tolist()
    [[0.5, 2.0]]
    """

    settings = {**BoundedUnits.settings, "M": Trials()}

    def __init__(
        self,
        M: int | Sequence[int] | np.ndarray = 10,
        n_units: int | None = None,
        weights: Literal["signed", "nonnegative"] = "signed",
        activity: float | None = None,
    ) -> None:
        super().__init__(n_units, weights, activity)
        self.M = M

    def check(self) -> None:
        """Refuse a number of units that is not that of the numbers of trials, too."""
        super().check()
        if self.n_units is not None and np.ndim(self.M) and len(self._trials) != self.n_units:
            raise ValueError(
                f"BinomialUnits needs an M for each of its {self.n_units} units; got {len(self._trials)}; leave out "
                "n_units."
            )

    def bind(self, n_components: int, n_outputs: int = 0) -> Self:
        """Return a fitted copy of the layer, with a unit for each M if there are several."""
        return super().bind(len(self._trials) if np.ndim(self.M) else n_components, n_outputs)

    def restore(self, n_units: int) -> Self:
        """Return a fitted copy of the layer with a given number of units.

        It must be that of M, if there are several.
        """
        if np.ndim(self.M) and len(self._trials) != n_units:
            raise ValueError(
                f"BinomialUnits needs an M for each of its {n_units} units; got {len(self._trials)}; pass one M for "
                "all where the number of units is chosen in training."
            )
        return super().restore(n_units)

    @property
    def _trials(self) -> np.ndarray:
        return np.asarray(self.M)

    @property
    def largest(self) -> np.ndarray:
        """Largest value of each unit of a fitted copy: its number of trials."""
        return np.full(self.n_units_, self._trials, dtype=np.float64)

    @property
    def distribution(self) -> Distribution:
        """Distribution of the number of successes out of M trials."""
        return BinomialDistribution(self._trials if np.ndim(self.M) else int(self.M))  # type: ignore[arg-type]
