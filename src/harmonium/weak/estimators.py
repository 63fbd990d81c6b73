"""The scikit-learn face: `LatentSVM`, `IterativeLatentSVM` and `DissimilarityClassifier`."""

from __future__ import annotations

import numpy as np

from harmonium.validation import check_real, check_whole
from harmonium.weak.base import WeakClassifier
from harmonium.weak.dissimilarity import Distribution, LogLinear, PointMass
from harmonium.weak.enumerated import Definition
from harmonium.weak.losses import Loss
from harmonium.weak.posterior import Settings
from harmonium.weak.problem import Problem


class LatentSVM(WeakClassifier):
    """Latent structural SVM: the candidate of a sample is the one that scores highest.

    A loss that looks at the true candidate takes the one that scores highest for it, anew for each convex problem.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the mean loss against ½‖w‖².
    loss : Loss, optional
        What a prediction costs; default `ZeroOneLoss`.
    problem : Definition, optional
        Candidates and joint features of one's own; default: bags, with the features of a candidate in the block of the
        label.
    initial : "auto", "random" or array of shape (samples,), default="auto"
        Candidates to begin with: those whose features speak most for the label of their sample, any, or these.
    self_paced : float, optional
        Share of the samples, the easiest ones, that learning begins with; default: all at once.
    tol : float, default=1e-3
        Duality gap of the convex problems and smallest decrease of the objective, in units of C.
    max_iter : int, default=50
        Largest number of rounds.
    n_jobs : int, optional
        Threads; default as many as BLAS may use.
    random_state : int, RandomState or None
        Seed of random steps.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    coef_ : ndarray
        The weights w: of shape (classes, columns) for bags, flat for a problem of one's own.
    history_ : dict of lists
        For each block step: ``block`` ("weights" or "distribution"), the objective of that step ``before`` and
        ``after`` it, the ``bound`` on the whole objective after a step of the weights, and the duality ``gap``.
    n_iter_ : int
        Number of rounds.
    n_passes_ : int
        Number of passes over all candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium.weak import Bags, LatentSVM
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, size=60)
    >>> clutter = rng.normal(size=(60, 5, 4))          # 5 candidates each, of which one, unknown, shows the class
    >>> clutter[np.arange(60), rng.integers(0, 5, 60), y] += 6
    >>> bags = Bags.from_list(list(clutter))
    >>> model = LatentSVM(C=10).fit(bags, y)
    >>> bool((model.predict(bags) == y).mean() > 0.9)
    True
    """

    def _start(self, problem: Problem, candidates: np.ndarray) -> tuple[Distribution, int]:
        # as long as the loss needs the true candidate, it changes with each convex problem
        return PointMass(problem, candidates), 1 if problem.loss.uses_candidate else self._MOST_STEPS


class IterativeLatentSVM(WeakClassifier):
    """Iterative latent SVM: a latent SVM for fixed true candidates, then those that score highest, and again.

    Parameters and attributes are those of `LatentSVM`.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium.weak import IterativeLatentSVM
    >>> bags = [np.array([[1.0, 0], [0, 0]]), np.array([[0, 0], [0, 1.0]])] * 5
    >>> IterativeLatentSVM(C=100).fit(bags, [0, 1] * 5).predict_latent(bags[:2])
    (array([0, 1]), array([0, 1]))
    """

    def _start(self, problem: Problem, candidates: np.ndarray) -> tuple[Distribution, int]:
        return PointMass(problem, candidates), self._MOST_STEPS


class DissimilarityClassifier(WeakClassifier):
    """Prediction rule and distribution over candidates that agree as well as the loss can tell.

    During training P_θ(h | x, y) says how sure one is of each candidate. The prediction rule minimises a bound on the
    loss expected under it; P_θ minimises the dissimilarity coefficient to the predictions, and so becomes narrow where
    the label is predicted rightly and wide where it is not.

    Parameters
    ----------
    C, loss, problem, initial, self_paced, tol, max_iter, n_jobs, random_state
        As for `LatentSVM`.
    J : float, default=0.1
        Weight of ½‖θ‖².
    beta : float, default=0.1
        Weight of the diversity of P_θ, at least 0 and below 1.
    n_epochs : int, default=10
        Passes over the samples in each step of θ.

    Attributes
    ----------
    theta_ : ndarray
        The weights θ, of the shape of ``coef_`` for bags.
    classes_, coef_, history_, n_iter_, n_passes_
        As for `LatentSVM`.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium.weak import DissimilarityClassifier
    >>> bags = [np.array([[1.0, 0], [0, 0]]), np.array([[0, 0], [0, 1.0]])] * 5
    >>> model = DissimilarityClassifier(C=100, random_state=0).fit(bags, [0, 1] * 5)
    >>> model.predict_latent(bags[:2])
    (array([0, 1]), array([0, 1]))
    >>> [int(p.argmax()) for p in model.latent_posterior(bags[:2], [0, 1])]
    [0, 1]

    References
    ----------
    M. P. Kumar, B. Packer, D. Koller, "Modeling latent variable uncertainty for loss-based learning", ICML 2012.
    """

    theta_: np.ndarray

    def __init__(
        self,
        C: float = 1.0,
        *,
        J: float = 0.1,
        beta: float = 0.1,
        loss: Loss | None = None,
        problem: Definition | None = None,
        initial: object = "auto",
        self_paced: float | None = None,
        n_epochs: int = 10,
        tol: float = 1e-3,
        max_iter: int = 50,
        n_jobs: int | None = None,
        random_state: object = None,
    ) -> None:
        super().__init__(
            C,
            loss=loss,
            problem=problem,
            initial=initial,
            self_paced=self_paced,
            tol=tol,
            max_iter=max_iter,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.J = J
        self.beta = beta
        self.n_epochs = n_epochs

    def _check(self) -> None:
        super()._check()
        name = type(self).__name__
        check_real(name, "J", self.J, remedy="0.1 is usual")
        check_real(name, "beta", self.beta, inclusive=True, remedy="0.1 is usual")
        if self.beta >= 1:
            raise ValueError(f"{name} needs beta below 1; got {self.beta!r}; 0.1 is usual.")
        check_whole(name, "n_epochs", self.n_epochs)

    def _start(self, problem: Problem, candidates: np.ndarray) -> tuple[Distribution, int]:
        settings = Settings(self.J / self.C, self.beta, self.n_epochs)
        theta = np.zeros(problem.n_latent_weights)
        return LogLinear(problem, theta, settings, self._rng()), self._MOST_STEPS

    def _keep(self, distribution: LogLinear) -> None:
        theta = distribution.theta
        self.theta_ = theta if self.problem is not None else theta.reshape(len(self.classes_), -1)

    def _posterior(self, problem: Problem) -> np.ndarray:
        return problem.posterior(self.theta_.ravel())
