"""Documents whose subjects are known, without anything to predict."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from harmonium.datasets._base import checked_generator
from harmonium.datasets._phrases import DOCUMENT_FILLER, DOCUMENT_TOPICS, text_of

# Share of the messages that touch a second subject: a convention.
_TWO_SUBJECTS = 0.3


def make_documents(n_rows: int = 800, *, random_state: int = 0) -> Bunch:
    """Make short messages on eight subjects, as of a notice board.

    Every message has a subject, and some have a second one; these decide its sentences.

    Parameters
    ----------
    n_rows : int, default=800
        Number of messages.
    random_state : int, default=0
        Seed. Equal seeds make equal messages.

    Returns
    -------
    Bunch
        ``data``, a list of texts. The truth: ``topics``, a DataFrame of which message has which subject, 0 or 1;
        ``target``, the number of the main subject; ``target_names``, the subjects. ``DESCR`` says the same in a
        sentence.

    See Also
    --------
    make_reviews : Texts with other columns beside them, and a rating.

    Examples
    --------
    >>> pile = make_documents(100)
    >>> len(pile.data), pile.target_names[:3]
    (100, ['astronomy', 'baking', 'cycling'])
    """
    rng = checked_generator("make_documents", n_rows, random_state)
    names = list(DOCUMENT_TOPICS)
    # a main subject and another one
    chosen = np.array([rng.choice(len(names), size=2, replace=False) for _ in range(n_rows)])
    topics = np.zeros((n_rows, len(names)), dtype=np.int64)
    topics[np.arange(n_rows), chosen[:, 0]] = 1
    mixed = np.flatnonzero(rng.random(n_rows) < _TWO_SUBJECTS)
    topics[mixed, chosen[mixed, 1]] = 1
    found = [[names[topic] for topic in np.flatnonzero(row)] for row in topics]
    return Bunch(
        data=[text_of(rng, DOCUMENT_TOPICS, own, DOCUMENT_FILLER) for own in found],
        topics=pd.DataFrame(topics, columns=names),
        target=chosen[:, 0],
        target_names=names,
        DESCR="Made-up messages of a notice board; eight planted subjects decide their words.",
    )
