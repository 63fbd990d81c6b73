"""`Harmonium`: the unsupervised estimator, and what the supervised ones share with it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from harmonium.core.notices import each_notice_once, notice
from harmonium.core.parts import IsPart, Part, WithParts, as_part
from harmonium.core.progress_bar import reporting
from harmonium.core.targets import Kind, Labels
from harmonium.core.validation import (
    Choice,
    Flag,
    RandomState,
    Setting,
    Threads,
    Whole,
    check_fitted,
    check_settings,
    few_of,
)
from harmonium.estimators.assays import default_again, layer_of_assays
from harmonium.estimators.input.known import check_known, check_supports, feature_names, known_views
from harmonium.estimators.input.map_blocks import map_blocks
from harmonium.estimators.input.read_input import Input, ReadTarget, read_input
from harmonium.estimators.mixins.attributes import Attributes
from harmonium.estimators.mixins.density import Density, generator, is_seeded
from harmonium.estimators.mixins.encoding import Encoding, with_index
from harmonium.estimators.problem import check_same_families, labelled, prepare, with_some_view
from harmonium.heads import Head
from harmonium.hidden import BernoulliUnits, HiddenLayer
from harmonium.hidden.n_units import usual_size
from harmonium.kernels.runtime.threads import compute
from harmonium.objectives import Objective, SampledCD
from harmonium.objectives.guide import SeedsGiven
from harmonium.objectives.problem import Problem
from harmonium.persist import save_model, saveable
from harmonium.queries.latent import Output, shown, shown_draws, shown_names
from harmonium.tables.transformer import FamiliesOrTable
from harmonium.training import Driver, FittedModel
from harmonium.training.fit import fit, resume, start, update
from harmonium.training.growth.counting import counted
from harmonium.training.growth.opening import check_opens_topics
from harmonium.training.guiding import guided, named
from harmonium.training.plan import Plan, default_driver
from harmonium.training.result import DataDescription
from harmonium.training.topic_edits import TopicEdits
from harmonium.views import Views
from harmonium.views.data import Data
from harmonium.views.weights import ViewWeights, weights_given

# rows below which topics are those of single rows: a convention
_FEW_ROWS = 20


def trains_by_batches(estimator: Harmonium) -> bool:
    """Return whether there is a partial_fit; raise an AttributeError with the reason if there is none."""
    driver, layer = as_part(Driver, estimator.driver), as_part(HiddenLayer, estimator.hidden)
    if layer is None and hasattr(estimator, "fitted_"):
        layer = estimator.fitted_.energy.hidden
    if driver is None and isinstance(layer, HiddenLayer):
        driver = default_driver(layer, bool(estimator.kinds))
    head = as_part(Head, getattr(estimator, "head", None))
    # anything that is not a part is refused later
    reason = driver.no_batches() if isinstance(driver, Driver) else None
    if reason is None and isinstance(head, Head) and head.is_solved:
        reason = (
            "partial_fit needs a head with solver='joint'; got 'alternate', which solves for all rows at once; use fit "
            "instead."
        )
    if reason is not None:
        raise AttributeError(reason)
    return True


def driver_for(estimator: Harmonium, n_rows: int | None, layer: HiddenLayer | None = None) -> Driver:
    """Return the driver that an estimator is given, or the default for a number of rows.

    Parameters
    ----------
    estimator : Harmonium
        An estimator, fitted or not.
    n_rows : int or None
        Number of training rows; None stands for many.
    layer : HiddenLayer, optional
        The hidden layer that is trained. Default: that of the settings.

    Returns
    -------
    Driver
        What a fit to as many rows is trained by.

    Examples
    --------
    >>> driver_for(Harmonium(), 1000)
    Stochastic()
    """
    given = as_part(Driver, estimator.driver)
    if given is not None:
        return given
    return default_driver(layer or estimator._layer(), bool(estimator.kinds), n_rows)


@saveable
class Harmonium(
    Encoding,
    Density,
    Attributes,
    TransformerMixin,
    WithParts,
):
    """Latent-variable model of one or several views, put together from parts.

    Each row of the views is an item. The model is undirected: given its hidden units (topics) the views of an item are
    independent, and given the views the units are, so that inference takes one matrix product.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of hidden units (topics). "auto" is one more than the directions of the data that stand out of chance, at
        least 2 and at most 0.4 times the root of the number of rows or 50; 50 for layers that remove units. A hidden
        layer that states its own number overrides it.
    views : "infer", TableViews, Family, str, mapping or list, default="infer"
        Family of each view: "infer" looks at the data; a family, or the name of one such as "poisson", is used for all
        views; a mapping has a family, "infer" or, if X is one matrix, `Columns`, a slice or a list of columns for each
        name; a list has them in the order of the views. A data frame with columns other than numbers is read as a
        table, each column by its role; a `TableViews` sets the roles. ``views_`` shows what was decided.
    view_weights : "auto", dict of str to float, list of float or None, default="auto"
        How much each view weighs while the model is trained: the heaviest takes whole steps, the others steps as many
        times as small, so that topics follow it more or less than the others. Only ratios count.
        None and, where nothing is predicted, "auto" let all views weigh the same. With `Spectral` views that weigh the
        same count the same, whatever their number of features.
    seeds : dict of str to list, optional
        What some topics should be about: features, such as words, or numbers of training items, by the name of the
        topic, as in ``{"noise": ["noise", "thin walls"]}``. They are a prior of the weights of the first topics, which
        have these names, and no filter. Seeds that the data do not support are left out, with a notice. A minus
        keeps a feature out: ``{"noise": ["noise", "-pool"], "pool": ["pool", "-noise"]}`` are two topics, of which
        neither raises the other's word. Topics with seeds are never merged with each other.
    hidden : HiddenLayer or str, optional
        What a topic is; "gaussian" and the like stand for a layer with default settings, and so for the other parts.
        Default: `FactorUnits` for AnnData and MuData with continuous assays and without counts, if no objective,
        driver or seeds are given; `BernoulliUnits` for everything else, and for `partial_fit`.
    objective : Objective or str, optional
        Where gradients come from. Default: `SampledCD`.
    driver : Driver or str, optional
        How parameters move. Default: `Stochastic`; for layers that select units with a step of 0.01 and batches of a
        twentieth of the rows, between 10 and 100; for `FactorUnits` `Spectral`, which takes no steps.
    output : {"mean", "natural", "coordinates", "directions"}, default="mean"
        What `transform` returns: E[h | x]; its natural parameter; Wᵀx alone, which is best for retrieval by cosine; or
        rows of length 1 whose distances are those between expected views, which is best for clusters.
    warm_start : bool, default=False
        Whether `fit` continues from the parameters of the last fit.
    random_state : int, RandomState instance or None, default=None
        Source of random numbers. The same int gives the same result, on one thread or many.
    n_jobs : int, optional
        Number of threads; -1 takes all processors. Default: as many as BLAS may use.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    families_ : dict of str to Family
        Family of each view.
    views_ : DataFrame
        What each view is or, for a model of a table, what each column is.
    n_components_ : int
        Number of hidden units. For layers that select units (`IBP`, `SpikeSlab`, `FactorUnits`), of those that were
        kept.
    components_ : ndarray of shape (n_components_, n_features)
        Weights, all views side by side.
    history_ : dict of str to list of float
        Record of every epoch.
    n_iter_ : int
        Number of epochs done.
    fitted_ : FittedModel
        All that was learned, which the other attributes are read from: ``parameters``, ``energy``, ``feature_names``,
        ``input_names``, ``view_weights``, ``posterior``; ``training.stopped`` says why training ended. Layers that
        select units have their ``usage``, and ``truncation_reached`` if more of them might be needed.
    n_features_in_ : int
        Number of columns of X, summed over views.
    feature_names_in_ : ndarray of str
        Names of the columns, if X was one data frame whose columns have names.

    See Also
    --------
    HarmoniumClassifier : The same with classes or labels to predict.
    HarmoniumRegressor : The same with numbers to predict.
    harmonium.recipes : The models of the papers by name.

    Notes
    -----
    Ctrl-C ends `fit` with the best model so far, which predicts, transforms and saves as any other;
    ``fitted_.training.log.stopped`` is "interrupted", and with ``warm_start=True`` the next `fit` goes on from there.
    All drivers have a ``checkpoint``, from which a fit that was killed goes on to the same result.

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

    #: kinds of targets that the estimator predicts
    kinds: ClassVar[tuple[Kind, ...]] = ()
    fitted_: FittedModel
    #: name of the recipe that made the estimator, which it prints under; copies and files do not keep it
    _recipe: str | None = None
    #: names of columns of X that were left out by name; files do not keep them
    _left_out: tuple[str, ...] = ()

    settings: ClassVar[Mapping[str, Setting]] = {
        "n_components": Whole(remedy="'auto' goes by the data", also=("auto",)),
        "views": FamiliesOrTable(),
        "view_weights": ViewWeights(),
        "seeds": SeedsGiven(),
        "hidden": IsPart(HiddenLayer, "BernoulliUnits()"),
        "objective": IsPart(Objective, "SampledCD()"),
        "driver": IsPart(Driver, "Stochastic()"),
        "output": Choice(("mean", "natural", "coordinates", "directions"), remedy="'mean' is usual"),
        "warm_start": Flag(),
        "random_state": RandomState(),
        "n_jobs": Threads(),
        "verbose": Whole(lower=0, remedy="1 shows a progress bar", also=(True, False)),
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] = "auto",
        *,
        views: Any = "infer",
        view_weights: Any = "auto",
        seeds: Any = None,
        hidden: HiddenLayer | str | None = None,
        objective: Objective | str | None = None,
        driver: Driver | str | None = None,
        output: Output = "mean",
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.views = views
        self.view_weights = view_weights
        self.seeds = seeds
        self.hidden = hidden
        self.objective = objective
        self.driver = driver
        self.output = output
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # ---- fitting -------------------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the parameters from all rows.

        An interrupt (Ctrl-C) keeps the best model so far, gives a warning, and goes on to the caller as a
        `KeyboardInterrupt`, so that searches and scripts stop too. Before the first epoch is complete there is nothing
        to keep, and the estimator stays as it was; a second interrupt does not wait for the model.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Views of the same items. NaN cells and all-NaN rows are missing and are inferred while learning; rows that
            lack every view are left out, with a notice. Rows go by their labels where views have some (see `Views`).
        y : None, or name of columns of X
            Columns that are named are left out; everything else is not used, and present as scikit-learn passes it.

        Returns
        -------
        Harmonium
            The fitted estimator.
        """
        return self._fit(X, y)

    @available_if(trains_by_batches)
    def partial_fit(self, X: Any, y: Any = None, *, new_topics: int | None = None) -> Self:
        """Learn from some more rows in one pass.

        The first call also chooses the families and starts the parameters. The step stays at the driver's
        ``learning_rate``: ``max_iter``, ``schedule`` and early stopping need an end, which only `fit` knows.
        ``history_`` is not continued.

        Topics that can be read (`TopicModel`) and layers that infer their units (`iEFH`, binary) open new topics when
        the content changes; those that are there keep their numbers, and a notice tells of new ones. See Notes.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Views of the same items, as for `fit`.
        y : None, or name of columns of X
            Columns that are named are left out; everything else is not used, and present as scikit-learn passes it.
        new_topics : int, optional
            How many topics may be opened at most. Default: any number where topics can be opened, for layers that infer
            their units up to the ``truncation``; 0 for other models, and while topics are split by hand.

        Returns
        -------
        Harmonium
            The estimator, as far as it has learned.

        Notes
        -----
        Half of the rows propose topics: groups of items of which the model leaves the same unexplained. The other half
        decides. It has to lack what the group has more than the rows before did, which a batch without news does with
        a probability of at most 1 %, and with the topic its features must be easier to predict from each other. So a
        topic needs some tens of items in a batch to be found. Words that the first rows lack have no column, unless
        the vocabulary is given or hashed.
        """
        Whole(lower=0, remedy="None opens as many as the rows ask for", also=(None,)).check(
            "partial_fit", "new_topics", new_topics
        )
        return self._partial_fit(X, y, new_topics=new_topics)

    def _fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        check_settings(self, self.settings)
        before = self._before() if self.warm_start else None
        with compute(self.n_jobs):
            given = read_input(self, X, y, sample_weight, model=before, read_target=self._target_reader())
            default = layer_of_assays(self, given.views) if given.is_annotated and before is None else None
            layer = self._layer(len(given.views), before, default)
            problem, data = self._problem(given.views, given.labels, layer, before)
            if self.n_components == "auto" and before is None:
                problem = counted(problem, data, len(self.seeds or ()))
            problem = self._guided(problem, data, before)
            if given.labels is None and before is None and len(data) < _FEW_ROWS:
                notice(
                    f"Only {len(data)} row{'' if len(data) == 1 else 's'} to learn from, too few for topics that other "
                    "rows have too; do not believe them; 100 rows and more make topics to read."
                )
            about = self._description(problem, data.views, given.labels, before)
            plan = self._plan(len(data), layer)
            if self.driver is None and given.is_lazy:
                plan = plan.where_rows_are(layer)
            plan.check_model(problem.predicting)
            rng, seeded = generator(self.random_state), is_seeded(self.random_state)
            with reporting(self.verbose) as reporter:
                plan = replace(plan, reporter=reporter)
                if before is None:
                    model = fit(problem, data, plan, rng, about, seeded)
                else:
                    model = self._continued(resume(before, layer, data, plan, rng, about, seeded), given.labels)
            self._keep(model, given, before)
        try:
            for remark in model.remarks:
                notice(remark)
        finally:
            if model.training.interrupted:
                # the caller is to stop too: the next fold of a search must not begin, even if warnings are errors
                raise KeyboardInterrupt
        return self

    def _partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, new_topics: int | None = None) -> Self:
        check_settings(self, self.settings)
        before = self._before()
        with compute(self.n_jobs):
            given = read_input(self, X, y, sample_weight, model=before, read_target=self._target_reader())
            model = self._updated(given, before, new_topics)
            self._keep(model, given, before)
        if before is not None and model.n_opened > before.n_opened:
            notice(
                f"The content changed, and {model.n_opened - before.n_opened} new topics were opened, from number "
                f"{before.n_topics} on; transform has {model.n_topics} columns now; new_topics=0 keeps their number."
            )
        return self

    def _updated(self, given: Input, before: FittedModel | None, new_topics: int | None = None) -> FittedModel:
        """Return the model after a pass over some more rows."""
        layer = self._layer(len(given.views), before)
        problem, data = self._problem(given.views, given.labels, layer, before)
        problem = self._guided(problem, data, before)
        plan = self._plan(layer=layer)
        plan.check_model(problem)
        if new_topics:
            check_opens_topics(problem, TopicEdits() if before is None else before.edits)
        # a copy: a pass that diverges must leave the model as it was
        rng = deepcopy(before.training.stream) if before is not None else None
        rng = generator(self.random_state) if rng is None else rng
        about = self._description(problem, data.views, given.labels, before)
        model = update(before or start(problem, data, rng, about), data, plan, rng, about, new_topics)
        return model if before is None else self._continued(model, given.labels)

    def _target_reader(self) -> ReadTarget | None:
        """Return what reads y; None if nothing is predicted."""
        return None

    def _before(self) -> FittedModel | None:
        """Return the model that training goes on from, if there is one."""
        return getattr(self, "fitted_", None)

    def _continued(self, model: FittedModel, labels: Labels | None) -> FittedModel:
        """Return a model that was trained further, which may know more of the labels now."""
        return model

    def _problem(
        self, views: Views, labels: Labels | None, layer: HiddenLayer, before: FittedModel | None
    ) -> tuple[Problem, Data]:
        """Return a new problem for the data, or that of the last fit if data and parts still fit it."""
        views, labels = with_some_view(views, labels)
        head = None if labels is None else self._bound_head(labels, before)
        data, added = labelled(views, head, labels)
        if before is None:
            layer = layer if head is None else layer.bind(layer.groups.topics.n_units_, head.n_outputs_)
            weights = weights_given(self.view_weights, views.names)
            return replace(prepare(data.views, self.views, layer, added, head), view_weights=weights), data
        began = before.energy.hidden
        if not layer.goes_on_from(began):
            raise ValueError(
                f"Training can only go on with the {began.n_units_} hidden units it began with, {began}; got "
                f"{layer.n_units_}, {layer}; set them back, or fit with warm_start=False."
            )
        check_same_families(self.views, before)
        if self.view_weights is not None and not isinstance(self.view_weights, str):
            asked, began_with = weights_given(self.view_weights, before.input_names), before.problem.view_weights
            if asked != {name: float(began_with.get(name, 1.0)) for name in asked}:
                raise ValueError(
                    f"Training can only go on with the view_weights it began with; got {self.view_weights}; set them "
                    "back, or fit with warm_start=False."
                )
        check_known(data.views, before.families, before.feature_names)
        check_supports(data.views, before.families, layer)
        return before.problem, data

    def _guided(self, problem: Problem, data: Data, before: FittedModel | None) -> Problem:
        """Return a new problem with the guide that seeds make; a notice tells of seeds without support."""
        if not self.seeds or before is not None:
            return problem
        families = {name: family for name, family in problem.energy.families.items() if name in data.views.names}
        problem, unsupported = guided(problem, data, self.seeds, feature_names(data.views, families))
        if unsupported:
            notice(
                f"The data do not support the seeds of {few_of(unsupported)}: too few items have them, "
                "or these have nothing else in common; no topic is made of them."
            )
        return problem

    def _description(
        self, problem: Problem, views: Views, labels: Labels | None, before: FittedModel | None
    ) -> DataDescription:
        """Return what a model remembers of the data; what training began with stays."""
        names = feature_names(views, problem.energy.families)
        if before is not None:
            known = (before.meaning, before.missing, before.table, before.edits)
            return DataDescription(names | before.feature_names, *known)
        meaning = None if labels is None else labels.meaning
        if meaning is not None and problem.head is not None:
            added = problem.head.added_views
            names |= {name: view.feature_names(name, meaning) for name, view in added.items()}
        missing = {name: views.source(name).missing_share for name in views.names}
        return DataDescription(names, meaning, missing, views.table, named(problem.guide))

    def _keep(self, model: FittedModel, given: Input, before: FittedModel | None) -> None:
        """Keep a model, and what the next call must know of its input: nothing is written before this."""
        # frames may go on having the columns that the user left out by name
        left_out = given.target_columns if given.labels is None else ()
        if before is None:
            self.n_features_in_ = given.n_features
            for name in ("feature_names_in_", "_left_out"):
                self.__dict__.pop(name, None)
            if given.feature_names is not None:
                self.feature_names_in_ = given.feature_names
        if left_out:
            self._left_out = tuple(dict.fromkeys((*self._left_out, *left_out)))
        self.fitted_ = model

    # ---- parts ---------------------------------------------------------------------------------------------------
    def _plan(self, n_rows: int | None = None, layer: HiddenLayer | None = None) -> Plan:
        """Return how to fit a number of rows, and a layer: the objective and the driver, or their defaults."""
        merges = self.n_components == "auto"
        return Plan(self._part("objective"), driver_for(self, n_rows, layer), merges_topics=merges)

    def _layer(
        self, n_rows: int | None = None, before: FittedModel | None = None, default: HiddenLayer | None = None
    ) -> HiddenLayer:
        """Return the hidden layer for a number of rows, or for training that goes on; ``default`` if none is named."""
        default = default if before is None else default_again(self, before)
        layer: HiddenLayer = self._part("hidden") if default is None else default
        if self.n_components != "auto":
            bound: HiddenLayer = layer.bind(self.n_components)
            n_opened = 0 if before is None or bound.selection.selects else before.n_opened
            return bound.restore(bound.n_units_ + n_opened) if n_opened else bound
        return layer.bind(usual_size(layer, n_rows) if before is None else before.n_topics)

    def _part(self, name: str) -> Any:
        """Return the part that is given, by itself or by name, or the default."""
        setting = self.settings[name]
        assert isinstance(setting, IsPart)
        given = as_part(setting.kind, getattr(self, name))
        return self._default_part(name) if given is None else given

    def _default_part(self, name: str) -> Part:
        if name == "driver":
            return driver_for(self, None)
        return BernoulliUnits() if name == "hidden" else SampledCD()

    def _bound_head(self, labels: Labels, before: FittedModel | None) -> Head:
        """Return the head that predicts such labels."""
        raise NotImplementedError

    # ---- using ---------------------------------------------------------------------------------------------------
    # scikit-learn wraps only methods of the class itself for set_output
    def fit_transform(self, X: Any, y: Any = None, **fit_parameters: Any) -> Any:
        """Learn from items and return their latent coordinates.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            The items, as `fit` takes them.
        y : array-like, optional
            What `fit` takes.
        **fit_parameters : object
            What else `fit` takes.

        Returns
        -------
        array or data frame
            What `transform` returns.

        Examples
        --------
        >>> Harmonium(2, random_state=0).fit_transform(np.eye(4)).shape
        (4, 2)
        """
        with each_notice_once():
            return super().fit_transform(X, y, **fit_parameters)

    def transform(self, X: Any, return_std: bool = False) -> Any:
        """Return the latent representation of each row.

        It takes one product if nothing is missing; what is missing is summed out where that is small, and else
        inferred by mean field. Rows that lack every view get what the model expects of any row, with a notice.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on.
        return_std : bool, default=False
            Whether to return the standard deviation of each value over posterior draws of the weights, too, for models
            that have them (driver `Langevin`).

        Returns
        -------
        latent : ndarray of shape (n_rows, n_components_)
            Means, natural parameters or coordinates, as ``output`` says, in float32.
        std : ndarray of shape (n_rows, n_components_)
            Standard deviations; only with ``return_std``.
        """
        check_fitted(self)
        if return_std and self.fitted_.posterior is None:
            raise ValueError(
                "return_std needs a model with draws of its weights; this one has a single set of them; fit with "
                "driver=Langevin(), or use the recipes BEFH and BDWH."
            )
        lazy = None if return_std else map_blocks(self, "transform", X)
        if lazy is not None:
            return lazy
        views = known_views(self, X)
        with compute(self.n_jobs):
            if return_std:
                latent, deviation = shown_draws(self.fitted_, views, self.output)
                return with_index(self, latent, views.index), deviation
            return with_index(self, shown(self.fitted_, views, self.output), views.index)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : None
            Not used, present as scikit-learn passes it.

        Returns
        -------
        ndarray of str
            Topics and dimensions, each counted from 0: "topic_0", "dimension_0"; topics that have names go by them.
        """
        check_fitted(self)
        return np.array(shown_names(self.fitted_, self.output), dtype=object)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super().__repr__(N_CHAR_MAX)
        return text if self._recipe is None else text.replace(type(self).__name__, self._recipe, 1)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted model to a file or a folder of safetensors and JSON.

        Parameters
        ----------
        path : str or path
            One file if it ends in ``.safetensors``, a folder if it has no ending; `harmonium.load` reads both. What was
            there is replaced in one step, once everything is written.
        """
        save_model(self, path)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
