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
