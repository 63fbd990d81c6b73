"""Items of a folder as the frames and views that its model takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from harmonium.estimators.input import known_views
from harmonium.model_folder import ModelFolder
from harmonium.views import Views


def picture_columns(folder: ModelFolder) -> list[str]:
    """Return the columns that the model reads pictures from."""
    table = folder.model.fitted_.table
    return [] if table is None else [column.name for column in table.columns if column.reader.takes_pictures]


def frame_of_items(folder: ModelFolder, rows: Sequence[int] | np.ndarray) -> pd.DataFrame:
    """Return items of a folder as a frame that its model takes.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    rows : sequence of int
        Numbers of the items.

    Returns
    -------
    DataFrame
        The columns that the model was fitted on, as far as the folder keeps them. Small pictures stand for pictures, of
        which the folder keeps nothing else.

    Raises
    ------
    ValueError
        If the folder keeps none of the columns.
    """
    table = folder.model.fitted_.table
    kept = [] if table is None else [column.name for column in table.columns if column.name in folder.items.columns]
    if not kept:
        raise ValueError("The folder must keep columns that the model was fitted on; it keeps none of them.")
    frame = folder.items[kept].iloc[rows].reset_index(drop=True)
    pictures = picture_columns(folder)
    for name in pictures:
        small = folder.thumbnails if name == pictures[0] else None  # those of the first column are kept
        frame[name] = pd.Series([None if small is None else small[int(row)] for row in rows], dtype=object)
    return frame


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
        Checked against those of the model. Views whose columns the folder does not keep are missing.

    Raises
    ------
    ValueError
        If the folder keeps none of the columns that the model was fitted on.
    """
    return known_views(folder.model, frame_of_items(folder, np.arange(len(folder)) if rows is None else rows))
