"""What stands in for a run takes every call that a run takes, and passes it on."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from instances import directed, unit_points

from warptsp import Problem, _native
from warptsp.errors import BackendUnavailable
from warptsp.machine import CPU, Devices
from warptsp.methods.directed import run_doubled
from warptsp.methods.protocol import ForwardingRun
from warptsp.methods.protocol import Run as Protocol
from warptsp.progress import WorkerProgress
from warptsp.run import Run
from warptsp.stop import MaxKicks, MaxRuntime

MEMBERS = sorted(
    {name for name in vars(Protocol) if not name.startswith("_")} | set(inspect.get_annotations(Protocol))
)
METHODS = [name for name in MEMBERS if inspect.isfunction(vars(Protocol).get(name))]


def a_run(problem, **options):
    return Run(problem, stop=MaxKicks(1000), device=Devices.parse("cuda:0"), **options)


def asymmetric(n=20):
    return directed(n, n)


def stand_in(problem, run):
    """What a search on the symmetric instance is given."""
    given = []
    run_doubled(problem, run, lambda doubled, its_run: given.append(its_run))
    return given[0]


def test_there_is_something_to_compare():
    assert {"offer", "update", "repeating", "expect", "use_cpu", "enter", "save"} <= set(METHODS)
    assert {"device", "best", "token", "counters"} <= set(MEMBERS)


@pytest.mark.parametrize("kind", [Run, ForwardingRun, type(stand_in(asymmetric(), a_run(asymmetric())))])
@pytest.mark.parametrize("name", METHODS)
def test_every_run_takes_the_same_arguments(kind, name):
    wanted = inspect.signature(getattr(Protocol, name)).parameters
    taken = inspect.signature(getattr(kind, name)).parameters
    assert [(p.name, p.kind, p.default) for p in taken.values()] == [
        (p.name, p.kind, p.default) for p in wanted.values()
    ]


@pytest.mark.parametrize("of_doubled", [False, True])
def test_every_member_is_passed_on(of_doubled):
    problem = asymmetric()
    run = a_run(problem)
    other = stand_in(problem, run) if of_doubled else ForwardingRun(run)
    own = {"problem", "start", "best"} if of_doubled else set()
    for name in MEMBERS:
        if name not in METHODS and name not in own:
            assert getattr(other, name) is getattr(run, name), name
    other.report_device(CPU)
    other.limit_kicks(7)
    other.report_optimal()
    other.report_worker("w", WorkerProgress("cpu"))
    assert (run.device, run.kick_limit, run.proved_optimal) == (CPU, 7, True)
    assert run.workers == {"w": WorkerProgress("cpu")}
    other.report_counters(moves=1)
    other.start_over(passes=2)
    assert other.counters == {"passes": 2}
    run.stop = MaxRuntime(100.0)  # not met
    run.proved_optimal = False
    other.report_limit("limit of 2 passes")
    assert run.reason() == "limit of 2 passes"


@pytest.mark.parametrize("name", ["device", "kick_limit", "stop_reason", "best", "counters", "workers"])
def test_a_stand_in_changes_no_field_of_the_run(name):
    with pytest.raises(AttributeError):
        setattr(ForwardingRun(a_run(asymmetric())), name, None)


def test_every_method_of_the_stand_in_works_on_tours_of_the_cities():
    """As the search on a GPU calls them; the run sees directed tours only."""
    problem = asymmetric()
    run = a_run(problem, start="given", may_use_cpu=True)
    other = stand_in(problem, run)
    assert other.problem.n == 40
    assert other.remaining() is None
    assert other.elapsed() >= 0
    other.enter("search")
    tour = np.repeat(2 * np.arange(20)[::-1], 2) + np.tile([0, 1], 20)
    other.problem.check_tour(tour)
    other.offer(tour, copy=False)
    other.offer(tour)
    assert run.best_length == min(problem.length(np.arange(20)), problem.length(np.arange(20)[::-1]))
    other.problem.check_tour(other.best)
    assert other.problem.length(other.best) == run.best_length == other.best_length
    assert not other.update(length=run.best_length, kicks=5, tour=lambda: other.best, phase="search", moves=3)
    assert run.counters == {"symmetric_cities": 40, "kicks": 5, "moves": 3}
    with other.repeating(run.best_length, lambda: other.best, "compiling"):
        assert run.token.poll is not None
    assert isinstance(other.token, _native.StopToken)
    other.expect(other.best, 0.1)
    other.expect(None)
    other.save()
    other.use_cpu(BackendUnavailable("no GPU"))
    assert run.device == other.device == CPU
    run.close()


@pytest.mark.gpu
@pytest.mark.parametrize("n", [13, 200])
@pytest.mark.parametrize("limit", [{"time_limit": 3.0}, {"kicks": 500}], ids=["time", "kicks"])
def test_asymmetric_distances_on_a_gpu(gpu, n, limit):
    import warptsp

    problem = asymmetric(n)
    result = warptsp.solve(problem, device="cuda", **limit)
    assert result.device == "cuda:0"
    assert result.length == problem.length(result.tour)
    assert result.length <= warptsp.solve(problem, method="construct").length


def test_a_search_that_follows_another_reports_the_best_tour_of_both():
    """As the GPU's does after the CPU's, while kernels were compiled."""
    problem = Problem.from_points(unit_points(30))
    events = []
    run = a_run(problem, callback=events.append)
    first, better = np.arange(30, dtype=np.int32), np.lexsort(problem.coordinates.T).astype(np.int32)
    lengths = [float(problem.length(tour)) for tour in (first, better)]
    assert lengths[1] < lengths[0]
    for phase, tour in (("start tour", first), ("search", better), ("start tour", first)):
        run.offer(tour)
        run.update(length=problem.length(tour), kicks=0, tour=lambda tour=tour: tour, phase=phase)
    assert [event.length for event in events] == [lengths[0], lengths[1], lengths[1]]
    np.testing.assert_array_equal(events[-1].tour(), better)
    assert run.start_length == lengths[0]
    run.close()
