"""Columns of names and codes."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

from harmonium.tables.base import Block
from harmonium.tables.column import Column
from harmonium.tables.roles.words import Words
from harmonium.tables.strings.ngrams import learned_ngrams, ngram_block, ngram_counter

# Names have at most this many words on average, as categories do: a convention.
_FEW_WORDS = 6


class Name(Words):
    """Read names and codes as words and, for the linear part, as characters.

    They are titles, people, places, products, addresses of pages: short texts that seldom repeat as wholes. Words are
    runs of at least two letters, or of digits, in lower case, and are a view of their own. Character n-grams of three
    to five characters within words are a view of the linear part alone, which reads words that it has never seen by
    what they look like; addresses of pages and the like, whose words are long, have none.

    Parameters
    ----------
    max_features : int, default=20000
        Largest number of words; the most frequent ones are kept.
    min_rows : int, default=2
        Smallest number of texts that a word occurs in.

    Attributes
    ----------
    words_ : list of str
        The words, sorted.
    ngrams_ : list of str
        The n-grams, sorted; at most 5,000.

    Examples
    --------
    >>> import narwhals as nw, pandas as pd
    >>> names = pd.Series(["Pulsar 150cc", "Pulsar 220", "Apache 150"])
    >>> column = Column("bike", nw.from_native(names, series_only=True))
    >>> reader = Name().bind(column)
    >>> reader.words_, [block.view for block in reader.read(column)]
    (['150', 'pulsar'], [None, 'bike_characters'])
    """

    learned = {"words_": list, "ngrams_": list}
    settings = {name: Words.settings[name] for name in ("max_features", "min_rows")}
    values, phrases = "presence", False
    counts_ = False
    pattern = r"(?u)[^\W\d_]{2,}|\d+"
    ngrams_: list[str]

    def __init__(self, max_features: int = 20_000, min_rows: int = 2) -> None:
        self.max_features = max_features
        self.min_rows = min_rows

    @classmethod
    def suits(cls, column: Column) -> bool:
        """Tell whether the values are short texts."""
        return column.kind == "text" and column.mean_words <= _FEW_WORDS and not column.holds_sentences

    def bind(self, column: Column) -> Self:
        """Return a copy that knows the words and the n-grams."""
        return self.with_fitted(words_=super().bind(column).words_, ngrams_=learned_ngrams(column))

    def read(self, column: Column) -> list[Block]:
        """Return which words and n-grams each name has."""
        return [*super().read(column), *([ngram_block(column, self.ngrams_, self._ngrams)] if self.ngrams_ else [])]

    @cached_property
    def _ngrams(self) -> Any:
        return ngram_counter(self.ngrams_)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_ngrams"}

    @property
    def note(self) -> str:
        """Number of words and of n-grams."""
        return f"{len(self.words_):,} words, {len(self.ngrams_):,} n-grams"
