"""Multi-omics factor analysis (mofapy2), of matrices that share their rows."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np


def factor_expectations(
    matrices: list[np.ndarray], likelihoods: list[str], n_factors: int, n_steps: int, seed: int = 0
) -> Any:
    """Return posterior expectations by name: factors Z, weights W and noise precisions Tau of each matrix."""
    from mofapy2.run.entry_point import entry_point

    with contextlib.redirect_stdout(io.StringIO()):
        entry = entry_point()
        entry.set_data_options(scale_views=False)
        entry.set_data_matrix([[matrix] for matrix in matrices], likelihoods=likelihoods)
        entry.set_model_options(factors=n_factors)
        entry.set_train_options(iter=n_steps, convergence_mode="fast", seed=seed, quiet=True)
        entry.build()
        entry.run()
    return entry.model.getExpectations()


def predictive_moments(
    matrices: list[np.ndarray], n_factors: int, n_steps: int, seed: int = 0
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return mean and variance of every cell of real-valued matrices under the posterior of factors and weights.

    Factors, weights and noise are independent in MOFA's posterior, so that the variance of a product is that of
    independent numbers; the noise has the inverse of its expected precision.
    """
    expectations = factor_expectations(matrices, ["gaussian"] * len(matrices), n_factors, n_steps, seed)
    factors, found = expectations["Z"], []
    for weights, precision, matrix in zip(expectations["W"], expectations["Tau"], matrices, strict=True):
        mean = factors["E"] @ weights["E"].T
        squares = factors["E2"] @ weights["E2"].T
        spread = squares - np.square(factors["E"]) @ np.square(weights["E"]).T
        noise = 1 / np.broadcast_to(precision["E"], matrix.shape)
        found.append((mean + np.nanmean(matrix, axis=0), spread + noise))
    return found
