"""Data files to tables and views: one reader for each format, found by the ending of the name.

Whatever is wrong with a file is said in one sentence, a `DataFileError`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from harmonium.files.data_file import DataFileError, Loaded, endings
from harmonium.files.hdf5 import read_h5ad, read_h5mu
from harmonium.files.json_tables import read_json, read_jsonl
from harmonium.files.matrices import read_lda_c, read_npz, read_svmlight
from harmonium.files.matrix_market import read_matrix_market
from harmonium.files.parquet_tables import is_parquet_folder, read_parquet
from harmonium.files.table_file import BLOCK_ROWS, TableFile, is_large, is_streamable
from harmonium.files.text_tables import read_csv

__all__ = [
    "BLOCK_ROWS",
    "FORMATS",
    "DataFileError",
    "Loaded",
    "TableFile",
    "endings",
    "is_large",
    "is_streamable",
    "read_data",
]

#: readers by ending
FORMATS: dict[str, Callable[[Path], Loaded]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": read_json,
    ".parquet": read_parquet,
    ".npz": read_npz,
    ".mtx": read_matrix_market,
    ".svmlight": read_svmlight,
    ".libsvm": read_svmlight,
    ".ldac": read_lda_c,
    ".h5ad": read_h5ad,
    ".h5mu": read_h5mu,
}


def read_data(path: str | os.PathLike[str]) -> Loaded:
    """Return the content of a data file.

    Parameters
    ----------
    path : str or path
        The file. Its ending says what it is: .csv or .tsv (also with semicolons and the like), .jsonl or .json,
        .parquet, .npz, .mtx, .svmlight or .libsvm, .ldac, .h5ad or .h5mu; text formats and matrices may be compressed
        (.gz, .bz2, .xz). A folder of .parquet files is one table.

    Returns
    -------
    Loaded
        A table or views, and the columns of the items.

    Raises
    ------
    DataFileError
        If the file is missing, damaged, or of a format that is not known.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "wines.csv")
    ...     _ = path.write_text("name;price\\nRioja;12\\nMosel;9\\n")
    ...     read_data(path).X["price"].tolist()
    [12, 9]
    """
    file = Path(path)
    if is_parquet_folder(file):
        return read_parquet(file)
    reader = FORMATS.get(endings(file)[0])
    if reader is None:
        raise DataFileError(
            f"A data file must have an ending that says what it is ({', '.join(FORMATS)}); got {file.name!r}; rename "
            "or convert it."
        )
    return reader(file)
