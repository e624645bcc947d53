"""The call: strokes in, their order, directions and entries out."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from warptsp._checks import check_on_interrupt, checked_number
from warptsp._words import as_called
from warptsp.errors import InvalidOption
from warptsp.interruption import FirstSignal, delivered
from warptsp.run import COMPLETE, PROVED
from warptsp.solver.stages import signal_name
from warptsp.stop import MaxRuntime
from warptsp.strokes.machine import Machine, machine_of
from warptsp.strokes.model import (
    Ends,
    Ints,
    Ordering,
    Path,
    checked_flags,
    checked_groups,
    checked_paths,
    checked_point,
)
from warptsp.strokes.parts import Task, arranged, given_order, nearest_order, travel_mixed
from warptsp.strokes.plan import Plan, travel_points
from warptsp.strokes.refine import travel_of
from warptsp.strokes.search import Effort

DEFAULT_SECONDS = 6.0
"""Without a time limit everything together takes at most this long, and less where little is left to gain."""
RESERVE = 2e-5
"""Seconds for each stroke that the plan takes behind the search: 1 to 2 s for 100 000 on one busy core."""


def arrange(
    paths: Iterable[ArrayLike],
    *,
    home: ArrayLike | None = None,
    back: bool = False,
    reversible: bool | ArrayLike = True,
    loops: bool | ArrayLike = True,
    groups: Sequence[object] | None = None,
    inner_first: bool = False,
    outlines: Iterable[ArrayLike] | None = None,
    join: float = 0.0,
    machine: Machine | str = "euclidean",
    time_limit: float | None = None,
    **options: Any,
) -> Plan:
    """Put strokes, holes and cuts into an order with little travel between them.

    Parameters
    ----------
    paths : iterable of array_like, each of shape (k, 2) or (k, 3)
        The points of each stroke; one point is a hole. A stroke of three points or more whose last point is
        its first is a closed loop.
    home : array_like, shape (2,) or (3,), optional
        Where the tool starts. Without it the first stroke may be any.
    back : bool
        Whether the tool returns there.
    reversible : bool or array_like of bool, shape (n,)
        Whether a stroke may be drawn from its last point to its first. Loops keep their direction in any
        case: it changes no travel.
    loops : bool or array_like of bool, shape (n,)
        Whether a closed loop may be entered at any of its vertices; otherwise at its first point.
    groups : sequence, optional
        For each stroke its group, such as a colour, a tool or a layer. Groups stay together, whole numbers in
        ascending order, anything else in the order in which the groups first appear.
    inner_first : bool
        Whether what lies in a closed loop comes before it, within its group. Strokes that close an outline
        together count as a loop; they are drawn one after the other, unless their directions forbid it.
    outlines : iterable of array_like, optional
        The strokes once more, with as many points as it takes to say what lies in a loop: a circle may be
        entered at four points and still be round. By default `paths`.
    join : float
        Ends of strokes of a group that are at most this far apart are joined: these strokes follow each other
        and the tool stays down. 0 joins nothing.
    machine : Machine or {"euclidean", "max"}
        What a travel costs: `Euclidean`, `MaxOfAxes` or `AxisTimes`.
    time_limit : float, optional
        Wall-clock seconds for the whole call, which needs some for many strokes: 20 000 closed ones take 4
        with `inner_first`. By default at most 6, and less where little is left to gain.
    **options
        Those of `warptsp.solve` that say how to search: ``kicks``, ``seed``, ``threads``, ``device``,
        ``method``, ``params``, ``callback``; and ``on_interrupt``.

    Returns
    -------
    Plan
        Never with more travel than the order that was given, where that keeps groups and ``inner_first`` and
        draws outlines in one go, nor than always drawing the nearest stroke next, however little time there
        is.

    Raises
    ------
    InvalidProblem, InvalidOption
        An argument is invalid; the message names it.
    KeyboardInterrupt
        By Ctrl-C and other signals as `warptsp.solve` raises it, with the plan in ``result``.
    Exception
        What the callback raised, with the plan in ``result``.

    Examples
    --------
    >>> import warptsp.strokes
    >>> rows = [[[0, y], [10, y]] for y in range(4)]
    >>> plan = warptsp.strokes.arrange(rows, home=[0, 0])
    >>> plan.order.tolist(), plan.backwards.tolist(), plan.travel
    ([0, 1, 2, 3], [False, True, False, True], 3.0)
    """
    started = time.monotonic()
    drawing = checked_paths(paths)
    n = len(drawing)
    axes = drawing[0].shape[1] if drawing else 2
    place = checked_point("home", home, axes)
    free = checked_flags("reversible", reversible, n)
    group = checked_groups(groups, n)
    tolerance = checked_number("join", join, minimum=0.0, what="a distance of 0 or more")
    cost = machine_of(machine)
    if back and place is None:
        raise InvalidOption(as_called("back: to which home position? Give home, too",
                                      "--back: to which home position? Give --home, too"))  # fmt: skip
    on_interrupt = options.pop("on_interrupt", None)
    check_on_interrupt(on_interrupt)
    effort = _effort_of(time_limit, options, started, n * RESERVE)
    anywhere = checked_flags("loops", loops, n)
    shapes = drawing if outlines is None else checked_paths(outlines)
    if len(shapes) != n:
        raise InvalidOption(f"outlines: {len(shapes)} for {n} strokes; one for each is needed")
    task = Task.of(drawing, free, group, anywhere, shapes if inner_first else None, tolerance, cost)
    ends = Ends(place, place if back else None)
    before = _travel(drawing, place, back, cost)
    with FirstSignal(effort.interrupt):
        order, every = given_order(task), np.arange(len(task.units))
        entry = np.zeros(len(task.units), dtype=np.intp)
        if n > 0:
            greedy = nearest_order(task, ends)
            tried = [(order, entry), (greedy, entry), arranged(task, ends, greedy, effort)]
            whole = task.section(every, ends)
            order, entry = min(
                tried, key=lambda t: travel_of(replace(whole, units=task.entered(every, t[1])), t[0])
            )
        plan = _plan_of(task, ends, order, effort, entry)
        travel, mixed = _travel(plan.drawn(drawing), place, back, cost), travel_mixed(task, ends)
    seconds = time.monotonic() - started
    plan = replace(plan, travel=travel, travel_before=before, travel_mixed=mixed, seconds=seconds)
    if effort.failure is not None:
        effort.failure.result = plan  # type: ignore[attr-defined]
        raise effort.failure
    return delivered(plan, plan.signal, on_interrupt)


def _effort_of(time_limit: float | None, options: dict[str, Any], started: float, reserve: float) -> Effort:
    unknown = set(options) - {"kicks", "seed", "threads", "device", "method", "params", "callback", "stop"}
    if unknown:
        raise InvalidOption(f"there is no option {min(unknown)}: kicks, seed, threads, device, method, "
                            "params, callback and stop are passed on to the search")  # fmt: skip
    if time_limit is not None:
        limit = checked_number("time_limit", time_limit, minimum=0.0, what="a number of seconds, 0 or more")
        return Effort(options, started + limit - reserve, limit)
    if "kicks" in options or "stop" in options:
        return Effort(options, np.inf, np.inf)
    return Effort(options, started + DEFAULT_SECONDS, DEFAULT_SECONDS, settle=True)


def _plan_of(task: Task, ends: Ends, order: Ordering, effort: Effort, entry: Ints) -> Plan:
    """The plan of an order of units, stroke by stroke; nothing is measured."""
    n = len(task.paths)
    strokes: list[int] = []
    backwards = np.zeros(n, dtype=np.bool_)
    vertex = np.zeros(n, dtype=np.intp)
    down = np.zeros(n, dtype=np.bool_)
    for unit in order.order.tolist():
        chain, flags = task.chains.strokes[unit], task.chains.backwards[unit]
        turned = bool(order.backwards[unit])
        inside = chain[::-1] if turned else chain
        strokes += inside
        backwards[chain] = [flag != turned for flag in flags]
        down[inside[1:]] = [task.are_joined(a, b, backwards) for a, b in pairwise(inside)]
        vertex[chain[0]] = entry[unit]
    return Plan(
        order=np.array(strokes, dtype=np.intp),
        backwards=backwards,
        entry=vertex,
        joined=down,
        travel=0.0,
        travel_before=0.0,
        home=ends.start,
        back=ends.end is not None,
        machine=task.machine,
        seconds=0.0,
        kicks=effort.kicks,
        stop_reason=_reason(task, effort),
        interrupted=effort.interrupted,
        signal=effort.signal,
    )


def _reason(task: Task, effort: Effort) -> str:
    """Why the last search ended; a proof counts only where it is one of the whole plan, in its own cost."""
    if not effort.reasons:
        if effort.signal is not None:
            return signal_name(effort.signal)
        return str(MaxRuntime(effort.limit)) if effort.over and len(task.units) > 1 else "nothing to search"
    units = task.units
    whole = (
        len(effort.reasons) == 1
        and task.parent is None
        and not task.closed.any()
        and len(units) == len(task.paths)  # ends that are joined might be joined to others
        and bool((task.group == task.group[0]).all())
        and units.free
        and task.machine.exact
    )
    return COMPLETE if effort.reasons[-1] == PROVED and not whole else effort.reasons[-1]


def _travel(drawn: Sequence[Path], home: Path | None, back: bool, machine: Machine) -> float:
    starts, ends = travel_points(drawn, home, back)
    return fsum(machine.cost(starts, ends).tolist()) if len(starts) else 0.0
