"""2-opt along quadrant neighbour lists, to a local optimum (`search`)."""

from warptsp.papers.neighbor_lists.search import descent

METHOD = descent("neighbor-two-opt", "2-opt along neighbour lists", three=False, min_gpu_cities=300_000)
