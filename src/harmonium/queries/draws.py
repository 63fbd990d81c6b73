"""Summaries of posterior draws of the weights that do not depend on the order of the units."""

from __future__ import annotations

import numpy as np
import pandas as pd

from harmonium.core.parameters import weights_of
from harmonium.metrics import effective_sample_size, split_r_hat
from harmonium.training import FittedModel
from harmonium.training.posterior.draws import Posterior


def posterior_of(model: FittedModel) -> Posterior:
    """Return the draws of a model; raise an AttributeError if it has none."""
    if model.posterior is None:
        raise AttributeError(
            "Only models fitted with driver=Langevin() or Metropolis() have draws of their weights; this one has a "
            "single set of them, fitted_.parameters; fit it again with such a driver."
        )
    return model.posterior


def invariants(model: FittedModel, n_pairs: int, random_state: int) -> dict[str, np.ndarray]:
    """Return draws of random entries of WWᵀ, and of its trace by view, each of shape (chains, draws)."""
    posterior = posterior_of(model)
    arrays = {view: posterior.array(weights_of(view)) for view in model.families}
    places = [(view, i) for view, array in arrays.items() for i in range(array.shape[2])]
    several = len(arrays) > 1
    rng = np.random.default_rng(random_state)
    chosen = rng.choice(len(places) ** 2, size=min(n_pairs, len(places) ** 2), replace=False)
    result = {f"trace[{view}]": np.square(array, dtype=np.float64).sum(axis=(2, 3)) for view, array in arrays.items()}
    for pair in chosen:
        (first, i), (second, j) = (places[k] for k in divmod(pair, len(places)))
        names = [
            f"{view}.{model.feature_names[view][k]}" if several else model.feature_names[view][k]
            for view, k in ((first, i), (second, j))
        ]
        product = arrays[first][:, :, i].astype(np.float64) * arrays[second][:, :, j]
        result[f"WWt[{', '.join(names)}]"] = product.sum(axis=2)
    return result


def convergence(draws: dict[str, np.ndarray]) -> pd.DataFrame:
    """Return mean, standard deviation, effective number of draws and R-hat of each quantity."""
    stacked = np.stack(list(draws.values()), axis=-1)
    return pd.DataFrame(
        {
            "mean": stacked.mean(axis=(0, 1)),
            "std": stacked.std(axis=(0, 1)),
            "ess": effective_sample_size(stacked),
            "r_hat": split_r_hat(stacked),
        },
        index=pd.Index(draws, name="quantity"),
    )
