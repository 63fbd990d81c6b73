"""Factors, weights and explained shares, written into AnnData or MuData."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harmonium.estimators import Harmonium
from harmonium.estimators.input import known_views
from harmonium.report.tables.explained import explained_table
from harmonium.report.tables.latent import check_model, latent_means
from harmonium.views.annotated import has_modalities, is_annotated, names_of_variables


def annotate(model: Harmonium, data: Any, X: Any = None, key: str = "harmonium") -> None:
    """Write factors, weights and what they explain into AnnData or MuData, in place.

    Parameters
    ----------
    model : Harmonium
        A fitted model of any kind.
    data : AnnData or MuData
        Where to write: ``obsm["X_<key>"]`` holds E[h | x] of each observation, ``varm["<key>"]`` the weights of the
        variables (``"<key>_<view>"`` if several views have them; those of each modality in its own ``varm``), and
        ``uns["<key>"]`` the shares that topics explain and the settings of the model.
    X : dict, Views, matrix, …, optional
        The same observations as the model reads them. By default it is the data.
    key : str, default="harmonium"
        Name under which results are kept; what was there is replaced.

    Examples
    --------
    >>> from anndata import AnnData
    >>> from harmonium import Harmonium
    >>> cells = AnnData(np.random.default_rng(0).normal(size=(40, 6)).astype("float32"))
    >>> annotate(Harmonium(2, hidden="factor", random_state=0).fit(cells), cells)
    >>> list(cells.obsm), list(cells.varm), sorted(cells.uns["harmonium"])
    (['X_harmonium'], ['harmonium'], ['explained', 'settings'])
    """
    check_model(model)
    if not is_annotated(data):
        raise TypeError(f"annotate writes into AnnData or MuData; got {type(data).__name__}; pass one of them.")
    X = data if X is None else X
    views = known_views(model, X)
    if len(views) != data.n_obs:
        raise ValueError(
            f"X must hold the {data.n_obs} observations of the data; got {len(views)} rows; pass the same observations."
        )
    latent = latent_means(model, X)
    if views.index is not None and not pd.Index(views.index).equals(pd.Index(data.obs_names)):
        if not pd.Index(views.index).is_unique:
            raise ValueError(
                "Observations in another order than those of the data need names that differ; some of X come twice; "
                "call obs_names_make_unique(), or pass them in the order of the data."
            )
        order = pd.Index(views.index).get_indexer(pd.Index(data.obs_names))
        if (order < 0).any():
            raise ValueError(
                f"X must hold the observations of the data; it lacks {data.obs_names[int(np.argmin(order))]!r}; pass "
                "the same observations."
            )
        latent = latent[order]
    explained = explained_table(model, X)
    weights = _weights(model, data, key)
    # nothing is written before everything is computed
    data.obsm[f"X_{key}"] = latent
    for holder, name, values in weights:
        holder.varm[name] = values
    data.uns[key] = {"explained": explained.rename(columns=str), "settings": repr(model)}


def _weights(model: Harmonium, data: Any, key: str) -> list[tuple[Any, str, np.ndarray]]:
    """Return what belongs into the ``varm`` of which AnnData, and its name."""
    if has_modalities(data):
        holders = {name: data.mod[name] for name in model.fitted_.input_names if name in data.mod}
    else:
        holders = dict.fromkeys(model.fitted_.input_names, data)
    named = {
        name: holder
        for name, holder in holders.items()
        if model.fitted_.feature_names[name] == names_of_variables(holder)
    }
    several = not has_modalities(data) and len(named) > 1
    return [
        (holder, f"{key}_{name}" if several else key, model.topics(name, n=None, by="weight").to_numpy())
        for name, holder in named.items()
    ]
