"""Linear model of the inputs: scaled views, solvers, search on held-out rows, and stacking with the hidden units."""
