"""Sources of a view: matrices that batches are cut from, and what is known of their columns."""
