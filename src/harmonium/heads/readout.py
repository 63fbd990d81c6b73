"""Readouts: scores as functions of the hidden units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harmonium.core.batch import Batch
from harmonium.core.parameters import Parameters, bias_of, weights_of
from harmonium.energy import Energy
from harmonium.hidden.derivatives import moved_by, secant


class Readout:
    """Base of readouts: from the naturals of the hidden units to the scores of the head."""

    def seen(self, batch: Batch) -> Batch:
        """Return the views that the units are inferred from."""
        return batch

    def scores(self, energy: Energy, parameters: Parameters, natural: np.ndarray) -> np.ndarray:
        """Return the scores of units with some naturals, which are given in float64."""
        raise NotImplementedError

    def unit_effects(
        self, energy: Energy, parameters: Parameters, natural: np.ndarray, before: np.ndarray, parts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return how parts of a move of naturals move units, and these the scores.

        Parameters
        ----------
        energy : Energy
            Structure of the model.
        parameters : dict of str to ndarray
            All parameters of the model.
        natural : ndarray of shape (units,)
            Naturals of a row, in float64.
        before : ndarray of shape (units,)
            Naturals to compare it with, in float64.
        parts : ndarray of shape (parts, units)
            Parts of ``natural - before``.

        Returns
        -------
        moves : ndarray of shape (parts, units)
            Moves of each unit.
        rates : ndarray of shape (units, n_outputs_)
            By how much a score moves with each unit. Parts that add up to ``natural - before`` add up to the move of
            the scores, ``moves @ rates``.
        """
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class LinearReadout(Readout):
    """Scores that are linear in the means of the units; ``of_means`` returns them for means, shape (rows, units)."""

    of_means: Callable[[Energy, Parameters, np.ndarray], np.ndarray]

    def scores(self, energy: Energy, parameters: Parameters, natural: np.ndarray) -> np.ndarray:
        """Return the scores at the means of the units."""
        return self.of_means(energy, parameters, energy.layer(parameters).mean(natural))

    def unit_effects(
        self, energy: Energy, parameters: Parameters, natural: np.ndarray, before: np.ndarray, parts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return moves of means, and the slopes of the scores."""
        ends = np.vstack([np.eye(len(natural)), np.zeros(len(natural))])
        scores = self.of_means(energy, parameters, ends).astype(np.float64)
        return moved_by(energy.layer(parameters), natural, before, parts), scores[:-1] - scores[-1]


@dataclass(frozen=True)
class ClassPosterior(Readout):
    """Scores log p(class, other views) with the units summed out, for classes that are a view.

    What all classes share is left out.
    """

    view: str

    def seen(self, batch: Batch) -> Batch:
        """Return all views but the classes."""
        views = {name: view for name, view in batch.views.items() if name != self.view}
        return Batch(views, batch.n_rows, inputs=batch.inputs)

    def scores(self, energy: Energy, parameters: Parameters, natural: np.ndarray) -> np.ndarray:
        """Return a score for each class."""
        layer, weights = energy.layer(parameters), parameters[weights_of(self.view)]
        natural = natural.astype(np.float64)
        columns = [layer.log_partition(natural + row).sum(axis=1) for row in weights]
        return np.stack(columns, axis=1) + parameters[bias_of(self.view)]

    def unit_effects(
        self, energy: Energy, parameters: Parameters, natural: np.ndarray, before: np.ndarray, parts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the parts themselves, and slopes of the sums over states of each unit."""
        layer, weights = energy.layer(parameters), parameters[weights_of(self.view)]

        def by_class(naturals: np.ndarray) -> np.ndarray:
            return np.stack([layer.log_partition(naturals + row) for row in weights], axis=2)

        return parts, secant(by_class, natural, before)
