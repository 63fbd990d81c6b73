"""`HarmoniumRegressor`: one number or several."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from harmonium.core.targets import Kind, Labels
from harmonium.core.validation import Number
from harmonium.estimators.harmonium import Harmonium, trains_by_batches
from harmonium.estimators.input.labels import read_numbers
from harmonium.estimators.input.map_blocks import map_blocks
from harmonium.estimators.input.read_input import ReadTarget
from harmonium.estimators.supervised import Supervised
from harmonium.heads import EpsilonInsensitive, Head
from harmonium.persist import saveable
from harmonium.training import FittedModel

INTERVAL = Number(below=1.0, remedy="0.9 is usual")


class NumberInterval(NamedTuple):
    """Predicted numbers and the ends of the intervals around them, each of shape (rows,) or (rows, outputs)."""

    prediction: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


@saveable
class HarmoniumRegressor(Supervised, RegressorMixin, Harmonium):
    """Regression by a latent space that is learned together with the prediction.

    With the default parts the space has topics to read and dimensions that are learned with the prediction
    (`ComposedUnits`), and predictions are a mixture of both with a linear model of the inputs. `fit` chooses that
    mixture and the number of epochs on rows held out from training, then trains on all rows. `MMH` is the max-margin
    harmonium as published.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of topics. "auto" is one more than the directions of the data that stand out of chance, at least 2 and at
        most 0.4 times the root of the number of rows or 50, less those that say the same as others (a correlation of
        0.5 over the items). The default layer has dimensions beside them, as many as scores are predicted, between 30
        and 50. Where all units predict, "auto" goes by the rows alone. A hidden layer that states its own number
        overrides it.
    views : "infer", TableViews, Family, str, mapping or list, default="infer"
        Family of each view: "infer" looks at the data; a family, or the name of one such as "poisson", is used for all
        views; a mapping has a family, "infer" or, if X is one matrix, `Columns`, a slice or a list of columns for each
        name; a list has them in the order of the views. A data frame with columns other than numbers is read as a
        table, each column by its role; a `TableViews` sets the roles. ``views_`` shows what was decided.
    view_weights : "auto", dict of str to float, list of float or None, default="auto"
        How much each view weighs while the model is trained: the heaviest takes whole steps, the others steps as many
        times as small, so that topics follow it more or less than the others. "auto" finds out on held-out rows, by
        linear models, how much each view has to say; None lets all weigh the same.
    seeds : dict of str to list, optional
        What some topics should be about: features, such as words, or numbers of training items, by the name of the
        topic, as in ``{"noise": ["noise", "thin walls"]}``. They are a prior of the weights of the first topics, which
        have these names, and no filter. Seeds that the data do not support are left out, with a notice. A minus
        keeps a feature out: ``{"noise": ["noise", "-pool"], "pool": ["pool", "-noise"]}`` are two topics, of which
        neither raises the other's word. Topics with seeds are never merged with each other.
    hidden : HiddenLayer or str, optional
        What topics and dimensions are; "gaussian" and the like stand for a layer with default settings, and so for the
        other parts. Default: `ComposedUnits`.
    objective : Objective or str, optional
        Where gradients of the likelihood come from. Default: `SampledCD`.
    head : Head or str, optional
        By which loss numbers are predicted. Default: `EpsilonInsensitive`. Its C is the weight of the loss.
        `LabelView` makes the number one more view.
    driver : Driver or str, optional
        How parameters move. Default: `Stochastic` with Adam, a constant step of 0.01, a weight decay of features / rows
        (at most 0.5), an average of the parameters, and batches of a hundredth of the rows, between 10 and 100; below
        3,000 rows with a step of 0.02, batches of a thirty-third, and a third of the updates; for layers that select
        units with a step of 0.03 and a decay of 1/6.
    validation_fraction : float, default=0.15
        Share of the labelled rows held out to choose epochs and shares, and for the intervals of `predict`.
        Below 3,000 labelled rows three-fold cross-validation takes its place; below 10 nothing is held out. 0 switches
        all that off.
    output : {"mean", "natural", "coordinates", "directions"}, default="mean"
        What `transform` returns: E[h | x]; its natural parameter; Wᵀx alone, which is best for retrieval by cosine; or
        rows of length 1 whose distances are those between expected views, which is best for clusters.
    warm_start : bool, default=False
        Whether `fit` continues from the parameters of the last fit, with the C that it chose.
    random_state : int, RandomState instance or None, default=None
        Source of random numbers. The same int gives the same result, on one thread or many.
    n_jobs : int, optional
        Number of threads; -1 takes all processors. Default: as many as BLAS may use.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    coef_ : ndarray of shape (n_outputs, n_components_)
        Weights of the topics in the predictions, in units of y for one unit of a topic. With ``output="mean"``, the
        part of the predictions that comes through topics differs between two rows by the difference of their topics, as
        `transform` returns them, times these. The default head may have a linear part as well: what it adds is no part
        of that, and where it decides alone these are zero. `harmonium.inspection.score_parts` tells how much comes from
        where, in scores. For a label that is a view, the weights of that view.
    output_names_ : ndarray of str
        Names of the columns of y. Only if y was a data frame, or a Series with a name.
    families_ : dict of str to Family
        Family of each view.
    views_ : DataFrame
        What each view is or, for a model of a table, what each column is.
    n_topics_ : int
        Number of topics, which come before the dimensions.
    n_components_ : int
        Number of hidden units. For layers that select units (`IBP`, `SpikeSlab`), of those that were kept.
    components_ : ndarray of shape (n_components_, n_features)
        Weights, all views side by side.
    history_ : dict of str to list of float
        Record of every epoch of the final training.
    n_iter_ : int
        Number of epochs of the final training.
    fitted_ : FittedModel
        All that was learned, which the other attributes are read from: ``parameters``, ``energy``, ``feature_names``,
        ``input_names``, ``view_weights``, ``posterior``, and ``head``, ``C``, ``shares`` and ``validation`` of what is
        predicted; ``training.stopped`` says why training ended. Layers that select units have their ``usage``, and
        ``truncation_reached`` if more of them might be needed.
    n_features_in_ : int
        Number of columns of X, summed over views.
    feature_names_in_ : ndarray of str
        Names of the columns, if X was one data frame whose columns have names.

    See Also
    --------
    HarmoniumClassifier : The same with classes or labels to predict.
    Harmonium : The same without anything to predict.

    References
    ----------
    Chen, Zhu, Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import HarmoniumRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 6))
    >>> y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=300)
    >>> model = HarmoniumRegressor(n_components=10, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> prediction, lower, upper = model.predict(X, interval=0.9)
    >>> bool(0.85 < np.mean((lower <= y) & (y <= upper)) <= 1)
    True
    """

    kinds = ("number",)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from all rows.

        An interrupt (Ctrl-C) keeps the best model so far, gives a warning, and goes on to the caller as a
        `KeyboardInterrupt`, so that searches and scripts stop too. Before the first epoch is complete there is nothing
        to keep, and the estimator stays as it was; a second interrupt does not wait for the model.

        If it comes while C is being chosen, or soon after, the model is the best one of the choice, which has not seen
        the rows that were held out.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Views of the same items. NaN cells and all-NaN rows are missing and are inferred while learning; rows that
            lack every view are left out, with a notice. Rows go by their labels where views have some (see `Views`).
        y : array-like of shape (n_rows,) or (n_rows, n_outputs), or name of columns of X
            Numbers to predict; NaN where they are unknown: such rows teach the model about the views only. A data frame
            names the outputs. Where both X and y have an index of pandas, rows go by its names.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows in the prediction loss, in the errors by which epochs and shares are chosen,
            and in intervals: a row of weight 2 counts as two rows, one of weight 0 as unlabelled.

        Returns
        -------
        HarmoniumRegressor
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    @available_if(trains_by_batches)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some more rows in one pass.

        Nothing is held out: "auto" is C = 1. The first call also fixes the scale of the targets.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Views of the same items, as for `fit`.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs), or name of columns of X
            Numbers to predict, as for `fit`.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows in the prediction loss, as for `fit`.

        Returns
        -------
        HarmoniumRegressor
            The estimator, as far as it has learned.
        """
        return self._partial_fit(X, y, sample_weight)

    def _target_reader(self) -> ReadTarget:
        return read_numbers

    def _default_head(self, kind: Kind) -> Head:
        return EpsilonInsensitive()

    def _check_same(self, labels: Labels, before: FittedModel) -> None:
        assert before.meaning is not None
        if labels.meaning.n_columns != before.meaning.n_columns:
            raise ValueError(
                f"Training can only go on with the {before.meaning.n_columns} outputs it began with; y has "
                f"{labels.meaning.n_columns}; fit with warm_start=False."
            )

    def predict(self, X: Any, interval: float | None = None) -> Any:
        """Return the expected numbers, in the units of y, and their intervals.

        Intervals, if they are asked for, reach as far to either side as the errors of held-out rows with predictions
        nearby tell (conformal prediction): the numbers of new rows that are like those of training lie in them with the
        probability that is asked for, whatever the law of the errors. That holds on average over rows, and nearly so
        over rows with like predictions if many rows were held out.

        If y has few different values, such as ratings (ten rows or more for each value), no prediction and no end of an
        interval is beyond the lowest or highest of them.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on. Intervals are for rows that have the same views as
            those of training.
        interval : float, optional
            Probability of intervals to return beside the expected numbers, such as 0.9.

        Returns
        -------
        prediction : ndarray of shape (n_rows,), or (n_rows, n_outputs) if y had columns
            Expected numbers, the same with and without an interval.
        lower : ndarray of the same shape
            Lower ends of the intervals; only with ``interval``.
        upper : ndarray of the same shape
            Upper ends of the intervals; only with ``interval``.

        Raises
        ------
        ValueError
            If no rows, or too few for the probability, were held out by `fit`.
        """
        lazy = map_blocks(self, "predict", X, interval=interval)
        if lazy is not None:
            return lazy
        if interval is None:
            return self._shaped(self._head.outputs_.predict(self._scores(X)))
        INTERVAL.check("predict", "interval", interval)
        outputs, scores = self._head.outputs_, self._scores(X)
        lower, upper = outputs.intervals(scores, interval)
        # models of 0.2.0 do not know the ends of a scale, such as 5 stars; intervals stop at those of held-out rows
        found = NumberInterval(np.clip(outputs.predict(scores), lower, upper), lower, upper)
        if not np.isfinite(found.upper).all():
            raise ValueError(
                f"predict needs an interval that held-out rows can tell; got {interval:g}, for which too few of them "
                "were held out; ask for a smaller one, or fit more rows."
            )
        return NumberInterval(*(self._shaped(part) for part in found))

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        """Return values with the dimensions of y."""
        return values[:, 0] if self._meaning.one_column else values
