"""Training on a cluster: the same bits on any number of workers, the same gradients as on one machine, and faults."""

import os
import signal
import time

import numpy as np
import pytest

from harmonium import IBP, Harmonium, HarmoniumClassifier, Hinge, Shards, Stochastic
from harmonium.estimators.input import read_input
from harmonium.objectives import MeanFieldCD, PersistentCD
from harmonium.training import Adam, Distributed, Momentum
from harmonium.training.distributed import driver as driver_module
from harmonium.training.distributed.client import check_workers, facts
from harmonium.training.distributed.worker import add_in_pairs, bundle_size, rounds_of
from tests.cases.clusters import Alone, in_this_process
from tests.cases.shards import in_shards, two_views

VIEWS, Y = two_views()
WORDS = {"words": VIEWS["words"]}
SHARDS = in_shards(WORDS, Y, cuts=[(first, first + 40) for first in range(0, 240, 40)])
distributed = pytest.importorskip("distributed")


@pytest.fixture
def alone(monkeypatch):
    """Let Distributed work in this process; the cluster can be replaced by one that fails."""
    return in_this_process(monkeypatch)


def fitted(driver, X=SHARDS, **settings):
    return Harmonium(3, driver=driver, random_state=0, **settings).fit(X)


def test_every_row_is_visited_once_in_an_epoch():
    sizes = [7, 0, 31, 12, 5]
    for n_replicas, n_rows in ((1, 4), (2, 5), (8, 100)):
        rounds = rounds_of(sizes, n_replicas, n_rows, seed=3)
        assert all(1 <= len(ranges) <= n_replicas for ranges in rounds)
        assert all(len({rows.shard for rows in ranges}) == len(ranges) for ranges in rounds)
        ranges = [(rows.shard, row) for some in rounds for rows in some for row in range(rows.first, rows.last)]
        assert sorted(ranges) == [(shard, row) for shard, size in enumerate(sizes) for row in range(size)]
    assert rounds_of(sizes, 2, 5, seed=3) != rounds_of(sizes, 2, 5, seed=4)


def test_bundles_of_lanes_add_up_to_the_same_bits(alone):
    found = []
    for n_workers in (1, 2, 3, 6):
        alone["next"] = Alone(n_workers=n_workers)
        found.append(
            [
                fitted(Distributed(Stochastic(max_iter=2, batch_size=10), method, n_replicas=6, n_steps=2)).components_
                for method in ("rounds", "synchronous")
            ]
        )
    assert {bundle_size(6, n_workers) for n_workers in (1, 2, 3, 6)} == {8, 2, 1}
    for several in found:
        for weights, expected in zip(several, found[0], strict=True):
            assert np.array_equal(weights, expected)
    values = np.random.default_rng(0).normal(size=13).astype(np.float32) * 1e3
    for size in (1, 2, 4, 8):
        bundles = [add_in_pairs(values[first : first + size]) for first in range(0, 13, size)]
        assert add_in_pairs(bundles) == add_in_pairs(values)


def test_a_synchronous_step_is_that_of_one_machine_with_all_batches(alone):
    # an epoch of one step: all rows are in it, whatever their order
    settings = {"max_iter": 4, "learning_rate": 0.05}
    for optimizer in ("adam", "momentum"):
        driver = Distributed(Stochastic(batch_size=40, optimizer=optimizer, **settings), "synchronous", step_factor=1.0)
        found = fitted(driver, objective=MeanFieldCD())
        expected = fitted(Stochastic(batch_size=240, optimizer=optimizer, **settings), objective=MeanFieldCD())
        np.testing.assert_allclose(found.components_, expected.components_, rtol=1e-3, atol=1e-5)
        moved = fitted(Stochastic(max_iter=1, learning_rate=1e-9, batch_size=240), objective=MeanFieldCD())
        assert np.abs(expected.components_ - moved.components_).max() > 1e-3  # a hundred times as much


@pytest.mark.parametrize("optimizer", [Adam(epsilon=1e-3), Momentum()], ids=["Adam", "Momentum"])
def test_one_replica_with_plain_averaging_takes_the_steps_of_one_machine(alone, optimizer):
    # rows are added up in another order; a small epsilon would make steps of gradients that are rounding alone, and
    # this one makes three steps of 0.05 / 1e-3 times rounding errors of 1e-7
    plain = {"n_replicas": 1, "outer_step": 1.0, "outer_momentum": 0.0}
    local = Stochastic(max_iter=3, batch_size=40, learning_rate=0.05, schedule="constant", optimizer=optimizer)
    one = in_shards(WORDS, cuts=[(0, 40)])  # one batch, so that its order does not matter
    found = fitted(Distributed(local, **plain), one, objective=MeanFieldCD())
    expected = fitted(local, one, objective=MeanFieldCD())
    np.testing.assert_allclose(found.components_, expected.components_, rtol=1e-4, atol=2e-5)


def test_rounds_and_synchronous_steps_learn(alone):
    local = Stochastic(max_iter=20, batch_size=10, learning_rate=0.02)
    expected = fitted(local).history_["reconstruction"]
    for method in ("rounds", "synchronous"):
        found = fitted(Distributed(local, method, n_replicas=3, n_steps=2)).history_["reconstruction"]
        assert expected[0] - expected[-1] > 0.2
        assert found[-1] < expected[0] - 0.5 * (expected[0] - expected[-1]), method


def test_a_head_is_trained_and_data_in_memory_are_cut_into_parts(alone):
    driver = Distributed(
        Stochastic(max_iter=20, batch_size=10, learning_rate=0.05, average=True), n_replicas=4, n_steps=3
    )
    model = HarmoniumClassifier(3, head=Hinge(C=1.0), driver=driver, validation_fraction=0, random_state=0)
    assert model.fit(VIEWS, Y).score(VIEWS, Y) > 0.8


def test_a_fit_that_was_killed_goes_on_to_the_same_bits(alone, tmp_path, monkeypatch):
    monkeypatch.setattr("harmonium.training.checkpoint._SECONDS", -1.0)
    local = Stochastic(max_iter=6, batch_size=10, learning_rate=0.02)
    whole = fitted(Distributed(local, n_replicas=2, n_steps=2))
    n_tasks = 60
    driver = Distributed(local, n_replicas=2, n_steps=2, checkpoint=tmp_path / "fit")
    alone["next"] = Alone(fails_at=n_tasks)
    with pytest.raises(RuntimeError):
        fitted(driver)
    assert (tmp_path / "fit").exists()
    again = Alone()
    alone["next"] = again
    resumed = fitted(driver)
    assert np.array_equal(resumed.components_, whole.components_)
    assert resumed.history_["reconstruction"] == whole.history_["reconstruction"]
    assert not (tmp_path / "fit").exists()


def test_an_interrupt_keeps_the_best_model_and_leaves_the_cluster_clean(alone):
    driver = Distributed(Stochastic(max_iter=6, batch_size=10), n_replicas=2, n_steps=2)
    alone["next"] = Alone(fails_at=60, with_error=KeyboardInterrupt)
    released, model = Alone.released, Harmonium(3, driver=driver, random_state=0)
    with pytest.raises(KeyboardInterrupt), pytest.warns(match="Training was interrupted after"):
        model.fit(SHARDS)
    assert model.fitted_.training.log.stopped == "interrupted"
    assert 1 <= model.n_iter_ < 6
    assert model.transform(SHARDS).shape == (240, 3)
    assert Alone.released == released + 1


@pytest.mark.parametrize(
    ("driver", "settings", "message"),
    [
        (Distributed(), {"objective": PersistentCD()}, "keeps nothing from batch to batch; got PersistentCD"),
        (Distributed(), {"hidden": IBP()}, "layers that keep all their units; got IBP"),
        (Distributed(Stochastic(checkpoint="here")), {}, "pass it to Distributed itself"),
        (Distributed(method="later"), {}, "method"),
        (Distributed(), {}, "needs a client of dask.distributed; got none"),
    ],
)
def test_what_cannot_be_trained_on_a_cluster_is_refused(driver, settings, message):
    with pytest.raises(ValueError, match=message):
        fitted(driver, **settings)
    with pytest.raises(TypeError, match="the address of a scheduler"):
        fitted(Distributed(client=3))


def test_workers_must_be_there_and_have_the_same_versions():
    check_workers({"one": facts(), "two": facts()}, n_replicas=2)
    with pytest.raises(ValueError, match="the cluster has none"):
        check_workers({}, n_replicas=2)
    with pytest.raises(ValueError, match=r"Workers must have the harmonium of this process, .*; two has 0\.0\.1"):
        check_workers({"one": facts(), "two": facts() | {"harmonium": "0.0.1"}}, n_replicas=2)
    with pytest.warns(match="2 workers, but only 1 have something to do"):
        check_workers({"one": facts(), "two": facts()}, n_replicas=1)


def test_dask_collections_are_trained_on_where_they_are(monkeypatch):
    array = pytest.importorskip("dask.array")
    lazy = array.from_array(np.nan_to_num(VIEWS["colours"]), chunks=(100, 3))
    estimator = Harmonium(3)
    assert read_input(estimator, lazy).is_lazy and not read_input(estimator, SHARDS).is_lazy
    assert "Distributed" not in repr(estimator._plan().where_rows_are(estimator._layer()).driver)
    monkeypatch.setattr("harmonium.training.plan.current_client", lambda: "a client")
    assert "Distributed" in repr(estimator._plan().where_rows_are(estimator._layer()).driver)


def test_a_dask_array_is_trained_on_by_the_cluster_that_holds_it():
    array = pytest.importorskip("dask.array")
    matrix = np.nan_to_num(VIEWS["colours"])
    settings = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.Client(**settings) as client:
        lazy = client.persist(array.from_array(matrix, chunks=(80, 3)))
        model = Harmonium(2, objective=MeanFieldCD(), random_state=0)
        model.set_params(driver=Distributed(Stochastic(max_iter=2), n_replicas=2)).fit(lazy)
        answer = model.transform(lazy).compute()
    assert np.array_equal(answer, model.transform(matrix))


class Deadly:
    """A block whose first reading in another process than this one ends that process."""

    def __init__(self, block, flag):
        self.block, self.flag, self.home = block, flag, os.getpid()

    def __call__(self):
        if os.getpid() != self.home and os.path.exists(self.flag):
            os.remove(self.flag)
            os.kill(os.getpid(), signal.SIGKILL)
        return {"words": self.block}


@pytest.fixture(scope="module")
def cluster():
    import multiprocessing

    import dask

    multiprocessing.set_forkserver_preload(["distributed", "tests.cases.warm_kernels"])
    settings = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    method = {"distributed.worker.multiprocessing-method": "forkserver"}
    with dask.config.set(method), distributed.LocalCluster(**settings) as one:
        yield one


def wait_until_nothing_is_left(client):
    deadline = time.monotonic() + 30  # the scheduler is told of what is released, and forgets it a little later
    while client.run_on_scheduler(n_tasks) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert client.run_on_scheduler(n_tasks) == 0


def n_tasks(dask_scheduler):
    return len(dask_scheduler.tasks)


def test_one_two_and_four_workers_and_a_killed_one_give_the_same_bits(cluster, tmp_path):
    flag, blocks = tmp_path / "flag", [VIEWS["words"][first : first + 40] for first in range(0, 240, 40)]
    shards = Shards([Deadly(block, str(flag)) for block in blocks], lengths=[40] * 6)
    drivers = [
        Distributed(Stochastic(max_iter=2, batch_size=10), method, n_replicas=3, n_steps=2)
        for method in ("rounds", "synchronous")
    ]
    found = {}
    with distributed.Client(cluster) as client:
        for n_workers in (1, 2, 4, "killed"):
            if n_workers == "killed":
                flag.touch()
            else:
                cluster.scale(n_workers)
                client.wait_for_workers(n_workers)
            found[n_workers] = [fitted(driver, shards).components_ for driver in drivers]
        assert not flag.exists()
        wait_until_nothing_is_left(client)
    for several in found.values():
        for weights, expected in zip(several, found[1], strict=True):
            assert np.array_equal(weights, expected)
    assert not np.array_equal(*found[1])


def test_an_interrupt_leaves_client_and_cluster_as_they_were(cluster, monkeypatch):
    submit, n_rounds = driver_module._Tasks.submit, 0

    def interrupted(*arguments):
        nonlocal n_rounds
        n_rounds += 1
        if n_rounds == 40:  # in the second epoch, with tasks on their way
            raise KeyboardInterrupt
        return submit(*arguments)

    monkeypatch.setattr(driver_module._Tasks, "submit", interrupted)
    driver = Distributed(Stochastic(max_iter=3, batch_size=5), n_replicas=2, n_steps=1)
    model = Harmonium(3, driver=driver, random_state=0)
    with distributed.Client(cluster) as client:
        connection = client.scheduler_comm.comm
        with pytest.raises(KeyboardInterrupt), pytest.warns(match="Training was interrupted after 1 epoch"):
            model.fit(SHARDS)
        assert model.n_iter_ == 1
        assert client.submit(abs, -7).result(timeout=30) == 7
        assert client.scheduler_comm.comm is connection  # the scheduler did not break off
        assert not connection.closed()
        wait_until_nothing_is_left(client)
