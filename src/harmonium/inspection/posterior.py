"""Posterior draws of the weights: access, convergence, export; for models fitted by `Langevin` or `Metropolis`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harmonium.core.extras import require
from harmonium.core.validation import check_whole
from harmonium.estimators.checking import check_model
from harmonium.estimators.harmonium import Harmonium
from harmonium.queries import draws as queries


def posterior_draws(model: Harmonium) -> dict[str, np.ndarray]:
    """Return draws of every parameter by name.

    Draws are aligned: units are arbitrary up to rotation (Gaussian ones) or order and sign (others), and each draw is
    given in the form that is nearest to the others. ``fitted_.parameters`` holds their means, and
    ``fitted_.posterior.prior`` the mean and variance of the prior of each weight.

    Parameters
    ----------
    model : Harmonium
        A fitted model.

    Returns
    -------
    dict of str to ndarray of shape (chains, draws, …)
        Draws by the name of the parameter, such as "words.weights".

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Langevin
    >>> driver = Langevin(n_draws=4, n_warmup=2, n_chains=2)
    >>> model = Harmonium(1, hidden="gaussian", driver=driver, random_state=0).fit(np.tile(np.eye(3), (4, 1)))
    >>> posterior_draws(model)["view0.weights"].shape
    (2, 4, 3, 1)
    """
    check_model(model)
    posterior = queries.posterior_of(model.fitted_)
    return {name: posterior.array(name) for name in model.fitted_.parameters}


def invariants(model: Harmonium, n_pairs: int = 50, random_state: int = 0) -> dict[str, np.ndarray]:
    """Return draws of quantities that do not depend on which units are which.

    These are entries of WWᵀ, and its trace for each view.

    Parameters
    ----------
    model : Harmonium
        A fitted model.
    n_pairs : int, default=50
        Number of entries, of pairs of features drawn at random from all views.
    random_state : int, default=0
        Seed by which pairs are drawn.

    Returns
    -------
    dict of str to ndarray of shape (chains, draws)
        "WWt[word, colour]" for pairs of features, "trace[view]" for views.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Langevin
    >>> driver = Langevin(n_draws=4, n_warmup=2, n_chains=2)
    >>> model = Harmonium(1, hidden="gaussian", driver=driver, random_state=0).fit(np.tile(np.eye(3), (4, 1)))
    >>> sorted(invariants(model, n_pairs=1))[-1], invariants(model, n_pairs=1)["trace[view0]"].shape
    ('trace[view0]', (2, 4))
    """
    check_whole("invariants", "n_pairs", n_pairs, lower=0, remedy="50 is usual")
    check_model(model)
    return queries.invariants(model.fitted_, n_pairs, random_state)


def diagnostics(model: Harmonium, n_pairs: int = 50, random_state: int = 0) -> pd.DataFrame:
    """Return how well chains have mixed, judged by `invariants`.

    Parameters
    ----------
    model : Harmonium
        A fitted model.
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

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Langevin
    >>> driver = Langevin(n_draws=4, n_warmup=2, n_chains=2)
    >>> model = Harmonium(1, hidden="gaussian", driver=driver, random_state=0).fit(np.tile(np.eye(3), (4, 1)))
    >>> diagnostics(model, n_pairs=3).columns.tolist()
    ['mean', 'std', 'ess', 'r_hat']
    """
    return queries.convergence(invariants(model, n_pairs, random_state))


def to_arviz(model: Harmonium, n_pairs: int = 50, random_state: int = 0) -> Any:
    """Return `invariants` for ArviZ, for its summaries and trace plots.

    Parameters
    ----------
    model : Harmonium
        A fitted model.
    n_pairs : int, default=50
        Number of entries of WWᵀ to look at.
    random_state : int, default=0
        Seed by which they are drawn.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        The draws, as the installed version of ArviZ (an extra, ``harmonium[arviz]``) holds them.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Langevin
    >>> driver = Langevin(n_draws=4, n_warmup=2, n_chains=2)
    >>> model = Harmonium(1, hidden="gaussian", driver=driver, random_state=0).fit(np.tile(np.eye(3), (4, 1)))
    >>> list(to_arviz(model, n_pairs=0).posterior.data_vars)
    ['trace[view0]']
    """
    draws = invariants(model, n_pairs, random_state)
    arviz = require("arviz", "to_arviz")
    return arviz.from_dict({"posterior": draws}) if _takes_groups(arviz) else arviz.from_dict(posterior=draws)


def _takes_groups(arviz: Any) -> bool:
    """Return whether ``from_dict`` takes groups in one dict, as it does since version 1."""
    return int(arviz.__version__.split(".")[0]) >= 1
