"""`HarmoniumClassifier`: classes, several columns of classes, or several labels at once."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from harmonium.core.parts import as_part
from harmonium.core.raw_target import plain
from harmonium.core.targets import KINDS, Kind, Labels
from harmonium.core.validation import check_settings, check_whole, few_of
from harmonium.estimators.harmonium import Harmonium, trains_by_batches
from harmonium.estimators.input.labels import read_classes
from harmonium.estimators.input.map_blocks import map_blocks
from harmonium.estimators.input.read_input import Input, ReadTarget, read_input
from harmonium.estimators.ranking import ranked
from harmonium.estimators.supervised import Supervised
from harmonium.estimators.waiting import NO_ROWS, WaitingRows
from harmonium.exceptions import shortened
from harmonium.heads import Head, Hinge, MultiLabelHinge
from harmonium.heads.class_weights import ClassWeights
from harmonium.hidden import HiddenLayer
from harmonium.kernels.runtime.threads import compute
from harmonium.objectives import Objective
from harmonium.persist import saveable
from harmonium.queries.latent import Output
from harmonium.training import Driver, FittedModel


@saveable
class HarmoniumClassifier(Supervised, ClassifierMixin, Harmonium):
    """Classification by a latent space that is learned together with the prediction.

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
        What is predicted, and by which loss. Default: `Hinge` for classes, `MultiLabelHinge` for an indicator matrix.
        Its C is the weight of the loss. `LabelView` makes the label one more view.
    class_weight : "auto", "soft", "balanced", dict of class to weight or None, default="auto"
        Weight of the rows of a class in the loss: the setting of `Hinge`, where it is explained. It is for a head that
        has such a setting and leaves it at "auto".
    driver : Driver or str, optional
        How parameters move. Default: `Stochastic` with Adam, a constant step of 0.01, a weight decay of features / rows
        (at most 0.5), an average of the parameters, and batches of a hundredth of the rows, between 10 and 100; below
        3,000 rows with a step of 0.02, batches of a thirty-third, and a third of the updates; for layers that select
        units with a step of 0.03 and a decay of 1/6.
    validation_fraction : float, default=0.15
        Share of the labelled rows held out to choose epochs and shares and to calibrate probabilities. Below
        3,000 labelled rows three-fold cross-validation takes its place; below 10 nothing is held out. 0 switches all
        that off.
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
    classes_ : ndarray, or list of ndarray if y has several columns of classes
        The classes in sorted order, as everywhere in scikit-learn; for an indicator matrix, the numbers of its columns,
        and for a column of tags, the tags.
    output_names_ : ndarray of str
        Names of the columns of y. Only if y was a data frame, or a Series with a name.
    coef_ : ndarray of shape (n_outputs, n_components_)
        Weights of the topics in the scores. With ``output="mean"``, the part of the scores that comes through topics
        ("topics" of `harmonium.inspection.score_parts`) differs between two rows by the difference of their topics, as
        `transform` returns them, times these. The default head may have a linear part as well: what it adds is no part
        of that, and where it decides alone these are zero. For a label that is a view, the weights of that view.
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
    HarmoniumRegressor : The same with numbers to predict.
    Harmonium : The same without anything to predict.

    References
    ----------
    Chen, Zhu, Sun & Xing (2012), Large-margin predictive latent subspace learning for multiview data analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import HarmoniumClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 3, size=200)
    >>> words = (rng.random((200, 30)) < np.where(np.arange(30) // 10 == y[:, None], 0.5, 0.1)).astype(float)
    >>> colour = np.eye(3)[y] + rng.normal(size=(200, 3))
    >>> model = HarmoniumClassifier(n_components=8, random_state=0).fit({"words": words, "colour": colour}, y)
    >>> model.score({"words": words, "colour": colour}, y) > 0.9
    True
    >>> model.predict({"words": words[:2]}).shape  # any subset of the views
    (2,)
    """

    kinds = ("class", "label")
    settings = {**Supervised.settings, "class_weight": ClassWeights()}
    #: rows that probabilities are to be calibrated on, gathered by `partial_fit`; files do not keep them
    _waiting: WaitingRows = NO_ROWS

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
        class_weight: Any = "auto",
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
            head=head,
            driver=driver,
            validation_fraction=validation_fraction,
            output=output,
            warm_start=warm_start,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight

    # ---- fitting -------------------------------------------------------------------------------------------------
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
        y : array-like of shape (n_rows,) or (n_rows, n_columns), or name of columns of X
            Classes; several columns of classes; if all are 0 or 1, an indicator matrix of labels; or a column of tags,
            lists (cells of a Series, or a list of lists that differ in length) or texts such as "drama|war": a label
            for each tag that is in enough rows. Categoricals are never tags. Or names of columns of a data frame, or of
            ``obs`` of AnnData. Unknown ones are NaN, None, or -1 (in whole numbers, unless the classes are -1 and 1, or
            others are negative too): such rows teach the model about the views only. A data frame names the outputs,
            and ordered categories tell `Ordinal` which level comes first. Where both X and y have an index of pandas,
            rows go by its names.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows in the prediction loss; a row of weight 0 counts as unlabelled.

        Returns
        -------
        HarmoniumClassifier
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    @available_if(trains_by_batches)
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some more rows in one pass.

        Nothing is held out: "auto" is C = 1. Probabilities, and the cuts of labels, are calibrated on rows before the
        model learns from them: on the labelled rows of all calls but the first, as soon as there are 100 of them since
        the last calibration, be it in one call or in many. Until then the calibration of `fit` or of earlier calls
        stays, or scores are taken as they are if there is none.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Views of the same items, as for `fit`.
        y : array-like of shape (n_rows,) or (n_rows, n_columns)
            Classes or labels, as for `fit`; tags that training did not begin with are left out.
        classes : array-like, or list of them if y has several columns, optional
            All classes there will be, or all tags; needed in the first call if y does not hold all of them.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows in the prediction loss, as for `fit`.

        Returns
        -------
        HarmoniumClassifier
            The estimator, as far as it has learned.
        """
        check_settings(self, self.settings)
        before = self._before()
        separator = None if before is None else self._meaning.separator
        if before is None:
            known = None if classes is None else _listed(classes)
        else:
            self._check_named(classes)
            known = self._meaning.classes if separator is None else [self.classes_]
        reader = partial(read_classes, known=known, separator=separator)
        with compute(self.n_jobs):
            given = read_input(self, X, y, sample_weight, model=before, read_target=reader)
            scores, rows = None if before is None else self._scores(given.views), self._waiting
            model = self._updated(given, before)
            if scores is not None:
                assert model.head is not None and given.labels is not None
                # rows that the model had not learned from calibrate it, if they are enough; else they wait
                rows = rows.and_more(scores, model.head.targets(given.labels))
                if rows.are_enough:
                    head = model.head.updated(outputs_=model.head.outputs_.calibrated(rows.scores, rows.targets))
                    model, rows = replace(model, problem=replace(model.problem, head=head)), NO_ROWS
            self._keep(model, given, before)
            self._waiting = rows
        return self

    def _target_reader(self) -> ReadTarget:
        return read_classes

    def _check_named(self, classes: Any) -> None:
        """Refuse other classes than those of the first call."""
        began = [self.classes_] if self._meaning.kind == "label" else self._meaning.classes
        given = began if classes is None else _listed(classes)
        if self._meaning.kind == "label" and len(given) > 1:  # zeros and ones of each label
            began = self._meaning.classes
        if len(given) != len(began) or not all(np.array_equal(a, b) for a, b in zip(given, began, strict=True)):
            raise ValueError(
                f"classes must be those that training began with, {few_of(began[0])}; got "
                f"{few_of(given[0])}; leave them out, or fit anew."
            )

    def _default_head(self, kind: Kind) -> Head:
        return MultiLabelHinge() if kind == "label" else Hinge()

    def _asked_head(self, kind: Kind) -> Head | None:
        given = super()._asked_head(kind)
        if self.class_weight is not None and self.class_weight == "auto":
            return given
        head = self._default_head(kind) if given is None else given
        if "class_weight" not in head.settings:
            raise ValueError(
                f"class_weight is for heads that weigh classes, such as Hinge(); got {self.class_weight!r} and "
                f"{type(head).__name__}, which predicts {' or '.join(KINDS[taken] for taken in head.kinds)}; leave it "
                "out, or weigh rows by sample_weight."
            )
        own = head.get_params(deep=False)["class_weight"]
        if own is None or own != "auto":
            raise ValueError(
                f"class_weight may be given once; got {self.class_weight!r} for HarmoniumClassifier and {own!r} for "
                f"its head, {type(head).__name__}; leave one of them out."
            )
        return clone(head).set_params(class_weight=self.class_weight)

    def _check_same(self, labels: Labels, before: FittedModel) -> None:
        given, began = labels.meaning, before.meaning
        assert began is not None
        if given.n_classes != began.n_classes or any(
            (a != b).any() for a, b in zip(given.classes, began.classes, strict=True)
        ):
            raise ValueError(
                "Training can only go on with the classes it began with; y has others; fit with warm_start=False."
            )
        if given.kind != began.kind:  # zeros and ones of labels are no classes
            raise ValueError(
                f"Training can only go on with {KINDS[began.kind]}, as it began; y holds {KINDS[given.kind]}; fit with "
                "warm_start=False."
            )

    def _bound_head(self, labels: Labels, before: FittedModel | None) -> Head:
        for classes in labels.meaning.classes:
            if len(classes) < 2:
                raise ValueError(
                    f"The number of classes has to be greater than one; got 1 class, {shortened(str(classes[0]))}; use "
                    "Harmonium to learn without labels."
                )
        return super()._bound_head(labels, before)

    def _fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        with warnings.catch_warnings():
            # scikit-learn's linear models say so again and again; `Supervised` has one sentence for it
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            return super()._fit(X, y, sample_weight)

    def _keep(self, model: FittedModel, given: Input, before: FittedModel | None) -> None:
        self.__dict__.pop("_waiting", None)  # they have scores of another model, unless `partial_fit` puts them back
        super()._keep(model, given, before)

    # ---- using ---------------------------------------------------------------------------------------------------
    @property
    def classes_(self) -> Any:
        """The classes; a list of them if y has several columns of classes.

        For an indicator matrix, the numbers of its columns; for a column of tags, the tags.
        """
        meaning = self._meaning
        if meaning.separator is not None:
            return np.array(meaning.names)
        if meaning.one_column:
            return meaning.classes[0]
        return np.arange(len(meaning.classes)) if meaning.kind == "label" else meaning.classes

    def decision_function(self, X: Any) -> Any:
        """Return the scores of the classes or labels.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on.

        Returns
        -------
        ndarray, or list of ndarray for several columns of classes
            Of shape (n_rows, n_classes); for two classes (n_rows,), positive for the second; for labels (n_rows,
            n_labels), positive where a label is predicted: how far its log-odds are above the cut that the
            ``measure`` of `MultiLabelHinge` asks for.
        """
        return self._one(self._head.outputs_.decisions(self._scores(X)))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row, or its labels.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, n_columns) if y had columns
            The class of the largest score; for labels 1 where one is predicted, else 0. Where their probabilities are
            cut is chosen on held-out rows, by the ``measure`` of `MultiLabelHinge`. `annotate` returns a fixed number
            of labels for each row instead; ``classes_[row > 0]`` are the tags of a row, if y was a column of tags.
        """
        lazy = map_blocks(self, "predict", X)
        if lazy is not None:
            return lazy
        scores, meaning = self._scores(X), self._meaning
        found = self._head.outputs_.predict(scores)
        if meaning.kind == "label":
            return found
        columns = [classes[found[:, column]] for column, classes in enumerate(meaning.classes)]
        if meaning.one_column:
            return columns[0]
        if len({classes.dtype.kind == "U" for classes in meaning.classes}) > 1:
            columns = [column.astype(object) for column in columns]  # numbers would become texts
        return np.stack(columns, axis=1)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes, or of each label.

        They are calibrated on held-out training rows. Scores are multiplied by one factor, fitted to the held-out rows,
        before the softmax (temperature scaling); for labels, a factor and a shift of each come before the logistic
        function, close to those of other labels where one is rare.
        Where nothing was held out (``validation_fraction=0``, very few labels, the first `partial_fit`) scores are
        taken as they are.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on.

        Returns
        -------
        ndarray, or list of ndarray for several columns of classes
            Probabilities of shape (n_rows, n_classes), or (n_rows, n_labels).
        """
        lazy = map_blocks(self, "predict_proba", X)
        return self._one(self._head.outputs_.probabilities(self._scores(X))) if lazy is None else lazy

    def _one(self, by_column: Any) -> Any:
        """Return what belongs to the only column, if y had one dimension."""
        return by_column[0] if self._meaning.one_column else by_column

    def annotate(self, X: Any, top: int = 5, names: Any = None) -> pd.DataFrame:
        """Return the most probable classes or labels of each row.

        Labels that no training row has are left out.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on.
        top : int, default=5
            Number of classes or labels for each row.
        names : sequence of str, optional
            Names of the classes or labels. Default: ``output_names_`` of labels that have names, else ``classes_``.

        Returns
        -------
        DataFrame
            Columns row, rank, label, probability, the most probable first.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(60, 2))
        >>> tags = pd.DataFrame({"warm": X[:, 0] > 0, "wet": X[:, 1] > 0, "never": False})
        >>> model = HarmoniumClassifier(2, random_state=0).fit(X, tags.astype(int))
        >>> model.annotate(X[:2], top=1)[["row", "rank", "label"]]
           row  rank label
        0    0     1  warm
        1    1     1  warm
        """
        check_whole("annotate", "top", top, remedy="5 is usual")
        probabilities = self.predict_proba(X)
        if isinstance(probabilities, list):
            raise ValueError(
                "annotate is for one column of classes or an indicator matrix of labels; the model has several "
                "columns of classes; use predict_proba."
            )
        if names is None:
            is_named = self._meaning.kind == "label" and self._meaning.names is not None
            names = self.output_names_ if is_named else self.classes_
        return ranked(probabilities, np.asarray(names), top, self._head.outputs_.never)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # scikit-learn calls an indicator matrix multi-output too
        given = as_part(Head, self.head)
        head = given if isinstance(given, Head) else None
        takes_labels = head is None or head.takes("label")
        tags.classifier_tags.multi_label = tags.target_tags.multi_output = takes_labels
        tags.target_tags.single_output = head is None or head.takes("class")
        return tags


def _listed(classes: Any) -> list[np.ndarray]:
    """Return the classes of each column, sorted."""
    several = isinstance(classes, list | tuple) and len(classes) > 0 and np.ndim(classes[0]) == 1
    return [np.unique(plain(np.asarray(column))) for column in (classes if several else [classes])]
