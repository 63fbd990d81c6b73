"""Encoders that remember what they have answered."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from harmonium.features.encoders.identity import PROBE_TEXTS, EncoderIdentity, probe_pictures
from harmonium.features.encoders.onnx import OnnxModel

#: digests of values, of shape (n_values, 32), and the embedding of each
Answers = tuple[np.ndarray, np.ndarray]
# Bytes of answers that are remembered, as a table is read several times in a fit: a convention.
_REMEMBERED = 2**30


class Encoder:
    """Turn texts or pictures into an embedding, each of them once.

    Parameters
    ----------
    encode : callable or object with ``encode``, optional
        From a list of texts (or of pictures, as arrays) to an array with a row for each of them: a function, or a model
        of sentence-transformers or model2vec that is loaded. Default: only what `remember` was told is known.
    name : str, optional
        Name for people to read. Default: that of the function or of the class.

    See Also
    --------
    harmonium.TableViews : ``embed`` gives columns their encoders.

    Notes
    -----
    Answers are remembered, up to a gigabyte, so that a table which is read several times is encoded once.

    Examples
    --------
    >>> def lengths(texts):
    ...     return [[len(text), text.count(" ")] for text in texts]
    >>> encoder = Encoder(lengths)
    >>> encoder(["a room", "a quiet room"]).tolist(), encoder.identity().name
    ([[6.0, 1.0], [12.0, 2.0]], 'lengths')

    A matrix that was computed elsewhere serves as well:

    >>> Encoder(name="MiniLM").remember(["a room", "a bed"], [[1, 9], [2, 4]])(["a bed"]).tolist()
    [[2.0, 4.0]]
    """

    def __init__(self, encode: Any = None, name: str | None = None) -> None:
        if encode is None and not name:
            raise ValueError(
                "An Encoder without a function needs a name, which tells it from others; got none; pass name='…'."
            )
        self._encode = None if encode is None else _function_of(encode)
        self.name = name or _text_of(encode, "name") or _text_of(encode, "__name__") or type(encode).__name__
        self._file_digest = encode.digest if isinstance(encode, OnnxModel) else None
        self._known: OrderedDict[bytes, np.ndarray] = OrderedDict()
        self._identity: EncoderIdentity | None = None
        self._offered: Mapping[str, Answers] = {}

    @classmethod
    def restored(cls, identity: EncoderIdentity, keys: np.ndarray, answers: np.ndarray) -> Self:
        """Return one that only knows what another one has answered.

        Parameters
        ----------
        identity : EncoderIdentity
            What is known of the other one.
        keys, answers : ndarray
            What its `answers_to` returned.

        Returns
        -------
        Encoder
            The encoder, which refuses everything else.
        """
        result = cls(name=identity.name)
        result._identity = identity
        result._take(keys, answers)
        return result

    def remember(self, values: Sequence[Any], answers: Any) -> Self:
        """Take answers that are known already.

        Parameters
        ----------
        values : sequence of str or of array
            Texts or pictures.
        answers : array-like of shape (n_values, dimension)
            The embedding of each.

        Returns
        -------
        Encoder
            The encoder itself.
        """
        rows = _checked(self.name, answers, len(values), self._dimension)
        self._known.update(zip(map(digest_of, values), rows, strict=True))
        return self

    def offer(self, kept: Mapping[str, Answers]) -> None:
        """Take what the same encoder has answered before.

        It is taken once it is known which encoder this is.

        Parameters
        ----------
        kept : mapping of str to tuple of ndarray
            What `answers` returned, by the digest of the encoder's identity.
        """
        self._offered = {**self._offered, **kept}
        if self._identity is not None:
            self._take(*kept.get(self._identity.digest, ((), ())))

    def learn_from(self, other: Encoder) -> None:
        """Take what another one, which is the same, has answered.

        Parameters
        ----------
        other : Encoder
            The other one.
        """
        for key, answer in other._known.items():
            self._known.setdefault(key, answer)

    def _take(self, keys: Any, answers: Any) -> None:
        self._known.update(zip((bytes(key) for key in keys), answers, strict=True))

    def __call__(self, values: Sequence[Any]) -> np.ndarray:
        """Return the embedding of texts or pictures.

        Parameters
        ----------
        values : sequence of str or of array
            Texts or pictures.

        Returns
        -------
        ndarray of float32 of shape (n_values, dimension)
            A row for each.
        """
        keys = [digest_of(value) for value in values]
        if not keys:
            return np.zeros((0, self._dimension or self.identity().dimension), dtype=np.float32)
        new = {key: value for key, value in zip(keys, values, strict=True) if key not in self._known}
        fresh = dict(zip(new, self._answers(list(new.values())), strict=True)) if new else {}
        result = np.stack([fresh[key] if key in fresh else self._known[key] for key in keys])
        self._known.update(fresh)
        most = max(_REMEMBERED // result[0].nbytes, 1)
        while self._encode is not None and len(self._known) > most:
            self._known.popitem(last=False)
        return result

    @property
    def is_asked(self) -> bool:
        """Whether it has been asked for anything, so that its identity is known."""
        return self._identity is not None

    @property
    def takes_new(self) -> bool:
        """Whether it can encode what it has not been told."""
        return self._encode is not None

    def answers(self) -> Answers:
        """Return all answers that are remembered.

        Returns
        -------
        keys, answers : ndarray
            As `answers_to` returns them.
        """
        keys = np.frombuffer(b"".join(self._known), dtype=np.uint8).reshape(-1, 32)
        return keys, np.stack(list(self._known.values())) if self._known else np.zeros((0, 1), dtype=np.float32)

    def answers_to(self, values: Sequence[Any]) -> Answers:
        """Return the answers to some values as arrays, for files.

        Parameters
        ----------
        values : sequence of str or of array
            Texts or pictures.

        Returns
        -------
        keys : ndarray of uint8 of shape (n_different, 32)
            Digests of the different values.
        answers : ndarray of float32 of shape (n_different, dimension)
            Their embeddings.
        """
        different = {digest_of(value): value for value in values}
        keys = np.frombuffer(b"".join(different), dtype=np.uint8).reshape(-1, 32)
        return keys, self(list(different.values()))

    def identity(self, of_pictures: bool = False) -> EncoderIdentity:
        """Return what tells this encoder from others.

        It is asked for some fixed texts or pictures, once.

        Parameters
        ----------
        of_pictures : bool, default=False
            Whether it takes pictures.

        Returns
        -------
        EncoderIdentity
            Name, dimension, digest and answers.
        """
        if self._identity is None:
            self._identity = self._asked(of_pictures)
            self.offer(self._offered)
        return self._identity

    def _asked(self, of_pictures: bool) -> EncoderIdentity:
        if self._encode is None:
            if not self._known:
                raise ValueError(
                    f"The encoder {self.name!r} must know something; it has neither a function nor answers; call "
                    "remember(values, answers)."
                )
            dimension = len(next(iter(self._known.values())))
            return EncoderIdentity(self.name, dimension, hashlib.sha256(self.name.encode()).hexdigest(), [])
        answers = self._answers(probe_pictures() if of_pictures else list(PROBE_TEXTS))
        digest = self._file_digest or hashlib.sha256(answers.tobytes()).hexdigest()
        return EncoderIdentity(self.name, answers.shape[1], digest, answers.astype(np.float64).tolist())

    def _answers(self, values: list[Any]) -> np.ndarray:
        """Return what the function says, checked."""
        if self._encode is None:
            raise ValueError(
                f"The encoder {self.name!r} is not here, but only what it said of other values; got "
                f"{_shown(values[0])} and {len(values) - 1} more; pass it to load, open or set_encoders, or tell it by "
                "remember(values, answers)."
            )
        return _checked(self.name, self._encode(values), len(values), self._dimension)

    @property
    def _dimension(self) -> int | None:
        if self._identity is not None:
            return self._identity.dimension
        return len(next(iter(self._known.values()))) if self._known else None

    def __deepcopy__(self, memo: Mapping[int, Any]) -> Self:
        return self  # weights may be large, and answers are those of the same encoder

    def __repr__(self) -> str:
        return f"Encoder({self.name!r})"


def as_encoder(value: Any) -> Encoder:
    """Return an encoder from whatever may stand for one.

    Parameters
    ----------
    value : Encoder, callable, object with ``encode``, str or path
        An encoder, what `Encoder` takes, or the path of an ONNX file.

    Returns
    -------
    Encoder
        The encoder.

    Examples
    --------
    >>> as_encoder(lambda texts: [[len(text)] for text in texts])(["four"]).tolist()
    [[4.0]]
    """
    if isinstance(value, Encoder):
        return value
    if isinstance(value, str | os.PathLike):
        return Encoder(OnnxModel(value))
    if isinstance(value, np.ndarray):
        raise TypeError(
            "An encoder must know which row belongs to which text; got an array; pass "
            "Encoder(name='…').remember(texts, array), or give the array as a view of its own."
        )
    return Encoder(value)


def _text_of(owner: Any, attribute: str) -> str | None:
    """Return an attribute if it is a text."""
    value = getattr(owner, attribute, None)
    return value if isinstance(value, str) else None


def _function_of(encode: Any) -> Callable[[list[Any]], Any]:
    """Return what is called; sentence-transformers' models are callable, too, but mean something else by it."""
    method = getattr(encode, "encode", None)
    function = method if callable(method) and not isinstance(encode, str | bytes) else encode
    if not callable(function):
        raise TypeError(
            f"An encoder must be a callable, an object with encode(texts), or the path of an ONNX file; got "
            f"{type(encode).__name__}; pass one of them."
        )
    return function


def _checked(name: str, answers: Any, n_values: int, dimension: int | None = None) -> np.ndarray:
    """Return answers as float32, a row for each value; refuse others."""
    rows = np.ascontiguousarray(answers, dtype=np.float32)
    fits = rows.ndim == 2 and rows.shape[0] == n_values and rows.shape[1] > 0
    if not fits or rows.shape[1] != (dimension or rows.shape[1]):
        raise ValueError(
            f"The encoder {name!r} must give a row for each of {n_values} values, of {dimension or 'as many'} numbers; "
            f"got shape {rows.shape}; correct it."
        )
    if not np.isfinite(rows).all():
        wrong = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise ValueError(f"The encoder {name!r} must give finite numbers; those of value {wrong} are not; correct it.")
    return rows


def digest_of(value: Any) -> bytes:
    """Return a digest of a text or a picture, by which answers are known.

    Parameters
    ----------
    value : str or array
        A text or a picture.

    Returns
    -------
    bytes
        SHA-256.

    Examples
    --------
    >>> digest_of("a room") == digest_of("a room"), len(digest_of("a room"))
    (True, 32)
    """
    if isinstance(value, str):
        return hashlib.sha256(value.encode("utf-8", "surrogatepass")).digest()
    pixels = np.ascontiguousarray(value)
    return hashlib.sha256(repr((pixels.shape, pixels.dtype)).encode() + pixels.tobytes()).digest()


def _shown(value: Any) -> str:
    return repr(value[:40]) if isinstance(value, str) else "a picture"
