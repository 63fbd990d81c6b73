"""What is accepted as X, and that every form of the same data gives the same model; missing rows, views and cells."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import anndata
import mudata
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from harmonium import Bernoulli, Categorical, Columns, Gaussian, Harmonium, Poisson, Stochastic, Views
from harmonium.families import Beta, Binomial, Family, NegativeBinomial, ReplicatedSoftmax
from harmonium.hidden import GaussianUnits
from harmonium.kernels.sparse.matrix import is_sparse, to_dense

N_ROWS = 60


def quick(**keywords: Any) -> Harmonium:
    defaults: dict[str, Any] = {"n_components": 3, "driver": Stochastic(max_iter=3, batch_size=20), "random_state": 0}
    return Harmonium(**{**defaults, **keywords})


def binary(seed: int = 0, n_columns: int = 12, density: float = 0.2) -> np.ndarray:
    return (np.random.default_rng(seed).random((N_ROWS, n_columns)) < density).astype(np.float64)


def real(seed: int = 1, n_columns: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(N_ROWS, n_columns))


def counts(seed: int = 2, n_columns: int = 8) -> np.ndarray:
    return np.random.default_rng(seed).poisson(0.5, size=(N_ROWS, n_columns)).astype(np.float64)


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    """Representation of the data in their plainest form: every other form must come to the same."""
    X = {"words": binary(), "colour": real()}
    return quick().fit(X).transform(X)


# ---- every form ------------------------------------------------------------------------------------------------------
WORD_NAMES = [f"w{i}" for i in range(12)]
COLOUR_NAMES = ["red", "green", "blue", "grey"]


def frame() -> pd.DataFrame:
    return pd.DataFrame(np.hstack([binary(), real()]), columns=WORD_NAMES + COLOUR_NAMES)


def as_mudata() -> mudata.MuData:
    names = [f"cell{i}" for i in range(N_ROWS)]
    modalities = {
        name: anndata.AnnData(X, obs=pd.DataFrame(index=names), var=pd.DataFrame(index=columns))
        for name, X, columns in (("words", binary(), WORD_NAMES), ("colour", real(), COLOUR_NAMES))
    }
    return mudata.MuData(modalities)


SEVERAL: dict[str, Callable[[], Any]] = {
    "views": lambda: Views({"words": binary(), "colour": real()}),
    "csr_matrix": lambda: {"words": scipy.sparse.csr_matrix(binary()), "colour": real()},
    "csr_array": lambda: {"words": scipy.sparse.csr_array(binary()), "colour": real()},
    "csc_matrix": lambda: {"words": scipy.sparse.csc_matrix(binary()), "colour": real()},
    "coo_array": lambda: {"words": scipy.sparse.coo_array(binary()), "colour": real()},
    "dok_array": lambda: {"words": scipy.sparse.dok_array(binary()), "colour": real()},
    "dense_enough": lambda: {"words": binary(), "colour": scipy.sparse.csr_array(real())},
    "pandas": lambda: {"words": frame()[WORD_NAMES], "colour": frame()[COLOUR_NAMES]},
    "polars": lambda: {"words": pl.DataFrame(binary(), schema=WORD_NAMES), "colour": pl.DataFrame(real())},
    "mixed": lambda: {"words": binary().astype(bool).tolist(), "colour": pd.DataFrame(real())},
    "pandas_sparse": lambda: {
        "words": pd.DataFrame.sparse.from_spmatrix(scipy.sparse.csr_array(binary()), columns=WORD_NAMES),
        "colour": real(),
    },
    "masked_array": lambda: {"words": np.ma.masked_array(binary(), mask=False), "colour": real()},
    "fortran": lambda: {"words": np.asfortranarray(binary()), "colour": np.asfortranarray(real())},
    "mudata": as_mudata,
}


@pytest.mark.parametrize("form", SEVERAL)
def test_forms_of_several_views_agree(form: str, expected: np.ndarray) -> None:
    X = SEVERAL[form]()
    model = quick().fit(X)
    assert {name: type(family) for name, family in model.families_.items()} == {"words": Bernoulli, "colour": Gaussian}
    # sparse words are sampled by another kernel, hence another model; the data must come to the same in either
    plain = {"words": binary(), "colour": real()}
    np.testing.assert_allclose(model.transform(X), model.transform(plain), atol=1e-5)
    if not isinstance(X, dict) or (not scipy.sparse.issparse(X["words"]) and form != "pandas_sparse"):
        np.testing.assert_allclose(model.transform(X), expected, atol=1e-5)


@pytest.mark.parametrize("container", [list, tuple])
def test_lists_name_views_by_number(container: type, expected: np.ndarray) -> None:
    X = container([binary(), real()])
    model = quick().fit(X)
    assert list(model.families_) == ["view0", "view1"]
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-5)
    assert model.transform([None, real()]).shape == (N_ROWS, 3)


ONE_MATRIX: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "slices": (lambda: np.hstack([binary(), real()]), {"words": slice(0, 12), "colour": slice(12, None)}),
    "columns": (
        lambda: np.hstack([binary(), real()]),
        {"words": Columns(range(12), Bernoulli()), "colour": Columns([12, 13, 14, 15])},
    ),
    "negative": (lambda: np.hstack([binary(), real()]), {"words": slice(0, 12), "colour": [-4, -3, -2, -1]}),
    "masks": (
        lambda: np.hstack([binary(), real()]),
        {"words": np.arange(16) < 12, "colour": np.arange(16) >= 12},
    ),
    "interleaved": (
        lambda: np.hstack([real(), binary()]),
        {"words": list(range(4, 16)), "colour": [0, 1, 2, 3]},
    ),
    "sparse": (
        lambda: scipy.sparse.csc_matrix(np.hstack([binary(), real()])),
        {"words": slice(0, 12), "colour": slice(12, 16)},
    ),
    "pandas_names": (frame, {"words": WORD_NAMES, "colour": Columns(COLOUR_NAMES, Gaussian())}),
    "pandas_index": (frame, {"words": pd.Index(WORD_NAMES), "colour": COLOUR_NAMES}),
    "pandas_slices": (frame, {"words": slice(0, 12), "colour": slice(12, 16)}),
    "polars_names": (lambda: pl.from_pandas(frame()), {"words": WORD_NAMES, "colour": COLOUR_NAMES}),
}


@pytest.mark.parametrize("form", ONE_MATRIX)
def test_forms_of_one_matrix_agree(form: str, expected: np.ndarray) -> None:
    make, spec = ONE_MATRIX[form]
    model = quick(views=spec).fit(make())
    assert list(model.families_) == ["words", "colour"]
    assert model.n_features_in_ == 16
    plain = {"words": binary(), "colour": real()}
    np.testing.assert_allclose(model.transform(make()), model.transform(plain), atol=1e-5)
    if form != "sparse":
        np.testing.assert_allclose(model.transform(make()), expected, atol=1e-5)
    if "names" in form:
        assert model.fitted_.feature_names == {"words": WORD_NAMES, "colour": COLOUR_NAMES}


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint8, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_types_of_numbers_do_not_matter(dtype: Any, sparse: bool) -> None:
    def form(matrix: np.ndarray) -> Any:
        return scipy.sparse.csr_array(matrix) if sparse else matrix

    if sparse and dtype is np.float16:
        pytest.skip("SciPy has no sparse matrices of half precision")
    model = quick().fit(form(binary().astype(dtype)))
    assert type(model.families_["view0"]) is Bernoulli
    latent = model.transform(form(binary().astype(dtype)))
    assert latent.dtype == np.float32
    np.testing.assert_allclose(latent, quick().fit(form(binary())).transform(binary()), atol=1e-6)


def test_anndata_brings_its_names() -> None:
    data = anndata.AnnData(scipy.sparse.csr_matrix(counts()), var=pd.DataFrame(index=[f"gene{i}" for i in range(8)]))
    model = quick().fit(data)
    assert {name: type(family) for name, family in model.families_.items()} == {"X": Poisson}
    assert list(model.topics(n=None, by="weight").index) == [f"gene{i}" for i in range(8)]
    np.testing.assert_allclose(model.transform(data[5:9]), model.transform(data)[5:9], rtol=1e-6)


def test_rows_that_a_modality_of_mudata_lacks_are_missing() -> None:
    names = np.array([f"cell{i}" for i in range(N_ROWS)])
    order = np.random.default_rng(0).permutation(40)  # the modality has its own order
    data = mudata.MuData(
        {
            "words": anndata.AnnData(scipy.sparse.csr_array(binary()), obs=pd.DataFrame(index=names)),
            "colour": anndata.AnnData(real()[order], obs=pd.DataFrame(index=names[order])),
        }
    )
    colour = real()
    colour[40:] = np.nan
    position = [list(data.obs_names).index(name) for name in names]
    model = quick().fit(data)
    plain = {"words": binary(), "colour": colour}
    np.testing.assert_allclose(model.transform(data)[position], model.transform(plain), atol=1e-5)


def test_nullable_columns_have_missing_cells() -> None:
    values = real()
    values[3, 1] = np.nan
    nullable = pd.DataFrame(values, columns=COLOUR_NAMES).convert_dtypes()
    assert nullable.isna().to_numpy()[3, 1]
    with_null = pl.DataFrame(values, schema=COLOUR_NAMES).fill_nan(None)
    model = quick().fit(values)
    for form in (nullable, with_null):
        np.testing.assert_allclose(quick().fit(form).transform(form), model.transform(values), atol=1e-6)
    masked = np.ma.masked_invalid(values)
    np.testing.assert_allclose(model.transform({"view0": masked}), model.transform(values), atol=1e-6)


def test_large_offsets_are_not_rounded_away() -> None:
    offset = real() + 1e7
    np.testing.assert_allclose(quick().fit_transform(offset), quick().fit_transform(real()), atol=1e-4)
    whole = (1000 * real()).round()
    years = whole.astype(np.int64) + 10**12
    np.testing.assert_allclose(quick().fit_transform(years), quick().fit_transform(whole), atol=1e-4)


# ---- families --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("values", "family"),
    [
        (binary(), Bernoulli),
        (np.zeros((N_ROWS, 2)), Bernoulli),
        (counts(), Poisson),
        (np.full((N_ROWS, 2), 2), Gaussian),
        (-counts() - 1, Gaussian),
        (real(), Gaussian),
        (counts() + 1e6, Gaussian),
        (binary() / 2, Gaussian),
        (scipy.sparse.csr_array(counts()), Poisson),
        (scipy.sparse.csr_array(binary() * 0.5), Gaussian),
    ],
)
def test_families_are_inferred(values: Any, family: type[Family]) -> None:
    assert type(quick().fit(values).families_["view0"]) is family


def test_counts_with_unbounded_units_are_replicated_softmax() -> None:
    assert type(quick(hidden=GaussianUnits()).fit(counts()).families_["view0"]) is ReplicatedSoftmax


def test_given_families_win_and_the_rest_is_inferred() -> None:
    model = quick(views={"words": Poisson()}).fit({"words": binary(), "colour": real()})
    assert [type(family) for family in model.families_.values()] == [Poisson, Gaussian]
    model = quick(views={0: Poisson(), "1": "infer"}).fit({0: binary(), 1: real()})
    assert {name: type(family) for name, family in model.families_.items()} == {"0": Poisson, "1": Gaussian}
    model = quick(views=[NegativeBinomial(), "infer"]).fit([counts(), real()])
    assert [type(family) for family in model.families_.values()] == [NegativeBinomial, Gaussian]


# ---- the data stay as they are ---------------------------------------------------------------------------------------
def test_input_is_not_modified() -> None:
    unsorted = scipy.sparse.csr_matrix(
        (np.array([1.0, 1.0, 1.0]), np.array([2, 0, 0]), np.array([0, 2, 3] + [3] * (N_ROWS - 2))), shape=(N_ROWS, 4)
    )
    with_missing = real()
    with_missing[2] = np.nan
    with_missing[5, 1] = np.nan
    X = {"words": unsorted, "colour": with_missing, "tags": pd.DataFrame(binary())}
    before = (unsorted.indices.copy(), unsorted.data.copy(), with_missing.copy(), X["tags"].copy())
    model = quick().fit(X)
    model.transform(X)
    model.score(X)
    model.predict_view("tags", X)
    np.testing.assert_array_equal(unsorted.indices, before[0])
    np.testing.assert_array_equal(unsorted.data, before[1])
    np.testing.assert_array_equal(with_missing, before[2])
    pd.testing.assert_frame_equal(X["tags"], before[3])
    assert list(X) == ["words", "colour", "tags"]


def test_read_only_data_are_accepted() -> None:
    words, colour = scipy.sparse.csr_array(binary()), real()
    for array in (words.data, words.indices, words.indptr, colour):
        array.flags.writeable = False
    X = {"words": words, "colour": colour}
    assert np.isfinite(quick().fit_transform(X)).all()


# ---- Views -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "rows",
    [slice(3, 9), slice(None, None, -1), [4, 1, 1], np.array([0, 59]), np.arange(N_ROWS) % 2 == 0, 7, np.int64(-1)],
    ids=str,
)
def test_views_are_sliced_by_rows(rows: Any) -> None:
    X = {"words": scipy.sparse.csr_array(binary()), "colour": real()}
    model = quick().fit(X)
    part = Views(X)[rows]
    np.testing.assert_allclose(model.transform(part), np.atleast_2d(model.transform(X)[rows]), rtol=1e-6)
    assert part.shape == (len(part), 16)


def test_slices_share_memory_and_can_be_sliced_again() -> None:
    X = Views({"words": scipy.sparse.csr_array(binary()), "colour": real()})
    part = X[10:30][[0, 5]]
    assert part.source("colour").matrix is X.source("colour").matrix
    np.testing.assert_array_equal(part.source("colour").rows, [10, 15])
    assert repr(part) == "Views(2 items; words: 12 sparse columns, colour: 4 dense columns)"


# ---- sparse ----------------------------------------------------------------------------------------------------------
FAMILIES = [Bernoulli(), Poisson(), NegativeBinomial(), Binomial(5), Gaussian(), ReplicatedSoftmax(), Categorical()]
FAMILIES.append(Beta(margin=0.05))  # which pulls zeros inside


def data_for(family: Family) -> np.ndarray:
    if isinstance(family, Bernoulli):
        return binary()
    if isinstance(family, Gaussian):
        return real(n_columns=6) * binary(n_columns=6)
    if isinstance(family, Beta):
        return np.minimum(counts(), 4) / 5
    return np.minimum(counts(), 4)


@pytest.mark.parametrize("fit_sparse", [False, True], ids=["fit_dense", "fit_sparse"])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_sparse_and_dense_mean_the_same(family: Family, fit_sparse: bool) -> None:
    dense = data_for(family)
    present = np.arange(N_ROWS) % 7 != 0
    other = real(5, 2)
    # stored zeros must not matter either
    sparse = scipy.sparse.csr_array(dense)
    sparse.data[:3] = 0
    dense = sparse.toarray()
    model = quick(views={"x": family}).fit({"x": sparse if fit_sparse else dense, "other": other})
    forms = {
        "dense": Views({"x": np.where(present[:, None], dense, np.nan), "other": other}),
        "mask": Views({"x": dense, "other": other}, present={"x": present}),
        "sparse": Views({"x": sparse, "other": other}, present={"x": present}),
    }
    for method in ("transform", "score_samples"):
        results = {name: getattr(model, method)(X) for name, X in forms.items()}
        np.testing.assert_allclose(results["mask"], results["dense"], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(results["sparse"], results["dense"], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        model.predict_view("other", {"x": sparse}), model.predict_view("other", {"x": dense}), atol=1e-5
    )


def test_large_sparse_views_are_never_densified() -> None:
    n_rows, n_columns = 200_000, 50_000
    rng = np.random.default_rng(0)
    indices = rng.integers(n_columns, size=10 * n_rows, dtype=np.int32)
    indptr = np.arange(n_rows + 1) * 10
    matrix = scipy.sparse.csr_array(
        (np.ones(10 * n_rows, dtype=np.float32), indices, indptr), shape=(n_rows, n_columns)
    )
    matrix.sum_duplicates()
    matrix.data[:] = 1
    quick().fit(matrix[:50])  # kernels compile outside the measurement
    X = {"words": matrix, "colour": rng.normal(size=(n_rows, 2)).astype(np.float32)}
    present = np.arange(n_rows) < 5000
    tracemalloc.start()
    try:
        model = quick(driver=Stochastic(max_iter=1, batch_size=100)).partial_fit(Views(X)[:5000])
        assert model.transform(X).shape == (n_rows, 3)
        some = slice(4000, 6000)
        assert model.transform(Views(X, present={"words": present})[some]).shape == (2000, 3)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # dense, the view would take 40 GB; the input takes 17 MB and a dense batch of 100 rows 20 MB
    assert peak < 400e6


def test_batches_that_are_read_together_are_those_that_are_read_alone() -> None:
    """Sparse and dense views, cells and rows that are missing in some batches, and pieces too large to be joined."""
    numbers = real()
    numbers[7], numbers[30, 2] = np.nan, np.nan
    views = Views({"words": scipy.sparse.csr_array(binary()), "colour": numbers}, present={"words": np.arange(60) != 9})
    families = {
        "words": Bernoulli(length_normalize=True).bind(views.source("words").summary()),
        "colour": Gaussian().bind(views.source("colour").summary()),
    }
    pieces = [np.arange(0, 8), np.array([40, 3, 9]), np.arange(20, 24), np.arange(60).repeat(20)]
    for items, got in zip(pieces, views.batches(pieces, families), strict=True):
        expected = views.batch(items, families)
        assert got.n_rows == len(items)
        for name, view in expected.views.items():
            assert is_sparse(got.views[name].statistic) == is_sparse(view.statistic)
            np.testing.assert_array_equal(to_dense(got.views[name].statistic), to_dense(view.statistic))
            for part in ("size", "missing"):
                one, other = getattr(got.views[name], part), getattr(view, part)
                assert (one is None) == (other is None)
                assert one is None or np.array_equal(one, other)


# ---- missing ---------------------------------------------------------------------------------------------------------
def test_a_missing_view_is_inferred() -> None:
    X = {"words": binary(), "colour": real()}
    model = quick().fit(X)
    absent = np.full((N_ROWS, 12), np.nan)
    expected = model.transform({"colour": real()})
    assert np.isfinite(expected).all()
    for form in ({"words": absent, "colour": real()}, {"words": None, "colour": real()}, [None, real()]):
        fitted = model if isinstance(form, dict) else quick().fit([binary(), real()])
        np.testing.assert_allclose(fitted.transform(form), expected, atol=1e-6)


def test_training_on_missing_rows_is_training_on_a_mask() -> None:
    present = np.arange(N_ROWS) % 3 > 0
    by_nan = np.where(present[:, None], real(), np.nan)
    first = quick().fit({"words": binary(), "colour": by_nan})
    second = quick().fit(Views({"words": binary(), "colour": real()}, present={"colour": present}))
    np.testing.assert_array_equal(first.components_, second.components_)


def test_mask_and_missing_rows_add_up() -> None:
    colour = real()
    colour[0] = np.nan
    views = Views({"colour": colour}, present={"colour": np.arange(N_ROWS) != 1})
    np.testing.assert_array_equal(np.flatnonzero(views.source("colour").rows < 0), [0, 1])


@pytest.mark.parametrize("family", [*FAMILIES, Gaussian(variance="learn")], ids=str)
def test_missing_cells_and_rows_in_training(family: Family) -> None:
    values = data_for(family)
    values[::5] = np.nan
    if not isinstance(family, ReplicatedSoftmax):
        values[1::4, 1] = np.nan
    X = {"x": values, "other": real(3, 2)}
    model = quick(views={"x": family}).fit(X)
    assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.score(X))
    assert np.isfinite(model.score_samples(X)).all()
    predicted = model.predict_view("x", X)
    assert np.isfinite(predicted).all()
    known = model.families_["x"]
    assert predicted.shape == (N_ROWS, known.n_features_ if isinstance(known, Categorical) else known.codec.n_columns)


def test_predict_view_learns_the_relation_from_the_rows_that_have_both() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=400)
    words = (rng.random((400, 20)) < np.where(group[:, None] == np.arange(20) % 2, 0.5, 0.05)).astype(float)
    colour = group[:, None] * 4.0 + rng.normal(size=(400, 3)) + 10
    train = colour.copy()
    train[:200] = np.nan
    driver = Stochastic(max_iter=100, learning_rate=0.01)
    model = quick(driver=driver, views={"colour": Gaussian(variance=0.3)})
    predicted = model.fit({"words": words, "colour": train}).predict_view("colour", {"words": words[:200]})
    constant = np.square(colour[:200] - colour[200:].mean(axis=0)).mean()
    assert np.square(colour[:200] - predicted).mean() < 0.6 * constant


@settings(max_examples=25, deadline=None)
@given(
    n_rows=st.integers(1, 12),
    n_columns=st.integers(1, 6),
    density=st.sampled_from([0.0, 0.2, 1.0]),
    dtype=st.sampled_from([np.float32, np.float64, np.int64, bool]),
    sparse=st.booleans(),
    missing=st.booleans(),
    family=st.sampled_from(["infer", Bernoulli(), Poisson(), Gaussian(), ReplicatedSoftmax(), Categorical()]),
    seed=st.integers(0, 100),
)
def test_any_shape_type_and_sparsity_gives_finite_numbers(
    n_rows: int,
    n_columns: int,
    density: float,
    dtype: Any,
    sparse: bool,
    missing: bool,
    family: Any,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    values: Any = (rng.random((n_rows, n_columns)) < density).astype(dtype)
    if sparse:
        values = scipy.sparse.csr_array(values)
    elif missing and n_rows > 1 and np.issubdtype(dtype, np.floating):
        values[0] = np.nan
    X = {"x": values, "other": rng.normal(size=(n_rows, 2))}
    model = quick(views={"x": family}, driver=Stochastic(max_iter=2, batch_size=5)).fit(X)
    latent = model.transform(X)
    assert latent.shape == (n_rows, 3)
    assert np.isfinite(latent).all()
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(model.score(X))
    for mean in model.inverse_transform(latent).values():
        assert np.isfinite(mean).all()
