"""Benchmarks of harmonium: one module for each claim, one runner, results kept as data.

``python -m benchmarks list`` says what there is; README.md in this folder how to run, read and add one.
"""
