"""AnnData and MuData in HDF5 files (extra ``scverse``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from harmonium.core.extras import require
from harmonium.files.data_file import Loaded, one_line, opened, refuse


def read_h5ad(path: Path) -> Loaded:
    """Return AnnData, whose observations are the items."""
    return _read(path, require("anndata", "Reading .h5ad").read_h5ad)


def read_h5mu(path: Path) -> Loaded:
    """Return MuData, whose modalities are views and whose observations are the items."""
    return _read(path, require("mudata", "Reading .h5mu").read_h5mu)


def _read(path: Path, reader: Any) -> Loaded:
    with opened(path):
        pass  # it is there, and can be read
    try:
        data = reader(path)
    except Exception as error:
        refuse(path, "An HDF5 file must hold annotated data", f"does not ({one_line(error)})", "write it again", error)
    items = pd.DataFrame({"item": data.obs_names.astype(str)})
    return Loaded(data, items.join(pd.DataFrame(data.obs).reset_index(drop=True).astype(object)))
