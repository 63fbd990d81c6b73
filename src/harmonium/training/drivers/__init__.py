"""Drivers: the only loops over data, and what they share."""
