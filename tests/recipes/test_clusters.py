"""A space to cluster in: the scale of views, closed forms of it, distances, known clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler, normalize

from harmonium import ClusterSpace, Harmonium, Stochastic, TableViews, load
from harmonium.exceptions import InvalidViewError
from harmonium.families import Balanced, Family
from harmonium.hidden import FactorUnits
from harmonium.training import Spectral
from harmonium.views import Views

RNG = np.random.default_rng(0)
KIND = np.repeat(np.arange(4), 40)
# columns that differ in scale, and as many words as a view needs to be one of words
NUMBERS = (RNG.normal(size=(160, 6)) + 4 * np.eye(4, 6)[KIND]) * [1, 10, 0.1, 100, 1, 1] + 50
WORDS = RNG.poisson(np.where(KIND[:, None] == np.arange(60) % 4, 0.7, 0.1)).astype(np.float32)
WORDS[0] = 0  # a row without words


def bound(values: Any) -> tuple[Family, Any]:
    source = Views({"x": values}).source("x")
    family = Balanced().bind(source.summary())
    return family, source


def statistic(values: Any) -> np.ndarray:
    family, source = bound(values)
    found = source.batch(np.arange(len(source.rows)), family).statistic
    return found if isinstance(found, np.ndarray) else found.toarray()


def shrunk(table: np.ndarray, size: int, origin: np.ndarray) -> np.ndarray:
    """Expectations of probabilistic principal components, of what rows are beyond an origin, in rows of length 1."""
    centred = table - table.mean(axis=0)
    _, singular, axes = np.linalg.svd(centred, full_matrices=False)
    left = np.square(singular[size:]).sum() / (min(len(table) - 1, table.shape[1]) - size)
    return normalize(((table - origin) @ axes[:size].T) * (1 - left / np.square(singular[:size])))


# ---- the scale -------------------------------------------------------------------------------------------------------
def test_numbers_are_standardised() -> None:
    np.testing.assert_allclose(statistic(NUMBERS), StandardScaler().fit_transform(NUMBERS), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array, lambda words: (words > 0).astype(np.float32)])
def test_words_are_weighted_by_rarity_in_rows_of_one_length(make: Any) -> None:
    given = make(WORDS)
    theirs = TfidfTransformer(sublinear_tf=True).fit_transform(scipy.sparse.csr_matrix(given)).toarray()
    np.testing.assert_allclose(statistic(given), theirs * np.sqrt(60), rtol=1e-5, atol=1e-6)


def test_weights_of_words_are_brought_to_one_length_and_left_alone_otherwise() -> None:
    weights = WORDS * RNG.uniform(0.5, 1.5, size=60)
    expected = normalize(weights) * np.sqrt(60)
    np.testing.assert_allclose(statistic(weights), expected, rtol=1e-5)
    np.testing.assert_allclose(statistic(scipy.sparse.csr_array(weights)), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("values", "kind"),
    [(WORDS[:, :19], 0), (WORDS[:, :20], 2), (-WORDS, 0), (WORDS + 1, 0), (WORDS / 3, 1), (NUMBERS, 0)],
)
def test_what_a_view_holds_is_told_by_its_values(values: np.ndarray, kind: int) -> None:
    assert int(bound(values)[0].constants()["kind"]) == kind


def test_values_come_back_in_the_units_of_the_data() -> None:
    family, _ = bound(NUMBERS)
    np.testing.assert_allclose(family.codec.decode(family.codec.encode(NUMBERS)), NUMBERS, rtol=1e-10)
    family, _ = bound(WORDS)
    back = family.codec.decode(family.codec.encode(WORDS))[1:]
    logarithms = np.where(WORDS > 0, 1 + np.log(np.maximum(WORDS, 1)), 0)[1:]
    np.testing.assert_allclose(back / back.max(axis=1, keepdims=True), logarithms / logarithms.max(axis=1)[:, None])


# ---- closed forms ----------------------------------------------------------------------------------------------------
def joined(parts: list[np.ndarray], weights: tuple[float, ...] = (1.0, 1.0)) -> np.ndarray:
    """Views side by side, with a total variance of the fourth root of the dimensions that each varies in."""
    scaled = []
    for part, weight in zip(parts, weights, strict=True):
        variances = np.linalg.eigvalsh(np.cov(part.T))
        dimensions = variances.sum() ** 2 / np.square(variances).sum()
        scaled.append(part * weight * dimensions**0.125 / np.sqrt(part.var(axis=0).sum()))
    return np.concatenate(scaled, axis=1)


def cosines(rows: np.ndarray) -> np.ndarray:
    return rows @ rows.T


def test_one_view_of_numbers_gives_probabilistic_principal_components() -> None:
    found = ClusterSpace(3).fit_transform(NUMBERS).astype(np.float64)
    table = StandardScaler().fit_transform(NUMBERS)
    np.testing.assert_allclose(cosines(found), cosines(shrunk(table, 3, np.zeros(6))), atol=1e-4)
    # shrinkage apart these are the components of scikit-learn, in their order and on their scale
    components = PCA(3).fit(table)
    theirs = components.transform(table) * (1 - components.noise_variance_ / components.explained_variance_)
    np.testing.assert_allclose(np.abs(found), np.abs(normalize(theirs)), atol=2e-3)


def test_one_view_of_words_gives_latent_semantic_analysis() -> None:
    found = ClusterSpace(5).fit_transform(WORDS).astype(np.float64)
    table = TfidfTransformer(sublinear_tf=True).fit_transform(scipy.sparse.csr_matrix(WORDS)).toarray()
    np.testing.assert_allclose(cosines(found), cosines(shrunk(table, 5, np.zeros(60))), atol=1e-4)
    np.testing.assert_allclose(found[0], 0, atol=1e-12)  # there is nothing to go by in a row without words


def test_views_count_by_their_dimensions_whatever_their_width_and_kind() -> None:
    views = {"numbers": NUMBERS, "words": WORDS[:, :40]}
    found = ClusterSpace(4).fit_transform(views).astype(np.float64)
    numbers = StandardScaler().fit_transform(views["numbers"])
    words = TfidfTransformer(sublinear_tf=True).fit_transform(scipy.sparse.csr_matrix(views["words"])).toarray()
    table = joined([numbers, words])
    np.testing.assert_allclose(cosines(found), cosines(shrunk(table, 4, np.zeros(46))), atol=1e-4)


def test_weights_of_views_scale_their_part_of_the_table() -> None:
    views = {"a": NUMBERS[:, :4], "b": NUMBERS[:, 4:]}
    found = ClusterSpace(2, view_weights={"a": 1.0, "b": 2.0}).fit_transform(views).astype(np.float64)
    table = joined([StandardScaler().fit_transform(part) for part in views.values()], (1.0, 2.0))
    np.testing.assert_allclose(cosines(found), cosines(shrunk(table, 2, np.zeros(6))), atol=1e-4)


# ---- directions ------------------------------------------------------------------------------------------------------
def test_distances_are_those_between_expected_views() -> None:
    """Directions have the cosines of what is expected beyond an item without anything, in units of its spread."""
    views = {"numbers": NUMBERS[1:], "words": WORDS[1:]}
    model = Harmonium(4, views=Balanced(), hidden=FactorUnits("promax"), driver=Spectral(selects=False)).fit(views)
    parts = []
    for name, family in model.families_.items():
        expected = model.reconstruct(views)[name]
        without = model.inverse_transform(model.transform(views)[:1] * 0 + nothing(model))[name]
        # linear up to here, so that differences of data are differences of statistics
        deviation = family.distribution(model.fitted_.energy.extra(model.fitted_.parameters, name)).deviation
        stretch = np.exp(family.codec.log_volume) / deviation
        parts.append((expected - without) * stretch)
    expected = normalize(np.concatenate(parts, axis=1))
    model.output = "directions"
    found = model.transform(views)
    np.testing.assert_allclose(cosines(found), cosines(expected), atol=1e-4)
    np.testing.assert_allclose(np.square(found).sum(axis=1), 1, rtol=1e-5)


def nothing(model: Harmonium) -> np.ndarray:
    """Means of units for an item that is average in all numbers and has no words."""
    parameters = model.fitted_.parameters
    return parameters["hidden.bias"] @ parameters["hidden.covariance"]


def test_directions_do_not_depend_on_the_scale_of_units() -> None:
    views = {"numbers": NUMBERS, "words": WORDS}
    found = [
        Harmonium(
            4, views=Balanced(), hidden=FactorUnits(rotation), driver=Spectral(selects=False), output="directions"
        )
        .fit_transform(views)
        .astype(np.float64)
        for rotation in (None, "varimax", "promax")
    ]
    np.testing.assert_allclose(cosines(found[1]), cosines(found[0]), atol=1e-4)
    np.testing.assert_allclose(cosines(found[2]), cosines(found[0]), atol=1e-4)


@pytest.mark.parametrize("hidden", ["bernoulli", "gaussian", "binomial"])
def test_all_layers_have_directions(hidden: str) -> None:
    views = {"numbers": NUMBERS, "words": (WORDS > 0).astype(float)}
    model = Harmonium(4, hidden=hidden, driver=Stochastic(max_iter=3), output="directions", random_state=0)
    found = model.fit_transform(views)
    np.testing.assert_allclose(np.square(found).sum(axis=1), 1, rtol=1e-5)


def test_directions_cannot_be_turned_back() -> None:
    model = ClusterSpace(2).fit(NUMBERS)
    with pytest.raises(ValueError, match="output='directions' leaves that out; set output='mean'"):
        model.inverse_transform(model.transform(NUMBERS))


# ---- the recipe ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("views", [{"numbers": NUMBERS}, {"words": WORDS}, {"numbers": NUMBERS, "words": WORDS}])
def test_known_clusters_are_found(views: dict[str, np.ndarray]) -> None:
    space = ClusterSpace().fit_transform(views)
    found = KMeans(4, n_init=10, random_state=0).fit_predict(space)
    assert adjusted_rand_score(KIND, found) > 0.8


def test_there_are_as_many_dimensions_as_the_root_of_the_number_of_rows() -> None:
    assert ClusterSpace().fit(WORDS).n_components_ == 13  # the root of 160 is 12.6
    assert ClusterSpace(7).fit(WORDS).n_components_ == 7
    assert ClusterSpace().fit(NUMBERS).n_components_ == 6
    assert ClusterSpace(30, driver=Spectral(selects=False)).fit(WORDS).n_components_ == 30


def test_seeds_make_no_difference_and_new_rows_are_encoded_alike() -> None:
    views = {"numbers": NUMBERS, "words": WORDS}
    first, second = (ClusterSpace(random_state=seed).fit(views) for seed in (0, 1))
    np.testing.assert_allclose(first.transform(views), second.transform(views), atol=1e-5)
    some = {name: view[10:20] for name, view in views.items()}
    np.testing.assert_allclose(first.transform(some), first.transform(views)[10:20], atol=1e-6)


def test_items_that_lack_a_view_are_placed_by_the_others() -> None:
    numbers = NUMBERS.copy()
    numbers[::5] = np.nan
    views = {"numbers": numbers, "words": WORDS[:, :40]}
    space = ClusterSpace(4).fit_transform(views)
    found = KMeans(4, n_init=10, random_state=0).fit_predict(space)
    assert adjusted_rand_score(KIND, found) > 0.8


def test_a_saved_space_is_the_same(tmp_path) -> None:
    views = {"numbers": NUMBERS, "words": scipy.sparse.csr_array(WORDS)}
    model = ClusterSpace().fit(views)
    model.save(tmp_path / "space.safetensors")
    again = load(tmp_path / "space.safetensors")
    np.testing.assert_array_equal(again.transform(views), model.transform(views))


def test_codes_of_a_table_are_no_numbers() -> None:
    table = TableViews().fit_transform(pd.DataFrame({"size": NUMBERS[:, 0], "kind": np.array(list("abcd"))[KIND]}))
    with pytest.raises(InvalidViewError, match="View 'categories' holds codes that a table has made for Categorical"):
        ClusterSpace().fit(table)
    assert ClusterSpace().fit(table.without("categories")).n_components_ == 1


def test_constants_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="kind must be one number from 0 to 2"):
        Balanced().restore(1, {"location": np.zeros(1), "scale": np.ones(1), "kind": np.array(3)})
