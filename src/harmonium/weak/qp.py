"""The small quadratic programme of the cutting plane, solved by PIQP."""

from __future__ import annotations

import numpy as np

_PRECISION = 1e-9


def simplex_qp(gram: np.ndarray, linear: np.ndarray, total: float) -> tuple[np.ndarray, float]:
    """Maximise  linear·a − ½ aᵀ gram a  subject to  a >= 0, Σ a <= total; the maximiser and its value.

    The maximiser is feasible to the last digit, so that its value is a bound one can rely on.

    Examples
    --------
    >>> import numpy as np
    >>> simplex_qp(np.eye(2), np.array([0.5, 2.0]), 1.0)[0].round(6)
    array([0., 1.])
    """
    import piqp  # an extra; fit has asked for it by the time this is called

    n_variables = len(linear)
    solver = piqp.DenseSolver()
    solver.settings.verbose = False
    solver.settings.eps_abs = solver.settings.eps_rel = _PRECISION
    # in shares of the total all numbers are of the same size, whatever it is
    solver.setup(
        total * gram,
        -linear,
        None,
        None,
        np.ones((1, n_variables)),
        np.array([-np.inf]),
        np.ones(1),
        np.zeros(n_variables),
        np.ones(n_variables),
    )
    solver.solve()
    shares = np.maximum(solver.result.x, 0)
    # an interior point leaves traces of what should be zero: they would keep useless cuts alive
    shares[shares < 1e-3 * _PRECISION**0.5] = 0
    shares /= max(1.0, shares.sum())
    solution = total * shares
    return solution, float(linear @ solution - 0.5 * solution @ gram @ solution)
