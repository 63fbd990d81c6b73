"""Encoders of texts and pictures: what makes an embedding, and how another one is told from it.

Nothing is downloaded: an encoder is a callable, an object with ``encode`` that somebody has loaded, such as those of
sentence-transformers and model2vec, an ONNX file, or a matrix that was computed elsewhere.
"""

from harmonium.features.encoders.encoder import Encoder, as_encoder
from harmonium.features.encoders.identity import EncoderIdentity
from harmonium.features.encoders.onnx import OnnxModel

__all__ = ["Encoder", "EncoderIdentity", "OnnxModel", "as_encoder"]
