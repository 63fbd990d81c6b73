"""A small table that is printed whole."""

from __future__ import annotations

import pandas as pd


class Overview(pd.DataFrame):
    """A data frame that is printed with all of its rows and columns, however narrow the screen.

    Examples
    --------
    >>> Overview({"role": ["words"], "note": ["presence of the 20,000 most frequent words"]}, index=["text"])
           role                                        note
    text  words  presence of the 20,000 most frequent words
    """

    def __repr__(self) -> str:
        return self.to_string()

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        """What slices and sums are: plain frames."""
        return pd.DataFrame
