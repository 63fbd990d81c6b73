"""`HarmoniumClassifier`: classes, several columns of classes, or several labels at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from harmonium.estimators.harmonium import trains_by_batches
from harmonium.estimators.labels import read_classes
from harmonium.estimators.preparation import unchanged_if_refused
from harmonium.estimators.ranking import ranked
from harmonium.estimators.supervised import Supervised
from harmonium.heads import Head, Hinge, MultiLabelHinge
from harmonium.persist import saveable
from harmonium.targets import Kind, Labels, Meaning
from harmonium.training import FittedModel
from harmonium.validation import check_whole


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
        How parameters move; default Adam with a step of 0.01, weight decay 0.5 and batches of at most 100 rows.
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
    validation_ : dict of lists
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

    kinds = ("class", "label")

    # ---- fitting -------------------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]  # y is needed
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

        Returns
        -------
        Self
            The fitted estimator.
        """
        return self._fit(X, read_classes(y, sample_weight))

    @available_if(trains_by_batches)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some more rows in one pass.

        Nothing is held out: with C="auto", C is 1. Probabilities are calibrated on the rows of every call but the
        first, before the model learns from them.

        Parameters
        ----------
        X : dict, list, Views, …
            Views of the same items, as for `fit`.
        y : array of shape (rows,) or (rows, columns)
            As for `fit`.
        classes : array, or list of arrays if y has several columns, optional
            All classes there will be; needed in the first call if y does not hold all of them.
        sample_weight : array of shape (rows,), optional
            As for `fit`.

        Returns
        -------
        Self
            The estimator, as far as it has learned.
        """
        before: FittedModel | None = getattr(self, "fitted_", None)
        if before is None:
            known = None if classes is None else _listed(classes)
        else:
            self._check_named(classes)
            known = self._meaning.classes
        labels = read_classes(y, sample_weight, known)
        with unchanged_if_refused(self):
            scores = None if before is None else self._scores(X)
            self._partial_fit(X, labels)
            if scores is not None:
                problem = replace(self.fitted_.problem, head=self.head_.calibrated(scores, labels.targets))
                self.fitted_ = replace(self.fitted_, problem=problem)
        return self

    def _check_named(self, classes: Any) -> None:
        """Refuse other classes than those of the first call."""
        began = [self.classes_] if self._meaning.kind == "label" else self._meaning.classes
        given = began if classes is None else _listed(classes)
        if len(given) != len(began) or not all(np.array_equal(a, b) for a, b in zip(given, began, strict=True)):
            raise ValueError(
                f"classes must be those that training began with, {', '.join(map(str, began[0][:10]))}; got "
                f"{', '.join(map(str, given[0][:10]))}; leave them out, or fit anew."
            )

    def _default_head(self, kind: Kind) -> Head:
        return MultiLabelHinge() if kind == "label" else Hinge()

    def _check_same(self, labels: Labels, before: FittedModel) -> None:
        given, began = labels.meaning, before.meaning
        assert began is not None
        if given.n_classes != began.n_classes or any(
            (a != b).any() for a, b in zip(given.classes, began.classes, strict=True)
        ):
            raise ValueError(
                "Training can only go on with the classes it began with; y has others; fit with warm_start=False."
            )

    def _bound_head(self, labels: Labels, before: FittedModel | None) -> Head:
        for classes in labels.meaning.classes:
            if len(classes) < 2:
                raise ValueError(
                    f"The number of classes has to be greater than one; got 1 class, {classes[0]}; use Harmonium to "
                    "learn without labels."
                )
        return super()._bound_head(labels, before)

    # ---- using ---------------------------------------------------------------------------------------------------
    @property
    def _meaning(self) -> Meaning:
        check_is_fitted(self)
        assert self.fitted_.meaning is not None
        return self.fitted_.meaning

    @property
    def classes_(self) -> Any:
        """The classes; a list of them if y has several columns; for an indicator matrix the numbers of its columns."""
        meaning = self._meaning
        if meaning.one_column:
            return meaning.classes[0]
        return np.arange(len(meaning.classes)) if meaning.kind == "label" else meaning.classes

    def decision_function(self, X: Any) -> Any:
        """Return the scores of the classes.

        Parameters
        ----------
        X : dict, Views, …
            Any subset of the views.

        Returns
        -------
        ndarray of shape (rows, classes), (rows,) for two classes, or (rows, labels); a list for several columns
            Of two classes, positive for the second; of labels, positive where one is more probable than not.
        """
        return self._one(self.head_.decisions(self._scores(X)))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of the largest score; of labels, those that are more probable than not.

        Parameters
        ----------
        X : dict, Views, …
            Any subset of the views.

        Returns
        -------
        ndarray of shape (rows,), or (rows, columns) if y had columns
            Classes; 0 and 1 for labels.
        """
        scores, meaning = self._scores(X), self._meaning
        found = self.head_.predict(scores)
        if meaning.kind == "label":
            return found
        columns = [classes[found[:, column]] for column, classes in enumerate(meaning.classes)]
        if meaning.one_column:
            return columns[0]
        if len({classes.dtype.kind == "U" for classes in meaning.classes}) > 1:
            columns = [column.astype(object) for column in columns]  # numbers would become texts
        return np.stack(columns, axis=1)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes (or of each label), calibrated on held-out training rows.

        Scores are multiplied by one factor, fitted to the held-out rows, before the softmax (temperature scaling); for
        labels, a factor and a shift come before the logistic function. Where nothing was held out
        (``validation_fraction=0``, very few labels, the first `partial_fit`) scores are taken as they are.

        Parameters
        ----------
        X : dict, Views, …
            Any subset of the views.

        Returns
        -------
        ndarray of shape (rows, classes) or (rows, labels); a list for several columns of classes
            Probabilities.
        """
        return self._one(self.head_.probabilities(self._scores(X)))

    def _one(self, by_column: Any) -> Any:
        """That of the only column, if y had one dimension."""
        return by_column[0] if self._meaning.one_column else by_column

    def annotate(self, X: Any, top: int = 5, names: Any = None) -> pd.DataFrame:
        """Return the most probable classes or labels of each row, with their probabilities.

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
            Columns row, rank, label, probability, the most probable first.
        """
        check_whole("annotate", "top", top, remedy="5 is usual")
        probabilities = self.predict_proba(X)
        if isinstance(probabilities, list):
            raise ValueError(
                "annotate is for one column of classes or an indicator matrix of labels; the model has several "
                "columns of classes; use predict_proba."
            )
        return ranked(probabilities, np.asarray(self.classes_ if names is None else names), top)

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
