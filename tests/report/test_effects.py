"""Effects of covariates, topics over time: coverage of planted effects, uniform p-values, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest, norm, t

from harmonium import HarmoniumClassifier, Stochastic, TopicModel
from harmonium.hidden import BernoulliUnits, GaussianUnits
from harmonium.inspection import TopicEdits, edit_topics
from harmonium.queries.topics.effects import regress
from harmonium.report import covariate_table, effect_table, prevalence_table, quality_table, trend_table

N_ITEMS, RATE = 300, 0.3


def binary(effect: float, n_words: int, seed: int) -> tuple[BernoulliUnits, np.ndarray, np.ndarray]:
    """Return topics that a covariate has an effect on, by what words of a known model tell of them."""
    rng = np.random.default_rng(seed)
    covariate = rng.permutation(np.arange(N_ITEMS) % 2)
    has = rng.random((N_ITEMS, 8)) < (RATE + effect * (covariate - 0.5))[:, None]
    present = rng.random((N_ITEMS, 8, n_words)) < np.where(has, 0.5, 0.2)[:, :, None]
    evidence = np.where(present, np.log(0.5 / 0.2), np.log(0.5 / 0.8)).sum(axis=2)
    return BernoulliUnits().bind(8), evidence + np.log(RATE / (1 - RATE)), covariate


def real(effect: float, variance: int, seed: int) -> tuple[GaussianUnits, np.ndarray, np.ndarray]:
    """Return real units whose mean a covariate moves: their variance is one more than that of the expectations."""
    rng = np.random.default_rng(seed)
    covariate = rng.permutation(np.arange(N_ITEMS) % 2)
    noise = (1 + variance) / variance
    hidden = np.sqrt(1 + variance - effect**2 / 4) * rng.normal(size=(N_ITEMS, 8)) + effect * (covariate - 0.5)[:, None]
    return GaussianUnits().bind(8), (hidden + np.sqrt(noise) * rng.normal(size=hidden.shape)) / noise, covariate


def estimates(make, effect: float, evidence: int, n_sets: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return effects, standard errors and plain regressions of the means, over sets of items."""
    found: tuple[list, list, list] = ([], [], [])
    for seed in range(n_sets):
        layer, natural, covariate = make(effect, evidence, seed)
        design = np.column_stack([np.ones(N_ITEMS), covariate])
        fit = regress(layer, natural, design)
        plain = np.linalg.lstsq(design, layer.mean(natural), rcond=None)[0][1]
        for values, one in zip(found, (fit.coefficients[1], fit.deviations[1], plain), strict=True):
            values.append(one)
    return tuple(np.concatenate(values) for values in found)


@pytest.mark.parametrize(
    ("make", "effect", "evidence"), [(binary, 0.2, 4), (binary, 0.2, 12), (real, 0.6, 1), (real, 0.6, 4)]
)
def test_intervals_hold_planted_effects_which_plain_regressions_miss(make, effect: float, evidence: int) -> None:
    found, deviation, plain = estimates(make, effect, evidence, 40)
    inside = np.abs(found - effect) <= t.ppf(0.975, N_ITEMS - 2) * deviation
    assert 0.92 <= inside.mean() <= 0.98
    assert abs(found.mean() - effect) < 4 * found.std() / np.sqrt(len(found))
    assert plain.mean() < 0.85 * effect
    assert deviation.mean() == pytest.approx(found.std(), rel=0.15)


@pytest.mark.parametrize(("make", "evidence"), [(binary, 4), (binary, 12), (real, 4)])
def test_without_an_effect_p_values_are_uniform(make, evidence: int) -> None:
    found, deviation, _ = estimates(make, 0.0, evidence, 40)
    assert kstest(2 * norm.sf(np.abs(found / deviation)), "uniform").pvalue > 0.01


def test_certain_topics_have_the_regression_of_their_values() -> None:
    rng = np.random.default_rng(0)
    design = np.column_stack([np.ones(60), rng.normal(size=60), np.arange(60) % 2])
    has = rng.random((60, 3)) < 0.5
    fit = regress(BernoulliUnits().bind(3), np.where(has, 40.0, -40.0), design)
    expected = np.linalg.lstsq(design, has.astype(float), rcond=None)[0]
    np.testing.assert_allclose(fit.coefficients, expected, atol=1e-6)


def reviews(n_items: int = 240) -> tuple[TopicModel, pd.DataFrame, np.ndarray]:
    """A model of two topics, of which the first comes up with time and is French."""
    rng = np.random.default_rng(0)
    date = pd.date_range("2020-01-01", periods=n_items, freq="5D")
    kind = (rng.random(n_items) < np.linspace(0.1, 0.9, n_items)).astype(int)
    words = (rng.random((n_items, 12)) < np.where(np.arange(12) % 2 == kind[:, None], 0.7, 0.05)).astype(float)
    known = pd.DataFrame(
        {"date": date, "country": np.where(kind == 1, "France", "Spain"), "noise": rng.normal(size=n_items)}
    )
    return TopicModel(2, random_state=0).fit(words), known, words


@pytest.fixture(scope="module")
def fitted() -> tuple[TopicModel, pd.DataFrame, np.ndarray]:
    return reviews()


def test_effects_prevalences_and_trends_of_topics(fitted: tuple) -> None:
    model, known, words = fitted
    french = int(np.argmax(model.transform(words[(known["country"] == "France").to_numpy()]).mean(axis=0)))
    effects = effect_table(model, words, known[["country", "noise"]]).set_index(["covariate", "topic"])
    assert effects.loc[("country", french), "level"] == "Spain"
    assert effects.loc[("country", french), "high"] < -0.8 and effects.loc["noise", "p"].min() > 0.01
    prevalence = prevalence_table(model, words, known["date"], "Y").query("topic == @french")
    assert prevalence["group"].tolist() == ["2020", "2021", "2022", "2023"]
    assert prevalence["prevalence"].is_monotonic_increasing and prevalence["n"].sum() == len(words)
    assert (prevalence["low"] >= 0).all() and (prevalence["high"] <= 1).all()
    assert trend_table(model, words, known["date"]).loc[french, "trend"] == "emerging"
    shuffled = np.random.default_rng(1).permutation(known["date"])
    assert (trend_table(model, words, shuffled)["trend"] == "").all()


def test_groups_of_labels_and_of_unknown_classes(fitted: tuple) -> None:
    model, known, words = fitted
    country = known["country"].where(np.arange(len(known)) % 3 > 0, None)
    table = prevalence_table(model, words, country)
    assert table["group"].unique().tolist() == ["France", "Spain"] and table["n"].sum() == 2 * country.notna().sum()


def test_models_that_were_told_a_target_are_refused_on_their_own_rows(fitted: tuple) -> None:
    _, known, words = fitted
    told = HarmoniumClassifier(2, driver=Stochastic(max_iter=2), random_state=0).fit(words, known["country"])
    for table in (covariate_table, effect_table):
        with pytest.raises(ValueError, match="held_out=True"):
            table(told, words, known[["country"]])
        assert len(table(told, words, known[["country"]], held_out=True)) == told.n_topics_


def test_covariates_among_the_inputs_are_refused_or_left_out() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(size=80), "size": rng.normal(size=80), "kind": list("ab") * 40})
    model = TopicModel(2, driver=Stochastic(max_iter=2), random_state=0).fit(frame)
    with pytest.raises(ValueError, match="inferred without a covariate"):
        effect_table(model, frame, frame[["age"]])
    by_name = effect_table(model, frame, "age")
    pd.testing.assert_frame_equal(by_name, effect_table(model, frame.drop(columns="age"), frame[["age"]]))


def test_questions_that_have_no_answer_are_refused(fitted: tuple) -> None:
    model, known, words = fitted
    for wrong, message in (
        (lambda: effect_table(model, words, {"one": np.ones(len(words))}), "must vary"),
        (lambda: effect_table(model, words, {"age": [1, 2]}), "each of the 240 rows"),
        (lambda: effect_table(model, words, known[["noise"]], level=1.5), "between 0 and 1"),
        (lambda: trend_table(model, words, known["country"]), "dates or numbers"),
        (lambda: prevalence_table(model, words, known["country"], "Y"), "no dates"),
        (lambda: prevalence_table(model, words, known["date"], "H"), "freq must be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()
    with pytest.raises(TypeError, match="columns of a data frame"):
        effect_table(model, words, "age")


@pytest.mark.parametrize("make", [binary, real])
def test_sums_of_shares_of_units_have_the_effects_of_their_units(make) -> None:
    layer, natural, covariate = make(0.2, 4, 0)
    design = np.column_stack([np.ones(N_ITEMS), covariate])
    whole, share = regress(layer, natural, design), np.random.default_rng(0).random(N_ITEMS)
    found = regress(layer, natural, design, [[(0, 1.0)], [(0, share), (0, 1 - share)], [(0, share)], [(0, 1 - share)]])
    np.testing.assert_allclose(found.coefficients[:, :2], whole.coefficients[:, [0, 0]], rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(found.deviations[:, :2], whole.deviations[:, [0, 0]], rtol=1e-3)
    np.testing.assert_allclose(found.coefficients[:, 2:].sum(axis=1), found.coefficients[:, 0], rtol=1e-9)


def test_intervals_of_merged_and_split_units_hold_planted_effects() -> None:
    found, deviation, rng = [], [], np.random.default_rng(0)
    for seed in range(160):
        layer, natural, covariate = binary(0.2, 4, seed)
        parts = [[(0, 1.0), (1, 1.0)], [(2, rng.integers(2, size=N_ITEMS).astype(float))]]
        one = regress(layer, natural, np.column_stack([np.ones(N_ITEMS), covariate]), parts)
        found.append(one.coefficients[1])
        deviation.append(one.deviations[1])
    for mean, spread, said, effect in zip(
        np.mean(found, axis=0), np.std(found, axis=0), np.mean(deviation, axis=0), (0.4, 0.1), strict=True
    ):
        assert abs(mean - effect) < 4 * spread / np.sqrt(len(found))
        assert said == pytest.approx(spread, rel=0.2)


def test_tables_have_topics_as_they_were_edited() -> None:
    rng = np.random.default_rng(0)
    words = np.kron(np.eye(3), np.ones((30, 4))) + (rng.random((90, 12)) < 0.1)
    model, group = TopicModel(3, random_state=0).fit(words), np.arange(90) % 2
    edited = edit_topics(model, TopicEdits().merge(0, 2).rename(0, "both"))
    before, after = (prevalence_table(one, words, group).set_index(["topic", "group"]) for one in (model, edited))
    prevalence = before["prevalence"]
    np.testing.assert_allclose(after.loc["both", "prevalence"], prevalence.loc[0] + prevalence.loc[2], rtol=1e-3)
    assert after.loc["both", "high"].max() > 1
    trends = trend_table(edited, words, np.arange(90))
    assert trends.loc["both", "label"] == "both" and set(trends.index) == {"both", 1}
    assert set(effect_table(edited, words, {"group": group})["topic"]) == {"both", 1}
    assert quality_table(edited, words, n_features=3, n_resamples=1)["stability"].between(0, 1).all()


def test_dates_of_python_are_dates(fitted: tuple[TopicModel, pd.DataFrame, np.ndarray]) -> None:
    model, known, words = fitted
    dates = [date.date() for date in known["date"]]
    assert trend_table(model, words, dates).equals(trend_table(model, words, known["date"]))
    assert prevalence_table(model, words, dates).equals(prevalence_table(model, words, known["date"]))
    columns = {"date": dates, "noise": known["noise"]}
    assert effect_table(model, words, columns).equals(effect_table(model, words, known[["date", "noise"]]))


def test_few_items_that_tell_little_have_valid_tests_or_none() -> None:
    rejected = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        natural = 1.2 * rng.normal(size=(30, 4))
        design = np.column_stack([np.ones(30), rng.normal(size=30)])
        fit = regress(BernoulliUnits().bind(4), natural, design)
        ratio = np.abs(fit.coefficients[1] / fit.deviations[1])
        rejected.append((2 * t.sf(ratio, fit.freedom))[~np.isnan(ratio)] < 0.05)
    assert np.concatenate(rejected).mean() < 0.1
