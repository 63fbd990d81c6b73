"""What a head must be able to do: score rows, say how wrong the scores are, and turn them into predictions.

`Head` is what everyone else sees. `harmonium.heads.linear` has the base of heads that are linear in the hidden means:
there a new head is a loss on scores and its sub-gradient by the scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np

from harmonium.batch import Batch
from harmonium.energy import Energy
from harmonium.families import Family
from harmonium.heads.outputs import UNCALIBRATED, Outputs
from harmonium.hidden import HiddenLayer
from harmonium.kernels.dual import TOLERANCE
from harmonium.params import Parameters
from harmonium.parts import Part
from harmonium.targets import Kind, Labels, Meaning, Targets

Constants = Mapping[str, np.ndarray]


class Head(Part):
    """Base of all heads: a prediction that is trained together with the latent space.

    A subclass names the kinds of targets it predicts and defines `bind`, `restore`, `scores`, `error` and
    `coefficients`. What follows from the meaning of the scores (predictions, decisions, probabilities, calibration) is
    derived from ``outputs_``. A head whose scores are linear in the hidden means derives from `LinearHead`.

    Attributes
    ----------
    n_outputs_ : int
        Number of scores of a row.
    outputs_ : Outputs
        Meaning of the scores: one of the classes of `harmonium.heads.outputs`.
    factors_ : ndarray
        Factors that calibration on held-out rows has found; empty before.

    See Also
    --------
    LinearHead : Base of heads that are linear in the hidden means.

    Notes
    -----
    A head belongs to the user and is never changed: `bind`, `restore` and `calibrated` return copies.

    Examples
    --------
    >>> from harmonium import Hinge
    >>> head = Hinge(C=1.0)
    >>> head.takes("class"), head.takes("number")
    (True, False)
    """

    role = "head"
    #: kinds of targets it takes: class numbers ("class"), numbers ("number"), 0 and 1 for several labels ("label")
    kinds: tuple[Kind, ...] = ()
    #: names of the views that it adds to the model
    view_names: tuple[str, ...] = ()
    #: whether rows can weigh more or less in what it learns from
    weighs_rows: bool = True
    n_outputs_: int
    outputs_: Outputs
    factors_: np.ndarray = UNCALIBRATED

    # ---- settings and binding ------------------------------------------------------------------------------------
    def takes(self, kind: Kind) -> bool:
        """Return whether the head predicts targets of a kind.

        Parameters
        ----------
        kind : {"class", "number", "label"}
            Classes, numbers, or several labels at once.

        Returns
        -------
        bool
            True if the kind is one of ``kinds`` and the settings allow it.
        """
        return kind in self.kinds

    def bind(self, labels: Labels) -> Self:
        """Return a copy of the head that knows what it predicts.

        Parameters
        ----------
        labels : Labels
            Targets of all training rows as the user gave them, and their meaning.

        Returns
        -------
        Head
            A head of the same settings that has ``n_outputs_``, ``outputs_`` and whatever else it learns from the
            labels before training starts.
        """
        raise NotImplementedError

    def constants(self) -> dict[str, np.ndarray]:
        """Return the fitted arrays that a file has to keep.

        Returns
        -------
        dict of str to ndarray
            Arrays by name; "factors" is always among them.
        """
        return {"factors": self.factors_}

    def restore(self, meaning: Meaning, constants: Constants) -> Self:
        """Return a copy of the head as `bind` and `constants` described it.

        Parameters
        ----------
        meaning : Meaning
            Kind, classes and columns of the targets.
        constants : mapping of str to ndarray
            What `constants` returned.

        Returns
        -------
        Head
            A head that predicts as the one whose constants were kept.

        Raises
        ------
        ValueError
            If the constants are missing, not finite, or do not fit the meaning.
        """
        raise NotImplementedError

    def targets(self, labels: Labels) -> Targets:
        """Return the targets in the form in which the loss takes them.

        Parameters
        ----------
        labels : Labels
            Targets as the user gave them, and their meaning.

        Returns
        -------
        Targets
            Values of shape (rows, columns) and weights of shape (rows,), such as standardised numbers or weights that
            are multiplied by those of the classes.
        """
        return labels.targets

    # ---- what it adds to the model -------------------------------------------------------------------------------
    def added_views(self, targets: Targets) -> dict[str, tuple[Family, np.ndarray]]:
        """Return the views that the head adds to the model.

        Parameters
        ----------
        targets : Targets
            Targets of all training rows, as `targets` returns them.

        Returns
        -------
        dict of str to (Family, ndarray)
            Family and data of each view in ``view_names``; the data have a row for each training row, and NaN where the
            target is unknown.
        """
        return {}

    def names_of_added(self, meaning: Meaning) -> dict[str, list[str]]:
        """Return the names of the features of the views that the head adds.

        Parameters
        ----------
        meaning : Meaning
            Kind, classes, columns and names of the targets.

        Returns
        -------
        dict of str to list of str
            Names by view in ``view_names``.
        """
        return {}

    @property
    def class_view(self) -> str | None:
        """Name of the view that holds the classes; None if no view does."""
        return None

    def initial_parameters(self, layer: HiddenLayer) -> Parameters:
        """Return the parameters of the head itself, as training starts.

        Parameters
        ----------
        layer : HiddenLayer
            The hidden layer, which knows its number of units.

        Returns
        -------
        dict of str to ndarray
            Arrays in float32 whose names start with "head."; empty for a head without parameters of its own.
        """
        return {}

    # ---- learning ------------------------------------------------------------------------------------------------
    @property
    def weights_to_try(self) -> tuple[float, ...]:
        """Weights of the loss to choose from on held-out rows, in the order of trial.

        In units of what an average item costs to describe. A single weight is taken without a choice.
        """
        return (1.0,)

    @property
    def is_solved(self) -> bool:
        """Whether the parameters are solved for between epochs, not moved by gradients."""
        return False

    def no_batches(self) -> str | None:
        """Return why the head cannot be trained by ``partial_fit``.

        Returns
        -------
        str or None
            One sentence that says what to do instead; None if it can.
        """
        return None

    def add_statistics(
        self,
        gradient: Parameters,
        parameters: Parameters,
        layer: HiddenLayer,
        natural: np.ndarray,
        hidden_mean: np.ndarray,
        targets: Targets,
        strength: float,
    ) -> tuple[float, np.ndarray | None]:
        """Add the gradient of a batch and return its loss.

        Parameters
        ----------
        gradient : dict of str to ndarray
            Sums of gradients by parameter. The gradient by the head's own parameters is added to them in place.
        parameters : dict of str to ndarray
            All parameters of the model.
        layer : HiddenLayer
            The hidden layer at its own parameters.
        natural : ndarray of shape (rows, units)
            Natural parameters of the hidden units given the views.
        hidden_mean : ndarray of shape (rows, units)
            E[h | x], the means at these naturals.
        targets : Targets
            Targets of the same rows. Unknown ones must add nothing.
        strength : float
            Factor of loss and gradient, in nats.

        Returns
        -------
        loss : float
            Sum over the rows of the weighted loss, times ``strength``.
        by_natural : ndarray of shape (rows, units) or None
            Sub-gradient of that loss by ``natural``; None if the head has no loss.
        """
        return 0.0, None

    def solve(
        self, hidden_mean: np.ndarray, targets: Targets, dual: Any = None, tolerance: float = TOLERANCE
    ) -> tuple[Parameters, Any]:
        """Return the best parameters for fixed hidden means.

        Only called if ``is_solved`` is True.

        Parameters
        ----------
        hidden_mean : ndarray of shape (rows, units)
            E[h | x] of all training rows.
        targets : Targets
            Targets of the same rows.
        dual : object, optional
            What the last call returned for the same rows, to continue from.
        tolerance : float, default=1e-4
            Gap to the optimum, relative to the objective, that may remain.

        Returns
        -------
        parameters : dict of str to ndarray
            The head's own parameters.
        dual : object
            State from which the next call can continue.
        """
        raise NotImplementedError

    # ---- predicting ----------------------------------------------------------------------------------------------
    def scores(self, energy: Energy, parameters: Parameters, batch: Batch) -> np.ndarray:
        """Return the scores of the rows of a batch.

        Parameters
        ----------
        energy : Energy
            Structure of the model.
        parameters : dict of str to ndarray
            All parameters of the model.
        batch : Batch
            Rows whose missing part has been filled in; views that the head adds count as missing.

        Returns
        -------
        ndarray of shape (rows, n_outputs_)
            Scores, which ``outputs_`` can interpret.
        """
        raise NotImplementedError

    def error(self, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the error of each row, by which settings are chosen on held-out rows.

        Parameters
        ----------
        scores : ndarray of shape (rows, n_outputs_)
            Scores of the rows.
        targets : ndarray of shape (rows, columns)
            Values of the targets, as `targets` returns them.

        Returns
        -------
        ndarray of shape (rows,)
            Errors, of which the mean is to be small; zero where the target is unknown.
        """
        raise NotImplementedError

    def coefficients(self, parameters: Parameters) -> np.ndarray:
        """Return the weights of the topics in the scores.

        Parameters
        ----------
        parameters : dict of str to ndarray
            All parameters of the model.

        Returns
        -------
        ndarray of shape (n_outputs_, units)
            A row for each score; a single one if all scores share it.
        """
        raise NotImplementedError

    def calibrated(self, scores: np.ndarray, targets: Targets) -> Self:
        """Return a copy of the head that has learned what its scores are worth.

        Parameters
        ----------
        scores : ndarray of shape (rows, n_outputs_)
            Scores of rows that the model was not trained on.
        targets : Targets
            Targets of the same rows.

        Returns
        -------
        Head
            A head with ``factors_``, which `predict`, `decisions` and `probabilities` use.
        """
        return self._with_factors(self.outputs_.calibrate(scores, targets))

    def predict(self, scores: np.ndarray) -> np.ndarray:
        """Return what the scores predict.

        Parameters
        ----------
        scores : ndarray of shape (rows, n_outputs_)
            Scores of the rows.

        Returns
        -------
        ndarray of shape (rows, columns)
            Class numbers, 0 and 1 for labels, or numbers in the units of the user's targets.
        """
        return self.outputs_.predict(scores, self.factors_)

    def decisions(self, scores: np.ndarray) -> Any:
        """Return the decision function of scikit-learn; heads of numbers have none.

        Parameters
        ----------
        scores : ndarray of shape (rows, n_outputs_)
            Scores of the rows.

        Returns
        -------
        list of ndarray, or ndarray
            For classes a list with an array for each column: shape (rows, classes), or (rows,) for two classes. For
            labels one array of shape (rows, labels).
        """
        return self.outputs_.decisions(scores, self.factors_)

    def probabilities(self, scores: np.ndarray) -> Any:
        """Return the probabilities of classes or labels; heads of numbers have none.

        Parameters
        ----------
        scores : ndarray of shape (rows, n_outputs_)
            Scores of the rows.

        Returns
        -------
        list of ndarray, or ndarray
            For classes a list with an array of shape (rows, classes) for each column; for labels one array of shape
            (rows, labels).
        """
        return self.outputs_.probabilities(scores, self.factors_)

    def _with_factors(self, factors: np.ndarray) -> Self:
        if factors.shape not in ((0,), (self.outputs_.n_factors,)) or not np.isfinite(factors).all():
            raise ValueError(f"the factors of probabilities must be {self.outputs_.n_factors} finite numbers")
        result = copy(self)
        result.factors_ = factors
        return result


def constant(constants: Constants, name: str, length: int) -> np.ndarray:
    """Return an array that a file kept; raise a ValueError unless it is ``length`` finite numbers."""
    value = constants.get(name)
    if value is None or value.shape != (length,) or not np.isfinite(value).all():
        raise ValueError(f"{name} of the head must be finite numbers of shape ({length},)")
    return value
