"""Character n-grams of names and codes: what values have in common that differ as wholes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from harmonium.families import Bernoulli
from harmonium.tables.base import Block
from harmonium.tables.column import Column

# Lengths of n-grams, within words that have a blank on either side, as in the char_wb of scikit-learn; three to five
# characters are usual.
_LENGTHS = (3, 5)
# Largest number of n-grams, the most frequent ones; fewest rows of one; and largest share of the rows, as what nearly
# all have tells nothing. Conventions.
_MAX_FEATURES, _MIN_ROWS, _MAX_SHARE = 5000, 2, 0.95
# Values whose words have more characters than this on average, as addresses of pages, have no n-grams: most of theirs
# are of numbers and marks, and the words in them are found between marks. A convention.
_LONG_WORDS = 30


def learned_ngrams(column: Column) -> list[str]:
    """Return the n-grams of the values of a column that are worth knowing, sorted.

    They are in at least 2 rows and in at most 95 % of them; of these the 5,000 most frequent ones. N-grams that the
    same values have, as those of a long word, all stay: together they weigh more, as they should. Values such as
    addresses of pages, whose words have more than 30 characters on average, have none.

    Examples
    --------
    >>> import narwhals as nw
    >>> column = Column("name", nw.from_native(pd.Series(["Ana Lee", "Bob Lee", "Ann Ray"]), series_only=True))
    >>> learned_ngrams(column)
    [' an', ' le', ' lee', ' lee ', 'ee ', 'lee', 'lee ']
    """
    codes, values = pd.factorize(column.observed)
    n_characters, n_words = (sum(map(len, parts)) for parts in (values, map(str.split, values)))
    if n_characters > _LONG_WORDS * n_words:
        return []
    counter = _counter()
    try:
        found = counter.fit_transform(values)
    except ValueError:  # no value has any
        return []
    rows = np.bincount(codes, minlength=len(values)) @ found
    names = counter.get_feature_names_out()
    usable = np.flatnonzero((rows >= _MIN_ROWS) & (rows <= _MAX_SHARE * len(codes)))
    most = usable[np.argsort(-rows[usable], kind="stable")[:_MAX_FEATURES]]
    return sorted(names[most].tolist())


def ngram_block(column: Column, ngrams: list[str], counter: Any) -> Block:
    """Return which n-grams each value of a column has, for the linear part alone: topics of n-grams cannot be read.

    Rows without a value lack the view; so do those whose value has none of the n-grams.
    """
    codes, values = pd.factorize(column.texts)
    found = scipy.sparse.csr_array(counter.transform(values)) if len(values) else _nothing(counter)
    # the last row, which is empty, stands for what is missing
    matrix = scipy.sparse.vstack([found, _nothing(counter)], format="csr")[codes]
    present = np.diff(matrix.indptr) > 0
    view = f"{column.name.replace('.', '_')}_characters"
    return Block(scipy.sparse.csr_array(matrix), ngrams, Bernoulli(), view, present=present, linear_only=True)


def ngram_counter(ngrams: list[str]) -> Any:
    """Return what finds n-grams in texts; it is to be kept, as making it takes longer than a text does."""
    made = _counter(vocabulary=ngrams)
    made.transform([""])
    return made


def _counter(**settings: Any) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer  # late, for a quick start

    return CountVectorizer(analyzer="char_wb", ngram_range=_LENGTHS, binary=True, dtype=np.float32, **settings)


def _nothing(counter: Any) -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array((1, len(counter.vocabulary_)), dtype=np.float32)
