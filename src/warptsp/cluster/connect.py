"""From what a user says to those who do the tasks."""

import re
from dataclasses import dataclass
from typing import Any

from warptsp._checks import check_ranges, checked_number
from warptsp.cluster.executors import Executor, InProcess
from warptsp.errors import BackendUnavailable, InvalidOption
from warptsp.machine import resolve_threads

DEVICES = ("auto", "cpu", "cuda")
MAX_WORKERS = 1024  # of local:N and threads:N; larger numbers are ports
PROTOCOLS = ("tcp", "tls", "ws", "wss", "ucx", "inproc")  # of Dask
FORM = "an address such as tcp://10.0.0.1:8786, local, local:8, threads, threads:8 or devices"


@dataclass(frozen=True, slots=True)
class ClusterParams:
    """How a run is spread over workers.

    Attributes
    ----------
    part : int or None
        Cities per task; by default 10 000 to 50 000, or a million if workers have GPUs.
    rounds : int or None
        End after this many rounds.
    kicks : float or None
        Kicks per city in a round, unless a limit says otherwise; by default 1, or 10 if workers have GPUs.
    deadline : float or None
        Seconds for one task; a worker that takes longer loses it to another. By default ten times as long as
        the slowest task took, and at least a minute.
    wait : float
        Seconds without any worker after which the run ends.
    attempts : int
        How often a task may fail before the run does.
    """

    part: int | None = None
    rounds: int | None = None
    kicks: float | None = None
    deadline: float | None = None
    wait: float = 60.0
    attempts: int = 3

    def __post_init__(self) -> None:
        check_ranges(self, part=(100, None), rounds=(1, None), attempts=(1, None))
        for name in ("kicks", "wait", "deadline"):
            value = getattr(self, name)
            if value is not None:
                checked_number(name, value, minimum=0.0, what="a number, 0 or more")


def check_cluster(cluster: object, device: object) -> None:
    """Raise `InvalidOption` before any work unless these are a cluster and a device for its workers."""
    if device not in DEVICES:
        raise InvalidOption(
            f"device {device!r}: workers of a cluster take {', '.join(DEVICES)}; which GPU is theirs, each "
            "is told by CUDA_VISIBLE_DEVICES"
        )
    if isinstance(cluster, str):
        kind, _ = named_cluster(cluster)
        if (kind, device) in (("threads", "cuda"), ("devices", "cpu")):
            raise InvalidOption(f"cluster {cluster!r} and device {device!r}: threads are CPU, devices GPUs")
    elif not (isinstance(cluster, Executor) or _is_client(cluster)):
        raise InvalidOption(
            f"cluster: {cluster!r} is not a cluster; give {FORM}, a dask Client or an Executor"
        )


def open_executor(cluster: Any, device: str) -> tuple[Executor, bool]:
    """Return those who do the tasks, and whether they end with the run; both arguments are checked.

    Raises `BackendUnavailable` if there is nothing at this address, no GPU, or Dask is not installed.
    """
    if not isinstance(cluster, str):
        if isinstance(cluster, Executor):
            return cluster, False
        from warptsp.cluster.dask import DaskExecutor

        return DaskExecutor(cluster, device), True
    kind, count = named_cluster(cluster)
    if kind == "threads":
        return InProcess("cpu", resolve_threads(count)), True
    if kind == "devices":
        from warptsp.cluster.tasks import usable_gpus

        if not usable_gpus():
            raise BackendUnavailable("cluster devices: there is no usable GPU; warptsp devices says why")
        return InProcess("cuda", len(usable_gpus())), True
    if kind == "local":
        from warptsp.cluster.local import start_local

        return start_local(count, device), True
    from warptsp.cluster.dask import connect

    return connect(cluster, device), True


def _is_client(cluster: object) -> bool:
    # Without an import: whoever has a client has Dask.
    return any(
        kind.__module__.partition(".")[0] == "distributed" and kind.__name__ == "Client"
        for kind in type(cluster).__mro__
    )


def named_cluster(cluster: str) -> tuple[str, int | None]:
    """Return the kind of cluster, "" for an address, and how many workers it shall have.

    Raises `InvalidOption` if it is no name of a cluster: what is wrong with it.
    """
    kind, colon, count = cluster.partition(":")
    if kind not in ("local", "threads", "devices") or count.startswith("//"):
        _check_address(cluster)
        return "", None
    if not colon:
        return kind, None
    if kind == "devices":
        raise InvalidOption(f"cluster {cluster!r}: devices are all GPUs of this machine and take no number")
    if not (_is_number(count) and 1 <= int(count) <= MAX_WORKERS):
        raise InvalidOption(
            f"cluster {cluster!r}: local:N and threads:N take a number of workers from 1 to {MAX_WORKERS}; "
            f"a scheduler on a host of that name is tcp://{cluster}"
        )
    return kind, int(count)


def _check_address(address: str) -> None:
    protocol, separator, place = address.rpartition("://")
    if not address or (separator and not place) or re.search(r"\s|[^\x21-\x7e]", address):
        raise InvalidOption(f"cluster {address!r}: give {FORM}")
    if separator and protocol not in PROTOCOLS:
        raise InvalidOption(
            f"cluster {address!r}: {protocol!r} is not a protocol of Dask, which are {', '.join(PROTOCOLS)}; "
            f"give {FORM}"
        )
    if protocol == "inproc":  # a scheduler in this process; the rest is Dask's own affair
        return
    match = re.fullmatch(r"(?P<host>\[[0-9A-Za-z:.%]+\]|[^\[\]/:@?#]+)(?::(?P<port>[^:/]*))?/?", place)
    if match is None:
        raise InvalidOption(
            f"cluster {address!r}: {place!r} is not a host and port, such as 10.0.0.1:8786 or [::1]:8786; "
            f"give {FORM}"
        )
    port = match["port"]
    if not port:
        raise InvalidOption(
            f"cluster {address!r}: the port is missing, as in {protocol or 'tcp'}://{match['host']}:8786; "
            f"give {FORM}"
        )
    if not (_is_number(port) and 1 <= int(port) <= 65535):
        raise InvalidOption(f"cluster {address!r}: port {port!r} is not a number from 1 to 65535")


def _is_number(text: str) -> bool:
    # Bounded, since Python refuses to read numbers of thousands of digits.
    return re.fullmatch(r"[0-9]{1,9}", text) is not None
