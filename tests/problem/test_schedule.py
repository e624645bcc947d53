"""When a tour is where: speeds, durations, stops, a departure."""

import datetime

import numpy as np
import pytest

import warptsp
from warptsp import InvalidOption, InvalidProblem, Problem
from warptsp.problem.itinerary import Itinerary, Schedule, Timing, distances
from warptsp.problem.part import part_of

KM = Problem.from_points([[0, 0], [30_000, 0], [30_000, 40_000]], unit="m")
DURATIONS = np.array([[0, 600, 900], [700, 0, 60], [800, 120, 0]])
METRES = DURATIONS * 20.0
BOTH = {"durations": DURATIONS.tolist(), "distances": METRES.tolist()}
TOUR = np.arange(3, dtype=np.int32)


def test_a_speed_and_stops_give_arrivals():
    schedule = Schedule.of(KM, TOUR, Timing(60.0, 300.0, "08:00"))
    assert schedule.legs.tolist() == [1800.0, 2400.0, 3000.0]
    # No stop where it begins, and none at the end.
    assert schedule.seconds.tolist() == [0.0, 1800.0, 4500.0, 7800.0]
    assert [schedule.arrival(at) for at in range(4)] == ["08:00:00", "08:30:00", "09:15:00", "10:10:00"]
    path = Problem.from_points(KM.coordinates, unit="m", open=warptsp.OpenPath())
    assert Schedule.of(path, TOUR, Timing(60.0, 300.0)).seconds.tolist() == [0.0, 1800.0, 4500.0]
    one = Problem.from_points([[1, 2]], unit="km")
    assert Schedule.of(one, TOUR[:1], Timing(60.0, 300.0)).seconds.tolist() == [0.0, 0.0]
    lacking = Problem.from_matrix([[0, 2, np.inf], [2, 0, 3], [np.inf, 3, 0]])
    assert Itinerary.of(lacking, TOUR).legs.tolist() == [2.0, 3.0, np.inf]


def test_times_of_day_go_on_behind_midnight():
    late = Schedule.of(KM, TOUR, Timing(10.0, depart=datetime.time(22, 30)))
    assert [late.arrival(at) for at in range(4)] == ["22:30:00", "25:30:00", "29:30:00", "34:30:00"]
    assert Schedule.of(KM, TOUR, Timing(10.0)).arrival(1) == "3:00:00"


def test_a_table_of_durations_has_its_own_times_and_its_distances():
    problem = Problem.from_osrm(BOTH)
    assert (problem.unit, problem.other_weights.unit) == ("s", "m")
    schedule = Schedule.of(problem, TOUR, Timing(depart=3600.0))
    assert schedule.legs.tolist() == [600.0, 60.0, 800.0]
    assert distances(problem, TOUR)[0].legs.tolist() == [12_000.0, 1200.0, 16_000.0]
    turned = Problem.from_osrm(BOTH, "distances")
    assert (turned.unit, turned.other_weights.unit) == ("m", "s")
    assert Schedule.of(turned, TOUR, Timing()).seconds.tolist() == schedule.seconds.tolist()
    assert Itinerary.of(turned, TOUR).legs.tolist() == [12_000, 1200, 16_000]
    found = warptsp.solve(problem).as_dict(stop_time=60)
    assert (found["unit"], found["distance_unit"]) == ("s", "m")
    assert sum(found["legs"]) == sum(found["leg_seconds"]) == found["length"] == found["travel_seconds"]
    assert sum(found["leg_distances"]) == 20.0 * found["length"]
    assert found["total_seconds"] == found["length"] + 120
    assert Schedule.of(Problem.from_osrm({"durations": DURATIONS}), TOUR, Timing()) is not None
    assert Problem.from_osrm({**BOTH, "units": "miles"}, "distances").unit == ""


def test_other_lengths_that_are_no_table_are_left_out(caplog):
    problem = Problem.from_osrm({"durations": DURATIONS.tolist(), "distances": [["far"]]})
    assert problem.other_weights is None
    assert "the distances are left out" in caplog.text
    empty = Problem.from_osrm({"durations": DURATIONS.tolist(), "distances": [[None] * 3] * 3})
    assert empty.other_weights is None


def test_a_part_keeps_what_is_of_its_cities():
    part = part_of(Problem.from_osrm(BOTH), [0, 2])
    assert part.other_weights.matrix.tolist() == [[0.0, 18_000.0], [16_000.0, 0.0]]
    assert part_of(Problem.from_osrm(BOTH), [0, 2], named=False).other_weights is None


@pytest.mark.parametrize(
    ("problem", "timing", "message"),
    [
        (Problem.from_osrm(BOTH), {"speed": 50}, "the table has durations in seconds, which give the times"),
        (Problem.from_points([[0, 0], [1, 1]]), {"speed": 50}, "whose unit is unknown"),
        (KM, {"depart": "08:00"}, "depart: the lengths are not durations, so speed is needed, too"),
        (KM, {"stop_time": 60}, "stop_time: the lengths are not durations"),
        (KM, {"speed": 0}, "0 is not a speed in km/h, more than 0"),
        (KM, {"speed": 1, "stop_time": -1}, "-1 is not a time in seconds"),
        (KM, {"speed": 1, "depart": "8 am"}, "'8 am' is not a time of day such as 08:00"),
        (KM, {"speed": 1, "depart": "24:00"}, "'24:00' is not a time of day"),
        (KM, {"speed": 1, "depart": []}, r"\[\] is not a time of day"),
    ],
)
def test_what_gives_no_time_is_refused(problem, timing, message):
    with pytest.raises(InvalidOption, match=message):
        Schedule.of(problem, np.arange(problem.n, dtype=np.int32), Timing(**timing))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"unit": "mile"}, "unit is 'mile': 'm', 'km', 's' or ''"),
        ({"unit": "km", "metric": "GREAT_CIRCLE"}, "unit is 'km': distances of GREAT_CIRCLE are in m"),
        ({"crs": 25833}, "crs is 25833: a text such as 'EPSG:25833'"),
        ({"other_weights": 3}, "other_weights is 3: a matrix and its unit"),
        ({"other_weights": ([[0.0]], "m")}, r"have shape \(1, 1\): one entry for each pair of the 2 cities"),
    ],
)
def test_units_that_are_none(fields, message):
    with pytest.raises(InvalidProblem, match=message):
        Problem.from_points([[0, 0], [1, 1]], **fields)


def test_the_summary_tells_when_stops_are_reached():
    result = warptsp.solve(Problem.from_points(KM.coordinates, unit="m", labels=["Depot", "A", "B"]))
    told = [fact.words for fact in result.told(Timing(60.0, 300.0, "08:00")) if fact.words]
    assert "2 h at 60 km/h, 2 h 10 min with stops of 5 min" in told
    quick = [fact.words for fact in result.told(Timing(3600.0, 20.0)) if fact.words]
    assert "2 min at 3600 km/h, 2 min 40 s with stops of 20 s" in quick
    assert [line for line in told if line[2:3] == ":"] == [
        "08:00  Depot", f"{'08:30' if result.names[1] == 'A' else '08:50'}  {result.names[1]}",
        f"{'09:15' if result.names[1] == 'A' else '09:35'}  {result.names[2]}", "10:10  Depot",
    ]  # fmt: skip
    many = warptsp.solve(Problem.from_points(np.random.default_rng(1).random((150, 2)), unit="km"), kicks=1)
    told = [fact.words for fact in many.told(Timing(60.0, depart="08:00")) if fact.words]
    assert "... and 50 more" in told
    assert str(warptsp.solve(Problem.from_osrm(BOTH))).splitlines()[0] == "length       0:24 h (1460 s)"


def test_a_picture_takes_no_times_that_are_none(tmp_path):
    result = warptsp.solve(KM)
    with pytest.raises(InvalidOption, match="speed: -1"):
        result.save(tmp_path / "a.svg", speed=-1)
    with pytest.raises(TypeError, match="speeed"):
        result.save(tmp_path / "a.svg", speeed=1)


def test_distances_from_the_start_may_exceed_64_bits():
    n = 1100
    problem = Problem.from_matrix(np.full((n, n), 2**53 - 1))
    cumulative = Itinerary.of(problem, np.arange(n, dtype=np.int32)).cumulative
    assert cumulative.tolist() == [city * (2**53 - 1) for city in range(n)]
