"""The outer level without Dask: tasks and answers, rounds, and what happens to tasks that get lost."""

import io
import random
import sys

import numpy as np
import pytest
from processes import run_code

import warptsp
from warptsp.cli import run
from warptsp.cluster import executors
from warptsp.cluster.connect import ClusterParams, check_cluster, named_cluster
from warptsp.cluster.executors import InProcess, Outcome
from warptsp.cluster.tasks import Answer, DeadlinePassed, Refused, Task, improve
from warptsp.errors import BackendUnavailable, InvalidOption, UnsupportedProblem, WarpTSPError
from warptsp.problem import Metric

CITIES, ROUNDS = 2000, 3
SPREAD = {"part": 250, "rounds": ROUNDS, "kicks": 0.5}


class Faulty(InProcess):
    """Loses answers, gives them twice, and in any order."""

    def __init__(self, threads, seed):
        super().__init__("cpu", threads)
        self.random = random.Random(seed)
        self.kept = []
        self.mischief = 0

    def gather(self, seconds, patience):
        for outcome in super().gather(seconds, patience):
            kind = self.random.choice(["late", "lost", "twice", "raises", "good", "good"])
            self.mischief += kind != "good"
            if kind == "lost":
                outcome = Outcome(outcome.task, outcome.worker, lost="a test lost it")
            elif kind == "raises" and self.random.random() < 0.3:
                outcome = Outcome(outcome.task, outcome.worker, error=ValueError("a test broke it"))
            self.kept += [outcome] * (2 if kind == "twice" else 1)
        self.random.shuffle(self.kept)
        given, self.kept = self.kept[: len(self.kept) // 2 + 1], self.kept[len(self.kept) // 2 + 1 :]
        return given


@pytest.mark.parametrize("threads", [1, 3])
def test_the_tour_depends_on_nothing_but_the_seed(problem, expected, threads):
    executor = Faulty(threads, threads)
    try:
        params = {**SPREAD, "attempts": 10}
        result = warptsp.solve(problem, cluster=executor, cluster_params=params, seed=7)
    finally:
        executor.close()
    assert executor.mischief > 3
    assert result.counters["tasks_repeated"] > 0
    np.testing.assert_array_equal(result.tour, expected.tour)
    other = warptsp.solve(problem, cluster=f"threads:{threads}", cluster_params=SPREAD, seed=8)
    assert not np.array_equal(other.tour, expected.tour)


def test_rounds_make_a_good_tour(problem, expected):
    problem.check_tour(expected.tour)
    assert problem.length(expected.tour) == expected.length
    plain = warptsp.solve(problem, kicks=int(ROUNDS * 0.5 * CITIES), seed=7, threads=1)
    assert expected.length < 1.03 * plain.length
    assert expected.stop_reason == "the search is complete"
    assert expected.device == "cluster"
    counters = expected.counters
    assert (counters["rounds"], counters["tasks"]) == (ROUNDS, ROUNDS * 8)
    assert counters["kicks"] == ROUNDS * 0.5 * CITIES


@pytest.mark.parametrize("metric", ["EXACT_2D", "GEO", "EXACT_3D"])
def test_metrics_and_fixed_edges(metric):
    rng = np.random.default_rng(3)
    points = rng.random((900, Metric.parse(metric).dimensions)) * 80
    order = rng.permutation(900)
    edges = np.stack([order[:300:2], order[1:300:2]], axis=1)
    problem = warptsp.Problem.from_points(points, metric, fixed_edges=edges)
    result = warptsp.solve(problem, cluster="threads:2", cluster_params={**SPREAD, "part": 150})
    problem.check_tour(result.tour)
    curve = warptsp.solve(problem, method="construct", start="space-filling")
    assert result.length < curve.length


def test_progress_tells_of_rounds_and_workers(problem):
    events = []
    result = warptsp.solve(problem, cluster="threads:2", cluster_params=SPREAD, callback=events.append)
    last = events[-1]
    assert sum(worker.tasks for worker in last.workers.values()) == result.counters["tasks"]
    assert set(last.workers) <= {"cpu thread 0", "cpu thread 1"}
    assert all(worker.kicks and worker.seconds > 0 for worker in last.workers.values())
    assert any("of 8 parts, 2 workers" in event.phase for event in events)


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ({"kicks": 1234}, "limit of 1234 kicks"),
        ({"time_limit": 0.3}, "time limit of 0.3 s"),
        (
            {"callback": lambda progress: progress.counters["tasks"] > 9, "time_limit": 600},
            "the callback returned True",
        ),
        (
            {"stop": warptsp.TargetGap(30.0, reference="bound") | warptsp.MaxRuntime(600)},
            "target gap of 30 % to the lower bound reached",
        ),
        ({"cluster_params": {**SPREAD, "rounds": 1}}, "the search is complete"),
    ],
)
def test_what_ends_it(problem, expected, limit, reason):
    options = {"cluster_params": {"part": 300}, "start": expected.tour, "seed": 1, **limit}
    result = warptsp.solve(problem, cluster="threads:2", **options)
    assert result.stop_reason == reason
    problem.check_tour(result.tour)
    assert result.length <= expected.length
    assert result.counters["kicks"] == limit.get("kicks", result.counters["kicks"])


def test_no_kicks_are_two_rounds_of_local_search(problem):
    none = warptsp.solve(problem, kicks=0, cluster="threads:2", cluster_params={"part": 300})
    assert none.counters["rounds"] == 2


def test_a_task_that_raises_every_time(problem, monkeypatch, tmp_path, caplog):
    def raising(task, stop):
        if task.index == 3 and task.round == 1:
            raise ZeroDivisionError("cannot divide")
        return improve(task, stop)

    monkeypatch.setattr(executors, "improve", raising)
    saved = tmp_path / "saved.tour"
    with pytest.raises(
        WarpTSPError, match=r"task 3 of round 2, \d+ cities, failed 3 times.*ZeroDivision"
    ) as it:
        warptsp.solve(problem, cluster="threads:2", cluster_params=SPREAD, checkpoint=saved)
    tour = warptsp.read_tour(saved, problem)
    problem.check_tour(tour)
    assert problem.length(tour) == it.value.result.length
    assert caplog.text.count("is repeated: ZeroDivisionError") == 2


def test_an_invalid_answer_counts_as_a_failure(problem, monkeypatch):
    monkeypatch.setattr(
        executors, "improve", lambda task, stop: Answer(np.zeros(task.n, np.int32), 0, 0.1, "cpu")
    )
    with pytest.raises(WarpTSPError, match=r"failed 3 times.*InvalidTour"):
        warptsp.solve(problem, cluster="threads:1", cluster_params=SPREAD)


def test_threads_that_begin_after_the_main_thread():
    code = """
import threading
import numpy as np
import warptsp

points = np.random.default_rng(1).random((1000, 2))

def search():
    threading.main_thread().join()
    params = {"rounds": 1, "part": 300, "kicks": 0.1}
    print(warptsp.solve(points, cluster="threads:2", cluster_params=params).device)

threading.Thread(target=search).start()
"""
    done = run_code(code)
    assert done.stdout == "cluster\n", done.stderr


def test_few_cities_are_searched_here():
    points = np.random.default_rng(0).random((300, 2))
    result = warptsp.solve(points, cluster="threads:2", kicks=100)
    assert result.device == "cpu"
    assert result.counters["kicks"] == 100
    result = warptsp.solve(points, cluster="threads:2", cluster_params={"rounds": 2, "kicks": 0.5})
    assert result.counters["kicks"] == 300


# Tasks


def some_task(**changes):
    rng = np.random.default_rng(5)
    fields = {
        "coordinates": rng.random((40, 2)),
        "metric": Metric.EXACT_2D,
        "path_begin": np.array([0, 10, 11, 40], np.int32),
        "round": 2,
        "index": 3,
        "seed": 2**64 - 1,
        "kicks": 50,
        "params": {"temperature": 0.1, "breadth": (5, 3)},
    }
    return Task(**{**fields, **changes})


@pytest.mark.parametrize(
    "coordinates",
    [
        np.random.default_rng(5).random((40, 2)),
        np.random.default_rng(5).random((40, 3)).astype(np.float32).astype(np.float64),
        np.random.default_rng(5).integers(-(2**31), 2**31, (40, 2)).astype(np.float64),
    ],
)
def test_tasks_and_answers_over_the_wire(coordinates):
    metric = Metric.EXACT_2D if coordinates.shape[1] == 2 else Metric.EXACT_3D
    task = some_task(coordinates=coordinates, metric=metric)
    read = Task.from_bytes(task.to_bytes())
    np.testing.assert_array_equal(read.coordinates, task.coordinates)
    np.testing.assert_array_equal(read.path_begin, task.path_begin)
    for name in ("metric", "round", "index", "seed", "kicks", "has_tour", "device", "seconds", "version"):
        assert getattr(read, name) == getattr(task, name), name
    answers = [improve(task), Answer.from_bytes(improve(read).to_bytes())]
    np.testing.assert_array_equal(answers[0].order, answers[1].order)
    assert (answers[0].order != np.arange(40)).any()


def test_a_million_cities_take_less_than_20_mb():
    n = 1_000_000
    begins = np.linspace(0, n, 20_000).astype(np.int32)
    floats = np.random.default_rng(0).random((n, 2))
    assert len(some_task(coordinates=floats, path_begin=begins).to_bytes()) < 20e6
    assert len(some_task(coordinates=np.floor(1e6 * floats), path_begin=begins).to_bytes()) < 9e6
    assert len(Answer(np.arange(n, dtype=np.int32), 1, 1.0, "cpu").to_bytes()) < 5e6


def test_another_version_is_refused():
    packed = some_task(version="0.0.9").to_bytes()
    with pytest.raises(Refused, match=rf"warptsp 0\.0\.9, and this worker has warptsp {warptsp.__version__}"):
        Task.from_bytes(packed)
    with pytest.raises(Refused, match=r"not a task of warptsp"):
        Task.from_bytes(b"something else")
    with pytest.raises(Refused, match="Bad CRC"):
        Task.from_bytes(some_task().to_bytes().replace(b"<f8", b"<f4"))
    pickled = io.BytesIO()
    np.savez(pickled, head=np.array([print]))
    with pytest.raises(Refused, match="Object arrays cannot be loaded"):
        Task.from_bytes(pickled.getvalue())


@pytest.mark.parametrize("what", [some_task(), Answer(np.arange(40, dtype=np.int32), 9, 0.5, "cpu")])
def test_damaged_bytes_are_refused(what):
    packed, draw = what.to_bytes(), np.random.default_rng(1)
    refused = 0
    for _ in range(500):
        damaged = bytearray(packed)
        damaged[draw.integers(len(packed))] ^= 1 << draw.integers(8)
        try:
            type(what).from_bytes(bytes(damaged))
        except Refused:
            refused += 1
    assert refused > 100
    with pytest.raises(Refused, match=r"is not an? (task|answer) of warptsp"):
        type(what).from_bytes(packed[:-30])


def test_a_deadline_and_a_task_that_nobody_wants():
    with pytest.raises(DeadlinePassed, match="40 cities"):
        improve(some_task(kicks=10**9, deadline=0.05))
    dropped = improve(some_task(kicks=10**9), is_dropped=lambda: True)
    assert dropped.kicks < 10**9


def test_links_to_the_outside_stay():
    task = some_task(kicks=500)
    order = improve(task).order.tolist()
    neighbours = {frozenset(pair) for pair in zip(order, order[1:] + order[:1], strict=True)}
    assert {frozenset(pair) for pair in [(9, 10), (10, 11), (39, 0)]} <= neighbours


# What users get wrong


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"cluster": "nowhere"},
            InvalidOption,
            "cluster 'nowhere': the port is missing, as in tcp://nowhere:8786",
        ),
        ({"cluster": "local:0"}, InvalidOption, "a number of workers from 1 to 1024"),
        ({"cluster": 5}, InvalidOption, "cluster: 5 is not a cluster; give an address"),
        ({"cluster": "threads", "device": "cuda:1"}, InvalidOption, "device 'cuda:1': workers of a cluster"),
        ({"cluster": "threads", "device": "cuda"}, InvalidOption, "threads are CPU, devices GPUs"),
        ({"cluster": "threads", "method": "two-opt"}, InvalidOption, "method 'two-opt' and cluster"),
        ({"cluster_params": {"part": 100}}, InvalidOption, "there is no cluster"),
        (
            {"cluster": "threads", "cluster_params": {"prat": 1}},
            InvalidOption,
            "'prat': cluster has part, rounds",
        ),
        ({"cluster": "threads", "cluster_params": {"part": 5}}, InvalidOption, "part: 5 is not 100 or more"),
        ({"cluster": "threads", "open": True}, UnsupportedProblem, "open paths are not cut"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        warptsp.solve(np.random.default_rng(0).random((50, 2)), **options)


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    for cluster in ("local", "tcp://127.0.0.1:1"):
        with pytest.raises(BackendUnavailable, match=r"not installed .*: pip install 'warptsp\[dask\]'"):
            warptsp.solve(np.random.default_rng(0).random((50, 2)), cluster=cluster)


def test_a_matrix_is_not_cut():
    with pytest.raises(UnsupportedProblem, match="cluster: a matrix"):
        warptsp.solve(np.ones((20, 20)), cluster="threads")


@pytest.mark.gpu
def test_the_gpus_of_this_machine(gpu):
    points = np.random.default_rng(1).random((60_000, 2))
    params = {"part": 20_000, "rounds": 2, "kicks": 0.5}
    result = warptsp.solve(points, cluster="devices", cluster_params=params)
    again = warptsp.solve(points, cluster="devices", cluster_params=params)
    np.testing.assert_array_equal(result.tour, again.tour)
    threads = warptsp.solve(points, cluster="threads", cluster_params=params)
    assert result.length < 1.03 * threads.length


def test_devices_need_a_gpu(no_driver, monkeypatch):
    from warptsp.cluster import tasks

    monkeypatch.setattr(tasks, "usable_gpus", tasks.usable_gpus.__wrapped__)
    with pytest.raises(BackendUnavailable, match="cluster devices: there is no usable GPU"):
        warptsp.solve(np.random.default_rng(0).random((50, 2)), cluster="devices")


def test_the_command_line(tmp_path, problem, capsys):
    instance, out = tmp_path / "some.npy", tmp_path / "out.tour"
    np.save(instance, problem.coordinates)
    arguments = [
        "solve",
        str(instance),
        "--cluster",
        "threads:2",
        "--cluster-param",
        "rounds=2",
        "-o",
        str(out),
    ]
    arguments += ["--cluster-param", "part=400", "--cluster-param", "kicks=0.2", "--json"]
    assert run(arguments) == 0
    told = capsys.readouterr()
    assert '"device": "cluster"' in told.out
    assert "warning" not in told.err
    same = warptsp.solve(
        instance, cluster="threads:1", cluster_params=ClusterParams(rounds=2, part=400, kicks=0.2)
    )
    np.testing.assert_array_equal(warptsp.read_tour(out, same.problem), same.tour)


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        ("", "give an address such as tcp://10.0.0.1:8786, local, local:8"),
        (" ", "give an address"),
        ("tcp://", "give an address"),
        ("tcp://10.0.0.1:8786 ", "give an address"),
        ("tcp://h\u00f6st:8786", "give an address"),
        ("http://x", "'http' is not a protocol of Dask, which are tcp, tls"),
        ("https://10.0.0.1:8786", "'https' is not a protocol"),
        ("carrier-pigeon://coop", "'carrier-pigeon' is not a protocol"),
        ("TCP://10.0.0.1:8786", "'TCP' is not a protocol"),
        ("://10.0.0.1:8786", "'' is not a protocol"),
        (
            "local:99999",
            "a number of workers from 1 to 1024; a scheduler on a host of that name is tcp://local:",
        ),
        ("local:8786", "from 1 to 1024"),
        ("local:", "from 1 to 1024"),
        ("local:-1", "from 1 to 1024"),
        ("threads:two", "from 1 to 1024"),
        ("threads:" + "9" * 5000, "from 1 to 1024"),
        ("devices:2", "all GPUs of this machine and take no number"),
        ("tcp://10.0.0.1", "the port is missing, as in tcp://10.0.0.1:8786"),
        ("tls://10.0.0.1/", "the port is missing, as in tls://10.0.0.1:8786"),
        ("10.0.0.1:", "the port is missing"),
        ("tcp://[::1]", r"the port is missing, as in tcp://\[::1\]:8786"),
        ("tcp://10.0.0.1:0", "port '0' is not a number from 1 to 65535"),
        ("tcp://10.0.0.1:65536", "port '65536' is not"),
        ("10.0.0.1:-1", "port '-1' is not"),
        ("tcp://10.0.0.1:8786x", "port '8786x' is not"),
        ("tcp://10.0.0.1:\u0661", "give an address"),
        ("tcp://::1:8786", "'::1:8786' is not a host and port"),
        ("tcp://:8786", "':8786' is not a host and port"),
        ("tcp://user@10.0.0.1:8786", "is not a host and port"),
        ("tcp://10.0.0.1:8786/path", "is not a host and port"),
        ("tcp://tcp://10.0.0.1:8786", "'tcp://tcp' is not a protocol"),
    ],
)
def test_what_is_no_address_is_said_at_once(cluster, message):
    with pytest.raises(InvalidOption, match=f"^cluster .*{message}") as error:
        check_cluster(cluster, "auto")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("cluster", "kind"),
    [
        ("10.0.0.1:8786", ("", None)),
        ("tcp://10.0.0.1:8786/", ("", None)),
        ("tls://scheduler.example:1", ("", None)),
        ("tcp://[fe80::1%eth0]:65535", ("", None)),
        ("tcp://local:8786", ("", None)),
        ("threads.example:8786", ("", None)),
        ("inproc://10.0.0.1/123/1", ("", None)),
        ("local", ("local", None)),
        ("local:1024", ("local", 1024)),
        ("threads:2", ("threads", 2)),
        ("devices", ("devices", None)),
    ],
)
def test_names_of_clusters(cluster, kind):
    assert named_cluster(cluster) == kind
    check_cluster(cluster, "auto")
