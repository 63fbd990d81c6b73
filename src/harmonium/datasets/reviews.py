"""Reviews whose topics, and what these do to the rating, are known: a table of every kind of column."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from harmonium.datasets._base import checked_generator
from harmonium.datasets._phrases import REVIEW_FILLER, REVIEW_TOPICS, text_of

# Points that a topic adds to the rating, and tags that go with it: what is to be found again.
_POINTS = {
    "kind staff": 0.8,
    "breakfast": 0.4,
    "sea view": 0.6,
    "good beds": 0.5,
    "location": 0.3,
    "dirt": -1.1,
    "noise": -0.6,
    "rude desk": -0.9,
    "cold rooms": -0.7,
    "hidden costs": -0.8,
}
_TAGS = {
    "kind staff": ("friendly", "family-run"),
    "breakfast": ("food", "home-made"),
    "sea view": ("seaside", "balcony"),
    "good beds": ("sleep", "comfort"),
    "location": ("central", "walkable"),
    "dirt": ("unclean", "worn"),
    "noise": ("nightlife", "street"),
    "rude desk": ("service", "booking"),
    "cold rooms": ("old house", "winter"),
    "hidden costs": ("fees", "parking"),
}
_TRAVELLERS = ("alone", "couple", "family", "business")
# Towns by the sea, and what a night costs there in a quiet month.
_PLACES = {
    "Bergen": 120,
    "Brighton": 95,
    "Galway": 80,
    "Gdansk": 55,
    "Lisbon": 85,
    "Naples": 65,
    "Porto": 60,
    "Split": 70,
}
_BASE = 3.4  # the rating of a review without topics at the usual price
_DEAR = -0.6  # points for a price that is e times the usual one
_NOISE = 0.35  # standard deviation of what nothing explains


def make_reviews(
    n_rows: int = 1000,
    *,
    missing_cells: float = 0.0,
    missing_views: float = 0.0,
    missing_targets: float = 0.0,
    random_state: int = 0,
) -> Bunch:
    """Make reviews of places to stay: a table of every kind of column.

    Every review has one to three of ten topics. They decide its sentences, make some tags likelier, and add points to
    the rating; a price above the usual one takes some off. Places differ in their topics and prices.

    Parameters
    ----------
    n_rows : int, default=1000
        Number of reviews.
    missing_cells : float, default=0.0
        Share of the cells, other than ratings, that are emptied at random; every row keeps one.
    missing_views : float, default=0.0
        Share of the reviews that lose their text.
    missing_targets : float, default=0.0
        Share of the reviews that lose their rating.
    random_state : int, default=0
        Seed. Equal seeds make equal tables.

    Returns
    -------
    Bunch
        ``frame``, a DataFrame with the columns review, tags ("family|seaside"), place, price ("€ 84"), date (ISO) and
        rating (1 to 5); ``data`` and ``target``, the frame without its rating and the rating. The truth: ``complete``,
        the frame before cells were emptied; ``topics``, a DataFrame of which review has which topic, 0 or 1; and
        ``weights``, a Series of the points that a topic adds to the rating. ``DESCR`` says the same in a sentence.

    See Also
    --------
    make_documents : Texts alone, without anything to predict.

    Examples
    --------
    >>> reviews = make_reviews(100, missing_views=0.1)
    >>> list(reviews.frame.columns)
    ['review', 'tags', 'place', 'price', 'date', 'rating']
    >>> int(reviews.frame["review"].isna().sum()), reviews.topics.shape
    (10, (100, 10))
    >>> float(reviews.weights["dirt"])
    -1.1
    """
    rng = checked_generator(
        "make_reviews",
        n_rows,
        random_state,
        missing_cells=missing_cells,
        missing_views=missing_views,
        missing_targets=missing_targets,
    )
    complete, topics = _complete(rng, n_rows)
    frame = complete.copy()
    columns = [name for name in frame if name != "rating"]
    absent = rng.random((n_rows, len(columns))) < missing_cells
    absent[absent.all(axis=1), 0] = False  # a row without any cell says nothing
    frame[columns] = frame[columns].mask(absent)
    for column, share in (("review", missing_views), ("rating", missing_targets)):
        frame.loc[rng.permutation(n_rows)[: round(share * n_rows)], column] = np.nan
    return Bunch(
        frame=frame,
        data=frame[columns],
        target=frame["rating"],
        complete=complete,
        topics=topics,
        weights=pd.Series(_POINTS, name="points"),
        DESCR="Made-up reviews of places to stay by the sea; ten planted topics decide words, tags and rating.",
    )


def _complete(rng: np.random.Generator, n_rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a table without gaps, and the topics of its rows."""
    names = list(REVIEW_TOPICS)
    # some topics are frequent in a town and others rare, as gamma variables of a small shape are
    profiles = rng.gamma(1.0, size=(len(_PLACES), len(names))) + 0.2
    towns = rng.integers(len(_PLACES), size=n_rows)
    days = rng.integers(730, size=n_rows)
    topics = np.zeros((n_rows, len(names)), dtype=np.int64)
    for row, profile in enumerate(profiles[towns]):
        chosen = rng.choice(len(names), size=rng.integers(1, 4), replace=False, p=profile / profile.sum())
        topics[row, chosen] = 1
    found = [[names[topic] for topic in np.flatnonzero(row)] for row in topics]
    usual = np.array(list(_PLACES.values()))[towns]
    dates = pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D")
    dear = 0.25 * rng.normal(size=n_rows) + np.where(dates.month.isin([7, 8]), 0.3, 0.0)
    points = topics @ np.array([_POINTS[name] for name in names])
    rating = _BASE + points + _DEAR * dear + _NOISE * rng.normal(size=n_rows)
    frame = pd.DataFrame(
        {
            "review": [text_of(rng, REVIEW_TOPICS, own, REVIEW_FILLER) for own in found],
            "tags": [_tags(rng, own) for own in found],
            "place": np.array(list(_PLACES))[towns],
            "price": [f"€ {price:.0f}" for price in usual * np.exp(dear)],
            "date": dates.strftime("%Y-%m-%d"),
            "rating": np.clip(np.round(rating), 1, 5),
        }
    )
    return frame, pd.DataFrame(topics, columns=names)


def _tags(rng: np.random.Generator, topics: list[str]) -> str:
    """Return tags of a review: who travelled, and some that go with its topics."""
    own = [tag for topic in topics for tag in _TAGS[topic] if rng.random() < 0.6]
    return "|".join([str(rng.choice(_TRAVELLERS)), *own])
