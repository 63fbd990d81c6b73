"""Identities of encoders: names, dimensions, digests, and answers to probes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

#: texts that encoders are asked for, to tell one from another
PROBE_TEXTS = (
    "The room was quiet and clean.",
    "Thin walls, could not sleep.",
    "Der Preis ist in Ordnung, 120 € für zwei.",
    "42",
)
# Answers of the same weights differ in their last digits between machines, batches and formats of files, by less than a
# hundred thousandth; those of rounded weights by some per cent. The limit between them is a convention.
_TOLERANCE = 0.01


def probe_pictures() -> list[np.ndarray]:
    """Return pictures that encoders are asked for: a ramp of each colour, as arrays of bytes."""
    ramp = np.tile(np.arange(0, 256, 4, dtype=np.uint8), (64, 1))
    return [np.stack([ramp if at == colour else ramp.T for at in range(3)], axis=2) for colour in range(3)]


@dataclass(frozen=True)
class EncoderIdentity:
    """What a model keeps of the encoder that made an embedding.

    Parameters
    ----------
    name : str
        Name for people to read.
    dimension : int
        Number of columns of the embedding.
    digest : str
        SHA-256 of the files of the encoder, or of its answers.
    answers : list of list of float
        What it makes of some fixed texts or pictures. Empty if it can only say what it was told; then its name alone
        tells it from others.

    Examples
    --------
    >>> one = EncoderIdentity("a", 2, "0f", [[1.0, 2.0]])
    >>> one.is_same(EncoderIdentity("b", 2, "1e", [[1.0, 2.000001]])), one.is_same(EncoderIdentity("a", 3, "2d", []))
    (True, False)
    """

    name: str
    dimension: int
    digest: str
    answers: list[list[float]]

    def is_same(self, other: EncoderIdentity) -> bool:
        """Tell whether another encoder gives the same answers.

        Parameters
        ----------
        other : EncoderIdentity
            What is known of the other one.

        Returns
        -------
        bool
            True for the same digest, or the same answers to within a hundredth of their size.
        """
        if self.dimension != other.dimension or bool(self.answers) != bool(other.answers):
            return False
        if self.digest == other.digest:
            return True
        if not self.answers or np.shape(self.answers) != np.shape(other.answers):
            return False
        mine, theirs = np.array(self.answers), np.array(other.answers)
        return bool(np.linalg.norm(mine - theirs) <= _TOLERANCE * np.linalg.norm(mine))

    def facts(self) -> dict[str, Any]:
        """Return everything by name, as files keep it.

        Returns
        -------
        dict
            Name, dimension, digest and answers.
        """
        return asdict(self)

    @classmethod
    def restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return what `facts` described; raise a ValueError if it is no such thing.

        Parameters
        ----------
        facts : mapping
            What `facts` returned.

        Returns
        -------
        EncoderIdentity
            The identity.
        """
        name, dimension, digest, answers = (facts[key] for key in ("name", "dimension", "digest", "answers"))
        numbers = np.array(answers, dtype=np.float64)
        is_whole = isinstance(dimension, int) and not isinstance(dimension, bool) and dimension > 0
        has_shape = numbers.size == 0 or (numbers.ndim == 2 and numbers.shape[1] == dimension)
        if not (is_whole and has_shape and np.isfinite(numbers).all() and len(facts) == 4):
            raise ValueError("an encoder must have a name, a dimension, a digest and answers of that dimension")
        return cls(str(name), dimension, str(digest), numbers.tolist())

    def __str__(self) -> str:
        return f"{self.name} ({self.dimension} dimensions, {self.digest[:8]})"
