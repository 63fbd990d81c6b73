"""Features of images that are made once and kept on disk."""

from pathlib import Path

CACHE = Path(__file__).parents[1] / "cache"
