"""Mixins of estimators: what all of them answer once they are fitted."""
