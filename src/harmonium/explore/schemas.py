"""JSON schemas of the answers, as OpenAPI shows them and tests check them."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
ANYTHING: Schema = {}


def listed(of: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": of}


def maybe(what: Schema) -> Schema:
    """Return the schema of something that may be null."""
    return {"anyOf": [what, {"type": "null"}]}


def record(**fields: Schema) -> Schema:
    """Return the schema of an object whose fields are all there."""
    return {"type": "object", "properties": fields, "required": list(fields)}


def by_name(of: Schema) -> Schema:
    """Return the schema of an object with any names."""
    return {"type": "object", "additionalProperties": of}


CARD = record(row=WHOLE, title=TEXT, excerpt=maybe(TEXT), target=by_name(ANYTHING), has_picture=FLAG)
FOUND = record(**CARD["properties"], score=NUMBER, passage=maybe(TEXT), matched=listed(TEXT))
NOTICES = listed(TEXT)
STRONGEST = listed(record(topic=WHOLE, label=TEXT, mean=NUMBER, ahead=NUMBER))
_MOVED = record(view=TEXT, feature=TEXT, present=FLAG, total=NUMBER)
_PARTS = {"through_units": NUMBER, "inputs": NUMBER}
EXPLANATION = record(
    output=TEXT,
    scale=TEXT,
    score=NUMBER,
    base=NUMBER,
    stops_at=maybe(NUMBER),
    topics=listed(record(topic=WHOLE, unit=TEXT, label=TEXT, total=NUMBER, features=listed(_MOVED))),
    topics_rest=NUMBER,
    dimensions=NUMBER,
    inputs=NUMBER,
    curves=NUMBER,
    views=listed(record(view=TEXT, present=FLAG, total=NUMBER, **_PARTS)),
    features=listed(record(**_MOVED["properties"], **_PARTS)),
    features_rest=NUMBER,
)

ERROR = record(error=TEXT)
ABOUT = record(
    title=TEXT,
    library_version=TEXT,
    model=by_name(ANYTHING),
    items=by_name(ANYTHING),
    columns=listed(by_name(ANYTHING)),
    views=listed(by_name(ANYTHING)),
    target=maybe(by_name(ANYTHING)),
    scores=maybe(by_name(ANYTHING)),
    asked_by=listed(TEXT),
    pictures_in=listed(TEXT),
    has_pictures=FLAG,
    colourings=listed(record(by=TEXT, name=TEXT, kind=TEXT, group=TEXT)),
)
PIXELS = {"x": listed(WHOLE), "y": listed(WHOLE)}
MAP = record(n=WHOLE, **PIXELS, has_pictures=FLAG, without_pictures=listed(WHOLE))
VALUES = record(
    kind={"enum": ["class", "tags", "number", "date"]},
    by=TEXT,
    names=listed(TEXT),
    values=listed(maybe({"anyOf": [NUMBER, listed(WHOLE)]})),
)
_BAR = record(label=TEXT, n=WHOLE, low=maybe(NUMBER), high=maybe(NUMBER))
_COLUMN = {
    "column": WHOLE,
    "name": TEXT,
    "kind": TEXT,
    "role": maybe(TEXT),
    "view": maybe(TEXT),
    "note": maybe(TEXT),
    "is_target": FLAG,
    "n": WHOLE,
    "missing": NUMBER,
    "distinct": WHOLE,
    "distribution": record(bars=listed(_BAR), numbers=maybe(by_name(ANYTHING)), examples=listed(TEXT)),
}
_GOES_WITH = {"name": TEXT, "size": NUMBER, "measure": TEXT}
COLUMNS = record(columns=listed(record(**_COLUMN)))
COLUMN = record(
    **_COLUMN,
    columns=listed(record(column=WHOLE, **_GOES_WITH)),
    topics=listed(record(topic=WHOLE, **_GOES_WITH)),
)
TABLE = record(
    total=WHOLE,
    offset=WHOLE,
    columns=listed(TEXT),
    rows=listed(record(row=WHOLE, values=by_name(ANYTHING))),
    filters=listed(record(by=TEXT, value=TEXT)),
    sort=maybe(TEXT),
    q=maybe(TEXT),
)
_TOPIC = {
    "topic": WHOLE,
    "label": TEXT,
    "share": NUMBER,
    "stability": maybe(NUMBER),
    "is_idle": FLAG,
    "same_as": maybe(WHOLE),
    "features": by_name(listed(TEXT)),
    "strengths": by_name(listed(NUMBER)),
    "cards": listed(CARD),
}
_JOIN = record(one=NUMBER, other=NUMBER, one_height=NUMBER, other_height=NUMBER, height=NUMBER)
_TREE = record(topics=listed(record(topic=WHOLE, label=TEXT)), joins=listed(_JOIN))
TOPICS = record(topics=listed(record(**_TOPIC)), tree=maybe(_TREE))
TOPIC = record(
    **_TOPIC,
    classes=maybe(listed(record(name=TEXT, ahead=NUMBER))),
    effects=maybe(listed(maybe(NUMBER))),
    least=listed(CARD),
    neighbours=listed(record(topic=WHOLE, label=TEXT, correlation=NUMBER)),
    previous=maybe(WHOLE),
    next=maybe(WHOLE),
    columns=listed(record(column=WHOLE, **_GOES_WITH)),
)
ITEM = record(
    **CARD["properties"],
    values=by_name(ANYTHING),
    topics=STRONGEST,
    similar=listed(FOUND),
    explanation=maybe(EXPLANATION),
    notices=NOTICES,
)
SEARCH = record(query=ANYTHING, items=listed(FOUND), notices=NOTICES)
PREDICTIONS = record(predictions=listed(by_name(ANYTHING)), notices=NOTICES)
COORDINATES = record(coordinates=listed(listed(NUMBER)), map=record(**PIXELS), notices=NOTICES)
ANNOTATION = record(label=ANYTHING, probability=maybe(NUMBER))
ANNOTATIONS = record(annotations=listed(listed(ANNOTATION)), notices=NOTICES)
EXPLANATIONS = record(explanations=listed(EXPLANATION), notices=NOTICES)
DESCRIBED = record(
    values=by_name(ANYTHING),
    prediction=maybe(by_name(ANYTHING)),
    annotations=by_name(listed(ANNOTATION)),
    topics=STRONGEST,
    similar=listed(FOUND),
    map=record(**PIXELS),
    explanation=maybe(EXPLANATION),
    notices=NOTICES,
)
SELECTION = record(
    n=WHOLE,
    topics=listed(record(topic=WHOLE, label=TEXT, ahead=NUMBER)),
    differences=listed(
        record(
            kind={"enum": ["topic", "word", "column"]},
            name=TEXT,
            by=maybe(TEXT),
            value=maybe(TEXT),
            selected=maybe({"anyOf": [NUMBER, TEXT]}),
            rest=maybe({"anyOf": [NUMBER, TEXT]}),
            correlation=NUMBER,
            unit={"enum": ["share", "mean", "date"]},
        )
    ),
    target=maybe(record(column=TEXT, mean=maybe(NUMBER), classes=listed(record(name=TEXT, share=NUMBER)))),
    items=listed(CARD),
)
