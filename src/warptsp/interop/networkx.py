"""Tours through the nodes of NetworkX graphs; also a ``method`` of its ``traveling_salesman_problem``."""

# A graph is known by what it offers: `networkx` itself is not imported.

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp.errors import InvalidOption, InvalidProblem
from warptsp.problem import Problem
from warptsp.problem.values import real_array

__all__ = ["problem", "solve"]


def solve(
    graph: Any,
    weight: str | None = "weight",
    *,
    source: Hashable | None = None,
    init_cycle: Iterable[Hashable] | str | None = None,
    **options: Any,
) -> list[Hashable]:
    """Find a short cycle through all nodes of a complete graph.

    Parameters
    ----------
    graph : networkx.Graph or networkx.DiGraph
        With an edge between any two nodes, in both directions if it is directed. Edges from a node to itself
        are ignored. For a graph that is not complete see the example.
    weight : str, optional
        The edge attribute that is the length, a non-negative number; None means that each length is 1.
    source : node, optional
        Where the cycle begins; by default at the first node of the graph.
    init_cycle : list of nodes or str, optional
        A cycle to begin the search with, which the result will not be longer than; or the name of a start
        tour, such as ``"greedy"``.
    **options
        Of `warptsp.solve`, such as ``time_limit``, ``kicks`` or ``seed``. With ``open`` the nodes of a path.

    Returns
    -------
    list of nodes
        The cycle, with its first node repeated at the end; a path has each node once.

    Raises
    ------
    InvalidProblem
        If the graph is not complete, has parallel edges, or an edge has no proper weight.
    InvalidOption
        If `source` or a node of `init_cycle` is not in the graph.

    Examples
    --------
    Of any connected graph NetworkX makes a complete one by its shortest paths::

        import networkx, warptsp.interop.networkx

        roads = networkx.cycle_graph(5)
        networkx.approximation.traveling_salesman_problem(roads, method=warptsp.interop.networkx.solve)
    """
    from warptsp.solver import solve as solve_problem

    instance = problem(graph, weight)
    nodes = list(graph)
    number = {node: city for city, node in enumerate(nodes)}
    if source is not None and not _is_node(source, number):
        raise InvalidOption(f"source: {shown(source)} is not a node of the graph")
    if init_cycle is not None:
        if "start" in options:
            raise InvalidOption("init_cycle and start: both name a start tour; leave one of them out")
        options["start"] = init_cycle if isinstance(init_cycle, str) else _cities(init_cycle, number)
    result = solve_problem(instance, **options)
    if result.problem.open is not None:
        if source is not None:
            raise InvalidOption("source: a path has its own start; give open=OpenPath(start=...) its number")
        return [nodes[city] for city in result.tour]
    tour = result.tour if source is None else result.tour_from(number[source])
    return [nodes[city] for city in (*tour, tour[0])]


def problem(graph: Any, weight: str | None = "weight") -> Problem:
    """Make the instance of a complete graph: city i is the i-th node.

    Parameters
    ----------
    graph, weight
        As for `solve`.

    Raises
    ------
    InvalidProblem
        If the graph is not complete, has parallel edges, or an edge has no proper weight.
    """
    if not hasattr(graph, "is_multigraph") or not hasattr(graph, "is_directed"):
        raise InvalidProblem(f"a graph of NetworkX is needed, not {type(graph).__name__}")
    if isinstance(weight, bool) or not isinstance(weight, Hashable):
        raise InvalidProblem(f"weight: {shown(weight)} is not an edge attribute: its name is needed")
    if graph.is_multigraph():
        raise InvalidProblem(
            "the graph may have several edges between two nodes: networkx.Graph(graph), or DiGraph, has one"
        )
    nodes = list(graph)
    n = len(nodes)
    if n == 0:
        raise InvalidProblem("the graph has no nodes: at least one is needed")
    number = {node: city for city, node in enumerate(nodes)}
    directed = graph.is_directed()
    ends: list[tuple[int, int]] = []
    weights: list[Any] = []
    for a, b, length in graph.edges(data=weight, default=None) if weight is not None else _of_one(graph):
        if a == b:
            continue
        if length is None:
            raise InvalidProblem(
                f"the edge {shown(a)} - {shown(b)} has no attribute {shown(weight)}: every edge needs a "
                "length"
            )
        ends.append((number[a], number[b]))
        weights.append(length)
    lengths = _numbers(weights, ends, nodes)
    places = np.array(ends, dtype=np.intp).reshape(-1, 2)
    matrix = np.zeros((n, n), dtype=lengths.dtype)
    there = np.eye(n, dtype=np.bool_)
    for a, b in ((0, 1),) if directed else ((0, 1), (1, 0)):
        matrix[places[:, a], places[:, b]] = lengths
        there[places[:, a], places[:, b]] = True
    if not there.all():
        i, j = np.argwhere(~there)[0]
        count = int((~there).sum()) // (1 if directed else 2)
        raise InvalidProblem(
            f"the graph has no edge from {shown(nodes[i])} to {shown(nodes[j])}, and {count} are missing in "
            "all: it must be complete; networkx.approximation.traveling_salesman_problem(graph, "
            "method=warptsp.interop.networkx.solve) goes through other nodes instead"
        )
    return Problem.from_matrix(
        matrix, name=str(graph.name), labels=[str(node) for node in nodes], asymmetric=directed
    )


def _of_one(graph: Any) -> Iterable[tuple[Hashable, Hashable, int]]:
    return ((a, b, 1) for a, b in graph.edges())


def _numbers(weights: list[Any], ends: list[tuple[int, int]], nodes: list[Hashable]) -> NDArray[Any]:
    def fail(place: int, needed: str) -> InvalidProblem:
        a, b = ends[place]
        return InvalidProblem(
            f"the edge {shown(nodes[a])} - {shown(nodes[b])} has the length {shown(weights[place])}: {needed}"
        )

    try:
        numbers = (
            real_array(weights, "the lengths", any_size=True) if weights else np.empty(0, dtype=np.int64)
        )
        if numbers.ndim != 1:
            raise InvalidProblem("the lengths are rows of numbers")
    except InvalidProblem:
        for place, length in enumerate(weights):
            try:
                single = real_array(length, "the length", any_size=True).ndim == 0
            except InvalidProblem:
                single = False
            if not single:
                raise fail(place, "a number is needed") from None
        raise
    wrong = ~((numbers >= 0) & (numbers < np.inf))
    if wrong.any():
        raise fail(int(np.argmax(wrong)), "a finite number from 0 upwards is needed")
    return numbers


def _is_node(node: Any, number: Mapping[Hashable, int]) -> bool:
    try:
        return node in number
    except TypeError:  # it has no hash
        return False


def _cities(cycle: Iterable[Hashable], number: dict[Hashable, int]) -> NDArray[np.int32]:
    if not isinstance(cycle, Iterable) or (isinstance(cycle, np.ndarray) and cycle.ndim != 1):
        raise InvalidOption(f"init_cycle: {shown(cycle)} is neither a list of nodes nor a name")
    nodes = list(cycle)
    unknown = next((node for node in nodes if not _is_node(node, number)), None)
    if unknown is not None:
        raise InvalidOption(f"init_cycle: {shown(unknown)} is not a node of the graph")
    if len(nodes) == len(number) + 1 and nodes[0] == nodes[-1]:
        nodes.pop()
    return np.array([number[node] for node in nodes], dtype=np.int32)
