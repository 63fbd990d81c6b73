"""Rows in shards: the order of an epoch, batches across shards, reading ahead, memory, and what is refused."""

import pickle
import threading

import numpy as np
import pytest
import scipy.sparse

from harmonium import Bernoulli, Gaussian, Harmonium, Shards, Stochastic, Views
from harmonium.exceptions import InvalidViewError
from harmonium.views.data import Data
from harmonium.views.inferring import check_support
from tests.cases.shards import CUTS, cut, in_shards, two_views

VIEWS, Y = two_views()
WHOLE = Views(VIEWS)


def bound():
    return {
        "words": Bernoulli().bind(WHOLE.source("words").summary()),
        "colours": Gaussian().bind(WHOLE.source("colours").summary()),
    }


def assert_same(found, expected):
    assert found.n_rows == expected.n_rows
    for name, view in expected.views.items():
        other = found.views[name]
        dense = [part.toarray() if hasattr(part, "toarray") else part for part in (other.statistic, view.statistic)]
        assert np.array_equal(*dense)
        missing = np.zeros(other.observed_rows.shape) if view.missing is None else view.missing.all(axis=1)
        assert np.array_equal(~other.observed_rows, missing.astype(bool))


@pytest.mark.parametrize(
    "items",
    [slice(60, 210), np.arange(240), np.array([239, 0, 71, 72, 200, 70, 0]), np.array([], dtype=int)],
    ids=["slice", "all", "any order", "none"],
)
def test_batches_across_shards_are_those_of_the_whole(items):
    sharded, families = in_shards(VIEWS).views(), bound()
    assert_same(sharded.batch(items, families), WHOLE.batch(items, families))
    assert_same(sharded.without("words").batch(items, families), WHOLE.without("words").batch(items, families))
    if isinstance(items, np.ndarray) and len(items):
        chosen, rows = np.sort(items)[::2], np.arange(len(items[::2]))
        assert_same(sharded[chosen].batch(rows, families), WHOLE[chosen].batch(rows, families))


def test_a_summary_of_shards_is_that_of_the_whole():
    sharded = in_shards(VIEWS).views()
    assert (sharded.lacking == WHOLE.lacking).all()
    for name in VIEWS:
        found, expected = sharded.source(name), WHOLE.source(name)
        assert found.missing_share == pytest.approx(expected.missing_share)
        assert np.array_equal(found.rows < 0, expected.rows < 0)
        for field in ("n_observed", "minimum", "maximum", "whole", "zeros"):
            assert np.array_equal(getattr(found.summary(), field), getattr(expected.summary(), field))
        for field in ("mean", "variance"):
            np.testing.assert_allclose(getattr(found.summary(), field), getattr(expected.summary(), field), rtol=1e-6)


def test_an_epoch_takes_shards_in_random_order_and_shuffles_within_a_buffer(monkeypatch):
    monkeypatch.setattr("harmonium.views.sharding.reader._BUFFER_ROWS", 1)
    sharded = in_shards(VIEWS, cuts=[(first, first + 40) for first in range(0, 240, 40)]).views()
    orders = [sharded.shuffled(np.arange(240), np.random.default_rng(seed)) for seed in (0, 0, 1)]
    assert np.array_equal(orders[0], orders[1])
    assert not np.array_equal(orders[0], orders[2])
    for order in orders:
        assert np.array_equal(np.sort(order), np.arange(240))
        shards = (order // 40).reshape(6, 40)
        assert (shards == shards[:, :1]).all()  # one shard after the other
        assert not np.array_equal(shards[:, 0], np.arange(6))
        assert not np.array_equal(np.sort(order[:40]), order[:40])
    some = np.arange(3, 240, 7)
    assert np.array_equal(np.sort(sharded.shuffled(some, np.random.default_rng(0))), some)


def test_rows_of_small_shards_are_shuffled_together():
    sharded = in_shards(VIEWS).views()
    order = sharded.shuffled(np.arange(240), np.random.default_rng(0))
    assert len(np.unique(np.searchsorted([70, 75, 200], order[:40], side="right"))) > 2


class Counted:
    """A block that says how often it was read, and in which thread; at most two may be alive."""

    read: list = []
    threads: set = set()

    def __init__(self, block):
        self.block = block

    def __call__(self):
        Counted.read.append(self.block[0, 0])
        Counted.threads.add(threading.current_thread() is threading.main_thread())
        return self.block.copy()


@pytest.fixture
def counted(monkeypatch):
    monkeypatch.setattr("harmonium.views.sharding.reader._BUFFER_ROWS", 1)
    Counted.read, Counted.threads = [], set()
    blocks = [np.full((20, 3), float(number)) for number in range(6)]
    return Shards([Counted(block) for block in blocks], lengths=[20] * 6)


def test_a_pass_reads_each_shard_once_and_the_next_one_ahead(counted):
    views = counted.views()
    Counted.read.clear()
    family = {"view0": Gaussian().bind(Views({"view0": np.arange(60.0).reshape(20, 3)}).source("view0").summary())}
    held = []
    for batch in Data(views).in_order(np.arange(120), 15, family):
        assert batch.n_rows == 15
        held.append(len(views._reader._held) + len(views._reader._ahead))
    assert Counted.read in ([1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5])  # the first may still be there
    assert max(held) == 2
    assert Counted.threads == {True, False}


def test_a_shard_that_cannot_be_read_ahead_says_so_when_it_is_needed():
    def broken():
        raise InvalidViewError("View 'view0' is broken; mend it.")

    shards = Shards([np.ones((5, 2)), np.ones((5, 2)), broken], lengths=[5, 5, 5])
    with pytest.raises(InvalidViewError, match=r"Shard 2 \(block 2\): View 'view0' is broken"):
        Harmonium(2, views="gaussian", driver=Stochastic(max_iter=1)).fit(shards)


def test_shards_can_be_pickled_with_what_is_open():
    sharded = in_shards(VIEWS, Y).views()
    sharded.batch(np.arange(5), bound())
    again = pickle.loads(pickle.dumps(sharded))
    assert_same(again.batch(np.arange(240), bound()), WHOLE.batch(np.arange(240), bound()))


def with_seven():
    words = VIEWS["words"].toarray()
    words[74, 4] = 7
    return cut(VIEWS | {"words": words})


def test_a_bad_row_is_named_by_shard_row_and_column():
    place = r"shard 1 \(block 1\), row 4, column 4"
    estimator = Harmonium(2, views={"words": Bernoulli()}, driver=Stochastic(max_iter=1), random_state=0)
    with pytest.raises(InvalidViewError, match=f"is Bernoulli and needs 0 or 1; found 7 at {place}"):
        estimator.fit(Shards(with_seven()))
    assert not hasattr(estimator, "fitted_")
    model = estimator.fit(in_shards(VIEWS))
    with pytest.raises(InvalidViewError, match=r"^Shard 1 \(block 1\): View 'words' .* found 7 at row 4, column 4;"):
        model.transform(Shards(with_seven()))


def test_a_summary_that_leaves_no_doubt_spares_the_pass():
    source, hidden = Shards(with_seven()).views().source("words"), Harmonium()._layer()
    with pytest.raises(InvalidViewError, match="found 7"):
        check_support("words", source, Bernoulli(), hidden, source.summary())
    for family in (Gaussian(), Bernoulli()):  # the second is outside, but nobody says so
        check_support("words", source, family, hidden, WHOLE.source("words").summary())


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([np.ones((3, 2)), np.ones((3, 4))], r"Shard 1 \(block 1\): View 'view0' must have as many columns in all"),
        ([{"a": np.ones((3, 2))}, {"b": np.ones((3, 2))}], r"Shard 1 \(block 1\): All shards must have the same views"),
        ([np.ones((3, 2)), np.full((3, 2), np.inf)], r"Shard 1 \(block 1\): View 'view0' must hold finite values"),
    ],
)
def test_shards_that_do_not_go_together_are_refused(blocks, message):
    with pytest.raises(InvalidViewError, match=message):
        Harmonium(2, driver=Stochastic(max_iter=1)).fit(Shards(blocks))


def test_what_shards_are_not():
    shards = in_shards(VIEWS)
    assert (len(shards), shards.n_shards, repr(shards)) == (240, 4, "Shards(4 shards, 240 rows)")
    with pytest.raises(TypeError, match="take whole shards with take"):
        shards[np.arange(3)]
    with pytest.raises(TypeError, match="no array in memory"):
        np.asarray(shards)
    with pytest.raises(TypeError, match="needs a list of blocks; got one ndarray"):
        Shards(np.ones((3, 2)))
    with pytest.raises(InvalidViewError, match="at least one block"):
        Shards([])
    with pytest.raises(InvalidViewError, match="a y and a length for each of the 4 blocks"):
        Shards(cut(VIEWS), [Y])
    with pytest.raises(ValueError, match="All shards must have targets, or none; shard 1"):
        Shards(cut(VIEWS), [Y[:70], None, Y[75:200], Y[200:]]).targets()


def test_a_sample_is_in_memory_and_spaced():
    sample = in_shards(VIEWS).sample(48)
    expected = np.linspace(0, 239, 48).astype(int)
    assert_same(sample.batch(slice(None), bound()), WHOLE.batch(expected, bound()))
    assert scipy.sparse.issparse(sample.source("words").matrix)
    assert len(in_shards(VIEWS).take([3, 0])) == CUTS[3][1] - CUTS[3][0] + CUTS[0][1]
