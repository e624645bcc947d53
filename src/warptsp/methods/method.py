"""What a method is to the solver: a name, its parameters, what it can do, and how it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from warptsp.errors import UnsupportedProblem

if TYPE_CHECKING:
    from warptsp.backends.cuda.compiler import Source
    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem

MAIN = "lk"
"""The method of `solve` if none is named."""

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class NoParams:
    """Parameters of a method that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method(Generic[P]):
    """A method: its module makes one and calls it ``METHOD``.

    Attributes
    ----------
    name : str
        What ``solve(method=...)`` and ``--method`` take.
    summary : str
        What it is, in one line.
    run : callable
        ``run(problem, run, params)`` searches, and reports to ``run``, which is a
        ``warptsp.methods.protocol.Run``.
    params : type
        Its parameters: a frozen dataclass that checks itself in ``__post_init__``. Its fields are what
        ``solve(params={...})`` and ``--param NAME=VALUE`` take.
    asymmetric, open_paths, fixed_edges : bool
        Whether it searches asymmetric distances and open paths, and keeps fixed edges.
    places_from : int or None
        From so many cities on it is given an instance's places where many cities share theirs; None for
        never.
    min_cities : int
        With fewer cities the method ``exact`` runs in its place.
    max_cities, max_gpu_cities : int or None
        With more, the CPU and a GPU would be at it for too long; None for no limit.
    ends : bool
        Whether it comes to an end by itself, so that it needs no stopping criterion.
    ends_with : tuple of str
        Parameters of which each brings it to an end.
    lengths : tuple of str
        Parameters and counters that are lengths.
    any_magnitude : int
        Cities up to which it takes numbers of any magnitude as they are.
    devices : tuple of str
        ``"cuda"`` is one of them if it can use a GPU.
    min_gpu_cities : int
        From which device "auto" takes a GPU, since it is faster.
    gpu_limits : callable or None
        ``gpu_limits(problem)`` says what the method cannot do about this problem on a GPU, None if it can do
        all; without it, a GPU does what the CPU does.
    gpus_wanted : callable or None
        ``gpus_wanted(problem, seconds, there)`` says how many of so many GPUs of one model make it faster,
        given the run's time limit; None if it uses one.
    constrains : callable or None
        ``constrains(params)`` says whether these parameters ask of a tour what the problem does not, so that
        the method runs even on a tour that is proved optimal; None if none do.
    kernels : callable or None
        ``kernels(problem)`` returns what runs on a GPU compile for problems like this one; None if none do.
    explain_launch : callable or None
        ``explain_launch(problem, where, params)`` says how the search would be spread over a GPU: a device
        such as "cuda:0", or one of an architecture such as "sm_90", which need not be there.
    """

    name: str
    summary: str
    run: Callable[[Problem, Run, P], None]
    params: type[P] = NoParams  # type: ignore[assignment]
    asymmetric: bool = False
    open_paths: bool = True
    fixed_edges: bool = True
    places_from: int | None = None
    min_cities: int = 4
    max_cities: int | None = None
    ends: bool = False
    ends_with: tuple[str, ...] = ()
    lengths: tuple[str, ...] = ()
    any_magnitude: int = 0
    devices: tuple[str, ...] = ("cpu",)
    min_gpu_cities: int = 0
    max_gpu_cities: int | None = None
    gpu_limits: Callable[[Problem], str | None] | None = None
    gpus_wanted: Callable[[Problem, float | None, int], int] | None = None
    constrains: Callable[[P], bool] | None = None
    kernels: Callable[[Problem], Iterable[Source]] | None = None
    explain_launch: Callable[[Problem, str, P], str] | None = None

    def check(self, problem: Problem, *, on_gpu: bool = False) -> None:
        """Check that it can do this kind of problem, with so many cities: UnsupportedProblem if not."""
        if problem.open is not None and not self.open_paths:
            raise UnsupportedProblem(f"method {self.name} does not search open paths; use the method {MAIN}")
        if len(problem.fixed_edges) and not self.fixed_edges:
            raise UnsupportedProblem(f"method {self.name} does not keep fixed edges; use the method {MAIN}")
        most = self.max_gpu_cities if on_gpu else self.max_cities
        if most is not None and problem.n > most:
            where = "a GPU" if on_gpu else "the CPU"
            raise UnsupportedProblem(
                f"method {self.name}: {problem.n} cities are too many for {where}, whose maximum is {most}; "
                f"use the method {MAIN}"
            )

    def gpu_lacks(self, problem: Problem) -> str | None:
        """Return what the method cannot do about this problem on a GPU, None if it can do all."""
        if "cuda" not in self.devices:
            return f"method {self.name} runs on the CPU only"
        return None if self.gpu_limits is None else self.gpu_limits(problem)
