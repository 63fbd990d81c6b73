"""Weak supervision, the estimators: known truth, the paper's observations, scikit-learn, bad input, own problems."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from harmonium.exceptions import HarmoniumWarning
from harmonium.weak import (
    Bags,
    Definition,
    DissimilarityClassifier,
    FunctionLoss,
    IterativeLatentSVM,
    LatentSVM,
    MatrixLoss,
    OverlapLoss,
    ZeroOneLoss,
)
from harmonium.weak.base import WeakClassifier
from harmonium.weak.losses import Candidates
from harmonium.weak.reading import build_problem
from harmonium.weak.solvers.initial import speaking_candidates

ALL = [LatentSVM, IterativeLatentSVM, DissimilarityClassifier]
LABEL_LOSS = MatrixLoss([[0, 1, 1], [1, 0, 1], [1, 1, 0]])


def planted(n_samples: int = 90, shift: float = 4.0, seed: int = 0) -> tuple[Bags, np.ndarray, np.ndarray]:
    """Five overlapping windows, of which one, at random, shows the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % 3
    truth = rng.integers(0, 5, n_samples)
    features = rng.normal(size=(n_samples, 5, 6))
    features[np.arange(n_samples), truth, y] += shift
    boxes = np.array([[0, 2 * h, 4, 2 * h + 4] for h in range(5)])
    return Bags.from_list(list(features), [boxes] * n_samples), np.array(["a", "b", "c"])[y], truth


@pytest.mark.parametrize("loss", [ZeroOneLoss(), OverlapLoss(), LABEL_LOSS])
@pytest.mark.parametrize("kind", ALL)
def test_planted_windows_are_found_and_no_block_step_increases_its_objective(kind: type, loss: Any) -> None:
    bags, y, _ = planted()
    model = kind(C=10.0, loss=loss, random_state=0).fit(bags, y)
    new, new_y, new_truth = planted(seed=1)
    labels, candidates = model.predict_latent(new)
    assert (labels == new_y).mean() > 0.85
    assert (candidates == new_truth).mean() > 0.85
    history = model.history_
    assert (np.array(history["after"]) <= np.array(history["before"]) + 1e-9).all()
    assert model.n_iter_ == history["block"].count("weights")
    assert all(gap <= 10 * 0.05 for gap in history["gap"])
    posterior = model.latent_posterior(new, new_y)
    assert all(np.isclose(p.sum(), 1) for p in posterior)
    if loss.__class__ is not MatrixLoss:
        assert np.mean([p.argmax() == h for p, h in zip(posterior, new_truth, strict=True)]) > 0.85
    assert -0.3 < model.score(new, new_y, new_truth) <= model.score(new, new_y) <= 0


def test_a_loss_of_labels_alone_makes_all_three_the_same() -> None:
    """The first observation of the paper: without the candidate in the loss, both extensions are the latent SVM."""
    bags, y, _ = planted(shift=2.5)
    first, second, third = (kind(C=3.0, loss=LABEL_LOSS, random_state=0).fit(bags, y) for kind in ALL)
    assert np.allclose(first.coef_, second.coef_)
    assert np.allclose(first.coef_, third.coef_)
    assert not third.theta_.any()


def test_a_sure_posterior_makes_the_step_of_the_weights_that_of_iterative_svm() -> None:
    """The third observation: with all candidates known, P_θ is a point mass and the solutions agree."""
    bags, y, truth = planted(shift=2.5)
    second, third = (kind(C=3.0, random_state=0).fit(bags, y, latent=truth) for kind in ALL[1:])
    assert np.allclose(second.coef_, third.coef_)
    assert np.isclose(second.history_["after"][0], third.history_["after"][0])


@pytest.mark.parametrize("kind", ALL)
def test_training_ends_when_the_steps_of_a_round_gain_nothing_more(kind: type) -> None:
    bags, y, _ = planted(shift=2.0)
    model = kind(C=10.0, random_state=0).fit(bags, y)
    gains = np.array(model.history_["before"]) - np.array(model.history_["after"])
    assert model.history_["block"] == (["weights", "distribution"] * model.n_iter_)[:-1]
    of_rounds = gains[1::2] + gains[2::2]  # a step of the distribution, then one of the weights
    assert 2 < model.n_iter_ < model.max_iter
    assert (of_rounds[:-1] >= 10.0 * model.tol).all() and of_rounds[-1] < 10.0 * model.tol


def test_the_distribution_leaves_the_flat_one_it_begins_with() -> None:
    """Its step may raise the bound for a round, which is no reason to stop."""
    bags, y, truth = planted(shift=2.0)
    model = DissimilarityClassifier(C=1.0, random_state=0).fit(bags, y)
    of_truth = [P[h] for P, h in zip(model.latent_posterior(bags, y), truth, strict=True)]
    assert np.mean(of_truth) > 2 / 5


@pytest.mark.filterwarnings("ignore:.*weights of zero")
@pytest.mark.parametrize("kind", ALL)
def test_known_candidates_lead_out_of_a_bad_beginning(kind: type) -> None:
    bags, y, truth = planted(n_samples=60, shift=3.0, seed=3)
    new, new_y, new_truth = planted(n_samples=300, shift=3.0, seed=4)

    def score(latent: np.ndarray | None) -> float:
        model = kind(C=10.0, initial="random", random_state=1).fit(bags, y, latent=latent)
        return float(model.score(new, new_y, new_truth))

    assert score(None) < -0.8  # random windows teach nothing
    assert score(truth) > -0.2
    if kind is DissimilarityClassifier:  # half of the windows are enough if one need not be sure of the others
        assert score(np.where(np.arange(60) % 2, truth, -1)) > -0.2


@pytest.mark.parametrize("kind", ALL)
def test_self_paced_and_initial_candidates(kind: type) -> None:
    bags, y, truth = planted()
    paced = kind(C=10.0, self_paced=0.4, random_state=0).fit(bags, y)
    assert (paced.predict(bags) == y).mean() > 0.9
    given = kind(C=10.0, initial=truth, random_state=0).fit(bags, y)
    assert (given.predict_latent(bags)[1] == truth).mean() > 0.9


@pytest.mark.parametrize("kind", ALL)
def test_of_several_beginnings_the_one_with_the_lowest_bound_is_kept(kind: type) -> None:
    bags, y, _ = planted(n_samples=45, shift=2.0)
    model = kind(C=1.0, n_init=4, random_state=0)
    problem = build_problem(bags, Candidates(bags.offsets, bags.boxes), None, ZeroOneLoss(), *numbered(y))
    beginnings = model._beginnings(problem)
    assert len({tuple(begin) for begin in beginnings}) > 1
    alone = [last_bound(kind(C=1.0, initial=begin, random_state=0).fit(bags, y)) for begin in beginnings]
    kept = last_bound(model.fit(bags, y))
    assert max(alone) > min(alone)
    assert kept == min(alone) and last_bound(kind(C=1.0, random_state=0).fit(bags, y)) == alone[0]


def last_bound(model: WeakClassifier) -> float:
    return float(model.history_["bound"][-1])


def numbered(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    classes, labels = np.unique(y, return_inverse=True)
    return labels.astype(np.int32), classes


def test_a_guess_takes_weights_of_samples_for_copies() -> None:
    bags, y, _ = planted(n_samples=30, shift=2.0)
    labels, _ = numbered(y)
    rows = np.concatenate([np.arange(30), np.arange(15), np.arange(15)])
    copies = bags[rows]
    wanted = speaking_candidates(copies.features, labels[rows], copies.offsets, 3)[:30]
    weighed, plain = (
        speaking_candidates(bags.features, labels, bags.offsets, 3, emphasis)
        for emphasis in (np.where(np.arange(30) < 15, 3.0, 1.0), None)
    )
    # the penalty goes by the number of rows, which copies change
    assert (weighed == wanted).mean() > (plain == wanted).mean()


@pytest.mark.parametrize("kind", ALL)
def test_sparse_single_precision_lists_and_threads_agree(kind: type) -> None:
    bags, y, _ = planted(n_samples=45)
    dense = kind(C=5.0, random_state=0).fit(bags, y)
    sparse = kind(C=5.0, random_state=0).fit(Bags(scipy.sparse.csr_matrix(bags.features), bags.offsets, bags.boxes), y)
    assert np.allclose(dense.coef_, sparse.coef_, atol=1e-2)
    single = kind(C=5.0, random_state=0).fit(Bags(bags.features.astype(np.float32), bags.offsets), y)
    assert (single.predict(bags) == dense.predict(bags)).mean() > 0.95
    cube = kind(C=5.0, random_state=0, n_jobs=2).fit(bags.features.reshape(45, 5, 6), y)
    assert np.array_equal(cube.coef_, dense.coef_)


@pytest.mark.parametrize("kind", ALL)
def test_scikit_learn_face(kind: type) -> None:
    bags, y, truth = planted()
    model = kind(C=10.0, loss=OverlapLoss(), random_state=0)
    assert clone(model).get_params()["loss"].__class__ is OverlapLoss
    search = GridSearchCV(model, {"C": [1e-4, 10.0]}, cv=3).fit(bags, y)
    assert (
        set(search.cv_results_["param_C"]) == {1e-4, 10.0} and np.isfinite(search.cv_results_["mean_test_score"]).all()
    )
    assert (search.predict(bags) == y).mean() > 0.9
    assert cross_val_score(model, bags, y, cv=3, params={"latent": truth}).mean() > -0.2
    fitted = search.best_estimator_
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_latent(bags)[1], fitted.predict_latent(bags)[1])
    same = clone(fitted).fit(bags, y)
    assert np.array_equal(same.coef_, fitted.coef_)


def test_weights_of_zero_are_warned_of() -> None:
    same = [np.zeros((2, 3))] * 6
    with pytest.warns(HarmoniumWarning, match="weights of zero"):
        LatentSVM().fit(same, [0, 1] * 3)


@pytest.mark.parametrize("kind", [LatentSVM, IterativeLatentSVM])
def test_candidates_that_look_alike_are_too_much_for_the_zero_one_loss(kind: type[WeakClassifier]) -> None:
    """No margin tells a candidate from its double: zero is the exact solution, whatever C. A milder loss learns."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    one = rng.normal(size=(40, 1, 3))
    one[np.arange(40), 0, y] += 4
    doubled = np.repeat(one, 2, axis=1)
    bags = Bags.from_list(list(doubled), [[[0, 0, 10, 10], [0, 1, 10, 11]]] * 40)
    begin = np.zeros(40, dtype=int)
    for C in (0.1, 100.0):
        with pytest.warns(HarmoniumWarning, match="forgives neighbours"):
            model = kind(C=C, initial=begin).fit(bags, y)
        assert not model.coef_.any() and model.history_["gap"][-1] <= 1e-3 * C
    assert (kind(C=10.0, loss=OverlapLoss(), initial=begin).fit(bags, y).predict(bags) == y).mean() > 0.9


# ---- bags ----------------------------------------------------------------------------------------------------------
def test_bags_are_sliced_by_rows() -> None:
    bags, _, _ = planted(n_samples=7)
    ragged = Bags.from_list([np.full((size, 2), size) for size in (2, 1, 3)])
    assert ragged[[2, 0]].sizes.tolist() == [3, 2]
    assert ragged[[2, 0]].features[:, 0].tolist() == [3, 3, 3, 2, 2]
    assert ragged[np.array([False, True, True])].sizes.tolist() == [1, 3]
    assert ragged[1].sizes.tolist() == [1] and len(list(ragged)) == 3
    assert np.shares_memory(bags[2:5].features, bags.features)
    assert np.array_equal(bags[2:5].boxes, bags.boxes[10:25])  # type: ignore[index]
    assert "7 samples" in repr(bags) and "with boxes" in repr(bags)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bags.from_list([]), "at least one sample"),
        (lambda: Bags.from_list([np.ones((2, 3)), np.ones((2, 2))]), "same columns; sample 1"),
        (lambda: Bags.from_list([np.ones((2, 3)), np.ones((0, 3))]), "at least one candidate; sample 1"),
        (lambda: Bags.from_list([np.array([[1.0, np.nan]])]), "finite"),
        (lambda: Bags(np.ones((3, 2)), [0, 2]), "end with the number of candidates"),
        (lambda: Bags(np.ones((3, 2)), [0, 3, 3]), "at least one candidate; sample 1"),
        (lambda: Bags(np.ones((3, 2)), [0.0, 3.0]), "whole numbers"),
        (lambda: Bags(np.ones(3), [0, 3]), "matrix"),
        (lambda: Bags(np.array([["a"]]), [0, 1]), "real numbers"),
        (lambda: Bags(np.ones((2, 2)), [0, 2], np.ones((2, 3))), "top, left, bottom, right"),
        (lambda: Bags(np.ones((2, 2)), [0, 2], [[0, 0, 1, 1], [3, 0, 2, 1]]), "bottom > top"),
        (lambda: Bags.from_list([np.ones((2, 2))], [np.ones((1, 4))]), "one row for each candidate"),
    ],
)
def test_bad_bags_get_one_sentence(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("settings", "arguments", "message"),
    [
        ({}, {"y": np.zeros(12)}, "two classes"),
        ({}, {"y": np.arange(11) % 3}, "one label for each of 12"),
        ({}, {"y": np.where(np.arange(12) == 3, np.nan, 1.0)}, "NaN in y"),
        ({}, {"latent": np.full(12, 5)}, "sample 0 has 5 and got 5"),
        ({}, {"latent": np.full(3, 0)}, "for each of 12"),
        ({}, {"latent": np.full(12, 0.5)}, "whole numbers"),
        ({"initial": np.full(12, -1)}, {}, "initial must number"),
        ({"initial": np.zeros(12, dtype=int), "n_init": 2}, {}, "begins once if initial is an array"),
        ({"n_init": 0}, {}, "n_init"),
        ({"initial": "best"}, {}, "'auto', 'random' or an array"),
        ({"loss": OverlapLoss()}, {"X": Bags(np.ones((24, 6)), np.arange(0, 25, 2))}, "boxes"),
        ({"loss": MatrixLoss(np.ones((2, 2)))}, {}, "shape"),
        ({"loss": MatrixLoss(-1 * (1 - np.eye(3)))}, {}, "not negative"),
        ({"loss": MatrixLoss(np.ones((3, 3)))}, {}, "0 where label and candidate agree"),
        ({"loss": MatrixLoss(np.zeros((3, 2, 3, 2)))}, {}, "m >= 5"),
        ({"loss": FunctionLoss(lambda y1, h1, y2, h2: np.nan)}, {}, "finite"),
        ({"loss": FunctionLoss(lambda y1, h1, y2, h2: np.zeros(3))}, {}, "must broadcast"),
        ({"C": 0.0}, {}, "C > 0"),
        ({"tol": -1.0}, {}, "tol"),
        ({"self_paced": 1.5}, {}, "self_paced > 0 and <= 1"),
        ({"J": 0.0}, {}, "J > 0"),
        ({"beta": 1.0}, {}, "beta >= 0 and < 1"),
        ({"n_epochs": 0}, {}, "n_epochs"),
        ({"max_iter": 0}, {}, "max_iter"),
    ],
)
def test_bad_input_gets_one_sentence_and_changes_nothing(settings: Any, arguments: Any, message: str) -> None:
    bags, y, _ = planted(n_samples=12)
    model = DissimilarityClassifier(C=1.0, random_state=0).fit(bags, y)
    before = model.coef_.copy()
    model.set_params(**settings)
    with pytest.raises(ValueError, match=message) as refusal:
        model.fit(**{"X": bags, "y": y} | arguments)
    assert "\n" not in str(refusal.value)
    assert np.array_equal(model.coef_, before)


def test_wrong_kinds_are_refused() -> None:
    bags, y, _ = planted(n_samples=12)
    with pytest.raises(TypeError, match="FunctionLoss"):
        LatentSVM(loss=max).fit(bags, y)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Definition"):
        LatentSVM(problem=max).fit(bags, y)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="from_list"):
        LatentSVM().fit(np.ones(12), y)
    model = LatentSVM().fit(bags, y)
    with pytest.raises(ValueError, match="X has 3 features, but LatentSVM is expecting 6"):
        model.predict([np.ones((2, 3))])
    with pytest.raises(ValueError, match="classes that were learned"):
        model.score(bags, np.full(12, "z"))


# ---- a problem of one's own ----------------------------------------------------------------------------------------
class Motif(Definition):
    """A motif hides in the sequences of one class, at an unknown shift; the rest is background."""

    def __init__(self, length: int = 5, n_letters: int = 4) -> None:
        self.length = length
        self.n_letters = n_letters

    def n_candidates(self, sample: np.ndarray) -> int:
        return len(sample) - self.length + 1

    def joint_features(self, sample: np.ndarray, label: bool) -> np.ndarray:
        shifts = np.lib.stride_tricks.sliding_window_view(sample, self.length)
        letters = np.eye(self.n_letters)[shifts].reshape(len(shifts), -1)
        constant = np.ones((len(shifts), 1))
        return np.hstack([letters, constant]) * bool(label)


def sequences(seed: int, n_samples: int = 80) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    motif = np.array([0, 1, 2, 3, 0])
    samples, shifts = [], rng.integers(0, 10, n_samples)
    y = np.arange(n_samples) % 2 == 1
    for shift, has in zip(shifts, y, strict=True):
        letters = rng.integers(0, 4, size=rng.integers(15, 20))
        if has:
            letters[shift : shift + 5] = motif
        samples.append(letters)
    return samples, y, shifts


@pytest.mark.parametrize("kind", ALL)
def test_a_motif_in_sequences_is_found(kind: type[WeakClassifier]) -> None:
    samples, y, _ = sequences(0)
    near = FunctionLoss(lambda y1, h1, y2, h2: np.minimum(abs(h1 - h2) / 5, 1) * y1 if y1 == y2 else 1.0)
    model = kind(C=100.0, problem=Motif(), loss=near, random_state=0).fit(samples, y)
    new, new_y, shifts = sequences(1)
    labels, candidates = model.predict_latent(new)
    assert (labels == new_y).mean() > 0.9
    found = candidates[new_y] == shifts[new_y]
    assert found.mean() > 0.8
    assert (np.array(model.history_["after"]) <= np.array(model.history_["before"]) + 1e-9).all()
    assert len(model.latent_posterior(new, new_y)[0]) == len(new[0]) - 4
