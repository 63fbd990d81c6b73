"""Base of the weakly supervised classifiers: reading input, training, prediction and scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from harmonium.core.extras import require
from harmonium.core.notices import notice
from harmonium.core.parts import IsPart, Part, WithParts, as_part
from harmonium.core.validation import Number, RandomState, Setting, Threads, Whole, check_fitted, check_settings, shown
from harmonium.kernels.runtime.threads import compute
from harmonium.weak.bag_classifier import BagClassifier
from harmonium.weak.bound_losses import Selection
from harmonium.weak.enumerated import Definition
from harmonium.weak.losses import Loss, ZeroOneLoss
from harmonium.weak.problem import CandidateProblem
from harmonium.weak.progress import Silent, reporting
from harmonium.weak.reading import (
    ClassWeight,
    build_problem,
    check_columns,
    numbers_of,
    read_candidates,
    read_labels,
    read_samples,
    sample_weights,
)
from harmonium.weak.solvers.cutting_plane import CuttingPlane
from harmonium.weak.solvers.dissimilarity import Distribution, Learned, block_descent


class InitialCandidates(Setting):
    """Candidates to begin with: "auto", "random" or an array, which is checked against the samples."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse every other word."""
        if isinstance(value, str) and value not in ("auto", "random"):
            raise ValueError(
                f"{owner} needs {name} 'auto', 'random' or an array; got {shown(value)}; take one of them."
            )


class WeakClassifier(BagClassifier, WithParts):
    """Base of the classifiers that learn from labels alone and predict a label and a candidate."""

    #: largest number of convex problems in a round: a convention that bounds its time
    _MOST_STEPS = 100

    settings: ClassVar[Mapping[str, Setting]] = {
        "C": Number(),
        "loss": IsPart(Loss, "OverlapLoss() or FunctionLoss(function)"),
        "problem": IsPart(Definition, "a Definition of your own"),
        "initial": InitialCandidates(),
        "n_init": Whole(remedy="1 begins once, 5 is a good number if there is time"),
        "class_weight": ClassWeight(),
        "self_paced": Number(at_most=1.0, remedy="0.5 is usual", also=(None,)),
        "tol": Number(remedy="0.001 is usual"),
        "max_iter": Whole(),
        "n_jobs": Threads(),
        "verbose": Whole(lower=0, remedy="1 shows a progress bar", also=(True, False)),
        "random_state": RandomState(),
    }
    #: names of the arrays that are learned
    learned: ClassVar[tuple[str, ...]] = ("coef_",)
    #: names of what else a file keeps
    facts: ClassVar[Mapping[str, type]] = {"classes": dict, "history": dict, "n_iter": int, "n_passes": int}
    coef_: np.ndarray
    history_: dict[str, list[Any]]
    n_iter_: int
    n_passes_: int

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: Loss | str | None = None,
        problem: Definition | None = None,
        initial: Any = "auto",
        n_init: int = 1,
        class_weight: Any = None,
        self_paced: float | None = None,
        tol: float = 1e-3,
        max_iter: int = 50,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.problem = problem
        self.initial = initial
        self.n_init = n_init
        self.class_weight = class_weight
        self.self_paced = self_paced
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @abstractmethod
    def _start(self, problem: CandidateProblem, candidates: np.ndarray) -> tuple[Distribution, int]:
        """Return the distribution to begin with and the largest number of convex problems in a round."""

    def _keep(self, distribution: Any) -> None:
        """Keep what the distribution learned; a point mass has nothing to keep, as it follows from the weights."""

    def fit(self, X: Any, y: Any, latent: Any = None) -> Self:
        """Learn from samples with known labels.

        An interrupt (Ctrl-C) keeps the best weights so far, gives a warning, and goes on to the caller as a
        `KeyboardInterrupt`. If there are none yet, the classifier stays as it was.

        Parameters
        ----------
        X : Bags, list of matrices, array of shape (n_samples, n_candidates, n_features), or as ``problem`` defines
            The samples. In a matrix or data frame each row is one, with a single candidate.
        y : array-like of shape (n_samples,)
            Their labels, of at least two classes.
        latent : array-like of int of shape (n_samples,) or None, default=None
            The right candidate of each sample, numbered from 0, or -1 where it is unknown; ``None`` if all are unknown.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        require("piqp", type(self).__name__)  # before anything long is computed
        check_settings(self, self.settings)
        samples, candidates = read_samples(X, self.problem)
        n_samples = len(candidates.offsets) - 1
        classes, labels = read_labels(y, n_samples)
        known = read_candidates("latent", latent, candidates.offsets, may_be_unknown=True)
        with compute(self.n_jobs):
            problem = build_problem(samples, candidates, self.problem, self._loss(), labels, classes, known)
            problem.sample_weight = sample_weights(self.class_weight, classes, labels) / n_samples
            beginnings = [np.where(known >= 0, known, begin) for begin in self._beginnings(problem)]
            with reporting(self.verbose) as reporter:
                learned, planes = self._best_of(problem, beginnings, reporter)
        interrupted = planes[-1].interrupted
        if interrupted and not learned.weights.any():
            raise KeyboardInterrupt
        if not learned.weights.any():
            notice(
                f"{type(self).__name__} found nothing better than weights of zero, which predict nothing; begin with "
                "other candidates, improve the features, or use a loss that forgives neighbours of the right one."
            )
        self.classes_ = classes
        self._keep_columns(samples)
        self.coef_ = learned.weights if self.problem is not None else learned.weights.reshape(len(classes), -1)
        self.history_ = learned.history
        self.n_iter_ = self.history_["block"].count("weights")
        self.n_passes_ = sum(plane.n_passes for plane in planes)
        self._keep(learned.distribution)
        if interrupted:
            try:
                notice(
                    f"Training was interrupted in round {self.n_iter_}; the weights are the best so far; fit again to "
                    "begin anew, or with a larger tol to be done earlier."
                )
            finally:  # whoever called fit is to stop too, even if warnings are errors
                raise KeyboardInterrupt
        return self

    def _loss(self) -> Loss:
        return as_part(Loss, self.loss) or ZeroOneLoss()

    def _default_part(self, name: str) -> Part | None:
        return ZeroOneLoss() if name == "loss" else None

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _beginnings(self, problem: CandidateProblem) -> list[np.ndarray]:
        """Return the candidates of each beginning.

        Guesses after the first one are made from samples that are weighed at random (a Bayesian bootstrap).
        """
        if not isinstance(self.initial, str):
            if self.n_init > 1:
                raise ValueError(
                    f"{type(self).__name__} begins once if initial is an array; got n_init={self.n_init}; leave one of "
                    "them out."
                )
            return [read_candidates("initial", self.initial, problem.offsets, may_be_unknown=False)]
        rng = self._rng()
        if self.initial == "random":
            return [rng.integers(0, np.diff(problem.offsets)) for _ in range(self.n_init)]
        others = [problem.guess(rng.exponential(size=len(problem))) for _ in range(self.n_init - 1)]
        return [problem.guess(), *others]

    def _best_of(
        self, problem: CandidateProblem, beginnings: list[np.ndarray], reporter: Silent
    ) -> tuple[Learned, list[CuttingPlane]]:
        """Return what was learned from the beginning that leads to the lowest bound, and the solvers of all.

        An interrupt ends the search.
        """
        found: list[Learned] = []
        planes: list[CuttingPlane] = []
        for begin in beginnings:
            planes.append(CuttingPlane(problem, self.C, self.tol, reporter=reporter))
            distribution, max_steps = self._start(problem, begin)
            try:
                found.append(block_descent(planes[-1], distribution, begin, self.max_iter, max_steps, self.self_paced))
            except KeyboardInterrupt as interrupt:
                if not found:
                    raise
                planes[-1].interrupt(interrupt)
            if planes[-1].interrupted:
                break
        reporter.complete()
        return min(found, key=lambda learned: learned.bound), planes

    # ---- asking the fitted model -----------------------------------------------------------------------------------
    def _read(self, X: Any, y: Any = None, labelled: bool = True) -> CandidateProblem:
        check_fitted(self)
        samples, candidates = read_samples(X, self.problem)
        n_samples = len(candidates.offsets) - 1
        check_columns(self, samples)
        labels = numbers_of(y, self.classes_, n_samples) if labelled else np.zeros(n_samples, dtype=np.int32)
        # without labels the loss is never asked for
        loss = self._loss() if labelled else ZeroOneLoss()
        problem = build_problem(samples, candidates, self.problem, loss, labels, self.classes_)
        if problem.n_weights != self.coef_.size:
            raise ValueError(
                f"Candidates must have the features of training, {self.coef_.size} weights; got {problem.n_weights}; "
                "compute them in the same way."
            )
        return problem

    def _infer(self, problem: CandidateProblem) -> Selection:
        with compute(self.n_jobs):
            return problem.infer(self.coef_.ravel())

    def predict_latent(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Predict the label and the candidate of each sample.

        Parameters
        ----------
        X : Bags, list of matrices, array of shape (n_samples, n_candidates, n_features), or as ``problem`` defines
            The samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The predicted labels.
        candidates : ndarray of int64 of shape (n_samples,)
            The predicted candidates, numbered from 0 within each sample.
        """
        selection = self._infer(self._read(X, labelled=False))
        return self.classes_[selection.labels], selection.candidates.astype(np.int64)

    def _decided(self, X: Any) -> np.ndarray:
        return self._infer(self._read(X, labelled=False)).labels

    def _scored(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        problem = self._read(X, labelled=False)
        with compute(self.n_jobs):
            return np.asarray(problem.scores(self.coef_.ravel(), 0, len(problem)), dtype=np.float64), problem.offsets

    def _bag_scores(self, X: Any) -> np.ndarray:
        scores, offsets = self._scored(X)
        return np.maximum.reduceat(scores, offsets[:-1])

    def latent_posterior(self, X: Any, y: Any) -> list[np.ndarray]:
        """Return the probability of each candidate, given the label of its sample.

        The latent SVMs are certain of the candidate with the highest score; `DissimilarityClassifier` returns its P_θ.

        Parameters
        ----------
        X : Bags, list of matrices, array of shape (n_samples, n_candidates, n_features), or as ``problem`` defines
            The samples.
        y : array-like of shape (n_samples,)
            Their labels, among the classes that were learned.

        Returns
        -------
        list of ndarray of float64
            One distribution over the candidates per sample.
        """
        problem = self._read(X, y)
        with compute(self.n_jobs):
            return np.split(self._posterior(problem), problem.offsets[1:-1])

    def _posterior(self, problem: CandidateProblem) -> np.ndarray:
        return problem.point_mass(problem.complete(self.coef_.ravel()))

    def score(self, X: Any, y: Any, latent: Any = None) -> float:
        """Return the negative mean loss of the predictions; 0 is best.

        Parameters
        ----------
        X : Bags, list of matrices, array of shape (n_samples, n_candidates, n_features), or as ``problem`` defines
            The samples.
        y : array-like of shape (n_samples,)
            Their labels, among the classes that were learned.
        latent : array-like of int of shape (n_samples,) or None, default=None
            The right candidates, or -1 where they are unknown. Where a candidate is unknown only the label counts.

        Returns
        -------
        float
            At most 0.
        """
        problem = self._read(X, y)
        selection = self._infer(problem)
        truth = read_candidates("latent", latent, problem.offsets, may_be_unknown=True)
        truth = np.where(truth >= 0, truth, selection.candidates)
        return 0.0 - float(problem.loss.between(truth, selection).mean())

    @classmethod
    def _wrong_shapes(cls, tensors: dict[str, np.ndarray], n_classes: int) -> str | None:
        shapes = {value.shape for value in tensors.values()}
        fits = len(shapes) == 1 and all(len(shape) == 2 and shape[0] == n_classes for shape in shapes)
        if set(tensors) == set(cls.learned) and fits:
            return None
        found = ", ".join(f"{name} {value.shape}" for name, value in tensors.items())
        return f"they must be of one shape, with a row for each of {n_classes} classes; found {found}"
