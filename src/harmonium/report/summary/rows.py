"""The items of a folder as its model sees them."""

from __future__ import annotations

import numpy as np

from harmonium.collection import ModelFolder
from harmonium.views import Views


def views_of_items(folder: ModelFolder, rows: np.ndarray | None = None) -> Views:
    """Return the views of items of a folder, read from the columns that it keeps.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    rows : ndarray of int, optional
        Numbers of the items. Default: all of them.

    Returns
    -------
    Views
        As ``model.as_views`` returns them. Views whose columns the folder does not keep are missing.

    Raises
    ------
    ValueError
        If the folder keeps none of the columns that the model was fitted on.
    """
    table = folder.model.fitted_.table
    known = [] if table is None else [column.name for column in table.columns if column.name in folder.items.columns]
    if not known:
        raise ValueError("The folder must keep columns that the model was fitted on; it keeps none of them.")
    items = folder.items[known]
    return folder.model.as_views(items if rows is None else items.iloc[rows].reset_index(drop=True))
