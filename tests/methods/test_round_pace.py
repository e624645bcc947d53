"""The plan of an engine: how far its kicks are, how hot, how many at a time, and which populations it has."""

import math
from types import SimpleNamespace

import pytest

from warptsp._native import Kicks
from warptsp.methods.annealing import start_temperature
from warptsp.methods.lk import LkParams, tuning
from warptsp.methods.lk.cuda import RoundPace, kicks_of_round, start_temperature_on_gpu
from warptsp.methods.lk.engine import Engine, Schedule, planned_seconds


def pace(beside: float) -> RoundPace:
    """Two rounds of a quarter of a kick a city, each 10 ms of the kernel and so many seconds beside."""
    noted = RoundPace()
    for _ in range(2):
        noted.note(0.25, 0.01 + beside, 0.01)
    return noted


def test_rounds_have_their_usual_kicks_where_nothing_is_lost_beside_them():
    assert pace(0.0).kicks_a_round(1000.0) == tuning.GPU_KICKS_A_SHORT_ROUND


def test_rounds_get_longer_until_little_is_lost_beside_them():
    beside = 0.004
    kicks = pace(beside).kicks_a_round(1000.0)
    assert kicks > tuning.GPU_KICKS_A_SHORT_ROUND
    kernel = kicks / 0.25 * 0.01
    assert beside / kernel == pytest.approx(tuning.GPU_BESIDE_KERNEL)


@pytest.mark.parametrize("beside", [0.0, 0.004])
def test_there_are_enough_rounds_in_a_short_time(beside):
    seconds = tuning.GPU_MIN_ROUNDS * 0.005
    assert pace(beside).kicks_a_round(seconds) == pytest.approx(0.125)
    assert pace(beside).kicks_a_round(seconds / 1000) == tuning.GPU_MIN_KICKS


def test_the_start_is_hotter_with_a_gpus_kicks():
    assert start_temperature(10, hotter=0.2) == pytest.approx(start_temperature(10) + 0.2)
    assert start_temperature(1e9, hotter=0.2, hottest=0.58) == 0.58
    assert start_temperature(0.0) == 0.0
    full = tuning.GPU_HOTTER_FROM
    for kicks, share in ((full / 2, 0.5), (full, 1.0), (1.5 * full, 1.0)):
        expected = start_temperature(kicks) + share * tuning.GPU_HOTTER
        assert start_temperature_on_gpu(kicks) == pytest.approx(expected)
    assert start_temperature_on_gpu(1e9) == tuning.GPU_HOTTEST


def test_kicks_are_the_usual_ones_unless_they_are_said():
    usual = tuning.GPU_KICKS_OF_TOUR
    assert LkParams().of_search(1000).kicks.as_dict() == Kicks().as_dict()
    assert LkParams().of_kicks(usual).as_dict() == usual.as_dict() != Kicks().as_dict()
    said = LkParams(walk=3, long_links=0.0)
    for kicks in (said.of_search(1000).kicks, said.of_kicks(usual)):
        assert (kicks.walk, kicks.long_links) == (3, 0.0)


class RunOfTicks:
    """A run whose clock goes on by a second with each round of kicks."""

    may_end_early = False

    def __init__(self, seconds=None, kicks=None, *, limit=None):
        self.now = 10.0
        self.time_limit = None if seconds is None else self.now + seconds
        self.kick_limit = kicks
        self.limit = limit if seconds is None else self.time_limit  # nobody plans for a limit of its own

    def elapsed(self):
        return self.now

    def remaining(self):
        return None if self.limit is None else max(0.0, self.limit - self.now)


class EngineOfTicks(Engine[int]):
    """Twenty cities, ten kicks a second, and populations of two seconds; notes what it is asked to do."""

    def __init__(self, run, *, room=1000, temperature=None):
        tour = SimpleNamespace(length=40.0, return_to_best=lambda: self.noted.append("best"))
        super().__init__(SimpleNamespace(), run, LkParams(temperature=temperature), tour, 20, least=4)
        self.room, self.noted = room, []

    def _kick(self, schedule, temperature):
        self.noted.append((round(schedule.progress, 9), temperature(schedule.progress)))
        self.kicks += 10
        return self.report("search")

    def _planned(self, most=None):
        size = min(self.room, self.room if most is None else most)
        left = planned_seconds(self.run)
        return size if size >= self.least and (left is None or left > 4) else None

    def _combine(self, plan):
        self.noted.append(plan)
        self.combined = True
        self.run.now += 1
        return self.report("crossover")

    def _best_length(self):
        return self.tour.length

    def report(self, phase):
        self.run.now += 1
        return self.kicks_left == 0 or self.run.remaining() == 0


def test_temperature_falls_over_the_nearer_limit():
    for run in (RunOfTicks(10), RunOfTicks(kicks=100), RunOfTicks(10, 1000), RunOfTicks(1000, 100)):
        engine = EngineOfTicks(run, room=0)
        engine.improve()
        assert [progress for progress, _ in engine.noted] == pytest.approx([k / 10 for k in range(10)])
        heat = [temperature for _, temperature in engine.noted]
        # Without a number of kicks the first ones are cold: nobody knows how many there will be.
        assert heat[1] == pytest.approx(2 * start_temperature(5) * (1 - 0.1 / 0.96))
        assert heat[1:] == sorted(heat[1:], reverse=True)


def test_kicks_are_cold_without_a_temperature_and_after_crossover():
    engine = EngineOfTicks(RunOfTicks(20), room=8)
    engine.improve()
    populations = [plan for plan in engine.noted if plan == 8]
    assert len(populations) > 1
    assert all(heat == 0 for _, heat in engine.noted[len(populations) :])
    engine = EngineOfTicks(RunOfTicks(kicks=100), room=0, temperature=0.0)
    engine.improve()
    assert {heat for _, heat in engine.noted} == {0.0}


def test_a_share_of_a_limit_leaves_the_rest():
    engine = EngineOfTicks(RunOfTicks(kicks=1000))
    assert not engine.anneal(share=0.2)
    assert engine.kicks == 200
    assert not engine.anneal(share=0.25)
    assert engine.kicks == 400
    engine = EngineOfTicks(RunOfTicks(100))
    assert not engine.anneal(share=0.1)
    assert engine.run.remaining() == 90


def test_without_a_limit_populations_grow_up_to_their_room():
    """A limit that nobody plans for, as that of a run without options, changes nothing."""
    engine = EngineOfTicks(RunOfTicks(limit=60.0), room=30)
    engine.improve()
    first = engine.first_cycle * engine.n // 10
    assert engine.noted[first : first + 5] == [8, 16, 30, 30, 30]
    assert "best" not in engine.noted
    engine = EngineOfTicks(RunOfTicks(limit=60.0), room=3)
    engine.improve()
    assert engine.noted.index("best") == first
    assert engine.noted.index("best", first + 1) == 3 * first + 1


def test_a_round_on_a_gpu_ends_with_its_schedule():
    n = 1000
    run = RunOfTicks(kicks=100 * n)
    schedule = Schedule(run, 0, 100 * n, 1.0)
    assert schedule.goes_on(0)
    assert kicks_of_round(schedule, RoundPace(), n, parts=4) == tuning.GPU_KICKS_A_ROUND
    assert schedule.goes_on(100 * n - 7)
    assert kicks_of_round(schedule, RoundPace(), n, parts=4) == 7 / n
    assert kicks_of_round(schedule, RoundPace(), n, parts=40) == 20 / n
    assert not schedule.goes_on(100 * n)

    run = RunOfTicks(10)
    schedule = Schedule(run, 0, None, 1.0)
    assert schedule.goes_on(0)
    assert math.isinf(schedule.kicks)
    assert kicks_of_round(schedule, RoundPace(), n, parts=4) == tuning.GPU_MIN_KICKS
    run.now += 9.9
    assert schedule.goes_on(990)  # a second has ten thousandths of the kicks a city
    assert kicks_of_round(schedule, pace(0.0), n, parts=4) == pytest.approx(0.9 * 0.01)
    run.now += 1
    assert schedule.goes_on(1000)
    assert kicks_of_round(schedule, pace(0.0), n, parts=4) > 0


def test_a_search_goes_on_behind_a_time_that_does_not_end_it():
    """As that of a criterion which is reached with a number of kicks as well; a share of it ends."""
    run = RunOfTicks(10)
    run.limit = None
    whole, half = Schedule(run, 0, None, 1.0), Schedule(run, 0, None, 0.5)
    assert planned_seconds(run) == 10
    run.now += 20
    assert planned_seconds(run) == 0
    assert whole.goes_on(100)
    assert whole.progress == 1
    assert not half.goes_on(100)
