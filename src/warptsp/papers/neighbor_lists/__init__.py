"""2-opt and 3-opt along neighbour lists, and iterated local search with them (document 004)."""
