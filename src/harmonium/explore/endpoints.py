"""The list of all endpoints: addresses, fields, and handlers.

Routes, pages and the OpenAPI description are all made from this list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harmonium.explore import fields, schemas
from harmonium.explore.errors import BadRequest
from harmonium.explore.fields import COLUMN, Field
from harmonium.explore.handlers import Handlers

# letters of a question, neighbours and annotations that one may ask for
_MOST_LETTERS = 40_000
_MOST_FOUND = 100


@dataclass(frozen=True)
class Endpoint:
    """Something that can be asked.

    Attributes
    ----------
    path : str
        Its address, with names of parameters in braces.
    summary : str
        What it answers, in a line.
    handler : function
        Returns the answer to the values of its fields, which it takes by their names.
    response : dict
        JSON schema of the answer.
    fields : mapping of str to Field
        What it takes.
    page : str, optional
        Template of the page that shows the answer, at the same address without ``.json``.
    method : {"GET", "POST"}, default="GET"
        POST takes fields from a JSON body, as they may be long; nothing is changed by it.
    """

    path: str
    summary: str
    handler: Callable[..., Any]
    response: dict[str, Any]
    fields: Mapping[str, Field] = field(default_factory=dict)
    page: str | None = None
    method: str = "GET"

    @property
    def page_path(self) -> str:
        """The address of its page."""
        return "/" if self.path == "/index.json" else self.path.removesuffix(".json")


def endpoints(handlers: Handlers) -> list[Endpoint]:
    """Return everything that can be asked about a folder."""
    return [*_about(handlers), *_questions(handlers), *_computations(handlers)]


def _about(handlers: Handlers) -> list[Endpoint]:
    """Return endpoints about the folder itself."""
    numbers = [topic.number for topic in handlers.folder.model.fitted_.topics]
    topic = {"topic": fields.number_of("topic", max(numbers) + 1, "Number of a topic.")}
    row = {"row": fields.number_of("row", len(handlers.folder), "Number of an item.")}
    names = [entry["by"] for entry in handlers.values.offered]
    by = {"by": fields.one_of("by", names, True, "One of the colourings of /index.json.")}
    column = {"column": fields.number_of("column", len(handlers.folder.items.columns), "Number of a column.")}
    described = "An item, its topics, prediction and neighbours"
    small = "What is shown of an item where there is little room"
    return [
        Endpoint("/index.json", "What the folder holds", lambda: handlers.about, schemas.ABOUT, page="index.html"),
        Endpoint("/map.json", "Where all items lie", lambda: handlers.map, schemas.MAP),
        Endpoint("/values.json", "Values of all items", handlers.values.plain, schemas.VALUES, by),
        Endpoint(
            "/topics.json", "All topics, the most used first", handlers.topics, schemas.TOPICS, page="topics.html"
        ),
        Endpoint("/topics/{topic}.json", "What a topic is about", handlers.topic, schemas.TOPIC, topic, "topic.html"),
        Endpoint("/columns.json", "All columns", handlers.column_list, schemas.COLUMNS, page="columns.html"),
        Endpoint(
            "/columns/{column}.json", "What a column holds", handlers.column, schemas.COLUMN, column, "column.html"
        ),
        Endpoint("/items/{row}.json", described, handlers.item, schemas.ITEM, row, "item.html"),
        Endpoint("/cards/{row}.json", small, handlers.cards.card, schemas.CARD, row),
    ]


def _questions(handlers: Handlers) -> list[Endpoint]:
    """Return endpoints whose fields a person gives in the address of a page."""
    columns = {
        f"{COLUMN}{name}": fields.text(name, _MOST_LETTERS, description=f"Value of the column {name}.")
        for name in handlers.columns
    }
    q = fields.text("q", _MOST_LETTERS, description="Words to search for.", examples=["quiet room"])
    last = len(handlers.folder) - 1
    like = fields.whole("like", 0, last, description="Number of an item that others are to be like.")
    n = fields.whole("n", 1, _MOST_FOUND, 20, description="Number of items to find.")

    def search(**values: Any) -> dict[str, Any]:
        return _search(handlers, values)

    def annotate(**values: Any) -> dict[str, Any]:
        return handlers.describe(_values(handlers, values))

    found = "Items that go with words, with values of columns, or with another item"
    described = "What an item with these values would be: prediction, topics, annotations, neighbours and place"
    asked = {"q": q, "like": like, "n": n, **columns}
    rows = "Items that match filters, in the order of a column"
    return [
        Endpoint("/table.json", rows, handlers.table, schemas.TABLE, table_fields(handlers), "table.html"),
        Endpoint("/search.json", found, search, schemas.SEARCH, asked, "search.html"),
        Endpoint("/annotate.json", described, annotate, schemas.DESCRIBED, columns, "annotate.html"),
    ]


def table_fields(handlers: Handlers) -> dict[str, Field]:
    """Return the fields of the table of items: filters of columns and topics, and which rows to show."""
    range_or_names = "A range such as 50..80, names with | between them, or words of a text."
    filters = {by: fields.text(by, _MOST_LETTERS, description=range_or_names) for by in handlers.values}
    return {
        "q": fields.text("q", _MOST_LETTERS, description="Words that an item must have in one or another column."),
        "lasso": fields.polygon("lasso"),
        "sort": fields.text("sort", _MOST_LETTERS, description="Column to sort by, as column:NAME; -column:NAME down."),
        "offset": fields.whole("offset", 0, fields.MOST_ROWS, 0, description="Rows to leave out first."),
        "n": fields.whole("n", 1, fields.MOST_ROWS, 50, description="Number of rows."),
        **filters,
    }


def _computations(handlers: Handlers) -> list[Endpoint]:
    """Return endpoints for programs, which take many items at once."""
    items = fields.items(handlers.columns)
    top = fields.whole("top", 1, _MOST_FOUND, 5, description="Number of annotations of each item.")
    names = handlers.folder.model.fitted_.input_names
    view = fields.one_of("view", names, description="View to annotate with; by default the target, or tags.")
    n = fields.whole("n", 1, _MOST_FOUND, 10, description="Number of items to find.")
    query = fields.query(handlers.columns, _MOST_LETTERS)
    rows = fields.rows(len(handlers.folder))

    def post(path: str, summary: str, handler: Callable[..., Any], response: Any, **taken: Field) -> Endpoint:
        return Endpoint(path, summary, handler, response, taken, method="POST")

    best = "Classes, labels or features that go best with items"
    found = "Items that go with words or values of columns"
    return [
        post("/predict.json", "Predictions for items", handlers.predict, schemas.PREDICTIONS, items=items),
        post(
            "/transform.json", "Topics of items, and their places", handlers.transform, schemas.COORDINATES, items=items
        ),
        post("/annotate.json", best, handlers.annotate, schemas.ANNOTATIONS, items=items, view=view, top=top),
        post("/explain.json", "What moved the predictions", handlers.explain, schemas.EXPLANATIONS, items=items),
        post("/search.json", found, handlers.search, schemas.SEARCH, query=query, n=n),
        post("/selection.json", "What is special about some items", handlers.selection, schemas.SELECTION, rows=rows),
    ]


def _values(handlers: Handlers, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of columns in the parameters of an address; empty ones are not given."""
    texts = {name: values[f"{COLUMN}{name}"] for name in handlers.columns}
    return {
        name: handlers.parse_cell(name, value) for name, value in texts.items() if value is not None and value.strip()
    }


def _search(handlers: Handlers, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an address searches for; nothing if it does not say."""
    columns = _values(handlers, values)
    words = (values["q"] or "").strip()
    queries: list[Any] = [words] * bool(words) + [columns] * bool(columns)
    if len(queries) + (values["like"] is not None) > 1:
        raise BadRequest(
            "A search takes words, values of columns, or an item; got several of them; leave all but one out."
        )
    if values["like"] is not None:
        return handlers.like(values["like"], values["n"])
    if not queries:
        return {"query": None, "items": [], "notices": []}
    return handlers.search(queries[0], values["n"])
