"""The label as one more view: nothing is added to the energy but that view (tri-wing harmonium)."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np

from harmonium.batch import Batch
from harmonium.energy import Energy
from harmonium.families import Bernoulli, Categorical, Family, Gaussian
from harmonium.heads.base import Head
from harmonium.heads.outputs import ClassOutputs, LabelOutputs, NumberOutputs, Outputs
from harmonium.heads.outputs.constants import Constants
from harmonium.hidden.base import secant
from harmonium.params import Parameters, bias_of, weights_of
from harmonium.targets import Kind, Labels, Targets, TargetSpec
from harmonium.validation import Choice

LABEL = "label"


class LabelView(Head):
    """The label as one more view; to predict is to infer it from the other views.

    The view is called "label": `Categorical` for classes, `Gaussian` for numbers, `Bernoulli` for several labels at
    once. It is observed or missing: a sample weight of 0 makes it missing, other weights are not used, unless the
    objective is `Discriminative`.

    Parameters
    ----------
    inference : {"mean_field", "exact"}, default="mean_field"
        Iterate between label mean and hidden mean, as the papers do; or sum the hidden units out for each class, which
        is exact, costs one more product for each class, and is for classes only.

    Attributes
    ----------
    n_outputs_ : int
        Number of classes, labels or numbers.
    outputs_ : Outputs
        Meaning of the scores.
    factors_ : ndarray
        What calibration on held-out rows has found; empty before.

    References
    ----------
    Yang et al. (2007), Mining concept from multimodal data with tri-wing harmoniums; Chen, Zhu, Sun & Xing (2012),
    Large-margin predictive latent subspace learning for multiview data analysis, §3.2 and §4.4.

    Examples
    --------
    >>> labels = Labels(TargetSpec("class", [np.arange(3)]), Targets(np.array([[0], [2]]), np.ones(2)))
    >>> LabelView().bind(labels).added_views(labels.targets)["label"][0]
    Categorical(n_categories=3)
    """

    kinds = ("class", "number", "label")
    settings = {"inference": Choice(("mean_field", "exact"))}
    view_names = (LABEL,)
    weighs_rows = False
    _kind: Kind

    def __init__(self, inference: Literal["mean_field", "exact"] = "mean_field") -> None:
        self.inference = inference

    def takes(self, kind: Kind) -> bool:
        """Return whether the label can be of a kind; exact inference takes classes only."""
        return kind in (self.kinds if self.inference == "mean_field" else ("class",))

    def bind(self, labels: Labels) -> Self:
        """Return a copy that knows its number of scores, and the scale of numbers."""
        meaning = labels.meaning
        if meaning.kind == "class" and len(meaning.classes) > 1:
            raise ValueError(
                f"LabelView takes one column of classes; got {len(meaning.classes)}; fit a model for each, or use "
                "Hinge()."
            )
        if self.inference == "exact" and meaning.kind != "class":
            raise ValueError(
                "LabelView needs inference='mean_field' for numbers and several labels at once; got 'exact', which "
                "sums over classes; change it."
            )
        if meaning.kind == "number":
            return self._with_outputs("number", NumberOutputs.standard(labels.targets.values), meaning.n_columns)
        if meaning.kind == "label":
            return self._with_outputs("label", LabelOutputs.counted(labels.targets.blocks()), len(meaning.classes))
        return self._with_outputs("class", ClassOutputs(meaning.n_classes), sum(meaning.n_classes))

    def with_more(self, labels: Labels) -> Self:
        """Return a copy whose frequencies of labels are those of more rows."""
        if not isinstance(self.outputs_, LabelOutputs):
            return self
        return self._knowing(self.outputs_.with_more(labels.targets))

    def _with_outputs(self, kind: Kind, outputs: Outputs, n_outputs: int) -> Self:
        return self.with_fitted(_kind=kind, outputs_=outputs, n_outputs_=n_outputs)

    def constants(self) -> dict[str, np.ndarray]:
        """Return the scale of numbers or the frequencies of labels, and the factors."""
        return super().constants() | self.outputs_.constants()

    def restore(self, meaning: TargetSpec, constants: Constants) -> Self:
        """Return a copy with scale or frequencies from the constants."""
        outputs: Outputs = ClassOutputs(meaning.n_classes)
        if meaning.kind == "number":
            outputs = NumberOutputs.restored(constants, meaning.n_columns)
        elif meaning.kind == "label":
            outputs = LabelOutputs.restored(constants, meaning.n_columns)
        n_outputs = sum(meaning.n_classes) if meaning.kind == "class" else meaning.n_columns
        return self._with_outputs(meaning.kind, outputs, n_outputs)._with_factors(constants["factors"])

    def targets(self, labels: Labels) -> Targets:
        """Return standardised numbers; classes and labels as they are."""
        if not isinstance(self.outputs_, NumberOutputs):
            return labels.targets
        return Targets(self.outputs_.encode(labels.targets.values), labels.targets.weight)

    def added_views(self, targets: Targets) -> dict[str, tuple[Family, np.ndarray]]:
        """Return the label as a view."""
        values = targets.values.astype(np.float64)
        if self._kind == "class":
            return {LABEL: (Categorical(self.n_outputs_), np.where(values < 0, np.nan, values))}
        # a standardised number with a conditional variance of 1 would leave the hidden units nothing to explain
        return {LABEL: (Bernoulli() if self._kind == "label" else Gaussian("learn"), values)}

    def names_of_added(self, meaning: TargetSpec) -> dict[str, list[str]]:
        """Return the names of the outputs, with the class if it is one ("species=cat")."""
        columns = list(meaning.names or [f"{LABEL}_{number}" for number in range(meaning.n_columns)])
        if self._kind == "class":
            columns = [f"{columns[0]}={name}" for name in meaning.classes[0]]
        return {LABEL: columns}

    @property
    def class_view(self) -> str | None:
        """Name of the label's view if the label is a class; else None."""
        return LABEL if self._kind == "class" else None

    def coefficients(self, parameters: Parameters) -> np.ndarray:
        """Return the weights of the label's view."""
        return parameters[weights_of(LABEL)]

    def scores(self, energy: Energy, parameters: Parameters, batch: Batch) -> np.ndarray:
        """Return the naturals of classes and labels, or the expected values of numbers.

        All are given the other views. With exact inference, scores of classes are log p(class, other views), up to what
        all classes share.
        """
        natural = energy.hidden_natural(parameters, self.seen(batch)).astype(np.float64)
        return self.scores_at(energy, parameters, natural)

    def seen(self, batch: Batch) -> Batch:
        """Return all views, without the label's if it is summed over."""
        return without_view(batch, LABEL) if self.inference == "exact" else batch

    def scores_at(self, energy: Energy, parameters: Parameters, natural: np.ndarray) -> np.ndarray:
        """Return the scores at some naturals of the hidden units."""
        if self.inference == "exact":
            return class_scores(energy, parameters, natural, LABEL)
        return super().scores_at(energy, parameters, natural)

    def scores_given_hidden(self, energy: Energy, parameters: Parameters, hidden_mean: np.ndarray) -> np.ndarray:
        """Return naturals of classes and labels, or expected numbers, given the means."""
        natural = energy.view_natural(parameters, LABEL, hidden_mean)
        if self._kind != "number":
            return natural
        return energy.families[LABEL].expected(natural, energy.own(parameters, LABEL))

    def unit_effects(
        self, energy: Energy, parameters: Parameters, natural: np.ndarray, before: np.ndarray, parts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return, if units are summed out, the parts themselves and slopes of the sums."""
        if self.inference != "exact":
            return super().unit_effects(energy, parameters, natural, before, parts)
        layer, weights = energy.layer(parameters), parameters[weights_of(LABEL)]

        def by_class(naturals: np.ndarray) -> np.ndarray:
            return np.stack([layer.log_partition(naturals + row) for row in weights], axis=2)

        return parts, secant(by_class, natural, before)

    def error(self, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the error of each row.

        For a class it is 1 if it is wrong, for numbers the squared error in units of the variance, for labels the share
        of wrong ones.
        """
        if self._kind == "class":
            known = targets[:, 0] >= 0
            return np.where(known, np.argmax(scores, axis=1) != targets[:, 0], 0.0)
        guess = scores if self._kind == "number" else (scores > 0).astype(float)
        return np.square(np.where(np.isnan(targets), 0.0, guess - targets)).mean(axis=1)


def natural_without(energy: Energy, parameters: Parameters, batch: Batch, view: str) -> np.ndarray:
    """Return the hidden naturals that all views but one give, shape (rows, units)."""
    return energy.hidden_natural(parameters, without_view(batch, view))


def without_view(batch: Batch, view: str) -> Batch:
    """Return a batch without one of its views."""
    views = {name: other for name, other in batch.views.items() if name != view}
    return Batch(views, batch.n_rows, inputs=batch.inputs)


def class_scores(energy: Energy, parameters: Parameters, natural: np.ndarray, view: str) -> np.ndarray:
    """Return log p(class, other views) with the hidden units summed out, shape (rows, classes).

    What all classes share is left out. ``natural`` holds the hidden naturals that the other views give.
    """
    weights, bias = parameters[weights_of(view)], parameters[bias_of(view)]
    natural = natural.astype(np.float64)
    layer = energy.layer(parameters)
    columns = [layer.log_partition(natural + row).sum(axis=1) for row in weights]
    return np.stack(columns, axis=1) + bias
