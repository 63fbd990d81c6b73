"""The label as one more view: nothing is added to the energy but that view (tri-wing harmonium)."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np

from harmonium.batch import Batch, Targets
from harmonium.energy import Energy
from harmonium.families import Bernoulli, Categorical, Family, Gaussian
from harmonium.heads.base import Head, standard
from harmonium.params import Parameters, bias_of, weights_of

LABEL = "label"


class LabelView(Head):
    """The label is a view of its own; to predict is to infer it from the others.

    The view is called "label": categorical for classes, Gaussian for numbers, Bernoulli for several labels at once. It
    is there or not: of sample weights only those of 0 matter, unless the objective is `Discriminative`.

    Parameters
    ----------
    inference : {"mean_field", "exact"}, default="mean_field"
        Iterate label mean ↔ hidden mean, as the paper does, or sum the hidden units out for each class: exact, one
        product more for each class, for classes only.

    References
    ----------
    Yang et al. (2007), Mining concept from multimodal data with tri-wing harmoniums; Chen, Zhu, Sun & Xing (2012),
    Large-margin predictive latent subspace learning for multiview data analysis, §3.2 and §4.4.

    Examples
    --------
    >>> LabelView().bind(Targets(np.array([[0], [1], [2]]), np.ones(3)), [3]).family
    Categorical(n_categories=3)
    """

    kinds = ("class", "number", "label")
    location_: np.ndarray
    scale_: np.ndarray
    _kind: str

    def __init__(self, inference: Literal["mean_field", "exact"] = "mean_field") -> None:
        self.inference = inference

    def check(self) -> None:
        """The kind of inference."""
        if self.inference not in ("mean_field", "exact"):
            raise ValueError(f"LabelView needs inference 'mean_field' or 'exact'; got {self.inference!r}; take one.")

    def takes(self, kind: str) -> bool:
        """Exact inference sums over classes."""
        return kind in (self.kinds if self.inference == "mean_field" else ("class",))

    def bind(self, targets: Targets, n_classes: list[int]) -> Self:
        """Number of scores: of classes, or of columns."""
        is_class = np.issubdtype(targets.values.dtype, np.integer)
        if is_class and len(n_classes) > 1:
            raise ValueError(
                f"LabelView takes one column of classes; got {len(n_classes)}; fit a model for each, or use Hinge()."
            )
        if self.inference == "exact" and not is_class:
            raise ValueError(
                "LabelView needs inference='mean_field' for numbers and several labels at once; got 'exact', which "
                "sums over classes; change it."
            )
        # labels have two classes each, numbers have none
        kind = "class" if is_class else "label" if n_classes else "number"
        n_outputs = n_classes[0] if is_class else targets.values.shape[1]
        location, scale = np.zeros(n_outputs), np.ones(n_outputs)
        if kind == "number":
            location, scale = standard(targets.values)
        constants = {"kind": np.array(self.kinds.index(kind)), "location": location, "scale": scale}
        return self.restore(n_classes, constants)

    def constants(self) -> dict[str, np.ndarray]:
        """Kind of targets, mean and standard deviation."""
        return {"kind": np.array(self.kinds.index(self._kind)), "location": self.location_, "scale": self.scale_}

    def restore(self, n_classes: list[int], constants: dict[str, np.ndarray]) -> Self:
        """Inverse of `bind`, from the constants."""
        location, scale = constants["location"], constants["scale"]
        number = int(constants["kind"])
        if number not in range(len(self.kinds)):
            raise ValueError(f"the kind of label is {number}")
        kind = self.kinds[number]
        return self.bound(n_outputs_=len(location), location_=location, scale_=scale, _kind=kind)

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Standardised numbers; classes and labels as they are."""
        return (values - self.location_) / self.scale_ if self._kind == "number" else values

    def decode(self, scores: np.ndarray) -> np.ndarray:
        """Scores of numbers in the units of the targets."""
        return scores * self.scale_ + self.location_

    @property
    def family(self) -> Family:
        """Family of the label."""
        if self._kind == "class":
            return Categorical(self.n_outputs_)
        # a standardised number with a conditional variance of 1 would leave the hidden units nothing to explain
        return Bernoulli() if self._kind == "label" else Gaussian("learn")

    def matrix(self, targets: Targets) -> np.ndarray:
        """The label as data of a view: NaN where it is unknown."""
        values = targets.values.astype(np.float64)
        return np.where(values < 0, np.nan, values) if self._kind == "class" else values

    def scores(self, energy: Energy, parameters: Parameters, batch: Batch) -> np.ndarray:
        """Naturals of the label's classes given the rest of a row; expected values for numbers."""
        if self.inference == "exact":
            return class_scores(energy, parameters, natural_without_label(energy, parameters, batch))
        natural = energy.hidden_natural(parameters, batch).astype(np.float64)
        hidden_mean = energy.layer(parameters).mean(natural)
        natural = energy.view_natural(parameters, LABEL, hidden_mean)
        if self._kind != "number":
            return natural
        family = energy.families[LABEL]
        return family.decode(family.mean(natural, energy.own(parameters, LABEL)))

    def error(self, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Whether the class is wrong, squared error in units of the variance, or share of wrong labels."""
        if self._kind == "class":
            known = targets[:, 0] >= 0
            return np.where(known, np.argmax(scores, axis=1) != targets[:, 0], 0.0)
        guess = scores if self._kind == "number" else (scores > 0).astype(float)
        return np.square(np.where(np.isnan(targets), 0.0, guess - targets)).mean(axis=1)


def natural_without_label(energy: Energy, parameters: Parameters, batch: Batch) -> np.ndarray:
    """Hidden naturals from all views but the label."""
    others = {name: view for name, view in batch.views.items() if name != LABEL}
    return energy.hidden_natural(parameters, Batch(others, batch.n_rows))


def class_scores(energy: Energy, parameters: Parameters, natural: np.ndarray) -> np.ndarray:
    """log p(class, other views) up to what all classes share, with the hidden units summed out: (rows, classes)."""
    weights, bias = parameters[weights_of(LABEL)], parameters[bias_of(LABEL)]
    natural = natural.astype(np.float64)
    layer = energy.layer(parameters)
    columns = [layer.log_partition(natural + row).sum(axis=1) for row in weights]
    return np.stack(columns, axis=1) + bias
