"""The estimators: `LatentSVM`, `IterativeLatentSVM` and `DissimilarityClassifier`."""

from __future__ import annotations

import numpy as np

from harmonium.core.validation import Number, Whole
from harmonium.weak.base import WeakClassifier
from harmonium.weak.enumerated import Definition
from harmonium.weak.files import saveable
from harmonium.weak.losses import Loss
from harmonium.weak.problem import CandidateProblem
from harmonium.weak.solvers.dissimilarity import Distribution, LogLinear, PointMass
from harmonium.weak.solvers.posterior import Settings


@saveable
class LatentSVM(WeakClassifier):
    """Latent structural SVM: the right candidate is the one with the highest score.

    If the loss depends on the right candidate, the one with the highest score stands in for it, and is looked up again
    before each convex problem.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the mean loss against ½‖w‖². Choose it by validation: on planted digits and on SYSU-Shapes most fits
        did best with 0.1 or 1.
    loss : Loss, str or None, default=None
        Cost of a prediction, or its name, such as "overlap"; ``None`` means `ZeroOneLoss`.
    problem : Definition or None, default=None
        Candidates and joint features of your own. ``None`` means bags, whose features count for the label of the
        sample.
    initial : {"auto", "random"} or array-like of int of shape (n_samples,), default="auto"
        Candidates to begin with. ``"auto"`` takes those whose features speak most clearly for the label of their
        sample, ``"random"`` any, and an array these.
    n_init : int, default=1
        Number of times that training begins, each time with other candidates; the one with the lowest bound is kept.
        Training ends in local optima, so more of them pay if there is time. Guesses after the
        first one are made from samples that are weighed at random.
    class_weight : dict of class to weight, "balanced" or None, default=None
        Weights of the classes in the loss; "balanced" weighs all classes the same.
    self_paced : float or None, default=None
        Share of the samples, the easiest ones, to begin with; more are added step by step. ``None`` takes all at once.
    tol : float, default=1e-3
        Precision, in units of C: the duality gap of a convex problem, and what the steps of a round must gain together
        for another one to follow. The default is that of the paper [1]_.
    max_iter : int, default=50
        Largest number of rounds, a convention; training usually ends earlier.
    n_jobs : int or None, default=None
        Number of threads that search candidates; ``None`` means as many as BLAS may use, -1 all processors. The result
        is the same for any number.
    verbose : int, default=0
        Show a progress bar if it is not 0.
    random_state : int, RandomState or None, default=None
        Seed of all random choices.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in sorted order.
    coef_ : ndarray
        The weights w, of shape (n_classes, n_features) for bags and flat for a problem of your own.
    history_ : dict of str to list
        One entry for each step of training: ``block`` is what was learned in it ("weights" or "distribution"),
        ``before`` and ``after`` are the objective of that step before and after it, ``bound`` is the upper bound of the
        whole objective after a step of the weights (otherwise NaN), and ``gap`` the duality gap of its last convex
        problem.
    n_iter_ : int
        Number of rounds.
    n_passes_ : int
        Number of passes over all candidates.
    n_features_in_ : int
        Number of columns of the candidates. Only for bags.
    feature_names_in_ : ndarray of str
        Names of the columns of the candidates. Only if these came as data frames.

    Notes
    -----
    Without a loss on candidates this is the latent structural SVM of Yu and Joachims [2]_.

    References
    ----------
    .. [1] M. P. Kumar, B. Packer and D. Koller, "Modeling latent variable uncertainty for loss-based learning",
       International Conference on Machine Learning, 2012.
    .. [2] C.-N. J. Yu and T. Joachims, "Learning structural SVMs with latent variables", International Conference on
       Machine Learning, 2009.

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

    def _start(self, problem: CandidateProblem, candidates: np.ndarray) -> tuple[Distribution, int]:
        # a loss that depends on the right candidate changes with it after each convex problem
        return PointMass(problem, candidates), 1 if problem.loss.uses_candidate else self._MOST_STEPS


@saveable
class IterativeLatentSVM(WeakClassifier):
    """Latent SVM that holds the right candidates fixed while it learns weights.

    After each round the candidates with the highest scores become the right ones, and the next round begins.
    `LatentSVM` looks them up more often, before each convex problem.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the mean loss against ½‖w‖². Choose it by validation: on planted digits and on SYSU-Shapes most fits
        did best with 0.1 or 1.
    loss : Loss, str or None, default=None
        Cost of a prediction, or its name, such as "overlap"; ``None`` means `ZeroOneLoss`.
    problem : Definition or None, default=None
        Candidates and joint features of your own. ``None`` means bags, whose features count for the label of the
        sample.
    initial : {"auto", "random"} or array-like of int of shape (n_samples,), default="auto"
        Candidates to begin with. ``"auto"`` takes those whose features speak most clearly for the label of their
        sample, ``"random"`` any, and an array these.
    n_init : int, default=1
        Number of times that training begins, each time with other candidates; the one with the lowest bound is kept.
        Training ends in local optima, so more of them pay if there is time. Guesses after the
        first one are made from samples that are weighed at random.
    class_weight : dict of class to weight, "balanced" or None, default=None
        Weights of the classes in the loss; "balanced" weighs all classes the same.
    self_paced : float or None, default=None
        Share of the samples, the easiest ones, to begin with; more are added step by step. ``None`` takes all at once.
    tol : float, default=1e-3
        Precision, in units of C: the duality gap of a convex problem, and what the steps of a round must gain together
        for another one to follow. The default is that of the paper [1]_.
    max_iter : int, default=50
        Largest number of rounds, a convention; training usually ends earlier.
    n_jobs : int or None, default=None
        Number of threads that search candidates; ``None`` means as many as BLAS may use, -1 all processors. The result
        is the same for any number.
    verbose : int, default=0
        Show a progress bar if it is not 0.
    random_state : int, RandomState or None, default=None
        Seed of all random choices.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in sorted order.
    coef_ : ndarray
        The weights w, of shape (n_classes, n_features) for bags and flat for a problem of your own.
    history_ : dict of str to list
        One entry for each step of training: ``block`` is what was learned in it ("weights" or "distribution"),
        ``before`` and ``after`` are the objective of that step before and after it, ``bound`` is the upper bound of the
        whole objective after a step of the weights (otherwise NaN), and ``gap`` the duality gap of its last convex
        problem.
    n_iter_ : int
        Number of rounds.
    n_passes_ : int
        Number of passes over all candidates.
    n_features_in_ : int
        Number of columns of the candidates. Only for bags.
    feature_names_in_ : ndarray of str
        Names of the columns of the candidates. Only if these came as data frames.

    References
    ----------
    .. [1] M. P. Kumar, B. Packer and D. Koller, "Modeling latent variable uncertainty for loss-based learning",
       International Conference on Machine Learning, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium.weak import IterativeLatentSVM
    >>> bags = [np.array([[1.0, 0], [0, 0]]), np.array([[0, 0], [0, 1.0]])] * 5
    >>> IterativeLatentSVM(C=100).fit(bags, [0, 1] * 5).predict_latent(bags[:2])
    (array([0, 1]), array([0, 1]))
    """

    def _start(self, problem: CandidateProblem, candidates: np.ndarray) -> tuple[Distribution, int]:
        return PointMass(problem, candidates), self._MOST_STEPS


@saveable
class DissimilarityClassifier(WeakClassifier):
    """Classifier that learns with a distribution over the right candidates.

    During training P_θ(h | x, y) says how likely each candidate is to be the right one. The prediction rule minimises
    an upper bound of the loss that is expected under P_θ, and P_θ minimises its dissimilarity coefficient to the
    predictions. So P_θ becomes narrow where the label is predicted correctly and wide where it is not. Before P_θ has
    learned anything, each candidate is taken for the right one, and labels alone are learned.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the mean loss against ½‖w‖². Choose it by validation: on planted digits and on SYSU-Shapes most fits
        did best with 0.1 or 1.
    J : float, default=0.1
        Weight of ½‖θ‖². The default is that of the paper [1]_.
    beta : float, default=0.1
        Weight of the diversity of P_θ, at least 0 and below 1. The default is that of the paper.
    loss : Loss, str or None, default=None
        Cost of a prediction, or its name, such as "overlap"; ``None`` means `ZeroOneLoss`.
    problem : Definition or None, default=None
        Candidates and joint features of your own. ``None`` means bags, whose features count for the label of the
        sample.
    initial : {"auto", "random"} or array-like of int of shape (n_samples,), default="auto"
        Candidates to begin with. ``"auto"`` takes those whose features speak most clearly for the label of their
        sample, ``"random"`` any, and an array these.
    n_init : int, default=1
        Number of times that training begins, each time with other candidates; the one with the lowest bound is kept.
        Training ends in local optima, so more of them pay if there is time. Guesses after the
        first one are made from samples that are weighed at random.
    class_weight : dict of class to weight, "balanced" or None, default=None
        Weights of the classes in the loss; "balanced" weighs all classes the same.
    self_paced : float or None, default=None
        Share of the samples, the easiest ones, to begin with; more are added step by step. ``None`` takes all at once.
    n_epochs : int, default=10
        Number of passes over the samples each time P_θ is learned. On planted digits 5, 10 and 30 made little
        difference.
    tol : float, default=1e-3
        Precision, in units of C: the duality gap of a convex problem, and what the steps of a round must gain together
        for another one to follow. The default is that of the paper [1]_.
    max_iter : int, default=50
        Largest number of rounds, a convention; training usually ends earlier.
    n_jobs : int or None, default=None
        Number of threads that search candidates; ``None`` means as many as BLAS may use, -1 all processors. The result
        is the same for any number.
    verbose : int, default=0
        Show a progress bar if it is not 0.
    random_state : int, RandomState or None, default=None
        Seed of all random choices.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in sorted order.
    coef_ : ndarray
        The weights w, of shape (n_classes, n_features) for bags and flat for a problem of your own.
    theta_ : ndarray
        The weights θ, of the shape of ``coef_`` for bags and flat for a problem of your own.
    history_ : dict of str to list
        One entry for each step of training: ``block`` is what was learned in it ("weights" or "distribution"),
        ``before`` and ``after`` are the objective of that step before and after it, ``bound`` is the upper bound of the
        whole objective after a step of the weights (otherwise NaN), and ``gap`` the duality gap of its last convex
        problem.
    n_iter_ : int
        Number of rounds.
    n_passes_ : int
        Number of passes over all candidates.
    n_features_in_ : int
        Number of columns of the candidates. Only for bags.
    feature_names_in_ : ndarray of str
        Names of the columns of the candidates. Only if these came as data frames.

    References
    ----------
    .. [1] M. P. Kumar, B. Packer and D. Koller, "Modeling latent variable uncertainty for loss-based learning",
       International Conference on Machine Learning, 2012.

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
    """

    settings = {
        **WeakClassifier.settings,
        "J": Number(remedy="0.1 is usual"),
        "beta": Number(inclusive=True, below=1.0, remedy="0.1 is usual"),
        "n_epochs": Whole(),
    }
    learned = ("coef_", "theta_")
    theta_: np.ndarray

    def __init__(
        self,
        C: float = 1.0,
        *,
        J: float = 0.1,
        beta: float = 0.1,
        loss: Loss | str | None = None,
        problem: Definition | None = None,
        initial: object = "auto",
        n_init: int = 1,
        class_weight: object = None,
        self_paced: float | None = None,
        n_epochs: int = 10,
        tol: float = 1e-3,
        max_iter: int = 50,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: object = None,
    ) -> None:
        super().__init__(
            C,
            loss=loss,
            problem=problem,
            initial=initial,
            n_init=n_init,
            class_weight=class_weight,
            self_paced=self_paced,
            tol=tol,
            max_iter=max_iter,
            n_jobs=n_jobs,
            verbose=verbose,
            random_state=random_state,
        )
        self.J = J
        self.beta = beta
        self.n_epochs = n_epochs

    def _start(self, problem: CandidateProblem, candidates: np.ndarray) -> tuple[Distribution, int]:
        settings = Settings(self.J / self.C, self.beta, self.n_epochs)
        theta = np.zeros(problem.n_latent_weights)
        return LogLinear(problem, theta, settings, self._rng()), self._MOST_STEPS

    def _keep(self, distribution: LogLinear) -> None:
        theta = distribution.theta
        self.theta_ = theta if self.problem is not None else theta.reshape(len(self.classes_), -1)

    def _posterior(self, problem: CandidateProblem) -> np.ndarray:
        return problem.posterior(self.theta_.ravel())
