"""Binary Markov chains: means and log-partition, exact samples, and counts of sequences."""
