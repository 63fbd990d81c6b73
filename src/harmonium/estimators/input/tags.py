"""Tags as the target: a column of lists, or of texts that separate tags by a mark, is one label for each tag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse
from narwhals.exceptions import DuplicateError

from harmonium.core.notices import notice
from harmonium.core.targets import Labels, Targets, TargetSpec
from harmonium.core.validation import few_of
from harmonium.tables import Tags
from harmonium.tables.column import Column

# Rows that a tag must have to be predicted, and its share of the rows that is enough: conventions.
_FEWEST_ROWS, _ENOUGH = 10, 1 / 20
# More tags than any column has.
_ALL = 2**62
# Names that a notice shows.
_SHOWN = 3


def fewest_rows(n_rows: int) -> int:
    """Return the number of rows that a tag must be in to be predicted: a twentieth of them, between 2 and 10.

    Examples
    --------
    >>> [fewest_rows(n_rows) for n_rows in (20, 100, 5000)]
    [2, 5, 10]
    """
    return min(_FEWEST_ROWS, max(2, int(n_rows * _ENOUGH)))


@dataclass(frozen=True, eq=False)
class TagTarget:
    """The tags of each row.

    Attributes
    ----------
    matrix : csr_array of shape (rows, tags)
        1 where a row has a tag.
    present : ndarray of shape (rows,)
        Mask of the rows whose tags are known, be they none.
    tags : tuple of str
        The tags, sorted.
    separator : str
        Mark between tags; empty for lists.
    column : str, optional
        Name of the column.
    """

    matrix: scipy.sparse.csr_array
    present: np.ndarray
    tags: tuple[str, ...]
    separator: str
    column: str | None = None

    @property
    def codes(self) -> np.ndarray:
        """The labels as 0 and 1, and -1 where they are unknown."""
        codes = self.matrix.astype(np.int8).toarray()
        codes[~self.present] = -1
        return codes

    def labels(self, weight: np.ndarray) -> Labels:
        """Return a label for each tag, unknown in rows of weight 0."""
        codes = self.codes
        codes[weight <= 0] = -1
        both = [np.array([0, 1])] * len(self.tags)
        spec = TargetSpec("label", both, False, len(both), self.tags, self.separator, self.column)
        return Labels(spec, Targets(codes, weight))


def read_tags(y: Any, known: Sequence[str] | None = None, separator: str | None = None) -> TagTarget | None:
    """Return the tags of a target; None if it holds no tags.

    Parameters
    ----------
    y : object
        Targets. One column of lists is tags, and so is a list of lists of texts, unless all have the same length and
        are rows of a matrix; one column of texts is if `Tags` would read it so, and different texts are more than tags.
        Categoricals are classes.
    known : sequence of str, optional
        The only tags there are. Default: those that are in enough rows; a notice tells of others.
    separator : str, optional
        Mark between tags of a model that began with tags, for which all columns but numbers are tags.

    Returns
    -------
    TagTarget or None
        The tags.

    Examples
    --------
    >>> found = read_tags(pd.Series([["war", "drama"], ["war"], [], ["drama", "war"], None]))
    >>> found.tags, found.codes.tolist()
    (('drama', 'war'), [[1, 1], [0, 1], [0, 0], [1, 1], [-1, -1]])
    >>> read_tags(pd.Series(["drama", "war"])) is None
    True
    """
    column = _column(y, are_tags=separator is not None)
    if column is None or not (_are_tags(column) if separator is None else column.kind in ("text", "list", "nothing")):
        return None
    mark = separator
    if mark is None or known is None:
        reader = Tags(min_rows=1, max_features=_ALL).bind(column)
        mark = reader.mark_
    if known is None:
        known = _frequent(reader, column)
        if not known:
            return None
    reader = Tags().with_fitted(mark_=mark, tags_=sorted(map(str, known)))
    block = reader.read(column)[0]
    matrix = scipy.sparse.csr_array(block.matrix)
    return TagTarget(matrix, np.asarray(block.present), tuple(reader.tags_), mark, column.name or None)


def _frequent(reader: Tags, column: Column) -> list[str]:
    """Return the tags that are in enough rows; none if the texts are classes, as they are no more than their tags."""
    counts = np.asarray(reader.read(column)[0].matrix.sum(axis=0)).ravel()
    if column.kind == "text" and column.n_distinct <= len(counts):
        return []
    enough = fewest_rows(column.n_observed)
    kept = [tag for tag, count in zip(reader.tags_, counts, strict=True) if count >= enough]
    if len(kept) < 2:
        raise ValueError(
            f"A target of tags must have two or more that are in {enough} rows each; got {len(kept)} of {len(counts)}; "
            "pass more rows, or one class per row."
        )
    _tell(reader.mark_, sorted(set(reader.tags_) - set(kept)), kept, enough)
    return kept


def indicator_of_tags(y: Any, meaning: TargetSpec) -> Any:
    """Return 0 and 1 for each tag that a model predicts, NaN where tags are unknown; y itself if it holds no tags."""
    if meaning.separator is None:
        return y
    found = read_tags(y, meaning.names, meaning.separator)
    return y if found is None else np.where(found.present[:, None], found.codes, np.nan)


def _column(y: Any, are_tags: bool) -> Column | None:
    """Return y as a column; None if it has several, or numbers. Lists of texts are one column if they ``are_tags``."""
    if isinstance(y, list | tuple) and (any(isinstance(value, str) for value in y) or _are_lists(y, are_tags)):
        y = pd.Series(list(y), dtype=object)
    if isinstance(y, np.ndarray):
        if y.ndim != 1 or y.dtype.kind not in "OU":
            return None
        y = pd.Series(y, dtype=object)
    try:
        data = nw.from_native(y, eager_only=True, allow_series=True, pass_through=True)
    except DuplicateError:  # refused elsewhere
        return None
    if isinstance(data, nw.DataFrame) and len(data.columns) == 1:
        data = data[data.columns[0]]
    if not isinstance(data, nw.Series) or data.dtype.is_numeric() or data.dtype == nw.Boolean:
        return None
    return Column("" if data.name is None else str(data.name), data)


def _are_lists(y: Sequence[Any], of_any_length: bool) -> bool:
    """Tell whether y holds a list of texts for each row; as many in every row are a matrix, unless it is known."""
    known = [value for value in y if value is not None]
    if not known or not all(isinstance(value, list | tuple | set) for value in known):
        return False
    are_ragged = len({len(value) for value in known}) > 1
    return (are_ragged or of_any_length) and all(isinstance(tag, str) for value in known for tag in value)


def _are_tags(column: Column) -> bool:
    """Tell whether a column is read as tags, and its type does not say that it holds categories."""
    return column.series.dtype not in (nw.Categorical, nw.Enum) and Tags.suits(column)


def _tell(mark: str, rare: list[str], kept: list[str], enough: int) -> None:
    """Tell that texts are read as tags, and which tags are left out, if any."""
    split = f"y is read as tags between {mark!r}, such as {_some(kept)}" if mark else ""
    left_out = f"{len(rare)} tags of y are in fewer than {enough} rows, such as {_some(rare)}, and are left out"
    remedies = ["pass a Categorical to predict whole texts"] * bool(split)
    remedies += ["pass an indicator matrix to keep all"] * bool(rare)
    if remedies:
        notice(f"{'; '.join(([split] if split else []) + [left_out] * bool(rare))}; {', or '.join(remedies)}.")


def _some(names: list[str]) -> str:
    return few_of(names[:_SHOWN])
