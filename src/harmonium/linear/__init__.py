"""Linear model of the inputs: the linear part of scores, a baseline, and a judge of how views are scaled."""
