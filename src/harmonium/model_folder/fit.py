"""The fit of a model folder: hold rows out, fit, compare with baselines, fit on all rows, keep everything.

The work of a fit that was interrupted lies beside the folder, in ``NAME.unfinished``, until the folder is there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import clone

from harmonium.core.validation import Number, check_whole
from harmonium.estimators import Harmonium
from harmonium.estimators.assays import layer_of_assays
from harmonium.estimators.harmonium import driver_for
from harmonium.estimators.input import known_views
from harmonium.estimators.input.labels import in_order_of
from harmonium.estimators.input.read_input import split_target
from harmonium.evaluation import evaluate, split_rows
from harmonium.exceptions import HarmoniumWarning, ModelFileError
from harmonium.inspection import bootstrap_stability
from harmonium.inspection.encoders import set_encoders
from harmonium.model_folder.columns import packed_columns
from harmonium.model_folder.embeddings import keep_embeddings, recall_embeddings
from harmonium.model_folder.folder import ModelFolder
from harmonium.model_folder.thumbnails import Thumbnails
from harmonium.persist import load_model
from harmonium.storage import check_place, in_a_sentence
from harmonium.tables.transformer import encoders_of, frame_of
from harmonium.views import Shards, Views
from harmonium.views.annotated import is_annotated
from harmonium.views.frames import is_frame
from harmonium.views.reading import read_collection
from harmonium.views.sharding.joining import join_views

# Rows that are held out of tables that do not fit into memory, and that the linear model to compare with learns from
# there, at most: conventions.
_MOST_HELD_OUT = 50_000
_MOST_COMPARED = 100_000
# Times that topics are learned again to see which are stable: a convention, for time.
_RESAMPLES = 3


def fit_folder(
    path: str | os.PathLike[str],
    model: Harmonium,
    X: Any,
    y: Any = None,
    *,
    items: Any = None,
    kept: np.ndarray | None = None,
    target: str | list[str] | None = None,
    holdout: float = 0.2,
    refit: bool = True,
    n_resamples: int | None = None,
    thumbnails: Thumbnails | None = None,
    notes: Mapping[str, Any] | None = None,
    callback: Callable[[str], None] | None = None,
) -> ModelFolder:
    """Fit a model and keep it with its items in a folder.

    With a target, some of the rows are held out first: a model is fitted on the others, and compared on them with a
    linear and a trivial model. The model of the folder is then fitted on all rows, in the same way.

    Parameters
    ----------
    path : str or path
        The folder, whose name has no ending.
    model : Harmonium
        An estimator, which stays as it is. Its random state should be a number.
    X : data frame, or anything else that the model takes
        Items.
    y : array-like, or name of columns of X, optional
        What to predict. If both X and y name their rows, rows go by name.
    items : data frame, optional
        Columns to show, whose rows go by name in the same way. Default: X itself, with its targets, if it is a data
        frame.
    kept : ndarray of int64, optional
        Numbers of the rows that the folder keeps, in order, for tables that do not fit into memory; ``items`` has a row
        for each of them. All rows are learned from; at most 50,000 are held out, and the linear model to compare with
        learns from at most 100,000. Default: all rows.
    target : str or list of str, optional
        Columns of the items that y stands for. Default: those that have its names.
    holdout : float, default=0.2
        Share of the rows with a target to hold out; 0 holds none out, and no scores are kept.
    refit : bool, default=True
        Whether the model of the folder is fitted on all rows. If not, it is the one that was compared, which has seen
        those that were not held out, and the fit takes half the time.
    n_resamples : int, optional
        Number of times that topics are learned again, which says how stable each of them is (`bootstrap_stability`).
        Default: 3 for topics that are learned beside dimensions, which takes about a sixth of the time, and none for
        others, as each would take a whole fit.
    thumbnails : Thumbnails, optional
        Small pictures of the items.
    notes : mapping of str to object, optional
        What else should be kept, as JSON can hold it.
    callback : callable, optional
        Called with a few words about what is done next.

    Returns
    -------
    ModelFolder
        The folder.

    Notes
    -----
    A fit that is interrupted, or killed, goes on where it was if it is called again with the same data and settings,
    to the same result.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, pandas as pd
    >>> from harmonium import HarmoniumRegressor, Stochastic
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    >>> frame["sum"] = frame["a"] + frame["b"]
    >>> model = HarmoniumRegressor(2, driver=Stochastic(max_iter=3), random_state=0)
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     folder = fit_folder(f"{parent}/sums", model, frame, "sum")
    >>> folder.scores["n_rows"], [entry["measure"] for entry in folder.scores["measures"]]
    (40, ['R²', 'mean absolute error'])
    """
    Number(inclusive=True, below=1.0, remedy="0.2 is usual").check("fit_folder", "holdout", holdout)
    n_resamples = _resamples(model, n_resamples, y is not None)
    check_place(Path(path))
    shown = X if items is None and is_frame(X) else items
    rows, targets = (X, None) if y is None else _side_by_side(X, y)
    rows = _as_rows(rows)
    if is_annotated(X) and (layer := layer_of_assays(model, rows)) is not None:
        model = clone(model).set_params(hidden=layer)
    work = _Unfinished(path)
    recall_embeddings(path, model.views)
    work.embed(model.views, rows)
    announce = callback or (lambda step: None)
    seed = model.random_state if isinstance(model.random_state, int) else 0
    held_out, fitted = None, None
    if targets is not None and holdout > 0:
        share = holdout if kept is None else min(holdout, _MOST_HELD_OUT / len(targets))
        train, test = split_rows(targets, share, seed)
        if len(test):
            announce(f"Fitting on {len(train):,} rows, to be compared on {len(test):,} others")
            fitted = work.fitted("trial", model, _taken(rows, train), _taken(targets, train))
            announce("Comparing with a linear and a trivial model")
            most = None if kept is None else _MOST_COMPARED
            held_out = evaluate(fitted, known_views(fitted, rows), targets, train, test, seed, most)
            held_out.scores["refitted"] = refit
    if fitted is None or refit:
        announce(f"Fitting on all {_n_rows(rows):,} rows")
        fitted = work.fitted("final", model, rows, targets)
    stability = None
    if n_resamples:
        announce("Learning the topics again from resampled rows, to see which are stable")
        stability = bootstrap_stability(fitted, rows, n_resamples, seed)
    announce("Drawing a map of the items")
    if kept is not None:
        rows = _gathered(rows, kept)
        held_out = None if held_out is None else held_out.among(kept)
    folder = ModelFolder.create(
        path,
        fitted,
        rows,
        items=shown,
        target=target,
        held_out=held_out,
        stability=stability,
        thumbnails=thumbnails,
        notes=notes,
    )
    work.remove()
    return folder


def _resamples(model: Harmonium, n_resamples: int | None, predicts: bool) -> int:
    """Return how often topics are learned again; refuse models that cannot do so before anything is computed."""
    layer = model._layer()
    is_composed = layer.groups.dimensions is not None
    if n_resamples is None:
        return _RESAMPLES if is_composed else 0
    check_whole("fit_folder", "n_resamples", n_resamples, lower=0, remedy="3 is usual")
    if n_resamples and predicts and not is_composed:
        raise ValueError(
            f"n_resamples needs topics that no loss moves; got {layer}, which learns by the target; pass 0, or a model "
            "with ComposedUnits()."
        )
    return n_resamples


def unfinished_path(path: str | os.PathLike[str]) -> Path:
    """Return where the work on a folder lies until the folder is there.

    Parameters
    ----------
    path : str or path
        The folder that is to be made.

    Returns
    -------
    Path
        A folder beside it.
    """
    return Path(f"{os.fspath(path).rstrip('/')}.unfinished")


class _Unfinished:
    """The work of an unfinished fit, in a folder beside the one that it makes."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = unfinished_path(path)

    def fitted(self, name: str, model: Harmonium, X: Any, y: Any) -> Any:
        """Return the fitted model: the one that is there, or a new one, which goes on from a checkpoint."""
        key = _key(model, X, y)
        done = self._path / f"{name}-{key}.safetensors"
        with in_a_sentence(self._path):
            if done.exists():
                try:
                    return _with_encoders(load_model(done), model.views)
                except ModelFileError:
                    done.unlink()
            self._path.mkdir(exist_ok=True)
        fresh, driver = clone(model), clone(driver_for(model, _n_rows(X)))
        if "checkpoint" in driver.get_params():  # a driver in closed form takes no epochs that could be gone on from
            driver.set_params(checkpoint=str(self._path / f"{name}-{key}.checkpoint"))
        fresh.set_params(driver=driver)
        try:
            with warnings.catch_warnings():
                # who calls again goes on from the checkpoint; the model so far is given up
                warnings.filterwarnings("ignore", "Training was interrupted", HarmoniumWarning)
                fitted = fresh.fit(X) if y is None else fresh.fit(X, y)
        except BaseException:
            with suppress(OSError):  # where nothing is to be gone on from, nothing is left
                self._path.rmdir()
            raise
        fitted.set_params(driver=model.driver, verbose=0)
        fitted.save(done)
        return fitted

    def embed(self, views: Any, rows: Any) -> None:
        """Encode columns that have an embedding before anything is fitted, and keep that."""
        recall_embeddings(self._path, views)
        if isinstance(rows, pd.DataFrame) and encoders_of(views):
            clone(views).fit(rows)
            keep_embeddings(self._path, views)

    def remove(self) -> None:
        """Remove it, as nothing is left to go on with."""
        shutil.rmtree(self._path, ignore_errors=True)


def _with_encoders(fitted: Any, views: Any) -> Any:
    """Return a model that was read from a file with the encoders of what reads its table."""
    encoders = encoders_of(views)
    if not encoders:
        return fitted
    embedded = fitted.fitted_.table.embeddings
    same = {
        name: [one for one in encoders if entry.identity.is_same(one.identity(entry.of_pictures))]
        for name, entry in embedded.items()
    }
    return set_encoders(fitted, {name: found[0] for name, found in same.items() if found})


def _key(model: Harmonium, X: Any, y: Any) -> str:
    """Return a short text that differs where settings or data do."""
    digest = hashlib.sha256(repr(sorted(model.get_params().items(), key=str)).encode())
    for part in (X, y):
        for name, array in _arrays(part):
            digest.update(f"{name}{array.shape}{array.dtype}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:12]


def _arrays(part: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Yield everything that data consist of; what cannot be looked into is like nothing else."""
    if isinstance(part, pd.Series):
        part = part.to_frame()
    if isinstance(part, pd.DataFrame):
        for number in range(part.shape[1]):
            yield f"column {part.columns[number]!r}", np.zeros(0)
            yield from packed_columns(part.iloc[:, [number]])[1].items()
    elif isinstance(part, Views):
        for _, rows in part.in_memory():
            for name in rows.names:
                source = rows.source(name)
                yield name, source.rows
                parts = ("data", "indices", "indptr") if source.is_sparse else ()
                arrays = [getattr(source.matrix, part) for part in parts] or [source.matrix]
                yield from ((name, array) for array in arrays)
    elif scipy.sparse.issparse(part):
        yield from (("", array) for array in (part.data, part.indices, part.indptr))
    elif isinstance(part, np.ndarray) and part.dtype != object:
        yield "", part
    elif part is not None:
        yield "", np.frombuffer(os.urandom(16), dtype=np.uint8)


def _gathered(rows: Any, kept: np.ndarray) -> Views:
    """Return some rows in memory."""
    views: Views = rows[kept]
    return join_views([part for _, part in views.in_memory()])


def _side_by_side(X: Any, y: Any) -> tuple[Any, Any]:
    """Return X and targets whose rows stand in the same order.

    From here on rows are counted, so targets lose their names: whoever looked at them again would say the same twice.
    """
    rows, targets = split_target(X, y)
    targets = in_order_of(rows, "y", targets)
    is_named = isinstance(targets, pd.DataFrame | pd.Series)
    return rows, targets.reset_index(drop=True) if is_named else targets


def _as_rows(X: Any) -> Any:
    """Return whatever a model takes as something of which rows can be taken: a pandas frame, views, or a matrix."""
    if isinstance(X, Shards):
        return X.views()
    if is_frame(X):
        return X if isinstance(X, pd.DataFrame) else frame_of(X).to_pandas()
    views = read_collection(X)
    if views is not None:
        return views
    return scipy.sparse.csr_array(X) if scipy.sparse.issparse(X) else np.asarray(X)


def _taken(X: Any, rows: np.ndarray) -> Any:
    """Return some rows."""
    if isinstance(X, pd.DataFrame | pd.Series):
        return X.iloc[rows].reset_index(drop=True)
    return X[rows] if isinstance(X, Views) or scipy.sparse.issparse(X) else np.asarray(X)[rows]


def _n_rows(rows: Any) -> int:
    return int(rows.shape[0]) if scipy.sparse.issparse(rows) else len(rows)
