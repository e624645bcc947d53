"""Several GPUs make the very tour that one makes, and what goes wrong on one of them is said."""

import logging

import numpy as np
import pytest
from pretended_gpu import PretendedGpu, PretendedKernel
from test_cuda_search import instance

import warptsp
from warptsp import Problem, _native, machine
from warptsp._native import Kicks
from warptsp.backends.cuda import driver, geometry, part_share, plane_candidates, search, tuning
from warptsp.backends.cuda.cities import Cities
from warptsp.backends.cuda.device import Device
from warptsp.backends.cuda.launch_plan import LaunchPlan, needed_bytes
from warptsp.backends.cuda.part_share import PartShare
from warptsp.backends.cuda.path_order import PathOrder
from warptsp.backends.cuda.search import PartRounds, TourSearch
from warptsp.errors import BackendUnavailable, DeviceFailure
from warptsp.generate import dimacs
from warptsp.problem import Metric, OpenPath

TWO_SHARES = "cuda:0,0"  # which nobody may ask for: one GPU that works as if it were two


@pytest.fixture(params=[TWO_SHARES, "cuda:0,0,0", "cuda:0,1"])
def several(request, monkeypatch, gpu) -> str:
    """A device of several GPUs, or of one GPU several times."""

    name = request.param
    if name == "cuda:0,1":
        if len(driver.find().gpus) < 2:
            pytest.skip("needs two GPUs, and there is one")
    else:
        monkeypatch.setattr("warptsp.solver.options.resolve_device", lambda device, *_: device)
        find_ordinals = machine.ordinals
        named = tuple(int(k) for k in name[5:].split(","))
        monkeypatch.setattr(machine, "ordinals", lambda d: named if d == name else find_ordinals(d))
    return name


PATHS = {"open": OpenPath(start=5), "fixed_edges": [(1, 2), (7, 9)]}
CASES = [
    ("EUC_2D", 5000, {}),
    ("EUC_2D", 60_000, {}),
    ("GREAT_CIRCLE", 3000, {}),
    ("EXPLICIT", 2500, {}),
    ("CEIL_2D", 3000, PATHS),
]


@pytest.mark.gpu
@pytest.mark.parametrize(("metric", "n", "fields"), CASES)
def test_the_same_tour_with_any_number_of_gpus(several: str, metric: str, n: int, fields: dict) -> None:
    problem = instance(metric, n, **fields)
    options = {"kicks": 5 * n, "seed": 7, "params": {"population": 0}}
    one = warptsp.solve(problem, device="cuda:0", **options)
    many = warptsp.solve(problem, device=several, **options)
    problem.check_tour(many.tour)
    assert many.device == several
    assert many.counters["kicks"] == one.counters["kicks"]
    assert many.length == one.length
    assert (many.tour == one.tour).all()


@pytest.mark.gpu
def test_the_same_population_with_any_number_of_gpus(several: str) -> None:
    problem = dimacs("E3k.0")
    one, many = (
        warptsp.solve(problem, device=device, kicks=60 * problem.n, seed=4) for device in ("cuda:0", several)
    )
    assert many.device == several
    assert (many.tour == one.tour).all()


@pytest.mark.gpu
def test_a_round_is_given_up_at_once(several: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round of hours, with a launch of minutes: it has not come to its end. The tour before it is kept."""
    from warptsp.methods.lk import tuning as lk_tuning

    monkeypatch.setattr(tuning, "ROUND_SLICE", 1e9)
    monkeypatch.setattr(lk_tuning, "GPU_MIN_KICKS", 1e5)
    problem = instance("EUC_2D", 100_000)
    warptsp.solve(problem, device=several, kicks=1)
    result = warptsp.solve(problem, device=several, time_limit=2.0, params={"population": 0})
    assert result.counters["kicks"] < 1e5 * problem.n
    assert result.stop_reason == "time limit of 2 s"
    problem.check_tour(result.tour)


@pytest.mark.gpu
def test_few_parts_are_for_one_gpu(several: str) -> None:
    problem = instance("EUC_2D", 300)
    result = warptsp.solve(problem, device=several, kicks=300, params={"population": 0})
    assert result.device == "cuda:0"
    assert (
        result.tour == warptsp.solve(problem, device="cuda:0", kicks=300, params={"population": 0}).tour
    ).all()


@pytest.mark.gpu
def test_memory_of_each_gpu(several: str) -> None:
    problem = instance("EUC_2D", 300_000)
    result = warptsp.solve(problem, device=several, kicks=problem.n)
    assert 0 < result.counters["device_bytes"] <= needed_bytes(problem)


@pytest.mark.gpu
def test_a_gpu_that_fails_is_named(several: str, monkeypatch: pytest.MonkeyPatch, caplog) -> None:
    improve = PartShare.improve

    def fails(self: PartShare, work: float) -> None:
        if self.parts.start > 0:
            self.device._fail("wait for its work", RuntimeError("CUDA_ERROR_NVLINK_UNCORRECTABLE"))
        improve(self, work)

    monkeypatch.setattr(PartShare, "improve", fails)
    problem = instance("EUC_2D", 20_000)
    last = several.rpartition(",")[2]
    with pytest.raises(DeviceFailure, match=rf"^device cuda:{last} failed .* the GPU was lost") as caught:
        warptsp.solve(problem, device=several, kicks=problem.n)
    problem.check_tour(caught.value.result.tour)
    monkeypatch.setattr("warptsp.solver.options.resolve_device", lambda *_: several)
    with caplog.at_level(logging.WARNING, "warptsp"):
        result = warptsp.solve(problem, device="auto", kicks=1000)
    assert result.device == "cpu"
    assert f"the CPU instead of {several}: device cuda:{last} failed" in caplog.text


@pytest.mark.gpu
def test_copies_between_gpus(gpu) -> None:
    try:
        other = Device.open(1)
    except BackendUnavailable as error:
        pytest.skip(f"needs two GPUs: {error}")
    with other:
        values = np.arange(1 << 22, dtype=np.int32)
        for shared in (False, True):  # by way of the host, perhaps, and directly
            if shared:
                gpu.share_with(other)
                other.share_with(gpu)
            there = gpu.upload(values).copy_to(other)
            back = there.copy_to(gpu)
            back[:100].copy_from(there[100:200])
            assert (back[100:].download() == values[100:]).all()
            assert (there.download() == values).all()
            gpu.after(other)
            assert (back[:100].download() == values[100:200]).all()


# The division of work, without a GPU

N, PARTS = 100, 11
KICKS = {"threads": 2, "kicks": Kicks(walk=50, walks=0.5)}


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> list:
    """What the GPUs of the rounds do: each writes its number, and the copy's, where a part would be."""

    working: list = []

    def work(gpu, name, grid, *arguments):
        if name == "improve_parts":
            share = next(share for share in working if share.device is gpu)
            first, parts = int(arguments[2]), grid // len(share.copies)
            places = slice(N * first // PARTS, N * (first + parts) // PARTS)
            for row, copy in enumerate(share.copies):
                share._handed["handed_city"].values[row, places] = 1000 * gpu.ordinal + copy
        if name == "count_paths":
            arguments[3].values[:] = np.arange(len(arguments[3]))

    def plan(device, metric, n, tours=1, **of_build):
        return LaunchPlan(PARTS, 3 if tours == 1 else tours, n // PARTS + 1, 1000, 2, 4, 1, 1)

    monkeypatch.setattr(
        part_share, "lk_kernel", lambda gpu, metric, name, *of_build: PretendedKernel(gpu, name, work)
    )
    monkeypatch.setattr(search, "plan_launch", plan)
    return working


def pretended_cities(gpus: int) -> list:

    class Pretended(Cities):
        def path_graph(self):
            return self

        def arrange(self, paths, begin, places, threads):
            places[...] = 0
            return 1

        def length(self, tour):
            return 5.0

        def second_order(self, number, token):
            return self.device.upload(np.arange(N, dtype=np.int32))

    device = PretendedGpu(0)
    problem = Problem.from_points(np.zeros((N, 2)), Metric.EUC_2D)
    lead = Pretended(device, problem, N, device.upload(np.zeros((N, 8), np.int32)))
    lead.points = device.upload(np.zeros((N, 2)))
    return [lead, *(lead.copy_to(PretendedGpu(k)) for k in range(1, gpus))]


@pytest.mark.parametrize("gpus", [1, 2, 3, 11, 14])
def test_the_parts_of_a_tour_are_divided(shares: list, gpus: int) -> None:
    cities = pretended_cities(gpus)
    tour = np.random.default_rng(gpus).permutation(N).astype(np.int32)
    search = TourSearch(cities, cities[0].device.upload(tour), **KICKS)
    shares[:] = search.rounds._shares
    assert [part for share in shares for part in share.parts] == list(range(PARTS))
    assert search.rounds.gpus == len(shares) == min(gpus, PARTS)
    for _ in range(4):
        assert search.round(
            optimize=True, kicks_per_city=0.3, temperature=0.0, seed=1, token=_native.StopToken()
        )
    for copy in range(3):
        seen = [share._handed["handed_city"].values[copy] for share in shares]
        assert (np.unique(seen[0] // 1000) == np.arange(len(shares))).all()
        assert all((other == seen[0]).all() for other in seen)
    other = tour[::-1].copy()
    search.go_on_from(other)
    assert all((share.tours.values == other).all() for share in shares)
    for share in shares:  # a GPU puts back what all have handed over, and alone joins the paths or does not
        assert (
            share.device.launched.count("put_back_stretches")
            == share.device.launched.count("put_back_parts")
            == 2
        )
        assert share.device.launched.count("count_paths") == (2 if share is shares[0] else 0)


@pytest.mark.parametrize("gpus", [1, 2, 3])
def test_the_tours_of_a_population_are_divided(shares: list, gpus: int) -> None:
    cities = pretended_cities(gpus)
    tours = np.arange(7 * N, dtype=np.int32).reshape(7, N)
    pieces = [own.device.upload(some) for own, some in zip(cities, np.array_split(tours, gpus), strict=True)]
    rounds = PartRounds(cities, pieces, one_tour=False, mean_link=1.0, **KICKS)
    shares[:] = rounds._shares
    assert (rounds.tours() == tours).all()
    for _ in range(2):
        assert rounds.round(
            optimize=True, kicks_per_city=0.3, temperature=0.0, seed=1, token=_native.StopToken()
        )
    copies = [share._handed["handed_city"].values % 1000 for share in shares]
    assert (np.concatenate(copies) == np.arange(7)[:, None]).all()


@pytest.mark.parametrize("gpus", [1, 2, 3])
def test_candidate_lists_are_divided(gpus: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each GPU finds some rows, in slices, and has all in the end."""

    searched: list[tuple[int, int, int]] = []

    class Gpu(PretendedGpu):
        def synchronize(self):
            pass

        def module(self, source):
            self.file = source.file
            return self

        def kernel(self, name):
            return PretendedKernel(self, name, work)

        def each(self, name, count, *arguments):
            self.kernel(name).launch(count, 1, *arguments)

    def work(gpu, name, grid, *arguments):
        if name.startswith("find_candidates"):
            begin, end, rows = int(arguments[2]), int(arguments[3]), arguments[4]
            searched.append((gpu.ordinal, begin, end))
            rows.values[begin:end] = 1000 * gpu.ordinal + np.arange(begin, end)[:, None]

    monkeypatch.setattr(tuning, "SETUP_SLICE", 30)
    lead = Gpu(0)
    city, points = np.arange(N, dtype=np.int32), np.zeros((N, 2))
    layout = geometry.Layout(*map(lead.upload, (city, points, np.zeros(7))))
    cards = [lead, *(Gpu(k) for k in range(1, gpus))]
    layouts = [layout, *(layout.copy_to(card) for card in cards[1:])]
    found = plane_candidates.shared_candidate_lists(cards, layouts, 8, 2)
    assert found is not None
    for own, card in zip(found, cards, strict=True):
        assert own._device is card
        assert (own.values % 1000 == np.arange(N)[:, None]).all()
        assert (own.values == found[0].values).all()
    places = sorted((begin, end) for _, begin, end in searched)
    assert [begin for begin, _ in places[1:]] == [end for _, end in places[:-1]]
    assert all(end - begin <= 30 for begin, end in places)
    assert {card for card, _, _ in searched} == set(range(gpus))

    token = _native.StopToken()
    token.request()
    assert plane_candidates.shared_candidate_lists(cards, layouts, 8, 2, token=token) is None


def test_joins_of_closed_tours_that_can_be_made_together() -> None:
    ends = ("tour", "other", "a", "a_link", "b", "b_link", "crossed", "found")
    joins = np.array(
        [
            (2.0, 0, 10, 1, 2, 11, 12, 0, 1),  # the third one is cheaper and has joined these two
            (0.5, 20, 0, 21, 22, 1, 2, 1, 1),  # takes a gap of the third
            (0.25, 10, 0, 11, 12, 1, 2, 1, 1),
            (9.0, 30, 20, 31, 32, 23, 24, 0, 1),
            (0.0, 40, -1, -1, -1, -1, -1, 0, 0),  # found nothing
        ],
        np.dtype([("added", "f8"), *((name, "i4") for name in ends)]),
    )
    links, names = _native.choose_joins(np.concatenate([joins, joins[2:3]]).view(np.uint8))
    assert list(map(tuple, links)) == [
        *((11, 2), (2, 11), (12, 1), (1, 12)),
        *((31, 23), (23, 31), (32, 24), (24, 32)),
    ]
    assert dict(names.tolist()) == {0: 0, 10: 0, 20: 20, 30: 20, 40: 40}


@pytest.mark.gpu
def test_the_same_long_tour_with_any_number_of_gpus(several: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the tour were a long one: the GPU puts paths in order, some parts come last, another GPU makes
    the orders."""

    for module in ("cuda", "cuda_setup"):
        monkeypatch.setattr(f"warptsp.methods.lk.{module}.WORTH_THREADS", 1)
    monkeypatch.setattr(tuning, "MIN_ORDERED", 1)
    monkeypatch.setattr(tuning, "MIN_WAVES", 0.0)
    problem = instance("EUC_2D", 60_000)
    options = {"kicks": 2 * problem.n, "seed": 5, "params": {"population": 0}}
    one = warptsp.solve(problem, device="cuda:0", **options)
    assert (warptsp.solve(problem, device=several, **options).tour == one.tour).all()


@pytest.mark.gpu
@pytest.mark.parametrize("metric", ["EUC_2D", "EXACT_3D"])
def test_paths_in_order_by_the_gpu(gpu, metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of one tour whose paths the GPU puts in order, as if it were a long one."""

    placed = []
    places = PathOrder.places
    monkeypatch.setattr(PathOrder, "places", lambda self: placed.append(places(self)) or placed[-1])
    random = np.random.default_rng(1)
    problem = Problem.from_points(random.integers(0, 10_000, (30_000, int(metric[-2]))).astype(float), metric)
    options = {"device": "cuda:0", "kicks": 10 * problem.n, "seed": 3, "params": {"population": 0}}
    host = warptsp.solve(problem, **options)
    assert not placed
    monkeypatch.setattr(tuning, "MIN_ORDERED", 1)
    here, again = warptsp.solve(problem, **options), warptsp.solve(problem, **options)
    assert len(placed) >= 10
    assert all(one is not None for one in placed)
    assert (here.tour == again.tour).all()
    problem.check_tour(here.tour)
    assert here.length == pytest.approx(host.length, rel=0.005)


@pytest.mark.gpu
@pytest.mark.parametrize(("tours", "size"), [(300_000, 2), (3, 1000), (1, 50)])
def test_closed_tours_are_joined_on_the_gpu(gpu, tours: int, size: int) -> None:
    count = tours * size
    path = np.arange(count).reshape(tours, size)
    before, behind = np.roll(path, 1, axis=1).ravel(), np.roll(path, -1, axis=1).ravel()
    city = path.ravel()  # one on each path
    links = 2 * before + 1, 2 * behind
    paths = np.stack([*links, city, city, np.ones(count, np.int64)], axis=1).astype(np.int32)
    points = np.random.default_rng(1).random((count, 2))
    with Device.open(0) as device:
        places = PathOrder(device, device.upload(paths), device.upload(points), Metric.EXACT_2D).places()
        assert places is not None
        assert (np.sort(places.download()[:, 0]) == np.arange(count)).all()


def test_a_stopped_round_changes_nothing(shares: list) -> None:
    cities = pretended_cities(2)
    search = TourSearch(cities, cities[0].device.upload(np.arange(N, dtype=np.int32)), **KICKS)
    shares[:] = search.rounds._shares
    token = _native.StopToken()
    token.request()
    assert not search.round(optimize=True, kicks_per_city=0.3, temperature=0.0, seed=1, token=token)
    assert not any("put_back_stretches" in share.device.launched for share in shares)
