"""Views cut into blocks that fit into memory, ready to ask a model about."""

from __future__ import annotations

from collections.abc import Iterator

from harmonium.core.batch import Batch
from harmonium.core.parameters import Parameters
from harmonium.kernels.sparse.matrix import upcast_dense
from harmonium.objectives.problem import inferred
from harmonium.training import FittedModel
from harmonium.views import Views

# Cells of a block, and cells that a sparse row counts for: for memory only.
_BLOCK_CELLS = 4_000_000
SPARSE_CELLS = 64


def blocks(model: FittedModel, views: Views, n_copies: int = 1) -> Iterator[tuple[slice, Batch]]:
    """Yield blocks of rows of which ``n_copies`` fit into memory; sparse rows count by what is stored."""
    for start, part in views.in_memory():
        cells = sum(
            # what is missing is inferred densely
            SPARSE_CELLS if part.is_sparse_throughout(name, family) else family.n_features_
            for name, family in model.families.items()
        )
        step = max(1, _BLOCK_CELLS // max(cells, model.n_units) // n_copies)
        for first in range(0, len(part), step):
            items = slice(first, min(first + step, len(part)))
            batch = part.batch(items, model.families)
            for view in batch.views.values():
                # vectorised code rounds a row differently at another place of the block; in double precision,
                # narrowed at the end, that does not show
                view.statistic = upcast_dense(view.statistic)
            yield slice(start + items.start, start + items.stop), batch


def completed(model: FittedModel, parameters: Parameters, batch: Batch, n_iterations: int = 10) -> Batch:
    """Return the batch with its missing part inferred at some parameters."""
    return inferred(model.energy, model.head, parameters, batch, model.reference, n_iterations)


def completed_blocks(model: FittedModel, views: Views, n_copies: int = 1) -> Iterator[tuple[slice, Batch]]:
    """Yield blocks of rows, as `blocks` does, with what is missing filled in."""
    for items, batch in blocks(model, views, n_copies):
        yield items, completed(model, model.parameters, batch)
