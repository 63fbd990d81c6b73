"""Features that the published experiments call for and the library does without."""
