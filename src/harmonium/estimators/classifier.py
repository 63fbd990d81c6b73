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
from harmonium.estimators.preparation import unchanged_if_refused
from harmonium.estimators.ranking import ranked
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
        400 labelled rows three-fold cross-validation takes its place. 0 switches all that off.

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray if y has several columns
        The classes; for an indicator matrix, the numbers of its columns.
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
    _is_multi_label: bool

    # ---- fitting -------------------------------------------------------------------------------------------------
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Views of the same items; missing cells and rows are inferred.
        y : array of shape (rows,) or (rows, columns)
            Classes; several columns of classes; or, if all are 0 or 1, an indicator matrix of labels. Unknown ones are
            NaN, None, or -1 (in whole numbers, unless -1 and 1 are the two classes, or there are other negative ones):
            such rows teach the model about the views only.
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
            self._check_same(classes)
        else:
            known = None if classes is None else _listed(classes)
        labels = read_classes(y, sample_weight, known)
        with unchanged_if_refused(self):
            scores = self._scores(X) if goes_on else None
            self._partial_fit(X, labels)
            if scores is None:
                self._calibrate(None)
            else:
                self._set_factors(scores, labels.targets.values, labels.targets.weight)
        return self

    def _check_same(self, classes: Any) -> None:
        """Refuse other classes than those of the first call."""
        began = [self.classes_] if self._is_multi_label else self._classes
        given = began if classes is None else _listed(classes)
        if len(given) != len(began) or not all(np.array_equal(a, b) for a, b in zip(given, began, strict=True)):
            raise ValueError(
                f"classes must be those that training began with, {', '.join(map(str, began[0][:10]))}; got "
                f"{', '.join(map(str, given[0][:10]))}; leave them out, or fit anew."
            )

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
                    f"The number of classes has to be greater than one; got 1 class, {classes[0]}; use Harmonium to "
                    "learn without labels."
                )
        if not goes_on:
            self._set_classes(labels.classes, labels.one_column, labels.kind == "label")
        return super()._labelled(views, labels, goes_on)

    def _set_classes(self, classes: list[np.ndarray], one_column: bool, is_multi_label: bool) -> None:
        self._classes, self._one_column, self._is_multi_label = classes, one_column, is_multi_label
        self.classes_ = classes[0] if one_column else np.arange(len(classes)) if is_multi_label else classes

    def _calibrate(self, choice: Choice | None) -> None:
        self._factors: list[float] = []
        if choice is not None:
            self._set_factors(choice.scores, choice.targets.values, choice.targets.weight)

    def _set_factors(self, scores: np.ndarray, values: np.ndarray, weight: np.ndarray) -> None:
        if self._is_multi_label:
            positive = self.head_.positive_weight if isinstance(self.head_, MultiLabelHinge) else 1.0
            self._factors = list(fit_sigmoid(scores, values, weight, positive))
        else:
            self._factors = [
                fit_temperature(scores[:, outputs], values[:, column], weight)
                for column, outputs in enumerate(self._outputs())
            ]

    def _outputs(self) -> list[slice]:
        """Scores that belong to each column of classes."""
        ends = np.cumsum([len(classes) for classes in self._classes])
        return [slice(int(end) - len(classes), int(end)) for end, classes in zip(ends, self._classes, strict=True)]

    # ---- using ---------------------------------------------------------------------------------------------------
    def decision_function(self, X: Any) -> Any:
        """Scores of the classes: (rows,) for two classes, positive for the second; a list for several columns."""
        scores = self._scores(X)
        if self._is_multi_label:
            return self._shifted(scores)
        parts = [scores[:, outputs] for outputs in self._outputs()]
        parts = [part[:, 1] - part[:, 0] if part.shape[1] == 2 else part for part in parts]
        return parts[0] if self._one_column else parts

    def _shifted(self, scores: np.ndarray) -> np.ndarray:
        """Scores of labels that are positive where the label is more probable than not."""
        factor, shift = self._factors or (1.0, 0.0)
        return scores + shift / factor

    def predict(self, X: Any) -> np.ndarray:
        """The class of the largest score; for labels, those more probable than not."""
        scores = self._scores(X)
        if self._is_multi_label:
            return (self._shifted(scores) > 0).astype(np.int64)
        columns = [
            classes[np.argmax(scores[:, outputs], axis=1)]
            for classes, outputs in zip(self._classes, self._outputs(), strict=True)
        ]
        if self._one_column:
            return columns[0]
        if len({classes.dtype.kind == "U" for classes in self._classes}) > 1:
            columns = [column.astype(object) for column in columns]  # numbers would become texts
        return np.stack(columns, axis=1)

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
        fitted.facts |= {
            "classes": self._classes,
            "one_column": self._one_column,
            "is_multi_label": self._is_multi_label,
            "factors": self._factors,
        }
        return fitted

    def _restore(self, fitted: Fitted) -> Any:
        facts = fitted.facts
        if not all(isinstance(c, np.ndarray) and len(c) > 1 for c in facts["classes"]):
            raise ValueError("the classes must be two or more in every column")
        classes = [c.astype(str) if c.dtype.kind == "O" else c for c in facts["classes"]]
        one_column, is_multi_label = bool(facts["one_column"]), bool(facts["is_multi_label"])
        self._set_classes(classes, one_column, is_multi_label)
        self._factors = [float(factor) for factor in facts["factors"]]
        super()._restore(fitted)
        n_outputs = len(classes) if is_multi_label else sum(self._n_classes())
        different = all(np.array_equal(np.unique(c), c) for c in classes)
        if not different or one_column != (len(classes) == 1) or n_outputs != self.head_.n_outputs_:
            raise ValueError("the classes must be different, and as many as the head has scores")
        n_factors = 2 if is_multi_label else len(classes)
        if len(self._factors) not in (0, n_factors) or not np.isfinite(self._factors).all():
            raise ValueError(f"the factors of probabilities must be {n_factors} finite numbers")
        return self

    def _n_classes(self) -> list[int]:
        return [len(classes) for classes in self._classes]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # scikit-learn calls an indicator matrix multi-output too
        head = self.head if isinstance(self.head, Head) else None
        takes_labels = head is None or head.takes("label")
        tags.classifier_tags.multi_label = tags.target_tags.multi_output = takes_labels
        tags.target_tags.single_output = head is None or head.takes("class")
        return tags


def _listed(classes: Any) -> list[np.ndarray]:
    several = isinstance(classes, list | tuple) and len(classes) > 0 and np.ndim(classes[0]) == 1
    return [np.unique(c) for c in classes] if several else [np.unique(np.asarray(classes))]
