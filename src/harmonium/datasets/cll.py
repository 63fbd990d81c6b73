"""Chronic lymphocytic leukaemia: four kinds of measurements of 200 patients, some of whom lack a whole kind."""

from __future__ import annotations

import os
import warnings

import numpy as np

from harmonium.core.extras import require
from harmonium.datasets._base import Dataset, archive_path

_MODALITIES = {"drugs": "Drugs", "methylation": "Methylation", "mutations": "Mutations", "mrna": "mRNA"}
_STATUS = "IGHV"


def load_cll(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load measurements of patients with chronic lymphocytic leukaemia.

    They are read from ``cll/cll.h5mu``; the extra ``harmonium[scverse]`` must be installed.

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        Four float32 views of 200 patients, with NaN where a value is unknown; the whole row is NaN for a patient
        without that kind of measurement. ``"drugs"`` (310 columns) holds the survival of cells under drugs at five
        doses (184 patients), ``"methylation"`` (4,248 columns) is known of 196 patients, ``"mutations"`` (68 columns)
        is 0 or 1 with single unknown cells, and ``"mrna"`` (5,000 columns) is known of 136 patients. The target is the
        mutation status of the immunoglobulin genes (IGHV): 0 unmutated, 1 mutated, -1 unknown; the file holds it as a
        column of the mutations, from which it is removed. Rows keep the order of the file; there is no split.
        ``feature_names`` holds the identifiers of the columns.

    Raises
    ------
    ValueError
        If a view or the mutation status is missing.

    Examples
    --------
    >>> patients = load_cll()  # doctest: +SKIP
    >>> {name: view.shape[1] for name, view in patients.views.items()}  # doctest: +SKIP
    {'drugs': 310, 'methylation': 4248, 'mutations': 68, 'mrna': 5000}
    """
    path = archive_path("cll", "cll.h5mu", data_home)
    mudata = require("mudata", "Reading h5mu files")
    with warnings.catch_warnings():
        # Some versions of mudata warn about a coming change in how tables are merged; nothing is merged here.
        warnings.simplefilter("ignore", FutureWarning)
        container = mudata.read_h5mu(path)
    missing = [name for name in _MODALITIES.values() if name not in container.mod]
    if missing or _STATUS not in container.mod["Mutations"].var_names:
        raise ValueError(
            f"cll.h5mu must hold {', '.join(_MODALITIES.values())}, the mutations with a column {_STATUS}, but lacks "
            f"{', '.join(missing) or _STATUS}; put the original file in place."
        )
    views: dict[str, np.ndarray] = {}
    feature_names: dict[str, list[str]] = {}
    for view, modality in _MODALITIES.items():
        table = container.mod[modality]
        views[view] = np.full((container.n_obs, table.n_vars), np.nan, dtype=np.float32)
        views[view][container.obs_names.get_indexer(table.obs_names)] = table.X
        feature_names[view] = [str(name) for name in table.var_names]
    status_column = feature_names["mutations"].index(_STATUS)
    status = views["mutations"][:, status_column]
    views["mutations"] = np.delete(views["mutations"], status_column, axis=1)
    del feature_names["mutations"][status_column]
    return Dataset(
        name="cll",
        views=views,
        target=np.where(np.isnan(status), -1, status).astype(np.int64),
        target_names=["unmutated", "mutated"],
        split=None,
        description="Chronic lymphocytic leukaemia: drug response, methylation, mutations and mRNA of 200 patients.",
        feature_names=feature_names,
    )
