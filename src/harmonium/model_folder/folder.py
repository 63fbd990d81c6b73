"""`ModelFolder`: a fitted model, the items it was fitted on, and questions about both."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from harmonium.core.notices import each_notice_once
from harmonium.core.validation import check_fitted, check_whole
from harmonium.estimators import Harmonium, HarmoniumClassifier, HarmoniumRegressor
from harmonium.estimators.input import known_views
from harmonium.evaluation.held_out import HeldOut
from harmonium.inspection.editing import edit_topics
from harmonium.inspection.encoders import set_encoders
from harmonium.model_folder.contents import Contents, read_contents, write_contents
from harmonium.model_folder.embeddings import embedded_items, embedding_tensors
from harmonium.model_folder.folder_summary import folder_summary
from harmonium.model_folder.item_embeddings import ItemEmbeddings
from harmonium.model_folder.item_index import ItemIndex, Query, WordIndex
from harmonium.model_folder.item_map import ItemMap
from harmonium.model_folder.passages import Passage, SoughtPhrases
from harmonium.model_folder.predictions import annotation_table, prediction_table
from harmonium.model_folder.query_views import query_views
from harmonium.model_folder.thumbnails import Thumbnails
from harmonium.queries.explanation import Explanation
from harmonium.queries.latent import encode
from harmonium.queries.topics.shown import divided_parts, of_topics, part_shares
from harmonium.training.topic_edits import TopicEdits
from harmonium.views.frames import as_frame, is_frame
from harmonium.views.index import row_names, rows_in_order

# Items of which the passages are read to find the best, for each item that is wanted, and at least: conventions, for
# time.
_READ_EACH = 10
_FEWEST_READ = 500
# Words of a query at most that somebody types; a longer one is a text, which no passage repeats.
_MOST_TYPED = 20
# Share of the best passage in a score; an embedding finds what says the same in other words.
_PASSAGE, _PASSAGE_BESIDE_MEANING = 0.5, 0.2


class ModelFolder:
    """A fitted model with its items, as a folder keeps them.

    Beside the model there are the columns that people want to see, coordinates, a map and a search index. It is made by
    `create`, or by the command ``harmonium fit``, and read by `open`. The folder holds a readable ``model.json`` and
    tensors, no code; `harmonium.load` reads the model alone from it.

    Parameters
    ----------
    path : Path
        Where the folder is.
    contents : Contents
        What it holds.

    Attributes
    ----------
    path : Path
        Where the folder is.
    model : Harmonium
        The fitted model.
    items : DataFrame
        The columns of the items that the model was fitted on, row numbers as index.
    coordinates : ndarray of shape (n_items, n_topics)
        E[h | x] of each item: how much it has of each topic.
    search_coordinates : ndarray of shape (n_items, n_topics)
        What `search` compares by cosine.
    map : ndarray of shape (n_items, 2)
        Location of each item on the `ItemMap`, in a square of side 2 around zero.
    stability : ndarray of shape (n_topics,) or None
        How well each topic comes again from resampled rows (`bootstrap_stability`), if that was found out.
    thumbnails : Thumbnails or None
        Small pictures of the items, if a column has pictures.
    held_out : HeldOut or None
        Predictions for rows that the model which made them had not seen, and their scores.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from harmonium import Harmonium, ModelFolder, Stochastic, TableViews
    >>> texts = ["dark cherry and oak", "light cherry", "dark oak", "light and fresh"] * 5
    >>> frame = pd.DataFrame({"text": texts, "price": [20.0, 8.0, 25.5, 9.0] * 5})
    >>> reader = TableViews({"text": "words", "price": "number"})
    >>> model = Harmonium(2, views=reader, driver=Stochastic(max_iter=5), random_state=0).fit(frame)
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     made = ModelFolder.create(f"{parent}/wines", model, frame)
    ...     folder = ModelFolder.open(f"{parent}/wines")
    >>> len(folder.items), folder.map.shape
    (20, (20, 2))
    >>> folder.search("dark oak", n=2).columns.tolist()
    ['row', 'score']
    """

    def __init__(self, path: str | os.PathLike[str], contents: Contents) -> None:
        self.path = Path(path)
        self._contents = contents
        self.model: Harmonium = contents.model
        self.items: pd.DataFrame = contents.items
        self.coordinates: np.ndarray = contents.coordinates
        self.search_coordinates: np.ndarray = contents.search_coordinates
        self.map: np.ndarray = contents.map
        self.stability: np.ndarray | None = contents.stability
        self.thumbnails: Thumbnails | None = contents.thumbnails
        self.held_out: HeldOut | None = contents.held_out
        self._said: set[str] = set()

    @property
    def has_words(self) -> bool:
        """Whether items have words or tags, which `search` takes as they are written."""
        return self._contents.words is not None

    @property
    def words(self) -> WordIndex | None:
        """The words and tags of the items; None if they have none."""
        return self._contents.words

    # ---- making and reading --------------------------------------------------------------------------------------
    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        model: Harmonium,
        X: Any,
        *,
        items: Any = None,
        target: str | list[str] | None = None,
        held_out: HeldOut | None = None,
        stability: np.ndarray | None = None,
        thumbnails: Thumbnails | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> Self:
        """Write a model and its items to a folder, in one step.

        Parameters
        ----------
        path : str or path
            The folder, whose name has no ending. What was there is replaced once everything is written; a writer who is
            killed, or has no room, leaves what was there.
        model : Harmonium
            A fitted model of any kind.
        X : data frame, or anything else that the model takes
            The items.
        items : data frame, optional
            Columns to show, a row for each item; rows go by name if both X and items name them. Default: X itself if it
            is a data frame.
        target : str or list of str, optional
            Columns of ``items`` that the model predicts. Default: the names that the model knows, if they are there.
        held_out : HeldOut, optional
            Predictions for rows that were held out.
        stability : ndarray of shape (n_topics,), optional
            How well each topic comes again, as `bootstrap_stability` returns it.
        thumbnails : Thumbnails, optional
            Small pictures of the items.
        notes : mapping of str to object, optional
            What else should be kept, as JSON can hold it: where the data came from, how the model was fitted.

        Returns
        -------
        ModelFolder
            The folder.

        Raises
        ------
        ValueError
            If items, pictures or targets do not fit the model.
        OSError
            If the folder cannot be written.
        """
        check_fitted(model)
        if stability is not None and np.shape(stability) != (model.fitted_.n_topics,):
            raise ValueError(
                f"stability must hold a number for each of the {model.fitted_.n_topics} topics; got shape "
                f"{np.shape(stability)}; pass what bootstrap_stability returns."
            )
        views = known_views(model, X)
        shown = _shown(X, items, views.index, len(views))
        search_coordinates = model.search_coordinates(views)
        contents = Contents(
            model=model,
            items=shown,
            coordinates=encode(model.fitted_, views, "mean"),
            search_coordinates=search_coordinates,
            map=ItemMap().fit_transform(search_coordinates),
            shares=part_shares(model.fitted_, views),
            target=_target(model, shown, target),
            words=WordIndex.from_views(views, model.fitted_.table),
            held_out=held_out,
            stability=stability,
            thumbnails=thumbnails,
            embeddings=embedding_tensors(model.fitted_.table, X if is_frame(X) else shown),
            notes=dict(notes or {}),
        )
        write_contents(path, contents)
        return cls(path, contents)

    @classmethod
    def open(cls, path: str | os.PathLike[str], encoders: Any = None) -> Self:
        """Read a folder; nothing in it is run.

        Parameters
        ----------
        path : str or path
            The folder.
        encoders : mapping of str to object, or object, optional
            Encoders of columns that have an embedding, to read new texts and queries; see
            `harmonium.inspection.set_encoders`. What the items say is known without them.

        Returns
        -------
        ModelFolder
            The folder.

        Raises
        ------
        FileNotFoundError
            If there is nothing at the path.
        ModelFileError
            If the folder is damaged, foreign, of another version, or contradicts itself.
        """
        folder = cls(path, read_contents(path))
        if encoders is not None:
            set_encoders(folder.model, encoders)
        return folder

    # ---- what it holds -------------------------------------------------------------------------------------------
    @property
    def topic_coordinates(self) -> np.ndarray:
        """E[h | x] of the topics that are shown, of shape (n_items, n_topics)."""
        return of_topics(self.model.fitted_, self.coordinates, self._contents.shares)

    @property
    def topic_stability(self) -> np.ndarray | None:
        """Stability of the topics that are shown, the mean over their units.

        None if it was not found out.
        """
        found = self.stability
        if found is None:
            return None
        return np.array([found[topic.units].mean() for topic in self.model.fitted_.topics])

    def edit_topics(self, edits: TopicEdits, X: Any = None) -> Self:
        """Write the folder with edits of its topics in place of those that it has.

        Report, explorer and everything else show the topics as they were edited; no prediction changes.

        Parameters
        ----------
        edits : TopicEdits
            The edits; ``folder.model.fitted_.edits`` has those that there are, to add to or to undo.
        X : data frame, or anything else that the model takes, optional
            The items of the folder, which a topic that is split by features needs. Default: the columns that the folder
            keeps.

        Returns
        -------
        ModelFolder
            The folder, as it was written.
        """
        model = edit_topics(self.model, edits)
        shares = None
        if divided_parts(model.fitted_):
            views = known_views(model, self.items if X is None else X)
            if len(views) != len(self):
                raise ValueError(
                    f"X must have the {len(self)} items of the folder; got {len(views)}; pass what it was made of."
                )
            shares = part_shares(model.fitted_, views)
        contents = replace(self._contents, model=model, shares=shares)
        write_contents(self.path, contents)
        return type(self)(self.path, contents)

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        return f"ModelFolder({str(self.path)!r}: {len(self):,} items, {self.model.n_topics_} topics)"

    @property
    def target(self) -> pd.DataFrame | None:
        """The columns of the items that the model predicts.

        None if it predicts nothing.
        """
        names = self._contents.target
        return self.items[names] if names else None

    @property
    def scores(self) -> dict[str, Any] | None:
        """Scores of the predictions for held-out rows, beside those of simpler models.

        None if no rows were held out.
        """
        return None if self.held_out is None else self.held_out.scores

    @property
    def notes(self) -> dict[str, Any]:
        """Notes kept beside the model: where data came from, how it was fitted."""
        return self._contents.notes

    def summary(self, n_features: int = 10, n_items: int = 5) -> dict[str, Any]:
        """Return what the folder holds, as JSON can hold it.

        Parameters
        ----------
        n_features : int, default=10
            Number of features of each topic and view.
        n_items : int, default=5
            Number of typical items of each topic.

        Returns
        -------
        dict
            Entries ``model``, ``items``, ``columns``, ``views``, ``target``, ``scores``, ``topics`` and ``notes``.
        """
        check_whole("summary", "n_features", n_features, remedy="10 is usual")
        check_whole("summary", "n_items", n_items, remedy="5 is usual")
        return folder_summary(self, n_features, n_items)

    # ---- questions -----------------------------------------------------------------------------------------------
    @cached_property
    def index(self) -> ItemIndex:
        """The search index of the items."""
        embedded = self._embedded
        return ItemIndex(self.search_coordinates, self._contents.words, None if embedded is None else embedded.rows)

    @cached_property
    def _embedded(self) -> ItemEmbeddings | None:
        """Embeddings of the items, if they have any."""
        by_view = embedded_items(self._contents.embeddings)
        return ItemEmbeddings(by_view) if by_view else None

    def search(self, query: Any, n: int = 10) -> pd.DataFrame:
        """Return the items that go best with a query.

        Parameters
        ----------
        query : str, mapping, or anything that the model takes
            Some words; values of some columns by name, as in ``{"text": "quiet room", "price": 80}``; or items as a
            frame or views, any subset of them.
        n : int, default=10
            Number of items; all of them if there are fewer.

        Returns
        -------
        DataFrame
            Columns ``row``, the number of the item, and ``score``, best first. With several queries there is a first
            column ``query``. Scores are cosines of `search_coordinates` between -1 and 1; for queries with words or
            tags, half of the score is the cosine of these themselves, weighed by how rare they are. For words that
            somebody types, half of the score is instead how well the best passage of the item says them: close
            together, and not denied ("not clean"). Commas and "and" separate phrases. Where queries have an embedding,
            its cosine has most of the say, and that of words the more the longer a query is.
        """
        check_whole("search", "n", n, remedy="10 is usual")
        with each_notice_once(self._said):
            views = known_views(self.model, query_views(self.model, query))
        words = self._contents.words
        weights = None if words is None or not set(words.views) <= set(views.names) else words.query_weights(views)
        coordinates, sought = self.model.search_coordinates(views), self._sought(query)
        embedding = None if self._embedded is None else self._embedded.of_queries(views)
        if not 0 < sought.n_words <= _MOST_TYPED:
            return self.index.query(Query(coordinates, weights, embedding), n)
        if sought.has_denials:  # topics do not know what is denied
            coordinates = np.zeros_like(coordinates)
        found = self.index.query(Query(coordinates, weights, embedding), max(_FEWEST_READ, _READ_EACH * n))
        said = [sought.score(texts) for texts in self._texts(found["row"])]
        share = _PASSAGE if embedding is None else _PASSAGE_BESIDE_MEANING
        scores = (1 - share) * found["score"] + share * np.array(said, dtype=np.float32)
        best = np.lexsort((found["row"], -scores))[: min(n, len(found))]
        return pd.DataFrame({"row": found["row"].to_numpy()[best], "score": scores.to_numpy()[best]})

    def passages(self, query: Any, rows: Iterable[int]) -> list[Passage | None]:
        """Return the passages of items that say best what was searched for.

        Parameters
        ----------
        query : str or mapping
            What `search` took.
        rows : iterable of int
            Numbers of items.

        Returns
        -------
        list of Passage or None
            The passage of each item, with the places of the words that matched; None where no word of the query is.
        """
        sought = self._sought(query)
        return [sought.passage(texts) for texts in self._texts(rows)]

    @property
    def text_columns(self) -> list[str]:
        """The columns of the items that the model reads as texts or tags."""
        table = self.model.fitted_.table
        read = (
            [] if table is None else [one for one in table.columns if one.reader.reads_texts or one.reader.names_some]
        )
        return [column.name for column in read if column.name in self.items.columns]

    def _texts(self, rows: Iterable[int]) -> list[list[str]]:
        """Return the texts of items, lists of tags as one text."""
        cells = self.items[self.text_columns].iloc[list(rows)].to_numpy(dtype=object)
        return [
            [cell if isinstance(cell, str) else ", ".join(map(str, cell)) for cell in row if not _is_empty(cell)]
            for row in cells
        ]

    def _sought(self, query: Any) -> SoughtPhrases:
        """Return the phrases of a query; none if it has no words, or the items no texts."""
        named = [query[name] for name in self.text_columns if name in query] if isinstance(query, Mapping) else [query]
        words = self._contents.words
        said = ", ".join(dict.fromkeys(one for one in named if isinstance(one, str)))
        return SoughtPhrases(said if self.text_columns else "", None if words is None else self._weigh)

    def _weigh(self, word: str) -> float:
        """Return the inverse document frequency of a word; that of the rarest for others."""
        words = self._contents.words
        assert words is not None  # there is a query of them
        names = np.concatenate([self.model.fitted_.feature_names[view] for view in words.views])
        there = words.idf[names == word]
        return float(there.min() if len(there) else words.idf.max())

    def nearest(self, item: int, n: int = 10) -> pd.DataFrame:
        """Return the items that are most like an item.

        Parameters
        ----------
        item : int
            Number of the item.
        n : int, default=10
            Number of other items; all of them if there are fewer.

        Returns
        -------
        DataFrame
            Columns ``row`` and ``score``, as `search` has them, best first, without the item itself.
        """
        check_whole("nearest", "n", n, remedy="10 is usual")
        words, row = self._contents.words, self._row(item)
        weights = None if words is None else words.item_weights(row)
        embedding = None if self._embedded is None else self._embedded.rows[[row]]
        nearest = self.index.query(Query(self.search_coordinates[[row]], weights, embedding), n + 1)
        return nearest[nearest["row"] != item].head(n).reset_index(drop=True)

    @cached_property
    def _item_map(self) -> ItemMap:
        return ItemMap.restored(self.search_coordinates, self.map)

    def locate(self, X: Any) -> np.ndarray:
        """Return where items would lie on the map, as `ItemMap.transform` says.

        Parameters
        ----------
        X : str, mapping, or anything that the model takes
            Items, or a query as for `search`: words that a frame does not have are absent, those that a query does not
            name are unknown.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Their locations; those of the items of the folder are nearly their own.
        """
        return self._item_map.transform(self.model.search_coordinates(query_views(self.model, X)))

    def predict(self, X: Any) -> pd.DataFrame:
        """Return what is predicted for each row, and how sure that is.

        Parameters
        ----------
        X : data frame, mapping, or anything that the model takes
            Items, with some of the columns that the model was fitted on; a mapping holds the values of one item.

        Returns
        -------
        DataFrame
            ``prediction``, and beside it ``probability`` for classes, ``lower`` and ``upper`` for numbers, or a column
            for each label.
        """
        return prediction_table(self.model, query_views(self.model, X))

    def annotate(self, X: Any, view: str | None = None, top: int = 5) -> pd.DataFrame:
        """Return what goes best with each row: classes, labels, tags or words.

        Parameters
        ----------
        X : data frame, mapping, or anything that the model takes
            Items, as for `predict`.
        view : str, optional
            View to annotate with. Default: the target, if it has classes or labels; else tags, or words.
        top : int, default=5
            Number of annotations for each row.

        Returns
        -------
        DataFrame
            Columns row, rank, label, probability, the most probable first.
        """
        return annotation_table(self.model, query_views(self.model, X), view, top)

    def explain(self, item: Any) -> Explanation:
        """Return which topics and features moved a prediction, by how much.

        Parameters
        ----------
        item : int, mapping, or anything that the model takes
            Number of an item of the folder, or one other item, as for `predict`.

        Returns
        -------
        Explanation
            What adds up to the scores of the item, exactly.
        """
        if not isinstance(self.model, HarmoniumClassifier | HarmoniumRegressor):
            raise ValueError(
                "An explanation needs a model with a target; this one was fitted without; fit it with one."
            )
        rows: Any = item
        if isinstance(item, int | np.integer):
            rows = self._read_again(self._row(int(item)))
        return self.model.explain(query_views(self.model, rows))[0]

    def _read_again(self, row: int) -> Any:
        """Return one item as the model takes it, from its columns."""
        table = self.model.fitted_.table
        if table is None or any(column.name not in self.items.columns for column in table.columns):
            raise ValueError(
                "An item is explained by its columns; the folder does not hold all columns that the model was fitted "
                "on; pass the item itself."
            )
        item = self.items.loc[[row], [column.name for column in table.columns]].astype(object)
        pictures = [column.name for column in table.columns if column.reader.takes_pictures]
        for name in pictures:
            # a small picture stands for the one that the folder does not keep
            small = self.thumbnails[row] if self.thumbnails is not None and name == pictures[0] else None
            item[name] = pd.Series([small], index=item.index, dtype=object)
        return item

    def _row(self, item: int) -> int:
        """Return the number of an item; refuse others."""
        check_whole("an item", "its number", item, lower=0, remedy="0 is the first item")
        if item >= len(self):
            raise ValueError(f"An item has a number below {len(self):,}; got {item}; the first is 0.")
        return item


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and np.isnan(cell))


def _shown(X: Any, items: Any, index: pd.Index | None, n_items: int) -> pd.DataFrame:
    """Return the columns to show."""
    source = X if items is None and is_frame(X) else items
    if source is None:
        names = index if index is not None else pd.RangeIndex(n_items)
        return pd.DataFrame({"item": [str(name) for name in names]})
    frame = as_frame("items", source)
    if frame is None or len(frame) != n_items:
        got = type(source).__name__ if frame is None else f"{len(frame):,} rows"
        raise ValueError(f"items must be a data frame with a row for each of the {n_items:,} items; got {got}.")
    shown = pd.DataFrame(frame.to_pandas())
    rows = rows_in_order("items", row_names(source), "X", index)
    shown = (shown if rows is None else shown.iloc[rows]).reset_index(drop=True)
    return shown.set_axis([str(name) for name in shown.columns], axis=1)


def _target(model: Harmonium, items: pd.DataFrame, target: str | list[str] | None) -> list[str]:
    """Return the names of the columns that are predicted; refuse names that are not there."""
    meaning = model.fitted_.meaning
    if meaning is None:
        return []
    if target is None:
        return [name for name in meaning.columns if name in items.columns]
    names = [target] if isinstance(target, str) else list(target)
    lacking = [name for name in names if name not in items.columns]
    if lacking:
        raise ValueError(f"target must name columns of the items; got {lacking[0]!r}; correct the name, or pass items.")
    return names
