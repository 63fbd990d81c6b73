"""Model files: safetensors and JSON, no pickle. Loading never runs code and refuses whatever it does not know.

A model is saved to one file whose name ends in ``.safetensors``, with its JSON description in the metadata under
``harmonium``, or to a folder that holds a readable ``model.json`` and the tensors that it names. Both carry a digest
over everything in them, description included, and are replaced in one step: whoever loads meanwhile gets the old model
or the new one, and so does whoever loads after a save was killed (`harmonium.storage`).

What is kept: constructor parameters, fitted families and head, parameters, posterior draws, mean statistics, names,
classes with their dtype, history and remarks. What is not kept: the memory of the optimizer and persistent chains (a
loaded model that continues to learn starts them afresh), settings that belong to the machine (`Part.not_saved`, such as
the path of a checkpoint), and a ``random_state`` that is a generator (it is saved as None, with a warning).
"""

from __future__ import annotations

import os
from typing import Any

from harmonium.persist.description import describe, saveable
from harmonium.persist.rebuilding import rebuild
from harmonium.storage import load_model, write_model

__all__ = ["describe", "load_model", "rebuild", "save_model", "saveable"]


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted model.

    Parameters
    ----------
    model : estimator
        A fitted `Harmonium`, `HarmoniumClassifier` or `HarmoniumRegressor`.
    path : str or path
        One file if it ends in ``.safetensors``. A folder if it has no ending, ends in a slash, or is a folder already;
        an ending begins with a letter, so that ``model-0.2`` has none. What was there is replaced in one step, once
        everything is written.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If a constructor parameter is something that a file of numbers and names cannot hold.
    ValueError
        If the path has another ending, such as ``.pkl``, or a setting makes no sense.
    OSError
        If the path cannot be written; what was there is left as it was.
    """
    write_model(path, *describe(model))
