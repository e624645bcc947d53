"""A part of the tour as it goes to a worker, what comes back, and what a worker does in between.

A task is an ordinary small instance: its cities in tour order, the metric, and where the paths of the tour
begin that it holds. The edge from the end of one path to the start of the next stands for the tour outside
and is a fixed edge. The worker runs the main solver, in a run of its own on one thread or on a GPU, and gives
back the order of the cities. Same task, same kind of device: same answer, whoever does it and however often.

On the wire both are an .npz archive of arrays and a line of JSON, 12 bytes a city for coordinates that are
integers and the answer, 20 for others; nothing is pickled.
"""

from __future__ import annotations

import json
import math
import platform
import queue
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, fields
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._version import __version__
from warptsp.devices import resolve_device
from warptsp.errors import BackendUnavailable, WarpTSPError
from warptsp.machine import Devices
from warptsp.methods import get_method
from warptsp.methods.first_tour import fall_back
from warptsp.methods.parameters import parse_params
from warptsp.methods.places import seen_by
from warptsp.methods.protocol import best_of
from warptsp.problem import Metric, Problem
from warptsp.run import Run, Settings
from warptsp.stop import MaxKicks, MaxRuntime, StoppingCriterion, StopToken, as_criterion

MIN_CITIES = 8  # cities below which a part is left as it is


class Refused(WarpTSPError):  # noqa: N818 - as the other names of errors
    """The worker does not take the task, whatever is in it; another worker may."""


class DeadlinePassed(WarpTSPError):  # noqa: N818
    """The worker gave the task up, since its deadline had passed."""


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A part of the tour, and what to do with it."""

    coordinates: NDArray[np.float64]  # of the cities, in tour order; as `Problem.coordinates`
    metric: Metric
    path_begin: NDArray[np.int32]  # where each path begins, and the number of cities as the last entry
    round: int  # which are the task's name within the run
    index: int
    seed: int  # made from the run's seed, the round and the index
    kicks: int
    has_tour: bool = True  # or else the order is no tour yet, and the worker begins with a greedy one
    params: Mapping[str, Any] = field(default_factory=dict)  # of the method lk
    device: str = "auto"  # or "cpu", "cuda"; "auto" takes a GPU of the worker if it has one
    seconds: float | None = None  # that the search plans for; None if kicks alone count
    deadline: float | None = None  # seconds after which the worker gives up
    version: str = field(default_factory=lambda: __version__)  # a worker with another one refuses

    @property
    def n(self) -> int:
        """Number of cities."""
        return len(self.coordinates)

    def problem(self) -> Problem:
        """The instance that the worker solves."""
        ends, begins = self.path_begin[1:] - 1, self.path_begin[:-1]
        edges = np.stack([ends, np.roll(begins, -1)], axis=1)
        # A single city that is all of the part's paths has no edge to itself.
        edges = edges[edges[:, 0] != edges[:, 1]]
        return Problem(self.metric, coordinates=self.coordinates, fixed_edges=edges)

    def to_bytes(self) -> bytes:
        """Write the task; `from_bytes` reads it."""
        names = [f.name for f in fields(self) if f.name not in ("coordinates", "metric", "path_begin")]
        head = {name: getattr(self, name) for name in names}
        head |= {"metric": self.metric.name, "params": dict(self.params)}
        return _packed(head, coordinates=_narrow(self.coordinates), path_begin=self.path_begin)

    @classmethod
    def from_bytes(cls, packed: bytes) -> Task:
        """Read a task; raises `Refused` if another version of warptsp has made it, and names both."""
        with _refusing("a task"):
            values = _unpacked(packed)
            if (version := values.get("version")) != __version__:
                raise Refused(
                    f"the task is from warptsp {version}, and this worker has warptsp {__version__}; install "
                    "the same version there"
                )
            values["metric"] = Metric.parse(values["metric"])
            values["coordinates"] = values["coordinates"].astype(np.float64)
            return cls(**values)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What came of a task."""

    order: NDArray[np.int32]  # the task's cities along their new closed tour
    kicks: int
    seconds: float  # wall time that the worker had the task in work
    device: str

    def to_bytes(self) -> bytes:
        """Write the answer; `from_bytes` reads it."""
        head = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "order"}
        return _packed(head, order=self.order)

    @classmethod
    def from_bytes(cls, packed: bytes) -> Answer:
        """Read an answer; raises `Refused` if it is none."""
        with _refusing("an answer"):
            return cls(**_unpacked(packed))


def improve(
    task: Task, stop: StopToken | None = None, is_dropped: Callable[[], bool] = lambda: False
) -> Answer:
    """Do a task, on one thread or one GPU of this process.

    When `stop` is requested, the answer is what there is. `is_dropped`, asked several times a second, tells
    when nobody wants the answer any more. Raises `DeadlinePassed` if the task takes longer than its deadline.
    """
    begun = time.monotonic()
    with _device(task) as device:
        search_begun = time.monotonic()
        late = math.inf if task.deadline is None else search_begun + task.deadline

        def is_over(_: object) -> bool:
            return time.monotonic() > late or is_dropped()

        criterion = MaxKicks(task.kicks) | (stop or StopToken()) | as_criterion(is_over)
        if task.seconds is not None:
            criterion = criterion | MaxRuntime(max(0.0, task.seconds - (search_begun - begun)))
        run = _search(task, criterion, device)
    if time.monotonic() > late:
        raise DeadlinePassed(
            f"gave up {task.n} cities and {task.kicks} kicks after the deadline of {task.deadline:g} s"
        )
    return Answer(
        order=best_of(run)[0],
        kicks=int(run.counters.get("kicks", 0)),
        seconds=time.monotonic() - begun,
        device=str(run.device),
    )


def _search(task: Task, criterion: StoppingCriterion, device: str) -> Run:
    """Run the main solver on the instance of a task, and return its run, which has a tour."""
    problem, lk = task.problem(), get_method("lk")
    seen = seen_by(lk, problem, criterion.planned_limit().seconds)
    run = Run(
        Settings(problem, criterion, seed=task.seed),
        criterion,
        device=Devices.parse(resolve_device(device, seen.problem, lk)),
        start=np.arange(task.n, dtype=np.int32) if task.has_tour else None,
    )
    with closing(run):
        if not isinstance(run.start, str):
            run.offer(run.start)
        seen.search(lk.run, lk.lengths, run, parse_params(lk.params, "method lk", task.params))
        fall_back(problem, run, None)
    if run.failure is not None:
        raise run.failure
    return run


def improve_packed(packed: bytes, is_dropped: Callable[[], bool] = lambda: False) -> bytes:
    """Do a task as it came over the wire."""
    return improve(Task.from_bytes(packed), is_dropped=is_dropped).to_bytes()


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a worker says of itself before it gets a task."""

    version: str
    platform: str
    gpus: int

    @classmethod
    def of_this_process(cls) -> Abilities:
        """Look at this machine."""
        return cls(
            version=__version__,
            platform=f"{platform.system()} {platform.machine()}",
            gpus=len(usable_gpus()),
        )


@cache
def usable_gpus() -> tuple[str, ...]:
    """Return the GPUs of this machine that the main solver can use, such as ``("cuda:0", "cuda:1")``."""
    from warptsp.backends.cuda import driver
    from warptsp.backends.cuda.device import find_usable

    found = []
    try:
        for gpu in driver.find().gpus:
            find_usable(gpu.ordinal)
            found.append(f"cuda:{gpu.ordinal}")
    except BackendUnavailable:
        pass
    return tuple(found)


@cache
def _free_gpus() -> queue.SimpleQueue[str]:
    free: queue.SimpleQueue[str] = queue.SimpleQueue()
    for gpu in usable_gpus():
        free.put(gpu)
    return free


@contextmanager
def _device(task: Task) -> Iterator[str]:
    """Wait for a GPU of this process that no other task has, where there is one and it is wanted."""
    if task.device == "cuda" and not usable_gpus():
        raise Refused("this worker has no usable GPU; warptsp devices says why")
    small = task.n < get_method("lk").min_gpu_cities
    if task.device == "cpu" or (task.device == "auto" and (small or not usable_gpus())):
        yield "cpu"
        return
    gpu = _free_gpus().get()
    try:
        yield gpu
    finally:
        _free_gpus().put(gpu)


def _narrow(coordinates: NDArray[np.float64]) -> NDArray[Any]:
    """The same numbers in 32 bits where they all fit."""
    for dtype in (np.int32, np.float32):
        with np.errstate(invalid="ignore", over="ignore"):
            narrow = coordinates.astype(dtype)
        if (narrow == coordinates).all():
            return narrow
    return coordinates


def _packed(head: Mapping[str, Any], **arrays: Any) -> bytes:
    stream = BytesIO()
    np.savez(stream, head=np.frombuffer(json.dumps(head).encode(), np.uint8), **arrays)
    return stream.getvalue()


def _unpacked(packed: bytes) -> dict[str, Any]:
    with np.load(BytesIO(packed), allow_pickle=False) as archive:
        values: dict[str, Any] = dict(archive)
    values |= json.loads(values.pop("head").tobytes())
    return values


@contextmanager
def _refusing(what: str) -> Iterator[None]:
    """Damaged bytes raise anything: archives, arrays and JSON each have their own errors."""
    try:
        yield
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"this is not {what} of warptsp: {error}") from error
