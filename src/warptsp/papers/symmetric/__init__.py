"""Symmetrical 2-opt moves, any subset of which is made at once, and annealing with them (document 003)."""
