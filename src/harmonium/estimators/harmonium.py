"""`Harmonium`: the scikit-learn face of the unsupervised models, and what the supervised ones share with it."""

from __future__ import annotations

import os
import warnings
from copy import deepcopy
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from harmonium.energy import Energy
from harmonium.estimators.labels import Labels
from harmonium.estimators.posterior import posterior_arrays, restored_posterior
from harmonium.estimators.preparation import (
    check_known,
    check_supports,
    names_of_features,
    prepare,
    read,
    unchanged_if_refused,
)
from harmonium.estimators.probability import Probability
from harmonium.exceptions import HarmoniumWarning
from harmonium.families import Family
from harmonium.hidden import IBP, BernoulliUnits, HiddenLayer, SpikeSlab
from harmonium.kernels.threads import compute
from harmonium.objectives import Objective, Problem, SampledCD
from harmonium.params import copy_parameters
from harmonium.persist import Fitted, load_model, save_model, saveable
from harmonium.training import Driver, Stochastic, Training
from harmonium.training.initialise import initial_parameters
from harmonium.training.progress import Reporter, Silent, reporting
from harmonium.training.projection import project
from harmonium.training.sampling import Sampling
from harmonium.training.selection import prune
from harmonium.views import Views

# units that share their second moment take smaller steps, all but one
_RATE_OF_SELECTION = 0.09


def trains_by_batches(estimator: Harmonium) -> bool:
    """Whether there is a partial_fit; raises an AttributeError with the reason if there is none."""
    estimator._check_batches()
    return True


@saveable
class Harmonium(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Probability, BaseEstimator):
    """Undirected latent-variable model of one or several views, put together from parts.

    Parameters
    ----------
    n_components : int, default=50
        Number of hidden units (topics).
    views : "infer", mapping or list, default="infer"
        Family of each view: name → `Family`, "infer" (look at the data), or `Columns` / a slice / column names when X
        is one matrix. ``families_`` shows what was inferred.
    hidden : HiddenLayer, optional
        What a topic is; default `BernoulliUnits`.
    objective : Objective, optional
        Where gradients come from; default `SampledCD`.
    driver : Driver, optional
        How parameters move; default `Stochastic`.
    output : {"mean", "natural", "coordinates"}, default="mean"
        What `transform` gives: E[h | x], its natural parameter, or Wᵀx alone (best for retrieval by cosine).
    warm_start : bool, default=False
        Go on from the parameters of the last fit.
    random_state : int, RandomState or None, default=None
        Same state, same result, on one thread or many.
    n_jobs : int, optional
        Threads; default: as many as BLAS may use.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    families_ : dict
        Family of each view.
    n_components_ : int
        Number of hidden units; of layers that select them (`IBP`, `SpikeSlab`): those that are of use.
    unit_usage_ : ndarray of shape (n_components_,)
        Share of the training rows that have each unit; only of layers that select units.
    truncation_reached_ : bool
        Whether all units were of use, so that more might be; only of layers that select units.
    components_ : ndarray of shape (n_components_, total number of features)
        Weights, views side by side.
    history_ : dict of lists
        Record of every epoch.
    n_iter_ : int
        Epochs done.
    stopped_ : str
        Why training ended.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> rng = np.random.default_rng(0)
    >>> words, colour = (rng.random((60, 12)) < 0.3).astype(float), rng.normal(size=(60, 4))
    >>> model = Harmonium(n_components=3, driver=Stochastic(max_iter=5), random_state=0)
    >>> model.fit_transform({"words": words, "colour": colour}).shape
    (60, 3)
    >>> model.families_
    {'words': Bernoulli(), 'colour': Gaussian()}
    >>> model.predict_view("words", {"colour": colour}).shape
    (60, 12)
    """

    _stream: np.random.Generator
    unit_usage_: np.ndarray
    truncation_reached_: bool
    history_: dict[str, list[float]]
    n_iter_: int

    _parameter_constraints: dict[str, list[Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "views": [str, dict, list, tuple, Family],
        "hidden": [HiddenLayer, None],
        "objective": [Objective, None],
        "driver": [Driver, None],
        "output": [StrOptions({"mean", "natural", "coordinates"})],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_components: int = 50,
        *,
        views: Any = "infer",
        hidden: HiddenLayer | None = None,
        objective: Objective | None = None,
        driver: Driver | None = None,
        output: Literal["mean", "natural", "coordinates"] = "mean",
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.views = views
        self.hidden = hidden
        self.objective = objective
        self.driver = driver
        self.output = output
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # ---- fitting -------------------------------------------------------------------------------------------------
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the parameters from all rows.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Views of the same items. NaN cells and all-NaN rows are missing and inferred while learning.
        y : ignored
            There for scikit-learn.
        """
        return self._fit(X)

    def _fit(self, X: Any, labels: Labels | None = None) -> Self:
        goes_on = self.warm_start and hasattr(self, "_training")
        driver = self._driver()
        driver.check()
        with unchanged_if_refused(self), compute(self.n_jobs):
            views = read(self, X, reset=not goes_on)
            views, added = self._labelled(views, labels, goes_on)
            problem = self._continued(views) if goes_on else prepare(views, self.views, self._layer(), added)
            rng = self._generator()
            with reporting(self.verbose, self._planned_rows(driver, len(views), goes_on)) as reporter:
                training = self._learn(problem, views, driver, rng, reporter, goes_on)
            self._stream = rng
            if isinstance(problem.energy.hidden, SpikeSlab):
                problem = self._select(problem, training, views)
            else:  # what an earlier fit with another layer found
                for name in {"unit_usage_", "truncation_reached_"} & set(vars(self)):
                    delattr(self, name)
            self._finish(problem, training, views)
        if training.idle_units:
            warnings.warn(
                f"{training.idle_units} of {self.n_components_} hidden units are the same for all training rows; use a "
                "lower learning_rate, fewer units, or another family (large counts: logarithms as Gaussian()).",
                HarmoniumWarning,
                stacklevel=4,  # past the checks of scikit-learn
            )
        return self

    def _select(self, problem: Problem, training: Training, views: Views) -> Problem:
        """Remove the units that nothing speaks for, and say so if the number of units was too small or too large."""
        selected = prune(problem, training.parameters, views, training.n_items)
        training.parameters, training.slots, training.chains = selected.parameters, None, None
        self.unit_usage_ = selected.usage
        n_units = self._layer().n_units_  # a fit that goes on has those left by the last one only
        self.truncation_reached_ = selected.n_found == n_units
        layer = type(problem.energy.hidden).__name__
        if self.truncation_reached_:
            warnings.warn(
                f"All {n_units} units of {layer} are in use, so there may be more to find; pass a larger "
                f"{'truncation' if isinstance(problem.energy.hidden, IBP) else 'n_units'}.",
                HarmoniumWarning,
                stacklevel=5,
            )
        elif not selected.n_found:
            warnings.warn(
                f"{layer} found no unit that stands out of chance, and kept one; use more rows, a larger "
                "learning_rate or more epochs, or a smaller relevance.",
                HarmoniumWarning,
                stacklevel=5,
            )
        return selected.problem

    def _check_batches(self) -> None:
        """Other drivers have no use for some rows (what is no driver is refused later)."""
        if isinstance(self.driver, Driver) and not isinstance(self.driver, Stochastic):
            raise AttributeError(
                f"partial_fit needs the Stochastic() driver; got {type(self.driver).__name__}; use fit instead."
            )

    def _planned_rows(self, driver: Driver, n_rows: int, goes_on: bool) -> int:
        """Rows that a fit will touch at most, for the progress bar."""
        return driver.planned_rows(n_rows)

    def _labelled(self, views: Views, labels: Labels | None, goes_on: bool) -> tuple[Views, dict[str, Family]]:
        """Views with what is to be predicted, and families of views that this adds; here: nothing."""
        return views, {}

    def _learn(
        self,
        problem: Problem,
        views: Views,
        driver: Driver,
        rng: np.random.Generator,
        reporter: Reporter,
        goes_on: bool,
    ) -> Training:
        """Train from the start, or from where the last fit ended."""
        training = self._last() if goes_on else self._begin(problem, views, rng)
        driver.run(problem, self._objective(), views, training, rng, reporter)
        return training

    def _last(self) -> Training:
        """Where the last fit ended, with an optimiser that starts afresh."""
        return Training(
            copy_parameters(self.parameters_),
            n_iter=self.n_iter_,
            history=deepcopy(self.history_),
            n_items=self._training.n_items,
            n_settled=self._training.n_settled,
            # chains go on where they stopped; other drivers leave a single set of weights
            posterior=deepcopy(self._training.posterior) if isinstance(self._driver(), Sampling) else None,
        )

    @available_if(trains_by_batches)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """One pass over some more rows; the first call also chooses the families and starts the parameters.

        The step stays at the driver's ``learning_rate``; ``max_iter``, ``schedule`` and early stopping are for `fit`,
        which knows when it will end, and so is the record in ``history_``.
        """
        return self._partial_fit(X)

    def _partial_fit(self, X: Any, labels: Labels | None = None) -> Self:
        first = not hasattr(self, "_training")
        driver = self._driver()
        assert isinstance(driver, Stochastic)
        driver.check()
        with unchanged_if_refused(self), compute(self.n_jobs):
            views = read(self, X, reset=first)
            views, added = self._labelled(views, labels, not first)
            if first:
                problem = prepare(views, self.views, self._layer(), added)
                rng = self._generator()
                training = self._begin(problem, views, rng)
            else:
                problem = self._continued(views)
                # copies: training goes on in place, and a pass that diverges must leave the model as it was
                rng, training = deepcopy(self._stream), deepcopy(self._training)
                training.posterior = None  # draws know nothing of what is learned now
            training.n_items += len(views)
            driver.epoch(problem, self._objective(), views, np.arange(len(views)), training, rng, Silent())
            training.n_iter += 1
            self._stream = rng
            return self._finish(problem, training, views)

    def _begin(self, problem: Problem, views: Views, rng: np.random.Generator) -> Training:
        parameters = initial_parameters(problem.energy, views, problem.reference, rng)
        project(problem.energy, parameters)
        return Training(parameters)

    def _continued(self, views: Views) -> Problem:
        """The problem of the last fit, to go on with: the data and the hidden layer must still be those of it."""
        energy, layer = self._problem.energy, self._layer()
        began = energy.hidden
        same = type(layer) is type(began) and layer.get_params() == began.get_params()
        # units may have been removed since
        if not same or (layer.n_units_ != began.n_units_ and not isinstance(began, SpikeSlab)):
            raise ValueError(
                f"Training can only go on with the {began.n_units_} hidden units it began with, {began}; got "
                f"{layer.n_units_}, {layer}; set them back, or fit with warm_start=False."
            )
        check_known(views, energy.families, self.feature_names_)
        check_supports(views, energy.families, layer)
        return self._problem

    def _finish(self, problem: Problem, training: Training, views: Views) -> Self:
        # going on with the same problem keeps the names it began with, a new fit does not
        known = self.feature_names_ if problem is getattr(self, "_problem", None) else {}
        self._problem = problem
        self._training = training
        self.families_ = problem.energy.families
        self.feature_names_ = {
            name: names_of_features(name, views.source(name).columns, family)
            for name, family in self.families_.items()
            if name in views.names
        } | known
        self.n_components_ = problem.energy.hidden.n_units_
        self.history_ = training.history
        self.n_iter_ = training.n_iter
        self.stopped_ = training.stopped
        return self

    def _driver(self) -> Driver:
        if self.driver is not None:
            return self.driver
        if isinstance(self.hidden, SpikeSlab):
            return Stochastic(batch_size=None, learning_rate=_RATE_OF_SELECTION)
        return Stochastic()

    def _layer(self) -> HiddenLayer:
        hidden = self.hidden if self.hidden is not None else BernoulliUnits()
        return hidden.bind(self.n_components)

    def _objective(self) -> Objective:
        return self.objective if self.objective is not None else SampledCD()

    # scikit-learn wraps only methods of the class itself for set_output
    def transform(self, X: Any, return_std: bool = False) -> Any:
        """Latent representation of each row: one product when nothing is missing, mean field over what is.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views the model was fitted on.
        return_std : bool, default=False
            Also give the standard deviation of each value over posterior draws of the weights, for models that have
            them (driver `Langevin`).

        Returns
        -------
        ndarray of float32, shape (rows, n_components_), or two of them with ``return_std``
        """
        return super().transform(X, return_std)

    # ---- files ---------------------------------------------------------------------------------------------------
    def save(self, path: str | os.PathLike[str]) -> None:
        """Save to one ``.safetensors`` file, or to a folder of safetensors + JSON (see `harmonium.load`)."""
        save_model(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Any:
        """Load a saved model; loading never runs code."""
        return load_model(path)

    def _state(self) -> Fitted:
        """What a file keeps of the fitted model, beside the constructor parameters."""
        check_is_fitted(self, "families_")
        facts = {
            "n_features_in_": getattr(self, "n_features_in_", None),
            "feature_names_in_": getattr(self, "feature_names_in_", None),
            "history_": self.history_,
            "n_iter_": self.n_iter_,
        }
        if isinstance(self._problem.energy.hidden, SpikeSlab):
            facts |= {
                "n_items": self._training.n_items,
                "n_settled": self._training.n_settled,
                "unit_usage_": getattr(self, "unit_usage_", None),  # only fit knows
                "truncation_reached_": getattr(self, "truncation_reached_", None),
            }
        energy, reference = self._problem.energy, self._problem.reference
        fitted = Fitted(energy.families, energy.hidden, self.parameters_, reference, self.feature_names_, facts)
        posterior = self._training.posterior
        fitted.extra = posterior_arrays(posterior)
        fitted.facts["target"] = None if posterior is None else posterior.target
        return fitted

    def _restore(self, fitted: Fitted) -> Self:
        """Inverse of `_state`; the optimiser's memory and the stream of random numbers start afresh."""
        history, n_iter = dict(fitted.facts["history_"]), int(fitted.facts["n_iter_"])
        self._problem = Problem(Energy(fitted.families, fitted.hidden), fitted.reference)
        self._training = Training(fitted.parameters, n_iter=n_iter, history=history)
        self._training.posterior = restored_posterior(fitted, self._generator())
        if isinstance(fitted.hidden, SpikeSlab):
            self._restore_selection(fitted)
        self._stream = self._generator()
        self.families_, self.feature_names_ = fitted.families, fitted.feature_names
        self.n_components_, self.history_, self.n_iter_ = fitted.hidden.n_units_, history, n_iter
        for name in ("n_features_in_", "feature_names_in_"):
            if fitted.facts[name] is not None:
                setattr(self, name, fitted.facts[name])
        return self

    def _restore_selection(self, fitted: Fitted) -> None:
        usage, reached = fitted.facts["unit_usage_"], fitted.facts["truncation_reached_"]
        self._training.n_items = int(fitted.facts["n_items"])
        self._training.n_settled = int(fitted.facts["n_settled"])
        if usage is not None:
            if np.shape(usage) != (fitted.hidden.n_units_,):
                raise ValueError(f"unit_usage_ must have {fitted.hidden.n_units_} numbers")
            self.unit_usage_, self.truncation_reached_ = np.asarray(usage, dtype=np.float32), bool(reached)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
