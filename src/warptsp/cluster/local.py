"""A Dask cluster on this machine, for as long as a run takes."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from warptsp.cluster.dask import FORGETFUL, DaskExecutor, import_distributed
from warptsp.cluster.tasks import usable_gpus
from warptsp.devices import available_threads
from warptsp.errors import BackendUnavailable

# What Dask shows of GPUs fails with some values of CUDA_VISIBLE_DEVICES, and takes the worker with it.
GPU_MONITOR = "distributed.diagnostics.nvml"
GPU_MONITOR_VARIABLE = "DASK_DISTRIBUTED__DIAGNOSTICS__NVML"


def start_local(workers: int | None, device: str) -> DaskExecutor:
    """Return workers on this machine, which can be reached from nowhere else.

    Parameters
    ----------
    workers : int or None
        How many; one for each GPU if there are any, or else for each thread, if None. The first ones have a
        GPU each.
    device : {"auto", "cpu", "cuda"}
    """
    distributed = import_distributed()
    import dask.config

    gpus = () if device == "cpu" else usable_gpus()
    count = workers or len(gpus) or available_threads()
    # For as long as workers may connect.
    forgetful = dask.config.set({**FORGETFUL, GPU_MONITOR: False})
    try:
        # The scheduler lives here: if this process is killed, workers end, too, and nothing stays behind.
        cluster = distributed.LocalCluster(
            n_workers=0,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.ERROR,
        )
    except (OSError, RuntimeError) as error:
        forgetful.__exit__(None, None, None)
        raise BackendUnavailable(f"cluster local: Dask's scheduler does not start: {error}") from error
    folder = tempfile.TemporaryDirectory(prefix="warptsp-", ignore_cleanup_errors=True)
    log = Path(folder.name, "workers.log")
    processes: list[subprocess.Popen[bytes]] = []

    def complaint() -> str | None:
        if all(process.poll() is None for process in processes):
            return None
        lines = log.read_text(errors="replace").strip().splitlines()
        return f"workers ended by themselves: {lines[-1] if lines else 'without a word'}"

    def close() -> None:
        # Dask tells of connections that end, with tracebacks, from threads of its own.
        dask_logger = logging.getLogger("distributed")
        level = dask_logger.level
        dask_logger.setLevel(logging.ERROR)
        client.close()
        for process in processes:
            _end(process)
        cluster.close()
        dask_logger.setLevel(level)
        forgetful.__exit__(None, None, None)
        folder.cleanup()

    client = distributed.Client(cluster, set_as_default=False)
    try:
        address = cluster.scheduler_address
        for gpu in gpus[:count]:
            processes.append(_start(address, 1, _visible(gpu), log))
        if count > len(gpus):
            processes.append(_start(address, count - len(gpus), "", log))
        return DaskExecutor(client, device, on_close=[close], complaint=complaint)
    except BaseException:
        close()
        raise


def _start(address: str, workers: int, gpu: str, log: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dask", "worker", address, "--host", "127.0.0.1"]
    command += ["--nworkers", str(workers), "--nthreads", "1", "--memory-limit", "0", "--no-dashboard"]
    command += ["--local-directory", str(log.parent)]
    # In a session of its own: Ctrl-C ends the run, which then ends the workers.
    with log.open("ab") as stream:
        return subprocess.Popen(
            command,
            env={**os.environ, "CUDA_VISIBLE_DEVICES": gpu, GPU_MONITOR_VARIABLE: "False"},
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )


def _visible(gpu: str) -> str:
    """What CUDA_VISIBLE_DEVICES must say for this GPU, which is one of those that are visible here."""
    number = gpu.partition(":")[2]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return number if visible is None else visible.split(",")[int(number)].strip()


def _end(process: subprocess.Popen[bytes]) -> None:
    # At once: a time limit holds for this, too, and workers have nothing to lose.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
