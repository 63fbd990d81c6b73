"""`Harmonium`: the scikit-learn face of the unsupervised models, and what the supervised ones share with it."""

from __future__ import annotations

import os
from copy import deepcopy
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from harmonium.estimators.density import Density, generator
from harmonium.estimators.draws import PosteriorDraws
from harmonium.estimators.encoding import Encoding
from harmonium.estimators.inspection import Inspection
from harmonium.estimators.preparation import (
    check_known,
    check_supports,
    feature_names,
    known_views,
    labelled,
    prepare,
    read,
    unchanged_if_refused,
)
from harmonium.families import Family
from harmonium.heads import Head
from harmonium.hidden import BernoulliUnits, HiddenLayer
from harmonium.kernels.threads import compute
from harmonium.notices import notice
from harmonium.objectives import Objective, Problem, SampledCD
from harmonium.persist import load_model, save_model, saveable
from harmonium.queries.latent import Output, encode, encode_draws
from harmonium.targets import Kind, Labels
from harmonium.training import Driver, FittedModel, Plan
from harmonium.training.defaults import default_driver
from harmonium.training.fitting import begin, fit, go_on, update
from harmonium.training.progress import reporting
from harmonium.views import Data, Views


def trains_by_batches(estimator: Harmonium) -> bool:
    """Whether there is a partial_fit; raises an AttributeError with the reason if there is none."""
    for part in (estimator.driver, getattr(estimator, "head", None)):
        # what is no part is refused later
        reason = part.no_batches() if isinstance(part, Driver | Head) else None
        if reason is not None:
            raise AttributeError(reason)
    return True


@saveable
class Harmonium(
    Encoding,
    Density,
    Inspection,
    PosteriorDraws,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
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

    #: kinds of targets that it predicts
    kinds: ClassVar[tuple[Kind, ...]] = ()
    fitted_: FittedModel

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
        output: Output = "mean",
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

        Returns
        -------
        Self
            The fitted estimator.
        """
        return self._fit(X)

    @available_if(trains_by_batches)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from some more rows in one pass; the first call also chooses the families and starts the parameters.

        The step stays at the driver's ``learning_rate``; ``max_iter``, ``schedule`` and early stopping are for `fit`,
        which knows when it will end, and so is the record in ``history_``.

        Parameters
        ----------
        X : dict, list, Views, …
            Views of the same items, as for `fit`.
        y : ignored
            There for scikit-learn.

        Returns
        -------
        Self
            The estimator, as far as it has learned.
        """
        return self._partial_fit(X)

    def _fit(self, X: Any, labels: Labels | None = None) -> Self:
        plan, layer = self._plan(), self._layer()
        before = self.fitted_ if self.warm_start and hasattr(self, "fitted_") else None
        with unchanged_if_refused(self), compute(self.n_jobs):
            views = read(self, X, reset=before is None)
            problem, data = self._problem(views, labels, layer, before)
            plan.check_model(problem)
            rng = generator(self.random_state)
            rows = plan.planned_rows(problem, len(data)) if before is None else plan.driver.planned_rows(len(data))
            with reporting(self.verbose, rows) as reporter:
                if before is None:
                    model = fit(problem, data, plan, rng, reporter)
                else:
                    model = go_on(before, layer, data, plan, rng, reporter)
            self._keep(model, data.views, labels, before)
        for remark in self.fitted_.remarks:
            notice(remark)
        return self

    def _partial_fit(self, X: Any, labels: Labels | None = None) -> Self:
        plan, layer = self._plan(), self._layer()
        before = getattr(self, "fitted_", None)
        with unchanged_if_refused(self), compute(self.n_jobs):
            views = read(self, X, reset=before is None)
            problem, data = self._problem(views, labels, layer, before)
            plan.check_model(problem)
            # a copy: a pass that diverges must leave the model as it was
            rng = deepcopy(before.training.stream) if before is not None else None
            rng = generator(self.random_state) if rng is None else rng
            self._keep(update(before or begin(problem, data, rng), data, plan, rng), data.views, labels, before)
        return self

    def _problem(
        self, views: Views, labels: Labels | None, layer: HiddenLayer, before: FittedModel | None
    ) -> tuple[Problem, Data]:
        """A new problem for the data, or that of the last fit, whose data and parts must still be those of it."""
        head = None if labels is None else self._bound_head(labels, before)
        data, added = labelled(views, head, labels)
        if before is None:
            return replace(prepare(data.views, self.views, layer, added), head=head), data
        began = before.energy.hidden
        if not layer.goes_on_from(began):
            raise ValueError(
                f"Training can only go on with the {began.n_units_} hidden units it began with, {began}; got "
                f"{layer.n_units_}, {layer}; set them back, or fit with warm_start=False."
            )
        check_known(data.views, before.families, before.feature_names)
        check_supports(data.views, before.families, layer)
        return before.problem, data

    def _keep(self, model: FittedModel, views: Views, labels: Labels | None, before: FittedModel | None) -> None:
        names = feature_names(views, model.families)
        if before is not None:  # what training began with stays
            names |= before.feature_names
        elif labels is not None:
            model = replace(model, meaning=labels.meaning)
        self.fitted_ = replace(model, feature_names=names)

    # ---- parts ---------------------------------------------------------------------------------------------------
    def _plan(self) -> Plan:
        """How to fit, with settings that make sense."""
        objective = self.objective if self.objective is not None else SampledCD()
        driver = self.driver if self.driver is not None else default_driver(self._layer(), bool(self.kinds))
        objective.check()
        driver.check()
        return Plan(objective, driver)

    def _layer(self) -> HiddenLayer:
        hidden = self.hidden if self.hidden is not None else BernoulliUnits()
        return hidden.bind(self.n_components)

    def _bound_head(self, labels: Labels, before: FittedModel | None) -> Head:
        """The head that predicts such labels."""
        raise NotImplementedError

    # ---- using ---------------------------------------------------------------------------------------------------
    # scikit-learn wraps only methods of the class itself for set_output
    def transform(self, X: Any, return_std: bool = False) -> Any:
        """Return the latent representation of each row: one product when nothing is missing, mean field over what is.

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
            As ``output`` says.
        """
        check_is_fitted(self)
        if return_std and self.fitted_.posterior is None:
            raise ValueError(
                "return_std needs a model with draws of its weights; this one has a single set of them; fit with "
                "driver=Langevin(), or use the recipes BEFH and BDWH."
            )
        views = known_views(self, X)
        with compute(self.n_jobs):
            return (encode_draws if return_std else encode)(self.fitted_, views, self.output)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save to one ``.safetensors`` file, or to a folder of safetensors + JSON.

        Parameters
        ----------
        path : str or path
            One file if it ends in ``.safetensors``, else a folder; `harmonium.load` reads both.
        """
        save_model(self, path)

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
            Fitted, and of the class that was saved.
        """
        return load_model(path)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
