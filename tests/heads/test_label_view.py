"""Labels that are views, by enumeration; their conditional likelihood by finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from harmonium import LBFGS, Harmonium, HarmoniumClassifier, Hinge, Stochastic
from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import Parameters
from harmonium.core.targets import Kind
from harmonium.energy import Energy
from harmonium.families import Bernoulli, Categorical, Gaussian
from harmonium.heads import LabelView
from harmonium.heads.label_view import LABEL
from harmonium.heads.readout import ClassPosterior
from harmonium.inference.exact import hidden_states
from harmonium.inference.mean_field import fill_missing
from harmonium.objectives import Discriminative, SampledCD
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from tests.cases.heads import HIDDEN, assert_gradient, labelled, labels_for, statistics_of
from tests.cases.models import make_family, make_hidden, make_parameters, random_batch


# ---- labels that are views -------------------------------------------------------------------------------------------
def label_problem(hidden: str, kind: Kind = "class", n_rows: int = 6) -> tuple[Problem, Parameters, Batch]:
    """Two views and a label: 3 classes, 2 numbers or 3 labels; row 0 has none."""
    weight = np.random.default_rng(3).uniform(0.2, 2.0, size=n_rows)
    labels = labels_for(kind, n_rows, columns=1, weight=weight)
    head = LabelView().bind(labels)
    width = head.n_outputs_
    family: Any = {
        "class": lambda: Categorical().restore(width, {"groups": np.array([0, width])}),
        "number": lambda: Gaussian("learn").restore(width, {"location": np.zeros(width), "scale": np.ones(width)}),
        "label": lambda: Bernoulli().restore(width, {}),
    }[kind]()
    families = {"a": make_family("Bernoulli"), "b": make_family("Gaussian"), LABEL: family}
    energy = Energy(families, make_hidden(hidden))
    parameters = make_parameters(energy, seed=2, scale=0.2 if not energy.hidden.support.bounded else 0.6)
    batch = random_batch(energy, parameters, n_rows)
    matrix = head.added_views[LABEL].data(head.targets(labels))
    statistic = np.array(family.codec.encode(matrix), dtype=np.float64)
    missing = family.codec.missing_sites(statistic)
    batch.views[LABEL] = ViewBatch(np.nan_to_num(statistic), missing=missing)
    batch.targets = labels.targets
    reference = {"a": np.full(3, 0.5), "b": np.zeros(3), LABEL: np.full(width, 1 / 3)}
    return Problem(energy, reference, head), parameters, batch


def without_label(batch: Batch) -> Batch:
    return Batch({name: view for name, view in batch.views.items() if name != LABEL}, batch.n_rows)


@pytest.mark.parametrize("hidden", HIDDEN)
def test_exact_scores_by_enumeration(hidden: str) -> None:
    """log Σ_h p(class, x, h), the hidden states one by one, up to what all classes of a row share."""
    problem, parameters, batch = label_problem(hidden)
    energy = problem.energy
    readout = ClassPosterior(LABEL)
    scores = readout.scores(energy, parameters, energy.hidden_natural(parameters, readout.seen(batch)))
    states, log_weights = hidden_states(energy)
    for row in range(batch.n_rows):
        expected = []
        for number in range(3):
            views = {
                name: ViewBatch(np.repeat(view.statistic[row : row + 1], len(states), axis=0))
                for name, view in batch.views.items()
            }
            views[LABEL] = ViewBatch(np.tile(np.eye(3)[number], (len(states), 1)))
            expected.append(logsumexp(energy.joint(parameters, Batch(views, len(states)), states) + log_weights))
        np.testing.assert_allclose(softmax(scores[row]), softmax(expected), atol=1e-6)
    spec = labelled("class", np.zeros((1, 1), dtype=int), [3]).meaning
    exact = LabelView(inference="exact").restored(spec, problem.head.constants())
    np.testing.assert_array_equal(exact.scores(energy, parameters, batch), scores)


def test_mean_field_expectation_of_a_gaussian_label_is_exact_between_gaussians() -> None:
    """E[y | x] by enumeration of the hidden states, with the label summed out."""
    problem, parameters, batch = label_problem("GaussianUnits", "number")
    energy, others = problem.energy, without_label(batch)
    blind = Batch({**others.views, LABEL: ViewBatch(np.zeros((6, 2)), missing=np.ones((6, 2), bool))}, 6)
    filled = fill_missing(energy, parameters, blind, problem.reference, n_iterations=200)
    got = problem.head.scores(energy, parameters, filled)
    states, log_weights = hidden_states(energy)
    natural = energy.view_natural(parameters, LABEL, states)
    own = energy.extra(parameters, LABEL)
    family = energy.families[LABEL]
    by_state = family.log_partition(natural, own).sum(axis=1) + log_weights + energy.hidden.log_base(states).sum(axis=1)
    log_joint = energy.hidden_natural(parameters, others) @ states.T + by_state
    expected = softmax(log_joint, axis=1) @ family.mean(natural, own)
    np.testing.assert_allclose(got, expected, atol=1e-5)


@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("kind", LabelView.kinds)
def test_mean_field_scores_are_a_fixed_point(kind: str, hidden: str) -> None:
    """Naturals of classes and labels, expected values of numbers, at the hidden mean that they imply themselves."""
    problem, parameters, batch = label_problem(hidden, kind)
    energy, family = problem.energy, problem.energy.families[LABEL]
    label = batch.views[LABEL]
    nothing = ViewBatch(np.zeros_like(label.statistic), missing=np.ones_like(label.missing))
    blind = Batch({**batch.views, LABEL: nothing}, batch.n_rows)
    filled = fill_missing(energy, parameters, blind, problem.reference, n_iterations=300)
    scores = problem.head.scores(energy, parameters, filled)
    mean = scores if kind == "number" else family.mean(scores)
    again = energy.hidden_natural(parameters, Batch({**batch.views, LABEL: ViewBatch(mean)}, batch.n_rows))
    natural = energy.view_natural(parameters, LABEL, energy.layer(parameters).mean(again))
    expected = family.mean(natural, energy.extra(parameters, LABEL)) if kind == "number" else natural
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_kind_of_label_is_what_the_estimator_says_not_what_the_values_look_like() -> None:
    values = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    for labels, expected in ((labelled("number", values), Gaussian), (labelled("label", values, [2, 2]), Bernoulli)):
        assert isinstance(LabelView().bind(labels).added_views[LABEL].family, expected)
    assert LabelView("exact").takes("class") and not LabelView("exact").takes("number")


# ---- conditional likelihood ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("hidden", HIDDEN)
def test_conditional_gradient_by_finite_differences(hidden: str) -> None:
    problem, parameters, batch = label_problem(hidden)

    def conditional(moved: Parameters) -> Statistics:
        statistics = Statistics.zeros_like(moved)
        Discriminative()._add_conditional(problem, moved, batch, statistics)
        return statistics

    gradient = conditional(parameters).gradient
    assert_gradient(problem, gradient, lambda moved: conditional(moved).loss, parameters)
    for key in ("hidden.bias", "a.weights", "b.weights", f"{LABEL}.weights", f"{LABEL}.bias"):
        assert np.abs(gradient[key]).max() > 1e-3


@pytest.mark.parametrize("complete", [True, False])
def test_conditional_loss_is_the_weighted_log_probability_of_known_classes(complete: bool) -> None:
    problem, parameters, batch = label_problem("BernoulliUnits")
    assert batch.targets is not None
    label, given = batch.views[LABEL], batch
    if not complete:  # what rows lack is inferred as for a prediction, which does not know the label
        lacking = np.tile(np.arange(batch.n_rows)[:, None] % 2 == 0, 3)
        batch.views["a"] = ViewBatch(np.where(lacking, 0, batch.views["a"].statistic), missing=lacking)
        nothing = ViewBatch(np.zeros_like(label.statistic), missing=np.ones_like(label.missing))
        given = problem.complete(parameters, Batch({**batch.views, LABEL: nothing}, batch.n_rows))
    scores = LabelView("exact").readout.scores(
        problem.energy, parameters, problem.energy.hidden_natural(parameters, without_label(given))
    )
    log_probability = scores - logsumexp(scores, axis=1, keepdims=True)
    classes = batch.targets.values[:, 0]
    known = classes >= 0
    assert 0 < known.sum() < len(known)
    expected = -batch.targets.weight[known] @ log_probability[known, classes[known]]
    statistics = statistics_of(Discriminative(), problem, parameters, batch)
    assert statistics.loss == pytest.approx(expected)
    assert statistics.count == batch.n_rows


def test_hybrid_is_the_sum_of_both_gradients() -> None:
    problem, parameters, batch = label_problem("BernoulliUnits")
    conditional = statistics_of(Discriminative(), problem, parameters, batch).gradient
    joint = statistics_of(SampledCD(2), problem, parameters, batch).gradient
    hybrid = statistics_of(Discriminative(generative=0.3, n_steps=2), problem, parameters, batch)
    for key, value in hybrid.gradient.items():
        np.testing.assert_allclose(value, conditional[key] + 0.3 * joint[key], atol=1e-12)
    assert hybrid.count == batch.n_rows
    assert Discriminative().has_loss and not Discriminative(generative=0.3).has_loss


@pytest.mark.parametrize("driver", [Stochastic(max_iter=1), LBFGS(max_iter=1)], ids=str)
def test_conditional_likelihood_needs_a_label(driver: Any) -> None:
    X = (np.random.default_rng(0).random((20, 4)) < 0.5).astype(float)
    sentence = "Discriminative needs classes that are a view; the model has none; pass head=LabelView"
    with pytest.raises(ValueError, match=sentence):
        Harmonium(2, objective=Discriminative(), driver=driver).fit(X)
    with pytest.raises(ValueError, match=sentence):  # a view of that name is not a label
        Harmonium(2, objective=Discriminative(), driver=driver).fit({"x": X, "label": X})
    model = HarmoniumClassifier(2, head=Hinge(1.0), objective=Discriminative(), driver=driver, validation_fraction=0)
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, [0, 1] * 10)


def test_share_of_the_joint_likelihood_is_checked() -> None:
    X = (np.random.default_rng(0).random((20, 4)) < 0.5).astype(float)
    with pytest.raises(ValueError, match="generative >= 0; got -1"):
        Harmonium(2, objective=Discriminative(-1), driver=Stochastic(max_iter=1)).fit(X)


def test_batch_training_of_the_hybrid_is_refused() -> None:
    X = (np.random.default_rng(0).random((20, 4)) < 0.5).astype(float)
    model = HarmoniumClassifier(2, head=LabelView(), objective=Discriminative(0.1), driver=LBFGS(max_iter=2))
    with pytest.raises(ValueError, match="LBFGS needs an objective with a loss"):
        model.fit(X, [0, 1] * 10)
