"""A Dask cluster on this machine, for as long as a run takes."""

import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

from warptsp.cluster.dask import DaskExecutor
from warptsp.cluster.scheduler import FORGETFUL, import_distributed, let_go, quiet
from warptsp.cluster.tasks import usable_gpus
from warptsp.errors import BackendUnavailable
from warptsp.machine import available_threads

HERE = "127.0.0.1"
PREFIX = "warptsp-workers-"  # of the folder's name
# What Dask shows of GPUs fails with some values of CUDA_VISIBLE_DEVICES, and takes the worker with it.
GPU_MONITOR = "distributed.diagnostics.nvml"
GPU_MONITOR_VARIABLE = "DASK_DISTRIBUTED__DIAGNOSTICS__NVML"


def start_local(workers: int | None, device: str) -> DaskExecutor:
    """Return workers on this machine, which can be reached from nowhere else; the first have a GPU each.

    There is one for each GPU if there are any, or else for each thread, unless a number is given.
    """
    distributed = import_distributed()
    import dask.config

    gpus = () if device == "cpu" else usable_gpus()
    count = workers or len(gpus) or available_threads()
    with ExitStack() as stack:
        # Dask tells of connections that end, with tracebacks, from threads of its own.
        stack.enter_context(quiet("distributed", logging.ERROR))
        # For as long as workers may connect.
        stack.enter_context(dask.config.set({**FORGETFUL, GPU_MONITOR: False}))
        try:
            folder = _own_folder(stack)
            # The scheduler lives here: if this process is killed, workers end, too.
            cluster = distributed.LocalCluster(
                n_workers=0,
                host=HERE,
                dashboard_address=f"{HERE}:0",
                silence_logs=logging.ERROR,
                # Dask imports from it; the default is one that all users of the machine share.
                scheduler_kwargs={"local_directory": str(folder)},
            )
            stack.callback(cluster.close)
            client = distributed.Client(cluster, set_as_default=False)
        except (OSError, RuntimeError) as error:
            raise BackendUnavailable(f"cluster local: Dask's scheduler does not start: {error}") from error
        log = folder / "workers.log"
        started: list[subprocess.Popen[bytes]] = []
        stack.callback(_end, started)
        stack.callback(let_go, client)
        groups = [(1, _visible(gpu)) for gpu in gpus[:count]]
        if count > len(gpus):
            groups.append((count - len(gpus), ""))
        for workers_of_it, gpu in groups:
            started.append(_start(cluster.scheduler_address, workers_of_it, gpu, log))
        executor = DaskExecutor(client, device, lambda: _complaint(started, log))
        executor.resources = stack.pop_all()
        return executor


def _own_folder(stack: ExitStack) -> Path:
    """Make a folder that goes with the stack, and remove those of coordinators that were killed."""
    import fcntl

    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        _remove_unlocked(left)
    while True:
        folder = tempfile.mkdtemp(prefix=PREFIX)
        descriptor = os.open(folder, os.O_RDONLY)  # which locks it for as long as this process lives
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.path.isdir(folder):
            stack.callback(os.close, descriptor)
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            return Path(folder)
        os.close(descriptor)  # somebody else was faster than the lock


def _remove_unlocked(folder: Path) -> None:
    import fcntl

    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if os.fstat(descriptor).st_uid == os.geteuid():
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(descriptor)


def _start(address: str, workers: int, gpu: str, log: Path) -> subprocess.Popen[bytes]:
    """Start so many workers that see this GPU, and write into this file what they say."""
    # Safe: Python, and what it starts, imports nothing from the working directory.
    command = [sys.executable, "-P", "-m", "dask", "worker", address, "--host", HERE]
    # Without a dashboard there is still its server, with figures for Prometheus.
    command += ["--no-dashboard", "--dashboard-address", f"{HERE}:0"]
    command += ["--nworkers", str(workers), "--nthreads", "1", "--memory-limit", "0"]
    command += ["--local-directory", str(log.parent)]
    try:
        with log.open("ab") as stream:
            return subprocess.Popen(
                command,
                env={**os.environ, "CUDA_VISIBLE_DEVICES": gpu, GPU_MONITOR_VARIABLE: "False"},
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,  # Ctrl-C ends the run, which then ends the workers
            )
    except OSError as error:
        raise BackendUnavailable(f"cluster local: workers do not start: {error}") from error


def _complaint(started: list[subprocess.Popen[bytes]], log: Path) -> str | None:
    """Say why all of them have ended; None if one goes on."""
    if any(process.poll() is None for process in started):
        return None
    lines = log.read_text(errors="replace").strip().splitlines()
    return f"workers ended by themselves: {lines[-1] if lines else 'without a word'}"


def _end(started: list[subprocess.Popen[bytes]]) -> None:
    """End all of them at once: a time limit holds for this, too, and workers have nothing to lose."""
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _visible(gpu: str) -> str:
    """What CUDA_VISIBLE_DEVICES must say for this GPU, which is one of those that are visible here."""
    number = gpu.partition(":")[2]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return number if visible is None else visible.split(",")[int(number)].strip()
