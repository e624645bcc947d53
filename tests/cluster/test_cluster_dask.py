"""Faults of a Dask cluster, with real worker processes: whatever happens, the tour is the one that is found
when nothing happens, or a valid one is on the disk and the error says what is amiss."""

import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import time
import types
from contextlib import ExitStack, suppress
from pathlib import Path

import cluster_worker
import numpy as np
import pytest
from calls import given_time
from instances import unit_points, write_tsplib
from processes import begin_command, begin_python, forked_with_dask

import warptsp
from warptsp.cluster import dask as on_dask
from warptsp.cluster import scheduler
from warptsp.cluster.tasks import Answer
from warptsp.errors import BackendUnavailable, InvalidOption, OutputError, WarpTSPError

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'warptsp[dask]'")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

CITIES = 2000
SPREAD = {"part": 250, "rounds": 2, "kicks": 0.5, "wait": 600.0}


class Pool:
    """A scheduler here, and worker processes by their address."""

    def __init__(self):
        self.cluster = distributed.LocalCluster(
            n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
        )
        self.address = self.cluster.scheduler_address
        self.client = distributed.Client(self.cluster, set_as_default=False)
        self.processes = {}  # by process id, with the fault
        self.sound = []

    def start(self, count, fault=""):
        """Start workers, without waiting for them."""
        for _ in range(count):
            one = ExitStack()
            process = one.enter_context(forked_with_dask(cluster_worker.work, self.address, fault))
            self.processes[process.pid] = (process, fault, one)

    def addresses(self, fault=None):
        """The process ids and addresses of the workers that the scheduler knows."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        names = {about["name"].rpartition("-"): address for address, about in workers.items()}
        return {int(pid): address for (kind, _, pid), address in names.items() if fault in (None, kind)}

    def want(self, sound=0, **faults):
        """Have so many workers of each kind, and no others."""
        wanted = {"": sound, **{name.replace("_", "-"): count for name, count in faults.items()}}
        for kind in {fault for _, fault, _ in self.processes.values()} | set(wanted):
            own = [pid for pid, (_, fault, _) in self.processes.items() if fault == kind]
            count = wanted.get(kind, 0)
            for pid in own[count:]:
                self.kill(pid)
            self.start(max(0, count - len(own)), kind)
        # Dead ones are gone from the scheduler's list, new ones are on it.
        while set(self.addresses()) != set(self.processes):
            for process, fault, _ in self.processes.values():
                assert process.is_alive(), f"worker {fault} ended by itself"
            time.sleep(0.05)

    def kill(self, pid):
        """SIGKILL."""
        self.processes.pop(pid)[2].close()

    def busy(self):
        """The process ids of workers with tasks."""
        processing = self.client.processing()
        return [
            pid
            for pid, address in self.addresses().items()
            if any(str(key).startswith(on_dask.PREFIX) for key in processing.get(address, ()))
        ]

    def close(self):
        for pid in list(self.processes):
            self.kill(pid)
        self.client.close()
        self.cluster.close()


@pytest.fixture(scope="module")
def pool():
    pool = Pool()
    yield pool
    pool.close()


def solve(problem, cluster, **options):
    params = {**SPREAD, **options.pop("cluster_params", {})}
    cluster = cluster.address if isinstance(cluster, Pool) else cluster
    return warptsp.solve(problem, cluster=cluster, cluster_params=params, seed=7, **options)


def once(action):
    """A callback that does something until it returns True."""
    done = False

    def call(progress):
        nonlocal done
        done = done or bool(action(progress))

    return call


# Workers that get lost


@pytest.mark.parametrize("workers", [1, 3])
def test_any_number_of_workers(pool, problem, expected, workers):
    pool.want(workers)
    result = solve(problem, pool.client)
    np.testing.assert_array_equal(result.tour, expected.tour)
    assert result.counters["bytes_sent"] > CITIES * 2 * 8
    assert result.counters["bytes_received"] > CITIES * 2 * 4


def test_a_damaged_answer_is_one_task_again(pool, problem, expected, monkeypatch, told):
    pool.want(2)
    read, damaged = Answer.from_bytes, []

    def read_damaged(packed):
        if not damaged:
            damaged.append(packed)
            packed = packed[:100]
        return read(packed)

    monkeypatch.setattr(Answer, "from_bytes", read_damaged)
    result = solve(problem, pool)
    np.testing.assert_array_equal(result.tour, expected.tour)
    assert result.counters["tasks_repeated"] == 1
    assert "is not an answer of warptsp" in told.text


def test_all_workers_of_a_round_killed_and_others_come(pool, problem, expected, told):
    pool.want(slow=2)

    def kill(progress):
        if not pool.busy():
            return False
        for pid in list(pool.processes):
            pool.kill(pid)
        pool.start(2)
        return True

    result = solve(problem, pool, callback=once(kill))
    np.testing.assert_array_equal(result.tour, expected.tour)
    assert told.text.count("is gone: others do its tasks") == 2
    assert "no workers; waiting 600 s for some" in told.text
    assert "there are workers again" in told.text


def test_all_workers_killed_and_nobody_comes(pool, problem, told, tmp_path):
    pool.want(slow=2)
    saved = tmp_path / "saved.tour"

    def kill(progress):
        if "round 2" in progress.phase and pool.busy():
            for pid in list(pool.processes):
                pool.kill(pid)
        return not pool.processes

    with pytest.raises(
        BackendUnavailable, match=r"no workers for 1 s: (start some with: dask worker|no answer from)"
    ) as error:
        solve(problem, pool, callback=once(kill), checkpoint=saved, cluster_params={"wait": 1.0})
    tour = warptsp.read_tour(saved, problem)
    problem.check_tour(tour)
    assert error.value.result.length == problem.length(tour)
    assert error.value.result.counters["rounds"] >= 1


def test_a_worker_that_hangs_past_its_deadline_and_wakes_up(pool, problem, expected, told):
    pool.want(1, slow=1)
    asleep = []

    def stop(progress):
        asleep.extend(set(pool.busy()) & set(pool.addresses("slow")))
        for pid in asleep:
            os.kill(pid, signal.SIGSTOP)
        return asleep

    def attempt(deadline):
        for pid in asleep:
            os.kill(pid, signal.SIGCONT)
        asleep.clear()
        with suppress(WarpTSPError):  # the other one missed the deadline, too
            return solve(problem, pool, callback=once(stop), cluster_params={"deadline": deadline})

    result = given_time(attempt, bool, seconds=1.5)
    np.testing.assert_array_equal(result.tour, expected.tour)
    assert "has not answered for" in told.text
    assert "the worker missed the deadline" in told.text

    told.clear()
    wake = once(lambda progress: [os.kill(pid, signal.SIGCONT) for pid in asleep])
    again = solve(problem, pool, callback=wake)
    np.testing.assert_array_equal(again.tour, expected.tour)
    pool.want(1)


def test_a_task_longer_than_its_deadline_everywhere(pool, problem):
    pool.want(1)
    with pytest.raises(
        WarpTSPError, match=r"lost 10 times: gave up \d+ cities and \d+ kicks after the deadline"
    ):
        solve(problem, pool, cluster_params={"deadline": 0.02, "kicks": 1000.0})


# Workers that are refused


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("old", f"has warptsp 0.0.9, and this is warptsp {warptsp.__version__}; install the same"),
        ("aging", f"the task is from warptsp {warptsp.__version__}, and this worker has warptsp 0.0.9"),
        ("other_platform", " vax.*: which of them does a task may change the tour"),
    ],
)
def test_workers_that_are_not_alike(pool, problem, expected, told, kind, words):
    pool.want(1, **{kind: 1})
    result = solve(problem, pool)
    np.testing.assert_array_equal(result.tour, expected.tour)
    assert re.search(words, told.text)
    assert ("worker refused: tcp" in told.text) == (kind != "other_platform")
    pool.want(1)


@pytest.mark.parametrize(
    ("workers", "device", "why"),
    [
        ({}, "auto", "start some with: dask worker tcp"),
        ({"old": 1}, "auto", r".* has warptsp 0\.0\.9, and this is"),
        ({"sound": 1}, "cuda", ".* has no usable GPU; warptsp devices says why there"),
    ],
)
def test_nobody_takes_tasks(pool, problem, workers, device, why):
    pool.want(**workers)

    def attempt(seconds):
        with pytest.raises(BackendUnavailable, match=f"no workers for {seconds:g} s: ") as error:
            solve(problem, pool, device=device, cluster_params={"wait": seconds})
        return str(error.value)

    told = given_time(attempt, lambda told: "no answer from" not in told)
    assert re.search(f" s: {why}", told)


def test_a_worker_that_raises_every_time(pool, problem, told, tmp_path):
    pool.want(raises=1)
    start = warptsp.solve(problem, method="construct")
    saved = tmp_path / "saved.tour"
    with pytest.raises(WarpTSPError, match=r"failed 3 times, at last on worker tcp.*cannot divide") as error:
        solve(problem, pool, start=start.tour, checkpoint=saved)
    tour = warptsp.read_tour(saved, problem)
    problem.check_tour(tour)
    assert problem.length(tour) == error.value.result.length <= start.length
    assert "is repeated: ZeroDivisionError: a worker that cannot divide" in told.text


# The coordinator


def test_nobody_at_the_address(problem, monkeypatch):
    monkeypatch.setattr(scheduler, "CONNECT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(BackendUnavailable, match=f"{address}: no scheduler answers there within 0.5 s"):
            solve(problem, address)


@pytest.mark.parametrize("address", ["tls://127.0.0.1:8786", "wss://127.0.0.1:8786"])
def test_no_certificates(problem, monkeypatch, address):
    monkeypatch.setattr(scheduler, "_open_client", lambda *_: pytest.fail("connects"))
    with pytest.raises(InvalidOption, match=f"cluster {address}: TLS is not set up here; name the certific"):
        solve(problem, address)


def test_a_coordinator_killed_and_restarted_with_other_workers(pool, problem, tmp_path):
    pool.want(slow=2)
    instance = write_tsplib(tmp_path / "some.tsp", problem.coordinates)
    saved = tmp_path / "saved.tour"
    options = ["--cluster", pool.address, "--cluster-param", "part=250", "--cluster-param", "kicks=0.3"]
    process = begin_command("solve", instance, "--checkpoint", saved, *options, stderr=subprocess.DEVNULL)
    while not saved.exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    before = problem.length(warptsp.read_tour(saved, problem))
    pool.want(1)
    result = solve(problem, pool, start=saved, checkpoint=saved)
    problem.check_tour(result.tour)
    assert result.length <= before
    assert problem.length(warptsp.read_tour(saved, problem)) == result.length


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a file system that is always full")
def test_a_full_disk_under_the_checkpoint(pool, problem, expected, told):
    pool.want(2)
    with pytest.raises(OutputError, match="/dev/full: cannot write: No space left") as error:
        solve(problem, pool, checkpoint="/dev/full", checkpoint_interval=0)
    np.testing.assert_array_equal(error.value.result.tour, expected.tour)
    assert "checkpoint not written: /dev/full" in told.text


def test_a_stopped_run_leaves_the_workers_free(pool, problem):
    pool.want(1)
    endless = {"kicks": 10_000.0, "rounds": 1}
    result = solve(problem, pool, callback=lambda progress: bool(pool.busy()), cluster_params=endless)
    assert result.stop_reason == "the callback returned True"
    # The next run would wait for minutes if the first one's tasks went on.
    assert solve(problem, pool, cluster_params={"rounds": 1}).counters["tasks"] == 8


def test_what_was_sent_is_forgotten(problem):
    """Dask would keep a thousand messages of each connection, with all coordinates in them."""
    import dask.config

    from warptsp.cluster.local import start_local

    before = dask.config.get("distributed.admin.low-level-log-length")
    executor = start_local(1, "cpu")
    try:
        warptsp.solve(problem, cluster=executor, cluster_params=SPREAD, seed=7)
        scheduler = executor._client.cluster.scheduler
        connections = [executor._client.scheduler_comm, *scheduler.stream_comms.values()]
        assert len(connections) == 2
        assert not any(connection.recent_message_log for connection in connections)
    finally:
        executor.close()
    assert dask.config.get("distributed.admin.low-level-log-length") == before


def test_ctrl_c_of_a_local_cluster_where_modules_of_others_lie(problem, tmp_path):
    """Whoever downloads an instance may get a file with it that is called as a module is."""
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    names = ["dask", "distributed", "queue", "numpy", "socket", "warptsp", "sitecustomize", "usercustomize"]
    for name in names:
        (here / f"{name}.py").write_text("open('imported', 'a').write(__name__)\nraise ImportError\n")
    np.save(here / "some.npy", problem.coordinates)
    words = ["-o", "out.tour", "--progress", "plain", "--time-limit", "1h", "--cluster", "local:1"]
    process = begin_python(
        *["-P", "-m", "warptsp", "solve", "some.npy", *words, "--cluster-param", "part=250"],
        stdout=None, cwd=here, env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "round" in line:
            process.send_signal(signal.SIGINT)
    assert process.wait() == 130, lines
    assert "Traceback" not in "".join(lines)
    loaded = warptsp.load(here / "some.npy")
    loaded.check_tour(warptsp.read_tour(here / "out.tour", loaded))
    assert set(os.listdir(here)) == {"out.tour", "some.npy", *(f"{name}.py" for name in names)}
    assert os.listdir(temporary) == []


def test_the_folder_of_a_killed_coordinator_is_removed_by_the_next(tmp_path, monkeypatch):
    from warptsp.cluster import local

    code = (
        "import os, time\nfrom contextlib import ExitStack\nfrom warptsp.cluster import local\n"
        "stack = ExitStack()\nfolder = local._own_folder(stack)\n(folder / 'log').write_text('a')\n"
        "print(folder, flush=True)\ntime.sleep(60)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    killed, living = (begin_python("-c", code, env=environment) for _ in range(2))
    left, kept = (Path(process.stdout.readline().strip()) for process in (killed, living))
    killed.kill()
    killed.wait()
    monkeypatch.setattr(local.tempfile, "tempdir", str(tmp_path))
    (tmp_path / f"{local.PREFIX}link").symlink_to(kept)
    with ExitStack() as stack:
        own = local._own_folder(stack)
        assert left.name not in os.listdir(tmp_path)
        assert (kept / "log").exists()
        assert own.stat().st_mode & 0o077 == 0
    assert not own.exists()


# The examples


EXAMPLES = Path(__file__).parents[2] / "examples" / "cluster"


def test_the_slurm_script_on_this_machine(tmp_path, monkeypatch, capsys):
    class SLURMCluster(distributed.LocalCluster):
        """Workers that are threads of this process, in place of Slurm's jobs."""

        def __init__(self, *, queue, walltime, cores, processes, memory, worker_extra_args):
            assert worker_extra_args == ["--memory-limit", "0"]
            here = {"protocol": "tcp://", "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
            super().__init__(n_workers=0, processes=False, **here)

        def scale(self, n=0, jobs=None):
            return super().scale(n if jobs is None else jobs)

    monkeypatch.setitem(sys.modules, "dask_jobqueue", types.SimpleNamespace(SLURMCluster=SLURMCluster))
    np.save(tmp_path / "some.npy", unit_points(16_000))
    script = runpy.run_path(str(EXAMPLES / "slurm.py"))
    script["main"](str(tmp_path / "some.npy"), str(tmp_path / "out.tour"), 2, 1.5)
    assert "device       cluster" in capsys.readouterr().out
    assert (tmp_path / "out.tour").exists()


def test_the_kubernetes_file():
    import yaml
    from distributed.cli import dask_scheduler, dask_worker

    from warptsp.cli import commands

    documents = list(yaml.safe_load_all((EXAMPLES / "kubernetes.yaml").read_text()))
    assert [document["kind"] for document in documents] == ["DaskCluster", "DaskWorkerGroup", "Job"]
    cluster, gpus, job = (document["spec"] for document in documents)
    assert gpus["cluster"] == documents[0]["metadata"]["name"]
    pods = [
        cluster["scheduler"]["spec"],
        cluster["worker"]["spec"],
        gpus["worker"]["spec"],
        job["template"]["spec"],
    ]
    for pod in pods:
        (container,) = pod["containers"]
        program, name, *words = container["args"]
        if program == "dask":
            own = {"scheduler": dask_scheduler.main, "worker": dask_worker.main}[name]
        else:
            own = commands.get_command(None, name)
        own.make_context(name, list(words))
    (service,) = [
        port["port"] for port in cluster["scheduler"]["service"]["ports"] if port["name"] == "tcp-comm"
    ]
    assert f"tcp://{documents[0]['metadata']['name']}-scheduler:{service}" in container["args"]
