"""The model as a distribution: partition function, exact samples, modes, and the signs of its units."""

from __future__ import annotations

from copy import copy
from typing import Any, Literal, TypeVar

import numpy as np

from harmonium.core.validation import check_whole
from harmonium.estimators.checking import check_model
from harmonium.estimators.harmonium import Harmonium
from harmonium.estimators.input import known_views
from harmonium.estimators.mixins.density import generator
from harmonium.estimators.mixins.encoding import only
from harmonium.inference.ais import LogPartition
from harmonium.kernels.runtime.threads import compute
from harmonium.queries import density

Model = TypeVar("Model", bound=Harmonium)


def log_partition(
    model: Harmonium,
    method: Literal["ais", "exact", "naive"] = "ais",
    n_chains: int = 100,
    n_temperatures: int = 1000,
    sizes: dict[str, float] | None = None,
) -> LogPartition:
    """Return log Z of the fitted model, with its standard error.

    Parameters
    ----------
    model : Harmonium
        A fitted model.
    method : {"ais", "exact", "naive"}, default="ais"
        Annealed importance sampling; enumeration of the hidden states (small models only); or naive Monte Carlo
        over hidden states that know nothing of the views, a yardstick that is unreliable unless weights are small.
    n_chains : int, default=100
        Number of chains of the annealing, or of draws of naive Monte Carlo.
    n_temperatures : int, default=1000
        Number of steps of each chain of the annealing.
    sizes : dict of str to float, optional
        Row totals of `ReplicatedSoftmax` and length-normalised views and lengths of `Chain` views, on which the
        partition function depends. Default: the typical (mean) ones of the training data.

    Returns
    -------
    LogPartition
        The estimate as ``value``, and its ``standard_error``.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(2, driver=Stochastic(max_iter=2), random_state=0).fit(words)
    >>> bool((model.score_samples(words) - log_partition(model, "exact").value < 0).all())
    True
    """
    check_whole("log_partition", "n_chains", n_chains, lower=2, remedy="100 is usual")
    check_whole("log_partition", "n_temperatures", n_temperatures, lower=2, remedy="1000 is usual")
    if method not in ("ais", "exact", "naive"):
        raise ValueError(f"method must be 'ais', 'exact' or 'naive'; got {method!r}; 'exact' is for small models.")
    check_model(model)
    with compute(model.n_jobs):
        rng = generator(model.random_state)
        return density.log_partition(model.fitted_, method, n_chains, n_temperatures, sizes, rng)


def sample_exact(model: Harmonium, n_samples: int = 1, random_state: Any = None, max_sweeps: int = 2**14) -> Any:
    """Draw items from the model exactly, by coupling from the past.

    There is no chain that might not have converged. It works for binary views with Gaussian or binary units. The
    time it takes differs from draw to draw and grows with the strength of the couplings (entries of WWᵀ off its
    diagonal, or of W for binary units), and faster if they have both signs: strong ones are refused once
    ``max_sweeps`` are over. Memory grows with the square of the number of features.

    Parameters
    ----------
    model : Harmonium
        A fitted model.
    n_samples : int, default=1
        Number of items.
    random_state : int, RandomState instance or None, default=None
        Source of random numbers. Default: that of the estimator.
    max_sweeps : int, default=16384
        How far into the past to go before giving up.

    Returns
    -------
    ndarray, or dict of ndarrays if there are several views
        The items.

    References
    ----------
    Propp & Wilson (1996), Exact sampling with coupled Markov chains and applications to statistical mechanics;
    Childs, Patterson & MacKay (2001), Exact sampling from nonattractive distributions using summary states.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(2, driver=Stochastic(max_iter=2), random_state=0).fit(words)
    >>> sample_exact(model, 5).shape
    (5, 3)
    """
    check_model(model)
    check_whole("sample_exact", "n_samples", n_samples)
    check_whole("sample_exact", "max_sweeps", max_sweeps, remedy="16384 is usual")
    rng = generator(model.random_state if random_state is None else random_state)
    with compute(model.n_jobs):
        return only(density.sample_exact(model.fitted_, n_samples, max_sweeps, rng))


def modes(model: Harmonium, X: Any, max_iterations: int = 100) -> tuple[Any, np.ndarray]:
    """Climb from each row to the nearest mode of the joint distribution.

    Parameters
    ----------
    model : Harmonium
        A fitted model.
    X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
        Any subset of the views that the model was fitted on.
    max_iterations : int, default=100
        Number of steps after which to stop climbing.

    Returns
    -------
    views : ndarray (`Sequences` for a `Chain`), or dict of them if there are several views
        Where the climb ended.
    hidden : ndarray of shape (n_rows, n_components_)
        The hidden units there.

    References
    ----------
    Gehler, Holub & Welling (2006), The rate adapting Poisson model for information retrieval and object
    recognition, eq. 4-5.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(2, driver=Stochastic(max_iter=2), random_state=0).fit(words)
    >>> views, hidden = modes(model, words)
    >>> views.shape, hidden.shape
    ((12, 3), (12, 2))
    """
    check_model(model)
    check_whole("modes", "max_iterations", max_iterations)
    views = known_views(model, X)
    with compute(model.n_jobs):
        drawn, hidden = density.modes(model.fitted_, views, max_iterations)
    return only(drawn), hidden


def canonical_signs(model: Model) -> Model:
    """Return a model whose binary and binomial units each align with the mean item.

    The sign of such a unit is arbitrary: turning it over leaves p(x) as it is. Afterwards w·x̄ is not negative for
    any unit, so that topics read alike in every run. Centred Gaussian views have a mean of zero and no influence on
    it. Models with length-normalised views are refused: there signs are not free.

    Parameters
    ----------
    model : Harmonium
        A fitted model.

    Returns
    -------
    Harmonium
        A copy with these signs; the model that is given stays as it is.

    References
    ----------
    Gehler, Holub & Welling (2006), The rate adapting Poisson model for information retrieval and object
    recognition, eq. 8-9.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium, Stochastic
    >>> words = np.tile(np.eye(3), (4, 1))
    >>> model = Harmonium(2, driver=Stochastic(max_iter=2), random_state=0).fit(words)
    >>> weights = canonical_signs(model).fitted_.parameters["view0.weights"]
    >>> bool((words.mean(axis=0) @ weights >= 0).all())
    True
    """
    check_model(model)
    result = copy(model)
    result.fitted_ = density.with_canonical_signs(model.fitted_)
    return result
