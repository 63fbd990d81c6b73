"""Topics of a fitted model: their features, labels and values, how they shift, and whether they are stable."""
