"""Loading a saved model of any kind: whoever can rebuild one is imported here."""

from __future__ import annotations

import os
from typing import Any

from harmonium import estimators, model_folder, weak  # noqa: F401  (they say how their descriptions are rebuilt)
from harmonium.inspection.encoders import set_encoders
from harmonium.storage import load_model

__all__ = ["load"]


def load(path: str | os.PathLike[str], encoders: Any = None) -> Any:
    """Load a model that was saved with its method ``save``.

    It infers, bit for bit, what the saved one did. Loading never runs code, and refuses a file of which a single byte
    is not as it was written.

    Parameters
    ----------
    path : str or path
        The file or the folder. Others may save to it at the same time.
    encoders : mapping of str to object, or object, optional
        Encoders of columns that have an embedding, which files do not hold; see `harmonium.inspection.set_encoders`.

    Returns
    -------
    estimator
        The fitted estimator; it can be cloned, saved again and fitted further. ``partial_fit`` and ``warm_start``
        continue from the parameters, with an optimizer that starts afresh.

    Raises
    ------
    FileNotFoundError
        If there is nothing at the path.
    ModelFileError
        If the file is damaged, foreign, of another schema, or contradicts itself.

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
    model = load_model(path)
    return model if encoders is None else set_encoders(model, encoders)
