"""Conditional likelihood of the label given the other views, alone or mixed with the joint likelihood."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN_BIAS, Parameters, bias_of, weights_of
from harmonium.core.validation import Number
from harmonium.heads.added_view import class_view
from harmonium.heads.readout import ClassPosterior
from harmonium.kernels.sparse.matrix import to_dense
from harmonium.kernels.sparse.products import add_outer_products
from harmonium.objectives.base import STEPS, Objective
from harmonium.objectives.contrastive import SampledCD
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics


class Discriminative(Objective):
    """Exact -log p(label | other views), plus a share of the joint likelihood.

    The joint likelihood is followed by contrastive divergence. The model must have classes that are a view
    (`LabelView`). With ``generative=0`` it is a discriminative RBM, else a hybrid one.

    Parameters
    ----------
    generative : float, default=0.0
        Weight of the joint likelihood beside the conditional one.
    n_steps : int, default=1
        Number of Gibbs steps of the contrastive divergence.

    References
    ----------
    Larochelle & Bengio (2008), Classification using discriminative restricted Boltzmann machines.

    Examples
    --------
    >>> Discriminative(generative=0.01)
    Discriminative(generative=0.01)
    """

    settings = {"generative": Number(inclusive=True, remedy="0 leaves it out"), "n_steps": STEPS}
    weighs_labels = True

    def __init__(self, generative: float = 0.0, n_steps: int = 1) -> None:
        self.generative = generative
        self.n_steps = n_steps

    @property
    def has_loss(self) -> bool:  # type: ignore[override]
        """Whether there is a loss: the joint likelihood has a noisy gradient only."""
        return not self.generative

    def check_model(self, problem: Problem) -> None:
        """Refuse a model without a view of classes, and units that nothing could select."""
        layer = problem.energy.hidden
        if not self.generative and layer.selection.selects:
            raise ValueError(
                f"{type(layer).__name__} selects units by what they explain of the views, which Discriminative() "
                "leaves out; got generative=0; pass a share such as Discriminative(generative=0.1)."
            )
        if problem.head is None or class_view(problem.head.added_views) is None:
            raise ValueError(
                "Discriminative needs classes that are a view; the model has none; pass head=LabelView() to "
                "HarmoniumClassifier, or use the recipe DiscriminativeRBM."
            )

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
        """Add the gradient of the conditional likelihood and a share of the joint one's."""
        if self.generative:
            joint = Statistics.zeros_like(parameters)
            SampledCD(self.n_steps).accumulate(problem, parameters, batch, joint, rng)
            for name in problem.moving(parameters):
                into.gradient[name] += self.generative * joint.gradient[name]
        self._add_conditional(problem, parameters, batch, into)
        into.count += batch.n_rows

    def _add_conditional(self, problem: Problem, parameters: Parameters, batch: Batch, into: Statistics) -> None:
        energy = problem.energy
        assert problem.head is not None
        name_of_label = class_view(problem.head.added_views)
        assert name_of_label is not None
        label = batch.views[name_of_label]
        batch = _completed_blindly(problem, parameters, batch, name_of_label)
        weight = np.ones(batch.n_rows) if label.missing is None else (~label.missing[:, 0]).astype(np.float64)
        if batch.targets is not None:
            weight = weight * batch.targets.loss_weight
        readout = ClassPosterior(name_of_label)
        natural = energy.hidden_natural(parameters, readout.seen(batch))
        scores = readout.scores(energy, parameters, natural)
        log_total = logsumexp(scores, axis=1)
        truth = np.where(weight[:, None] > 0, to_dense(label.statistic), 0)
        into.loss += float(weight @ (log_total - (truth * scores).sum(axis=1)))
        by_score = (weight[:, None] * (np.exp(scores - log_total[:, None]) - truth)).astype(natural.dtype)
        by_natural = np.zeros_like(natural)
        layer = energy.layer(parameters)
        into.counts = into.counts + layer.selection.counts(natural)
        class_weights = parameters[weights_of(name_of_label)]
        for number, row in enumerate(class_weights):
            share = by_score[:, number, None] * layer.mean(natural + row)
            into.gradient[weights_of(name_of_label)][number] += share.sum(axis=0)
            by_natural += share
        into.gradient[bias_of(name_of_label)] += by_score.sum(axis=0)
        into.gradient[HIDDEN_BIAS] += by_natural.sum(axis=0)
        for name, view in batch.views.items():
            if name == name_of_label:
                continue
            weighted = energy.row_weighted(name, by_natural, view.size)
            pairs = [(view.statistic, weighted)]
            if view.fill is not None:
                rows, values = view.fill
                pairs.append((values, weighted[rows]))
            add_outer_products(pairs, into.gradient[weights_of(name)])


def _completed_blindly(problem: Problem, parameters: Parameters, batch: Batch, name_of_label: str) -> Batch:
    """Return the batch with what its other views lack inferred as for a prediction, which does not know the label."""
    others = [view for name, view in batch.views.items() if name != name_of_label]
    if not any(view.missing is not None and view.missing.any() for view in others):
        return batch
    label = batch.views[name_of_label]
    unknown = np.ones((batch.n_rows, problem.energy.families[name_of_label].codec.n_sites), dtype=bool)
    blind = ViewBatch(np.zeros_like(to_dense(label.statistic)), label.size, unknown)
    return problem.complete(parameters, replace(batch, views={**batch.views, name_of_label: blind}))
