"""Imported by the process that workers of test clusters are forked from, so that each need not load all kernels."""

from harmonium import Harmonium, Stochastic
from tests.cases.shards import two_views

Harmonium(3, driver=Stochastic(max_iter=1, batch_size=10), random_state=0).fit({"words": two_views()[0]["words"]})
