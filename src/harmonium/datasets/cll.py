"""Chronic lymphocytic leukaemia: four kinds of measurements of 200 patients, some of which lack whole kinds."""

from __future__ import annotations

import os
import warnings

import numpy as np

from harmonium.datasets._base import Dataset, archive_path
from harmonium.extras import require

_MODALITIES = {"drugs": "Drugs", "methylation": "Methylation", "mutations": "Mutations", "mrna": "mRNA"}
_STATUS = "IGHV"


def load_cll(data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load the leukaemia patients from ``cll/cll.h5mu``; the extra ``harmonium[scverse]`` must be installed.

    Parameters
    ----------
    data_home : path, optional
        Folder of the data sets, by default that named by ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        Four float32 views with NaN for what is unknown, which is the whole row of a patient who lacks a view:
        ``"drugs"`` (200 x 310, survival of the cells under drugs at five doses, 184 patients), ``"methylation"``
        (200 x 4,248, 196 patients), ``"mutations"`` (200 x 68, 0 or 1 with single unknown cells) and ``"mrna"``
        (200 x 5,000, 136 patients). The target is the mutation status of the immunoglobulin genes (IGHV): 0
        unmutated, 1 mutated, -1 unknown. The file keeps it as the last column of the mutations; it is removed from
        that view. Rows are the patients in the order of the file; there is no split. `feature_names` holds the
        identifiers of the columns.

    Raises
    ------
    ValueError
        If a view or the mutation status is missing.
    """
    path = archive_path("cll", "cll.h5mu", data_home)
    mudata = require("mudata", "Reading h5mu files")
    with warnings.catch_warnings():
        # Versions of mudata announce how later ones will merge tables, which touches nothing that is read here.
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
