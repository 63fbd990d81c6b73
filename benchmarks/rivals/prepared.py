"""Plain rivals, prepared as a practitioner would: preparation, views and strength are chosen together.

A preparation says which views are used, how words are weighted and how numbers are scaled. `tuned` chooses it along
with the settings of a model by cross-validation on training rows, fits the model to all of them, and says how long all
that took. Nothing is learnt from a row that is predicted, neither the weights of words nor the scale of columns.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, ParameterGrid, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC, LinearSVR

__all__ = ["RIVALS", "Preparation", "Rival", "Tuned", "fold_rows", "preparations", "rows_of", "trivial", "tuned"]

Views = Mapping[str, Any]  # name → sparse words or dense numbers
FOLDS = 3
# Strengths that may be tried. A search begins in the middle and goes on while cross-validation says so.
LADDER = tuple(float(f"{10 ** (step / 2):.3g}") for step in range(-6, 9))
BEGIN = 1.0


# ---- preparing -------------------------------------------------------------------------------------------------------
class Binary:
    """Words that are there, whatever their number."""

    def fit(self, words: Any) -> Self:
        return self

    def transform(self, words: Any) -> Any:
        return (words > 0).astype(np.float32)


class Block:
    """Numbers less their means, divided so that a row of the view has a length of about 1.

    Parameters
    ----------
    columns : bool
        Whether columns are standardised first. Otherwise they keep their scale within the view.
    """

    def __init__(self, columns: bool) -> None:
        self.columns = columns

    def fit(self, numbers: Any) -> Self:
        self.mean_ = numbers.mean(axis=0)
        variance = numbers.var(axis=0)
        total = variance.sum() or 1.0
        each = np.where(variance > 0, variance, 1.0) * max(int((variance > 0).sum()), 1)
        self.scale_ = np.sqrt(each if self.columns else np.full_like(variance, total))
        return self

    def transform(self, numbers: Any) -> Any:
        return (numbers - self.mean_) / self.scale_


WORDS: dict[str, Callable[[], Any]] = {
    "binary": Binary,
    "log-counts × idf, unit rows": lambda: TfidfTransformer(sublinear_tf=True),
    "counts × idf, unit rows": TfidfTransformer,
}
AS_THEY_ARE = "numbers as they are"
NUMBERS: dict[str, Callable[[], Any]] = {
    "standardised columns": StandardScaler,
    "standardised columns / √width": lambda: Block(columns=True),
    "views as blocks": lambda: Block(columns=False),
    AS_THEY_ARE: FunctionTransformer,
}
SCALED = tuple(way for way in NUMBERS if way != AS_THEY_ARE)


@dataclass(frozen=True)
class Preparation:
    """How views become one matrix.

    Parameters
    ----------
    views : tuple of str
        Names of those that are used.
    words : str
        Key of `WORDS`, for sparse views.
    numbers : str
        Key of `NUMBERS`, for dense views.
    """

    views: tuple[str, ...]
    words: str = "binary"
    numbers: str = "standardised columns"

    def matrices(self, train: Views, *others: Views) -> list[Any]:
        """Return the matrices of some rows, by what the first of them teach."""
        parts: list[list[Any]] = [[] for _ in (train, *others)]
        for name in self.views:
            made = WORDS[self.words]() if scipy.sparse.issparse(train[name]) else NUMBERS[self.numbers]()
            made.fit(train[name])
            for part, views in zip(parts, (train, *others), strict=True):
                part.append(made.transform(views[name]))
        return [_joined(part) for part in parts]

    def shown(self, views: Views) -> str:
        """Return it in words, as far as it matters for these views."""
        kinds = {scipy.sparse.issparse(views[name]) for name in self.views}
        texts = [self.words] * (True in kinds) + [self.numbers] * (False in kinds)
        if len(views) > 1:
            texts.append("all views" if len(self.views) == len(views) else " + ".join(self.views) + " alone")
        return ", ".join(texts)


def preparations(views: Views, scalings: Sequence[str] = SCALED) -> list[Preparation]:
    """Return the preparations that a rival chooses among: all views and each alone, words and numbers in every way.

    Of one view alone, standardised columns that are also divided by one number are left out: to a model whose strength
    is chosen they are the same.
    """
    chosen = [tuple(views)] + ([(name,) for name in views] if len(views) > 1 else [])
    found: list[Preparation] = []
    for names in chosen:
        sparse = [views[name] for name in names if scipy.sparse.issparse(views[name])]
        counted = any((words.data > 1).any() for words in sparse)
        # logarithms of 0 and 1 change nothing
        words = list(WORDS)[: 3 if counted else 2] if sparse else list(WORDS)[:1]
        numbers = list(scalings) if len(sparse) < len(names) else list(scalings)[:1]
        if len(names) == 1:
            numbers = [way for way in numbers if way != "standardised columns / √width"]
        found += [Preparation(names, one, other) for one in words for other in numbers]
    return found


def rows_of(views: Views, rows: np.ndarray) -> dict[str, Any]:
    """Return some rows of all views."""
    return {name: view[rows] for name, view in views.items()}


def _joined(parts: list[Any]) -> Any:
    if any(scipy.sparse.issparse(part) for part in parts):
        sparse = [scipy.sparse.csr_array(part, dtype=np.float64) for part in parts]
        joined = scipy.sparse.csr_array(scipy.sparse.hstack(sparse)) if len(sparse) > 1 else sparse[0]
        joined.indices, joined.indptr = joined.indices.astype(np.int32), joined.indptr.astype(np.int32)
        return joined
    return np.concatenate(parts, axis=1).astype(np.float64)


# ---- models ----------------------------------------------------------------------------------------------------------
class RadialSVC(ClassifierMixin, BaseEstimator):
    """Support vector machine with an RBF kernel, its width in units of the spread of the rows.

    Parameters
    ----------
    C : float
        Strength of the loss.
    share : float
        Of scikit-learn's ``gamma="scale"``.
    """

    def __init__(self, C: float = 1.0, share: float = 1.0) -> None:
        self.C = C
        self.share = share

    def fit(self, X: Any, y: np.ndarray) -> Self:
        self.model_ = SVC(C=self.C, gamma=self.share / (X.shape[1] * X.var())).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.model_.predict(X)


@dataclass(frozen=True)
class Rival:
    """A model and what is chosen of it.

    Parameters
    ----------
    estimator : estimator
        Of scikit-learn, not fitted.
    strength : str
        Its parameter that grows with the weight of the loss ("C") or of the penalty ("alpha").
    grid : mapping, default={}
        Values of further parameters.
    relative : bool, default=True
        Whether the strength is in units of the mean squared length of a row, so that one ladder of strengths suits
        every preparation. A kernel has its own scale.
    ladder : tuple of float, default=LADDER
        Strengths that may be tried.
    """

    estimator: Any
    strength: str = "C"
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    relative: bool = True
    ladder: tuple[float, ...] = LADDER

    def made(self, value: float, more: Mapping[str, Any], X: Any) -> Any:
        """Return the estimator with a relative strength, for these rows."""
        length = _mean_square(X) if self.relative else 1.0
        strength = value * length if self.strength == "alpha" else value / length
        return clone(self.estimator).set_params(**{self.strength: strength}, **more)


RIVALS = {
    "linear SVM": Rival(LinearSVC(random_state=0)),
    "logistic regression": Rival(LogisticRegression(max_iter=300)),
    # of all classes at once it takes minutes for many sparse rows; this is what one does then
    "logistic regression, one against the rest": Rival(
        OneVsRestClassifier(LogisticRegression(solver="liblinear")), strength="estimator__C"
    ),
    # wider steps, as two things are searched
    "RBF SVM": Rival(RadialSVC(), grid={"share": (0.25, 1.0)}, relative=False, ladder=LADDER[::2]),
    "ridge": Rival(Ridge(), strength="alpha"),
    "linear SVR": Rival(LinearSVR(random_state=0)),
}


def _mean_square(X: Any) -> float:
    squares = X.multiply(X) if scipy.sparse.issparse(X) else X * X
    return float(squares.sum() / X.shape[0]) or 1.0


# ---- choosing --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Tuned:
    """What a rival predicts, by which setting, and what it took.

    Parameters
    ----------
    predicted : ndarray
        For the test rows.
    setting : str
        What was chosen.
    quality : float
        By which it was chosen, on held-out training rows.
    seconds : float
        Of choosing and of the last fit.
    predicting : float
        Seconds of preparing and predicting the test rows.
    """

    predicted: np.ndarray
    setting: str
    quality: float
    seconds: float
    predicting: float


def accuracy(y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the share of rows whose class is right."""
    return float(np.mean(y == predicted))


def minus_squares(y: np.ndarray, predicted: np.ndarray) -> float:
    """Return minus the mean squared error."""
    return -float(np.mean((y - predicted) ** 2))


def fold_rows(y: np.ndarray, classes: bool, folds: int = FOLDS) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield training and held-out rows; of classes the shares are kept."""
    kind = StratifiedKFold if classes else KFold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about classes with fewer rows than folds
        yield from kind(folds, shuffle=True, random_state=0).split(np.zeros(len(y)), y)


def climb(quality: Callable[[float], float], ladder: Sequence[float] = LADDER, begin: float = BEGIN) -> float:
    """Return the best value of a ladder, going on in both directions while the quality grows.

    Examples
    --------
    >>> climb(lambda value: -abs(value - 30), (1.0, 3.0, 10.0, 30.0, 100.0, 300.0), 3.0)
    30.0
    """
    place = ladder.index(begin)
    low, high = max(place - 1, 0), min(place + 1, len(ladder) - 1)
    found = {number: quality(ladder[number]) for number in range(low, high + 1)}
    while True:
        best = max(found, key=found.__getitem__)
        further = [number for number in (best - 1, best + 1) if 0 <= number < len(ladder) and number not in found]
        if not further:
            return ladder[best]
        found.update({number: quality(ladder[number]) for number in further})


def tuned(
    rival: Rival,
    train: Views,
    y: np.ndarray,
    test: Views,
    score: Callable[[np.ndarray, np.ndarray], float] | None = None,
    ways: Sequence[Preparation] | None = None,
    folds: int = FOLDS,
) -> Tuned:
    """Choose preparation and settings on training rows, fit to all of them, and predict the test rows.

    Parameters
    ----------
    rival : Rival
        The model and what is chosen of it.
    train, test : mapping of str to matrix
        Views of training and test rows, sparse if they are words and dense if they are numbers.
    y : ndarray
        Classes or numbers of the training rows.
    score : function from truth and predictions to float, optional
        By which to choose, larger is better. Default: accuracy of classes, minus the squared error of numbers.
    ways : list of Preparation, optional
        To choose among. Default: all that `preparations` has.
    folds : int, default=3
        Of the cross-validation.

    Returns
    -------
    Tuned
        Predictions, what was chosen, and seconds.
    """
    begin = time.perf_counter()
    classes = is_classifier(rival.estimator)
    score = score or (accuracy if classes else minus_squares)
    splits = list(fold_rows(y, classes, folds))
    tried: dict[tuple[int, int, float], float] = {}
    ways, grid = list(ways or preparations(train)), list(ParameterGrid(dict(rival.grid)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about steps that did not converge
        for number, way in enumerate(ways):
            parts = [way.matrices(rows_of(train, kept), rows_of(train, held)) for kept, held in splits]
            for place, more in enumerate(grid):

                def quality(value: float, number=number, place=place, more=more, parts=parts) -> float:
                    found = np.empty(len(y), dtype=y.dtype if classes else float)
                    for (X, other), (kept, held) in zip(parts, splits, strict=True):
                        found[held] = rival.made(value, more, X).fit(X, y[kept]).predict(other)
                    tried[number, place, value] = score(y, found)
                    return tried[number, place, value]

                climb(quality, rival.ladder)
        number, place, value = max(tried, key=tried.__getitem__)
        (X,) = ways[number].matrices(train)
        model = rival.made(value, grid[place], X).fit(X, y)
    seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    predicted = model.predict(ways[number].matrices(train, test)[1])
    predicting = time.perf_counter() - begin
    strength = model.get_params()[rival.strength]
    settings = [ways[number].shown(train), *(f"{key} {one:g}" for key, one in grid[place].items())]
    setting = ", ".join([*settings, f"{rival.strength.split('__')[-1]} {strength:.2g}"])
    return Tuned(predicted, setting, tried[number, place, value], seconds, predicting)


def trivial(y: np.ndarray, n_rows: int, classes: bool) -> Tuned:
    """Return what one predicts without looking: the most frequent class, or the mean."""
    model = DummyClassifier(strategy="prior") if classes else DummyRegressor()
    predicted = model.fit(np.zeros((len(y), 1)), y).predict(np.zeros((n_rows, 1)))
    return Tuned(predicted, "–", float("nan"), 0.0, 0.0)
