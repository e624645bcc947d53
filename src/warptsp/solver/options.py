"""What a call of `solve` asks for, checked before anything is computed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, TypeAlias

from warptsp._checks import checked_count, shown
from warptsp._offers import find
from warptsp._words import as_called
from warptsp.bound.beside import BoundBeside, checked_bound
from warptsp.devices import resolve_device
from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.machine import CPU, Devices
from warptsp.methods import MAIN, METHODS, Method, get_method
from warptsp.methods.launch import refuse_on_cpu
from warptsp.methods.parameters import given_params, parse_params
from warptsp.methods.places import Seen, seen_by
from warptsp.methods.protocol import Run
from warptsp.outputs import check_outputs
from warptsp.problem import Problem
from warptsp.progress import Progress
from warptsp.run.checkpoint import Checkpoint, proof_beside, warn_of_earlier
from warptsp.run.snapshots import Recorder
from warptsp.stop import MaxKicks, MaxRuntime, SearchState, StoppingCriterion, as_criterion

if TYPE_CHECKING:
    from warptsp.cluster.outer import Outer

Callback: TypeAlias = Callable[[Progress], object]

TRIVIAL = 3  # cities up to which every closed tour is the same, read in one direction or the other


@dataclass(frozen=True, slots=True)
class Step:
    """A method that a run uses, with its parameters, checked."""

    name: str  # that was asked for
    method: Method[Any]
    params: Any  # of type `method.params`
    given: dict[str, Any]  # those of them that were given
    outer: Outer | None = None
    device: Devices = CPU
    view: Seen | None = None  # the instance as the method is given it, once that is planned

    @classmethod
    def of(cls, name: str, params: Mapping[str, Any] | object | None, outer: Outer | None = None) -> Step:
        """Check a method and what is given for its parameters."""
        method = get_method(name)
        if outer is not None and name != "lk":
            raise InvalidOption(
                f"method {shown(name)} and cluster: the workers of a cluster search by method lk"
            )
        parsed = parse_params(method.params, f"method {name}", params)
        return cls(name, method, parsed, given_params(parsed, params), outer)

    @property
    def constrains(self) -> bool:
        """Whether its parameters ask of a tour what the problem does not."""
        return self.method.constrains is not None and self.method.constrains(self.params)

    def planned(self, device: str, problem: Problem, seconds: float | None) -> Step:
        """Return what is run for so many cities, with the device of this process that it uses.

        Raises `UnsupportedProblem` if the method cannot do it.
        """
        if problem.asymmetric and not self.method.asymmetric:
            able = ", ".join(method.name for method in METHODS.values() if method.asymmetric)
            raise UnsupportedProblem(
                f"method {self.method.name} needs symmetric distances; asymmetric ones are searched by {able}"
            )
        if self.outer is not None:
            self.outer.check(problem)
        if problem.n < self.method.min_cities:
            if self.outer is None:
                resolve_device(device, problem, self.method, seconds)
            exact = get_method("exact")
            return replace(self, method=exact, outer=None, view=seen_by(exact, problem))
        view = seen_by(self.method, problem, seconds)
        used = "cpu"
        if self.outer is None:
            used = resolve_device(device, view.problem, self.method, seconds)
        self.method.check(view.problem, on_gpu=used != "cpu")
        return replace(self, view=view, device=self.device if problem.n <= TRIVIAL else Devices.parse(used))

    def run(self, run: Run) -> None:
        """Do the work."""
        assert self.view is not None  # it is planned
        search = self.method.run if self.outer is None else self.outer.run
        self.view.search(search, self.method.lengths, run, self.params)

    @property
    def n(self) -> int:
        """How many cities, or places, the method is given."""
        assert self.view is not None  # it is planned
        return self.view.problem.n

    @property
    def tells(self) -> bool:
        """Whether it tells by itself when little is left to gain."""
        assert self.view is not None  # it is planned
        return self.method.name == MAIN and self.outer is None and not self.view.problem.asymmetric

    @property
    def ends(self) -> bool:
        """Whether it comes to an end by itself."""
        method = self.method
        if self.outer is not None and self.outer.params.rounds is not None:
            return True
        return method.ends or any(getattr(self.params, name) is not None for name in method.ends_with)


def steps_of(
    method: str,
    params: Mapping[str, Any] | object | None,
    then: str | None,
    then_params: Mapping[str, Any] | object | None,
    outer: Outer | None,
) -> list[Step]:
    """Return the methods of a run, one or two."""
    first = Step.of(method, params, outer)
    if then is not None:
        return [first, Step.of(then, then_params)]
    if then_params:
        raise InvalidOption(
            f"{as_called('then_params', '--then-param')}: there is no second method; name it with "
            f"{as_called('then', '--then')}"
        )
    return [first]


def planned_steps(
    steps: list[Step], device: str, problem: Problem, criterion: StoppingCriterion | None
) -> tuple[Step, ...]:
    """Return what is run in their place, each with its device."""
    seconds = None if criterion is None else criterion.planned_limit().seconds
    planned = tuple(step.planned(device, problem, seconds) for step in steps)
    if device == "cpu":
        for step in steps:
            refuse_on_cpu(step.params)
    return planned


def cluster_of(cluster: Any, params: Mapping[str, Any] | object | None, device: str) -> Outer | None:
    """Return the outer level of the search, None without a cluster."""
    if cluster is None:
        if params:
            raise InvalidOption(
                f"{as_called('cluster_params', '--cluster-param')}: there is no cluster; name it with "
                f"{as_called('cluster', '--cluster')}"
            )
        return None
    from warptsp.cluster.connect import ClusterParams
    from warptsp.cluster.outer import Outer

    return Outer(cluster, device, parse_params(ClusterParams, "cluster", params))


def criterion_of(
    stop: StoppingCriterion | Callable[[SearchState], bool] | None,
    time_limit: float | None,
    kicks: int | None,
    problem: Problem | None = None,
) -> StoppingCriterion | None:
    """Return the criterion that was asked for, or None; it fits the problem, if that is given."""
    given = [] if stop is None else [as_criterion(stop)]
    if time_limit is not None:
        given.append(MaxRuntime(time_limit))
    if kicks is not None:
        given.append(MaxKicks(kicks))
    if not given:
        return None
    criterion = reduce(or_, given)
    if problem is not None:
        criterion.check(problem, problem.known_length)
    return criterion


def seed_of(seed: object) -> int:
    what = "a whole number from 0 to 2**64 - 1"
    return checked_count("seed", seed, minimum=0, what=what, maximum=(1 << 64) - 1)


def recorder_of(problem: Problem, snapshots: object) -> Recorder | None:
    """Return what keeps so many tours of the run; None for none."""
    count = checked_count("snapshots", snapshots, minimum=0, what="a number of tours, 0 or more")
    return Recorder(problem, count) if count else None


def check_checkpoint(file: object, source: object) -> None:
    """Accept a checkpoint that replaces no file of the instance; nor does a proof beside it."""
    if isinstance(file, (str, os.PathLike)) and isinstance(source, (str, os.PathLike)):
        kept = (file, proof_beside(file))
        check_outputs([("checkpoint", name) for name in kept], [("the instance itself", source)])


def checkpoint_of(problem: Problem, file: object, interval: float | None, start: str) -> Checkpoint | None:
    """Return the checkpoint that a run writes to this file; a warning says if it will replace one that
    the run does not start from."""
    if file is None:
        if interval is not None:
            raise InvalidOption(
                f"{as_called('checkpoint_interval', '--checkpoint-interval')}: there is no checkpoint; name "
                f"its file with {as_called('checkpoint', '--checkpoint')}"
            )
        return None
    if not isinstance(file, (str, os.PathLike)):
        raise InvalidOption(f"checkpoint: {shown(file)} is not the name of a file")
    checkpoint = Checkpoint(file, problem, 5.0 if interval is None else interval)
    warn_of_earlier(file, start, as_called("start", "--start"))
    return checkpoint


def bound_of(
    bound: object, problem: Problem, criterion: StoppingCriterion | None, threads: int
) -> BoundBeside | None:
    """Return what computes a lower bound beside the search; None for none."""
    wanted = checked_bound(bound)
    is_target = criterion is not None and criterion.needs_bound()
    if wanted is None and is_target:
        option = as_called(f"bound={shown(bound)}", "--bound none")
        raise InvalidOption(f"{option}: the target gap is one to the lower bound; leave {option} out")
    if wanted is None or problem.asymmetric:
        return None
    seconds = None if criterion is None else criterion.limit().seconds
    return BoundBeside(problem, wanted, threads=threads, is_target=is_target, limit=seconds)


@contextmanager
def displayed(progress: object, callback: Callback | None) -> Iterator[Callback | None]:
    """Return the callback of a run, which draws its progress if that is wanted."""
    if not isinstance(progress, bool):
        raise InvalidOption(f"progress: {shown(progress)} is neither True nor False")
    if not progress:
        yield callback
        return
    display = find("progress display")("auto")

    def told(event: Progress) -> object:
        display(event)
        return None if callback is None else callback(event)

    with display:
        yield told
