"""Binary variables joined by the edges of a graph: exact sums by elimination, tree-reweighted bounds, Gibbs sampling."""
