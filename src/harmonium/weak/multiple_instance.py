"""`MultipleInstanceClassifier`: labels of bags, learned from how near each bag comes to instances seen in training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from scipy.special import softmax
from sklearn.utils import check_random_state

from harmonium.core.validation import (
    Anything,
    Number,
    RandomState,
    Setting,
    Whole,
    check_fitted,
    check_settings,
    few_of,
    shown,
)
from harmonium.weak.bag_classifier import BagClassifier
from harmonium.weak.bags import Bags
from harmonium.weak.files import saveable
from harmonium.weak.reading import ClassWeight, check_columns, read_labels, read_samples, sample_weights
from harmonium.weak.solvers.presence import learn_presence

# Candidates whose similarities are computed at once: a convention that bounds memory.
_BLOCK = 4096


@saveable
class MultipleInstanceClassifier(BagClassifier):
    """Classifier of bags by the presence of instances like those of training.

    A bag is described by its largest similarity to each of many training instances (landmarks), and by the largest and
    smallest value of each column. Labels are learned from that by logistic regression: the embedding of MILES [1]_,
    with probabilities. The problem is convex, so nothing hangs on a beginning; columns are standardised inside.

    Parameters
    ----------
    C : float, default=100.0
        Weight of the mean loss against ½‖w‖². Choose it by validation, from 10 to 1000.
    gamma : "scale" or float, default="scale"
        Similarity is exp(−gamma ‖x − landmark‖²) of standardised columns; ``"scale"`` is 1 / number of columns.
    negative : label or None, default=None
        The class of bags that hold nothing of another class: the standard assumption of multiple-instance learning.
        Then weights are non-negative, and no instance can speak against the class that another one speaks for.
        ``None`` assumes nothing, and usually predicts better where the assumption does not hold.
    n_landmarks : int, default=1000
        Number of training instances to compare with; all of them if there are fewer.
    extremes : float, default=0.3
        Factor of the largest and smallest standardised values beside similarities, which are at most 1; 0 leaves them
        out. From 0.03 to 0.3 made little difference on the sets of `benchmarks/bags.py`.
    class_weight : dict of class to weight, "balanced" or None, default=None
        Weights of the classes in the loss; "balanced" weighs all classes the same.
    random_state : int, RandomState or None, default=None
        Seed of the choice of landmarks.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in sorted order.
    coef_ : ndarray of shape (n_classes, n_landmarks + 2 * n_features)
        Weights of the similarities, of the largest values, and of the smallest ones with their sign turned.
    intercept_ : ndarray of shape (n_classes,)
        Scores of a bag that is like no landmark and has means for extremes.
    landmarks_ : ndarray of shape (n_landmarks, n_features)
        The landmarks, in standardised columns.
    mean_, scale_ : ndarray of shape (n_features,)
        Means and standard deviations of the columns.
    gamma_ : float
        The factor of the squared distance.
    n_features_in_ : int
        Number of columns of the instances.
    feature_names_in_ : ndarray of str
        Names of the columns. Only if the bags came as data frames.

    See Also
    --------
    LatentSVM : Predict the instance as well, with losses that look at it.

    References
    ----------
    .. [1] Y. Chen, J. Bi and J. Z. Wang, "MILES: Multiple-instance learning via embedded instance selection", IEEE
       Transactions on Pattern Analysis and Machine Intelligence, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium.weak import MultipleInstanceClassifier
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(rng.integers(2, 6), 2)) for _ in range(60)]
    >>> y = np.arange(60) % 2
    >>> for bag in bags[1::2]:
    ...     bag[0] = rng.normal([4, 4], 0.5)  # one instance makes the label
    >>> model = MultipleInstanceClassifier(negative=0, random_state=0).fit(bags[:40], y[:40])
    >>> model.score(bags[40:], y[40:])
    1.0
    >>> [labels.tolist() for labels in model.predict_instances(bags[40:42])]
    [[0, 0, 0, 0], [1, 0, 0, 0, 0]]
    """

    settings: ClassVar[Mapping[str, Setting]] = {
        "C": Number(),
        "gamma": Number(remedy="'scale' is usual", also=("scale",)),
        "negative": Anything(),
        "n_landmarks": Whole(),
        "extremes": Number(inclusive=True, remedy="0.3 is usual"),
        "class_weight": ClassWeight(),
        "random_state": RandomState(),
    }
    #: names of the arrays that are learned
    learned: ClassVar[tuple[str, ...]] = ("coef_", "intercept_", "landmarks_", "mean_", "scale_")
    #: names of what else a file keeps
    facts: ClassVar[Mapping[str, type]] = {"classes": dict}

    def __init__(
        self,
        C: float = 100.0,
        *,
        gamma: Any = "scale",
        negative: Any = None,
        n_landmarks: int = 1000,
        extremes: float = 0.3,
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.negative = negative
        self.n_landmarks = n_landmarks
        self.extremes = extremes
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from bags with known labels.

        Parameters
        ----------
        X : Bags, list of matrices, or array of shape (n_samples, n_candidates, n_features)
            The bags. In a matrix or data frame each row is one, with a single instance.
        y : array-like of shape (n_samples,)
            Their labels, of at least two classes.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        check_settings(self, self.settings)
        bags, _ = read_samples(X, None)
        classes, labels = read_labels(y, len(bags))
        default = self._default_class(classes)
        weights = sample_weights(self.class_weight, classes, labels)
        rows = _dense(bags.features)
        self.mean_, self.scale_ = rows.mean(axis=0), rows.std(axis=0)
        self.scale_[self.scale_ <= np.finfo(np.float32).eps * np.abs(self.mean_)] = 1.0  # constant columns
        rng = check_random_state(self.random_state)
        chosen = np.sort(rng.permutation(len(rows))[: self.n_landmarks])
        self.landmarks_ = (rows[chosen] - self.mean_) / self.scale_
        self._keep_columns(bags)
        self.coef_, self.intercept_ = learn_presence(
            self._embedded(bags), labels, weights / len(labels), self.C, len(classes), default
        )
        self.classes_ = classes
        return self

    def _default_class(self, classes: np.ndarray) -> int | None:
        """Return the position of the class that needs no evidence."""
        if self.negative is None:
            return None
        found = np.flatnonzero(classes == self.negative)
        if len(found) != 1:
            raise ValueError(
                f"negative must be a class of y, {few_of(classes)}; got {shown(self.negative)}; name "
                "the class of bags that hold nothing of another, or leave it out."
            )
        return int(found[0])

    @property
    def gamma_(self) -> float:
        """The factor of the squared distance."""
        return 1 / len(self.mean_) if isinstance(self.gamma, str) else float(self.gamma)

    def _described(self, features: Any) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield similarities to all landmarks, values and negative values of blocks of instances."""
        from sklearn.metrics.pairwise import euclidean_distances  # late, for a quick start

        for begin in range(0, features.shape[0], _BLOCK):
            block = slice(begin, min(begin + _BLOCK, features.shape[0]))
            rows = (_dense(features[block]) - self.mean_) / self.scale_
            near = np.exp(-self.gamma_ * euclidean_distances(rows, self.landmarks_, squared=True))
            yield block, np.hstack([near, self.extremes * rows, -self.extremes * rows])

    def _embedded(self, bags: Bags) -> np.ndarray:
        """Return the largest similarity of each bag to each landmark."""
        result = np.full((len(bags), len(self.landmarks_) + 2 * bags.shape[1]), -np.inf)
        own = np.repeat(np.arange(len(bags)), bags.sizes)
        for block, similarities in self._described(bags.features):
            first = np.flatnonzero(np.diff(own[block], prepend=-1))
            at = own[block][first]
            result[at] = np.maximum(result[at], np.maximum.reduceat(similarities, first))
        return result

    def _read(self, X: Any) -> Bags:
        check_fitted(self)
        bags, _ = read_samples(X, None)
        check_columns(self, bags)
        return bags

    def _scored(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        bags = self._read(X)
        scores = np.empty((bags.features.shape[0], len(self.classes_)))
        for block, similarities in self._described(bags.features):
            scores[block] = similarities @ self.coef_.T + self.intercept_
        return scores, bags.offsets

    def _bag_scores(self, X: Any) -> np.ndarray:
        return self._embedded(self._read(X)) @ self.coef_.T + self.intercept_

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : Bags, list of matrices, or array of shape (n_samples, n_candidates, n_features)
            The bags.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``.
        """
        return np.asarray(softmax(self._bag_scores(X), axis=1))

    @classmethod
    def _wrong_shapes(cls, tensors: dict[str, np.ndarray], n_classes: int) -> str | None:
        shapes = {name: value.shape for name, value in tensors.items()}
        n_landmarks, n_columns = (*shapes.get("landmarks_", ()), 0, 0)[:2]
        right = {
            "coef_": (n_classes, n_landmarks + 2 * n_columns),
            "intercept_": (n_classes,),
            "landmarks_": (n_landmarks, n_columns),
            "mean_": (n_columns,),
            "scale_": (n_columns,),
        }
        return None if shapes == right else f"their shapes must be {right}; found {shapes}"


def _dense(rows: Any) -> np.ndarray:
    """Return rows as a dense matrix of float64."""
    return np.asarray(rows.toarray() if scipy.sparse.issparse(rows) else rows, dtype=np.float64)
