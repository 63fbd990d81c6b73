"""Inference: mean field, block Gibbs, exact enumeration, annealing, naive Monte Carlo, perfect sampling, …"""
