"""The energy of a harmonium: naturals, joint and free energy, exact and without clipping or approximation.

    log p(x, h) = Σ_v [θ_v·φ(x_v) + log r_v(x_v)] + λ·h + log s(h) + Σ_v φ(x_v)ᵀ W_v h - log Z

In views with row weights (`Length.row_weight`), the coupling φ(x_v)ᵀ W_v h is multiplied by that of the row's size,
which is given: for each size there is a distribution over rows of any size, with a log Z of its own.
Everything else follows from the log-partitions of the families and of the hidden layer.
"""

from __future__ import annotations

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN, HIDDEN_BIAS, Parameters, bias_of, extra_of, weights_of
from harmonium.exceptions import IncompatiblePartsError
from harmonium.families import Family
from harmonium.families.protocol.extra_parameters import Extra
from harmonium.hidden import HiddenLayer
from harmonium.kernels.sparse.entries import entries
from harmonium.kernels.sparse.products import add_statistic_times_weights, hidden_times_weights


class Energy:
    """Structure of a model: the family of each view and the hidden layer, both fitted.

    Parameters
    ----------
    families : dict of str to Family
        Fitted families by view.
    hidden : HiddenLayer
        Fitted hidden layer.

    Raises
    ------
    IncompatiblePartsError
        If a family and the hidden layer cannot be normalised together.

    Examples
    --------
    >>> from harmonium import Bernoulli
    >>> from harmonium.hidden import BernoulliUnits
    >>> from harmonium.core.batch import ViewBatch
    >>> energy = Energy({"x": Bernoulli().restore(2, {})}, BernoulliUnits().bind(1))
    >>> parameters = {"hidden.bias": np.zeros(1), "x.weights": np.ones((2, 1)), "x.bias": np.zeros(2)}
    >>> batch = Batch({"x": ViewBatch(np.array([[1.0, 1.0]]))}, 1)
    >>> energy.free_energy(parameters, batch).round(4).tolist()  # -log(1 + e^2)
    [-2.1269]
    """

    def __init__(self, families: dict[str, Family], hidden: HiddenLayer) -> None:
        check_normalisable(families, hidden)
        self.families = families
        self.hidden = hidden
        self._extra_names = tuple(hidden.extra_parameters())

    # ---- naturals ------------------------------------------------------------------------------------------------
    def hidden_natural(self, parameters: Parameters, batch: Batch, with_bias: bool = True) -> np.ndarray:
        """Return λ + Σ_v φ(x_v) W_v, of shape (rows, units); a view's term is multiplied by its row weights."""
        bias = parameters[HIDDEN_BIAS]
        natural = np.zeros((batch.n_rows, len(bias)), dtype=bias.dtype)
        if with_bias:
            natural += bias
        for name, view in batch.views.items():
            weights = parameters[weights_of(name)]
            row_weight = self.families[name].length.row_weight(view.size)
            total = natural if row_weight is None else np.zeros_like(natural)
            if view.projection is not None:
                total += view.projection
            else:
                add_statistic_times_weights(view.statistic, weights, total)
            if view.fill is not None:
                rows, values = view.fill
                total[rows] += values @ weights
            if row_weight is not None:
                natural += _times_rows(total, row_weight)
        if batch.natural_shift is not None:
            natural = natural + batch.natural_shift
        return natural

    def view_natural(
        self, parameters: Parameters, view: str, hidden: np.ndarray, size: np.ndarray | None = None
    ) -> np.ndarray:
        """Return θ_v + W_v h, of shape (rows, features); W_v h is multiplied by row weights, if any."""
        weighted = self.row_weighted(view, hidden, size)
        return hidden_times_weights(weighted, parameters[weights_of(view)], parameters[bias_of(view)])

    def row_weighted(self, view: str, hidden: np.ndarray, size: np.ndarray | None) -> np.ndarray:
        """Return what hidden units are to the rows of a view: their values times the weight of each row, if any.

        Whatever else has a row for each row of the view and a column for each unit is multiplied likewise.
        """
        row_weight = self.families[view].length.row_weight(size)
        return hidden if row_weight is None else _times_rows(hidden, row_weight)

    def extra(self, parameters: Parameters, view: str) -> dict[str, np.ndarray]:
        """Return the extra parameters of a view's family."""
        return {name: parameters[extra_of(view, name)] for name in self.families[view].extra_parameters.bounds}

    def layer(self, parameters: Parameters) -> HiddenLayer:
        """Return the hidden layer with its extra parameters, if it has any."""
        return self.hidden.at({name: parameters[extra_of(HIDDEN, name)] for name in self._extra_names})

    # ---- log-densities -------------------------------------------------------------------------------------------
    def log_visible(self, parameters: Parameters, batch: Batch) -> np.ndarray:
        """Return Σ_v [θ_v·φ(x_v) + log r_v(x_v)], of shape (rows,), in float64.

        Missing sites that were filled in count by their ``fill_term``.
        """
        total = np.zeros(batch.n_rows, dtype=np.float64)
        for name, view in batch.views.items():
            total += log_weight(self.families[name], view, parameters[bias_of(name)], self.extra(parameters, name))
            if view.fill_term is not None:
                total += view.fill_term
        return total

    def free_energy(self, parameters: Parameters, batch: Batch) -> np.ndarray:
        """Return F(x) = -log Σ_h exp(log p(x, h) + log Z), of shape (rows,), in float64.

        For rows with missing sites that were filled in, it is the variational free energy, an upper bound of the free
        energy in which these sites are summed out.
        """
        hidden_part = self.layer(parameters).log_partition(self.hidden_natural(parameters, batch).astype(np.float64))
        return -self.log_visible(parameters, batch) - hidden_part.sum(axis=1)

    def joint(self, parameters: Parameters, batch: Batch, hidden: np.ndarray) -> np.ndarray:
        """Return log p(x, h) + log Z, of shape (rows,), in float64."""
        natural = self.hidden_natural(parameters, batch)
        coupled = (natural * hidden + self.layer(parameters).log_base(hidden)).sum(axis=1, dtype=np.float64)
        return self.log_visible(parameters, batch) + coupled

    def log_marginal_of_hidden(
        self, parameters: Parameters, hidden: np.ndarray, sizes: dict[str, np.ndarray] | None = None
    ) -> np.ndarray:
        """Return log Σ_x exp(log p(x, h) + log Z), of shape (rows,), in float64.

        ``sizes`` holds the sizes of the rows, by view, for families that have them.
        """
        base = self.layer(parameters).log_base(hidden)
        total = (parameters[HIDDEN_BIAS] * hidden + base).sum(axis=1, dtype=np.float64)
        for name, family in self.families.items():
            size = (sizes or {}).get(name)
            natural = self.view_natural(parameters, name, hidden, size)
            log_partition = family.log_partition(natural, self.extra(parameters, name), size)
            total += log_partition.sum(axis=1, dtype=np.float64)
        return total


def _times_rows(values: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return each row of an array of real numbers times its factor, in the precision of the array."""
    return values * factors[:, None].astype(values.dtype, copy=False)


def log_weight(family: Family, view: ViewBatch, natural: np.ndarray, extra: Extra) -> np.ndarray:
    """Return Σ [natural·φ(x) + log r(x)] over the observed sites of each row of a view, in float64.

    ``natural`` has the shape (features,), or (rows, features).
    """
    cells = entries(view.statistic)
    if view.missing is None:
        return cells.row_sums(cells.at(natural) * cells.values + family.log_base(cells.values, extra, cells.columns))
    missing = cells.at(family.codec.spread(view.missing))
    values = np.where(missing, cells.values.dtype.type(0), cells.values)  # as observed sites may depend on them
    terms = cells.at(natural) * values + family.log_base(values, extra, cells.columns)
    return cells.row_sums(np.where(missing, 0, terms))


def check_normalisable(families: dict[str, Family], hidden: HiddenLayer) -> None:
    """Refuse parts that have no finite partition function together, whatever their non-zero weights."""
    for name, family in families.items():
        conflict = family.domain.conflict(hidden.support)
        if conflict is not None:
            raise IncompatiblePartsError(
                f"View {name!r} is {type(family).__name__} and cannot be normalised with {type(hidden).__name__}: "
                f"{conflict}."
            )
