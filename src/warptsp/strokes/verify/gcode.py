"""G-code: what two programs do, compared, as a machine notes it."""

import math
import re
from collections import Counter
from collections.abc import Hashable
from itertools import pairwise
from typing import Any

import numpy as np

from warptsp.strokes.gcode_arcs import SAG
from warptsp.strokes.gcode_words import tool_width
from warptsp.strokes.verify._gcode_machine import Rapid, Run, run_program
from warptsp.strokes.verify.work import (
    Ints,
    NotVerified,
    Points,
    Rules,
    inner_first,
    matched,
    overlaps_in_order,
    same_groups,
)


def verify(before: bytes, after: bytes, rules: Rules) -> None:
    """Run both programs; raise `NotVerified` unless they do the same work in an order that is as good."""
    if before == after and not rules.inner_first:
        return
    if re.search(rb"\r[^\r\n]", before + after):
        raise NotVerified("is not written: some machines end a line at each carriage return, others do not")
    first, second = run_program(before), run_program(after)
    if first.flow and before != after:
        raise NotVerified("is not written: expressions, subprograms or checksums may lead back to any line",
                          line=first.flow)  # fmt: skip
    _same_bytes(before, after, first, second)
    if first.fixed != second.fixed:
        at = next((i for i, (a, b) in enumerate(zip(first.fixed, second.fixed, strict=False)) if a != b), -1)
        what = first.fixed[at][0] if at >= 0 else "a line"  # type: ignore[index]
        raise NotVerified(f"is not written: {what!r} would find the machine in another place or state")
    keys = [[piece.key for piece in run.pieces] for run in (first, second)]

    def named(key: Hashable) -> str:
        found = next(piece for run in (first, second) for piece in run.pieces if piece.key == key)
        return f"the cut at line {found.line}"

    place = matched(keys[0], keys[1], named)
    regimes = [[(piece.epoch, frozenset(piece.regime)) for piece in run.pieces] for run in (first, second)]
    if not first.prints:
        _regimes_in_order(regimes[0], regimes[1], place)
    _rapids_are_high(first, second, place)
    if len(first.heights) > 1:
        _depths_in_order(first, second, place)
    if rules.inner_first:
        _inner_first(second, regimes[1])


def _regimes_in_order(before: list[Any], after: list[Any], place: Ints) -> None:
    """Whether cuts of one power and feed rate stay together; holes have neither, and may be among any."""
    own = np.array([k for k, (_, regime) in enumerate(before) if regime], dtype=np.intp)
    others = np.array([k for k, (_, regime) in enumerate(after) if regime], dtype=np.intp)
    behind = np.searchsorted(others, place[own])
    same_groups([before[k] for k in own.tolist()], [after[k] for k in others.tolist()], behind,
                "cuts of different power or feed")  # fmt: skip


def _same_bytes(before: bytes, after: bytes, first: Run, second: Run) -> None:
    """Whether header and footer are the same bytes, and each line between them is one of the file."""
    old, new = before.split(b"\n"), after.split(b"\n")
    if old[: first.first] != new[: first.first]:
        raise NotVerified("is not written: the lines before the first cut would change")
    footer = old[first.tail :]
    if footer and new[-len(footer) :] != footer:
        raise NotVerified("is not written: the lines behind the last cut would change", line=first.tail + 1)
    if first.texts != second.texts:
        text = next(iter((first.texts - second.texts) | (second.texts - first.texts)))
        shown = text.decode("latin-1").strip()[:40]
        raise NotVerified(f"is not written: the line {shown!r} would change, or be lost or added")
    if first.targets != second.targets:
        raise NotVerified("is not written: rapid moves would go to other places")
    ends = [{line[-1:] == b"\r" for line in lines[:-1]} for lines in (old, new)]
    if not ends[1] <= ends[0]:
        raise NotVerified("is not written: lines would end in two ways")


def _rapids_are_high(first: Run, second: Run, place: Ints) -> None:
    """Whether rapid moves that are new run where those of the file did: above all that is cut.

    Where nothing moves up and down (plotters), where the beam is off on all rapid moves and on in all cuts
    (lasers), and where filament is laid, there is nothing to be above.
    """
    flat = _is_flat(first)
    top = _top(first)
    known = Counter(rapid.ends for rapid in first.rapids)
    reached = np.full(len(first.pieces) + 1, -math.inf)  # of the rapid moves in front of each piece
    for rapid in first.rapids:
        reached[rapid.behind] = np.fmax(reached[rapid.behind], rapid.height)
    highest = _RangeMaximum(reached)
    origin = np.empty(len(place), dtype=np.intp)
    origin[place] = np.arange(len(place))
    for rapid in second.rapids:
        if known[rapid.ends] > 0:
            known[rapid.ends] -= 1
            continue
        near = [int(origin[p]) for p in (rapid.behind - 1, rapid.behind) if 0 <= p < len(origin)]
        low = 0 if rapid.behind == 0 else min(near)
        high = len(place) if rapid.behind == len(place) else max(near)
        needed = highest.over(low if rapid.behind == 0 else min(low + 1, high), high)
        if flat and math.isnan(rapid.height):
            continue
        if not rapid.height >= needed or not (flat or rapid.height > top):
            raise NotVerified(
                f"is not written: a new rapid move would run at {rapid.height:g}, below the height at which "
                "the file's own ran, or not above all cuts", line=rapid.line)  # fmt: skip


def _is_flat(run: Run) -> bool:
    """Whether rapid moves may run at the height of cuts, as those of plotters, lasers and printers do."""
    beam = run.flat and run.lit and all(rapid.dark for rapid in run.rapids)
    return len(run.heights) + run.unknown <= 1 or run.prints or beam


def _top(run: Run) -> float:
    """The highest cut of a program; of one that goes straight down its lower end.

    A move at the greatest height of all that rapid moves go up to cuts nothing, whatever its speed.
    """
    highest = float(max(run.heights, default=0))
    tops = [
        low if len(path) == 1 else high
        for piece in run.pieces
        for path, (low, high), air in zip(piece.paths, piece.depths, piece.air, strict=True)
        if not (air and low == high == highest)
    ]
    cuts = {depth for piece in run.pieces for depth in piece.depths}
    if len(cuts) > 1 and min(low for low, _ in cuts) >= 0 and not run.prints:
        # 0 may be the table: the workpiece ends below the first rapid moves, for nothing is cut away yet.
        cut = next(number for number, piece in enumerate(run.pieces) if piece.paths)
        first = [rapid.height for rapid in run.rapids if rapid.behind <= cut and not math.isnan(rapid.height)]
        tops.append(math.nextafter(min(first, default=highest), -math.inf))
    # Cuts go down from 0 where the tool comes above it: below, a rapid move may run into the workpiece.
    return max([*tops, math.nextafter(0.0, -math.inf)] if highest > 0 else tops, default=-math.inf)


class _RangeMaximum:
    """The largest of any part of an array, from the largest of all parts of 2, 4, 8 ..."""

    def __init__(self, values: Points) -> None:
        self.levels = [values]
        while len(self.levels[-1]) > 1 << (len(self.levels) - 1):
            last, step = self.levels[-1], 1 << (len(self.levels) - 1)
            self.levels.append(np.maximum(last[:-step], last[step:]))

    def over(self, low: int, high: int) -> float:
        """The largest from `low` to `high`, both included."""
        level = (high - low + 1).bit_length() - 1
        values = self.levels[level]
        return max(float(values[low]), float(values[high - (1 << level) + 1]))


def _depths_in_order(first: Run, second: Run, place: Ints) -> None:
    """Whether cuts that overlap keep their order where their depths or feed rates differ.

    Rapid moves below the top of what is cut are as cuts of a depth of their own: they go where something was
    cut away before. So does what is cut at a higher feed rate than the slowest of its kind in the same state:
    straight down as rapid moves, in the plane at each feed rate by itself.
    """
    works: list[tuple[float, float, Points, Hashable, int]] = []  # place before, behind, ...
    top, flat = -math.inf if first.prints else _top(first), _is_flat(first)
    for number, piece in enumerate(first.pieces):
        for path, depth, pace in zip(piece.paths, piece.depths, piece.paces, strict=True):
            kind: Hashable = depth
            if pace is not None and pace[1] > first.slowest[pace[0]]:
                if len(path) == 1 and depth[0] > top:
                    continue  # above all cuts
                if len(path) == 1 or not flat:
                    kind = ("rapid", depth[0]) if len(path) == 1 else (*depth, pace[1])
            works.append((number, int(place[number]), path, kind, piece.line))
    low, behind = ([] if first.prints else _low(run, top, flat) for run in (first, second))
    found = matched([rapid.ends for rapid in low], [rapid.ends for rapid in behind],
                    lambda _: "a rapid move within the workpiece")  # fmt: skip
    for rapid, at in zip(low, found.tolist(), strict=True):
        height = "rapid", rapid.height
        works.append((rapid.behind - 0.5, behind[at].behind - 0.5, rapid.path, height, rapid.line))
    if not works:
        return
    reach = max(2 * SAG, tool_width(first.comments, first.inches, first.prints))
    works.sort(key=lambda work: work[0])
    order = sorted(range(len(works)), key=lambda k: (works[k][1], works[k][0]))
    where = np.empty(len(works), dtype=np.intp)
    where[order] = np.arange(len(works))
    wrong = overlaps_in_order([w[2] for w in works], [w[3] for w in works], where, reach)
    if wrong is not None:
        lines = [works[w][4] for w in wrong]
        raise NotVerified(f"is not written: the cuts at lines {lines[0]} and {lines[1]} overlap, have "
                          "different depths or feed rates and would change places")  # fmt: skip


def _low(run: Run, top: float, flat: bool) -> list[Rapid]:
    """The rapid moves that are not above a height, those straight down among them."""
    return [
        rapid for rapid in [*([] if flat else run.rapids), *run.downs]
        if not rapid.height > top and not math.isnan(rapid.height)
    ]  # fmt: skip


def _inner_first(run: Run, regimes: list[Any]) -> None:
    """Whether what lies in a closed cut comes before it, among cuts of one depth and regime."""
    kinds, paths, number = [], [], 0
    last: Any = None
    for regime, piece in zip(regimes, run.pieces, strict=True):
        if regime[1] or last is None or regime[0] != last[0]:
            number += regime != last
            last = regime
        kinds.append((number, min((low for low, _ in piece.depths), default=0.0)))
        paths.append(_largest_loop(np.concatenate([*piece.paths, np.empty((0, 2))])))
    found = inner_first(paths, kinds)
    if found is not None:
        lines = [run.pieces[f].line for f in found]
        raise NotVerified(f"is not written: the cut at line {lines[1]} of the new file lies in that at line "
                          f"{lines[0]}, and cannot come before it")  # fmt: skip


def _largest_loop(path: Points) -> Points:
    """Of a path that comes back to its beginning more than once the widest round; any other as it is."""
    if len(path) == 0:
        return np.zeros((1, 2))
    path = path[np.concatenate([[True], (np.diff(path, axis=0) != 0).any(axis=1)])]
    back = np.flatnonzero((path == path[0]).all(axis=1))
    if len(back) < 3 or back[-1] != len(path) - 1:
        return path
    rounds = [path[a : b + 1] for a, b in pairwise(back.tolist())]
    return max(rounds, key=lambda points: float(np.ptp(points, axis=0).max()))
