"""Meaning of scores: from scores to decisions, predictions and probabilities, and what held-out rows teach about them.

A head has one of these as ``outputs_``: all that it learns from targets besides its weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit, softmax

from harmonium.additive.losses import Logistic, Loss, Softmax, Squares
from harmonium.core.targets import Kind, Targets
from harmonium.heads.outputs.calibration import MarginScaling, fit_sigmoid, fit_sigmoids, fit_temperature
from harmonium.heads.outputs.conformal import HeldOutRows, conformal_quantile, ends_of_scale
from harmonium.heads.outputs.constants import Constants, constant
from harmonium.heads.outputs.log_scale import LogScale
from harmonium.heads.outputs.thresholds import CUTS, Measure

UNCALIBRATED = np.zeros(0)
# log-odds that differ by less are the same: rounding errors, which decisions would show and probabilities could not,
# though both must put rows in one order
_DECIMALS = 8
# log-odds whose probability is still a number above 0, and decisions beyond all others, for labels that are certain
_LARGEST = 700.0
_CERTAIN = 1000.0


@dataclass(frozen=True, eq=False)
class Outputs:
    """Base of what scores can mean; scores of numbers, say, have no probabilities.

    ``factors`` are what calibration on held-out rows has found; an empty array stands for scores that are taken as they
    are.
    """

    factors: np.ndarray = field(default_factory=lambda: UNCALIBRATED, kw_only=True)

    @property
    def n_scores(self) -> int:
        """Number of scores of a row."""
        raise NotImplementedError

    @property
    def n_factors(self) -> int:
        """Number of factors that calibration finds."""
        raise NotImplementedError

    def constants(self) -> dict[str, np.ndarray]:
        """Return the arrays that a file has to keep."""
        return {"factors": self.factors}

    def encoded(self, targets: Targets) -> Targets:
        """Return targets in the form in which losses take them."""
        return targets

    def decoded(self, targets: Targets) -> Targets:
        """Return targets that are `encoded` as the user gave them."""
        return targets

    def with_more(self, targets: Targets) -> Self:
        """Return what scores mean after training has gone on with more rows.

        Factors that predictions are made with serve until there are better ones.
        """
        return self

    @property
    def never(self) -> np.ndarray:
        """Numbers of the scores whose class or label is never predicted."""
        return np.zeros(0, dtype=np.int64)

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return class numbers, 0 and 1, or numbers in the units of the user's targets, shape (rows, columns)."""
        raise NotImplementedError

    def decisions(self, scores: np.ndarray) -> Any:
        """Return what scikit-learn calls a decision function; numbers have none.

        For classes it is a list with an array for each column: shape (rows, classes), or (rows,) for two classes. For
        labels it is one array of shape (rows, labels).
        """
        raise NotImplementedError

    def probabilities(self, scores: np.ndarray) -> Any:
        """Return the probabilities of each column's classes, (rows, classes) each, or of all labels, (rows, labels)."""
        raise NotImplementedError

    def calibrate(self, scores: np.ndarray, targets: Targets) -> np.ndarray:
        """Return the factors that make the targets of held-out rows most probable."""
        raise NotImplementedError

    def calibrated(self, scores: np.ndarray, targets: Targets) -> Self:
        """Return what scores mean by held-out rows, which the model was not trained on."""
        return self.with_factors(self.calibrate(scores, targets.as_rows()))

    def with_factors(self, factors: np.ndarray) -> Self:
        """Return the same with other factors; raise a ValueError unless `calibrate` could have found them."""
        if not self.accepts(factors):
            raise ValueError("the factors of the head must be finite numbers, as many as its calibration finds")
        return replace(self, factors=factors)

    def comparable(self, scores: np.ndarray, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        """Return factor and shift of each score that put scores of different models on one scale, by held-out rows."""
        return np.ones(scores.shape[1]), np.zeros(scores.shape[1])

    def smooth_loss(self, targets: Targets) -> Loss | None:
        """Return the loss of scores on the scale that `comparable` leads to; None if curves cannot learn by one."""
        return None

    def intervals(self, scores: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper ends of the intervals of a probability, for each row and column."""
        raise NotImplementedError

    def units(self) -> tuple[float | np.ndarray, float | np.ndarray]:
        """Return factor and shift that bring scores to the units of the targets."""
        return 1.0, 0.0

    @property
    def log_offset(self) -> np.ndarray | None:
        """The c of outputs whose units are log(y + c), NaN for others; None if there are none."""
        return None

    @property
    def limits(self) -> np.ndarray | None:
        """Lowest and highest number that is predicted of each output, infinite for most; None if nothing limits any."""
        return None

    def accepts(self, factors: np.ndarray) -> bool:
        """Return whether `calibrate` could have found such factors."""
        return factors.shape in ((0,), (self.n_factors,)) and bool(np.isfinite(factors).all())


@dataclass(frozen=True, eq=False)
class ClassOutputs(Outputs):
    """A score for each class, columns of classes side by side; the class of the largest score is predicted.

    Probabilities are softmax(a · scores), with a factor a of each column that depends on the margin of the row (see
    `MarginScaling`). Factors are those of the scaling, shape (3, columns); files of 0.2.0 have one factor for each
    column (temperature scaling, Guo et al. 2017).
    """

    n_classes: Sequence[int]
    kind: ClassVar[Kind] = "class"

    @property
    def n_scores(self) -> int:
        """Number of classes of all columns."""
        return sum(self.n_classes)

    def columns(self) -> list[slice]:
        """Return which scores belong to each column."""
        ends = np.cumsum(self.n_classes)
        return [slice(int(end) - number, int(end)) for end, number in zip(ends, self.n_classes, strict=True)]

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return the class of the largest score."""
        return np.stack([np.argmax(scores[:, column], axis=1) for column in self.columns()], axis=1)

    def decisions(self, scores: np.ndarray) -> list[np.ndarray]:
        """Return the scores; for two classes, by how much the second is ahead."""
        parts = [scores[:, column] for column in self.columns()]
        return [part[:, 1] - part[:, 0] if part.shape[1] == 2 else part for part in parts]

    def probabilities(self, scores: np.ndarray) -> list[np.ndarray]:
        """Return softmax(a · scores)."""
        scalings = [MarginScaling(*each) for each in self.factors.T.reshape(len(self.n_classes), -1)]
        return [
            softmax(scaling.scaled(scores[:, column].astype(np.float64)), axis=1)
            for column, scaling in zip(self.columns(), scalings, strict=True)
        ]

    def calibrate(self, scores: np.ndarray, targets: Targets) -> np.ndarray:
        """Return factor, power and unit for each column."""
        found = [MarginScaling.fitted(*each, targets.weight) for each in self._by_column(scores, targets)]
        return np.array([(each.factor, each.power, each.unit) for each in found]).T

    def accepts(self, factors: np.ndarray) -> bool:
        """Return whether there is one factor for each column, or a scaling with a unit above 0."""
        number = len(self.n_classes)
        if factors.shape not in ((0,), (number,), (3, number)) or not np.isfinite(factors).all():
            return False
        return factors.ndim == 1 or bool((factors[2] > 0).all())

    def comparable(self, scores: np.ndarray, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        """Return the factors of log-probabilities, one for all classes of a column."""
        factors = [fit_temperature(*each, targets.weight) for each in self._by_column(scores, targets)]
        return np.repeat(factors, self.n_classes), np.zeros(scores.shape[1])

    def _by_column(self, scores: np.ndarray, targets: Targets) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return scores and classes of each column."""
        return [(scores[:, column], targets.values[:, number]) for number, column in enumerate(self.columns())]

    def smooth_loss(self, targets: Targets) -> Loss:
        """Return the negative log-likelihood of classes."""
        return Softmax(targets.values, self.n_classes)


@dataclass(frozen=True, eq=False)
class LabelOutputs(Outputs):
    """A score for each label, which is present or absent.

    Probabilities are σ(a s + b), with a and b of each label (Platt scaling, shrunk towards what labels share).
    Predicted are labels above a cut, by the ``measure`` that the user asks for. Labels that no training row has, or
    all of them, do not depend on scores: they are never, or always, predicted.

    ``frequency`` is the share of the rows that have each label, among the ``n_known`` for which it is known.
    """

    frequency: np.ndarray
    n_known: np.ndarray
    measure: Measure = "accuracy"
    kind: ClassVar[Kind] = "label"

    @classmethod
    def of(cls, values: np.ndarray, measure: Measure = "accuracy") -> LabelOutputs:
        """Return what training rows show about the labels: 0, 1, or NaN where they are unknown."""
        return cls.counted([values], measure)

    @classmethod
    def counted(cls, blocks: Iterable[np.ndarray], measure: Measure = "accuracy") -> LabelOutputs:
        """Return what training rows show about the labels, some rows at a time."""
        counts = [((~np.isnan(values)).sum(axis=0), np.nansum(values, axis=0)) for values in blocks]
        n_known, n_present = np.array(counts, dtype=np.float64).sum(axis=0)
        return cls(n_present / np.maximum(n_known, 1), n_known, measure)

    @classmethod
    def restored(cls, constants: Constants, n_labels: int, measure: Measure = "accuracy") -> LabelOutputs:
        """Return what `constants` described; raise a ValueError if it is no such thing."""
        frequency, n_known = (constant(constants, name, n_labels) for name in ("frequency", "n_known"))
        if ((frequency < 0) | (frequency > 1) | (n_known < 0)).any():
            raise ValueError("frequency of the head must be shares of the rows whose number is n_known")
        return cls(frequency, n_known, measure)

    def constants(self) -> dict[str, np.ndarray]:
        """Return the arrays that a file has to keep."""
        return super().constants() | {"frequency": self.frequency, "n_known": self.n_known}

    def with_more(self, targets: Targets) -> Self:
        """Return the frequencies of these and more training rows."""
        more = LabelOutputs.counted(targets.blocks())
        n_known = self.n_known + more.n_known
        n_present = self.frequency * self.n_known + more.frequency * more.n_known
        return replace(self, frequency=n_present / np.maximum(n_known, 1), n_known=n_known)

    @property
    def n_scores(self) -> int:
        """Number of labels."""
        return len(self.frequency)

    @property
    def n_factors(self) -> int:
        """Number of factors: a factor, a shift and a cut for each label."""
        return 3 * len(self.frequency)

    @property
    def varied(self) -> np.ndarray:
        """Mask of the labels that some training rows have, and others have not."""
        return (self.frequency > 0) & (self.frequency < 1)

    @property
    def never(self) -> np.ndarray:
        """Numbers of the labels that no training row has."""
        return np.flatnonzero(self.frequency <= 0)

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return 1 for labels above their cuts."""
        return (self.decisions(scores) > 0).astype(np.int64)

    def decisions(self, scores: np.ndarray) -> np.ndarray:
        """Return how far the log-odds of labels are above their cuts."""
        # cuts are rounded too, as the difference of two numbers without rounding errors has none
        decisions = self._log_odds(scores) - np.round(self._by_label()[2], _DECIMALS)
        return np.where(self.varied, decisions, np.where(self.frequency > 0, _CERTAIN, -_CERTAIN))

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return σ(a s + b); for a label without two kinds of rows, its share of them, smoothed as by Laplace."""
        prior = (self.frequency * self.n_known + 1) / (self.n_known + 2)
        return np.where(self.varied, expit(self._log_odds(scores)), prior)

    def _by_label(self) -> np.ndarray:
        """Return factors, shifts and cuts of the labels."""
        n_labels = len(self.frequency)
        used = self.factors if len(self.factors) else np.concatenate([np.ones(n_labels), np.zeros(2 * n_labels)])
        return used.reshape(3, n_labels)

    def _log_odds(self, scores: np.ndarray) -> np.ndarray:
        factor, shift, _ = self._by_label()
        return np.round(factor * scores.astype(np.float64) + shift, _DECIMALS).clip(-_LARGEST, _LARGEST)

    def calibrate(self, scores: np.ndarray, targets: Targets) -> np.ndarray:
        """Return factors and shifts, and the cuts that are best by the measure."""
        found, use = self.with_factors(UNCALIBRATED)._by_label(), self.varied
        labels = targets.values[:, use]
        weight = np.where(np.isnan(labels), 0.0, targets.weight[:, None])
        if weight.any():
            found[:2, use] = fit_sigmoids(scores[:, use], labels, targets.weight)
            log_odds = self.with_factors(found.ravel())._log_odds(scores)[:, use]
            found[2, use] = CUTS[self.measure](log_odds, labels, weight)
        return found.ravel()

    def comparable(self, scores: np.ndarray, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        """Return factor and shift of log-odds, the same for all labels."""
        factor, shift = fit_sigmoid(scores, targets.values, targets.weight)
        return np.full(scores.shape[1], factor), np.full(scores.shape[1], shift)

    def smooth_loss(self, targets: Targets) -> Loss:
        """Return the negative log-likelihood of labels."""
        return Logistic(targets.values)


@dataclass(frozen=True, eq=False)
class NumberOutputs(Outputs):
    """Scores of standardised numbers, turned back into the units of the targets.

    Factors are what intervals of predictions are made of (see `harmonium.heads.outputs.conformal`): scores of held-out
    rows, of each output in ascending order, their targets and their weights, shape (3, rows, outputs). Files of 0.2.0
    have absolute errors in ascending order, followed by their weights, shape (2 · rows · outputs,). ``logs`` are there
    if some outputs are learned as logarithms: location and scale are those of the logarithms then. ``ends``, shape
    (2, outputs), are the lowest and the highest target of each output that has few different ones, such as ratings, and
    infinite for others; files of 0.2.0 have none.
    """

    location: np.ndarray
    scale: np.ndarray
    logs: LogScale | None = None
    ends: np.ndarray | None = None
    kind: ClassVar[Kind] = "number"

    @property
    def n_scores(self) -> int:
        """Number of outputs."""
        return len(self.scale)

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return numbers in the units of the targets, none beyond the ends of a scale."""
        values = scores * self.scale + self.location
        return self._within_ends(values if self.logs is None else self.logs.back(values))

    def _within_ends(self, values: np.ndarray) -> np.ndarray:
        """Return values in the units of the targets that stop at the ends of a scale."""
        return values if self.ends is None else np.clip(values, *self.ends)

    def smooth_loss(self, targets: Targets) -> Loss:
        """Return squared distances."""
        return Squares(targets.values)

    def units(self) -> tuple[float | np.ndarray, float | np.ndarray]:
        """Return scale and location of the targets, or of their logarithms."""
        return self.scale, self.location

    @property
    def log_offset(self) -> np.ndarray | None:
        """The c of outputs that are learned as log(y + c), NaN for others; None if there are none."""
        return None if self.logs is None else np.where(self.logs.is_log, self.logs.offset, np.nan)

    @property
    def limits(self) -> np.ndarray | None:
        """Ends of the scales of the outputs."""
        return self.ends

    def intervals(self, scores: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the intervals of a probability, in the units of y.

        They are infinite if too few rows were held out for such a probability.
        """
        if not self.factors.size:
            raise ValueError(
                "Intervals need the errors of held-out rows; no rows were held out when the model was last trained; "
                "fit 10 rows or more with a validation_fraction such as 0.15, without warm_start or partial_fit."
            )
        if self.factors.ndim == 1:
            errors, weights = self.factors.reshape(2, -1, len(self.scale))
            half = np.array([conformal_quantile(*each, level) for each in zip(errors.T, weights.T, strict=True)])
            return self._in_units(scores - half), self._in_units(scores + half)
        columns = zip(np.moveaxis(self.factors, 2, 0), scores.T, strict=True)
        # of a scale whose ends training rows have shown, held-out rows may lack the ends
        found = [HeldOutRows.of(*kept).intervals(column, level, stops=self.ends is None) for kept, column in columns]
        lower, upper = (self._in_units(np.stack(ends, axis=1)) for ends in zip(*found, strict=True))
        return self._within_ends(lower), self._within_ends(upper)

    def with_more(self, targets: Targets) -> Self:
        """Return the same with the ends of all rows so far, and without errors of held-out rows of the model before."""
        same = self.with_factors(UNCALIBRATED)
        if self.ends is None:
            return same
        seen = np.concatenate([self.ends, targets.values])
        return replace(same, ends=np.stack([np.nanmin(seen, axis=0), np.nanmax(seen, axis=0)]))

    def calibrated(self, scores: np.ndarray, targets: Targets) -> Self:
        """Return the same with errors of held-out rows, and their factor of means of logarithms."""
        if self.logs is None:
            return super().calibrated(scores, targets)
        logs, predicted = (values * self.scale + self.location for values in (targets.values, scores))
        smeared = replace(self, logs=self.logs.smeared(logs, predicted, targets.weight))
        return super(NumberOutputs, smeared).calibrated(scores, targets)

    def calibrate(self, scores: np.ndarray, targets: Targets) -> np.ndarray:
        """Return scores in ascending order, targets, and their weights: 0 where a target is unknown."""
        unknown = np.isnan(targets.values)
        weights = np.where(unknown, 0.0, targets.weight[:, None])
        order = np.argsort(scores, axis=0, kind="stable")
        found = scores, np.where(unknown, 0.0, targets.values), weights
        return np.stack([np.take_along_axis(values, order, axis=0) for values in found]).astype(np.float64)

    def accepts(self, factors: np.ndarray) -> bool:
        """Return whether there are finite numbers of held-out rows for each output, in order."""
        if not np.isfinite(factors).all():
            return False
        if factors.ndim == 1 and not factors.size % (2 * len(self.scale)):
            in_order, weights = factors.reshape(2, -1, len(self.scale))
        elif factors.ndim == 3 and factors.shape[::2] == (3, len(self.scale)):
            in_order, weights = factors[0], factors[2]
        else:
            return False
        return bool((weights >= 0).all() and (np.diff(in_order, axis=0) >= 0).all())

    @classmethod
    def restored(cls, constants: Constants, n_outputs: int) -> NumberOutputs:
        """Return what `constants` described; raise a ValueError if it is no such thing."""
        location, scale = (constant(constants, name, n_outputs) for name in ("location", "scale"))
        ends = None
        if "lowest" in constants or "highest" in constants:
            ends = np.stack([constant(constants, name, n_outputs) for name in ("lowest", "highest")])
            if (ends[0] > ends[1]).any():
                raise ValueError("lowest and highest of the head must be the ends of a scale")
        return cls(location, scale, LogScale.restored(constants, n_outputs), ends)

    def constants(self) -> dict[str, np.ndarray]:
        """Return mean, standard deviation and ends of each output."""
        found = super().constants() | {"location": self.location, "scale": self.scale}
        if self.ends is not None:
            found |= dict(zip(("lowest", "highest"), np.nan_to_num(self.ends), strict=True))
        return found if self.logs is None else found | self.logs.constants()

    @classmethod
    def standard(cls, values: np.ndarray, logs: LogScale | None = None) -> NumberOutputs:
        """Return mean, standard deviation (1 for constants) and ends of each column of targets, over what is known."""
        ends = np.array([ends_of_scale(column[~np.isnan(column)]) for column in values.T]).T
        values = values if logs is None else logs.to_log(values)
        location, scale = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
        # a spread of a few dozen roundings of float64 (1e-14 of the size) is none
        return cls(location, np.where(scale > 1e-14 * np.abs(location), scale, 1.0), logs, ends)

    def encoded(self, targets: Targets) -> Targets:
        """Return standardised targets."""
        values = targets.values if self.logs is None else self.logs.to_log(targets.values)
        return Targets((values - self.location) / self.scale, targets.weight)

    def decoded(self, targets: Targets) -> Targets:
        """Return targets in the units of the user."""
        return Targets(self._in_units(targets.values), targets.weight)

    def _in_units(self, values: np.ndarray) -> np.ndarray:
        """Return the numbers that are `encoded` as these: quantiles stay quantiles, as they do not of expectations."""
        values = values * self.scale + self.location
        return values if self.logs is None else self.logs.inverse(values)
