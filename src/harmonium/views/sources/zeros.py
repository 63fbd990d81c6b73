"""Dense matrices that are nearly all zeros, such as counts of words: work on them is faster with sparse rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from harmonium.kernels.sparse.csr import SparseRows

# Columns from which on, and share of non-zeros up to which, sparse rows pay, their making included. Measured for three
# epochs of Bernoulli, Poisson and ReplicatedSoftmax, with 20 and with 100 units, on one thread, as time with dense rows
# by time with sparse ones, while the machine did other work, too: with a tenth of non-zeros 1.0 to 1.2 at 100 columns,
# 1.1 to 1.5 at 300, 1.4 to 2.9 at 1000 and 1.8 to 2.5 at 3000; with a hundredth 1.1 to 1.7, 1.5 to 2.4, 1.9 to 4.1 and
# 3 to 10; with a fifth 0.9 to 1.0, 0.9 to 2.1, 1.1 to 2.3 and 1.3 to 1.9.
_FEWEST_COLUMNS = 300
_LARGEST_SHARE = 0.1
# Memory that sparse rows may take, in bytes: what it takes to look through a dense matrix in blocks, which they spare
# (90 MB were measured, with sparse rows 20), or a tenth of what the matrix has. An entry is a float32 and the number of
# its column, an int32.
_MEMORY, _SHARE_OF_MEMORY, _BYTES = 64e6, 0.1, 8
# cells that are looked at together; it decides about memory and speed alone
_BLOCK_CELLS = 4_000_000


def sparse_rows_of(matrix: np.ndarray | scipy.sparse.csr_array) -> scipy.sparse.csr_array | None:
    """Return a dense matrix as sparse rows in single precision if they pay; None if they do not.

    Nothing may be missing or below zero.
    """
    if scipy.sparse.issparse(matrix) or matrix.shape[1] < _FEWEST_COLUMNS or not matrix.size:
        return None
    n_stored = int(np.count_nonzero(matrix))
    most = max(_MEMORY, _SHARE_OF_MEMORY * matrix.nbytes) / _BYTES
    if n_stored > min(_LARGEST_SHARE * matrix.size, most) or not matrix.min() >= 0:  # which NaN is not, either
        return None
    starts = np.zeros(len(matrix) + 1, dtype=np.int64)
    columns, values = np.empty(n_stored, dtype=np.int32), np.empty(n_stored, dtype=np.float32)
    step, place = max(1, _BLOCK_CELLS // matrix.shape[1]), 0
    for first in range(0, len(matrix), step):
        block = matrix[first : first + step]
        dtype = np.float32 if np.can_cast(block.dtype, np.float32) else np.float64
        rows = SparseRows.from_dense(np.ascontiguousarray(block, dtype=dtype))
        stored = slice(place, place + rows.nnz)
        columns[stored], values[stored] = rows.indices, rows.data
        starts[first : first + len(block) + 1] = place + rows.indptr
        place = stored.stop
    return scipy.sparse.csr_array((values, columns, starts), shape=matrix.shape)
