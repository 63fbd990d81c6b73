"""Reuters-21578 news stories, distribution 1.0."""

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

# Which values of the attribute TOPICS each split admits; both take the part from the attribute LEWISSPLIT.
_ADMITTED = {"modapte": ("YES",), "modlewis": ("YES", "NO")}

UNLABELLED = "(none)"


def _plain(markup: str) -> str:
    return html.unescape(_CONTROL.sub(" ", markup)).strip()


def _story_text(story: str) -> str:
    """Title and body of a story; an unprocessed story has neither tag, and its whole text is taken."""
    match = _TEXT.search(story)
    if match is None:
        return ""
    if 'TYPE="UNPROC"' in match[1]:
        return _plain(match[2])
    found = (_TITLE.search(match[2]), _BODY.search(match[2]))
    return "\n".join(_plain(part[1]) for part in found if part is not None)


def _story_topics(story: str) -> list[str]:
    match = _TOPICS.search(story)
    # A few stories name a topic twice; a dictionary drops the repeat and keeps the order.
    return list(dict.fromkeys(_ITEM.findall(match[1]))) if match else []


def load_reuters21578(
    split: str = "modapte",
    copies: bool = False,
    unlabelled: bool = False,
    data_home: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Load Reuters-21578 from ``reuters21578/reuters21578.tar.gz``.

    Parameters
    ----------
    split : {"modapte", "modlewis"}
        Both take the part of a story from LEWISSPLIT; ModApte admits stories with ``TOPICS="YES"`` only, ModLewis
        those with ``TOPICS="NO"`` too.
    copies : bool, default False
        Give one row for each pair of a story and its category, see `expand_multilabel`.
    unlabelled : bool, default False
        With `copies`, keep the stories without topics as a class of their own.
    data_home : path, optional
        Folder of the data sets, by default that named by ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        View ``"text"`` is an object array of strings (title and body), view ``"identifier"`` the number (NEWID) of
        the story. The target is an object array of lists of topic names, which may be empty or, with `copies`, an
        integer array. Rows are ordered by part (training first) and number.
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
    """Copy each document once for each of its categories, so that every row has one class.

    Only categories which occur both in training and in test documents are kept.

    Parameters
    ----------
    dataset : Dataset
        With a split, and lists of category names for a target.
    unlabelled : bool, default False
        Keep documents which have no category at all, as a class named ``"(none)"`` that comes last. Documents all
        of whose categories occur in one part only are left out in either case.

    Returns
    -------
    Dataset
        The copies, with class numbers for a target.

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
