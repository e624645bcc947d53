"""A time limit and a token end every search of the documents' systems, and the best tour is kept."""

import threading

import pytest
from instances import problem_of

import warptsp
from warptsp.stop import StopToken

WHOLE = {"improvement": "best", "restart": "pass", "acceptance": "always", "iterations": 1e6}
SEARCHES = [  # more than a moment's work on every device
    *((method, 20_000, {}) for method in ("two-opt", "swap", "relocate")),
    *((method, 5000, {}) for method in ("three-opt", "vnd", "symmetric-three-opt")),
    ("symmetric-two-opt", 60_000, {}),
    ("symmetric-annealing", 6000, {"rotations": 10**9}),
    ("ils", 3000, {"iterations": 1e6}),
    ("ils", 3000, {**WHOLE, "edges": "next"}),
    ("ils", 20_000, WHOLE),
    ("hill-climbing", 6000, {}),
]


def search(method, cities, params, device, **options):
    problem = problem_of("EUC_2D", cities, side=100_000)
    start = {} if method == "hill-climbing" else {"start": "random"}
    result = warptsp.solve(
        problem, method=method, params=params, device=device, bound=False, **start, **options
    )
    problem.check_tour(result.tour)
    assert result.length == problem.length(result.tour)
    return result


@pytest.mark.parametrize(("method", "cities", "params"), SEARCHES)
def test_a_time_limit_ends_it(method, cities, params, device):
    assert search(method, cities, params, device, time_limit=0.1).stop_reason == "time limit of 0.1 s"


@pytest.mark.parametrize(("method", "cities", "params"), SEARCHES)
def test_a_token_ends_it(method, cities, params, device):
    """From another thread, while it searches."""
    token, begun = StopToken(), threading.Event()
    asker = threading.Thread(target=lambda: (begun.wait(), token.request()))
    asker.start()
    result = search(method, cities, params, device, stop=token, callback=lambda progress: begun.set())
    begun.set()
    asker.join()
    assert result.stop_reason == "stop requested"
    assert result.length <= result.history[0].length
