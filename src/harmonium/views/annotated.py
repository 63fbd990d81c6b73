"""AnnData and MuData: matrices with names of observations and variables, from the scverse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from harmonium.core.validation import few_of
from harmonium.exceptions import InvalidViewError


def is_annotated(data: Any) -> bool:
    """Tell whether something is AnnData or MuData, which need not be installed."""
    # ask the type, as an attribute of a data frame may be a column of that name
    return hasattr(type(data), "obsm") and hasattr(type(data), "obs_names")


def has_modalities(data: Any) -> bool:
    """Tell whether something is MuData, which holds several AnnData."""
    return is_annotated(data) and hasattr(type(data), "mod")


def in_memory(data: Any) -> Any:
    """Return the data in memory; a file that they may be backed by is read."""
    return data.to_memory() if getattr(data, "isbacked", False) else data


def names_of_observations(data: Any) -> pd.Index | None:
    """Return the names of the observations; None if they merely count "0", "1", "2", …, as AnnData makes them up."""
    names = pd.Index(data.obs_names)
    return None if np.array_equal(names.astype(str), np.arange(len(names)).astype(str)) else names


def names_of_variables(data: Any) -> list[str]:
    """Return the names of the variables."""
    return [str(name) for name in data.var_names]


def matrix_of(data: Any) -> Any:
    """Return the matrix X of AnnData, in memory; refuse AnnData without one."""
    matrix = in_memory(data).X
    if matrix is None:
        raise InvalidViewError(
            "AnnData needs its matrix X to be a view; this one has none; name layers, obsm or obs in "
            "Views.from_anndata."
        )
    return matrix


def annotated_parts(
    data: Any, layers: Sequence[str], obsm: Sequence[str], obs: Sequence[str]
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return matrices of AnnData by their keys, and the names of the columns of those that have the variables."""
    for argument, keys, known in (
        ("layers", layers, ["X", *data.layers]),
        ("obsm", obsm, list(data.obsm)),
        ("obs", obs, list(data.obs.columns)),
    ):
        if isinstance(keys, str):
            raise TypeError(f"from_anndata needs a list of keys as {argument}; got {keys!r}; pass [{keys!r}].")
        unknown = [key for key in keys if key not in known]
        if unknown:
            raise InvalidViewError(
                f"{argument} may only name what the data have ({few_of(known)}); got {unknown[0]!r}; correct the key."
            )
    views = {key: matrix_of(data) if key == "X" else data.layers[key] for key in layers}
    names = {key: names_of_variables(data) for key in views}
    views |= {key: data.obsm[key] for key in obsm}
    if obs:
        views["obs"] = data.obs[list(obs)]
    if len(views) < len(layers) + len(obsm) + bool(obs):
        raise InvalidViewError(
            f"Parts of AnnData must have keys that differ, and none may be 'obs'; got {', '.join([*layers, *obsm])}; "
            "rename one."
        )
    return views, names
