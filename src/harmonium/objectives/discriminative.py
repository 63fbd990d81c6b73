"""Conditional likelihood of the label given the other views, alone or mixed with the joint likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from harmonium.batch import Batch
from harmonium.families import Categorical
from harmonium.heads.label_view import LABEL, LabelView, class_scores, natural_without_label
from harmonium.hidden import SpikeSlab
from harmonium.kernels.products import add_outer_products
from harmonium.kernels.rows import dense
from harmonium.objectives.base import Objective, Problem, count_presence
from harmonium.objectives.contrastive import SampledCD
from harmonium.objectives.statistics import Statistics
from harmonium.params import HIDDEN_BIAS, Parameters, bias_of, weights_of
from harmonium.validation import check_real


class Discriminative(Objective):
    """-log p(label | other views), exact, plus a share of the joint likelihood by contrastive divergence.

    Needs a model whose label is a view (`LabelView`). With ``generative=0`` it is the discriminative RBM, else the
    hybrid one.

    Parameters
    ----------
    generative : float, default=0.0
        Weight of the joint likelihood.
    n_steps : int, default=1
        Gibbs steps of its contrastive divergence.

    References
    ----------
    Larochelle & Bengio (2008), Classification using discriminative restricted Boltzmann machines.

    Examples
    --------
    >>> Discriminative(generative=0.01)
    Discriminative(generative=0.01)
    """

    def __init__(self, generative: float = 0.0, n_steps: int = 1) -> None:
        self.generative = generative
        self.n_steps = n_steps

    @property
    def has_loss(self) -> bool:  # type: ignore[override]
        """The conditional likelihood is one; the share of the joint one is a noisy gradient only."""
        return not self.generative

    def _check(self, problem: Problem) -> None:
        """Refuse a model without classes to tell apart."""
        check_real("Discriminative", "generative", self.generative, inclusive=True, remedy="0 leaves it out")
        if not self.generative and isinstance(problem.energy.hidden, SpikeSlab):
            raise ValueError(
                f"{type(problem.energy.hidden).__name__} selects units by what they explain of the views, which "
                "Discriminative() leaves out; got generative=0; pass a share such as Discriminative(generative=0.1)."
            )
        label = problem.energy.families.get(LABEL)
        if not isinstance(problem.head, LabelView) or not isinstance(label, Categorical):
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
        """Gradient of the conditional likelihood, and of the joint one if it has a share."""
        self._check(problem)
        if self.generative:
            joint = Statistics.zeros_like(parameters)
            SampledCD(self.n_steps).accumulate(problem, parameters, batch, joint, rng)
            for name in problem.moving(parameters):
                into.gradient[name] += self.generative * joint.gradient[name]
        self._add_conditional(problem, parameters, batch, into)
        into.count += batch.n_rows

    def _add_conditional(self, problem: Problem, parameters: Parameters, batch: Batch, into: Statistics) -> None:
        energy = problem.energy
        batch = problem.complete(parameters, batch)
        label = batch.views[LABEL]
        weight = np.ones(batch.n_rows) if label.missing is None else (~label.missing[:, 0]).astype(np.float64)
        if batch.targets is not None:
            weight = weight * batch.targets.weight
        natural = natural_without_label(energy, parameters, batch)
        scores = class_scores(energy, parameters, natural)
        log_total = logsumexp(scores, axis=1)
        truth = np.where(weight[:, None] > 0, dense(label.statistic), 0)
        into.loss += float(weight @ (log_total - (truth * scores).sum(axis=1)))
        by_score = (weight[:, None] * (np.exp(scores - log_total[:, None]) - truth)).astype(natural.dtype)
        by_natural = np.zeros_like(natural)
        layer = energy.layer(parameters)
        count_presence(into, layer, natural)
        class_weights = parameters[weights_of(LABEL)]
        for number, row in enumerate(class_weights):
            share = by_score[:, number, None] * layer.mean(natural + row)
            into.gradient[weights_of(LABEL)][number] += share.sum(axis=0)
            by_natural += share
        into.gradient[bias_of(LABEL)] += by_score.sum(axis=0)
        into.gradient[HIDDEN_BIAS] += by_natural.sum(axis=0)
        for name, view in batch.views.items():
            if name == LABEL:
                continue
            pairs = [(view.statistic, by_natural)]
            if view.fill is not None:
                rows, values = view.fill
                pairs.append((values, by_natural[rows]))
            add_outer_products(pairs, into.gradient[weights_of(name)])
