"""A block of a shard as `Views`, by the same rules as any X."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harmonium.views.container import Views, as_matrix
from harmonium.views.frames import as_frame, is_frame
from harmonium.views.reading import SINGLE, read_collection, split_columns


@dataclass(frozen=True)
class Conversion:
    """How blocks become views.

    Attributes
    ----------
    views : object
        The parameter of an estimator that says which columns of one matrix make up a view.
    table : harmonium.tables.Table, optional
        The table that a model was fitted on, which reads blocks that are frames.
    dropped : tuple of str
        Columns of frames that are no part of X: those of the targets.
    """

    views: Any = "infer"
    table: Any = None
    dropped: tuple[str, ...] = ()

    def __call__(self, block: Any) -> Views:
        """Return the views of a block."""
        frame = as_frame(SINGLE, block) if is_frame(block) else None
        if frame is not None:
            frame = frame.drop([name for name in frame.columns if name in self.dropped])
            if self.table is not None:
                read: Views = self.table.read(frame)
                return read
        views = read_collection(block)
        if views is not None:
            return views
        matrix, columns, index = as_matrix(SINGLE, block if frame is None else frame)
        return split_columns(matrix, columns, self.views, index)
