"""2-opt and 3-opt along quadrant neighbour lists, to a local optimum (`search`)."""

from warptsp.papers.neighbor_lists.search import descent

METHOD = descent("neighbor-three-opt", "3-opt along neighbour lists", three=True, min_gpu_cities=100_000)
