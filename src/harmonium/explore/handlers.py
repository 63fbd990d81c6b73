"""Handlers of the endpoints: answers as plain values, which pages put into templates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from harmonium._version import __version__
from harmonium.explore.errors import BadRequest, answering, collected_notices
from harmonium.explore.fields import as_cells, as_number
from harmonium.explore.selection import selection_summary
from harmonium.explore.table import matching_rows, ordered, table_csv, table_page
from harmonium.explore.values import Values, pixel_coordinates
from harmonium.model_folder import ModelFolder
from harmonium.model_folder.json_values import json_records, json_value
from harmonium.model_folder.passages import Passage
from harmonium.report.summary.cards import Cards
from harmonium.report.summary.columns import association, associations, column_summary
from harmonium.report.summary.item_views import picture_columns
from harmonium.report.summary.topics import topics_summary, tree_summary
from harmonium.report.tables.latent import latent_means, topic_means

# Items and features of the page of a topic, topics of the page of an item.
_TOPIC_ITEMS, _TOPIC_FEATURES = 24, 30
_ITEM_TOPICS = 8
_ANNOTATIONS = 10
_EXPLAINED = 10


class Handlers:
    """Answers to everything that can be asked about a model folder.

    Parameters
    ----------
    folder : ModelFolder
        The folder.
    """

    def __init__(self, folder: ModelFolder) -> None:
        self.folder = folder
        self.cards = Cards(folder)

    # ---- what is computed once -----------------------------------------------------------------------------------
    @cached_property
    def columns(self) -> list[str]:
        """The columns that an item may be asked about by."""
        table = self.folder.model.fitted_.table
        used = [] if table is None else [column.name for column in table.columns]
        roles = self.folder.model.views_["role"] if table is not None else {}
        return [name for name in used if roles[name] != "drop"]

    @cached_property
    def pictures(self) -> list[str]:
        """Those of the columns that hold pictures."""
        return picture_columns(self.folder)

    @cached_property
    def _topics(self) -> dict[int, dict[str, Any]]:
        topics = topics_summary(self.folder, self.cards, _TOPIC_FEATURES, _TOPIC_ITEMS)
        for topic in topics:
            for card in (*topic["cards"], *topic["least"]):
                card.pop("picture")  # pages show pictures by their addresses
        return {topic["topic"]: topic for topic in topics}

    @cached_property
    def labels(self) -> dict[int, str]:
        """Labels of the topics, the most used first; those that say nothing, or nothing new, are left out."""
        kept = [topic for topic in self._topics.values() if not topic["is_idle"] and topic["same_as"] is None]
        return {topic["topic"]: topic["label"] for topic in kept}

    @cached_property
    def values(self) -> Values:
        """Columns and topics of the items."""
        return Values(self.folder, self.labels)

    @cached_property
    def _spread(self) -> tuple[np.ndarray, np.ndarray]:
        coordinates = self.folder.topic_coordinates.astype(np.float64)
        return coordinates.mean(axis=0), np.maximum(coordinates.std(axis=0), 1e-12)

    # ---- about the folder ----------------------------------------------------------------------------------------
    @cached_property
    def about(self) -> dict[str, Any]:
        """The summary of the folder."""
        summary = self.folder.summary(1, 1)
        kept = ("model", "items", "columns", "views", "target", "scores")
        return {
            "title": self.folder.path.name,
            "library_version": __version__,
            **{name: json_value(summary[name]) for name in kept},
            "asked_by": self.columns,
            "pictures_in": self.pictures,
            "has_pictures": self.folder.thumbnails is not None,
            "colourings": self.values.offered,
        }

    @cached_property
    def map(self) -> dict[str, Any]:
        """Locations of all items on the map."""
        lacking = [row for row in range(len(self.folder)) if self.cards.picture(row) is None]
        has_pictures = self.folder.thumbnails is not None
        return {
            "n": len(self.folder),
            **pixel_coordinates(self.folder.map),
            "has_pictures": has_pictures,
            "without_pictures": lacking if has_pictures else [],
        }

    def topics(self) -> dict[str, Any]:
        """Return all topics, the most used first."""
        shown = [
            {
                **{name: topic[name] for name in ("topic", "label", "share", "stability", "is_idle", "same_as")},
                "features": {view: names[:10] for view, names in topic["features"].items()},
                "strengths": {view: sizes[:10] for view, sizes in topic["strengths"].items()},
                "cards": topic["cards"][:8],
            }
            for topic in self._topics.values()
        ]
        return {"topics": shown, "tree": tree_summary(self.folder, list(self._topics.values()))}

    def topic(self, topic: int) -> dict[str, Any]:
        """Return what a topic is about."""
        order = list(self._topics)
        if topic not in order:
            raise BadRequest(f"topic {topic} was merged or hidden; see /topics for those that are shown.", 404)
        rank = order.index(topic)
        return {
            **self._topics[topic],
            "previous": order[rank - 1] if rank else None,
            "next": order[rank + 1] if rank + 1 < len(order) else None,
            "columns": self._columns_of_topic(topic),
        }

    def _columns_of_topic(self, topic: int) -> list[dict[str, Any]]:
        """Return how a topic goes with each column, the strongest first; with texts it goes by their words."""
        if topic not in self.labels:
            return []
        own = self.values[f"topic:{topic}"]
        found = [
            {"column": number, "name": name, **association(own, self.values[f"column:{name}"])}
            for number, name in enumerate(self.folder.items.columns)
        ]
        return sorted((entry for entry in found if entry["size"] is not None), key=lambda entry: -abs(entry["size"]))

    def item(self, row: int) -> dict[str, Any]:
        """Return what is known of an item: its columns, topics, prediction and neighbours."""
        values = self.folder.items.iloc[row]
        answer = {
            **self.cards.card(row),
            "values": {name: json_value(value) for name, value in values.items()},
            "topics": self.strongest(self.folder.topic_coordinates[[row]])[0],
            "similar": self.result_cards(self.folder.nearest(row, 12)) if len(self.folder) > 1 else [],
        }
        with collected_notices() as notices:
            answer["explanation"] = self._explained_item(row)
        return {**answer, "notices": notices}

    def items(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """Return what is known of some items, without neighbours and explanations, which take time."""
        topics = self.strongest(self.folder.topic_coordinates[list(rows)])
        names = self.folder.items.columns.tolist()
        cells = self.folder.items.iloc[list(rows)].itertuples(index=False, name=None)
        return [
            {
                **self.cards.card(row),
                "values": {name: json_value(cell) for name, cell in zip(names, own, strict=True)},
                "topics": strongest,
            }
            for row, own, strongest in zip(rows, cells, topics, strict=True)
        ]

    # ---- about columns -------------------------------------------------------------------------------------------
    def column_list(self) -> dict[str, Any]:
        """Return what each column holds, without what it goes with."""
        return {"columns": [self._column(number) for number in range(len(self.folder.items.columns))]}

    def column(self, column: int) -> dict[str, Any]:
        """Return what a column holds, and which columns and topics it goes with."""
        own = self.values[f"column:{self.folder.items.columns[column]}"]
        columns = {name: self.values[f"column:{name}"] for name in self.folder.items.columns}
        numbers = {name: number for number, name in enumerate(columns)}
        topics = {str(topic): self.values[f"topic:{topic}"] for topic in self.labels}
        return {
            **self._column(column),
            "columns": [{**found, "column": numbers[found["name"]]} for found in associations(own, columns)],
            "topics": [
                {**found, "topic": int(found["name"]), "name": self.labels[int(found["name"])]}
                for found in associations(own, topics)
            ],
        }

    def _column(self, number: int) -> dict[str, Any]:
        name = self.folder.items.columns[number]
        return {"column": number, **column_summary(self.folder, name, self.values[f"column:{name}"])}

    def table(self, **asked: Any) -> dict[str, Any]:
        """Return the items that match filters, a page of them."""
        rows, where = self._matching(asked)
        filters = [{"by": by, "value": value} for by, value in where.items()]
        page = table_page(self.values, rows, asked["offset"], asked["n"])
        return {**page, "filters": filters, "sort": asked["sort"], "q": asked["q"]}

    def csv(self, **asked: Any) -> str:
        """Return all items that match filters as a CSV file."""
        return table_csv(self.values, self._matching(asked)[0])

    def _matching(self, asked: dict[str, Any]) -> tuple[np.ndarray, dict[str, str]]:
        where = {by: asked[by] for by in self.values if asked[by]}
        rows = matching_rows(self.values, where, asked["lasso"], asked["q"] or "")
        return ordered(self.values, rows, asked["sort"]), where

    # ---- about rows that are sent --------------------------------------------------------------------------------
    def search(self, query: Any, n: int) -> dict[str, Any]:
        """Return the items that go best with words or values of columns."""
        with answering() as notices:
            values = query if isinstance(query, str) else as_cells(self.pictures, query)
            found = self.folder.search(values, n)
            items = self.result_cards(found, self.folder.passages(values, found["row"]))
        return {"query": query, "items": items, "notices": notices}

    def like(self, row: int, n: int) -> dict[str, Any]:
        """Return the items that are most like an item."""
        return {"query": {"like": row}, "items": self.result_cards(self.folder.nearest(row, n)), "notices": []}

    def predict(self, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return what is predicted for each item."""
        self._check_predicts()
        with answering() as notices:
            table = self.folder.predict(self.frame(items))
        return {"predictions": json_records(table), "notices": notices}

    def transform(self, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the topics of each item, and its location on the map."""
        with answering() as notices:
            frame = self.frame(items)
            means = latent_means(self.folder.model, frame).astype(np.float64)
            pixels = pixel_coordinates(self.folder.locate(frame))
        return {"coordinates": json_value(means.round(6)), "map": pixels, "notices": notices}

    def annotate(self, items: Sequence[dict[str, Any]], view: str | None, top: int) -> dict[str, Any]:
        """Return what goes best with each item: classes, labels, or features of a view."""
        with answering() as notices:
            table = self.folder.annotate(self.frame(items), view=view, top=top)
        annotations: list[list[dict[str, Any]]] = [[] for _ in items]
        for record in json_records(table):
            annotations[record["row"]].append({"label": record["label"], "probability": record["probability"]})
        return {"annotations": annotations, "notices": notices}

    def explain(self, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return what moved the prediction of each item."""
        self._check_predicts()
        with answering() as notices:
            explanations = [self._explained(self.frame([item])) for item in items]
        return {"explanations": explanations, "notices": notices}

    def describe(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return what an item with some values would be; nothing if none is given."""
        nothing: dict[str, Any] = {
            "prediction": None,
            "annotations": {},
            "topics": [],
            "similar": [],
            "map": {"x": [], "y": []},
            "explanation": None,
        }
        if not values:
            return {"values": {}, **nothing, "notices": []}
        predicts = self.folder.model.fitted_.meaning is not None
        frame, query = self.frame([values]), as_cells(self.pictures, values)
        with answering() as notices:
            answer = {
                "prediction": json_records(self.folder.predict(frame))[0] if predicts else None,
                "annotations": self._annotations(frame, values),
                "topics": self.strongest(self._means(frame))[0],
                "similar": self.result_cards(self.folder.search(query, 12)),
                # words that were not said are unknown, as for the similar items: most descriptions are short
                "map": pixel_coordinates(self.folder.locate(query)),
                "explanation": self._explained(frame) if predicts else None,
            }
        return {"values": values, **answer, "notices": notices}

    def _annotations(self, frame: pd.DataFrame, values: dict[str, Any]) -> dict[str, Any]:
        """Return what goes with an item: its classes or labels, and features of the views that it does not have."""
        tables = {}
        meaning = self.folder.model.fitted_.meaning
        if meaning is not None and meaning.kind != "number" and (meaning.kind == "label" or meaning.n_columns == 1):
            name = ", ".join(meaning.names or ()) if meaning.kind == "class" else "labels"
            tables[name or "class"] = self.folder.annotate(frame, top=_ANNOTATIONS)
        for view in self._views_to_annotate(values):
            tables[view] = self.folder.annotate(frame, view=view, top=_ANNOTATIONS)
        return {
            name: [
                {"label": json_value(row["label"]), "probability": json_value(row["probability"])}
                for row in json_records(table)
            ]
            for name, table in tables.items()
        }

    def _views_to_annotate(self, values: dict[str, Any]) -> list[str]:
        """Return the views of words and tags that an item says nothing about."""
        table = self.folder.model.fitted_.table
        assert table is not None  # there are no values without columns
        return [column.view for column in table.columns if column.reader.names_some and column.name not in values]

    def _means(self, frame: pd.DataFrame) -> np.ndarray:
        return topic_means(self.folder.model, frame)

    def parse_cell(self, name: str, value: str) -> Any:
        """Return the value of a column that somebody wrote: a number if its column has numbers."""
        is_number = name in self.folder.items.columns and self.folder.items[name].dtype.kind in "iuf"
        return as_number(name, value) if is_number else value

    def selection(self, rows: Sequence[int]) -> dict[str, Any]:
        """Return what is special about some items."""
        summary = selection_summary(self.folder, np.unique(np.asarray(rows)), self.labels, self.values)
        return {**summary, "items": [self.cards.card(row) for row in summary["items"]]}

    def _explained(self, item: Any) -> dict[str, Any]:
        """Return what moved the prediction of an item: its topics, and its features through them and directly."""
        explanation: dict[str, Any] = json_value(self.folder.explain(item).to_dict(n=_EXPLAINED))
        return explanation

    def _explained_item(self, row: int) -> dict[str, Any] | None:
        if self.folder.model.fitted_.meaning is None:
            return None
        try:
            return self._explained(row)
        except ValueError:  # the folder does not keep all columns that the model was fitted on
            return None

    # ---- shared --------------------------------------------------------------------------------------------------
    def frame(self, items: Sequence[dict[str, Any]]) -> pd.DataFrame:
        """Return items as a frame; what an item does not say is missing, without a notice."""
        items = [as_cells(self.pictures, item) for item in items]
        cells = {name: [item.get(name) for item in items] for name in self.columns}
        return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in cells.items()})

    def strongest(self, coordinates: np.ndarray) -> list[list[dict[str, Any]]]:
        """Return the topics in which each row differs most from the average item."""
        mean, spread = self._spread
        ahead = (coordinates.astype(np.float64) - mean) / spread
        numbers = [topic.number for topic in self.folder.model.fitted_.topics]
        return [
            [
                {
                    "topic": numbers[place],
                    "label": self.labels[numbers[place]],
                    "mean": float(coordinates[row, place]),
                    "ahead": float(ahead[row, place]),
                }
                for place in np.argsort(-np.abs(ahead[row]), kind="stable")
                if numbers[place] in self.labels
            ][:_ITEM_TOPICS]
            for row in range(len(coordinates))
        ]

    def result_cards(self, table: pd.DataFrame, passages: Sequence[Passage | None] = ()) -> list[dict[str, Any]]:
        """Return the items that a search has found, with their scores, and the passages that say what was typed."""
        said = passages or [None] * len(table)
        return [
            {**self.cards.card(int(row)), "score": float(score), **_matched(passage)}
            for row, score, passage in zip(table["row"], table["score"], said, strict=True)
        ]

    def _check_predicts(self) -> None:
        if self.folder.model.fitted_.meaning is None:
            raise BadRequest("A prediction needs a model with a target; this one was fitted without.", 404)


def _matched(passage: Passage | None) -> dict[str, Any]:
    """Return a passage as text, and the words of it that were searched for, each once."""
    if passage is None:
        return {"passage": None, "matched": []}
    return {"passage": passage.text, "matched": sorted({passage.text[start:end] for start, end in passage.matches})}
