"""One place of each group."""

import itertools
import json
import signal
import threading
import time

import numpy as np
import pytest
from calls import invoke
from instances import distances, unit_points, whole_points
from processes import run_code

import warptsp
from warptsp import _native
from warptsp.errors import InvalidOption, InvalidProblem, NoTourFound, UnsupportedProblem
from warptsp.groups import choose, choosing
from warptsp.groups.choosing import _MEMBERS, _SECONDS_OF_CROSSOVER
from warptsp.groups.cycles import Cycles, distances_between
from warptsp.interruption import is_ending
from warptsp.problem import OpenPath, Problem

SQUARE = Problem.from_points([(0, 0), (0, 2), (5, 1), (6, 3), (2, 8), (3, 9)], labels=list("abcdef"))


def shortest(between, groups, path):
    """The length of the shortest tour by dynamic programming over sets of groups."""
    best = np.inf
    whole = (1 << len(groups)) - 1
    owner = {place: number for number, group in enumerate(groups) for place in group}
    starts = range(len(between)) if path is not None else groups[0]
    for start in starts:
        if path is not None and path.start not in (None, start):
            continue
        lengths = {(1 << owner[start], start): 0.0}
        for _ in range(len(groups) - 1):
            longer: dict[tuple[int, int], float] = {}
            for (seen, here), length in lengths.items():
                for there in range(len(between)):
                    if seen >> owner[there] & 1:
                        continue
                    key = (seen | 1 << owner[there], there)
                    longer[key] = min(longer.get(key, np.inf), length + between[here, there])
            lengths = longer
        for (seen, end), length in lengths.items():
            assert seen == whole
            back = between[end, start] if path is None and end != start else 0.0
            if path is None or path.end in (None, end):
                best = min(best, length + back)
    return best


def along(between, places, path):
    steps = list(itertools.pairwise(places))
    if path is None and len(places) > 1:
        steps.append((places[-1], places[0]))
    return sum(between[a, b] for a, b in steps)


def random_groups(rng, most):
    sizes = rng.integers(1, most + 1, rng.integers(1, 7))
    return [part.tolist() for part in np.split(rng.permutation(sizes.sum()), np.cumsum(sizes)[:-1])]


def matrix_of(rng, n, kind):
    top = {"ties": 3, "huge": 2**30}.get(kind, 1000)
    between = rng.integers(0, top, (n, n)).astype(float)
    if kind == "symmetric":
        between += between.T
    if kind == "real":
        between /= 7
    if kind == "missing":
        between[rng.random((n, n)) < 0.25] = np.inf
    np.fill_diagonal(between, 0.0)
    return between


@pytest.mark.parametrize("kind", ["whole", "symmetric", "ties", "huge", "real", "missing"])
@pytest.mark.parametrize("shape", ["closed", "free", "from", "between"])
@pytest.mark.parametrize("seed", range(3))
def test_small_ones_are_solved(kind, shape, seed):
    print(f"kind {kind}, shape {shape}, seed {seed}")
    rng = np.random.default_rng((seed, len(kind), len(shape)))
    for _ in range(4):
        groups = random_groups(rng, 4)
        n = sum(map(len, groups))
        between = matrix_of(rng, n, kind)
        path = None if shape == "closed" else OpenPath()
        if shape in ("from", "between") and len(groups) > 1:
            path = OpenPath(groups[0][0], groups[1][-1] if shape == "between" else None)
        whole = kind not in ("real", "missing")
        try:
            problem = Problem.from_matrix(
                between.astype(np.int64) if whole else between, asymmetric=True, open=path
            )
        except InvalidProblem:  # no tour of all places is needed for one of some, but a matrix wants it
            continue
        expected = shortest(between, groups, path)
        try:
            choice = choose(problem, groups, kicks=500, threads=1)
        except NoTourFound:
            assert np.isinf(expected)
            continue
        places = choice.places.tolist()
        assert sorted(np.flatnonzero([place in group for group in groups])[0] for place in places) == list(
            range(len(groups))
        )
        assert choice.length == pytest.approx(along(between, places, path), rel=1e-12)
        assert choice.length == pytest.approx(expected, rel=1e-12)
        assert isinstance(choice.length, int) == whole
        assert choice.result.problem.check_tour(choice.result.tour) is None
        if choice.result.proved_optimal:
            assert choice.result.lower_bound == choice.length


def test_points_keep_their_distances_and_names():
    problem = Problem.from_points(
        whole_points(60, 3),
        "EUC_2D",
        labels=[f"p{k}" for k in range(60)],
        extra={"block": [k % 12 for k in range(60)]},
    )
    choice = choose(problem, "block", kicks=2000)
    assert sorted(choice.places % 12) == list(range(12))
    assert choice.result.names == [f"p{place}" for place in choice.places]
    assert choice.result.as_dict()["ids"] == [place + 1 for place in choice.places]
    assert choice.length == along(distances(problem), choice.places.tolist(), None)
    again = choose(problem, [list(range(k, 60, 12)) for k in range(12)], kicks=2000)
    assert again.places.tolist() == choice.places.tolist()


def test_groups_of_one_place_are_an_ordinary_tour():
    problem = Problem.from_points(unit_points(40))
    choice = choose(problem, list(range(40)), kicks=2000)
    assert choice.length == pytest.approx(warptsp.solve(problem, kicks=2000).length)
    assert sorted(choice.places) == list(range(40))


def test_the_places_are_the_best_for_the_order_of_the_groups():
    rng = np.random.default_rng(5)
    between = matrix_of(rng, 120, "whole")
    groups = [list(range(k, k + 6)) for k in range(0, 120, 6)]
    choice = choose(Problem.from_matrix(between.astype(int), asymmetric=True), groups, kicks=1)
    for k, place in enumerate(choice.places.tolist()):
        for other in groups[place // 6]:
            changed = choice.places.tolist()
            changed[k] = other
            assert along(between, changed, None) >= choice.length


def test_groups_whose_names_differ_by_capitals_or_blanks_are_told(caplog):
    choose(SQUARE, ["north", "north ", "south", "south", 1, "1"])
    choose(SQUARE, ["a b", "a b", "c", "c", "d", "d"])
    assert [record.getMessage().split(" count")[0] for record in caplog.records] == ["groups: 1 and '1'"]
    choose(SQUARE, ["North", "north", "a b", "a  b", "c", "c"])
    assert "groups: 'North' and 'north' count as two" in caplog.text
    assert "groups: 'a b' and 'a b' count as two" in caplog.text


@pytest.mark.parametrize(
    ("problem", "groups", "error", "message"),
    [
        (SQUARE, "block", InvalidOption, "there is no column 'block'; columns beside the coord.*: none"),
        (
            Problem.from_points(unit_points(3), open=OpenPath(2, 0)),
            ["x", "y", "x"],
            InvalidOption,
            "the ends of the path, node 3 and node 1, are in one group",
        ),
        (SQUARE, 3, InvalidOption, "3 is no list of groups"),
        (SQUARE, ["x", "y"], InvalidOption, "2 for 6 places; one for each is needed"),
        (SQUARE, ["x", "x", "", "y", "y", "y"], InvalidOption, "place c is in no group"),
        (SQUARE, [1, 1, None, 2, 2, 2], InvalidOption, "place c is in no group"),
        (SQUARE, [1, 1, float("nan"), 2, 2, 2], InvalidOption, "place c is in no group"),
        (SQUARE, [1, 1, 1.5, 2, 2, 2], InvalidOption, "that of place c is 1.5: a text or an integer"),
        (SQUARE, [[0, 1], [2, 3, 4]], InvalidOption, "place f is in no group"),
        (SQUARE, [[0, 1], [2, 3, 4, 0], [5]], InvalidOption, "place a is twice in groups, 0 and 1"),
        (SQUARE, [[0, 1, 2, 3, 4, 5], []], InvalidOption, r"group 1 \(counted from 0\) is empty"),
        (SQUARE, [[0, 1], [6]], InvalidOption, "group 1 has place 6: places are 0 to 5"),
        (
            Problem.from_points(unit_points(4), fixed_edges=[[0, 1]]),
            [0, 1, 2, 3],
            UnsupportedProblem,
            "fixed edges",
        ),
        (
            Problem.from_points(unit_points(5001)),
            [0] * 5001,
            UnsupportedProblem,
            "5001 places in groups: at most 5000",
        ),
        (
            Problem.from_matrix([[0, 1e299, 3], [1e299, 0, 1], [3, 1, 0]]),
            [0, 1, 2],
            InvalidProblem,
            "distances up to 1e.299 between 3 groups",
        ),
    ],
)
def test_what_is_wrong_is_said(problem, groups, error, message):
    with pytest.raises(error, match=message) as raised:
        choose(problem, groups, kicks=1)
    assert "\n" not in str(raised.value)


def test_without_a_way_there_is_no_tour():
    between = np.full((6, 6), np.inf)
    between[[0, 2, 1, 3, 4, 5], [2, 1, 3, 4, 5, 0]] = 1.0  # all places, but not one of each group
    problem = Problem.from_matrix(between, asymmetric=True)
    with pytest.raises(NoTourFound, match="no tour"):
        choose(problem, [[0, 1], [2, 3], [4, 5]], kicks=100)


# One truth, and limits


def test_what_ends_a_search_is_no_claim():
    """What the search has proved of rounded sums is not proved of the places."""
    reasons = []
    for points, metric in (
        (unit_points(12), "EXACT_2D"),
        (whole_points(12), "EXACT_2D"),
        (whole_points(12), "EUC_2D"),
    ):
        result = choose(Problem.from_points(points, metric), [k % 4 for k in range(12)], time_limit=30).result
        assert (result.stop_reason == "proved optimal") == result.proved_optimal
        assert (result.lower_bound == result.length) == result.proved_optimal
        reasons.append(result.stop_reason)
    assert "the search is complete" in reasons[:2]
    assert reasons[2] == "proved optimal"


def test_the_limit_is_named_as_it_was_given():
    result = choose(Problem.from_points(unit_points(60)), [k % 20 for k in range(60)], time_limit=0.2).result
    assert result.stop_reason == "time limit of 0.2 s"


@pytest.mark.parametrize("place", ["first city", "matrix", "set-up"])
@pytest.mark.parametrize("path", [None, OpenPath(), OpenPath(3, 5), OpenPath(None, 7)])
def test_a_signal_ends_it_with_a_choice(place, path, monkeypatch):
    """From the first distance on: the handlers are those of a run."""
    problem = Problem.from_points(unit_points(40, 1), open=path)
    groups = [k % 8 for k in range(40)]
    calls = []
    at = {"first city": 1, "matrix": 20, "set-up": 10**9}[place]
    distance, directed = Problem.distance, Cycles.directed

    def interrupt():
        signal.raise_signal(signal.SIGINT)
        while not is_ending():  # the main thread handles it
            time.sleep(0.001)

    def counted(*arguments):
        calls.append(arguments)
        if len(calls) == at:
            interrupt()
        return distance(*arguments)

    def signalled(cycles):
        if place == "set-up":
            interrupt()
        return directed(cycles)

    monkeypatch.setattr(Problem, "distance", counted)
    monkeypatch.setattr(Cycles, "directed", signalled)
    with pytest.raises(KeyboardInterrupt) as caught:
        choose(problem, groups, time_limit=100)
    choice = caught.value.result
    monkeypatch.undo()
    assert sorted(place % 8 for place in choice.places) == list(range(8))
    assert choice.result.interrupted
    assert choice.result.signal == signal.SIGINT
    assert choice.result.stop_reason == "Ctrl-C"
    assert choice.length == pytest.approx(along(distances(problem), choice.places.tolist(), path))
    if place != "set-up":
        assert len(calls) < 40
    for end, at_end in ((0, None if path is None else path.start), (-1, None if path is None else path.end)):
        assert at_end in (None, choice.places[end])


def test_a_signal_in_the_set_up_waits_for_nothing(monkeypatch):
    ended = threading.Event()

    def endless(cycles):
        signal.raise_signal(signal.SIGINT)
        ended.wait(60)  # as a matrix of many places takes, which polls nothing
        pytest.fail("nobody waits for it")

    monkeypatch.setattr(Cycles, "directed", endless)
    with pytest.raises(KeyboardInterrupt) as caught:
        choose(Problem.from_points(unit_points(40, 1)), [k % 8 for k in range(40)], time_limit=100)
    choice = caught.value.result
    assert not ended.is_set()
    assert choice.result.stop_reason == "Ctrl-C"
    assert sorted(place % 8 for place in choice.places) == list(range(8))
    before = threading.active_count()
    ended.set()
    assert before >= 2  # it was still at work


def test_no_search_begins_without_time_for_its_set_up(monkeypatch):
    monkeypatch.setattr(choosing, "_SECONDS_OF_SETUP", 1.0)
    monkeypatch.setattr(choosing, "solve", lambda *given, **options: pytest.fail("there was no time"))
    choice = choose(Problem.from_points(unit_points(40, 1)), [k % 8 for k in range(40)], time_limit=5)
    assert choice.result.stop_reason == "time limit of 5 s"
    assert not choice.result.interrupted
    assert not choice.result.proved_optimal


def test_a_stopped_choice_of_places_is_still_one():
    """The places that the tour enters are there in any case."""
    problem, owner = Problem.from_points(unit_points(40, 1)), np.arange(40) % 4
    token, order = _native.StopToken(), np.argsort(owner, kind="stable")
    cycles = Cycles(problem, owner, order, distances_between(problem, order, _native.StopToken()))
    places = np.array([16, 9, 30, 3], dtype=np.int32)
    tour = cycles.tour_of(places)
    best = cycles.entered(tour, token)
    token.request()
    quick = cycles.entered(tour, token)
    between = distances(problem)
    lengths = [along(between, chosen.tolist(), None) for chosen in (best, quick, places)]
    assert lengths[0] <= lengths[1] <= lengths[2]
    assert sorted(quick % 4) == [0, 1, 2, 3]
    assert distances_between(problem, order, token) is None


# The command


def test_the_command(tmp_path):
    table = tmp_path / "entries.csv"
    rows = [f"{k},{x},{y},block {k % 5}" for k, (x, y) in enumerate(whole_points(20, 1))]
    table.write_text("name,x,y,block\n" + "\n".join(rows) + "\n")
    output = tmp_path / "route.csv"
    words = ["choose", str(table), "--groups", "block", "--kicks", "500", "-o", str(output)]
    done = invoke(*words, "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["places"] == 20
    assert said["cities"] == 5
    found = warptsp.load(output)
    assert sorted(int(name) % 5 for name in found.labels) == list(range(5))
    assert found.extra["block"] == [f"block {int(name) % 5}" for name in found.labels]
    assert found.length(range(5)) == pytest.approx(said["length"])
    done = invoke(*words, "--open")
    assert done.exit_code == 0, done.output
    assert "places       20 in 5 groups" in done.stdout


def test_the_command_reads_gtsplib(tmp_path):
    file = tmp_path / "some.gtsp"
    points = "".join(f"{k + 1} {x:g} {y:g}\n" for k, (x, y) in enumerate(whole_points(9, 2)))
    sets = "".join(f"{k} {k} {k + 3} {k + 6} -1\n" for k in (1, 2, 3))
    head = (
        "NAME: some\nTYPE: GTSP\nDIMENSION: 9\nGTSP_SETS: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    )
    file.write_text(f"{head}{points}GTSP_SET_SECTION\n{sets}EOF\n")
    done = invoke("choose", file, "--kicks", "100", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert sorted(node % 3 for node in said["ids"]) == [0, 1, 2]
    between = distances(Problem.from_points(whole_points(9, 2), "EUC_2D"))
    assert said["length"] == shortest(between, [[0, 3, 6], [1, 4, 7], [2, 5, 8]], None)
    done = invoke("solve", file)
    assert done.exit_code != 0


def test_names_of_places_may_be_those_of_their_groups(tmp_path) -> None:
    """A lone column of texts holds names, and one with a title such as city does."""
    for title in ("block", "city"):
        file = tmp_path / f"{title}.csv"
        file.write_text(f"{title},x,y\nA,0,0\nA,1,1\nB,5,5\nB,6,0\nC,2,9\n")
        done = invoke("choose", file, "--groups", title, "--json")
        assert done.exit_code == 0, done.output
        assert sorted(json.loads(done.stdout)["ids"]) == [2, 3, 5]
    done = invoke("choose", file, "--groups", "cities")
    assert "--groups: there is no column 'cities'; columns beside the coordinates: city" in str(
        done.exception
    )


def test_a_population_follows_the_kicks_where_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def noted(problem, **options):
        found = warptsp.solve(problem, **options)
        calls.append((options["params"]["population"], options["start"], found))
        return found

    monkeypatch.setattr("warptsp.groups.choosing.solve", noted)
    problem = Problem.from_points(unit_points(60))
    groups = np.repeat(np.arange(20), 3).tolist()
    enough = 2 * _SECONDS_OF_CROSSOVER * problem.n**2 + 0.2
    both = choose(problem, groups, time_limit=enough, threads=1)
    assert [population for population, *_ in calls] == [0, _MEMBERS]
    (_, _, kicked), (_, start, found) = calls
    assert np.array_equal(start, kicked.tour)
    assert found.length <= kicked.length
    assert both.result.counters["kicks"] == kicked.counters["kicks"] + found.counters["kicks"]
    del calls[:]
    monkeypatch.setattr("warptsp.groups.choosing._SECONDS_OF_CROSSOVER", 1.0)
    choose(problem, groups, time_limit=0.3, threads=1)
    monkeypatch.undo()
    monkeypatch.setattr("warptsp.groups.choosing.solve", noted)
    choose(problem, groups, kicks=50, threads=1)
    choose(problem, groups, kicks=50, time_limit=enough, threads=1)
    assert [population for population, *_ in calls] == [0, 0, 0]


def test_a_short_time_limit_is_not_spent_on_modules() -> None:
    """SciPy's take half a second."""
    code = (
        "import sys, numpy; from warptsp.groups import choose\n"
        "choose(numpy.eye(40, 2), [*range(20)] * 2, kicks=1); assert 'scipy' not in sys.modules"
    )
    run_code(code, check=True)
