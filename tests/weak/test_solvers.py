"""Weak supervision, the solvers: against exact programmes, liblinear, plain loops and finite differences."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import approx_fprime, minimize
from sklearn.datasets import load_digits
from sklearn.svm import LinearSVC

from harmonium.kernels.segments import box_iou, segment_argmax, segment_argmax_in_column, segment_softmax
from harmonium.weak import BagProblem, Bags, FunctionLoss, Loss, MatrixLoss, OverlapLoss, ZeroOneLoss
from harmonium.weak.bound_losses import Selection
from harmonium.weak.losses import Candidates
from harmonium.weak.solvers import posterior as conditional
from harmonium.weak.solvers.cccp import concave_convex, slacks
from harmonium.weak.solvers.cuts import Cuts
from harmonium.weak.solvers.cutting_plane import CuttingPlane
from harmonium.weak.solvers.dissimilarity import PointMass
from harmonium.weak.solvers.initial import first_of_largest
from harmonium.weak.solvers.qp import simplex_qp

CLASSES = np.array(["a", "b", "c"])
TABLE = np.random.default_rng(7).uniform(0.1, 2.0, size=(3, 6, 3, 6))
TABLE[np.arange(3)[:, None], np.arange(6), np.arange(3)[:, None], np.arange(6)] = 0
LOSSES: dict[str, Loss] = {
    "zero-one": ZeroOneLoss(),
    "overlap": OverlapLoss(),
    "labels": MatrixLoss([[0, 1, 2], [0.5, 0, 1.5], [3, 0.7, 0]]),
    "table": MatrixLoss(TABLE),
    "function": FunctionLoss(lambda y1, h1, y2, h2: np.minimum(abs(h1 - h2) / 3, 1) if y1 == y2 else 1 + 0 * h1),
}


def random_bags(n_samples: int = 12, n_columns: int = 4, seed: int = 0) -> tuple[Bags, np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, size=n_samples)
    corners = [rng.integers(0, 5, size=(size, 2)) for size in sizes]
    boxes = [np.concatenate([c, c + rng.integers(1, 5, size=c.shape)], axis=1) for c in corners]
    labels = np.concatenate([np.arange(3), rng.integers(0, 3, size=n_samples - 3)])
    return Bags.from_list([rng.normal(size=(size, n_columns)) for size in sizes], boxes), labels


def make_problem(name: str = "zero-one", seed: int = 0, known: np.ndarray | None = None, **sizes: Any) -> BagProblem:
    bags, labels = random_bags(seed=seed, **sizes)
    return BagProblem(bags, LOSSES[name].bind(Candidates(bags.offsets, bags.boxes), labels, CLASSES), known)


def plain_loss(name: str, problem: BagProblem, bags: Bags, i: int, h1: int, y2: int, h2: int) -> float:
    """The loss of one pair, from its definition."""
    y1 = int(problem.labels[i])
    if name == "zero-one":
        return float(y1 != y2 or h1 != h2)
    if name == "overlap":
        assert bags.boxes is not None
        a, b = bags.boxes[bags.offsets[i] + h1], bags.boxes[bags.offsets[i] + h2]
        inner = max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))
        area = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
        return 1.0 if y1 != y2 else float(1 - inner / (area - inner))
    if name == "labels":
        return float(np.asarray(LOSSES["labels"].matrix)[y1, y2])  # type: ignore[attr-defined]
    if name == "table":
        return float(TABLE[y1, h1, y2, h2])
    return float(min(abs(h1 - h2) / 3, 1)) if y1 == y2 else 1.0


def random_posterior(problem: BagProblem, seed: int = 1) -> np.ndarray:
    return segment_softmax(np.random.default_rng(seed).normal(size=problem.offsets[-1]), problem.offsets)


# ---- kernels -------------------------------------------------------------------------------------------------------
def test_kernels_against_numpy() -> None:
    rng = np.random.default_rng(0)
    offsets = np.array([0, 3, 4, 9])
    scores, bonus = rng.normal(size=(9, 4)), rng.normal(size=(9, 4))
    labels, rows, own = np.zeros(3, dtype=np.int32), np.zeros(3, dtype=np.int32), np.zeros(3, dtype=np.int32)
    segment_argmax(scores, bonus, offsets, labels, rows)
    columns = np.array([2, 0, 3])
    segment_argmax_in_column(scores, columns, offsets, own)
    shares = segment_softmax(scores[:, 0], offsets)
    for i in range(3):
        part = slice(offsets[i], offsets[i + 1])
        assert (rows[i], labels[i]) == np.unravel_index(
            (scores + bonus)[part].argmax(), (offsets[i + 1] - offsets[i], 4)
        )
        assert own[i] == scores[part, columns[i]].argmax()
        assert np.allclose(shares[part], np.exp(scores[part, 0]) / np.exp(scores[part, 0]).sum())
    assert first_of_largest(scores[:, 0], offsets).tolist() == [
        scores[offsets[i] : offsets[i + 1], 0].argmax() for i in range(3)
    ]


def test_overlaps_of_known_boxes() -> None:
    boxes = np.array([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]], dtype=float)
    assert np.allclose(box_iou(boxes), [[1, 1 / 7, 0], [1 / 7, 1, 0], [0, 0, 1]])


# ---- losses and inference ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", LOSSES)
def test_losses_against_a_plain_loop(name: str) -> None:
    problem, (bags, _) = make_problem(name), random_bags()
    posterior = random_posterior(problem)
    rng = np.random.default_rng(3)
    sizes = np.diff(problem.offsets)
    selection = Selection(rng.integers(0, 3, len(problem)), rng.integers(0, sizes))
    expected, against = problem.loss.expected(posterior), problem.loss.against(selection)
    diversity = problem.loss.diversity(posterior)
    for i, size in enumerate(sizes):
        part = slice(problem.offsets[i], problem.offsets[i + 1])
        own = posterior[part]
        table = np.array(
            [
                [[plain_loss(name, problem, bags, i, h1, y, h2) for h2 in range(size)] for y in range(3)]
                for h1 in range(size)
            ]
        )
        assert np.allclose(expected[part], np.einsum("a,ayb->by", own, table), atol=1e-6)
        assert np.allclose(problem.loss.forgiving()[part], np.einsum("aya->ay", table), atol=1e-6)
        assert np.allclose(against[part], table[:, selection.labels[i], selection.candidates[i]], atol=1e-6)
        mine = table[:, problem.labels[i]]
        assert np.isclose(diversity[i], own @ mine @ own, atol=1e-6)
        assert np.allclose(problem.loss.pull(i, own), (mine + mine.T) @ own, atol=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
def test_inference_against_brute_force(sparse: bool) -> None:
    bags, labels = random_bags()
    features: Any = bags.features
    given = Bags(scipy.sparse.csr_array(features) if sparse else features, bags.offsets, bags.boxes)
    loss = OverlapLoss().bind(Candidates(bags.offsets, bags.boxes), labels, CLASSES)
    problem = BagProblem(given, loss)
    weights = np.random.default_rng(5).normal(size=problem.n_weights)
    expected = loss.expected(random_posterior(problem))
    augmented, completed = problem.infer(weights, expected), problem.complete(weights)
    blocks = weights.reshape(3, -1)
    total = np.zeros((3, 4))
    for i in range(len(problem)):
        part = slice(bags.offsets[i], bags.offsets[i + 1])
        scores = features[part] @ blocks.T
        values = scores + expected[part]
        assert np.isclose(values[augmented.candidates[i], augmented.labels[i]], values.max())
        assert completed[i] == scores[:, labels[i]].argmax()
        total[augmented.labels[i]] += (i + 1) * features[part][augmented.candidates[i]]
    assert np.allclose(problem.joint_sum(augmented, np.arange(1.0, 13)), total.ravel())
    flat = features[bags.offsets[:-1] + augmented.candidates]
    assert np.allclose(problem.selected_scores(weights, augmented), (flat * blocks[augmented.labels]).sum(axis=1))
    own = np.repeat(labels, bags.sizes)
    assert np.allclose(problem.latent_scores(weights), (features @ blocks.T)[np.arange(len(own)), own])


# ---- the convex problem --------------------------------------------------------------------------------------------
def test_small_programme_against_another_solver() -> None:
    rng = np.random.default_rng(0)
    directions, linear = rng.normal(size=(6, 3)), rng.random(6)
    gram = directions @ directions.T
    for total in (1e-4, 1.0, 50.0):
        alpha, value = simplex_qp(gram, linear, total)
        reference = minimize(
            lambda a: 0.5 * a @ gram @ a - linear @ a,
            np.zeros(6),
            jac=lambda a: gram @ a - linear,
            bounds=[(0, None)] * 6,
            constraints={"type": "ineq", "fun": lambda a, t=total: t - a.sum()},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert alpha.min() >= 0 and alpha.sum() <= total * (1 + 1e-12)
        assert np.isclose(value, -reference.fun, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("name", ["zero-one", "overlap", "table"])
@pytest.mark.parametrize("C", [0.3, 10.0])
def test_cutting_plane_against_all_constraints_written_out(name: str, C: float) -> None:
    problem, (bags, _) = make_problem(name, n_samples=6, n_columns=2), random_bags(6, 2)
    expected = problem.loss.expected(random_posterior(problem))
    candidates = np.zeros(6, dtype=np.int64)
    plane = CuttingPlane(problem, C, tolerance=1e-6)
    plane.set_losses(expected)
    solution = plane.solve(candidates, np.zeros(problem.n_weights))

    directions, offsets, owner = [], [], []
    for i, size in enumerate(bags.sizes):
        truth = np.zeros((3, 2))
        truth[problem.labels[i]] = bags.features[bags.offsets[i]]
        for y, h in itertools.product(range(3), range(size)):
            other = np.zeros((3, 2))
            other[y] = bags.features[bags.offsets[i] + h]
            directions.append((other - truth).ravel())
            offsets.append(expected[bags.offsets[i] + h, y])
            owner.append(i)
    a, b, picks = np.array(directions), np.array(offsets), np.eye(6)[owner]
    # n slacks, a constraint for each sample, label and candidate
    exact = minimize(
        lambda x: 0.5 * x[:6] @ x[:6] + C * x[6:].mean(),
        np.concatenate([np.zeros(6), np.full(6, b.max())]),
        jac=lambda x: np.concatenate([x[:6], np.full(6, C / 6)]),
        constraints={
            "type": "ineq",
            "fun": lambda x: picks @ x[6:] - a @ x[:6] - b,
            "jac": lambda x: np.concatenate([-a, picks], axis=1),
        },
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert exact.success
    assert np.isclose(solution.objective, exact.fun, rtol=1e-3)
    assert solution.gap <= C * 1e-6
    assert np.allclose(solution.weights, exact.x[:6], atol=2e-2)


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_single_candidates_are_the_crammer_singer_machine(C: float) -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:400] / 16, y[:400]
    bags = Bags(X, np.arange(401))
    loss = MatrixLoss(1 - np.eye(10)).bind(Candidates(bags.offsets), y, np.arange(10))
    problem = BagProblem(bags, loss)
    plane = CuttingPlane(problem, C, tolerance=1e-5 if C > 1 else 1e-4)
    plane.set_losses(loss.expected(np.ones(400)))
    solution = plane.solve(np.zeros(400, dtype=int), np.zeros(problem.n_weights))
    machine = LinearSVC(multi_class="crammer_singer", fit_intercept=False, C=C / 400, tol=1e-7, max_iter=100_000)
    weights = machine.fit(X, y).coef_
    scores = X @ weights.T
    hinge = (scores + 1 - np.eye(10)[y]).max(axis=1) - scores[np.arange(400), y]
    assert np.isclose(solution.objective, 0.5 * (weights**2).sum() + C * hinge.mean(), rtol=1e-3)


def test_cuts_are_reused_and_remembered_ones_change_nothing() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 60, 5))
    labels = np.arange(30) % 3
    features[np.arange(30), 7, labels] += 3
    bags = Bags.from_list(list(features))
    loss = ZeroOneLoss().bind(Candidates(bags.offsets), labels, CLASSES)
    problem = BagProblem(bags, loss)
    solutions = []
    for remembers in (True, False):
        plane = CuttingPlane(problem, 10.0, tolerance=1e-5)
        assert plane._remembers
        plane._remembers = remembers
        plane.set_losses(loss.expected(problem.point_mass(np.full(30, 7))))
        solutions.append(plane.solve(np.full(30, 7), np.zeros(problem.n_weights)))
    assert np.isclose(solutions[0].objective, solutions[1].objective, rtol=1e-4)
    passes = plane.n_passes
    again = plane.solve(np.full(30, 7), solutions[1].weights)
    assert plane.n_passes - passes <= 3
    assert again.objective <= solutions[1].objective


def test_idle_cuts_are_dropped_and_the_products_stay_right() -> None:
    rng = np.random.default_rng(0)
    cuts = Cuts(n_samples=2, n_weights=3)
    for number in range(5):
        cuts.add(Selection(np.full(2, number), np.zeros(2, dtype=int)), rng.normal(size=3), float(number))
    in_use = np.array([0, 1.0, 0, 2.0, 0])
    for _ in range(29):
        cuts.prune(in_use)
    assert len(cuts) == 5
    cuts.prune(in_use)
    assert cuts.losses.tolist() == [1.0, 3.0]
    assert [cut.labels[0] for cut in cuts.recent(2)] == [1, 3]
    features = np.stack([-cuts.combined(each, np.zeros(3)) for each in np.eye(2)])
    assert np.allclose(cuts.gram(np.ones(3)), (1 - features) @ (1 - features).T)


# ---- the two steps -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", LOSSES)
def test_theta_gradient_by_finite_differences(name: str) -> None:
    problem = make_problem(name)
    rng = np.random.default_rng(2)
    theta = rng.normal(size=problem.n_latent_weights)
    against = problem.loss.against(problem.infer(rng.normal(size=problem.n_weights)))
    gradient = np.zeros_like(theta)
    for sample in range(len(problem)):
        own, part = conditional.sample_gradient(problem, theta, sample, against, 0.3)
        gradient[part] += own / len(problem)
    settings = conditional.Settings(0.7, 0.3, 1)
    numeric = approx_fprime(theta, lambda t: conditional.objective(problem, t, against, settings), 1e-4)
    assert np.allclose(gradient + 0.7 * theta, numeric, atol=2e-3)


def test_learned_posterior_lowers_its_objective_and_gathers_at_right_predictions() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(40, 5, 3))
    labels = np.arange(40) % 3
    truth = rng.integers(0, 5, 40)
    features[np.arange(40), truth, labels] += 5
    bags = Bags.from_list(list(features))
    problem = BagProblem(bags, ZeroOneLoss().bind(Candidates(bags.offsets), labels, CLASSES))
    settings = conditional.Settings(1e-3, 0.1, 5)
    zero = np.zeros(problem.n_latent_weights)
    theta, before, after = conditional.learn(problem, zero, Selection(labels, truth), settings, rng)
    assert after < before
    assert np.isclose(
        after, conditional.objective(problem, theta, problem.loss.against(Selection(labels, truth)), settings)
    )
    sure = problem.posterior(theta).reshape(40, 5)
    assert sure[np.arange(40), truth].mean() > 0.8
    # predictions of a wrong label leave only the diversity: the distribution stays wide
    wide, _, _ = conditional.learn(problem, zero, Selection((labels + 1) % 3, truth), settings, rng)
    assert problem.loss.diversity(problem.posterior(wide)).mean() > 0.75


def test_known_candidates_do_not_make_steps_larger() -> None:
    problem = make_problem("overlap", n_samples=40)
    problem.known[:36] = 0
    selection, zero = problem.infer(np.zeros(problem.n_weights)), np.zeros(problem.n_latent_weights)
    gradient, part = conditional.sample_gradient(problem, zero, 38, problem.loss.against(selection), 0.3)
    given: list[np.ndarray] = []
    rng: Any = SimpleNamespace(permutation=lambda samples: [38])
    with patch.object(conditional, "objective", lambda problem, theta, *_: given.append(theta.copy()) or 0.0):
        conditional.learn(problem, zero, selection, conditional.Settings(1.0, 0.3, 1), rng)
    # the objective is a mean over all samples, of which the steps see a tenth
    np.testing.assert_allclose(given[1][part], -gradient * 4 / 40)


def test_convex_problems_are_solved_until_they_gain_nothing() -> None:
    problem = make_problem("overlap", seed=1, n_samples=30)
    expected = problem.loss.expected(random_posterior(problem))
    steps = []
    for tolerance in (0.005, 0.05):
        plane = CuttingPlane(problem, 5.0, tolerance=tolerance)
        plane.set_losses(expected)
        found = concave_convex(plane, np.zeros(problem.n_weights), np.zeros(30, dtype=int), 50).objectives
        steps.append(len(found))
        assert len(found) > 2 and (found[-2] - found[-1]) / 5.0 < tolerance
    assert steps[0] >= steps[1]


def test_concave_convex_never_increases_and_bounds_the_loss() -> None:
    for seed in range(4):
        problem = make_problem("overlap", seed=seed, n_samples=30)
        posterior = random_posterior(problem)
        expected = problem.loss.expected(posterior)
        plane = CuttingPlane(problem, 5.0, tolerance=1e-4)
        plane.set_losses(expected)
        descent = concave_convex(plane, np.zeros(problem.n_weights), np.zeros(30, dtype=int), 50)
        assert (np.diff(descent.objectives) <= 1e-9).all()
        own = slacks(problem, descent.weights, expected)
        value = 0.5 * descent.weights @ descent.weights + 5 * own.mean()
        assert np.isclose(descent.objectives[-1], value, rtol=1e-5)
        selection = problem.infer(descent.weights)
        rows = problem.offsets[:-1] + selection.candidates
        assert (own >= expected[rows, selection.labels] - 1e-6).all()


def test_a_point_mass_that_fits_best_is_the_highest_scoring_candidate() -> None:
    """The third observation of the paper: over point masses, the step of the distribution is that of iterative LSVM."""
    for seed in range(5):
        problem = make_problem("overlap", seed=seed, n_samples=20)
        weights = np.random.default_rng(seed).normal(size=problem.n_weights)
        mass, before, after = PointMass(problem, np.zeros(20, dtype=int)).fitted(weights)
        against = problem.loss.against(problem.infer(weights))
        smallest = np.minimum.reduceat(against, problem.offsets[:-1])
        assert np.isclose(after, smallest.mean()) and after <= before
        assert np.array_equal(mass.candidates, problem.complete(weights))
        assert np.allclose(problem.loss.diversity(mass.probabilities()), 0)
