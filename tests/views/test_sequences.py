"""Sequences: every way to make and slice them, what is refused, and that estimators take them like any other view."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split

import harmonium
from harmonium import (
    IBP,
    Bernoulli,
    Harmonium,
    HarmoniumClassifier,
    HarmoniumRegressor,
    HarmoniumWarning,
    Sequences,
    Stochastic,
    Views,
    structDWH,
    structMMH,
)
from harmonium.exceptions import InvalidViewError
from harmonium.families import Chain
from harmonium.features.paragraphs import paragraph_words, split_paragraphs
from harmonium.features.sentences import denied
from harmonium.heads import LabelView
from harmonium.hidden import GaussianUnits, SpikeSlab
from harmonium.inspection import log_partition, modes
from harmonium.objectives import MeanFieldCD, SampledCD
from harmonium.report import (
    TopicsDisplay,
    explained_table,
    feature_examples,
    feature_table,
    topic_table,
    usage_table,
)

FAST = Stochastic(max_iter=3, learning_rate=0.01)


def matrices(n_items: int = 60, n_features: int = 8, seed: int = 0) -> tuple[list[np.ndarray], np.ndarray]:
    """Items of 1 to 5 vectors of two classes, which differ in whether features come in neighbouring vectors."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=n_items)
    items = []
    for label in y:
        length = rng.integers(1, 6)
        sticky = rng.random(n_features) < 0.3
        free = rng.random((length, n_features)) < 0.3
        items.append(np.where(label, np.tile(sticky, (length, 1)), free).astype(float))
    return items, y


def same(one: Sequences, two: Sequences) -> bool:
    return (
        np.array_equal(one.offsets, two.offsets)
        and one.shape == two.shape
        and (one.rows != two.rows).nnz == 0
        and one.feature_names == two.feature_names
    )


# ---- making ------------------------------------------------------------------------------------------------------
def test_all_ways_to_make_them_agree() -> None:
    texts = [["red blue", "blue"], ["green", "red green", "red"], ["blue green"]]
    words = ["blue", "green", "red"]
    from_texts = Sequences.from_texts(texts)
    items = [
        np.array([[word in paragraph.split() for word in words] for paragraph in text], dtype=float) for text in texts
    ]
    long = [
        (item, position, word)
        for item, text in enumerate(texts)
        for position, paragraph in enumerate(text)
        for word in paragraph.split()
    ]
    frame = pd.DataFrame(long, columns=["item", "position", "feature"])
    dense = np.concatenate(items)
    for other in (
        Sequences.from_matrices(items, words),
        Sequences.from_matrices([scipy.sparse.coo_array(item) for item in items], words),
        Sequences.from_matrices([pd.DataFrame(item) for item in items], words),
        Sequences(dense, [0, 2, 5, 6], words),
        Sequences(scipy.sparse.csc_matrix(dense.astype(bool)), [0, 2, 5, 6], words),
        Sequences.from_frame(frame),
        Sequences.from_frame(frame.sample(frac=1, random_state=0)),
        Sequences.from_frame(pl.DataFrame(long, schema=["item", "position", "feature"], orient="row")),
        Sequences(*paragraph_words(texts)),
    ):
        assert same(other, from_texts)


def test_missing_items_of_every_way() -> None:
    eye = np.eye(2)
    assert Sequences.from_matrices([eye, None, np.zeros((0, 2))]).lengths.tolist() == [2, 0, 0]
    assert Sequences.from_texts([["red"], None, []]).lengths.tolist() == [1, 0, 0]
    long = pd.DataFrame({"item": ["b", "b"], "position": [2, 4], "feature": ["x", "y"]})
    made = Sequences.from_frame(long, items=["a", "b"], feature_names=["y", "z"])
    assert made.lengths.tolist() == [0, 3] and made.feature_names == ["y", "z"]
    np.testing.assert_array_equal(made.matrix(1).toarray(), [[0, 0], [0, 0], [1, 0]])


def test_what_was_passed_stays_as_it_is() -> None:
    rows = scipy.sparse.csr_array((np.array([1.0, 0.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert Sequences(rows, [0, 1]).rows.nnz == 1
    assert rows.nnz == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sequences([[0, 2]], [0, 1]), "values 0 or 1; found 2 in item 0, vector 0, column 1"),
        (lambda: Sequences(np.array([[1.0], [np.nan]]), [0, 2]), "found nan in item 0, vector 1"),
        (lambda: Sequences(np.eye(2), [0, 2, 1]), "must not fall; item 1 begins at 2 and ends at 1"),
        (lambda: Sequences(np.eye(2), [0, 1]), "end with the number of vectors, 2; got 0 to 1"),
        (lambda: Sequences(np.eye(2), [0.0, 2.0]), "offsets must be whole numbers"),
        (lambda: Sequences(np.ones(3), [0, 3]), "a row per vector and a column per feature"),
        (lambda: Sequences([["a"]], [0, 1]), "a matrix of zeros and ones"),
        (lambda: Sequences(np.eye(2), [0, 2], ["one"]), "one feature name per column, 2; got 1"),
        (lambda: Sequences.from_matrices([np.eye(2), np.eye(3)]), "the same features, 2; item 1 has 3"),
        (lambda: Sequences.from_matrices([None]), "at least one item with vectors"),
        (lambda: Sequences.from_matrices([np.ones(3)]), "item 0 is ndarray of shape"),
        (lambda: Sequences.from_frame(pd.DataFrame({"item": [0]})), "has no 'position'"),
        (
            lambda: Sequences.from_frame(pd.DataFrame({"item": [0], "position": ["a"], "feature": ["x"]})),
            "must be whole numbers",
        ),
        (
            lambda: Sequences.from_frame(
                pd.DataFrame({"item": [0], "position": [0], "feature": ["x"]}), items=["a", "a"]
            ),
            "must differ",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(make: Any, message: str) -> None:
    with pytest.raises(InvalidViewError, match=message):
        make()


def test_texts_that_are_no_lists_are_refused() -> None:
    for texts in ("red", ["red"], [[1]]):
        with pytest.raises(TypeError, match="split_paragraphs"):
            Sequences.from_texts(texts)
    with pytest.raises(TypeError, match="needs a data frame"):
        Sequences.from_frame([1])


# ---- slicing -----------------------------------------------------------------------------------------------------
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_slices_are_those_of_a_list(data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=8).filter(any))
    vector = st.lists(st.booleans(), min_size=3, max_size=3)
    rows = np.array(data.draw(st.lists(vector, min_size=sum(lengths), max_size=sum(lengths))))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    sequences = Sequences(rows, offsets)
    plain = [rows[first:last] for first, last in itertools.pairwise(offsets)]
    n = len(lengths)
    index = data.draw(
        st.one_of(
            st.slices(n),
            st.lists(st.integers(-n, n - 1), max_size=6).map(lambda chosen: np.array(chosen, dtype=int)),
            st.lists(st.booleans(), min_size=n, max_size=n).map(np.array),
            st.integers(-n, n - 1),
        )
    )
    chosen = np.atleast_1d(np.arange(n)[index])
    taken = sequences[index]
    assert len(taken) == len(chosen) and taken.shape == (len(chosen), 3)
    for place, item in enumerate(chosen):
        np.testing.assert_array_equal(taken.matrix(place).toarray(), plain[item])
    counts = taken.counts.toarray()
    for place, item in enumerate(chosen):
        part = plain[item].astype(int)
        np.testing.assert_array_equal(counts[place], [*part.sum(axis=0), *(part[:-1] * part[1:]).sum(axis=0)])
    np.testing.assert_array_equal(taken.presence().toarray(), counts[:, :3] > 0)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 6), st.integers(0, 2**31))
def test_sequences_from_counts_have_the_counts(length: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = Sequences(rng.random((2 * length, 4)) < 0.5, [0, length, 2 * length])
    again = Sequences.from_counts(drawn.counts, drawn.lengths, seed)
    np.testing.assert_array_equal(again.counts.toarray(), drawn.counts.toarray())


def test_sequences_with_the_same_counts_are_equally_probable() -> None:
    n_items, length = 30_000, 5
    counts = np.tile([3, 1], (n_items, 1))  # ones in two runs: {1, 2} in either order, in C(3, 2) places
    drawn = Sequences.from_counts(counts, np.full(n_items, length), 0)
    codes = drawn.rows.toarray().reshape(n_items, length) @ 2 ** np.arange(length)
    found, numbers = np.unique(codes, return_counts=True)
    assert len(found) == 6
    assert np.abs(numbers - n_items / 6).max() < 5 * np.sqrt(n_items / 6)


def test_shuffling_keeps_what_items_have() -> None:
    sequences = Sequences.from_matrices(matrices(20)[0])[5:]
    shuffled = sequences.shuffled(0)
    np.testing.assert_array_equal(shuffled.lengths, sequences.lengths)
    np.testing.assert_array_equal(shuffled.counts[:, :8].toarray(), sequences.counts[:, :8].toarray())
    assert (shuffled.rows != sequences.rows).nnz > 0


# ---- in estimators -----------------------------------------------------------------------------------------------
def test_family_is_inferred_and_others_are_refused() -> None:
    items, y = matrices()
    sequences = Sequences.from_matrices(items)
    model = HarmoniumClassifier(3, driver=FAST, random_state=0).fit(sequences, y)
    assert isinstance(model.families_["view0"], Chain) and model.n_features_in_ == 8
    with pytest.raises(InvalidViewError, match="is Bernoulli and needs a matrix; got Sequences"):
        Harmonium(3, views=Bernoulli(), driver=FAST).fit(sequences)
    with pytest.raises(InvalidViewError, match="is Chain and needs Sequences; got a matrix"):
        structMMH(3, driver=FAST).fit(np.eye(8)[y], y)
    with pytest.raises(InvalidViewError, match="fitted with 8 columns; got 2"):
        model.predict(Sequences(np.eye(2), [0, 2]))
    with pytest.raises(InvalidViewError, match="needs Sequences; got a matrix"):
        model.predict(sequences.presence())
    with pytest.warns(HarmoniumWarning, match="1 of 2 rows lack every view, the first of them row 1"):
        assert model.predict(Sequences(np.eye(8)[:1], [0, 1, 1])).shape == (2,)


def test_stock_cross_validation() -> None:
    items, y = matrices(90)
    sequences = Sequences.from_matrices(items)
    X_train, X_test, y_train, _ = train_test_split(sequences, y, test_size=30, random_state=0)
    assert isinstance(X_train, Sequences) and len(X_train) == 60 and len(X_test) == 30
    search = GridSearchCV(structMMH(driver=FAST, C=1.0, validation_fraction=0), {"n_components": [2, 4]}, cv=2)
    assert search.fit(X_train, y_train).predict(X_test).shape == (30,)
    beside = Views({"text": sequences, "colour": np.random.default_rng(0).normal(size=(90, 2))})
    assert beside[np.array([3, 1])].shape == (2, 10) and "8 ordered columns" in repr(beside)
    model = HarmoniumClassifier(3, driver=FAST, head=LabelView(), validation_fraction=0)
    assert np.isfinite(cross_val_score(model, beside, y, cv=2)).all()
    assert np.isfinite(cross_val_score(Harmonium(2, driver=FAST), sequences, cv=2)).all()  # pseudo-likelihood


def test_order_alone_tells_classes_apart() -> None:
    """Both classes have features equally often: only whether they go on differs, which a bag of words lacks."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=600)
    items = [np.tile(rng.random(8) < 0.4, (4, 1)) if label else rng.random((4, 8)) < 0.4 for label in y]
    sequences = Sequences.from_matrices(items)
    model = structMMH(8, C=1.0, validation_fraction=0, random_state=0).fit(sequences[:400], y[:400])
    assert model.score(sequences[400:], y[400:]) > 0.9


@pytest.mark.parametrize(
    "hidden", [GaussianUnits(), IBP(truncation=6), SpikeSlab(kind="real", n_units=4)], ids=["Gaussian", "IBP", "real"]
)
@pytest.mark.parametrize("objective", [SampledCD(), MeanFieldCD(2)])
def test_any_layer_with_missing_items_beside_other_views(hidden: Any, objective: Any) -> None:
    items, y = matrices(80)
    lacking: list[Any] = list(items)
    lacking[3] = lacking[7] = None
    tags = np.eye(4)[np.arange(80) % 4]
    tags[5] = np.nan
    X = {"text": Sequences.from_matrices(lacking), "tags": tags}
    parts = {"hidden": hidden, "objective": objective, "driver": FAST}
    model = HarmoniumRegressor(4, validation_fraction=0.2, random_state=0, **parts)
    model.fit(X, y + 0.1 * tags[:, 0].clip(0))
    assert np.isfinite(model.predict(X)).all() and np.isfinite(model.score_samples(X)).all()
    guess = model.predict_view("text", {"tags": tags[:3]})
    assert guess.shape == (3, 16) and (guess > 0).all()
    assert (guess[:, :8] <= float(model.families_["text"].typical_size_)).all()
    assert model.predict({"text": X["text"][:3]}).shape == (3,)


def test_masked_items_are_missing_ones() -> None:
    items, _ = matrices(40)
    whole = Sequences.from_matrices(items)
    mask = np.arange(40) % 5 > 0
    lacking = Sequences.from_matrices([item if there else None for item, there in zip(items, mask, strict=True)])
    tags = np.eye(4)[np.arange(40) % 4]
    one = Harmonium(3, driver=FAST, random_state=0).fit(Views({"text": whole, "tags": tags}, present={"text": mask}))
    two = Harmonium(3, driver=FAST, random_state=0).fit({"text": lacking, "tags": tags})
    np.testing.assert_array_equal(one.components_, two.components_)


def test_topics_reports_samples_and_files(tmp_path: Any) -> None:
    items, y = matrices(80)
    words = [f"word{i}" for i in range(8)]
    sequences = Sequences.from_matrices(items, words)
    model = structMMH(3, driver=FAST, random_state=0).fit({"text": sequences}, y)
    topics = model.topics("text", 4)
    assert topics.columns.get_level_values(0).unique().tolist() == ["present", "continues"]
    assert topics["present"].shape == topics["continues"].shape == (3, 4)
    assert topics.loc[0, ("continues", 1)] in [f"{word} → {word}" for word in words]
    table = topic_table(model, {"text": sequences}, y, n_features=2)
    assert table.columns.tolist()[:2] == ["text (present)", "text (continues)"]
    assert feature_table(model, ["word0 → word0"]).shape == (1, 3)
    assert usage_table(model, {"text": sequences}, y).shape[0] == 3
    assert feature_examples(model, {"text": sequences}, y=y).shape[0] == 3
    explained = explained_table(model, {"text": sequences})
    assert explained.loc["text", "all"] < 1
    TopicsDisplay.from_estimator(model, {"text": sequences}, y)
    drawn = model.sample(5, n_steps=3, random_state=0)
    assert isinstance(drawn, Sequences) and drawn.feature_names == words
    assert (drawn.lengths == float(model.families_["text"].typical_size_)).all()
    prototypes, hidden = modes(model, {"text": sequences})
    np.testing.assert_array_equal(prototypes.lengths, sequences.lengths)
    assert hidden.shape == (80, 3)
    assert model.reconstruct({"text": sequences}).shape == (80, 16)
    model.save(tmp_path / "model.safetensors")
    again = harmonium.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict_proba({"text": sequences}), model.predict_proba({"text": sequences}))
    assert again.topics("text", 4).equals(topics)
    unsupervised = structDWH(3, driver=FAST, random_state=0).fit(sequences)
    assert topic_table(unsupervised).shape == (3, 4)
    assert np.isfinite(log_partition(unsupervised, n_temperatures=50).value)


# ---- text --------------------------------------------------------------------------------------------------------
def test_paragraphs_and_denied_words() -> None:
    assert split_paragraphs("One.\n \nTwo three.\nFour.") == ["One.", "Two three.\nFour."]
    assert split_paragraphs("One. Two? Three", sentences=1) == ["One.", "Two?", "Three"]
    with pytest.raises(ValueError, match="at least 1"):
        split_paragraphs("One.", sentences=0)
    assert denied(["never", "a", "dull", "moment", "here"]) == [False, True, True, True, False]
    made = Sequences.from_texts([["Not clean at all. Clean towels."]], negation=True)
    assert made.feature_names == ["clean", "not_clean", "towels"]


def test_frames_of_other_types_and_narrow_positions() -> None:
    long = pd.DataFrame({"item": [1, 1, 2], "position": np.array([0, 127, 0], np.int8), "feature": [3, 7, 3]})
    first = Sequences.from_frame(long)
    assert first.lengths.tolist() == [128, 1] and first.matrix(0).sum() == 2
    again = Sequences.from_frame(long, items=["1", "2"], feature_names=first.feature_names)
    assert (again.rows != first.rows).nnz == 0
    with pytest.raises(InvalidViewError, match="feature_names must name something"):
        Sequences.from_frame(long, feature_names=["x"])
    with pytest.raises(InvalidViewError, match="row 1 lacks one"):
        Sequences.from_frame(long.assign(feature=["a", None, "b"]))


@pytest.mark.parametrize("counts", [[[3, 0]], [[0, 1]], [[2, 2]], [[4, 3]], [[1.5, 0]], [[1, 0, 0]]])
def test_counts_that_no_sequence_has_are_refused(counts: list[list[float]]) -> None:
    with pytest.raises(InvalidViewError, match="Counts must"):
        Sequences.from_counts(counts, [3])


def test_items_from_the_end_and_none_at_all() -> None:
    sequences = Sequences(np.eye(3), [0, 1, 3])
    assert sequences.matrix(-1).shape == (2, 3) and len(sequences[[]]) == 0
    with pytest.raises(IndexError):
        sequences.matrix(2)
