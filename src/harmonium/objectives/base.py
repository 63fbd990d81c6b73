"""The protocol of an objective: add the statistics of a batch, which are additive. Nothing here loops over epochs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN_BIAS, Parameters, bias_of, extra_of, weights_of
from harmonium.core.parts import Part
from harmonium.core.validation import Whole
from harmonium.energy import Energy
from harmonium.kernels.sparse.entries import entries
from harmonium.kernels.sparse.matrix import Matrix
from harmonium.kernels.sparse.products import add_gradients
from harmonium.objectives.problem import Problem

#: number of Gibbs or mean-field steps
STEPS = Whole(remedy="1 is usual")


class Objective(Part):
    """Base of all objectives: a loss to be minimised, known through its gradient.

    A subclass defines `accumulate`, which adds sums over the rows of a batch. Sums are additive, so batches, data that
    do not fit into memory and several machines all go through the same method.

    Attributes
    ----------
    has_loss : bool
        Whether `accumulate` can add a loss that goes with its gradient; line searches (`LBFGS`) need it.
    is_exact : bool
        Whether loss and gradient are those of the likelihood itself.
    weighs_labels : bool
        Whether labels that are a view count by the weights of their rows.
    marks_rows : bool
        Whether all that `accumulate` adds to the gradients of views' weights lies in rows that it marks in
        ``active_rows`` of the statistics, as `add_sufficient_statistics` does.

    Examples
    --------
    >>> from harmonium.objectives import MeanFieldCD, SampledCD
    >>> MeanFieldCD().has_loss, SampledCD().has_loss
    (True, False)
    """

    role = "objective"
    suffix = "CD"
    has_loss: bool = False
    is_exact: bool = False
    weighs_labels: bool = False
    marks_rows: bool = False

    @property
    def remembers(self) -> bool:
        """Whether it keeps a state from batch to batch: whether it has a `start`."""
        return type(self).start is not Objective.start

    def check_model(self, problem: Problem) -> None:
        """Refuse a model that the objective cannot train, before anything is computed.

        Parameters
        ----------
        problem : Problem
            Structure of the model, mean statistics of the training data, and the head.

        Raises
        ------
        ValueError
            If the model cannot be trained, with what to do about it.
        """

    def start(self, problem: Problem, batch: Batch, rng: np.random.Generator) -> Any:
        """Return the state that lives from batch to batch.

        Parameters
        ----------
        problem : Problem
            The model to be trained.
        batch : Batch
            The first rows.
        rng : numpy.random.Generator
            Source of random numbers.

        Returns
        -------
        dict of str to ndarray, or None
            Whatever `accumulate` wants to find again and change, such as persistent chains; None if nothing.
            Checkpoints hold arrays, numbers and texts, in lists and dicts.
        """
        return None

    def accumulate(
        self,
        problem: Problem,
        parameters: Parameters,
        batch: Batch,
        into: Statistics,
        rng: np.random.Generator,
        state: Any = None,
        with_loss: bool = False,
    ) -> None:
        """Add the statistics of a batch to those of others.

        Parameters
        ----------
        problem : Problem
            The model to be trained; `Problem.data_term` adds what the head contributes.
        parameters : dict of str to ndarray
            Parameters at which to take the gradient; not to be changed.
        batch : Batch
            Statistics of all views for some rows, and their targets; what is missing is zero and marked.
        into : Statistics
            Sums to add to, in place: ``gradient`` of the loss to be minimised, summed over rows; ``counts`` of the
            hidden layer; ``count``, the number of rows; ``loss``.
        rng : numpy.random.Generator
            Source of random numbers.
        state : object, optional
            What `start` returned, to be changed in place.
        with_loss : bool, default=False
            Whether the loss is needed. It can cost more than the gradient, so an objective may leave it out otherwise.
        """
        raise NotImplementedError


@dataclass
class Statistics:
    """Sums over rows.

    Attributes
    ----------
    gradient : dict of str to ndarray
        Gradient of the loss to be minimised, by parameter.
    loss : float
        The loss itself, where it is known.
    count : float
        Number of rows.
    counts : ndarray of shape (units,), or 0
        What the prior of the hidden units learns from (`SelectionRule.counts`): how many rows have each unit.
    active_rows : dict of str to ndarray of bool of shape (features,)
        Rows of the weights' gradients to which sufficient statistics were added, by the name of the weights. For words
        they are few: those of the batch and those that were drawn.
    """

    gradient: Parameters
    loss: float = 0.0
    count: float = 0.0
    counts: np.ndarray | float = 0.0
    active_rows: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def zeros_like(cls, parameters: Parameters) -> Statistics:
        """Return statistics of no rows, for parameters of these shapes."""
        return cls({name: np.zeros_like(value) for name, value in parameters.items()})

    def __add__(self, other: Statistics) -> Statistics:
        """Return the statistics of both batches together."""
        gradient = {name: value + other.gradient[name] for name, value in self.gradient.items()}
        active_rows = {**other.active_rows, **self.active_rows}
        for name in self.active_rows.keys() & other.active_rows.keys():
            active_rows[name] = self.active_rows[name] | other.active_rows[name]
        loss, count, counts = self.loss + other.loss, self.count + other.count, self.counts + other.counts
        return Statistics(gradient, loss, count, counts, active_rows)


@dataclass
class Term:
    """Rows, E[h] for each of them, and the sign with which their sufficient statistics enter.

    Attributes
    ----------
    batch : Batch
        The rows.
    hidden_mean : ndarray of shape (rows, units)
        E[h] of each row.
    sign : float
        -1 for data, +1 for the model; other sizes weigh the rows.
    are_samples : bool
        Whether the rows are observed or sampled. If not, they are means of distributions, whose spread the families'
        extra parameters need too.
    head_gradient : ndarray of shape (rows, units), optional
        Gradient of the head's loss by the hidden naturals.
    """

    batch: Batch
    hidden_mean: np.ndarray
    sign: float
    are_samples: bool = True
    head_gradient: np.ndarray | None = None

    @property
    def by_natural(self) -> np.ndarray:
        """Gradient by the hidden naturals of the rows."""
        signed = self.sign * self.hidden_mean
        return signed if self.head_gradient is None else signed + self.head_gradient


def add_sufficient_statistics(into: Statistics, energy: Energy, parameters: Parameters, *terms: Term) -> None:
    """Add the signed sums of all sufficient statistics of some terms to the gradient.

    These are Σ_terms sign · Σ_rows of φ(x) m(x)ᵀ, φ(x), m(x), and those of the families' extra parameters. The gradient
    of a head enters through the hidden naturals, which do not depend on biases and extra parameters of the views.
    Where rows of a view have weights, m(x) of a row is multiplied by its weight where it meets φ(x).
    """
    gradient = into.gradient
    dtype = gradient[HIDDEN_BIAS].dtype
    signed = [np.asarray(term.by_natural, dtype=dtype) for term in terms]
    for hidden in signed:
        gradient[HIDDEN_BIAS] += hidden.sum(axis=0)
    for name, family in energy.families.items():
        sums: list[tuple[Matrix, np.ndarray, float]] = []
        for term, hidden in zip(terms, signed, strict=True):
            view = term.batch.views[name]
            weighted = energy.row_weighted(name, hidden, view.size)
            sums.append((view.statistic, weighted, term.sign))
            if view.fill is not None:
                rows, values = view.fill
                sums.append((values, weighted[rows], term.sign))
            for extra_name, (lower, upper) in family.extra_parameters.bounds.items():
                if lower < upper:
                    totals = _extra_totals(energy, parameters, name, extra_name, view, term.are_samples)
                    gradient[extra_of(name, extra_name)] += term.sign * totals
        weights = gradient[weights_of(name)]
        active_rows = into.active_rows.setdefault(weights_of(name), np.zeros(len(weights), dtype=bool))
        add_gradients(sums, weights, gradient[bias_of(name)], active_rows)


def _extra_totals(
    energy: Energy, parameters: Parameters, name: str, extra_name: str, view: ViewBatch, are_samples: bool
) -> np.ndarray:
    """Return the sum over rows of the statistic that belongs to one of a family's extra parameters."""
    family, extra = energy.families[name], energy.extra(parameters, name)
    cells = entries(view.statistic)
    statistics = family.extra_parameters.statistics
    terms = statistics(cells.values, extra, are_samples, cells.columns)[extra_name]
    if view.missing is not None and are_samples:
        inferred = statistics(cells.values, extra, is_sample=False, columns=cells.columns)[extra_name]
        terms = np.where(cells.at(family.codec.spread(view.missing)), inferred, terms)
    totals = cells.column_sums(terms)
    if view.fill is not None:
        totals += statistics(view.fill[1], extra, is_sample=False)[extra_name].sum(axis=0)
    return totals
