"""Small modules that everything stands on: parts and their settings, parameters, targets, distributions, batches."""
