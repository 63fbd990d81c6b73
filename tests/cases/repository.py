"""Where this repository is, for tests that read its pages or run its modules in other processes."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
