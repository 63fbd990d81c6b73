"""Columns of texts whose paragraphs count in their order."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from harmonium.core.validation import Whole
from harmonium.exceptions import InvalidViewError
from harmonium.families import Chain
from harmonium.features.paragraphs import split_paragraphs
from harmonium.tables.base import Block, Reader
from harmonium.tables.column import Column
from harmonium.views.sequences import Sequences


class Sequence(Reader):
    """Read a column of paragraphs as `Sequences`, a view of its own.

    Values are lists of paragraphs, or texts that are cut at blank lines. Words are runs of at least three letters, in
    lower case and without stop words.

    Parameters
    ----------
    max_features : int, default=5000
        Largest number of words; the most frequent ones are kept.
    min_rows : int, default=2
        Smallest number of paragraphs that a word occurs in.

    Attributes
    ----------
    words_ : list of str
        The words, sorted.

    Examples
    --------
    >>> import narwhals as nw, pandas as pd
    >>> texts = [["Clean room.", "Quiet room."], ["Rude staff.", "Staff again, no clean room."]]
    >>> texts = pd.Series(texts, dtype=object)
    >>> column = Column("review", nw.from_native(texts, series_only=True))
    >>> reader = Sequence().bind(column)
    >>> reader.words_, reader.read(column)[0].matrix.lengths.tolist()
    (['clean', 'room', 'staff'], [2, 2])
    """

    learned = {"words_": list}
    reads_texts = True
    settings = {"max_features": Whole(remedy="5000 is usual"), "min_rows": Whole(remedy="2 is usual")}
    words_: list[str]

    def __init__(self, max_features: int = 5000, min_rows: int = 2) -> None:
        self.max_features = max_features
        self.min_rows = min_rows

    @classmethod
    def suits(cls, column: Column) -> bool:
        """Tell that paragraphs have to be asked for: lists are tags, texts are words."""
        return False

    def bind(self, column: Column) -> Self:
        """Return a copy that knows the words."""
        try:
            found = Sequences.from_texts(_paragraphs(column), max_features=self.max_features, min_df=self.min_rows)
        except ValueError as error:
            raise InvalidViewError(
                f"Column {column.name!r} as sequence needs words that occur in at least {self.min_rows} paragraphs; "
                "none does; use the role 'drop'."
            ) from error
        return self.with_fitted(words_=list(found.feature_names or []))

    def read(self, column: Column) -> list[Block]:
        """Return which words each paragraph has; rows without paragraphs lack the view."""
        found: Any = Sequences.from_texts(_paragraphs(column), vocabulary=self.words_)
        family = Chain()
        features = family.restore(2 * len(self.words_), {}).codec.feature_names(self.words_)
        return [Block(found, self.words_, family, features=features, present=np.asarray(found.lengths > 0))]

    def said_in(self, text: str) -> Any:
        """Return the text as one paragraph, if it has a word that is known."""
        words = set(self.words_)
        return [text] if any(word.strip(".,;:!?") in words for word in text.lower().split()) else None

    @property
    def note(self) -> str:
        """What is read of a text."""
        return "paragraphs in order"


def _paragraphs(column: Column) -> list[list[str] | None]:
    """Return the paragraphs of each row, None where there are none."""
    if column.kind == "list":
        return [None if values is None else [str(part) for part in values] for values in column.lists]
    return [None if text is None else split_paragraphs(str(text)) for text in column.texts]
