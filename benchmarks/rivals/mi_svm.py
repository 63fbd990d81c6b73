"""MI-SVM: one linear SVM a class on the highest-scoring candidate of each bag, one class against the rest."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from harmonium.weak import Bags


class MISVM:
    """Witnesses of positive bags are chosen anew in each round; the worst candidates of negative bags pile up."""

    def __init__(self, C: float = 1.0, n_rounds: int = 8) -> None:
        self.C = C
        self.n_rounds = n_rounds

    def fit(self, bags: Bags, y: np.ndarray, initial: np.ndarray) -> MISVM:
        self.classes_ = np.unique(y)
        self.machines_ = []
        for label in self.classes_:
            self.machines_.append(self._fit_one(bags, y == label, bags.offsets[:-1] + initial))
        return self

    def _fit_one(self, bags: Bags, positive: np.ndarray, chosen: np.ndarray) -> LinearSVC:
        negatives: list[np.ndarray] = []
        witnesses = chosen
        for _ in range(self.n_rounds):
            negatives.append(chosen[~positive])
            rows = np.concatenate([witnesses[positive], np.unique(np.concatenate(negatives))])
            target = np.arange(len(rows)) < positive.sum()
            # as in the structural machines, C is shared by all samples
            machine = LinearSVC(C=self.C / len(positive), class_weight="balanced", random_state=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                machine.fit(bags.features[rows], target)
            before, chosen = chosen, bags.offsets[:-1] + best(machine.decision_function(bags.features), bags.offsets)
            witnesses = chosen
            if np.array_equal(before, chosen):
                break
        return machine

    def predict_latent(self, bags: Bags) -> tuple[np.ndarray, np.ndarray]:
        scores = np.stack([machine.decision_function(bags.features) for machine in self.machines_], axis=1)
        labels = np.maximum.reduceat(scores, bags.offsets[:-1]).argmax(axis=1)
        own = scores[np.arange(len(scores)), np.repeat(labels, bags.sizes)]
        return self.classes_[labels], best(own, bags.offsets)


def best(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    return np.array([values[a:b].argmax() for a, b in itertools.pairwise(offsets)])
