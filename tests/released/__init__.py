"""Model files of released versions."""
