"""Several labels at once: labels without examples, probabilities of single labels, and cuts by a measure."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from sklearn.metrics import f1_score, label_ranking_average_precision_score, label_ranking_loss, log_loss, roc_auc_score

from harmonium import HarmoniumClassifier, Stochastic, load
from harmonium.core.targets import Targets
from harmonium.heads import LabelView, MultiLabelHinge
from harmonium.heads.outputs import LabelOutputs
from harmonium.heads.outputs.calibration import fit_sigmoid, fit_sigmoids, most_probable
from harmonium.heads.outputs.thresholds import CUTS
from harmonium.metrics import expected_calibration_error

N_LABELS = 5
NEVER, ALWAYS = 3, 4


def tagged(n_rows: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows with three labels that can be learned, one that none has and one that all have."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    labels = np.zeros((n_rows, N_LABELS))
    labels[:, :3] = X + 0.5 * rng.normal(size=X.shape) > [0.0, 0.5, 1.2]
    labels[:, ALWAYS] = 1
    return X, labels


def model_of(head: Any, fraction: float = 0.15) -> HarmoniumClassifier:
    driver = Stochastic(batch_size=20, learning_rate=0.1, max_iter=8)
    return HarmoniumClassifier(3, head=head, driver=driver, validation_fraction=fraction, random_state=0)


# ---- labels without two kinds of rows --------------------------------------------------------------------------------
@pytest.mark.parametrize("fraction", [0, 0.15])
@pytest.mark.parametrize("head", [MultiLabelHinge(C=1.0), MultiLabelHinge(C=1.0, measure="macro_f1"), LabelView()])
def test_labels_without_examples_are_kept_out(head: Any, fraction: float, tmp_path: Path) -> None:
    X, labels = tagged()
    fresh, truth = tagged(60, seed=1)
    model = model_of(head, fraction).fit(X, labels)
    decision, probability, predicted = model.decision_function(fresh), model.predict_proba(fresh), model.predict(fresh)
    assert np.isfinite(decision).all()
    assert (decision[:, NEVER] < np.delete(decision, NEVER, axis=1).min()).all() and not predicted[:, NEVER].any()
    assert (decision[:, ALWAYS] > np.delete(decision, ALWAYS, axis=1).max()).all() and predicted[:, ALWAYS].all()
    np.testing.assert_allclose(probability[:, [NEVER, ALWAYS]], np.tile([1 / 122, 121 / 122], (60, 1)))
    np.testing.assert_array_equal(predicted, decision > 0)
    assert label_ranking_average_precision_score(truth, decision) > 0.5 and label_ranking_loss(truth, decision) < 0.5
    assert roc_auc_score(truth[:, :3], decision[:, :3]) > 0.6
    table = model.annotate(fresh, top=N_LABELS)
    assert len(table) == 60 * (N_LABELS - 1) and NEVER not in set(table["label"])
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(fresh), decision)
    np.testing.assert_array_equal(again.fitted_.head.outputs_.factors, model.fitted_.head.outputs_.factors)


@pytest.mark.parametrize("head", [MultiLabelHinge(C=1.0), LabelView()])
def test_a_label_that_comes_later_is_no_longer_kept_out(head: Any) -> None:
    X, labels = tagged()
    model = model_of(head).partial_fit(X, labels)
    assert len(np.unique(model.decision_function(X)[:, [NEVER, ALWAYS]])) == 2
    labels[:, NEVER], labels[:60, ALWAYS] = labels[:, 0], 0
    for _ in range(8):
        model.partial_fit(X, labels)
    decision = model.decision_function(X)[:, [NEVER, ALWAYS]]
    assert (decision.std(axis=0) > 0).all() and np.abs(decision).max() < 20
    assert set(model.annotate(X, top=N_LABELS)["label"]) == set(range(N_LABELS))
    frequency = model.fitted_.head.outputs_.frequency
    np.testing.assert_allclose(frequency[[NEVER, ALWAYS]], [8 / 9 * labels[:, 0].mean(), 1 - 4 / 9])


@settings(deadline=None, max_examples=25)
@given(
    values=st.lists(st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=3, max_size=3), min_size=1, max_size=12),
    measure=st.sampled_from(sorted(CUTS)),
    seed=st.integers(0, 5),
)
def test_any_labels_give_finite_decisions_and_probabilities(values: Any, measure: Any, seed: int) -> None:
    labels, rng = np.array(values), np.random.default_rng(seed)
    outputs = LabelOutputs.of(labels, measure)
    scores = rng.normal(size=labels.shape) * 10.0 ** rng.integers(-3, 4)
    factors = outputs.calibrate(scores, Targets(labels, rng.integers(0, 3, size=len(labels)).astype(float)))
    assert factors.shape == (outputs.n_factors,) and np.isfinite(factors).all()
    fresh = 3 * rng.normal(size=(20, 3)) * np.abs(scores).max()
    outputs = outputs.with_factors(factors)
    decision, probability = outputs.decisions(fresh), outputs.probabilities(fresh)
    assert np.isfinite(decision).all() and ((probability >= 0) & (probability <= 1)).all()
    np.testing.assert_array_equal(outputs.predict(fresh), decision > 0)
    assert not outputs.predict(fresh)[:, outputs.never].any()
    for column in np.flatnonzero(outputs.varied):  # rows come in the same order
        order = np.argsort(decision[:, column])
        assert (np.diff(probability[order, column]) >= 0).all()


# ---- cuts ------------------------------------------------------------------------------------------------------------
def row_f1(labels: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """F1 of each row, of known labels only; 1 for rows without labels of which none is predicted."""
    known = ~np.isnan(labels)
    hits = np.where(known, labels * predicted, 0).sum(axis=1)
    number = np.where(known, labels + predicted, 0).sum(axis=1)
    return np.where(number > 0, 2 * hits / np.maximum(number, 1), 1.0)


def micro_f1(labels: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> float:
    known = np.where(np.isnan(labels), 0.0, weight[:, None])
    hits, number = (known * np.nan_to_num(labels * predicted)).sum(), (known * np.nan_to_num(labels + predicted)).sum()
    return 2 * hits / max(number, 1e-300)


def held_out(seed: int, n_rows: int, unknown: bool, ties: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log-odds, labels and weights of a few rows."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(size=(n_rows, 4))
    log_odds = np.round(log_odds) if ties else log_odds
    labels = (rng.random(log_odds.shape) < 0.4).astype(float)
    labels[rng.random(labels.shape) < 0.2 * unknown] = np.nan
    return log_odds, labels, rng.integers(0, 3, size=n_rows).astype(float)


FEW_ROWS = {"seed": st.integers(0, 10**6), "n_rows": st.integers(1, 8), "unknown": st.booleans(), "ties": st.booleans()}


@settings(deadline=None, max_examples=60)
@given(**FEW_ROWS)
def test_the_cut_of_micro_f1_is_the_best_there_is(seed: int, n_rows: int, unknown: bool, ties: bool) -> None:
    log_odds, labels, weight = held_out(seed, n_rows, unknown, ties)
    cells = np.where(np.isnan(labels), 0.0, weight[:, None])
    values = np.unique(log_odds[cells > 0])
    cuts = CUTS["micro_f1"](log_odds, labels, cells)
    assert len(set(cuts)) == 1 and not np.isin(cuts[0], values)
    best = max(micro_f1(labels, log_odds > cut, weight) for cut in [-np.inf, *values])  # predicted is what is above
    assert micro_f1(labels, log_odds > cuts, weight) == pytest.approx(best, abs=1e-9)


@settings(deadline=None, max_examples=200)
@given(**FEW_ROWS)
def test_the_cut_of_example_f1_is_not_clearly_worse_and_gives_as_many_labels(
    seed: int, n_rows: int, unknown: bool, ties: bool
) -> None:
    log_odds, labels, weight = held_out(seed, n_rows, unknown, ties)
    cells = np.where(np.isnan(labels), 0.0, weight[:, None])
    values = np.unique(log_odds[cells > 0])
    cuts = CUTS["example_f1"](log_odds, labels, cells)
    assert len(set(cuts)) == 1 and not np.isin(cuts[0], values)
    if not len(values):
        return
    rows = np.repeat(np.arange(n_rows), weight.astype(int))  # weights are numbers of rows
    log_odds, labels = log_odds[rows], labels[rows]
    known = ~np.isnan(labels)
    tried = [-np.inf, *values]
    # of equals, the highest
    best = max(tried, key=lambda cut: (round(row_f1(labels, log_odds > cut).mean(), 9), cut))
    missing = {}
    for cut in [*tried, cuts[0]]:
        loss = row_f1(labels, log_odds > best) - row_f1(labels, log_odds > cut)
        if loss.mean() <= min(2 * loss.std() / np.sqrt(len(rows)), 0.01) + 1e-9:
            missing[cut] = abs((known & (log_odds > cut)).sum() - np.nansum(labels)), round(loss.mean(), 9)
    assert missing[cuts[0]] == min(missing.values())


def test_cuts_of_single_labels_are_those_of_the_expected_f1() -> None:
    """Brute force over all cuts; few rows with a label are mixed with what the model expects, many are not."""
    rng = np.random.default_rng(0)
    log_odds = rng.normal(size=(40, 3)) - 1
    labels = (rng.random(log_odds.shape) < expit(log_odds)).astype(float)
    labels[:, 2] = 0  # none in the held-out rows
    cuts = CUTS["macro_f1"](log_odds, labels, np.ones(labels.shape))
    for label in range(3):
        number = labels[:, label].sum()
        probability = expit(log_odds[:, label])
        truth = (number * labels[:, label] + 10 * probability) / (number + 10)

        def expected(cut: float, truth: np.ndarray = truth, label: int = label) -> float:
            predicted = log_odds[:, label] > cut
            return float(2 * (truth * predicted).sum() / (truth.sum() + predicted.sum()))

        assert expected(cuts[label]) == pytest.approx(max(expected(cut) for cut in log_odds[:, label] - 1e-9))
    rows = rng.integers(0, 40, size=20000)
    many = CUTS["macro_f1"](log_odds[rows][:, :1], labels[rows][:, :1], np.ones((20000, 1)))[0]
    best = max(f1_score(labels[rows, 0], log_odds[rows, 0] > cut) for cut in log_odds[:, 0] - 1e-9)
    assert f1_score(labels[rows, 0], log_odds[rows, 0] > many) == pytest.approx(best, abs=1e-3)
    # of perfect probabilities, the best cut is half of the F1 that it reaches (Lipton et al. 2014)
    probability = np.linspace(0, 1, 4001)[1:-1, None]
    cut = expit(CUTS["macro_f1"](np.log(probability / (1 - probability)), probability, np.ones_like(probability)))[0]
    above = probability > cut
    f1 = 2 * probability[above].sum() / (above.sum() + probability.sum())
    assert cut == pytest.approx(f1 / 2, abs=1e-3)


def test_predict_is_best_by_the_measure_that_is_asked_for() -> None:
    """On the held-out rows no other measure's cuts do better."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(300, 6))
    labels = (rng.random(scores.shape) < expit(1.5 * scores + np.linspace(-3, 0, 6))).astype(float)
    targets, found = Targets(labels, np.ones(300)), {}
    for measure in CUTS:
        outputs = LabelOutputs.of(labels, measure).calibrated(scores, targets)
        found[measure] = outputs.predict(scores)
    kinds: dict[Any, Any] = {"micro_f1": "micro", "macro_f1": "macro"}
    for measure, average in kinds.items():
        quality = {name: f1_score(labels, found[name], average=average, zero_division=0) for name in CUTS}
        # cuts of single labels can be better for any measure; those for macro F1 are shrunk
        assert quality[measure] >= max(quality[name] for name in CUTS if name != "macro_f1") - 1e-12, quality
        assert quality[measure] > quality["accuracy"] + 0.02
    for name in ("micro_f1", "accuracy"):
        loss = row_f1(labels, found[name]) - row_f1(labels, found["example_f1"])
        assert loss.mean() <= 0.01, name
    assert labels.sum() < found["example_f1"].sum() < found["micro_f1"].sum()  # nearer to what is true
    right = {name: (found[name] == labels).mean() for name in CUTS}
    assert right["accuracy"] >= max(right.values()) - 0.005
    np.testing.assert_array_equal(found["accuracy"], outputs.probabilities(scores) > 0.5)


# ---- probabilities ---------------------------------------------------------------------------------------------------
def varied_labels(n_rows: int, seed: int, n_labels: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Scores of labels that mean something else for each label, of which many are rare."""
    truth, rng = np.random.default_rng(0), np.random.default_rng(seed)
    factor, shift = np.exp(truth.normal(0.5, 0.4, n_labels)), truth.normal(-3.0, 1.5, n_labels)
    scores = rng.normal(size=(n_rows, n_labels))
    return scores, (rng.random(scores.shape) < expit(factor * scores + shift)).astype(float)


@pytest.mark.parametrize("n_rows", [60, 200, 1000])
def test_single_labels_are_calibrated_better_than_all_at_once(n_rows: int) -> None:
    scores, labels = varied_labels(n_rows, 1)
    fresh, truth = varied_labels(2000, 2)
    factors, shifts = fit_sigmoids(scores, labels, np.ones(n_rows))
    factor, shift = fit_sigmoid(scores, labels, np.ones(n_rows))
    single, shared = expit(factors * fresh + shifts).ravel(), expit(factor * fresh + shift).ravel()
    losses = [log_loss(truth.ravel(), p) for p in (single, shared)]
    assert losses[0] < losses[1] - 0.01
    apart = [np.abs(p.reshape(truth.shape).mean(axis=0) - truth.mean(axis=0)).mean() for p in (single, shared)]
    assert apart[0] < 0.6 * apart[1]
    pairs = [np.stack([1 - p, p], axis=1) for p in (single, shared)]
    errors = [expected_calibration_error(pair, truth.ravel().astype(int)) for pair in pairs]
    assert errors[0] < max(errors[1], 0.02)
    # on their own, few rows teach labels too much
    alone = np.array([fit_sigmoid(scores[:, [j]], labels[:, [j]], np.ones(n_rows)) for j in range(40)])
    assert losses[0] < log_loss(truth.ravel(), expit(alone[:, 0] * fresh + alone[:, 1]).ravel())


def test_a_rare_label_is_close_to_what_labels_share() -> None:
    scores, labels = varied_labels(400, 1)
    rare = np.argsort(labels.sum(axis=0))[0]
    labels[:, rare] = 0
    factors, shifts = fit_sigmoids(scores, labels, np.ones(400))
    assert np.isfinite(factors).all()
    # on its own it would be more than ten standard deviations away
    assert abs(np.log(factors[rare]) - np.log(factors).mean()) < 2 * np.log(factors).std()
    # and one whose rows all say the same thing, often, is where they say it
    assert expit(factors[rare] * scores[:, rare] + shifts[rare]).mean() < 0.02


def test_the_most_probable_factors_are_those_of_a_minimiser() -> None:
    rng = np.random.default_rng(0)
    scores, labels = varied_labels(50, 3, n_labels=4)
    aims, weight = np.where(labels > 0, 0.98, 0.01), rng.uniform(0.5, 2.0, size=labels.shape)
    centre, width = np.array([0.3, -1.0]), np.array([0.4, 0.8])
    points, variance = most_probable(scores, aims, weight, centre, width, np.tile(centre, (4, 1)), n_steps=30)
    for label in range(4):

        def loss(point: np.ndarray, label: int = label) -> float:
            log_odds = np.exp(point[0]) * scores[:, label] + point[1]
            likelihood = aims[:, label] * log_expit(log_odds) + (1 - aims[:, label]) * log_expit(-log_odds)
            return float(-weight[:, label] @ likelihood + 0.5 * np.square((point - centre) / width).sum())

        oracle = minimize(loss, centre, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10})
        np.testing.assert_allclose(points[label], oracle.x, atol=1e-4)
        assert (variance[label] < width**2).all() and (variance[label] > 0).all()


def test_weights_of_rows_are_numbers_of_rows() -> None:
    scores, labels = varied_labels(80, 1, n_labels=6)
    weight = np.random.default_rng(0).integers(0, 4, size=80)
    rows = np.repeat(np.arange(80), weight)
    for measure in CUTS:
        outputs = LabelOutputs.of(labels, measure)
        once = outputs.calibrate(scores, Targets(labels, weight.astype(float)))
        np.testing.assert_allclose(
            once, outputs.calibrate(scores[rows], Targets(labels[rows], np.ones(len(rows)))), rtol=1e-4, atol=1e-4
        )


def test_every_measure_is_a_setting() -> None:
    X, labels = tagged()
    sizes = {}
    for measure, weight in itertools.product(CUTS, (1.0, 3.0)):
        head = MultiLabelHinge(C=1.0, measure=measure, positive_weight=weight, linear_part=False)
        sizes[measure, weight] = model_of(head).fit(X, labels).predict(X)[:, :3].sum()
    assert sizes["example_f1", 3.0] > sizes["accuracy", 3.0]
    with pytest.raises(ValueError, match="measure 'example_f1', 'micro_f1', 'macro_f1' or 'accuracy'; got 'f1'"):
        model_of(MultiLabelHinge(measure="f1")).fit(X, labels)  # type: ignore[arg-type]
