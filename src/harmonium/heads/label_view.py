"""The label as one more view: nothing is added to the energy but that view (tri-wing harmonium)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from harmonium.core.parameters import Parameters, weights_of
from harmonium.core.targets import Kind, Labels, TargetSpec
from harmonium.core.validation import Choice
from harmonium.energy import Energy
from harmonium.families import Bernoulli, Categorical, Family, Gaussian
from harmonium.heads.added_view import AddedView
from harmonium.heads.base import Head
from harmonium.heads.outputs import ClassOutputs, LabelOutputs, NumberOutputs, Outputs
from harmonium.heads.outputs.constants import Constants
from harmonium.heads.readout import ClassPosterior, LinearReadout, Readout

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

    References
    ----------
    Yang et al. (2007), Mining concept from multimodal data with tri-wing harmoniums; Chen, Zhu, Sun & Xing (2012),
    Large-margin predictive latent subspace learning for multiview data analysis, §3.2 and §4.4.

    Examples
    --------
    >>> from harmonium.core.targets import Targets
    >>> labels = Labels(TargetSpec("class", [np.arange(3)]), Targets(np.array([[0], [2]]), np.ones(2)))
    >>> LabelView().bind(labels).added_views["label"].family
    Categorical(n_categories=3)
    """

    kinds = ("class", "number", "label")
    settings = {"inference": Choice(("mean_field", "exact"))}
    outputs_: ClassOutputs | LabelOutputs | NumberOutputs

    def __init__(self, inference: Literal["mean_field", "exact"] = "mean_field") -> None:
        self.inference = inference

    def takes(self, kind: Kind) -> bool:
        """Return whether the label can be of a kind; exact inference takes classes only."""
        return kind in (self.kinds if self.inference == "mean_field" else ("class",))

    def outputs_of(self, labels: Labels) -> Outputs:
        """Return numbers of classes, frequencies of labels or the scale of numbers."""
        spec = labels.meaning
        if spec.kind == "class" and len(spec.classes) > 1:
            raise ValueError(
                f"LabelView takes one column of classes; got {len(spec.classes)}; fit a model for each, or use Hinge()."
            )
        if self.inference == "exact" and spec.kind != "class":
            raise ValueError(
                "LabelView needs inference='mean_field' for numbers and several labels at once; got 'exact', which "
                "sums over classes; change it."
            )
        if spec.kind == "number":
            return NumberOutputs.standard(labels.targets.values)
        return LabelOutputs.counted(labels.targets.blocks()) if spec.kind == "label" else ClassOutputs(spec.n_classes)

    def restored_outputs(self, spec: TargetSpec, constants: Constants) -> Outputs:
        """Return the scale of numbers or the frequencies of labels from the constants."""
        if spec.kind == "class":
            return ClassOutputs(spec.n_classes)
        kept = NumberOutputs if spec.kind == "number" else LabelOutputs
        return kept.restored(constants, spec.n_columns)

    @property
    def added_views(self) -> dict[str, AddedView]:
        """The label as a view."""
        kind: Kind = self.outputs_.kind
        family: Family = Bernoulli()
        if kind == "class":
            family = Categorical(self.n_outputs_)
        elif kind == "number":
            # a variance of 1 given the units, of a standardised number, would leave them nothing to explain
            family = Gaussian("learn")
        return {LABEL: AddedView(family, kind)}

    def coefficients(self, parameters: Parameters) -> np.ndarray:
        """Return the weights of the label's view."""
        return parameters[weights_of(LABEL)]

    @property
    def readout(self) -> Readout:
        """Scores by ``inference``, given the other views.

        At the mean field they are naturals of classes and labels, or expected values of numbers.
        """
        return ClassPosterior(LABEL) if self.inference == "exact" else LinearReadout(self._scores_of)

    def _scores_of(self, energy: Energy, parameters: Parameters, hidden_mean: np.ndarray) -> np.ndarray:
        natural = energy.view_natural(parameters, LABEL, hidden_mean)
        if self.outputs_.kind != "number":
            return natural
        return energy.families[LABEL].expected(natural, energy.extra(parameters, LABEL))

    def error(self, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the error of each row.

        For a class it is 1 if it is wrong, for numbers the squared error in units of the variance, for labels the share
        of wrong ones.
        """
        if self.outputs_.kind == "class":
            known = targets[:, 0] >= 0
            return np.where(known, np.argmax(scores, axis=1) != targets[:, 0], 0.0)
        guess = scores if self.outputs_.kind == "number" else (scores > 0).astype(float)
        return np.square(np.where(np.isnan(targets), 0.0, guess - targets)).mean(axis=1)
