"""Posterior draws of a fitted model: access, convergence, export, files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from harmonium.estimators.encoding import Encoding
from harmonium.extras import require
from harmonium.metrics import effective_sample_size, split_r_hat
from harmonium.params import Parameters, weights_of
from harmonium.persist import Fitted
from harmonium.training.posterior import Chain, Posterior
from harmonium.training.priors import Normal
from harmonium.validation import check_whole

_DRAWS, _PRIOR = "posterior.", "prior."


class PosteriorAccess(Encoding):
    """Part of every estimator: what is known of the weights, for models fitted by `Langevin` or `Metropolis`."""

    @property
    def posterior_(self) -> dict[str, np.ndarray]:
        """Draws of every parameter by name, each of shape (chains, draws, …); ``parameters_`` are their means.

        Draws are aligned: units are arbitrary up to rotation (Gaussian ones) or order and sign (others), and each draw
        is given in the form that is nearest to the others.
        """
        posterior = self._sampled()
        return {name: posterior.array(name) for name in self.parameters_}

    @property
    def prior_(self) -> dict[str, Normal]:
        """Mean and variance of the weights of each feature before the data, by view; learned by `EmpiricalBayes`."""
        return self._sampled().prior

    def invariants(self, n_pairs: int = 50, random_state: int = 0) -> dict[str, np.ndarray]:
        """Draws of quantities that do not depend on which units are which: entries of WWᵀ, and its trace by view.

        Parameters
        ----------
        n_pairs : int, default=50
            How many entries, of pairs of features drawn at random from all views.
        random_state : int, default=0
            Which pairs.

        Returns
        -------
        dict of name → ndarray of shape (chains, draws)
            "WWt[word, colour]" for pairs of features, "trace[view]" for views.
        """
        check_whole("invariants", "n_pairs", n_pairs, lower=0, remedy="50 is usual")
        posterior = self._sampled()
        arrays = {view: posterior.array(weights_of(view)) for view in self.families_}
        places = [(view, i) for view, array in arrays.items() for i in range(array.shape[2])]
        several = len(arrays) > 1
        rng = np.random.default_rng(random_state)
        chosen = rng.choice(len(places) ** 2, size=min(n_pairs, len(places) ** 2), replace=False)
        result = {
            f"trace[{view}]": np.square(array, dtype=np.float64).sum(axis=(2, 3)) for view, array in arrays.items()
        }
        for pair in chosen:
            (first, i), (second, j) = (places[k] for k in divmod(pair, len(places)))
            labels = [
                f"{view}.{self.feature_names_[view][k]}" if several else self.feature_names_[view][k]
                for view, k in ((first, i), (second, j))
            ]
            product = arrays[first][:, :, i].astype(np.float64) * arrays[second][:, :, j]
            result[f"WWt[{', '.join(labels)}]"] = product.sum(axis=2)
        return result

    def diagnostics(self, n_pairs: int = 50, random_state: int = 0) -> pd.DataFrame:
        """How well chains have mixed, judged by `invariants`: one row per quantity.

        Returns
        -------
        DataFrame
            Columns mean, std, ess (effective number of draws) and r_hat, which should be below 1.01 for intervals to
            be trusted and below 1.1 for means; above, use more warm-up, draws or thinning.
        """
        draws = self.invariants(n_pairs, random_state)
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

    def to_arviz(self, n_pairs: int = 50, random_state: int = 0) -> Any:
        """`invariants` as ArviZ InferenceData, for its summaries and trace plots (needs the ``arviz`` extra)."""
        draws = self.invariants(n_pairs, random_state)
        arviz = require("arviz", "to_arviz")
        return arviz.from_dict({"posterior": draws}) if _takes_groups(arviz) else arviz.from_dict(posterior=draws)

    def _sampled(self) -> Posterior:
        check_is_fitted(self, "families_")
        if self._training.posterior is None:
            raise AttributeError(
                "Only models fitted with driver=Langevin() or Metropolis() have draws of their weights; this one has a "
                "single set of them, parameters_; fit it again with such a driver."
            )
        return self._training.posterior


def _takes_groups(arviz: Any) -> bool:
    """Since version 1, groups come in one dict."""
    return int(arviz.__version__.split(".")[0]) >= 1


# ---- files -----------------------------------------------------------------------------------------------------------
def posterior_arrays(posterior: Posterior | None) -> dict[str, np.ndarray]:
    """Arrays that a file keeps of posterior draws."""
    if posterior is None:
        return {}
    arrays = {f"{_DRAWS}{name}": posterior.array(name) for name in posterior.chains[0].draws[0]}
    for view, prior in posterior.prior.items():
        arrays |= {f"{_PRIOR}{view}.mean": prior.mean, f"{_PRIOR}{view}.variance": prior.variance}
    return arrays


def restored_posterior(fitted: Fitted, rng: np.random.Generator) -> Posterior | None:
    """Inverse of `posterior_arrays`: chains stand at their last draws and have to warm up again before they go on."""
    draws = {name.removeprefix(_DRAWS): value for name, value in fitted.extra.items() if name.startswith(_DRAWS)}
    if not draws:
        return None
    n_chains, n_draws = next(iter(draws.values())).shape[:2]
    if set(draws) != set(fitted.parameters):
        raise ValueError("posterior draws must be of the model's parameters")
    for name, value in draws.items():
        if value.shape != (n_chains, n_draws, *fitted.parameters[name].shape) or not np.isfinite(value).all():
            raise ValueError(f"posterior draws of {name} must be finite numbers of {fitted.parameters[name].shape}")
    prior = {}
    for view, family in fitted.families.items():
        mean, variance = (fitted.extra.get(f"{_PRIOR}{view}.{part}") for part in ("mean", "variance"))
        if mean is None or variance is None or not mean.shape == variance.shape == (family.n_features_,):
            raise ValueError(f"the prior of view {view!r} must have a mean and a variance for each feature")
        prior[view] = Normal(mean, variance)
    chains = []
    for number, stream in enumerate(rng.spawn(n_chains)):
        own: list[Parameters] = [{name: value[number, i] for name, value in draws.items()} for i in range(n_draws)]
        chains.append(Chain({name: value.copy() for name, value in own[-1].items()}, stream, draws=own))
    return Posterior(chains, prior, target=str(fitted.facts["target"]))
