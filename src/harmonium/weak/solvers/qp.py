"""The small quadratic programme of the cutting plane, solved by PIQP."""

from __future__ import annotations

import numpy as np

# Precision of the solver: far below the duality gaps that matter (1e-3 by default), and well within double precision.
_PRECISION = 1e-9


def simplex_qp(gram: np.ndarray, linear: np.ndarray, total: float) -> tuple[np.ndarray, float]:
    """Maximise linear·a − ½ aᵀ gram a subject to a >= 0 and Σ a <= total.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Positive semi-definite matrix.
    linear : ndarray of shape (n,)
        Linear term.
    total : float
        Largest sum of the variables.

    Returns
    -------
    solution : ndarray of shape (n,)
        The maximiser. It satisfies the constraints to the last digit, so that its value is a true lower bound.
    value : float
        The maximum.

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
    # as shares of the total, variables are of the same size whatever the total is
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
    # an interior-point solver leaves numbers far below the root of its precision in place of zeros, which would keep
    # useless cuts
    shares[shares < 1e-3 * _PRECISION**0.5] = 0
    shares /= max(1.0, shares.sum())
    solution = total * shares
    return solution, float(linear @ solution - 0.5 * solution @ gram @ solution)
