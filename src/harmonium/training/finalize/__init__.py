"""End of a fit: coordinates of the units and relevance of the features."""
