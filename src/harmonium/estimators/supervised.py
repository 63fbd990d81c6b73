"""Shared parts of the classifier and the regressor: a head, and the choice of C and epochs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils import Tags

from harmonium.core.notices import notice
from harmonium.core.parts import IsPart, Part, as_part
from harmonium.core.targets import KINDS, Kind, Labels, TargetSpec
from harmonium.core.validation import Number, check_fitted
from harmonium.estimators.harmonium import Harmonium
from harmonium.estimators.input.known import known_views
from harmonium.estimators.input.labels import announce_size, check_length, check_names, in_order_of, without_unknown
from harmonium.estimators.input.read_input import split_target
from harmonium.estimators.input.tags import indicator_of_tags
from harmonium.heads import Head
from harmonium.hidden import HiddenLayer
from harmonium.kernels.runtime.threads import compute
from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.queries.explain import explain
from harmonium.queries.explanation import Explanations
from harmonium.queries.latent import Output
from harmonium.queries.prediction import scores
from harmonium.training import Driver, FittedModel
from harmonium.training.plan import Plan
from harmonium.training.supervised.fit import with_settings_of
from harmonium.views import Views
from harmonium.views.data import Data

# rows with a target below which a fit is questioned: a convention
_FEW_ROWS = 10

if TYPE_CHECKING:  # it stands beside Harmonium in the bases of an estimator, and extends its methods
    Beside = Harmonium
else:
    Beside = object


class Supervised(Beside):
    """Part of estimators that predict: a head."""

    settings = {
        **Harmonium.settings,
        "head": IsPart(Head, "Hinge()"),
        "validation_fraction": Number(inclusive=True, below=1.0, remedy="0.15 is usual, 0 holds nothing out"),
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
        head: Head | str | None = None,
        driver: Driver | str | None = None,
        validation_fraction: float = 0.15,
        output: Output = "mean",
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_components,
            views=views,
            view_weights=view_weights,
            seeds=seeds,
            hidden=hidden,
            objective=objective,
            driver=driver,
            output=output,
            warm_start=warm_start,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.head = head
        self.validation_fraction = validation_fraction

    # ---- fitting -------------------------------------------------------------------------------------------------
    def _plan(self, n_rows: int | None = None, layer: HiddenLayer | None = None) -> Plan:
        plan, chooses = super()._plan(n_rows, layer), isinstance(self.view_weights, str)
        return replace(plan, validation_fraction=self.validation_fraction, chooses_view_weights=chooses)

    def _default_head(self, kind: Kind) -> Head:
        """Return the head for targets of a kind."""
        raise NotImplementedError

    def _asked_head(self, kind: Kind) -> Head | None:
        """Return the head that the settings ask for, for targets of a kind; None if they leave it to the default."""
        return as_part(Head, self.head)

    def _default_part(self, name: str) -> Part:
        # which kind of targets there will be is not known yet: the first that the estimator predicts
        if name == "head":
            return self._default_head(self.kinds[0])
        return self._part("head").default_layer() if name == "hidden" else super()._default_part(name)

    def _check_same(self, labels: Labels, before: FittedModel) -> None:
        """Refuse labels that training, which is to continue, did not begin with."""
        raise NotImplementedError

    def _before(self) -> FittedModel | None:
        """Return the model that training goes on from, with the settings that the head has now."""
        model = super()._before()
        if model is None:
            return None
        began = model.head
        assert began is not None and model.meaning is not None
        head = self._asked_head(model.meaning.kind)
        if head is None:
            return model
        if type(head) is not type(began):
            raise ValueError(
                f"Training can only go on with the head it began with, {type(began).__name__}; got "
                f"{type(head).__name__}; set it back, or fit with warm_start=False."
            )
        return with_settings_of(model, head)

    def _continued(self, model: FittedModel, labels: Labels | None) -> FittedModel:
        # labels that no row had before may have some now, and errors of held-out rows are those of another model
        head = model.problem.known_head
        assert labels is not None
        head = head.updated(outputs_=head.outputs_.with_more(labels.targets))
        return replace(model, problem=replace(model.problem, head=head))

    def _problem(
        self, views: Views, labels: Labels | None, layer: HiddenLayer, before: FittedModel | None
    ) -> tuple[Problem, Data]:
        assert labels is not None
        check_length(labels, len(views))
        announce_size(labels.meaning, len(views))
        if before is None:
            _question(labels)
        problem, data = super()._problem(views, labels, layer, before)
        assert problem.head is not None
        weighs = not problem.head.added_views or self._part("objective").weighs_labels
        weights = labels.targets.weight
        if not weighs and len(np.unique(weights[weights > 0])) > 1:
            notice(
                "A label that is a view is there or not: of sample_weight only zeros are used; pass "
                "objective=Discriminative() or a head such as Hinge() to weigh rows."
            )
        return problem, data

    def _bound_head(self, labels: Labels, before: FittedModel | None) -> Head:
        kind = labels.meaning.kind
        if before is not None:
            head = before.head
            assert head is not None
            assert before.meaning is not None
            self._check_same(labels, before)
            check_names(labels.meaning, before.meaning)
            return head
        default = self._default_head(kind)
        head = self._asked_head(kind) or default
        if kind not in head.kinds:
            takes = " or ".join(KINDS[taken] for taken in head.kinds)
            raise ValueError(
                f"{type(head).__name__} predicts {takes}; y holds {KINDS[kind]}; leave head out, or pass "
                f"{type(default).__name__}()."
            )
        return head.bind(labels)

    # ---- using ---------------------------------------------------------------------------------------------------
    def _scores(self, X: Any) -> np.ndarray:
        """Return the scores of the head for each row, in float64."""
        views = known_views(self, X)
        with compute(self.n_jobs):
            return scores(self.fitted_, views)

    def explain(self, X: Any) -> Explanations:
        """Return which topics and features move the scores of each row, by how much.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on; a few rows, as each is worked out by itself.

        Returns
        -------
        Explanations
            A list of an `Explanation` for each row: what adds up to its scores, exactly; it prints as a table, and has
            ``table()`` and ``plot()``. Numbers are in the units of y, or of log(y + c) where they were learned on that
            scale (``target_scale`` of `EpsilonInsensitive`): ``scale_of`` says so, and ``table`` then has the
            ``factor`` by which each part multiplies y + c.

        Notes
        -----
        A topic adds V_k (E[h_k | x] - E[h_k | average item]), split over features by what they move the topic's
        natural parameter: integrated gradients along the line from the average item to the row.
        `harmonium.queries.explain` has the formulae.
        """
        views = known_views(self, X)
        with compute(self.n_jobs):
            return explain(self.fitted_, views)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return how well y is predicted: accuracy of classes, R² of numbers.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on.
        y : array-like of shape (n_rows,) or (n_rows, n_columns), or name of columns of X
            What is right; rows where it is missing do not count. Where both X and y have an index of pandas, rows go by
            its names.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.

        Returns
        -------
        float
            At most 1; for labels, the share of rows that have all of them right.
        """
        X, y = split_target(X, y)
        y, sample_weight = in_order_of(X, "y", y), in_order_of(X, "sample_weight", sample_weight)
        y = indicator_of_tags(y, self._meaning)
        y, sample_weight = without_unknown(y, sample_weight, self._meaning.classes or None)
        return super().score(X, y, sample_weight)  # type: ignore[call-arg]  # that of scikit-learn stands between

    @property
    def _meaning(self) -> TargetSpec:
        """What the targets stand for."""
        check_fitted(self)
        assert self.fitted_.meaning is not None
        return self.fitted_.meaning

    @property
    def _head(self) -> Head:
        """The head in use."""
        check_fitted(self)
        assert self.fitted_.head is not None
        return self.fitted_.head

    @property
    def output_names_(self) -> np.ndarray:
        """Names of the columns of y.

        Only if y was a data frame, or a Series with a name.
        """
        names = self._meaning.names
        if names is None:
            raise AttributeError(
                "Only a model whose y has names for its columns knows them; the y of this one had none; pass y as a "
                "data frame, or as a Series with a name."
            )
        return np.array(names)

    @property
    def coef_(self) -> np.ndarray:
        """Weights of topics and dimensions in the scores, of shape (outputs, units).

        They say nothing of a linear part, which the default head may have, and are zero where it decides alone;
        ``fitted_.shares`` and `harmonium.inspection.score_parts` tell how much comes from where. For a label that is a
        view, the weights of that view.
        """
        return self._head.coefficients(self.fitted_.parameters)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags


def _question(labels: Labels) -> None:
    """Warn of targets that little can be learned from."""
    n_known = int(labels.targets.counting.sum())
    if n_known < _FEW_ROWS:
        notice(
            f"Only {n_known} {'row has' if n_known == 1 else 'rows have'} a target, too few to choose settings by "
            "held-out rows; do not believe scores or topics; 100 rows and more make a fit that can be judged."
        )
        return
    n_classes = max(map(len, labels.meaning.classes), default=0)
    if labels.meaning.kind == "class" and n_classes > n_known / 2:
        notice(
            f"y has {n_classes} classes in {n_known} rows, most of them once, so that there is nothing to learn of "
            "them; is it a name or a text that should be an input, or numbers for HarmoniumRegressor?"
        )
