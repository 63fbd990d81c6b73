"""Turn raw text and images into the count and real-valued views that the models take."""
