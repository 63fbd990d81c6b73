"""`HarmoniumClassifier`: classes, several columns of classes, or several labels at once."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from harmonium.estimators.harmonium import trains_by_batches
from harmonium.estimators.labels import Labels, check_length, read_classes
from harmonium.estimators.supervised import Supervised
from harmonium.heads import Head, Hinge, MultiLabelHinge
from harmonium.heads.calibration import class_probabilities, fit_sigmoid, fit_temperature, label_probabilities
from harmonium.persist import Fitted, saveable
from harmonium.training.path import Choice
from harmonium.validation import check_whole
from harmonium.views import Views


@saveable
class HarmoniumClassifier(ClassifierMixin, Supervised):
    """A latent space of one or several views that is told which classes to tell apart while it is learned.

    With the default parts it is the max-margin harmonium; `fit` chooses the weight of the prediction loss and the
    number of epochs on rows held out from training, then trains on all rows.

    Parameters
    ----------
    n_components : int, default=50
        Number of hidden units (topics).
    views, hidden, objective, output, warm_start, random_state, n_jobs, verbose
        As for `Harmonium`. With ``warm_start`` the last fit is gone on with, at the C it had chosen.
    head : Head, optional
        What is predicted, and by which loss: default `Hinge` for classes, `MultiLabelHinge` for an indicator matrix.
        ``head__C`` is the weight of the loss, "auto" by default; `LabelView` makes the label one more view.
    driver : Driver, optional
        How parameters move; default Adam with a step of 0.005, weight decay 0.3 and batches of at most 100 rows.
    validation_fraction : float, default=0.15
        Share of the labelled rows held out to choose C and the number of epochs and to calibrate probabilities; below
        2,000 labelled rows three-fold cross-validation takes its place. 0 switches all that off.

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray if y has several columns
        The classes.
    head_ : Head
        The head in use.
    C_ : float
        The weight of the prediction loss in use.
    selection_ : dict of lists
        C, epoch and held-out error of everything that was tried.
    coef_ : ndarray of shape (outputs, n_components_)
        Weights of the topics in the scores.
    families_, n_components_, components_, history_, n_iter_, stopped_
        As for `Harmonium`.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import HarmoniumClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 3, size=200)
    >>> words = (rng.random((200, 30)) < np.where(np.arange(30) // 10 == y[:, None], 0.5, 0.1)).astype(float)
    >>> colour = np.eye(3)[y] + rng.normal(size=(200, 3))
    >>> model = HarmoniumClassifier(n_components=8, random_state=0).fit({"words": words, "colour": colour}, y)
    >>> model.score({"words": words, "colour": colour}, y) > 0.9
    True
    >>> model.predict({"words": words[:2]}).shape  # any subset of the views
    (2,)
    """

    classes_: Any
    _classes: list[np.ndarray]
    _one_column: bool

    # ---- fitting -------------------------------------------------------------------------------------------------
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows.

        Parameters
        ----------
        X : dict, list, Views, matrix, data frame, AnnData or MuData
            Views of the same items; missing cells and rows are inferred.
        y : array of shape (rows,) or (rows, columns)
            Classes; several columns of classes; or, if all are 0 or 1, an indicator matrix of labels. Unknown ones are
            NaN, None, or -1 (in whole numbers, unless -1 and 1 are the two classes): such rows teach the model about
            the views only.
        sample_weight : array of shape (rows,), optional
            Weights of the rows in the prediction loss; a row of weight 0 counts as unlabelled.
        """
        return self._fit(X, read_classes(y, sample_weight))

    @available_if(trains_by_batches)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One pass over some more rows.

        Nothing is held out: with C="auto", C is 1. Probabilities are calibrated on the rows of every call but the
        first, before the model learns from them.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array, or list of arrays if y has several columns, optional
            All classes there will be; needed in the first call if y does not hold all of them.
        """
        goes_on = hasattr(self, "_training")
        if goes_on:
            known: list[np.ndarray] | None = self._classes
        else:
            known = None if classes is None else _listed(classes)
        labels = read_classes(y, sample_weight, known)
        if goes_on:
            self._calibrate_on(X, labels)
        return self._partial_fit(X, labels)

    def _default_head(self, kind: str) -> Head:
        return MultiLabelHinge() if kind == "label" else Hinge()

    def _labelled(self, views: Views, labels: Labels | None, goes_on: bool) -> Any:
        assert labels is not None
        check_length(labels, len(views))
        if goes_on and (
            [len(c) for c in labels.classes] != [len(c) for c in self._classes]
            or any((a != b).any() for a, b in zip(labels.classes, self._classes, strict=True))
        ):
            raise ValueError(
                "Training can only go on with the classes it began with; y has others; fit with warm_start=False."
            )
        for classes in labels.classes:
            if len(classes) < 2:
                raise ValueError(
                    f"The number of classes has to be greater than one; got 1 class, {classes[0]!r}; use Harmonium to "
                    "learn without labels."
                )
        if not goes_on:
            self._set_classes(labels.classes, labels.one_column)
        return super()._labelled(views, labels, goes_on)

    def _set_classes(self, classes: list[np.ndarray], one_column: bool) -> None:
        self._classes, self._one_column = classes, one_column
        self.classes_ = classes[0] if one_column else classes

    def _calibrate(self, choice: Choice | None) -> None:
        self._factors: list[float] = []
        if choice is not None:
            self._set_factors(choice.scores, choice.targets.values, choice.targets.weight)

    def _calibrate_on(self, X: Any, labels: Labels) -> None:
        if labels.targets.known.any():
            self._set_factors(self._scores(X), labels.targets.values, labels.targets.weight)

    def _set_factors(self, scores: np.ndarray, values: np.ndarray, weight: np.ndarray) -> None:
        if self._is_multi_label:
            self._factors = list(fit_sigmoid(scores, values, weight))
        else:
            self._factors = [
                fit_temperature(scores[:, outputs], values[:, column], weight)
                for column, outputs in enumerate(self._outputs())
            ]

    @property
    def _is_multi_label(self) -> bool:
        return not self._one_column and self.head_.n_outputs_ == len(self._classes)

    def _outputs(self) -> list[slice]:
        """Scores that belong to each column of classes."""
        ends = np.cumsum([len(classes) for classes in self._classes])
        return [slice(int(end) - len(classes), int(end)) for end, classes in zip(ends, self._classes, strict=True)]

    # ---- using ---------------------------------------------------------------------------------------------------
    def decision_function(self, X: Any) -> Any:
        """Scores of the classes: (rows,) for two classes, positive for the second; a list for several columns."""
        scores = self._scores(X)
        if self._is_multi_label:
            return scores
        parts = [scores[:, outputs] for outputs in self._outputs()]
        parts = [part[:, 1] - part[:, 0] if part.shape[1] == 2 else part for part in parts]
        return parts[0] if self._one_column else parts

    def predict(self, X: Any) -> np.ndarray:
        """The class of the largest score; for labels, those with a positive score."""
        scores = self._scores(X)
        if self._is_multi_label:
            return (scores > 0).astype(np.int64)
        columns = [
            classes[np.argmax(scores[:, outputs], axis=1)]
            for classes, outputs in zip(self._classes, self._outputs(), strict=True)
        ]
        return columns[0] if self._one_column else np.stack(columns, axis=1)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes (or of each label), calibrated on held-out training rows.

        Scores are multiplied by one factor, fitted to the held-out rows, before the softmax (temperature scaling); for
        labels, a factor and a shift come before the logistic function. Where nothing was held out
        (``validation_fraction=0``, very few labels, the first `partial_fit`) scores are taken as they are.
        """
        scores = self._scores(X)
        if self._is_multi_label:
            return label_probabilities(scores, *(self._factors or (1.0, 0.0)))
        factors = self._factors or [1.0] * len(self._classes)
        parts = [
            class_probabilities(scores[:, outputs], factor)
            for outputs, factor in zip(self._outputs(), factors, strict=True)
        ]
        return parts[0] if self._one_column else parts

    def annotate(self, X: Any, top: int = 5, names: Any = None) -> pd.DataFrame:
        """The most probable classes or labels of each row, with their probabilities, the most probable first.

        Parameters
        ----------
        X : dict, Views, …
            Any subset of the views.
        top : int, default=5
            How many.
        names : sequence of str, optional
            Names of the labels; default: their numbers, or the classes.

        Returns
        -------
        DataFrame
            Columns row, rank, label, probability.
        """
        check_whole("annotate", "top", top, remedy="5 is usual")
        probabilities = self.predict_proba(X)
        if isinstance(probabilities, list):
            raise ValueError(
                "annotate is for one column of classes or an indicator matrix of labels; the model has several "
                "columns of classes; use predict_proba."
            )
        given = names if names is not None else self.classes_ if self._one_column else range(probabilities.shape[1])
        return ranked(probabilities, np.asarray(given), top)

    # ---- files ---------------------------------------------------------------------------------------------------
    def _state(self) -> Fitted:
        fitted = super()._state()
        fitted.facts |= {"classes": self._classes, "one_column": self._one_column, "factors": self._factors}
        return fitted

    def _restore(self, fitted: Fitted) -> Any:
        facts = fitted.facts
        classes = [c.astype(str) if c.dtype.kind == "O" else c for c in facts["classes"]]
        self._set_classes(classes, bool(facts["one_column"]))
        self._factors = [float(factor) for factor in facts["factors"]]
        return super()._restore(fitted)

    def _n_classes(self) -> list[int]:
        return [len(classes) for classes in self._classes]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def ranked(probabilities: np.ndarray, names: np.ndarray, top: int) -> pd.DataFrame:
    """The largest probabilities of each row as a long table."""
    if len(names) != probabilities.shape[1]:
        raise ValueError(
            f"names must have one entry for each of the {probabilities.shape[1]} labels; got {len(names)}; pass them "
            "in the order of the columns."
        )
    top = min(top, probabilities.shape[1])
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :top]
    return pd.DataFrame(
        {
            "row": np.repeat(np.arange(len(order)), top),
            "rank": np.tile(np.arange(1, top + 1), len(order)),
            "label": names[order].ravel(),
            "probability": np.take_along_axis(probabilities, order, axis=1).ravel(),
        }
    )


def _listed(classes: Any) -> list[np.ndarray]:
    several = isinstance(classes, list | tuple) and len(classes) > 0 and np.ndim(classes[0]) == 1
    return [np.unique(c) for c in classes] if several else [np.unique(np.asarray(classes))]
