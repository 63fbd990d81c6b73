"""Number of units: growing, removing and merging them."""
