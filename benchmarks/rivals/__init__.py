"""Rival methods that the benchmarks compare against, written to be fast and fair."""
