"""Rules by which layers select their units: all stay, all are held to an activity, or each group has its own rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from harmonium.core.parameters import HIDDEN_BIAS, Parameters, record
from harmonium.hidden.selection.selection import Selection, SelectionContext

if TYPE_CHECKING:
    from harmonium.hidden.base import HiddenLayer
    from harmonium.hidden.selection.prior import BetaBernoulliPrior


class SelectionRule:
    """Rule of a layer that uses all its units: nothing is counted, and nothing is done about them.

    Parameters
    ----------
    layer : HiddenLayer
        The layer, fitted.

    Examples
    --------
    >>> from harmonium import IBP
    >>> from harmonium.hidden import BernoulliUnits
    >>> BernoulliUnits().selection.selects, IBP().selection.selects
    (False, True)
    """

    def __init__(self, layer: HiddenLayer) -> None:
        self.layer = layer

    @property
    def prior(self) -> BetaBernoulliPrior | None:
        """Prior of the use of units, from which units grow where they are needed; None if there is none."""
        return None

    @property
    def activity(self) -> float | None:
        """Mean of a unit over the items to which training moves its bias, as a share of its largest value, if any."""
        return None

    @property
    def selects(self) -> bool:
        """Whether units that the data do not ask for are removed at the end of a fit."""
        return self.prior is not None

    def presence(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray:
        """Return the probability that a row has each unit.

        Parameters
        ----------
        natural : ndarray of shape (rows, units)
            Natural parameters.
        mean : ndarray of shape (rows, units), optional
            Means at these natural parameters, which saves work where they are known.

        Returns
        -------
        ndarray of shape (rows, units)
            Probabilities; for layers whose units every row has, the means.
        """
        return self.layer.mean(natural) if mean is None else mean

    def counts(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray | float:
        """Return the sum over rows of what a `Selection` learns from.

        Parameters
        ----------
        natural, mean : ndarray of shape (rows, units)
            As for `presence`.

        Returns
        -------
        ndarray of shape (units,), or float
            How many rows have each unit; 0 if nothing is learned.
        """
        return 0.0

    def start(self, context: SelectionContext) -> Selection:
        """Return what is done about units during training, besides following gradients.

        Parameters
        ----------
        context : SelectionContext
            What there is to know about the model and its data.

        Returns
        -------
        Selection
            By default one that does nothing.
        """
        return Selection()

    def remark(self, n_found: int) -> str | None:
        """Return what the user should know about the number of units that were found.

        Parameters
        ----------
        n_found : int
            Number of units that the data ask for.

        Returns
        -------
        str or None
            One sentence; None if there is nothing to say.
        """
        return None


# Share of the way to the target that one update goes: a convention. Updates are ten in an epoch, and the naturals of
# items differ, so that a bias has to go further than the log-odds of the mean say.
_STEP = 0.5
# Activities are taken to be this far from 0 and 1 at least, so that a unit that is switched off comes back in steps.
_LEAST = 1e-3


class ActivityRule(SelectionRule):
    """Rule that holds all units to an activity.

    Parameters
    ----------
    layer : HiddenLayer
        The layer, whose units have a largest value.
    activity : float
        Mean of a unit over the items, as a share of its largest value.
    """

    def __init__(self, layer: HiddenLayer, activity: float) -> None:
        super().__init__(layer)
        self._target = activity

    @property
    def activity(self) -> float:
        """The target."""
        return self._target

    def counts(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray | float:
        """Return the sum over rows of the units' means, as shares of the largest value."""
        share: np.ndarray = self.presence(natural, mean).sum(axis=0, dtype=np.float64) / self.layer.largest
        return share

    def start(self, context: SelectionContext) -> Selection:
        """Return what moves the biases."""
        return ActivityTarget(self._target)


class ActivityTarget(Selection):
    """Keeps all units and moves their biases until each is as active as it should be.

    Parameters
    ----------
    target : float
        Mean of a unit over the items, as a share of its largest value.

    Examples
    --------
    >>> parameters = {"hidden.bias": np.zeros(2, dtype=np.float32)}
    >>> ActivityTarget(0.5).update(parameters, np.array([90.0, 50.0]), 100)
    >>> parameters["hidden.bias"].astype(float).round(2).tolist()
    [-1.1, 0.0]
    """

    def __init__(self, target: float) -> None:
        self.target = target

    def update(
        self, parameters: Parameters, counts: np.ndarray | float, n_rows: int, n_before: int | None = None
    ) -> None:
        """Move the biases by some of the difference of the log-odds."""
        activity = np.clip(np.asarray(counts) / n_rows, _LEAST, 1 - _LEAST)
        parameters[HIDDEN_BIAS] += (_STEP * (logit(self.target) - logit(activity))).astype(np.float32)


class RuleOfGroups(SelectionRule):
    """Rule of the groups of a layer, each for itself."""

    @property
    def activity(self) -> float | None:
        """Target of the first group that has one."""
        targets = (layer.selection.activity for _, layer in self.layer.groups.parts)
        return next((target for target in targets if target is not None), None)

    def counts(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray | float:
        """Return the counts of each group, 0 for one that has none."""
        mean, parts = self.presence(natural, mean), self.layer.groups.parts
        found = [layer.selection.counts(natural[..., units], mean[..., units]) for units, layer in parts]
        if not any(isinstance(part, np.ndarray) for part in found):
            return 0.0
        return np.concatenate(
            [np.broadcast_to(part, layer.n_units_) for part, (_, layer) in zip(found, parts, strict=True)]
        )

    def start(self, context: SelectionContext) -> Selection:
        """Return what each group does."""
        inner = [(units, layer.selection.start(context)) for units, layer in self.layer.groups.parts]
        return _SelectionOfGroups(inner) if any(type(one) is not Selection for _, one in inner) else Selection()


class _SelectionOfGroups(Selection):
    """What the groups of a layer do about their units, each for itself."""

    def __init__(self, parts: list[tuple[slice, Selection]]) -> None:
        self.parts = parts

    def begin(self, parameters: Parameters) -> None:
        """Set the priors to their initial state."""
        for units, selection in self.parts:
            selection.begin(_part_of(parameters, units))

    def update(
        self, parameters: Parameters, counts: np.ndarray | float, n_rows: int, n_before: int | None = None
    ) -> None:
        """Update each group from its counts."""
        counts = np.broadcast_to(counts, len(parameters[HIDDEN_BIAS]))
        for units, selection in self.parts:
            selection.update(_part_of(parameters, units), counts[units], n_rows, n_before)


def _part_of(parameters: Mapping[str, np.ndarray], units: slice) -> Parameters:
    """Return the parameters of some units: arrays that share their memory with those of all."""
    found: Parameters = {}
    for name, value in parameters.items():
        axis = record(name).unit_axis
        found[name] = value if axis is None else value[units] if axis == 0 else value[:, units]
    return found
