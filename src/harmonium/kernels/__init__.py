"""Loops that NumPy is too slow for, and the one place that decides what runs in parallel (`runtime`)."""
