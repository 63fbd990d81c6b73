"""20 Newsgroups, split by date."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

import numpy as np

from harmonium.datasets._base import Dataset, archive_members, archive_path, object_array

_PARTS = ("headers", "footers", "quotes")
# Lines that introduce a quotation ("X writes:") or belong to one ("> ..." and "| ...").
_QUOTED_LINE = re.compile(r"^(?:In article|Quoted from|\||>)|writes in|writes:|wrote:|says:|said:")


def strip_headers(message: str) -> str:
    r"""Remove everything up to the first empty line.

    Examples
    --------
    >>> strip_headers("From: me\nSubject: it\n\nHello.")
    'Hello.'
    """
    return message.partition("\n\n")[2]


def strip_quotes(message: str) -> str:
    r"""Remove lines that quote another message or introduce a quotation.

    Examples
    --------
    >>> strip_quotes("She writes:\n> Is it?\nIt is.")
    'It is.'
    """
    return "\n".join(line for line in message.split("\n") if not _QUOTED_LINE.search(line))


def strip_footer(message: str) -> str:
    r"""Remove what follows the last line that is empty or made of dashes: most likely a signature.

    Examples
    --------
    >>> strip_footer("It is.\n--\nThe sender")
    'It is.'
    """
    lines = message.strip().split("\n")
    for position in range(len(lines) - 1, 0, -1):
        if not lines[position].strip().strip("-"):
            return "\n".join(lines[:position])
    return message


def load_newsgroups(
    subset: str = "all", remove: Iterable[str] = (), data_home: str | os.PathLike[str] | None = None
) -> Dataset:
    """Load the messages of 20 Newsgroups.

    They are read from ``newsgroups/20news-bydate.tar.gz``.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        Which part to load.
    remove : iterable of {"headers", "footers", "quotes"}, default=()
        Parts of the messages to remove, because they give the group away too easily.
    data_home : path-like or None, default=None
        Folder of the data sets; ``None`` means the one named by the environment variable ``HARMONIUM_DATA``.

    Returns
    -------
    Dataset
        View ``"text"`` is an object array of strings; the target is the group. Rows are ordered by part (training
        first), group and number of the message.

    Examples
    --------
    >>> messages = load_newsgroups("test", remove=("headers", "footers", "quotes"))  # doctest: +SKIP
    >>> len(messages.views["text"]), messages.target_names[:2]  # doctest: +SKIP
    (7532, ['alt.atheism', 'comp.graphics'])
    """
    removed = {remove} if isinstance(remove, str) else set(remove)
    if not removed <= set(_PARTS):
        raise ValueError(f"remove must hold only {', '.join(_PARTS)}, but got {sorted(removed)}; leave out the others.")
    if subset not in ("all", "train", "test"):
        raise ValueError(f"subset must be 'all', 'train' or 'test', but got {subset!r}; choose one of them.")
    path = archive_path("newsgroups", "20news-bydate.tar.gz", data_home)

    messages: list[tuple[bool, str, int, str]] = []
    for name, content in archive_members(path):
        folder, group, number = name.split("/")
        part = folder.rpartition("-")[2]
        if subset in ("all", part):
            messages.append((part == "test", group, int(number), content.decode("latin-1")))
    messages.sort(key=lambda message: message[:3])

    texts = [message[3] for message in messages]
    # The order matters: a signature is looked for below the headers, and before quoted lines leave gaps.
    for part, strip in (("headers", strip_headers), ("footers", strip_footer), ("quotes", strip_quotes)):
        if part in removed:
            texts = [strip(text) for text in texts]

    groups, target = np.unique([message[1] for message in messages], return_inverse=True)
    return Dataset(
        name="newsgroups",
        views={"text": object_array(texts)},
        target=target.astype(np.int64),
        target_names=[str(group) for group in groups],
        split=np.array(["test" if message[0] else "train" for message in messages]),
        description="20 Newsgroups: messages of 20 discussion groups, split by date into training and test.",
    )
