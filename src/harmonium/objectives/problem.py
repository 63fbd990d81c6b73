"""A model to be trained, and what every objective does with the data side of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from harmonium.core.batch import Batch
from harmonium.core.parameters import HIDDEN, Parameters, extra_of, weights_of
from harmonium.energy import Energy
from harmonium.families.protocol.scale import scale_factors, with_view_scale
from harmonium.heads import Head
from harmonium.heads.added_view import class_view
from harmonium.hidden.selection import Selection, SelectionContext
from harmonium.inference.mean_field import fill_missing
from harmonium.inference.missing import infer_missing
from harmonium.inference.symmetry import is_length_normalized
from harmonium.objectives.guide import Guide, GuidedSelection
from harmonium.objectives.statistics import Statistics, Term


def inferred(
    energy: Energy,
    head: Head | None,
    parameters: Parameters,
    batch: Batch,
    reference: dict[str, np.ndarray],
    n_iterations: int = 10,
) -> Batch:
    """Return the batch with its missing part inferred by a model.

    Where classes are a view it is by mean field: a model that learned p(y | x) alone does not know what it sums over.
    """
    by = infer_missing if head is None or class_view(head.added_views) is None else fill_missing
    return by(energy, parameters, batch, reference, n_iterations)


@dataclass(frozen=True)
class Problem:
    """A model to be trained; nothing about it changes while it is trained.

    Attributes
    ----------
    energy : Energy
        Structure of the model.
    reference : dict of str to ndarray
        Mean statistics of the training data, by view.
    head : Head, optional
        What is predicted.
    loss_weight : float
        Weight of the head's loss in nats: C times what an average item costs to describe.
    view_weights : mapping of str to float
        How much each view weighs while the model is trained; those that are not named weigh 1.
    guide : Guide, optional
        Seeds of the first topics.
    """

    energy: Energy
    reference: dict[str, np.ndarray]
    head: Head | None = None
    loss_weight: float = 0.0
    view_weights: Mapping[str, float] = field(default_factory=dict)
    guide: Guide | None = None

    @property
    def known_head(self) -> Head:
        """The head of a problem that has one."""
        assert self.head is not None
        return self.head

    @property
    def predicting(self) -> Problem:
        """The problem of the units that the head's loss moves; this one, unless the layer has other units too."""
        layer = self.energy.hidden.groups.predictors
        if layer is self.energy.hidden:
            return self
        return replace(self, energy=Energy(self.energy.families, layer), guide=None)

    def with_view_scale(self) -> Problem:
        """Return the problem with columns that keep their relative scales, in families that leave that open."""
        families = {name: with_view_scale(family) for name, family in self.energy.families.items()}
        factors = {name: scale_factors(self.energy.families[name], family) for name, family in families.items()}
        reference = {name: (factors[name] * mean).astype(mean.dtype) for name, mean in self.reference.items()}
        return replace(self, energy=Energy(families, self.energy.hidden), reference=reference)

    def complete(self, parameters: Parameters, batch: Batch) -> Batch:
        """Return the batch with its missing part inferred, for a gradient.

        Three mean-field steps: a convention, as a gradient needs less precision than a prediction.
        """
        return fill_missing(self.energy, parameters, batch, self.reference, n_iterations=3)

    def complete_to_predict(self, parameters: Parameters, batch: Batch) -> Batch:
        """Return the batch with its missing part inferred as it is by a fitted model."""
        return inferred(self.energy, self.head, parameters, batch, self.reference)

    def data_term(
        self, parameters: Parameters, batch: Batch, into: Statistics, with_loss: bool = False
    ) -> tuple[Term, np.ndarray]:
        """Return the completed batch as a term of the gradient, and its hidden naturals.

        The loss and gradient of the head, and the counts of the hidden layer, are added to ``into``.
        """
        batch = self.complete(parameters, batch)
        natural = self.energy.hidden_natural(parameters, batch)
        layer = self.energy.layer(parameters)
        hidden_mean = layer.mean(natural)
        term = Term(batch, hidden_mean, -1.0)
        if self.head is not None and batch.targets is not None:
            targets = batch.targets
            if self.head.input_parts_:
                offset = np.sum([part.scores(self.energy.families, batch) for part in self.head.input_parts_], axis=0)
                targets = replace(targets, offset=offset)
            loss, term.head_gradient = self.head.add_statistics(
                into.gradient, parameters, layer, natural, hidden_mean, targets, self.loss_weight
            )
            into.loss += loss if with_loss else 0.0
        into.counts = into.counts + layer.selection.counts(natural, hidden_mean)
        return term, natural

    def moving(self, parameters: Parameters) -> Parameters:
        """Return the parameters that gradients move: not the prior of hidden units, nor a head that is solved for."""
        still = {extra_of(HIDDEN, name) for name in self.energy.hidden.extra_parameters()}
        if self.head is not None and self.head.is_solved:
            still |= set(self.head.initial_parameters(self.energy.hidden))
        return {name: value for name, value in parameters.items() if name not in still}

    def selection(self, n_items: int, streams: bool = False) -> Selection:
        """Return what the hidden layer does about its units while it is trained on ``n_items`` rows.

        ``streams`` says that rows come batch after batch.
        """
        variances = {
            weights_of(name): family.statistic_variance(self.reference[name], family.extra_parameters.initial).astype(
                np.float32
            )
            for name, family in self.energy.families.items()
        }
        has_head = self.head is not None
        context = SelectionContext(
            n_items, variances, self.loss_weight, has_head, streams, is_length_normalized(self.energy)
        )
        own = self.energy.hidden.selection.start(context)
        return own if self.guide is None else GuidedSelection(own, self.guide)
