"""Binary variables joined by edges of a graph: exact sums by elimination, tree-reweighted bounds, Gibbs sampling."""
