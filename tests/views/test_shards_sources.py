"""Where shards come from: files, Parquet folders, AnnData and zarr on disk, dask, iterables."""

import mmap
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from harmonium import Harmonium, HarmoniumClassifier, Hinge, Shards, Stochastic, TableViews, Tokens, Views
from harmonium.exceptions import InvalidViewError
from tests.cases.shards import CUTS, cut, in_shards, two_views

VIEWS, Y = two_views()
WORDS, COLOURS = VIEWS["words"], np.nan_to_num(VIEWS["colours"])


def dense(views, name):
    """All rows of a view, as they are read."""
    parts = [part.source(name) for _, part in views.in_memory()]
    return np.concatenate([np.asarray(part._dense_rows(part.rows), dtype=np.float32) for part in parts])


def quick():
    return HarmoniumClassifier(
        3, head=Hinge(C=1.0), driver=Stochastic(max_iter=2), validation_fraction=0, view_weights=None, random_state=0
    )


def learned(shards, y=None):
    """A model that was fitted on shards, and what it says about them; the shards went through a pickle first."""
    shards = pickle.loads(pickle.dumps(shards))
    model = quick()
    return model.fit(shards, y).predict(shards)


def test_files_are_mapped_into_memory(tmp_path):
    for number, block in enumerate(cut({"words": WORDS, "colours": COLOURS})):
        np.save(tmp_path / f"colours{number}.npy", block["colours"])
        scipy.sparse.save_npz(tmp_path / f"words{number}.npz", block["words"])
        np.save(tmp_path / f"y{number}.npy", cut(Y)[number])
    files = {"words": f"{tmp_path}/words*.npz", "colours": [tmp_path / f"colours{i}.npy" for i in range(4)]}
    shards = Shards.from_files(files, f"{tmp_path}/y*.npy")
    assert isinstance(shards.first()["colours"], np.memmap)
    assert np.array_equal(dense(shards.views(), "words"), WORDS.toarray())
    assert np.array_equal(learned(shards), learned(in_shards({"words": WORDS, "colours": COLOURS}, Y)))
    with pytest.raises(FileNotFoundError, match="nothing is called"):
        Shards.from_files(f"{tmp_path}/none*.npy")
    with pytest.raises(InvalidViewError, match="'words' has 4, 'colours' has 1"):
        Shards.from_files({"words": f"{tmp_path}/words*.npz", "colours": [tmp_path / "colours0.npy"]})


def test_what_is_stored_is_read_again_as_sparse_rows(tmp_path):
    stored = in_shards({"words": WORDS, "colours": COLOURS}, Y).store(tmp_path / "parts")
    assert len(stored) == 240
    base = stored.first()["words"].data
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base, mmap.mmap)
    assert np.array_equal(dense(stored.views(), "words"), WORDS.toarray())
    assert np.array_equal(stored.targets(), Y)
    assert np.array_equal(learned(stored), learned(in_shards({"words": WORDS, "colours": COLOURS}, Y)))
    again = Shards.from_files(f"{tmp_path}/parts/*.words")
    assert np.array_equal(dense(again.views(), "view0"), WORDS.toarray())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A Parquet folder: lists of tokens and counts, texts, numbers and a label."""
    path = tmp_path_factory.mktemp("parquet")
    names = np.array([f"w{column}" for column in range(18)])
    for number, (first, last) in enumerate(CUTS):
        rows = [WORDS[[row]].indices for row in range(first, last)]
        frame = pd.DataFrame(
            {
                "ids": [row.tolist() for row in rows],
                "times": [[1.0] * len(row) for row in rows],
                "tokens": [names[row].tolist() for row in rows],
                "text": [" ".join(names[row]) for row in rows],
                "r": COLOURS[first:last, 0],
                "g": COLOURS[first:last, 1],
                "b": COLOURS[first:last, 2],
                "label": Y[first:last],
            }
        )
        frame.to_parquet(path / f"part{number}.parquet", row_group_size=30)
    return path


def test_a_parquet_folder_of_tokens_and_numbers(folder):
    views = {"words": Tokens("ids", "times", 18), "colours": ["r", "g", "b"]}
    shards = Shards.from_parquet(folder, views, "label")
    assert (shards.n_shards, len(shards)) == (4, 240)
    assert np.array_equal(dense(shards.views(), "words"), WORDS.toarray())
    assert np.array_equal(shards.targets(), Y)
    assert np.array_equal(learned(shards), learned(in_shards({"words": WORDS, "colours": COLOURS}, Y)))
    assert np.array_equal(learned(Shards.from_parquet(folder, views), "label"), learned(shards))
    named = Tokens("tokens", vocabulary=[f"w{column}" for column in range(17, -1, -1)])
    assert np.array_equal(dense(Shards.from_parquet(folder, {"w": named}).views(), "w"), WORDS.toarray()[:, ::-1])
    small = Shards.from_parquet(folder, views, rows=60)
    assert (small.n_shards, len(small)) == (7, 240)
    assert np.array_equal(dense(small.views(), "colours"), COLOURS)


def test_a_parquet_folder_through_a_table_transformer(folder):
    raw = Shards.from_parquet(folder, y="label").map(texts_and_numbers)
    table = TableViews().fit(raw.sample(100))
    shards = Shards.from_parquet(folder, y="label").map(texts_and_numbers).map(table.transform)
    model = quick().fit(shards)
    frame = pd.concat([texts_and_numbers(pd.read_parquet(file)) for file in sorted(folder.iterdir())])
    assert np.array_equal(model.predict(frame.reset_index(drop=True)), model.predict(shards))
    assert np.array_equal(model.predict(raw), model.predict(shards))
    with pytest.raises(InvalidViewError, match="needs a TableViews that has seen more than one"):
        Harmonium(2).fit(raw)


def texts_and_numbers(frame):
    return frame[["text", "r", "g", "b"]]


def test_bad_rows_of_parquet_are_named(folder):
    with pytest.raises(InvalidViewError, match=r"Shard 0 \(part0.parquet\): Tokens in column 'ids' must be numbers"):
        Harmonium(2).fit(Shards.from_parquet(folder, {"w": Tokens("ids", n_columns=3)}))
    with pytest.raises(InvalidViewError, match="Column 'r' must hold lists of tokens"):
        Shards.from_parquet(folder, {"w": Tokens("r", n_columns=3)}).first()
    with pytest.raises(InvalidViewError, match="must be those of the file"):
        Shards.from_parquet(folder, {"w": ["red"]}).first()
    with pytest.raises(InvalidViewError, match="Tokens need the number of columns"):
        Tokens("ids")


@pytest.mark.parametrize("form", ["h5ad", "zarr"])
def test_annotated_data_on_disk(form, tmp_path):
    import anndata

    cells = anndata.AnnData(
        WORDS.astype(np.float32),
        obs=pd.DataFrame({"kind": pd.Categorical(np.array(list("abc"))[Y])}, index=[f"cell{i}" for i in range(240)]),
        var=pd.DataFrame(index=[f"gene{i}" for i in range(18)]),
        obsm={"colours": COLOURS},
    )
    path = tmp_path / f"cells.{form}"
    cells.write_h5ad(path) if form == "h5ad" else cells.write_zarr(path)
    source = anndata.read_h5ad(path, backed="r") if form == "h5ad" else path
    shards = Shards.from_anndata(source, obsm=["colours"], y="kind", rows=100)
    assert (shards.n_shards, len(shards)) == (3, 240)
    kinds, cuts = np.array(list("abc"))[Y], ((0, 100), (100, 200), (200, 240))
    expected = in_shards({"X": WORDS, "colours": COLOURS}, kinds, cuts)
    assert np.array_equal(learned(shards), learned(expected))
    model = Harmonium(2, driver=Stochastic(max_iter=1), random_state=0).fit(shards)
    assert model.fitted_.feature_names["X"][:2] == ["gene0", "gene1"]
    with pytest.raises(InvalidViewError, match="got AnnData in memory"):
        Shards.from_anndata(cells)
    with pytest.raises(InvalidViewError, match="there is no 'layers/raw'"):
        Shards.from_anndata(path, layers=["raw"]).first()


def test_dask_collections():
    array = pytest.importorskip("dask.array")
    frames = pytest.importorskip("dask.dataframe")
    lazy = {"colours": array.from_array(COLOURS, chunks=(100, 3))}
    expected = in_shards({"colours": COLOURS}, Y, cuts=((0, 100), (100, 200), (200, 240)))
    assert np.array_equal(learned(Shards.from_dask(lazy, array.from_array(Y, chunks=100))), learned(expected))
    assert len(Shards.from_dask(lazy)) == 240
    table = pd.DataFrame(COLOURS, columns=["r", "g", "b"]).assign(label=Y)
    shards = Shards.from_dask(frames.from_pandas(table, npartitions=3))
    assert repr(shards) == "Shards(3 shards, rows not counted yet)"
    found = learned(shards, "label")
    assert len(found) == len(shards) == 240
    with pytest.raises(InvalidViewError, match=r"call rechunk\(\{1: -1\}\) first"):
        Shards.from_dask(array.from_array(COLOURS, chunks=(100, 2)))
    with pytest.raises(InvalidViewError, match="as many partitions"):
        Shards.from_dask(lazy, array.from_array(Y, chunks=50))


def opened():
    yield from zip(cut({"words": WORDS, "colours": COLOURS}), cut(Y), strict=True)


def test_an_iterable_of_blocks_that_can_be_opened_again():
    shards = Shards(opened, pairs=True)
    assert shards.n_shards == 4
    model = quick().fit(shards)
    assert np.array_equal(shards.targets(), Y)
    assert np.array_equal(model.predict(shards), model.predict({"words": WORDS, "colours": COLOURS}))
    order = shards.views().shuffled(np.arange(240), np.random.default_rng(0))
    assert np.array_equal(np.sort(order), np.arange(240))
    with pytest.raises(InvalidViewError, match="the same blocks whenever it is opened"):
        len(Shards(iter([np.ones((2, 2)), np.ones((2, 2))]), lengths=[2, 2]).take([1, 0]).sample())


def test_views_are_blocks_too():
    blocks = [Views(block) for block in cut({"words": WORDS, "colours": COLOURS})]
    assert np.array_equal(learned(Shards(blocks), Y), learned(in_shards({"words": WORDS, "colours": COLOURS}), Y))


def test_answers_about_dask_collections_are_lazy():
    array, frames = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    model = quick().fit({"words": WORDS.toarray(), "colours": COLOURS}, Y)
    lazy = {
        name: array.from_array(view, chunks=(100, -1))
        for name, view in (("words", WORDS.toarray()), ("colours", COLOURS))
    }
    whole = {"words": WORDS.toarray(), "colours": COLOURS}
    for name in ("transform", "predict", "predict_proba"):
        found, expected = getattr(model, name)(lazy), getattr(model, name)(whole)
        assert (found.shape, found.dtype, found.chunks[0]) == (expected.shape, expected.dtype, (100, 100, 40))
        assert found._meta.ndim == expected.ndim
        assert np.array_equal(found.compute(), expected)
    found = model.predict_view("words", {"colours": lazy["colours"]})
    expected = model.predict_view("words", {"colours": COLOURS})
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(found.compute(), expected, rtol=1e-5)
    table = pd.DataFrame(COLOURS, columns=["r", "g", "b"])
    of_frames = Harmonium(2, driver=Stochastic(max_iter=1), random_state=0).fit(table)
    answer = of_frames.transform(frames.from_pandas(table, npartitions=3))
    assert answer.dtype == np.float32
    assert np.array_equal(answer.compute(), of_frames.transform(table))
