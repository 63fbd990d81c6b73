"""`Harmonium`: the scikit-learn face of the unsupervised models."""

from __future__ import annotations

import os
from collections.abc import Iterator
from copy import deepcopy
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from harmonium.batch import Batch
from harmonium.energy import Energy
from harmonium.estimators.preparation import (
    check_known,
    check_supports,
    names_of_features,
    prepare,
    read,
    unchanged_if_refused,
)
from harmonium.families import Family
from harmonium.hidden import BernoulliUnits, HiddenLayer
from harmonium.inference.ais import LogPartition, annealed_log_partition
from harmonium.inference.exact import exact_log_partition
from harmonium.inference.gibbs import clamp, gibbs_step
from harmonium.inference.mean_field import fill_missing, mean_views
from harmonium.inference.pseudo import pseudo_log_likelihood
from harmonium.kernels.threads import compute
from harmonium.objectives import Objective, Problem, SampledCD
from harmonium.params import HIDDEN_BIAS, copy_parameters, weights_of
from harmonium.persist import Fitted, load_model, save_model, saveable
from harmonium.training import Driver, Stochastic, Training
from harmonium.training.initialise import initial_parameters
from harmonium.training.progress import Silent, reporting
from harmonium.training.projection import project
from harmonium.validation import check_whole
from harmonium.views import Views

_BLOCK_CELLS = 4_000_000


def _trains_by_batches(estimator: Harmonium) -> bool:
    """Whether there is a partial_fit: other drivers have no use for some rows (what is no driver is refused later)."""
    driver = estimator.driver
    if isinstance(driver, Driver) and not isinstance(driver, Stochastic):
        raise AttributeError(
            f"partial_fit needs the Stochastic() driver; got {type(driver).__name__}; use fit instead."
        )
    return True


@saveable
class Harmonium(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
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
        Number of hidden units.
    components_ : ndarray of shape (n_components_, total number of features)
        Weights, views side by side.
    history_ : dict of lists
        Record of every epoch.
    n_iter_ : int
        Epochs done.

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

    _problem: Problem
    _training: Training
    _stream: np.random.Generator
    families_: dict[str, Family]
    feature_names_: dict[str, list[str]]
    history_: dict[str, list[float]]
    n_iter_: int
    n_components_: int

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
        X : dict, list, Views, matrix, data frame, AnnData or MuData
            Views of the same items. NaN cells and all-NaN rows are missing and inferred while learning.
        y : ignored
            There for scikit-learn.
        """
        goes_on = self.warm_start and hasattr(self, "_training")
        driver = self.driver if self.driver is not None else Stochastic()
        driver.check()
        with unchanged_if_refused(self), compute(self.n_jobs):
            views = read(self, X, reset=not goes_on)
            problem = self._continued(views) if goes_on else prepare(views, self.views, self._layer())
            rng = self._generator()
            if goes_on:
                training = Training(copy_parameters(self._training.parameters), history=deepcopy(self.history_))
            else:
                training = self._begin(problem, views, rng)
            with reporting(self.verbose, driver.planned_rows(len(views))) as reporter:
                driver.run(problem, self._objective(), views, training, rng, reporter)
            self._stream = rng
            return self._finish(problem, training, views)

    @available_if(_trains_by_batches)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """One pass over some more rows; the first call also chooses the families and starts the parameters."""
        first = not hasattr(self, "_training")
        driver = self.driver if self.driver is not None else Stochastic()
        assert isinstance(driver, Stochastic)
        driver.check()
        with unchanged_if_refused(self), compute(self.n_jobs):
            views = read(self, X, reset=first)
            if first:
                problem = prepare(views, self.views, self._layer())
                rng = self._generator()
                training = self._begin(problem, views, rng)
            else:
                problem = self._continued(views)
                # copies: training goes on in place, and a pass that diverges must leave the model as it was
                rng, training = deepcopy(self._stream), deepcopy(self._training)
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
        if not same or layer.n_units_ != began.n_units_:
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
        return self

    def _layer(self) -> HiddenLayer:
        hidden = self.hidden if self.hidden is not None else BernoulliUnits()
        return hidden.bind(self.n_components)

    def _objective(self) -> Objective:
        return self.objective if self.objective is not None else SampledCD()

    def _generator(self) -> np.random.Generator:
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        return np.random.default_rng(seed)

    # ---- what was learned ----------------------------------------------------------------------------------------
    @property
    def energy_(self) -> Energy:
        """Structure of the fitted model."""
        check_is_fitted(self, "families_")
        return self._problem.energy

    @property
    def parameters_(self) -> dict[str, np.ndarray]:
        """Parameter arrays by name."""
        check_is_fitted(self, "families_")
        return self._training.parameters

    @property
    def components_(self) -> np.ndarray:
        """Weights, (units, features), views side by side."""
        return np.concatenate([self.parameters_[weights_of(name)] for name in self.families_]).T

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def loadings(self, view: str | None = None) -> pd.DataFrame:
        """Weights of one view, features by topics."""
        name = self._view(view)
        return pd.DataFrame(
            self.parameters_[weights_of(name)],
            index=pd.Index(self.feature_names_[name], name=name),
            columns=pd.RangeIndex(self.n_components_, name="topic"),
        )

    def topics(self, view: str | None = None, n: int = 10) -> pd.DataFrame:
        """Names of the features that load most on each topic, one row per topic, strongest first.

        Parameters
        ----------
        view : str, optional
            Which view; may be left out if there is only one.
        n : int, default=10
            How many features.
        """
        loadings = self.loadings(view)
        names = np.asarray(loadings.index)
        order = np.argsort(-loadings.to_numpy(), axis=0, kind="stable")[:n].T
        return pd.DataFrame(
            names[order], index=loadings.columns, columns=pd.RangeIndex(1, order.shape[1] + 1, name="rank")
        )

    def _view(self, view: str | None) -> str:
        check_is_fitted(self, "families_")
        if view is None and len(self.families_) == 1:
            return next(iter(self.families_))
        if view not in self.families_:
            known = ", ".join(map(repr, self.families_))
            raise ValueError(f"view must be one of {known}; got {view!r}; correct the name.")
        return view

    # ---- inference -----------------------------------------------------------------------------------------------
    def transform(self, X: Any) -> np.ndarray:
        """Latent representation of each row: one product when nothing is missing, mean field over what is.

        Returns
        -------
        ndarray of float32, shape (rows, n_components_)
        """
        check_is_fitted(self, "families_")
        views = self._known(X)
        with compute(self.n_jobs):
            return self._encode(views, self.output)

    def _known(self, X: Any) -> Views:
        views = check_known(read(self, X, reset=False), self.families_, self.feature_names_)
        check_supports(views, self.families_, self.energy_.hidden)
        return views

    def _encode(self, views: Views, output: str, n_iterations: int = 10) -> np.ndarray:
        result = np.empty((len(views), self.n_components_), dtype=np.float32)
        for items, batch in self._batches(views, n_iterations):
            for view in batch.views.values():
                if isinstance(view.statistic, np.ndarray):
                    # vectorised code rounds a row differently at another place of the block; in double precision,
                    # narrowed at the end, that does not show
                    view.statistic = view.statistic.astype(np.float64)
            natural = self.energy_.hidden_natural(self.parameters_, batch, with_bias=output != "coordinates")
            result[items] = self.energy_.hidden.mean(natural.astype(np.float64)) if output == "mean" else natural
        return result

    def _batches(self, views: Views, n_iterations: int = 10) -> Iterator[tuple[slice, Batch]]:
        """Blocks of rows with what is missing filled in; sparse rows count by what is stored."""
        cells = sum(
            # what is missing is inferred densely
            64 if views.is_sparse_throughout(name, family) else family.n_features_
            for name, family in self.families_.items()
        )
        step = max(1, _BLOCK_CELLS // max(cells, self.n_components_))
        for first in range(0, len(views), step):
            items = slice(first, min(first + step, len(views)))
            batch = views.batch(items, self.families_)
            yield items, fill_missing(self.energy_, self.parameters_, batch, self._problem.reference, n_iterations)

    def inverse_transform(self, X: Any) -> Any:
        """Expected views given latent representations (as `transform` gives them), in the units of the data.

        Returns
        -------
        ndarray, or dict of ndarrays if there are several views
        """
        check_is_fitted(self, "families_")
        latent = check_array(X, dtype=np.float32)
        if latent.shape[1] != self.n_components_:
            raise ValueError(
                f"X must have {self.n_components_} columns, one per topic; got {latent.shape[1]}; "
                "pass what transform gave."
            )
        if self.output == "coordinates":
            latent = latent + self.parameters_[HIDDEN_BIAS]
        hidden_mean = latent if self.output == "mean" else self.energy_.hidden.mean(latent)
        with compute(self.n_jobs):
            return self._expected_views(hidden_mean)

    def reconstruct(self, X: Any) -> Any:
        """Expected views given the hidden means that X has: what the model makes of each row."""
        check_is_fitted(self, "families_")
        views = self._known(X)
        with compute(self.n_jobs):
            sizes = self._totals(views)
            return self._expected_views(self._encode(views, "mean"), sizes)

    def _totals(self, views: Views) -> dict[str, np.ndarray]:
        """Totals of rows of the views that have them."""
        totals: dict[str, list[np.ndarray]] = {}
        for items in np.array_split(np.arange(len(views)), max(1, len(views) // 1000)):
            for name, view in views.batch(items, self.families_).views.items():
                if view.size is not None:
                    totals.setdefault(name, []).append(view.size)
        return {name: np.concatenate(parts) for name, parts in totals.items()}

    def _expected_views(self, hidden_mean: np.ndarray, sizes: dict[str, np.ndarray] | None = None) -> Any:
        if sizes is None:
            typical = {name: family.typical_sizes(len(hidden_mean)) for name, family in self.families_.items()}
            sizes = {name: size for name, size in typical.items() if size is not None}
        means, _ = mean_views(self.energy_, self.parameters_, hidden_mean, sizes)
        decoded = {
            name: np.ascontiguousarray(self.families_[name].decode(np.asarray(view.statistic)), dtype=np.float32)
            for name, view in means.views.items()
        }
        return next(iter(decoded.values())) if len(decoded) == 1 else decoded

    def predict_view(self, name: str, X: Any, n_iterations: int = 10) -> np.ndarray:
        """Expected values of one view given the others: annotation, or filling in a missing view.

        Parameters
        ----------
        name : str
            The view to predict; if X has it, it is not looked at.
        X : dict, Views, …
            Other views of the items.
        n_iterations : int, default=10
            Mean-field steps.

        Returns
        -------
        ndarray of shape (rows, features)
            Probabilities for binary and categorical views, expected values in the units of the data for others.
        """
        view = self._view(name)
        check_whole("predict_view", "n_iterations", n_iterations, remedy="10 is usual")
        views = read(self, X, reset=False)
        if view in views.names:
            if len(views.names) == 1:
                raise ValueError(
                    f"predict_view({view!r}) needs another view to predict it from; X has only this one; add another."
                )
            views = views.without(view)
        check_known(views, self.families_, self.feature_names_)
        check_supports(views, self.families_, self.energy_.hidden)
        family = self.families_[view]
        parts = []
        with compute(self.n_jobs):
            for _, batch in self._batches(views, n_iterations):
                hidden_mean = self.energy_.hidden.mean(self.energy_.hidden_natural(self.parameters_, batch))
                natural = clamp(self.energy_.view_natural(self.parameters_, view, hidden_mean), family)
                mean = family.mean(natural, self.energy_.own(self.parameters_, view), batch.views[view].size)
                parts.append(np.ascontiguousarray(family.decode(mean)))
        return np.concatenate(parts).astype(np.float32, copy=False)

    # ---- probabilities -------------------------------------------------------------------------------------------
    def score_samples(self, X: Any) -> np.ndarray:
        """Unnormalised log-density of each row: minus its free energy.

        Differences between rows of one model are meaningful; subtract ``log_partition().value`` for log p(x). Missing
        sites count at their expectations.
        """
        check_is_fitted(self, "families_")
        views = self._known(X)
        with compute(self.n_jobs):
            blocks = [-self.energy_.free_energy(self.parameters_, batch) for _, batch in self._batches(views)]
        return np.concatenate(blocks)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean pseudo-log-likelihood of the rows (one random site a row and view): comparable between models."""
        check_is_fitted(self, "families_")
        views = self._known(X)
        rng = np.random.default_rng(0)
        total = 0.0
        with compute(self.n_jobs):
            for items in np.array_split(np.arange(len(views)), max(1, len(views) // 500)):
                batch = views.batch(items, self.families_)
                batch = fill_missing(self.energy_, self.parameters_, batch, self._problem.reference)
                total += float(pseudo_log_likelihood(self.energy_, self.parameters_, batch, rng).sum())
        return total / len(views)

    def log_partition(
        self,
        method: Literal["ais", "exact"] = "ais",
        n_chains: int = 100,
        n_temperatures: int = 1000,
        sizes: dict[str, float] | None = None,
    ) -> LogPartition:
        """log Z of the fitted model, with its standard error.

        Parameters
        ----------
        method : {"ais", "exact"}, default="ais"
            Annealed importance sampling, or enumeration of the hidden states (small models only).
        n_chains, n_temperatures : int
            Effort of the annealing.
        sizes : dict, optional
            Row totals of `ReplicatedSoftmax` views, for which the partition function differs from total to total;
            default: the mean total of the training data.
        """
        if method not in ("ais", "exact"):
            raise ValueError(f"method must be 'ais' or 'exact'; got {method!r}; 'exact' is for small models.")
        typical = {name: family.typical_sizes(1) for name, family in self.energy_.families.items()}
        totals = {name: float(size[0]) for name, size in typical.items() if size is not None} | (sizes or {})
        with compute(self.n_jobs):
            if method == "exact":
                rows = {name: np.array([total]) for name, total in totals.items()}
                return LogPartition(exact_log_partition(self.energy_, self.parameters_, rows), 0.0)
            return annealed_log_partition(
                self.energy_,
                self.parameters_,
                self._generator(),
                n_chains=n_chains,
                n_temperatures=n_temperatures,
                reference=self._problem.reference,
                sizes=totals,
            )

    def sample(self, n_samples: int = 1, n_steps: int = 1000, random_state: Any = None) -> Any:
        """Draw items from the model by block Gibbs sampling, ``n_steps`` sweeps from random hidden states.

        Returns
        -------
        ndarray, or dict of ndarrays if there are several views
        """
        check_is_fitted(self, "families_")
        check_whole("sample", "n_samples", n_samples)
        check_whole("sample", "n_steps", n_steps, remedy="1000 is usual")
        seed = self.random_state if random_state is None else random_state
        rng = np.random.default_rng(check_random_state(seed).randint(2**31 - 1))
        sizes = {name: family.typical_sizes(n_samples) for name, family in self.families_.items()}
        known = {name: size for name, size in sizes.items() if size is not None}
        with compute(self.n_jobs):
            hidden = self.energy_.hidden.sample(np.zeros((n_samples, self.n_components_), dtype=np.float32), rng)
            for _ in range(n_steps):
                hidden, batch = gibbs_step(self.energy_, self.parameters_, hidden, rng, known)
        drawn = {
            name: np.asarray(self.families_[name].decode(np.asarray(view.statistic)), dtype=np.float32)
            for name, view in batch.views.items()
        }
        return next(iter(drawn.values())) if len(drawn) == 1 else drawn

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
        energy, reference = self._problem.energy, self._problem.reference
        return Fitted(energy.families, energy.hidden, self.parameters_, reference, self.feature_names_, facts)

    def _restore(self, fitted: Fitted) -> Self:
        """Inverse of `_state`; the optimiser's memory and the stream of random numbers start afresh."""
        history, n_iter = dict(fitted.facts["history_"]), int(fitted.facts["n_iter_"])
        self._problem = Problem(Energy(fitted.families, fitted.hidden), fitted.reference)
        self._training = Training(fitted.parameters, n_iter=n_iter, history=history)
        self._stream = self._generator()
        self.families_, self.feature_names_ = fitted.families, fitted.feature_names
        self.n_components_, self.history_, self.n_iter_ = fitted.hidden.n_units_, history, n_iter
        for name in ("n_features_in_", "feature_names_in_"):
            if fitted.facts[name] is not None:
                setattr(self, name, fitted.facts[name])
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
