"""X that does not fit into memory: what an estimator learns of it from the first shard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harmonium.exceptions import InvalidViewError
from harmonium.tables.transformer import frame_of, table_reader
from harmonium.views import Shards, Views
from harmonium.views.frames import is_frame
from harmonium.views.sharding.conversion import Conversion


def read_shards(estimator: Any, shards: Shards, reset: bool, read: Callable[[Any, Any, bool], Views]) -> Views:
    """Return the views of shards; ``read`` is told of the first block, as if it were all there is.

    Parameters
    ----------
    estimator : estimator
        Learns, or is compared with, the number and names of the columns.
    shards : Shards
        The data.
    reset : bool
        Whether it is to be fitted.
    read : callable
        Reads one block: `harmonium.estimators.preparation.read`.

    Returns
    -------
    Views
        The views, whose rows stay where they are.
    """

    def learn(first: Any) -> None:
        if reset and is_frame(first) and table_reader(estimator.views, frame_of(first)) is not None:
            raise InvalidViewError(
                "A table in shards needs a TableViews that has seen more than one of them; got a frame with columns "
                "that are no numbers; pass Shards.from_parquet(..., read=TableViews().fit(shards.sample()))."
            )
        read(estimator, first, reset)

    shards.first(learn)
    if reset:
        return shards.views(Conversion(estimator.views))
    dropped = names_of_targets(estimator)
    return shards.views(Conversion(estimator.views, estimator.fitted_.table, tuple(sorted(dropped))))


def names_of_targets(estimator: Any) -> set[str]:
    """Return the names of the targets of a fitted estimator, and of columns that were left out by name.

    Names of columns that it was fitted on, too, are not among them.
    """
    meaning = estimator.fitted_.meaning
    targets = () if meaning is None else meaning.names or ()
    return {*targets, *estimator._left_out} - set(getattr(estimator, "feature_names_in_", ()))
