"""`TableViews`: from a data frame as it is to views."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self

import narwhals as nw
import numpy as np
import pandas as pd
from sklearn.base import TransformerMixin, clone

from harmonium.core.parts import Part
from harmonium.core.validation import Anything, Choice, Setting, check_fitted, shown
from harmonium.exceptions import InvalidViewError
from harmonium.features.encoders import Encoder
from harmonium.tables.column import Column
from harmonium.tables.embedding import Encoders
from harmonium.tables.overview import Overview
from harmonium.tables.table import Table, columns_of, reader_of
from harmonium.views import Views
from harmonium.views.container import is_matrix
from harmonium.views.frames import as_frame, is_frame
from harmonium.views.index import row_names
from harmonium.views.reading import FamiliesOfViews


class Roles(Setting):
    """The setting that gives columns their roles: a mapping, or None."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse everything else, and roles that there are not."""
        if value is None:
            return
        if not isinstance(value, Mapping):
            raise TypeError(
                f"{owner} needs {name} to be a mapping of columns to roles; got {shown(value)}; pass for example "
                "{'year': 'category'}."
            )
        for column, role in value.items():
            if not (isinstance(role, str) and role == "infer"):
                reader_of(str(column), role)


class _TableReader(Part):
    """Base of what reads tables; it lets files name it."""

    role = "table"


class TableViews(TransformerMixin, _TableReader):
    """Turn a data frame with columns of any kind into views.

    Every column has a role. It is given, or inferred by the first of these that fits:

    - ``"drop"``: columns that are empty or never vary, and identifiers (whole numbers in a row from 0 or 1; single
      words whose parts do not repeat, or whole numbers called id or the like, that differ in nearly all rows); left
      out, with a sentence.
    - ``"flag"``: truth values, zeros and ones, yes and no.
    - ``"date"``: times, or texts that are dates; a trend and the categories month, weekday and hour.
    - ``"vector"``: lists of as many real numbers, such as embeddings.
    - ``"tags"``: lists, also written ones ("['a', 'b']"), or texts in which ``|``, ``;`` or ``,`` separates short words
      that repeat.
    - ``"measure"``: numbers in texts whose units differ ("90 min", "2 Seasons"; "1.5 lb", "24 oz"), are added up ("2 h
      5 min"), or that have sides or ends ("10 x 12 in", "51-200 employees").
    - ``"category"``: columns whose type says so, texts of up to six words that repeat (five rows a value on average, or
      at most 40 values), and whole numbers that repeat and whose name ends in id, code, zip, type, class, group, ….
      Where there are more than 40 texts, their character n-grams are read as well.
    - ``"count"``: whole numbers from zero up with a tail, whose variance is at most five times the mean. Other whole
      numbers (ages, years, prices, ratings) are no counts.
    - ``"number"``: all other numbers, also in texts such as "13%" or "$1,200"; skewed ones on a log scale.
    - ``"name"``: other texts of up to six words on average (titles, people, products, addresses of pages, codes); read
      as words, and as character n-grams.
    - ``"words"``: all other texts.

    Two roles have to be asked for: ``"image"``, pictures as arrays, bytes of files or, with ``Image(folder=...)``,
    names of files, which become shares of colours and counts of visual words; and ``"sequence"``, texts or lists of
    paragraphs, whose order counts.

    Flags, numbers, counts and categories each share a view ("flags", "numbers", "counts", "categories"); words, tags
    and vectors are views by themselves, named after their column. Character n-grams are inputs of the linear part of a
    head alone: hidden units do not see them, and no topic is made of them. Empty texts, "?", "-", "NA", "N/A", "nan",
    "null" and "None" are missing values. How texts spell numbers and dates is decided once for a column: new values
    that spell them in another way, or have another unit, are missing, too.

    Parameters
    ----------
    roles : mapping of str to str or Reader, optional
        Roles of some columns: a word, or a reader of `harmonium.tables` with settings, as in
        ``{"year": "category", "text": Words(max_features=20_000)}``.
    remainder : {"infer", "drop"}, default="infer"
        What happens to columns that ``roles`` does not name.
    embed : mapping of str to object, or object, optional
        Encoders of columns of texts or pictures, whose answers become views beside those of the roles: a callable from
        a list of texts to an array, an object with ``encode`` (models of sentence-transformers and model2vec), the path
        of an ONNX file (extra ``embed``), or an `Encoder`. One that is no mapping serves all columns of words and
        names. Files keep what tells encoders from others, and not the encoders themselves.

    Attributes
    ----------
    table_ : Table
        What has been learned of each column.
    columns_ : DataFrame
        The columns, their roles, views, features and missing values.
    feature_names_in_ : ndarray of str
        Names of the columns of the training data.
    n_features_in_ : int
        Number of these columns.

    See Also
    --------
    harmonium.HarmoniumRegressor : Estimators take frames directly, and use a `TableViews` by themselves.

    Notes
    -----
    Limits of the rules are named constants of the readers in `harmonium.tables`, with their reasons. Columns may come
    in any order. A column that new data lack counts as missing, a column that is new is not used, and values of a
    kind that the training data do not have are missing; each is told in one warning.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({
    ...     "review": ["dark cherry and oak", "light cherry", "dark oak", "light and fresh"],
    ...     "place": ["Rioja", "Mosel", "Rioja", "Mosel"],
    ...     "price": [20.0, 8.0, None, 9.5],
    ... })
    >>> table = TableViews(roles={"place": "category", "review": "words"})
    >>> table.fit_transform(frame)
    Views(4 items; review: 5 sparse columns, categories: 1 dense columns, numbers: 1 dense columns)
    >>> table.columns_[["role", "features", "missing", "note"]]
                role  features  missing       note
    column
    review     words         5     0.00   presence
    place   category         2     0.00   2 levels
    price     number         1     0.25  log scale
    """

    settings = {
        "roles": Roles(),
        "remainder": Choice(("infer", "drop"), remedy="'infer' looks at the data"),
        "embed": Anything(),
    }
    not_saved = ("embed",)
    table_: Table

    def __init__(
        self,
        roles: Mapping[str, Any] | None = None,
        remainder: Literal["infer", "drop"] = "infer",
        embed: Any = None,
    ) -> None:
        self.roles = roles
        self.remainder = remainder
        self.embed = embed

    def __sklearn_clone__(self) -> Self:
        # encoders are not copied: weights may be large, and what they remember serves all fits of a search
        made = type(self)(clone(self.roles, safe=False), self.remainder, self.embed)
        made.__dict__["_encoders"] = self._encoders
        return made

    @cached_property
    def _encoders(self) -> Encoders:
        return Encoders()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what each column stands for.

        Parameters
        ----------
        X : data frame
            Of pandas, polars, pyarrow, or anything that speaks the Arrow PyCapsule interface.
        y : None
            Not used; present as scikit-learn passes it.

        Returns
        -------
        TableViews
            The fitted transformer.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Views:
        """Learn what each column stands for, and return the views of the same frame.

        Parameters
        ----------
        X : data frame
            As for `fit`.
        y : None
            Not used; present as scikit-learn passes it.

        Returns
        -------
        Views
            The views, which estimators take.
        """
        frame = frame_of(X)
        return self.learn(frame, columns_of(frame))

    def learn(self, frame: nw.DataFrame, columns: list[Column]) -> Views:
        """Learn what each column of a frame stands for, and return the views.

        Each column is looked at once.

        Parameters
        ----------
        frame : narwhals.DataFrame
            The frame.
        columns : list of Column
            Its columns.

        Returns
        -------
        Views
            What `fit_transform` returns.
        """
        self.check()
        self.table_, views = Table.learn(
            columns, row_names(frame), self.roles, self.remainder, self.embed, self._encoders
        )
        self.feature_names_in_ = np.array([column.name for column in columns], dtype=object)
        self.n_features_in_ = len(columns)
        return views

    def transform(self, X: Any) -> Views:
        """Return the views of a frame.

        Parameters
        ----------
        X : data frame
            With the columns of the training data, in any order.

        Returns
        -------
        Views
            The views, which estimators take.
        """
        check_fitted(self)
        return self.table_.read(frame_of(X))

    @property
    def columns_(self) -> pd.DataFrame:
        """The columns, their roles, views, features and missing values."""
        check_fitted(self)
        return Overview(self.table_.summary({}).drop(columns="family"))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "table_")


class FamiliesOrTable(FamiliesOfViews):
    """The setting of estimators that says what views are: families, or a `TableViews`."""

    def check(self, owner: str, name: str, value: Any) -> None:
        """Refuse everything else."""
        if isinstance(value, TableViews):
            value.check()
        else:
            super().check(owner, name, value)


def table_reader(views: Any, frame: nw.DataFrame, columns: list[Column]) -> TableViews | None:
    """Return what reads a frame as a table; None if it is to be one matrix of numbers.

    ``views`` is the parameter of the estimator: a `TableViews`, or "infer", which reads frames as tables if some column
    is neither numbers nor truth values.
    """
    if isinstance(views, TableViews):
        return views
    if not (isinstance(views, str) and views == "infer") or is_matrix(frame):
        return None
    kinds = {column.kind for column in columns}
    return None if kinds <= {"number", "bool", "nothing"} else TableViews()  # Python objects may be numbers


def families_asked(views: Any) -> Any:
    """Return which families the parameter of an estimator asks for; a table knows them by itself."""
    return "infer" if isinstance(views, TableViews) else views


def encoders_of(views: Any) -> list[Encoder]:
    """Return the different encoders of the parameter of an estimator, which remember what they have answered."""
    return views._encoders.all_of(views.embed) if isinstance(views, TableViews) else []


def frame_of(X: Any) -> nw.DataFrame:
    """Return a frame of any library; refuse everything else."""
    frame = as_frame("X", X) if is_frame(X) else None
    if frame is None:
        raise InvalidViewError(
            f"A table must be a data frame of pandas, polars or pyarrow; got {type(X).__name__}; make one with "
            "pandas.DataFrame."
        )
    if not len(frame):
        raise InvalidViewError("A data frame must have at least one row; got none; pass the rows to work on.")
    return frame
