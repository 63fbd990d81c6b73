"""The protocol of an objective: add the statistics of a batch. Nothing here loops over epochs."""

from __future__ import annotations

from typing import Any

import numpy as np

from harmonium.core.batch import Batch
from harmonium.core.parameters import Parameters
from harmonium.core.parts import Part
from harmonium.core.validation import Whole
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics

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
