"""Reports for those who look for factors: covariates, coverage, scatter plots, and results in AnnData and MuData."""

from __future__ import annotations

import anndata
import mudata
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.stats import f_oneway, kruskal, pearsonr

from harmonium import Gaussian, Harmonium
from harmonium.report import (
    CoverageDisplay,
    FactorsDisplay,
    annotate,
    covariate_table,
    coverage_table,
    explained_table,
)
from harmonium.training import Spectral

N_ROWS = 80


def patients() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Two views with a common and an own factor, the second of them unknown of every fourth patient."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(N_ROWS, 2))
    rna = factors @ rng.normal(size=(2, 12)) + 0.5 * rng.normal(size=(N_ROWS, 12))
    drugs = factors[:, :1] @ rng.normal(size=(1, 6)) + 0.5 * rng.normal(size=(N_ROWS, 6))
    drugs[::4] = np.nan
    return {"rna": rna, "drugs": drugs}, factors


@pytest.fixture(scope="module")
def fitted() -> tuple[Harmonium, dict[str, np.ndarray], np.ndarray]:
    views, factors = patients()
    model = Harmonium(2, hidden="factor", driver=Spectral(selects=False), random_state=0).fit(views)
    return model, views, factors


# ---- covariates ------------------------------------------------------------------------------------------------------
def test_measures_and_tests_are_those_of_scipy(fitted: tuple) -> None:
    model, views, factors = fitted
    age = factors[:, 0] + np.random.default_rng(1).normal(size=N_ROWS)
    age[:7] = np.nan
    group = np.array(["a", "b", "c", None], dtype=object)[np.arange(N_ROWS) % 4]
    table = covariate_table(model, views, pd.DataFrame({"age": age, "group": group}))
    assert len(table) == 4 and table["q"].is_monotonic_increasing
    latent = model.transform(views).astype(float)
    for row in table.itertuples():
        values = latent[:, row.topic]
        if row.covariate == "age":
            oracle = pearsonr(values[7:], age[7:])
            assert (row.measure, row.n) == ("correlation", N_ROWS - 7)
            assert row.value == pytest.approx(oracle.statistic) and row.p == pytest.approx(oracle.pvalue)
        else:
            groups = [values[group == name] for name in "abc"]
            ratio = f_oneway(*groups).statistic * (3 - 1) / (60 - 3)  # F in terms of sums of squares
            assert (row.measure, row.n) == ("eta squared", 60)
            assert row.value == pytest.approx(ratio / (1 + ratio)) and row.p == pytest.approx(kruskal(*groups).pvalue)


def test_many_tests_are_corrected_as_benjamini_and_hochberg_do(fitted: tuple) -> None:
    model, views, _ = fitted
    rng = np.random.default_rng(0)
    table = covariate_table(model, views, {f"noise {number}": rng.normal(size=N_ROWS) for number in range(10)})
    ordered = table.sort_values("p", ignore_index=True)
    # q of the k-th smallest of m: the smallest of p m / k over it and all larger ones
    by_hand = np.minimum.accumulate((ordered["p"] * 20 / np.arange(1, 21))[::-1])[::-1]
    np.testing.assert_allclose(ordered["q"], np.minimum(by_hand, 1))
    assert (table["q"] > 0.05).all()


def test_what_does_not_vary_has_no_measure(fitted: tuple) -> None:
    model, views, factors = fitted
    table = covariate_table(model, views, {"one": np.ones(N_ROWS), "same": ["x"] * N_ROWS, "yes": factors[:, 0] > 0})
    assert table.set_index("covariate").loc[["one", "same"], ["value", "p", "q"]].isna().all(axis=None)
    assert table["covariate"][0] == "yes" and table["measure"][0] == "eta squared"


def test_covariates_go_by_the_names_of_the_items(fitted: tuple) -> None:
    model, views, factors = fitted
    names = [f"patient {number}" for number in range(N_ROWS)]
    frames = {name: pd.DataFrame(view, index=names) for name, view in views.items()}
    known = pd.DataFrame({"first": factors[:, 0]}, index=names)
    expected = covariate_table(model, views, {"first": factors[:, 0]})
    shuffled = known.sample(frac=1.0, random_state=0)
    named = Harmonium(2, hidden="factor", driver=Spectral(selects=False), random_state=0).fit(frames)
    pd.testing.assert_frame_equal(covariate_table(named, frames, shuffled), expected)


def test_covariates_that_do_not_fit_are_refused(fitted: tuple) -> None:
    model, views, _ = fitted
    with pytest.raises(ValueError, match="each of the 80 rows of X; got shape"):
        covariate_table(model, views, {"age": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"got shape \(3, 1\)"):
        covariate_table(model, views, pd.DataFrame({"age": [1, 2, 3]}))
    with pytest.raises(TypeError, match="data frame or a dict of columns; got list"):
        covariate_table(model, views, [1.0] * N_ROWS)
    with pytest.raises(ValueError, match="'age' has infinite values"):
        covariate_table(model, views, {"age": [np.inf] * N_ROWS})


def test_lists_may_lack_values(fitted: tuple) -> None:
    model, views, _ = fitted
    known = {"group": ["a", "b", None, float("nan")] * (N_ROWS // 4), "age": [1.0, None, 3.5, 2.0] * (N_ROWS // 4)}
    table = covariate_table(model, views, known).set_index("covariate")
    assert set(table.loc["group", "n"]) == {N_ROWS // 2}
    assert set(table.loc["age", "n"]) == {N_ROWS * 3 // 4}


# ---- explained -------------------------------------------------------------------------------------------------------
def test_shares_of_factors_are_shares_of_variance(fitted: tuple) -> None:
    """R² of each view from one factor alone and from all, by hand, over what is observed."""
    model, views, _ = fitted
    table = explained_table(model, views)
    latent = model.transform(views).astype(float)
    for name, view in views.items():
        scaled = (view - np.nanmean(view, axis=0)) / np.nanstd(view, axis=0)
        weights = model.fitted_.parameters[f"{name}.weights"].astype(float)
        bias = model.fitted_.parameters[f"{name}.bias"].astype(float) + weights @ latent.mean(axis=0)
        for topic, chosen in ((0, [0]), (1, [1]), ("all", [0, 1])):
            rest = scaled - bias - (latent - latent.mean(axis=0))[:, chosen] @ weights[:, chosen].T
            share = 1 - np.nansum(rest**2) / np.nansum((scaled - bias) ** 2)
            assert table.loc[name, topic] == pytest.approx(share, abs=1e-4)
    assert table.loc["drugs"].drop("all").max() > 0.5


# ---- coverage --------------------------------------------------------------------------------------------------------
def test_coverage_counts_items_by_the_views_that_they_have(fitted: tuple) -> None:
    model, views, _ = fitted
    table = coverage_table(model, views)
    assert table.to_numpy().tolist() == [[True, True, 60], [True, False, 20]]
    assert coverage_table(model, {"rna": views["rna"]}).to_numpy().tolist() == [[True, N_ROWS]]
    display = CoverageDisplay.from_estimator(model, views, ax=Figure().subplots())
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["rna (80)", "drugs (60)"]
    assert display.ax_.get_xlim() == (0, N_ROWS)


# ---- scatter ---------------------------------------------------------------------------------------------------------
def test_two_factors_are_drawn_against_each_other(fitted: tuple) -> None:
    model, views, factors = fitted
    display = FactorsDisplay.from_estimator(model, views, factors[:, 0], factors=(1, 0), ax=Figure().subplots())
    np.testing.assert_array_equal(display.map[["x", "y"]], model.transform(views)[:, [1, 0]])
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("factor 1", "factor 0")
    classes = FactorsDisplay.from_estimator(model, views, ["a", "b"] * 40)
    assert {text.get_text() for text in classes.ax_.get_legend().get_texts()} == {"a", "b"}
    for wrong in ((0, 2), (0,), (-1, 0)):
        with pytest.raises(ValueError, match="two numbers from 0 to 1"):
            FactorsDisplay.from_estimator(model, views, factors=wrong)


# ---- AnnData and MuData ----------------------------------------------------------------------------------------------
def test_results_go_into_mudata() -> None:
    views, _ = patients()
    names = [f"patient {number}" for number in range(N_ROWS)]
    having = np.flatnonzero(~np.isnan(views["drugs"]).all(axis=1))
    drugs = anndata.AnnData(views["drugs"][having], obs=pd.DataFrame(index=[names[row] for row in having]))
    drugs.var_names = [f"drug {number}" for number in range(6)]
    rna = anndata.AnnData(views["rna"], obs=pd.DataFrame(index=names))
    rna.var_names = [f"gene {number}" for number in range(12)]
    data = mudata.MuData({"rna": rna, "drugs": drugs})
    model = Harmonium(2, hidden="factor", driver=Spectral(selects=False), random_state=0).fit(data)
    annotate(model, data)
    latent = pd.DataFrame(data.obsm["X_harmonium"], index=data.obs_names)
    plain = Harmonium(2, hidden="factor", driver=Spectral(selects=False), random_state=0).fit(views)
    np.testing.assert_allclose(latent.loc[names], plain.transform(views), atol=1e-4)
    for name, modality in data.mod.items():
        np.testing.assert_array_equal(modality.varm["harmonium"], model.topics(name, n=None, by="weight"))
    assert data.uns["harmonium"]["explained"].columns.tolist() == ["0", "1", "all"]


def test_results_go_into_anndata_and_to_its_file(tmp_path: object) -> None:
    views, _ = patients()
    data = anndata.AnnData(views["rna"], layers={"double": 2 * views["rna"]})
    model = Harmonium(2, hidden="factor", random_state=0, views=Gaussian()).fit(data)
    annotate(model, data, key="factors")
    data.write_h5ad(f"{tmp_path}/data.h5ad")
    again = anndata.read_h5ad(f"{tmp_path}/data.h5ad")
    np.testing.assert_array_equal(again.obsm["X_factors"], model.transform(data))
    np.testing.assert_array_equal(again.varm["factors"], model.topics(n=None, by="weight"))
    with pytest.raises(TypeError, match="annotate writes into AnnData or MuData; got dict"):
        annotate(model, views)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the 80 observations of the data; got 5 rows"):
        annotate(model, data, data[:5].copy())
