"""Graphs of NetworkX: cycles through their nodes, alone and as a method of NetworkX."""

from functools import partial

import numpy as np
import pytest
from processes import run_code

import warptsp.interop.networkx
from warptsp import OpenPath
from warptsp.errors import InvalidOption, InvalidProblem, InvalidTour

nx = pytest.importorskip("networkx", reason="NetworkX is not installed")


def complete(n, seed=0, *, directed=False):
    graph = nx.complete_graph([f"node {i}" for i in range(n)], nx.DiGraph if directed else nx.Graph)
    rng = np.random.default_rng(seed)
    nx.set_edge_attributes(graph, {edge: int(rng.integers(1, 100)) for edge in graph.edges}, "weight")
    return graph


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 9])
def test_the_cycle_is_closed_and_short(n, directed):
    graph = complete(n, n, directed=directed)
    cycle = warptsp.interop.networkx.solve(graph, kicks=300)
    assert cycle[0] == cycle[-1] == "node 0"
    assert sorted(cycle[:-1]) == sorted(graph)
    if n > 2:
        greedy = nx.approximation.greedy_tsp(graph)
        assert nx.path_weight(graph, cycle, "weight") <= nx.path_weight(graph, greedy, "weight")


@pytest.mark.parametrize("directed", [False, True])
def test_as_a_method_of_networkx(directed):
    ring = nx.cycle_graph(9, create_using=nx.DiGraph if directed else nx.Graph)
    ring[4][5]["weight"] = 5
    tsp = nx.approximation.traveling_salesman_problem
    solve = warptsp.interop.networkx.solve
    closed = tsp(ring, method=partial(solve, seed=2))
    assert closed[0] == closed[-1]
    assert len(tsp(ring, method=solve)) == 10
    assert set(tsp(ring, nodes=[3, 6], method=solve)) >= {3, 6}
    path = tsp(ring, cycle=False, method=partial(solve, init_cycle="greedy", kicks=10))
    assert sorted(path) == list(range(9))
    assert path[0] in (4, 5)  # the link of length 5 is left out


def test_a_weight_of_another_name_a_source_and_a_cycle_to_begin_with():
    graph = complete(30)
    nx.set_edge_attributes(graph, {edge: 1.0 + 99.0 * ("node 0" in edge) for edge in graph.edges}, "seconds")
    cycle = warptsp.interop.networkx.solve(graph, "seconds", source="node 7", kicks=20)
    assert cycle[0] == cycle[-1] == "node 7"
    assert nx.path_weight(graph, cycle, "seconds") == pytest.approx(28 + 200)
    assert len(warptsp.interop.networkx.solve(graph, None, kicks=10)) == 31
    best = warptsp.interop.networkx.solve(graph, kicks=3000)
    again = warptsp.interop.networkx.solve(graph, init_cycle=best, kicks=0)
    assert nx.path_weight(graph, again, "weight") <= nx.path_weight(graph, best, "weight")
    path = warptsp.interop.networkx.solve(graph, open=OpenPath(start=3, end=5), kicks=10)
    assert (path[0], path[-1], len(path)) == ("node 3", "node 5", 30)


def test_self_loops_are_ignored_and_names_are_kept():
    graph = complete(5)
    graph.add_edge("node 1", "node 1", weight=float("nan"))
    problem = warptsp.interop.networkx.problem(graph)
    assert list(problem.labels) == list(graph)
    assert problem.integral
    assert not problem.asymmetric
    assert problem.distance(0, 1) == graph["node 0"]["node 1"]["weight"]
    assert warptsp.interop.networkx.problem(complete(5, directed=True)).asymmetric


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g: g.remove_edge("node 1", "node 3"), "no edge from 'node 1' to 'node 3', and 1 are missing"),
        (lambda g: g["node 1"]["node 3"].clear(), "the edge 'node 1' - 'node 3' has no attribute 'weight'"),
        (lambda g: g["node 1"]["node 3"].update(weight=-2), "'node 1' - 'node 3' has the length -2: a"),
        (lambda g: g["node 1"]["node 3"].update(weight=float("nan")), "has the length nan: a finite"),
        (lambda g: g["node 1"]["node 3"].update(weight="far"), "has the length 'far': a number"),
    ],
)
def test_what_is_wrong_with_an_edge_is_said(change, message):
    graph = complete(4)
    change(graph)
    with pytest.raises(InvalidProblem, match=message):
        warptsp.interop.networkx.solve(graph)


@pytest.mark.parametrize(
    ("graph", "options", "error", "message"),
    [
        (nx.MultiGraph(complete(3)), {}, InvalidProblem, "several edges between two nodes"),
        (nx.Graph(), {}, InvalidProblem, "no nodes"),
        ([[0, 1], [1, 0]], {}, InvalidProblem, "a graph of NetworkX is needed, not list"),
        (complete(4), {"source": "x"}, InvalidOption, "source: 'x' is not a node"),
        (complete(4), {"source": "node 1", "open": True}, InvalidOption, "a path has its own start"),
        (complete(4), {"init_cycle": ["x"]}, InvalidOption, "init_cycle: 'x' is not a node"),
        (complete(4), {"init_cycle": "greedy", "start": "greedy"}, InvalidOption, "init_cycle and start"),
        (complete(4), {"init_cycle": ["node 0", "node 1", "node 0"]}, InvalidTour, "start tour: 3 cities"),
    ],
)
def test_what_cannot_be(graph, options, error, message):
    with pytest.raises(error, match=message):
        warptsp.interop.networkx.solve(graph, **options)


def test_networkx_is_not_imported():
    code = "import sys, warptsp.interop.networkx; assert 'networkx' not in sys.modules"
    run_code(code, check=True)
