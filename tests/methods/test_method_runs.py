"""A view of a run changes what it names, and passes everything else on."""

from dataclasses import fields, replace

import numpy as np
import pytest
from instances import directed, unit_points
from test_places import FEW, crowded
from test_tight_groups import scattered

import warptsp
from warptsp import Problem, _native
from warptsp.errors import BackendUnavailable
from warptsp.io import read_tour
from warptsp.machine import CPU, Devices
from warptsp.methods import protocol
from warptsp.methods.directed import run_doubled
from warptsp.methods.protocol import View, ViewedRun
from warptsp.progress import WorkerProgress
from warptsp.run import Run, Settings
from warptsp.stop import MaxKicks, MaxRuntime


def a_run(problem, **options):
    return Run(Settings(problem, **options), MaxKicks(1000), device=Devices.parse("cuda:0"))


def asymmetric(n=20):
    return directed(n, n)


def stand_in(problem, run):
    """What a search on the symmetric instance is given."""
    given = []
    run_doubled(problem, run, lambda doubled, its_run: given.append(its_run))
    return given[0]


def test_a_view_of_nothing_is_the_run_itself():
    """Each call reaches it."""
    problem = asymmetric()
    run = a_run(problem, start="given", may_use_cpu=True)
    seen = ViewedRun(run, View())
    tour = np.arange(20, dtype=np.int32)
    own = {"offer", "report", "stops"}  # what is done to what it passes on
    for name in {*protocol._PASSED_ON, *(field.name for field in fields(View))} - own:
        assert getattr(seen, name) == getattr(run, name), name
    seen.report_worker("w", WorkerProgress("cpu"))
    seen.limit_kicks(7)
    seen.offer(tour)
    assert not seen.update(length=run.best_length, kicks=5, tour=lambda: tour, phase="search", moves=3)
    assert (run.kick_limit, run.workers) == (7, {"w": WorkerProgress("cpu")})
    assert seen.counters == run.counters == {"kicks": 5, "moves": 3}
    np.testing.assert_array_equal(seen.best, tour)
    seen.start_over(passes=2)
    assert run.counters == {"passes": 2}
    run.criterion = MaxRuntime(100.0)  # not met
    seen.report_limit("limit of 2 passes")
    assert run.reason() == "limit of 2 passes"
    for name in ("bets", "settings", "course"):  # of another instance, where a view has one
        with pytest.raises(AttributeError):
            getattr(seen, name)
    run.close()


@pytest.mark.parametrize("name", ["device", "kick_limit", "stop_reason", "best", "counters", "workers"])
def test_a_view_changes_no_field_of_the_run(name):
    with pytest.raises(AttributeError):
        setattr(ViewedRun(a_run(asymmetric()), View()), name, None)


def test_what_a_view_names_stands_in_for_the_run():
    """Every field of it, by real calls."""
    problem = Problem.from_points(unit_points(30))
    run = a_run(problem, may_use_cpu=True)
    first, told = np.arange(30, dtype=np.int32), []
    shown = {
        "problem": asymmetric(),
        "start": "random",
        "given": (first,),
        "token": _native.StopToken(),
        "device": CPU,
        "may_end_early": not run.may_end_early,
    }
    now = {"best": first, "best_length": 1.5, "kick_limit": 3, "time_limit": 2.5}
    calls = {
        "remaining": (),
        "expect": (None,),
        "start_over": (),
        "report_bound": (1,),
        "report_optimal": (),
        "report_limit": ("",),
    }
    view = View(
        **shown,
        **{name: lambda value=value: value for name, value in now.items()},
        **{name: lambda *given, name=name: told.append((name, given)) for name in calls},
        offer=lambda tour: None if tour[0] else tour[::-1],
        report=lambda report: None if report.kicks < 0 else replace(report, kicks=report.kicks + 10),
        stops=lambda: bool(told),
    )
    assert {field.name for field in fields(View)} == {*shown, *now, *calls, "offer", "report", "stops"}
    seen = ViewedRun(run, view)
    for name, value in (shown | now).items():
        assert getattr(seen, name) is value is not getattr(run, name), name
    seen.offer(np.roll(first, 1))
    assert run.best is None
    seen.offer(first)
    np.testing.assert_array_equal(run.best, first[::-1])
    assert not seen.update(length=1.0, kicks=-1, tour=lambda: first)
    assert run.counters == {}
    assert not seen.update(length=run.best_length, kicks=1, tour=lambda: run.best, moves=2)
    assert run.counters == {"kicks": 11, "moves": 2}
    with seen.repeating(run.best_length, lambda: run.best, "compiling"):
        assert seen.token.poll == run.token.poll is not None
    assert seen.token.poll is run.token.poll is None
    for name, given in calls.items():
        getattr(seen, name)(*given)
    assert told == list(calls.items())
    assert seen.update(length=run.best_length, kicks=1, tour=lambda: run.best)
    assert run.stop_reason is None
    run.close()


@pytest.mark.parametrize("copy", [True, False])
def test_a_tour_that_is_passed_on_is_copied_as_it_was_offered(copy):
    problem = Problem.from_points(unit_points(30))
    for offer in (None, lambda tour: tour[::-1].copy()):
        run, tour = a_run(problem), np.arange(30, dtype=np.int32)
        ViewedRun(run, View(offer=offer)).offer(tour, copy=copy)
        assert (run.best is tour) == (not copy and offer is None)
        run.close()


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
    assert run.course.start_length == lengths[0]
    run.close()


@pytest.mark.parametrize("kind", ["directed", "crowded", "grouped"])
def test_everybody_is_told_of_the_cities(kind, tmp_path):
    """Callbacks, snapshots and checkpoints, whatever stands in for the cities of a search."""
    problem = {
        "directed": lambda: directed(50, 7),
        "crowded": crowded,
        "grouped": lambda: Problem.from_points(scattered()),
    }[kind]()
    file, seen = tmp_path / "best.tour", []

    def look(progress):
        tour = progress.tour()
        problem.check_tour(tour)
        seen.append((progress.phase, progress.kicks, progress.length, problem.length(tour)))

    options = {"checkpoint": file, "checkpoint_interval": 0.0, "snapshots": 3, "callback": look}
    result = warptsp.solve(problem, kicks=600, **options, **FEW)
    phases, kicks, told, measured = zip(*seen, strict=True)
    assert told == pytest.approx(measured)
    assert list(kicks) == sorted(kicks)
    assert result.snapshots
    for snapshot in result.snapshots:
        problem.check_tour(snapshot.tour)
        assert problem.length(snapshot.tour) == snapshot.length
    assert problem.length(read_tour(file, problem)) == result.length
    if kind == "grouped":
        assert phases[0] == "tight groups" != phases[-1]
