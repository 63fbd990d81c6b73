"""Readers of data files: every format comes in as it was written, and what is wrong is said in one sentence."""

from __future__ import annotations

import gzip
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from harmonium.exceptions import HarmoniumWarning
from harmonium.files import DataFileError, read_data, text_tables
from harmonium.files.table_file import TableFile
from tests.cases.bad_input import assert_one_sentence
from tests.cases.corpus import CORPUS

FRAME = pd.DataFrame({"name": ["Ann", "Bo", None], "note": ['said "no"', "a;b,c", "line\nbreak"], "age": [31, 45, 27]})
MATRIX = scipy.sparse.csr_array(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_csv_in_any_separator_and_encoding(tmp_path: Path, separator: str, encoding: str) -> None:
    frame = FRAME.assign(name=["Änne", "Bo", None])
    path = tmp_path / "x.csv"
    frame.to_csv(path, sep=separator, encoding=encoding, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HarmoniumWarning)
        found = read_data(path).X
    assert found.where(found.notna(), None).equals(frame.where(frame.notna(), None))


def test_a_file_that_is_not_utf8_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes("name\nÄnne\n".encode("cp1252"))
    with pytest.warns(HarmoniumWarning, match="Windows-1252"):
        assert read_data(tmp_path / "x.csv").X["name"].tolist() == ["Änne"]


def test_texts_that_pandas_takes_for_missing_stay(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("code,n\nNA,1\nNone,2\n,3\n")
    assert read_data(tmp_path / "x.csv").X["code"].tolist()[:2] == ["NA", "None"]


def test_names_of_columns_are_texts_as_they_stand(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,007,1e3,1,01,\na,1,2,3,4,\n")
    assert list(read_data(tmp_path / "x.csv").X.columns) == ["id", "007", "1e3", "1", "01"]
    (tmp_path / "y.csv").write_bytes(b"\xef\xbb\xbfname,n\n\xc4nne,1\n")
    with pytest.warns(HarmoniumWarning, match="Windows-1252"):
        assert list(read_data(tmp_path / "y.csv").X.columns) == ["name", "n"]


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_empty_lines_of_a_single_column_are_missing_values(tmp_path: Path, rows: int) -> None:
    (tmp_path / "x.csv").write_text("text\nred wine\n\n\nwhite wine\n\n\n")
    expected = ["red wine", None, None, "white wine"]
    whole = read_data(tmp_path / "x.csv").X["text"]
    assert whole.where(whole.notna(), None).tolist() == expected
    table = TableFile.surveyed(tmp_path / "x.csv", rows)
    assert table.n_rows == 4
    assert [value for block in table.blocks() for value in block["text"].tolist()] == expected


def test_separators_at_the_end_of_lines_are_no_columns(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,,\n1,2,,\n3,4,,\n")
    assert (
        list(TableFile.surveyed(tmp_path / "x.csv").types)
        == list(read_data(tmp_path / "x.csv").X.columns)
        == ["a", "b"]
    )
    (tmp_path / "x.csv").write_text("a,b,,\n1,2,5,\n3,4,,6\n")
    with pytest.raises(DataFileError, match="'' twice"):
        TableFile.surveyed(tmp_path / "x.csv")


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".parquet", ".jsonl.gz", ".csv.gz", ".csv.xz"])
def test_tables_come_back(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"x{ending}"
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
        FRAME.to_parquet(path)
    elif ".csv" in ending:
        FRAME.to_csv(path, index=False)
    else:
        FRAME.to_json(path, orient="records", lines="jsonl" in ending)
    found = read_data(path)
    assert found.is_table and found.X.where(found.X.notna(), None).equals(FRAME.where(FRAME.notna(), None))


def test_lists_and_ragged_objects(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"tags": ["a", "b"], "n": 1}\n\n{"n": 2, "more": true}\n')
    found = read_data(tmp_path / "x.jsonl").X
    assert found["tags"][0] == ["a", "b"] and pd.isna(found["tags"][1]) and found["n"].tolist() == [1, 2]


def test_matrices_come_back(tmp_path: Path) -> None:
    dense = MATRIX.toarray()
    np.savez(tmp_path / "a.npz", words=dense, more=dense + 1, y=np.array([5, 6]))
    loaded = read_data(tmp_path / "a.npz")
    assert loaded.X.names == ["words", "more"] and loaded.items["y"].tolist() == [5, 6]
    scipy.sparse.save_npz(tmp_path / "b.npz", MATRIX)
    scipy.io.mmwrite(tmp_path / "b.mtx", MATRIX)
    dump_svmlight_file(MATRIX, [1, 2], str(tmp_path / "b.svmlight"))
    (tmp_path / "b.ldac").write_text("1 1:2\n2 0:1 2:3\n")
    (tmp_path / "b.vocab").write_text("sea\nsky\nsun\n")
    for ending in ("npz", "mtx", "svmlight", "ldac"):
        loaded = read_data(tmp_path / f"b.{ending}")
        np.testing.assert_array_equal(loaded.X.source("b").matrix.toarray(), dense)
    assert read_data(tmp_path / "b.svmlight").y.tolist() == [1, 2]  # type: ignore[union-attr]
    assert read_data(tmp_path / "b.ldac").X.source("b").columns == ["sea", "sky", "sun"]


def test_a_number_of_svmlight_is_the_same_column_in_every_file(tmp_path: Path) -> None:
    (tmp_path / "a.svmlight").write_text("1 0:1 3:2\n")
    (tmp_path / "b.svmlight").write_text("1 3:2\n")
    for name in "ab":
        assert read_data(tmp_path / f"{name}.svmlight").X.source(name).matrix.toarray()[0, 3] == 2


def test_new_matrices_take_name_and_width_of_the_models_view(tmp_path: Path) -> None:
    (tmp_path / "new.ldac").write_text("1 1:2\n")
    new = read_data(tmp_path / "new.ldac").like("old", 4)
    assert new.names == ["old"] and new.source("old").matrix.toarray().tolist() == [[0, 2, 0, 0]]
    scipy.io.mmwrite(tmp_path / "new.mtx", MATRIX)  # a format that says how many columns there are
    assert read_data(tmp_path / "new.mtx").like("old", 9).source("old").matrix.shape == MATRIX.shape


def test_annotated_data_come_back(tmp_path: Path) -> None:
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(MATRIX.toarray(), obs=pd.DataFrame({"kind": ["a", "b"]}, index=["c1", "c2"]))
    cells.write_h5ad(tmp_path / "x.h5ad")
    loaded = read_data(tmp_path / "x.h5ad")
    assert loaded.items["item"].tolist() == ["c1", "c2"] and loaded.items["kind"].tolist() == ["a", "b"]


# ---- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", sorted(path.name for path in (CORPUS / "data" / "refused").iterdir()))
def test_what_is_wrong_is_said_in_one_sentence(name: str) -> None:
    folder = CORPUS / "data" / "refused"
    with pytest.raises(DataFileError) as refusal:
        read_data(folder / name)
    assert_one_sentence(str(refusal.value).replace(str(folder), "folder"))


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name in ("nowhere.csv", "folder.csv", "nowhere.h5ad"):
        with pytest.raises(DataFileError, match="Data are read from a file"):
            read_data(tmp_path / name)


def test_objects_are_not_unpickled(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.array([[{"a": 1}]], dtype=object))
    with pytest.raises(DataFileError, match="arrays of numbers"):
        read_data(tmp_path / "x.npz")


def test_a_million_letters_in_a_cell(tmp_path: Path) -> None:
    long = "word " * 200_000
    (tmp_path / "x.csv").write_text(f"a,b\n{long},1\nshort,2\n")
    (tmp_path / "x.jsonl").write_text(json.dumps({"a": long}) + "\n")
    assert len(read_data(tmp_path / "x.csv").X["a"][0]) == len(long)
    assert len(read_data(tmp_path / "x.jsonl").X["a"][0]) == len(long)


CELLS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(['"', ",", ";", "\n", "\r", "\0", "1e999", "NA", "-", "٣", "\ufeff", "x" * 5000]),
)
ROWS = st.lists(st.lists(CELLS, max_size=5).map(",".join), max_size=6).map("\n".join)


def read_or_refused(path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read_data(path)
        except DataFileError as error:
            message = str(error).replace(str(path), "file")
            assert "Traceback" not in message and "\n" not in message
            return None


@settings(max_examples=60, deadline=5000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(st.binary(max_size=200), ROWS.map(lambda text: text.encode("utf-8", "surrogatepass"))))
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    for ending in (".csv", ".jsonl", ".json", ".npz", ".mtx", ".svmlight", ".ldac"):
        path = tmp_path / f"x{ending}"
        path.write_bytes(content)
        loaded = read_or_refused(path)
        if loaded is not None and loaded.is_table:
            assert loaded.X.columns.is_unique and len(loaded.X)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=5,
)


@settings(max_examples=40, deadline=5000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.dictionaries(st.sampled_from("abc"), JSON), min_size=1, max_size=5))
def test_any_objects_become_a_table_that_has_roles(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    """What is read can be looked at as a table: it is taken in, or refused in one sentence."""
    from harmonium import TableViews
    from harmonium.exceptions import InvalidViewError

    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    loaded = read_or_refused(path)
    if loaded is None:
        assert not any(rows)
        return
    assert len(loaded) == len(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            assert len(TableViews().fit_transform(loaded.X)) == len(rows)
        except InvalidViewError as error:
            assert "\n" not in str(error)


def test_codes_keep_their_zeros_and_cells_their_spelling(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text(
        'code,price,whole,open,long,empty\n007,"1.234,50",7,True,12345678901234567890,\n7,"2,00",8,false,1,\n'
    )
    frame = read_data(path).X
    assert frame["code"].tolist() == ["007", "7"]
    assert frame["whole"].tolist() == [7, 8]
    assert frame["open"].tolist() == [True, False]
    assert frame["long"].tolist() == ["12345678901234567890", "1"]
    assert frame["empty"].isna().all()
    (block,) = TableFile.surveyed(path).spelled_blocks()
    assert block["price"].tolist() == ["1.234,50", "2,00"]
    assert block["whole"].tolist() == ["7", "8"]


def test_a_table_that_takes_long_is_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "long.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 1000))
    monkeypatch.setattr(text_tables, "_LONG", 0.001)
    with pytest.warns(HarmoniumWarning, match=r"about 1,001 rows .* each look at all of them takes about 0.0 minutes"):
        assert len(read_data(path)) == 1000
    monkeypatch.setattr(text_tables, "_LONG", 20.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_data(path)
