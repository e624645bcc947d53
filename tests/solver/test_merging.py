"""Several tours joined into one: only their edges, never longer, and every kind of instance."""

import json
from itertools import pairwise, permutations

import numpy as np
import pytest
from calls import invoke
from instances import unit_points, whole_points, write_tsplib

import warptsp
import warptsp._native as _native
from warptsp.cli import run
from warptsp.errors import InvalidOption, InvalidTour
from warptsp.problem import OpenPath, Problem
from warptsp.solver.merging import merged

PATHS = {
    "closed": None,
    "free": OpenPath(),
    "from": OpenPath(3, None),
    "to": OpenPath(None, 2),
    "between": OpenPath(3, 2),
}


def edges(problem: Problem, tour: np.ndarray) -> set[tuple[int, int]]:
    cities = [*tour.tolist(), int(tour[0])] if problem.open is None else tour.tolist()
    pairs = set(pairwise(cities))
    return pairs if problem.asymmetric else pairs | {(b, a) for a, b in pairs}


def any_tour(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    """A random tour that has the fixed edges (i, i + 1) and the ends of the path."""
    n, path = problem.n, problem.open
    blocks = [[city] for city in range(n)]
    for a, b in problem.fixed_edges.tolist():
        first = next(block for block in blocks if block[-1] == a)
        first += next(block for block in blocks if block[0] == b)
        blocks = [block for block in blocks if block[0] != b]
    rng.shuffle(blocks)
    if path is not None:
        blocks.sort(key=lambda block: (path.start not in block, path.end in block))
    order = np.array([city for block in blocks for city in block], dtype=np.int32)
    problem.check_tour(order)
    return order


def instance(kind: str, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 8))
    path = PATHS[kind.split()[0]]
    fixed = np.array([[0, 1]] if "fixed" in kind else [], dtype=np.int32).reshape(-1, 2)
    if "directed" in kind:
        matrix = rng.integers(0, 30, (n, n))
        np.fill_diagonal(matrix, 0)
        return Problem.from_matrix(matrix, asymmetric=True, open=path, fixed_edges=fixed)
    return Problem.from_points(rng.random((n, 2)), "EXACT_2D", open=path, fixed_edges=fixed)


KINDS = [
    *PATHS,
    *(f"{path} directed" for path in PATHS),
    *(f"{path} fixed" for path in PATHS),
    *(f"{path} directed fixed" for path in PATHS),
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_merged_tour_has_known_edges_and_is_between_the_best_there_is_and_the_best_given(kind):
    for seed in range(5):
        problem = instance(kind, seed)
        rng = np.random.default_rng(100 + seed)
        tours = [any_tour(problem, rng) for _ in range(2 + seed % 3)]
        result = warptsp.merge(problem, tours, threads=1)
        problem.check_tour(result.tour)
        assert result.length == problem.length(result.tour)
        assert result.length <= min(problem.length(tour) for tour in tours), seed
        known = set().union(*(edges(problem, tour) for tour in tours))
        assert edges(problem, result.tour) <= known, seed
        least = min(
            problem.length(order)
            for order in map(np.array, permutations(range(problem.n)))
            if edges(problem, order) <= known and _fits(problem, order)
        )
        assert result.length >= least - 1e-9, seed


def _fits(problem: Problem, order: np.ndarray) -> bool:
    try:
        problem.check_tour(order)
    except InvalidTour:
        return False
    return True


@pytest.mark.parametrize("kind", ["closed", "free", "between", "closed directed", "free directed"])
def test_what_each_tour_does_better_is_taken(kind):
    rng = np.random.default_rng(5)
    n, path = 400, PATHS[kind.split()[0]]
    points = np.column_stack([np.cumsum(rng.random(n)), rng.random(n)])
    if path is not None and path.start is not None:
        path = OpenPath(0, n - 1)
    if "directed" in kind:
        apart = np.linalg.norm(points[:, None] - points[None], axis=2)
        problem = Problem.from_matrix(apart * rng.uniform(1, 1.1, (n, n)), asymmetric=True, open=path)
    else:
        problem = Problem.from_points(points, "EXACT_2D", open=path)
    best = warptsp.solve(problem, kicks=300, threads=1, device="cpu", bound=False).tour
    tours = []
    for half in (slice(50, n // 2 - 10), slice(n // 2 + 10, n - 50)):
        tour = best.copy()
        for place in range(half.start, half.stop - 4, 7):
            tour[place : place + 4] = np.roll(tour[place : place + 4], 2)
        tours.append(tour)
    assert min(problem.length(tour) for tour in tours) > problem.length(best)
    result = warptsp.merge(problem, tours)
    assert result.length == pytest.approx(problem.length(best), rel=1e-12)
    assert (result.method, result.counters["merged"], result.interrupted) == ("merge", 2, False)


def test_threads_and_order_of_magnitude_make_no_difference():
    points = unit_points(300, 2)
    problem = Problem.from_points(points, "EXACT_2D")
    tours = [
        warptsp.solve(problem, kicks=1, seed=seed, threads=1, device="cpu", bound=False) for seed in range(4)
    ]
    found = [warptsp.merge(problem, tours, threads=threads).tour.tolist() for threads in (1, 2, 5)]
    assert found[0] == found[1] == found[2]
    huge = Problem.from_points(points * 2.0**400, "EXACT_2D")
    assert warptsp.merge(huge, [result.tour for result in tours]).tour.tolist() == found[0]


def test_a_stopped_merge_leaves_the_best_tour():
    problem = Problem.from_points(unit_points(60), "EXACT_2D")
    rng = np.random.default_rng(3)
    tours = [any_tour(problem, rng) for _ in range(5)]
    token = _native.StopToken()
    token.request()
    tour = merged(problem, tours, seed=1, threads=2, token=token)
    assert problem.length(tour) <= min(map(problem.length, tours))


@pytest.mark.parametrize("kicks", [0, 1, 300])
def test_a_search_begins_with_the_merged_tour(kicks, tmp_path):
    problem = Problem.from_points(unit_points(200, 4), "EXACT_2D")
    tours = [warptsp.solve(problem, kicks=1, seed=seed, bound=False, device="cpu") for seed in range(3)]
    file = tmp_path / "run.tour"
    warptsp.write_tour(file, tours[0].tour, problem)
    joined = warptsp.merge(problem, tours)
    options = {"kicks": kicks, "threads": 1, "device": "cpu", "bound": False}
    result = warptsp.solve(problem, start=tours[2].tour, merge=[file, tours[1]], **options)
    assert result.length <= joined.length
    assert result.start == "merge"
    again = warptsp.solve(problem, start=tours[2].tour, merge=[file, tours[1]], **options)
    assert again.tour.tolist() == result.tour.tolist()


def test_tours_that_were_given_are_recombined():
    """Without a kick, crossover of good tours ends below what their edges alone allow."""
    problem = Problem.from_points(unit_points(1500, 9), "EXACT_2D")
    tours = [
        warptsp.solve(problem, kicks=300, seed=seed, bound=False, threads=1, device="cpu")
        for seed in range(8)
    ]
    joined = warptsp.merge(problem, tours)
    result = warptsp.solve(problem, merge=tours, kicks=1, bound=False, threads=1, device="cpu")
    alone = warptsp.solve(problem, start=joined, kicks=1, bound=False, threads=1, device="cpu")
    assert joined.length < min(tour.length for tour in tours)
    assert result.length < alone.length


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("path", [None, OpenPath()])
@pytest.mark.parametrize("asymmetric", [False, True])
def test_few_cities(n, path, asymmetric):
    rng = np.random.default_rng(n)
    matrix = rng.random((n, n))
    np.fill_diagonal(matrix, 0)
    matrix = matrix if asymmetric else matrix + matrix.T
    problem = Problem.from_matrix(matrix, asymmetric=asymmetric, open=path)
    tours = [np.array(order, dtype=np.int32) for order in permutations(range(n))] * 2
    result = warptsp.merge(problem, tours)
    assert result.length == pytest.approx(min(map(problem.length, tours)))


def test_what_cannot_be_merged_is_refused(tmp_path):
    problem = Problem.from_points(unit_points(10))
    tour, other = np.arange(10), np.roll(np.arange(10), 3)
    cases = [
        ([tour], r"tours: 1 tour to merge; two or more are needed"),
        ([], r"tours: 0 tours to merge"),
        ("some.tour", r"tours: 'some.tour' is no list of tours"),
        (5, r"tours: 5 is no list of tours"),
    ]
    for tours, message in cases:
        with pytest.raises(InvalidOption, match=message):
            warptsp.merge(problem, tours)
    with pytest.raises(InvalidTour, match="tours: tour 2: 9 cities"):
        warptsp.merge(problem, [tour, tour[:9]])
    with pytest.raises(InvalidTour, match="tours: tour 1"):
        warptsp.merge(problem, [np.zeros(10, dtype=int), other])
    with pytest.raises(warptsp.errors.ParseError, match=r"gone\.tour"):
        warptsp.merge(problem, [tmp_path / "gone.tour", other])
    with pytest.raises(
        InvalidOption, match="merge: 1 tour; two or more are needed, of which start may be one"
    ):
        warptsp.solve(problem, merge=[tour], kicks=1)
    with pytest.raises(InvalidOption, match="start: 'greedy' and merge"):
        warptsp.solve(problem, merge=[tour, other], start="greedy", kicks=1)


@pytest.fixture
def files(tmp_path):
    file = write_tsplib(tmp_path / "cities.tsp", whole_points(80))
    problem = warptsp.load(file)
    names = []
    for seed in range(3):
        names.append(tmp_path / f"{seed}.tour")
        found = warptsp.solve(problem, kicks=1, seed=seed, bound=False, device="cpu")
        warptsp.write_tour(names[-1], found.tour, problem)
    return problem, [str(file), *map(str, names)]


def test_the_command_merges(files, tmp_path):
    problem, names = files
    out = tmp_path / "merged.tour"
    done = invoke("merge", *names, "-o", out)
    assert done.exit_code == 0, done.output
    length = problem.length(warptsp.read_tour(out, problem))
    assert f"merged       {length}" in done.output
    shown = json.loads(invoke("merge", *names, "--json").stdout)
    assert (shown["length"], len(shown["tours"]), shown["output"]) == (length, 3, None)
    assert length <= min(tour["length"] for tour in shown["tours"])
    to_stdout = invoke("merge", *names, "-o", "-", "-q")
    assert "TOUR_SECTION" in to_stdout.stdout


def test_the_command_solve_merges(files, tmp_path):
    problem, (file, *tours) = files
    out = tmp_path / "out.tour"
    words = ["solve", file, "--start", tours[0], "--merge", tours[1], "--merge", tours[2]]
    words += ["--kicks", "5", "-q"]
    assert invoke(*words, "-o", out).exit_code == 0
    best = warptsp.merge(problem, tours).length
    assert problem.length(warptsp.read_tour(out, problem)) <= best


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{file}"], "0 tours to merge: give two files or more behind INSTANCE"),
        (["{file}", "{one}"], "1 tours to merge"),
        (["{file}", "{one}", "gone.tour"], "gone.tour"),
        (["{file}", "{one}", "{file}"], "cities.tsp"),
        (["{file}", "{one}", "{one}", "--json", "-o", "-"], "both want stdout"),
        (["{file}", "{one}", "{one}", "-o", "some.xyz"], "some.xyz"),
        (["{file}", "{one}", "{one}", "--threads", "0"], "threads"),
    ],
)
def test_the_command_refuses(files, words, message, capsys):
    _, (file, one, *_) = files
    assert run(["merge", *(word.format(file=file, one=one) for word in words)]) == 2
    assert message in capsys.readouterr().err
