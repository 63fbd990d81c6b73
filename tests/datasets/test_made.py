"""Data with a known truth: what was planted is there, the same for the same seed, and gaps are where they are said."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.utils import Bunch

from harmonium.datasets import (
    DatasetNotFound,
    load_cll,
    load_emoji,
    load_hotels,
    load_newsgroups,
    load_wines,
    make_cohort,
    make_documents,
    make_pictures,
    make_reviews,
)
from harmonium.datasets._phrases import DOCUMENT_TOPICS, REVIEW_TOPICS

MAKERS = [make_cohort, make_documents, make_pictures, make_reviews]


def flat(value: object) -> list[bytes]:
    """Return everything that a data set holds as bytes, to be compared."""
    if isinstance(value, dict):
        return [part for one in value.values() for part in flat(one)]
    return [np.asarray(value).astype(str).tobytes()]


@pytest.mark.parametrize("make", MAKERS)
def test_the_seed_decides_everything(make: Callable[..., Bunch]) -> None:
    one, same, other = (flat(dict(make(40, random_state=seed), DESCR={})) for seed in (3, 3, 4))
    assert one == same != other


@pytest.mark.parametrize("make", MAKERS)
def test_arguments_that_make_no_sense_are_refused(make: Callable[..., Bunch]) -> None:
    with pytest.raises(ValueError, match=f"{make.__name__}.* n_rows"):
        make(0)
    with pytest.raises(TypeError, match="random_state"):
        make(10, random_state=None)
    if make is not make_documents:
        with pytest.raises(ValueError, match="missing_views"):
            make(10, missing_views=1.5)


def test_ratings_are_what_topics_and_price_add_up_to() -> None:
    reviews = make_reviews(4000)
    price = np.log(reviews.complete["price"].str.removeprefix("€ ").astype(float))
    usual = price.groupby(reviews.complete["place"]).transform("mean")
    X = reviews.topics.assign(dear=price - usual)
    inside = reviews.target.between(2, 4)  # clipping at the ends bends the line
    found = LinearRegression().fit(X[inside], reviews.target[inside])
    assert np.corrcoef(found.coef_[:-1], reviews.weights)[0, 1] > 0.99 and found.coef_[-1] < -0.2


@pytest.mark.parametrize(("made", "phrases"), [(make_reviews, REVIEW_TOPICS), (make_documents, DOCUMENT_TOPICS)])
def test_texts_are_written_of_their_topics(made: Callable[..., Bunch], phrases: dict[str, tuple[str, ...]]) -> None:
    data = made(300)
    texts = data.complete["review"] if "complete" in data else pd.Series(data.data)
    for topic, parts in phrases.items():
        starts = [subject.lower() for subject in parts[0].split("/")]
        said = texts.str.lower().apply(lambda text, starts=starts: any(start in text for start in starts))
        assert said[data.topics[topic] == 1].all(), topic


def test_gaps_of_reviews_are_as_many_as_asked_for() -> None:
    reviews = make_reviews(600, missing_cells=1 / 3, missing_targets=0.1)
    assert reviews.data.isna().to_numpy().mean() == pytest.approx(1 / 3, abs=0.03)
    assert reviews.target.isna().sum() == 60 and not reviews.complete.isna().to_numpy().any()
    known = reviews.frame.notna()
    assert (reviews.frame.where(known, "") == reviews.complete.where(known, "")).all(axis=None)
    assert make_reviews(50, missing_views=0.2).data["review"].isna().sum() == 10


def test_assays_have_the_variance_that_factors_explain() -> None:
    cohort = make_cohort(3000, missing_views=0.1)
    for assay in ("drugs", "methylation", "rna"):
        table = cohort.complete[assay]
        fitted = LinearRegression().fit(cohort.factors, table)
        np.testing.assert_allclose(fitted.coef_, cohort.weights[assay], atol=0.15)
        share = np.square(fitted.coef_).mean(axis=0)
        np.testing.assert_allclose(share, cohort.explained.loc[assay], atol=0.02)
        assert cohort.views[assay].isna().all(axis=1).sum() == 300
    assert set(np.unique(cohort.views["mutations"])) == {0.0, 1.0}
    assert ((cohort.factors["subtype"] > 0) == (cohort.target == "A")).all()


def test_drawings_show_what_they_are_tagged_with() -> None:
    drawings = make_pictures(200, missing_views=0.25)
    mean = drawings.pictures.reshape(200, -1).mean(axis=1)
    for tag, lower in (("night", True), ("day", False)):
        tagged = (drawings.complete[tag] == 1).to_numpy()
        assert (mean[tagged].mean() < mean[~tagged].mean()) == lower
    assert drawings.tags.isna().all(axis=1).sum() == 50
    assert len(set(drawings.target)) == len(drawings.target_names) == 10


@pytest.mark.parametrize(
    ("load", "source", "maker"),
    [
        (load_cll, "Dietrich", "make_cohort"),
        (load_emoji, "Twemoji", "make_pictures"),
        (load_hotels, "TripAdvisor", "make_reviews"),
        (load_newsgroups, "qwone", "make_documents"),
        (load_wines, "Wine Enthusiast", "make_reviews"),
    ],
)
def test_loaders_say_what_they_read_and_what_needs_no_files(
    load: Callable[[], object], source: str, maker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HARMONIUM_DATA", raising=False)
    with pytest.raises(DatasetNotFound, match=rf"neither data_home nor HARMONIUM_DATA is set; get .*{source}.*FOLDER/"):
        load()
    with pytest.raises(DatasetNotFound, match=rf"{maker}\(\), which needs no files"):
        load()
