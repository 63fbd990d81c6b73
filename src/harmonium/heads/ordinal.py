"""Ratings: levels in order, told apart by thresholds on one score."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from harmonium.core.parameters import HEAD_BIAS, HEAD_WEIGHTS, Parameters
from harmonium.core.targets import Labels, Targets, TargetSpec
from harmonium.core.validation import Choice, Setting, few_of, shown
from harmonium.heads.linear import USUAL_C, LinearHead
from harmonium.heads.outputs import LevelOutputs
from harmonium.heads.outputs.constants import Constants, constant
from harmonium.hidden import HiddenLayer
from harmonium.kernels.optim.dual_coordinate_descent import TOLERANCE, solve_binary_hinge

# more different numbers than this are a measurement, not a rating: a convention
_MOST_LEVELS = 100
# shares of rows at or above a level, from which thresholds start, are kept this far from 0 and 1
_RAREST = 0.01


class Levels(Setting):
    """A setting that lists levels, which are checked against y, or None."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse what is no list, and levels that are missing."""
        is_list = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)
        if value is not None and not is_list:
            raise TypeError(
                f"{owner} needs {name} to be a list, the lowest first, or None; got {shown(value)}; list each level "
                "once."
            )
        if value is not None and any(level is None or level != level for level in value):
            raise ValueError(f"{owner} needs {name} that are there; got {shown(value)}; leave out what is missing.")


class Ordinal(LinearHead):
    """Levels in order, such as ratings, told apart by thresholds on one score.

    There is a threshold between each level and the next. The score v·E[h | x] should be above the thresholds below a
    row's level and below those above it, each by a margin of 1. A mistake costs more the more levels it is off, which
    neither `Hinge` (all mistakes alike) nor `EpsilonInsensitive` (distances between levels are given) can say.

    Of `HarmoniumClassifier` the classes are the levels, in the order of ``levels``; ``classes_`` stays sorted. Of
    `HarmoniumRegressor` the levels are the different numbers in y; it predicts their expectation.

    Parameters
    ----------
    C : float, default=1.6
        Weight of the prediction loss, in units of what an item costs to describe; see `LinearHead`.
    ridge : float, default=0.001
        Half of it times the squared norm of v is added to the mean loss.
    solver : {"joint", "alternate"}, default="joint"
        Move v and the thresholds with all other parameters, or solve for them after every epoch.
    margins : {"all", "nearest"}, default="all"
        Which thresholds a row's score should keep its distance from: all of them, which keeps them in order by itself
        and suits absolute errors, or only those next to the row's level.
    levels : sequence, optional
        The levels, the lowest first. Default: in the order of the categories, if y has ordered ones (those of an
        ordered pandas Categorical or of a polars Enum), else in ascending order, for which classes have to be numbers.

    References
    ----------
    Shashua & Levin (2003), Ranking with large margin principle: two approaches ("nearest", with a fixed margin);
    Chu & Keerthi (2007), Support vector ordinal regression ("all": implicit constraints); Rennie & Srebro (2005), Loss
    functions for preference levels.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import HarmoniumClassifier
    >>> from harmonium.heads import Ordinal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5))
    >>> stars = np.digitize(X[:, 0] + 0.3 * rng.normal(size=300), [-1, -0.3, 0.3, 1]) + 1
    >>> model = HarmoniumClassifier(5, head=Ordinal(), random_state=0).fit(X, stars)
    >>> bool(np.abs(model.predict(X) - stars).mean() < 0.5)
    True
    >>> model.predict_proba(X[:1]).shape
    (1, 5)
    """

    kinds = ("class", "number")
    settings = {
        **LinearHead.settings,
        "margins": Choice(("all", "nearest"), remedy="'all' is usual"),
        "levels": Levels(),
    }
    outputs_: LevelOutputs

    def __init__(
        self,
        C: float = USUAL_C,
        ridge: float = 1e-3,
        solver: Literal["joint", "alternate"] = "joint",
        margins: Literal["all", "nearest"] = "all",
        levels: Any = None,
    ) -> None:
        super().__init__(C, ridge, solver)
        self.margins = margins
        self.levels = levels

    # ---- levels --------------------------------------------------------------------------------------------------
    def outputs_of(self, labels: Labels) -> LevelOutputs:
        """Put the levels in order, and count how many rows are at or above each."""
        spec = labels.meaning
        if spec.n_columns > 1:
            raise ValueError(f"Ordinal takes one column of levels; got {spec.n_columns}; fit a model for each.")
        return LevelOutputs.counted(_levels(labels, self.levels), spec.kind == "number", labels.targets.values)

    def restored_outputs(self, spec: TargetSpec, constants: Constants) -> LevelOutputs:
        """Return levels and frequencies from the constants."""
        n_levels = len(spec.classes[0]) if spec.kind == "class" else len(constants["levels"])
        levels = constant(constants, "levels", n_levels)
        if spec.kind == "class" and not np.array_equal(np.sort(levels), np.arange(n_levels)):
            raise ValueError(f"levels of the head must be the {n_levels} classes in some order")
        began = (spec.classes[0][levels.astype(int)] if spec.kind == "class" else levels).tolist()
        if self.levels is not None and list(self.levels) != began:
            raise ValueError(
                f"levels must stay those that training began with, {few_of(began)}; got "
                f"{few_of(self.levels)}; set them back, or fit anew."
            )
        return LevelOutputs(levels, spec.kind == "number", constant(constants, "frequency", n_levels - 1))

    # ---- learning ------------------------------------------------------------------------------------------------
    @property
    def n_directions(self) -> int:
        """One, which all thresholds share."""
        return 1

    def initial_parameters(self, layer: HiddenLayer, rng: np.random.Generator | None = None) -> Parameters:
        """Put thresholds at the log-odds of being at or above a level."""
        parameters = super().initial_parameters(layer, rng)
        share = np.clip(self.outputs_.frequency, _RAREST, 1 - _RAREST)
        parameters[HEAD_BIAS] += (np.log(share) - np.log1p(-share)).astype(np.float32)
        return parameters

    def loss(self, scores: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Add up the violations of the margins of the thresholds."""
        sign, counts = self._sides(targets[:, 0])
        violation = np.where(counts, np.maximum(1 - sign * scores, 0.0), 0.0)
        by_score = np.where(violation > 0, -sign, 0.0).astype(scores.dtype)
        return violation.sum(axis=1, dtype=np.float64), by_score

    def _sides(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """On which side of each threshold a row belongs, ±1, and whether that counts, (rows, thresholds) each."""
        thresholds = np.arange(1, self.n_outputs_ + 1)
        sign = np.where(codes[:, None] >= thresholds, 1.0, -1.0)
        counts = np.broadcast_to(codes[:, None] >= 0, sign.shape)
        if self.margins == "nearest":
            counts = counts & (np.abs(codes[:, None] - thresholds + 0.5) < 1)
        return sign, counts

    def error(self, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Count the levels a class is off; of numbers, give the share of variance."""
        codes, outputs = targets[:, 0], self.outputs_
        known = codes >= 0
        if not outputs.expects:
            return np.where(known, np.abs(outputs.level_numbers(scores) - codes), 0.0)
        shares = -np.diff(np.concatenate([[1.0], outputs.frequency, [0.0]]))
        variance = shares @ np.square(outputs.levels - shares @ outputs.levels)
        off = outputs.predict(scores)[:, 0] - outputs.levels[codes]
        return np.where(known, np.square(off), 0.0) / (variance or 1.0)

    def solve(
        self, hidden_mean: np.ndarray, targets: Targets, dual: Any = None, tolerance: float = TOLERANCE
    ) -> tuple[Parameters, Any]:
        """Solve a binary problem on copies of the rows, one for each threshold.

        A feature of the copies says which threshold they are about.
        """
        n_thresholds = self.n_outputs_
        sign, counts = self._sides(targets.values[:, 0])
        which = np.tile(np.eye(n_thresholds), (len(hidden_mean), 1))
        copies = np.hstack([np.repeat(hidden_mean.astype(np.float64), n_thresholds, axis=0), which])
        weight = (targets.loss_weight[:, None] * counts).ravel()
        sides = (sign > 0).reshape(-1, 1).astype(np.float64)
        ridge = self.ridge / n_thresholds  # the loss of a row is a sum over thresholds, not a mean
        weights, dual = solve_binary_hinge(copies, sides, weight, 1.0, ridge, dual, tolerance)
        direction, thresholds, common = np.split(weights[:, 0], [hidden_mean.shape[1], len(weights) - 1])
        return {HEAD_WEIGHTS: direction[:, None], HEAD_BIAS: thresholds + common}, dual


def _levels(labels: Labels, given: Any) -> np.ndarray:
    """Numbers of the classes, or the different numbers in y, the lowest level first."""
    spec, values = labels.meaning, labels.targets.values
    if spec.kind == "number":
        found = np.unique(values[~np.isnan(values)])
        known: list[Any] = found.tolist()
        if len(known) > _MOST_LEVELS:
            raise ValueError(
                f"Ordinal needs numbers that are levels, at most {_MOST_LEVELS} different ones; y has {len(known)}; "
                "use EpsilonInsensitive()."
            )
        if len(known) < 2:
            raise ValueError(f"Ordinal needs two levels at least; y has only {known[0]:g}; leave head out.")
    else:
        known, found = spec.classes[0].tolist(), np.arange(len(spec.classes[0]))
    if given is None:
        if labels.order is not None:
            return labels.order
        if spec.kind == "class" and spec.classes[0].dtype.kind == "U":
            raise ValueError(
                f"Ordinal needs to know which level comes first, as texts have no order of their own; got "
                f"{few_of(known)}; pass them in order as levels=[…], or y with ordered categories."
            )
        return found
    listed = list(given)
    if len(listed) != len(known) or any(level not in listed for level in known):
        raise ValueError(f"levels must name each level of y once, {few_of(known)}; got {few_of(listed)}; correct them.")
    return found[[known.index(level) for level in listed]]
