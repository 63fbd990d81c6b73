"""Posterior draws of a fitted model: access, convergence, export."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harmonium.extras import require
from harmonium.queries.draws import convergence, invariants, posterior_of
from harmonium.training import FittedModel
from harmonium.training.posterior.normals import Normal
from harmonium.validation import check_fitted, check_whole


class PosteriorDraws:
    """Part of every estimator: draws of the weights, for models fitted by `Langevin` or `Metropolis`."""

    fitted_: FittedModel

    @property
    def posterior_(self) -> dict[str, np.ndarray]:
        """Draws of every parameter by name, each of shape (chains, draws, …).

        ``parameters_`` holds their means. Draws are aligned: units are arbitrary up to rotation (Gaussian ones) or
        order and sign (others), and each draw is given in the form that is nearest to the others.
        """
        check_fitted(self)
        posterior = posterior_of(self.fitted_)
        return {name: posterior.array(name) for name in self.fitted_.parameters}

    @property
    def prior_(self) -> dict[str, Normal]:
        """Mean and variance of the prior of the weights of each feature, by view.

        They are given by `GaussianPrior`, or learned by `EmpiricalBayes`.
        """
        check_fitted(self)
        return posterior_of(self.fitted_).prior

    def invariants(self, n_pairs: int = 50, random_state: int = 0) -> dict[str, np.ndarray]:
        """Return draws of quantities that do not depend on which units are which.

        These are entries of WWᵀ, and its trace for each view.

        Parameters
        ----------
        n_pairs : int, default=50
            Number of entries, of pairs of features drawn at random from all views.
        random_state : int, default=0
            Seed by which pairs are drawn.

        Returns
        -------
        dict of str to ndarray of shape (chains, draws)
            "WWt[word, colour]" for pairs of features, "trace[view]" for views.
        """
        check_whole("invariants", "n_pairs", n_pairs, lower=0, remedy="50 is usual")
        check_fitted(self)
        return invariants(self.fitted_, n_pairs, random_state)

    def diagnostics(self, n_pairs: int = 50, random_state: int = 0) -> pd.DataFrame:
        """Return how well chains have mixed, judged by `invariants`.

        Parameters
        ----------
        n_pairs : int, default=50
            Number of entries of WWᵀ to look at.
        random_state : int, default=0
            Seed by which they are drawn.

        Returns
        -------
        DataFrame
            A row for each quantity, with columns mean, std, ess (effective number of draws) and r_hat. The last should
            be below 1.01 for intervals to be trusted and below 1.1 for means; above, use more warm-up, draws or
            thinning.
        """
        return convergence(self.invariants(n_pairs, random_state))

    def to_arviz(self, n_pairs: int = 50, random_state: int = 0) -> Any:
        """Return `invariants` for ArviZ, for its summaries and trace plots.

        Parameters
        ----------
        n_pairs : int, default=50
            Number of entries of WWᵀ to look at.
        random_state : int, default=0
            Seed by which they are drawn.

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            The draws, as the installed version of ArviZ (an extra, ``harmonium[arviz]``) holds them.
        """
        draws = self.invariants(n_pairs, random_state)
        arviz = require("arviz", "to_arviz")
        return arviz.from_dict({"posterior": draws}) if _takes_groups(arviz) else arviz.from_dict(posterior=draws)


def _takes_groups(arviz: Any) -> bool:
    """Return whether ``from_dict`` takes groups in one dict, as it does since version 1."""
    return int(arviz.__version__.split(".")[0]) >= 1
