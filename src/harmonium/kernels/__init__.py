"""The few fused loops that matter, and the one place that decides who is parallel."""
