"""Numbers: intervals that hold as often as they say, coefficients in units of y, and weights of rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import r2_score

from harmonium import EpsilonInsensitive, HarmoniumRegressor, Stochastic, load
from harmonium.core.targets import Targets
from harmonium.heads import LabelView, Ordinal
from harmonium.heads.outputs import NumberOutputs
from harmonium.heads.outputs.conformal import HeldOutRows, conformal_quantile, weighted_quantiles
from tests.cases.heads import labelled


def numbers(n_rows: int, seed: int, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """One number, with errors of heavy tails."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, 50 + 10 * (X[:, 0] - X[:, 1] + noise * rng.standard_t(4, size=n_rows))


def regressor(**keywords: Any) -> HarmoniumRegressor:
    keywords = {"head": EpsilonInsensitive(C=1.0), "random_state": 0, **keywords}
    return HarmoniumRegressor(4, driver=Stochastic(batch_size=20, learning_rate=0.05, max_iter=6), **keywords)


# ---- the quantile ----------------------------------------------------------------------------------------------------
@settings(deadline=None, max_examples=60)
@given(
    errors=st.lists(st.integers(0, 9), min_size=1, max_size=30),
    level=st.floats(0.01, 0.99),
    twice=st.sets(st.integers(0, 29)),
)
def test_the_quantile_is_that_of_the_definition(errors: list[int], level: float, twice: set[int]) -> None:
    values = np.sort(np.array(errors, dtype=float))
    n_rows = len(values)
    place = int(np.ceil(np.round((n_rows + 1) * level, 9)))
    expected = values[place - 1] if place <= n_rows else np.inf
    assert conformal_quantile(values, np.ones(n_rows), level) == expected
    assert conformal_quantile(values, np.full(n_rows, 3.5), level) == expected  # only ratios of weights count
    weight = np.ones(n_rows)
    more = np.append(weight, 0.0)  # rows of weight 0 do not count
    assert conformal_quantile(np.append(values, 99.0), more, level) == expected
    for row in twice:
        weight[row % n_rows] = 2.0
    found = conformal_quantile(values, weight, level)
    needed = level * (weight.sum() + weight.mean())
    fits = [value for value in values if weight[values <= value].sum() >= needed - 1e-9]
    assert found == (min(fits) if fits else np.inf)


def test_coverage_is_exact_for_errors_that_can_be_exchanged() -> None:
    """Over draws of held-out rows, it is ⌈(n + 1) p⌉ / (n + 1)."""
    rng = np.random.default_rng(0)
    for n_rows, level in ((19, 0.9), (30, 0.8), (99, 0.95)):
        draws = np.sort(rng.exponential(size=(4000, n_rows)), axis=1)
        cuts = np.array([conformal_quantile(draw, np.ones(n_rows), level) for draw in draws])
        covered = np.mean(-np.expm1(-cuts))  # the share of new errors below each cut
        assert covered == pytest.approx(np.ceil(round((n_rows + 1) * level, 9)) / (n_rows + 1), abs=0.004)


# ---- the band --------------------------------------------------------------------------------------------------------
@settings(deadline=None, max_examples=40)
@given(values=st.lists(st.integers(-9, 9), min_size=1, max_size=20), level=st.floats(0.0, 1.0))
def test_quantiles_of_equal_weights_are_those_of_numpy(values: list[int], level: float) -> None:
    numbers = np.array(values, dtype=float)
    expected = np.quantile(numbers, level, method="hazen")
    assert weighted_quantiles(numbers, np.full(len(values), 0.3), [level])[0] == pytest.approx(expected)


def fifths(values: np.ndarray, holds: np.ndarray) -> np.ndarray:
    """Shares that hold in each fifth of some values."""
    return np.array([holds[part].mean() for part in np.array_split(np.argsort(values, kind="stable"), 5)])


def lopsided(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Predictions, and what is true: errors grow with the prediction, and reach further up than down."""
    rng = np.random.default_rng(seed)
    predicted = rng.normal(size=n_rows)
    errors = rng.exponential(size=n_rows) - np.log(2)  # of median zero
    return predicted, predicted + (0.2 + np.logaddexp(0, 2 * predicted)) * errors


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_intervals_hold_in_every_fifth_of_predictions(level: float) -> None:
    fresh, truth = lopsided(20_000, 99)
    overall, within, sides = [], [], []
    for seed in range(10):
        predicted, known = lopsided(1500, seed)
        order = np.argsort(predicted)
        lower, upper = HeldOutRows(predicted[order], known[order], np.ones(1500)).intervals(fresh, level)
        holds = (lower <= truth) & (truth <= upper)
        overall.append(holds.mean())
        within.append(fifths(fresh, holds))
        sides.append([np.mean(truth < lower), np.mean(truth > upper)])
    assert np.mean(overall) == pytest.approx(level, abs=0.01)
    np.testing.assert_allclose(np.mean(within, axis=0), level, atol=0.04)
    np.testing.assert_allclose(np.mean(sides, axis=0), (1 - level) / 2, atol=0.02)
    errors = np.sort(np.abs(known - predicted))
    one_width = np.abs(truth - fresh) <= conformal_quantile(errors, np.ones(1500), level)
    assert np.ptp(fifths(fresh, one_width)) > 3 * np.ptp(np.mean(within, axis=0))


@pytest.mark.parametrize("n_rows", [2, 12, 60, 300])
def test_intervals_of_few_rows_hold_on_average(n_rows: int) -> None:
    rng, level = np.random.default_rng(0), 0.6
    shares = []
    for _ in range(400):
        predicted = np.sort(rng.normal(size=n_rows))
        rows = HeldOutRows(predicted, predicted + rng.standard_t(4, size=n_rows), np.ones(n_rows))
        fresh = rng.normal(size=100)
        lower, upper = rows.intervals(fresh, level)
        assert (lower <= fresh).all() and (fresh <= upper).all()
        shares.append(np.mean(np.abs(fresh + rng.standard_t(4, size=100) - (lower + upper) / 2) <= (upper - lower) / 2))
    if n_rows > 2:
        assert level - 0.02 < np.mean(shares) < level + 0.1
    else:  # a new row may be further off than both
        assert np.isinf(upper).all() or np.mean(shares) > level


def test_intervals_end_where_a_scale_does() -> None:
    rng = np.random.default_rng(0)
    predicted = np.sort(rng.uniform(1, 5.5, size=600))
    stars = np.clip(np.round(predicted + rng.normal(size=600)), 1, 5)
    lower, upper = HeldOutRows(predicted, stars, np.ones(600)).intervals(predicted, 0.9)
    assert lower.min() == 1 and upper.max() == 5
    assert np.mean((lower <= stars) & (stars <= upper)) >= 0.9
    rows = HeldOutRows(predicted, predicted + rng.normal(size=600), np.ones(600))
    assert rows.ends_of_scale() == (-np.inf, np.inf) and rows.intervals(predicted, 0.9)[1].max() > 6.5


def test_ends_are_those_of_training_rows_where_held_out_rows_lack_them() -> None:
    stars = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], 20)
    outputs = NumberOutputs.standard(stars[:, None])
    assert outputs.ends is not None and outputs.ends.tolist() == [[1.0], [5.0]]
    scores = np.linspace(-4, 4, 60)[:, None]
    held_out = np.round(np.clip(outputs.predict(scores), 2, 4))  # nobody gave 1 or 5
    known = outputs.calibrated(scores, outputs.encoded(Targets(held_out, np.ones(60))))
    lower, upper = known.intervals(scores, 0.8)
    predicted = known.predict(scores)
    assert predicted.min() == 1 and predicted.max() == 5
    assert (lower <= predicted).all() and (predicted <= upper).all()
    assert lower.min() >= 1 and upper.max() == 5
    # other rows, which training goes on with, may bring other levels; unknown ones bring none
    more = known.with_more(Targets(np.array([[6.0], [np.nan]]), np.ones(2)))
    assert more.ends is not None and more.ends.tolist() == [[1.0], [6.0]]
    both = NumberOutputs.standard(np.column_stack([stars, np.arange(100.0)]))
    assert both.ends is not None and both.ends.tolist() == [[1.0, -np.inf], [5.0, np.inf]]
    again = NumberOutputs.restored(both.constants(), 2)
    np.testing.assert_array_equal(again.predict(scores * [5, 5]), both.predict(scores * [5, 5]))
    older = {name: value for name, value in both.constants().items() if name not in ("lowest", "highest")}
    assert NumberOutputs.restored(older, 2).ends is None
    with pytest.raises(ValueError, match="ends of a scale"):
        NumberOutputs.restored(both.constants() | {"lowest": np.array([9.0, 9.0])}, 2)


def test_rows_of_outputs_are_kept_apart_and_sorted() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 2))
    values[::3, 0] = np.nan
    outputs = NumberOutputs(np.array([1.0, 2.0]), np.array([2.0, 10.0]))
    scores, weight = rng.normal(size=(50, 2)), rng.integers(0, 3, size=50).astype(float)
    factors = outputs.calibrate(scores, Targets(values, weight))
    assert outputs.accepts(factors) and not outputs.accepts(factors[:-1]) and not outputs.accepts(-factors)
    assert not outputs.accepts(factors[..., :1]) and not outputs.accepts(factors[:, ::-1])
    lower, upper = outputs.with_factors(factors).intervals(scores, 0.8)
    for output in range(2):
        known = np.flatnonzero(~np.isnan(values[:, output]) & (weight > 0))
        known = known[np.argsort(scores[known, output])]
        rows = HeldOutRows(scores[known, output], values[known, output], weight[known])
        ends = np.array(rows.intervals(scores[:, output], 0.8)) * outputs.scale[output] + outputs.location[output]
        np.testing.assert_allclose(np.array([lower, upper])[:, :, output], ends)


def test_errors_that_older_files_keep_make_intervals_of_one_width() -> None:
    """0.2.0 kept absolute errors and weights of each output, in one row of numbers."""
    rng = np.random.default_rng(0)
    errors, weight = np.sort(rng.exponential(size=(50, 2)), axis=0), rng.integers(0, 3, size=(50, 2)).astype(float)
    outputs = NumberOutputs(np.array([1.0, 2.0]), np.array([2.0, 10.0]))
    factors = np.stack([errors, weight]).ravel()
    assert outputs.accepts(factors) and not outputs.accepts(factors[:-1]) and not outputs.accepts(-factors)
    scores = rng.normal(size=(7, 2))
    lower, upper = outputs.with_factors(factors).intervals(scores, 0.8)
    np.testing.assert_allclose((lower + upper) / 2, outputs.predict(scores))
    for output in range(2):
        known = np.repeat(np.arange(50), weight[:, output].astype(int))
        once = weight[:, output] > 0
        total = weight[once, output].sum() + weight[once, output].mean()  # a row of weight 2 counts as two
        width = outputs.scale[output] * errors[known, output][int(np.ceil(0.8 * total)) - 1]
        np.testing.assert_allclose((upper - lower)[:, output], 2 * width)


# ---- the estimator ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("n_rows", "head"),
    [(200, EpsilonInsensitive(C=1.0)), (500, EpsilonInsensitive(C=1.0)), (200, LabelView())],
    ids=str,
)
def test_intervals_hold_for_new_rows(n_rows: int, head: Any) -> None:
    covered: dict[float, list[float]] = {0.5: [], 0.8: [], 0.9: []}
    for seed in range(20):
        # many rows are held out, as the coverage of few varies much, and most is noise, as models of more rows are
        # better than those that are tried on held-out ones
        model = regressor(head=head, random_state=seed, validation_fraction=0.4).fit(*numbers(n_rows, seed, noise=3.0))
        fresh, truth = numbers(2000, 100 + seed, noise=3.0)
        for level, shares in covered.items():
            prediction, lower, upper = model.predict(fresh, interval=level)
            assert (lower <= prediction).all() and (prediction <= upper).all()
            shares.append(float(np.mean((lower <= truth) & (truth <= upper))))
    np.testing.assert_array_equal(prediction, model.predict(fresh))
    for level, shares in covered.items():
        assert np.mean(shares) == pytest.approx(level, abs=0.02), shares


def test_predicted_stars_are_on_the_scale(tmp_path: Path) -> None:
    X, y = numbers(300, 0)
    stars = np.clip(np.round((y - 50) / 10 + 4), 1, 5)
    model = regressor().fit(X, stars)
    fresh = 3 * numbers(300, 1)[0]  # further out than any row of training
    predicted, lower, upper = model.predict(fresh, interval=0.9)
    assert predicted.min() == 1 and predicted.max() == 5
    np.testing.assert_array_equal(predicted, model.predict(fresh))
    assert (lower <= predicted).all() and (predicted <= upper).all()
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(fresh), predicted)
    # an explanation still adds up, and says where it stops
    beyond = int(np.argmax(model._scores(fresh)[:, 0]))
    why = model.explain(fresh[beyond : beyond + 1])[0]
    assert why.scores[0] > 5 and why.stops_at() == 5 and "the scale ends at 5, which is predicted" in repr(why)
    inside = int(np.argmin(np.abs(predicted - 3)))
    assert model.explain(fresh[inside : inside + 1])[0].stops_at() is None
    # numbers that are no scale go as far as they did
    free = regressor().fit(X, y)
    assert free.predict(fresh).max() > y.max() and free.explain(fresh[:1])[0].stops_at() is None


def test_a_squared_error_is_never_larger_on_a_scale() -> None:
    X, y = numbers(400, 0)
    stars = np.clip(np.round((y - 50) / 10 + 4), 1, 5)
    model = regressor().fit(X[:300], stars[:300])
    outputs = model._head.outputs_
    assert isinstance(outputs, NumberOutputs)
    free = (model._scores(X[300:]) * outputs.scale + outputs.location)[:, 0]
    assert free.max() > 5
    assert (np.abs(model.predict(X[300:]) - stars[300:]) <= np.abs(free - stars[300:])).all()


def test_intervals_of_several_outputs_survive_a_file(tmp_path: Path) -> None:
    X, y = numbers(120, 0)
    both = np.column_stack([y, X[:, 2] / 100])
    both[::5, 1] = np.nan
    model = regressor().fit(X, both)
    found = model.predict(X, interval=0.8)
    assert found.lower.shape == found.upper.shape == (120, 2)
    widths = (found.upper - found.lower)[0]
    assert widths[0] > 100 * widths[1]
    model.save(tmp_path / "model")
    for part, again in zip(found, load(tmp_path / "model").predict(X, interval=0.8), strict=True):
        np.testing.assert_array_equal(part, again)


def test_intervals_that_nothing_tells_are_refused() -> None:
    X, y = numbers(60, 0)
    sentence = "Intervals need the errors of held-out rows; no rows were held out when the model was last trained"
    for model in (
        regressor(validation_fraction=0).fit(X, y),
        regressor().partial_fit(X, y),
        regressor().fit(X, y).partial_fit(X, y),
        regressor().fit(X[:9], y[:9]),
        regressor(warm_start=True).fit(X, y).fit(X, y),
    ):
        with pytest.raises(ValueError, match=sentence):
            model.predict(X, interval=0.9)
        assert model.predict(X).shape == (60,)
    model = regressor().fit(X, y)
    with pytest.raises(
        ValueError, match=r"needs an interval that held-out rows can tell; got 0.99, .* too few of them"
    ):
        model.predict(X, interval=0.99)
    for wrong in (0, 1, 1.5, -0.1, np.nan):
        with pytest.raises(ValueError, match="predict needs a number interval"):
            model.predict(X, interval=wrong)
    with pytest.raises(TypeError, match="predict needs a number interval"):
        model.predict(X, interval=True)
    stars = regressor(head=Ordinal(C=1.0)).fit(X, np.digitize(y, [40, 60]))
    with pytest.raises(ValueError, match=r"how far it is off; got Ordinal; fit with EpsilonInsensitive\(\)"):
        stars.predict(X, interval=0.9)


# ---- coefficients ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("solver", ["joint", "alternate"])
def test_coefficients_are_in_units_of_y(solver: Any) -> None:
    head = EpsilonInsensitive(C=1.0, ridge=0.02, solver=solver)
    X, y = numbers(120, 0)
    for target in (y, np.column_stack([y, 1000 * X[:, 2]])):
        model = regressor(head=head, validation_fraction=0, hidden="bernoulli").fit(X, target)
        rest = model.predict(X).reshape(120, -1) - model.transform(X) @ model.coef_.T
        assert model.coef_.shape == (rest.shape[1], 4)
        np.testing.assert_allclose(rest, np.broadcast_to(rest.mean(axis=0), rest.shape), rtol=1e-4, atol=1e-3)
    larger = regressor(head=head, validation_fraction=0, hidden="bernoulli").fit(X, 7 * y)
    one = regressor(head=head, validation_fraction=0, hidden="bernoulli").fit(X, y)
    np.testing.assert_allclose(larger.coef_, 7 * one.coef_, rtol=1e-3, atol=1e-3)


# ---- weights of rows -------------------------------------------------------------------------------------------------
def test_a_row_of_weight_two_is_two_rows_in_the_loss() -> None:
    rng = np.random.default_rng(0)
    values, hidden = rng.normal(size=(30, 1)), rng.random((30, 3))
    weight = rng.integers(0, 3, size=30)
    rows = np.repeat(np.arange(30), weight)
    head = EpsilonInsensitive(C=1.0, ridge=0.02).bind(labelled("number", values))
    targets = head.targets(labelled("number", values))
    # the loss is a mean over rows, those of weight 0 too
    absent = np.flatnonzero(weight == 0)
    double = np.concatenate([rows, absent])
    once, _ = head.solve(hidden, Targets(targets.values, weight * 30 / len(double)), tolerance=1e-8)
    counts = np.concatenate([np.ones(len(rows)), np.zeros(len(absent))])
    twice, _ = head.solve(hidden[double], Targets(targets.values[double], counts), tolerance=1e-8)
    for name, value in once.items():
        np.testing.assert_allclose(value, twice[name], atol=1e-3)
    losses = head.loss(hidden @ once["head.weights"] + once["head.bias"], targets.values)[0]
    assert losses @ weight == pytest.approx(losses[rows].sum())


def test_weights_count_wherever_rows_do() -> None:
    X, y = numbers(120, 0)
    weight = np.where(np.arange(120) % 3 == 0, 0.0, 1.0)
    absent = np.where(weight > 0, y, np.nan)
    first, second = regressor().fit(X, y, sample_weight=weight), regressor().fit(X, absent)
    for one, other in zip(first.predict(X, interval=0.8), second.predict(X, interval=0.8), strict=True):
        np.testing.assert_array_equal(one, other)  # a row of weight 0 has no target
    weight = np.random.default_rng(1).uniform(0.5, 2, size=120)
    assert first.score(X, y, sample_weight=weight) == pytest.approx(r2_score(y, first.predict(X), sample_weight=weight))
    # errors of rows that weigh more make the intervals
    loud = np.where(np.arange(120) % 2 == 0, y, y + 200 * np.random.default_rng(2).normal(size=120))
    model = [regressor().fit(X, loud, sample_weight=np.where(np.arange(120) % 2 == even, 5.0, 0.2)) for even in (0, 1)]
    widths = [np.ptp(m.predict(X[:1], interval=0.8)[1:]) for m in model]
    assert 2 * widths[0] < widths[1]
    assert model[0].fitted_.validation["error"] != model[1].fitted_.validation["error"]
