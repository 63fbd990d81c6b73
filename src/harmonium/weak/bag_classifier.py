"""`BagClassifier`: what all classifiers of bags share; scores of bags and of their instances, files."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags

from harmonium.storage import load_model
from harmonium.weak.files import save_classifier
from harmonium.weak.reading import names_of, width_of


class BagClassifier(ClassifierMixin, BaseEstimator):
    """Base of the classifiers that score the instances (candidates) of bags, and bags by these."""

    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray

    @abstractmethod
    def _scored(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return scores of all instances for all classes, and the offsets of the bags."""

    @abstractmethod
    def _bag_scores(self, X: Any) -> np.ndarray:
        """Return the scores of bags for all classes."""

    def _decided(self, X: Any) -> np.ndarray:
        """Return the number of the class of each bag."""
        return self._bag_scores(X).argmax(axis=1)

    @classmethod
    @abstractmethod
    def _wrong_shapes(cls, tensors: dict[str, np.ndarray], n_classes: int) -> str | None:
        """Return what is wrong with the shapes of learned arrays, or None."""

    def _keep_columns(self, samples: Any) -> None:
        """Keep number and names of the columns, or forget those of an earlier fit."""
        found = {"feature_names_in_": names_of(samples), "n_features_in_": width_of(samples)}
        for name, value in found.items():
            if value is not None:
                setattr(self, name, np.array(value, dtype=object) if name == "feature_names_in_" else value)
            elif hasattr(self, name):
                delattr(self, name)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of bags.

        `sklearn.calibration.CalibratedClassifierCV` makes probabilities of them where a classifier has none.

        Parameters
        ----------
        X : Bags, list of matrices, array of shape (n_samples, n_candidates, n_features), or as ``problem`` defines
            The bags.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The lead of the second class if there are two, otherwise a score for each class.
        """
        scores = self._bag_scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Predict the label of each bag.

        Parameters
        ----------
        X : Bags, list of matrices, array of shape (n_samples, n_candidates, n_features), or as ``problem`` defines
            The bags.

        Returns
        -------
        ndarray of shape (n_samples,)
            The predicted labels.
        """
        numbers = self._decided(X)  # which says so, where nothing was fitted
        return self.classes_[numbers]

    def instance_scores(self, X: Any) -> list[np.ndarray]:
        """Return the scores of the instances of each bag for each class.

        Parameters
        ----------
        X : Bags, list of matrices, or array of shape (n_samples, n_candidates, n_features)
            The bags.

        Returns
        -------
        list of ndarray of shape (n_candidates, n_classes)
            One matrix per bag.
        """
        scores, offsets = self._scored(X)
        return np.split(scores, offsets[1:-1])

    def predict_instances(self, X: Any) -> list[np.ndarray]:
        """Predict the class of each instance of each bag.

        Parameters
        ----------
        X : Bags, list of matrices, or array of shape (n_samples, n_candidates, n_features)
            The bags.

        Returns
        -------
        list of ndarray of shape (n_candidates,)
            One array of labels per bag.
        """
        scores, offsets = self._scored(X)
        return np.split(self.classes_[scores.argmax(axis=1)], offsets[1:-1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.three_d_array = True
        return tags

    # ---- files -----------------------------------------------------------------------------------------------------
    @classmethod
    def check_tensors(cls, tensors: dict[str, np.ndarray], n_classes: int) -> str | None:
        """Return what is wrong with the arrays of a file, or None.

        Parameters
        ----------
        tensors : dict of str to ndarray
            The arrays by name.
        n_classes : int
            Number of classes.

        Returns
        -------
        str or None
            Shapes that do not fit each other.
        """
        return cls._wrong_shapes(tensors, n_classes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted classifier to a file or a folder of safetensors and JSON.

        Files hold no code: a classifier with a ``problem`` of your own or a `FunctionLoss` is refused.

        Parameters
        ----------
        path : str or path
            One file if it ends in ``.safetensors``, a folder if it has no ending; `harmonium.load` reads both. What was
            there is replaced in one step, once everything is written.
        """
        save_classifier(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Any:
        """Load a saved model; loading never runs code.

        Parameters
        ----------
        path : str or path
            What `save` was given.

        Returns
        -------
        estimator
            The fitted estimator, of the class that was saved.
        """
        return load_model(path)
