"""Views whose features people can read: embeddings shape the latent space, words name it."""

from __future__ import annotations

import numpy as np

from harmonium.training import FittedModel

# So many real columns that nobody has named are coordinates of something, and not to be read one by one: a convention.
_FEWEST_COORDINATES = 32


def named_views(model: FittedModel) -> list[str]:
    """Return the views whose features can be read: all but embeddings, if there are others.

    Embeddings are what encoders of a table have made, and 32 or more columns of real values that nobody has named,
    beside views that count something or whose columns have names.

    Parameters
    ----------
    model : FittedModel
        A fitted model.

    Returns
    -------
    list of str
        Names of views, in order.
    """
    columns = () if model.table is None else model.table.columns
    embedded = {column.embedding.view for column in columns if column.embedding is not None}
    if model.table is None:
        embedded = {name for name in model.input_names if _is_numbered(model, name) and _are_coordinates(model, name)}
    named = [name for name in model.input_names if name not in embedded]
    if model.table is None and not any(_says_something(model, name) for name in named):
        return model.input_names
    return named or model.input_names


def _is_numbered(model: FittedModel, view: str) -> bool:
    """Tell whether the columns of a view have no names but their numbers."""
    names = model.feature_names.get(view, [])
    return names == [f"{view}_{number}" for number in range(len(names))]


def _are_coordinates(model: FittedModel, view: str) -> bool:
    """Tell whether a view holds so many real values that they are coordinates."""
    family = model.families[view]
    return family.n_features_ >= _FEWEST_COORDINATES and bool(np.isneginf(family.support.lower))


def _says_something(model: FittedModel, view: str) -> bool:
    """Tell whether the features of a view are counts, or have names."""
    return model.families[view].counts_something or not _is_numbered(model, view)
