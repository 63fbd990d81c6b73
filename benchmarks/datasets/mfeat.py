"""Multiple features of handwritten digits: six views of 2,000 digits."""

from __future__ import annotations

import io
import os

import numpy as np
import pandas as pd

from harmonium.datasets._base import Dataset, archive_members, archive_path

_VIEWS = ("fac", "fou", "kar", "mor", "pix", "zer")


def load_mfeat(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load six views of handwritten digits.

    They are the "multiple features" of the UCI repository, read from ``mfeat/mfeat.tar.gz``.

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        Six float32 views of 2,000 digits: ``"fac"`` (216 profile correlations), ``"fou"`` (76 Fourier coefficients),
        ``"kar"`` (64 Karhunen-Loève coefficients), ``"mor"`` (6 morphological features), ``"pix"`` (240 averages of
        pixels, whole numbers from 0 to 6) and ``"zer"`` (47 Zernike moments). The target is the digit. There is no
        split.

    Raises
    ------
    ValueError
        If a view is missing, or the views do not list the same digits in the same order.

    Examples
    --------
    >>> digits = load_mfeat()  # doctest: +SKIP
    >>> {name: view.shape[1] for name, view in digits.views.items()}  # doctest: +SKIP
    {'fac': 216, 'fou': 76, 'kar': 64, 'mor': 6, 'pix': 240, 'zer': 47}
    """
    path = archive_path("mfeat", "mfeat.tar.gz", data_home)
    views: dict[str, np.ndarray] = {}
    target: np.ndarray | None = None
    for name, content in sorted(archive_members(path)):
        view = name.removesuffix(".csv").rpartition("-")[2]
        if view not in _VIEWS or not name.endswith(".csv"):
            continue
        # The first row only numbers the columns; the last column is the label.
        table = pd.read_csv(io.BytesIO(content), header=None, skiprows=1).to_numpy(dtype=np.float64)
        labels = table[:, -1].astype(np.int64)
        if target is None:
            target = labels
        elif not np.array_equal(target, labels):
            raise ValueError(
                f"All views must list the same digits in the same order, but {name} differs from the views before it; "
                "put the original archive in place."
            )
        views[view] = table[:, :-1].astype(np.float32)
    missing = [view for view in _VIEWS if view not in views]
    if missing:
        raise ValueError(
            f"mfeat.tar.gz must hold a table for each of {', '.join(_VIEWS)}, but lacks {', '.join(missing)}; put the "
            "original archive in place."
        )
    return Dataset(
        name="mfeat",
        views=views,
        target=target,
        target_names=[str(digit) for digit in range(10)],
        split=None,
        description="Multiple features: six sets of features of 2,000 handwritten digits, 200 of each.",
    )
