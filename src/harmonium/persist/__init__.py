"""Model files: safetensors and JSON, no pickle. Loading never runs code and refuses whatever it does not know.

A model is saved to one file whose name ends in ``.safetensors``, with its JSON description in the metadata under
``harmonium``, or to a folder that holds ``model.safetensors`` and a readable ``model.json``.

What is kept: constructor parameters, fitted families and head, parameters, posterior draws, mean statistics, names and
history. What is not kept: the memory of the optimiser and persistent chains (a loaded model that continues to learn
starts them afresh), and a ``random_state`` that is a generator (it is saved as None, with a warning).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from harmonium.exceptions import ModelFileError
from harmonium.persist.description import describe, saveable
from harmonium.persist.files import FILE_ENDING, read_file, read_folder, write_file, write_folder
from harmonium.persist.rebuilding import rebuild

__all__ = ["load_model", "save_model", "saveable"]


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted model.

    Parameters
    ----------
    model : estimator
        A fitted `Harmonium`, `HarmoniumClassifier` or `HarmoniumRegressor`.
    path : str or path
        One file if it ends in ``.safetensors``, else a folder. What was there is replaced only once everything is
        written; if the machine stops while the two files of an existing folder are replaced, loading says so.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If a constructor parameter is something that a file of numbers and names cannot hold.
    """
    description, tensors = describe(model)
    target = Path(path)
    if target.suffix == FILE_ENDING:
        write_file(target, description, tensors)
    else:
        write_folder(target, description, tensors)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Load a model that was saved with its method ``save``.

    It infers, bit for bit, what the saved one did. Loading never runs code.

    Parameters
    ----------
    path : str or path
        The file or the folder.

    Returns
    -------
    estimator
        The fitted estimator; it can be cloned, saved again and fitted further. ``partial_fit`` and ``warm_start``
        continue from the parameters, with an optimiser that starts afresh.

    Raises
    ------
    FileNotFoundError
        If there is nothing at the path.
    ModelFileError
        If the file is truncated, foreign, of another schema, or contradicts itself.

    Examples
    --------
    >>> import tempfile, numpy as np, harmonium
    >>> driver = harmonium.Stochastic(max_iter=1)
    >>> model = harmonium.Harmonium(2, driver=driver, random_state=0).fit(np.eye(4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.safetensors")
    ...     again = harmonium.load(f"{folder}/model.safetensors")
    >>> bool((again.transform(np.eye(4)) == model.transform(np.eye(4))).all())
    True
    """
    source = Path(path)
    if not source.exists():
        raise FileNotFoundError(f"A model is loaded from a file or folder that exists; found nothing at {source}.")
    try:
        description, tensors = read_folder(source) if source.is_dir() else read_file(source)
        return rebuild(description, tensors)
    except ModelFileError as error:
        raise ModelFileError(f"{source}: {error}") from error
