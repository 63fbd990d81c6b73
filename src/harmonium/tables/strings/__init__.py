"""Strings of cells: formats of numbers and dates, measures with units, character n-grams, separators, names."""
