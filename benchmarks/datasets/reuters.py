"""Reuters-21578: news stories and their topics, distribution 1.0."""

from __future__ import annotations

import html
import os
import re

import numpy as np

from harmonium.datasets._base import Dataset, archive_members, archive_path, object_array, take_rows

_STORY = re.compile(r"<REUTERS ([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
_ITEM = re.compile(r"<D>(.*?)</D>", re.DOTALL)
_TEXT = re.compile(r"<TEXT([^>]*)>(.*?)</TEXT>", re.DOTALL)
_TITLE = re.compile(r"<TITLE>(.*?)</TITLE>", re.DOTALL)
_BODY = re.compile(r"<BODY>(.*?)</BODY>", re.DOTALL)
_CONTROL = re.compile(r"&#\d+;|[\x00-\x08\x0b-\x1f\x7f]")

# Values of the attribute TOPICS that each split admits; both take the part from the attribute LEWISSPLIT.
_ADMITTED = {"modapte": ("YES",), "modlewis": ("YES", "NO")}

UNLABELLED = "(none)"


def _plain(markup: str) -> str:
    return html.unescape(_CONTROL.sub(" ", markup)).strip()


def _story_text(story: str) -> str:
    """Return title and body of a story, or its whole text if it is unprocessed and has neither."""
    match = _TEXT.search(story)
    if match is None:
        return ""
    if 'TYPE="UNPROC"' in match[1]:
        return _plain(match[2])
    found = (_TITLE.search(match[2]), _BODY.search(match[2]))
    return "\n".join(_plain(part[1]) for part in found if part is not None)


def _story_topics(story: str) -> list[str]:
    match = _TOPICS.search(story)
    # A few stories name a topic twice; a dictionary drops the second mention and keeps the order.
    return list(dict.fromkeys(_ITEM.findall(match[1]))) if match else []


def load_reuters21578(
    split: str = "modapte",
    copies: bool = False,
    unlabelled: bool = False,
    data_home: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Load the news stories of Reuters-21578.

    They are read from ``reuters21578/reuters21578.tar.gz``.

    Parameters
    ----------
    split : {"modapte", "modlewis"}, default="modapte"
        Both splits take the part of a story from its attribute LEWISSPLIT. ModApte admits only stories with
        ``TOPICS="YES"``, ModLewis also those with ``TOPICS="NO"``.
    copies : bool, default=False
        Whether to return one row for each pair of a story and one of its topics; see `expand_multilabel`.
    unlabelled : bool, default=False
        With ``copies``, whether to keep stories without topics as a class of their own.
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        View ``"text"`` is an object array of strings (title and body), view ``"identifier"`` the number (NEWID) of each
        story. The target is an object array of lists of topics, which may be empty; with ``copies`` it is the class of
        each row. Rows are ordered by part (training first) and number.

    Examples
    --------
    >>> stories = load_reuters21578()  # doctest: +SKIP
    >>> stories.views["identifier"][:2], stories.target[0]  # doctest: +SKIP
    (array([1, 5]), ['cocoa'])
    """
    if split not in _ADMITTED:
        raise ValueError(f"split must be one of {', '.join(_ADMITTED)}, but got {split!r}; choose one of them.")
    if unlabelled and not copies:
        raise ValueError("unlabelled=True must come with copies=True, but copies is False; set both or neither.")
    stories: list[tuple[bool, int, str, list[str]]] = []
    for name, content in archive_members(archive_path("reuters21578", "reuters21578.tar.gz", data_home)):
        if not name.endswith(".sgm"):
            continue
        for markup, story in _STORY.findall(content.decode("latin-1")):
            attributes = dict(_ATTRIBUTE.findall(markup))
            part = attributes["LEWISSPLIT"]
            if part in ("TRAIN", "TEST") and attributes["TOPICS"] in _ADMITTED[split]:
                stories.append((part == "TEST", int(attributes["NEWID"]), _story_text(story), _story_topics(story)))
    stories.sort(key=lambda story: story[:2])

    dataset = Dataset(
        name="reuters21578",
        views={
            "text": object_array([story[2] for story in stories]),
            "identifier": np.array([story[1] for story in stories], dtype=np.int64),
        },
        target=object_array([story[3] for story in stories]),
        target_names=sorted({topic for story in stories for topic in story[3]}),
        split=np.array(["test" if story[0] else "train" for story in stories]),
        description=f"Reuters-21578: news stories of 1987 with their topics, in the {split} split.",
    )
    return expand_multilabel(dataset, unlabelled=unlabelled) if copies else dataset


def expand_multilabel(dataset: Dataset, unlabelled: bool = False) -> Dataset:
    """Copy each document once for each of its categories.

    Every row of the result has one class. Only categories that occur in both training and test documents are kept.

    Parameters
    ----------
    dataset : Dataset
        Data set with a split, whose target is a list of category names for each document.
    unlabelled : bool, default=False
        Whether to keep documents without any category, as a last class named ``"(none)"``. A document whose categories
        all occur in one part only is left out in any case.

    Returns
    -------
    Dataset
        The copies, with class numbers as their target.

    Examples
    --------
    >>> import numpy as np
    >>> topics = np.empty(3, dtype=object)
    >>> topics[:] = [["grain", "wheat"], [], ["wheat", "grain", "corn"]]
    >>> data = Dataset("toy", {"x": np.arange(3)}, topics, [], np.array(["train", "train", "test"]), "")
    >>> pairs = expand_multilabel(data)
    >>> pairs.views["x"].tolist(), pairs.target.tolist(), pairs.target_names
    ([0, 0, 2, 2], [0, 1, 1, 0], ['grain', 'wheat'])
    """
    if dataset.target is None or dataset.split is None:
        raise ValueError(
            f"A data set must have a target and a split to be expanded, but {dataset.name!r} lacks one; load it with "
            "both."
        )
    parts = [
        {topic for topics in dataset.target[dataset.split == part] for topic in topics} for part in ("train", "test")
    ]
    names = sorted(parts[0] & parts[1])
    number = {name: position for position, name in enumerate(names)}
    rows: list[int] = []
    target: list[int] = []
    for row, topics in enumerate(dataset.target):
        classes = [number[topic] for topic in topics if topic in number]
        if unlabelled and len(topics) == 0:
            classes = [len(names)]
        rows.extend([row] * len(classes))
        target.extend(classes)
    chosen = np.array(rows, dtype=np.int64)
    return Dataset(
        name=dataset.name,
        views={name: take_rows(view, chosen) for name, view in dataset.views.items()},
        target=np.array(target, dtype=np.int64),
        target_names=[*names, UNLABELLED] if unlabelled else names,
        split=dataset.split[chosen],
        description=f"{dataset.description} One row for each pair of a document and its category.",
    )
