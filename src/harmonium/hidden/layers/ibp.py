"""The Indian buffet process: a prior over features without a number of features."""

from __future__ import annotations

from typing import Literal, Self

from harmonium.hidden.base import NUMBER_OF_UNITS
from harmonium.hidden.layers.spike_slab import SpikeSlab
from harmonium.hidden.selection.prior import IndianBuffetPrior


class IBP(SpikeSlab):
    """Hidden layer that infers its number of units, by an Indian buffet process.

    Units are born from what is left unexplained, as many as stand out of chance. Where something is predicted and the
    views say clearly more about it than these units, others are added for the loss; those without evidence are removed
    at the end of ``fit``.

    Parameters
    ----------
    alpha : float or "learn", default=2.0
        Number of units that an item is expected to have a priori; "learn" takes the value that maximises the bound on
        the prior. The default is a convention: it matters only for units whose evidence is a few nats
        (``benchmarks/infinite_truth``).
    truncation : int, optional
        Largest number of units. By default it is the ``n_components`` of the estimator. Larger values take more time
        and change little else.
    kind : {"binary", "real"}, default="binary"
        Value of a unit for an item that has it: 1, or a real number (the slab).
    variance : float, default=1.0
        Variance s² of the slab. It is not learned, as it is the same as a factor s of all weights, which are.
    inference : {"joint", "factorised"}, default="joint"
        How z and h are inferred: together and exactly, or by the iteration ν ↔ E[h] of the paper. For binary units both
        are the same.
    relevance : float, default=1.0
        Factor of what the weights of a unit cost with a head, and in ``partial_fit``. The cost comes from the evidence
        and is half a logarithm for each weight, so that a unit stays only if it explains more than that; 1.0 charges it
        in full. With 0 there is no cost, and units are kept on little evidence.

    Notes
    -----
    The prior is the stick-breaking form π_k = Π_{j≤k} v_j with v_j ~ Beta(α, 1), and the posterior a truncated
    mean-field one. ``fit`` compares the spectrum of the residuals with that of rows which the model has
    drawn itself, and weighs what stands out with the prior of the number of units, Poisson(α (1 + … + 1/n)). Rows that
    are held out while units are born then have to bear the births out; see `harmonium.training.growth.grow`. The
    constants of that were set on draws 1, 2 and 1000 to 1003 of ``benchmarks/infinite_truth``, which shows others.

    References
    ----------
    Chen, Zhu, Sun & Zhang (2013), Learning harmonium models with infinite latent features; Doshi-Velez, Miller, Van
    Gael & Teh (2009), Variational inference for the Indian buffet process.

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import Harmonium
    >>> rng = np.random.default_rng(0)
    >>> has = rng.random((500, 5)) < 0.4
    >>> X = has @ rng.normal(size=(5, 30)) * 2 + rng.normal(size=(500, 30))
    >>> Harmonium(hidden=IBP(truncation=50), random_state=0).fit(X).n_components_
    5
    """

    settings = {
        **{name: setting for name, setting in SpikeSlab.settings.items() if name != "n_units"},
        "truncation": NUMBER_OF_UNITS,
    }

    def __init__(
        self,
        alpha: float | Literal["learn"] = 2.0,
        truncation: int | None = None,
        kind: Literal["binary", "real"] = "binary",
        variance: float = 1.0,
        inference: Literal["joint", "factorised"] = "joint",
        relevance: float = 1.0,
    ) -> None:
        super().__init__(alpha, kind, variance, inference, relevance)
        self.truncation = truncation

    def bind(self, n_components: int, n_outputs: int = 0) -> Self:
        """Return a fitted copy of the layer, which knows its largest number of units."""
        return self.restore(int(n_components if self.truncation is None else self.truncation))

    @property
    def selection(self) -> IndianBuffetPrior:
        """The Indian buffet process."""
        return IndianBuffetPrior(self)
