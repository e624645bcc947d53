"""A Dask scheduler that goes, hangs or comes back, and workers on this machine that nobody else can reach."""

import asyncio
import os
import random
import signal
import socket
import sys
import threading
from contextlib import ExitStack
from functools import partial

import cluster_worker
import numpy as np
import pytest
from processes import begin_python, forked_with_dask

import warptsp
from warptsp.cluster import local, scheduler
from warptsp.errors import BackendUnavailable, InvalidOption

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'warptsp[dask]'")
psutil = pytest.importorskip("psutil", reason="an extra brings it: pip install 'warptsp[dask]'")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

CITIES = 600
SPREAD = {"part": 100, "rounds": 2, "kicks": 0.5, "wait": 600.0}
ENDLESS = {**SPREAD, "rounds": 1_000_000}


def free_port():
    """A port that nobody listens at, below those that connections and servers without a number are given:
    one of those may be somebody else's before the scheduler has started, or while it starts again."""
    while True:
        try:
            with socket.create_server(("127.0.0.1", random.randrange(10_000, 30_000))) as free:
                return free.getsockname()[1]
        except OSError:
            continue


class Cluster:
    """A scheduler and a worker, processes of their own."""

    def __init__(self):
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.processes = ExitStack()
        self.begin()

    def begin(self):
        """Start both, without waiting for them."""
        here = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
        self.scheduler = self._start("scheduler", "--port", str(self.port), *here)
        self._start("worker", self.address, "--nthreads", "1", "--no-nanny", *here)

    def _start(self, *words):
        return self.processes.enter_context(forked_with_dask(cluster_worker.command, *words))

    def kill(self):
        """SIGKILL for the scheduler."""
        self.scheduler.kill()
        self.scheduler.join()


@pytest.fixture
def cluster():
    cluster = Cluster()
    with cluster.processes:
        yield cluster


@pytest.fixture
def client(cluster):
    client = distributed.Client(cluster.address, timeout=60, set_as_default=False)
    yield client
    scheduler.let_go(client)


def solve(problem, cluster, params=SPREAD, **options):
    return warptsp.solve(problem, cluster=cluster, cluster_params=params, seed=7, **options)


def once(phase, action):
    """A callback that does something in the first phase of that name."""
    phases = []

    def call(progress):
        if progress.phase.startswith(phase) and not phases:
            phases.append(progress.phase)
            action()

    return call


def lose(cluster, client, seconds=0.2):
    """Have the scheduler killed, and the client give up after so many seconds."""
    client._timeout = seconds
    cluster.kill()


# A scheduler that is gone


@pytest.mark.parametrize("phase", ["waiting", "round 2,", "round 2"])
def test_a_killed_scheduler_is_said_in_one_line(problem, cluster, client, told, tmp_path, phase):
    saved = tmp_path / "saved.tour"
    # In 0.2 s a busy machine may not look once.
    kill = once(phase, partial(lose, cluster, client, 2.0))
    with pytest.raises(BackendUnavailable, match=r"the scheduler is gone: ") as error:
        solve(problem, client, ENDLESS, callback=kill, checkpoint=saved)
    assert str(error.value).startswith(f"cluster {cluster.address}: ")
    assert "\n" not in str(error.value)
    assert "no connection to the scheduler; trying to restore it" in told.text
    problem.check_tour(error.value.result.tour)
    tour = warptsp.read_tour(saved, problem)
    assert problem.length(tour) == error.value.result.length


def test_a_scheduler_that_is_killed_at_the_end_takes_nothing_away(problem, cluster, client, expected):
    def kill(progress):
        if progress.phase == "round 2":  # of two
            lose(cluster, client)

    result = solve(problem, client, callback=kill)
    np.testing.assert_array_equal(result.tour, expected.tour)


def test_a_scheduler_that_comes_back_is_worked_with_again(problem, cluster, client, expected, told):
    def restart():
        cluster.processes.close()
        cluster.begin()

    result = solve(problem, client, callback=once("round 1,", restart))
    np.testing.assert_array_equal(result.tour, expected.tour)
    assert "no connection to the scheduler" in told.text
    assert "the scheduler is back" in told.text
    assert "worker refused" not in told.text


@pytest.mark.parametrize("limit", [False, True])
def test_a_scheduler_that_hangs_keeps_nobody(problem, cluster, client, monkeypatch, limit):
    """By SIGSTOP: its connections stay. A time limit or a callback ends the run all the same."""
    monkeypatch.setattr(scheduler, "ANSWER", 0.01)
    monkeypatch.setattr(scheduler, "SILENCE", 1e9 if limit else 0.1)
    monkeypatch.setattr(scheduler, "LEAVE", 0.1)
    asleep = []

    def hang(progress):
        if not asleep and progress.phase.startswith("round 1,"):
            asleep.append(os.kill(cluster.scheduler.pid, signal.SIGSTOP))
        asleep.extend(asleep[:1])
        return limit and len(asleep) > 30

    if limit:
        result = solve(problem, client, ENDLESS, callback=hang)
        problem.check_tour(result.tour)
    else:
        with pytest.raises(BackendUnavailable, match=r"the scheduler is gone: no answer for 0\.1 s"):
            solve(problem, client, ENDLESS, callback=hang)


def test_an_answer_that_does_not_come_keeps_nobody(problem, client, monkeypatch, told):
    """The scheduler hangs between the end of a task and the question for its answer."""
    monkeypatch.setattr("warptsp.cluster.dask.FETCH", 5.0)
    late = []

    async def never(*_, **__):
        late.append("gather")
        await asyncio.sleep(600)

    def stop(progress):
        if progress.phase.startswith("round 1,"):
            monkeypatch.setattr(client, "_gather", never)
        return len(late) > 0

    problem.check_tour(solve(problem, client, ENDLESS, callback=stop).tour)
    assert late
    assert "answer did not arrive" not in told.text


def test_a_client_that_its_owner_closes(problem, cluster, client):
    said = []
    for _ in range(2):  # in the middle of a run, and before one
        with pytest.raises(BackendUnavailable) as error:
            solve(problem, client, ENDLESS, callback=once("round 2,", client.close))
        said.append(str(error.value))
    assert said == [
        f"cluster {cluster.address}: the scheduler is gone: its client was closed",
        "cluster: the dask Client is closed; make a new one",
    ]


def test_a_client_of_this_very_thread(problem):
    async def ask():
        here = {"protocol": "tcp://", "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
        async with distributed.Client(
            processes=False, asynchronous=True, set_as_default=False, **here
        ) as client:
            solve(problem, client)

    with pytest.raises(InvalidOption, match="an asynchronous dask Client waits for this very thread"):
        asyncio.run(ask())


def test_several_coordinators(problem, cluster, client, expected):
    results = []

    def coordinate():
        results.append(solve(problem, cluster.address))

    threads = [threading.Thread(target=coordinate) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result.tour, expected.tour)
    assert len(results) == 2


# A client tries to get its lost connection back for as long as it may take to connect; each event is a line.
HASTY = """
import distributed
from warptsp.__main__ import main
from warptsp.cli._display import PlainDisplay

PlainDisplay._next = property(lambda display: 0.0, lambda display, seconds: None)

class Client(distributed.Client):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self._timeout = 0.2

distributed.Client = Client
main()
"""


def test_the_command_says_that_a_scheduler_is_gone(problem, cluster, tmp_path):
    np.save(tmp_path / "some.npy", problem.coordinates)
    words = ["--cluster", cluster.address, "-o", "out.tour", "--progress", "plain", "--time-limit", "1h"]
    words += [word for name in ("part=100", "kicks=0.5") for word in ("--cluster-param", name)]
    lines = []
    process = begin_python("-c", HASTY, "solve", "some.npy", *words, stdout=None, cwd=tmp_path)
    for line in process.stderr:
        lines.append(line)
        if "round 1" in line and cluster.scheduler.is_alive():
            cluster.kill()
    said = "".join(lines)
    assert process.wait() != 0
    assert "Traceback" not in said, said
    assert "distributed." not in said
    assert said.count("the scheduler is gone") == 1, said
    loaded = warptsp.load(tmp_path / "some.npy")
    loaded.check_tour(warptsp.read_tour(tmp_path / "out.tour", loaded))


# Workers on this machine


def listening(process):
    """Where a process and all that it has started listen."""
    places = []
    for one in [process, *process.children(recursive=True)]:
        for connection in one.net_connections("inet"):
            if connection.status == psutil.CONN_LISTEN or connection.type == socket.SOCK_DGRAM:
                places.append((one.pid, connection.laddr.ip, connection.laddr.port))
    return places


def test_a_local_cluster_listens_on_this_machine_only(problem):
    me = psutil.Process()
    before, processes = set(listening(me)), set(me.children(recursive=True))
    seen, children = set(), set()

    def look(progress):
        if len(progress.workers) == 2 or "2 workers" in progress.phase:
            seen.update(listening(me))
            children.update(me.children(recursive=True))
        return bool(seen)  # the second worker may join after many rounds of the first

    solve(problem, "local:2", ENDLESS, callback=look)
    own = seen - before
    assert {ip for _, ip, _ in own} == {"127.0.0.1"}
    # The scheduler and its page, the nannies, and each worker with its figures.
    assert len(own) == 2 + 2 + 2 * 2
    assert set(listening(me)) <= before
    psutil.wait_procs(children - processes, timeout=60)
    assert not any(child.is_running() for child in children - processes)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("#!/bin/sh\necho no Dask here >&2\nexit 1\n", "workers ended by themselves: no Dask here"),
        ("#!/bin/sh\nexit 1\n", "workers ended by themselves: without a word"),
        (None, "cluster local: workers do not start: "),
    ],
)
def test_local_workers_that_cannot_start(problem, monkeypatch, tmp_path, script, message):
    python = tmp_path / "python"
    if script is not None:
        python.write_text(script)
        python.chmod(0o755)
    threads = threading.active_count()
    monkeypatch.setattr(local.sys, "executable", str(python))
    with pytest.raises(BackendUnavailable, match=message):
        solve(problem, "local:2", {**SPREAD, "wait": 1e9})
    assert threading.active_count() <= threads + 1  # Dask keeps one for its own use


def test_a_local_cluster_without_a_folder(problem, monkeypatch, tmp_path):
    monkeypatch.setattr(local.tempfile, "mkdtemp", lambda **_: os.mkdir(tmp_path / "no" / "way"))
    with pytest.raises(
        BackendUnavailable, match=r"cluster local: Dask's scheduler does not start: .*No such"
    ):
        solve(problem, "local:1")
