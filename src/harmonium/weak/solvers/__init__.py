"""Solvers of weakly supervised problems: the concave-convex procedure, cutting planes, descent of the dissimilarity."""
