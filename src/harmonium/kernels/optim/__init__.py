"""Steps of optimisers, lazy Adam, dual coordinate descent and the multiclass hinge loss."""
