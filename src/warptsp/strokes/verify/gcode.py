"""G-code: a machine that runs a program line by line, and notes what it does and in which state.

It knows few words. At the first line with another one it stops: all that follows must be the same bytes.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .work import NotVerified, Rules, inner_first, matched, overlaps_in_order, same_groups

__all__ = ["verify"]

_TOKEN = re.compile(r"([A-Z])[ \t]*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))?[ \t]*")
_WIDTH = re.compile(r"(?i)\b(?:D|dia|diam|diameter)\b\.?\s*[:=]?\s*([0-9]*\.?[0-9]+)")
_MOVES = {"G0": 0, "G1": 1, "G2": 2, "G3": 3}
_MODAL = {
    "G17": "plane", "G18": "plane", "G19": "plane", "G20": "units", "G21": "units", "G40": "compensation",
    "G43": "length", "G49": "length", "G54": "offset", "G55": "offset", "G56": "offset", "G57": "offset",
    "G58": "offset", "G59": "offset", "G61": "path", "G61.1": "path", "G64": "path", "G80": "cycle",
    "G90": "distance", "G91": "distance", "G90.1": "centres", "G91.1": "centres", "G93": "feed mode",
    "G94": "feed mode", "G95": "feed mode", "G15": "polar", "G50": "scale", "G69": "turn", "G97": "speed",
    "G98": "return", "G99": "return", "M3": "spindle", "M4": "spindle", "M5": "spindle", "M7": "coolant",
    "M8": "coolant", "M9": "coolant", "M82": "filament", "M83": "filament",
}  # fmt: skip
# Commands that neither move the machine nor ask where it is; anything else that is no move does.
_ANYWHERE = {f"M{n}" for n in (
    2, 30, 10, 11, 17, 18, 31, 36, 42, 62, 63, 64, 65, 73, 75, 76, 77, 78, 80, 81, 84, 85, 92, 104, 105, 106,
    107, 108, 109, 110, 111, 113, 114, 115, 116, 117, 118, 119, 122, 140, 141, 143, 144, 145, 149, 150, 155,
    190, 191, 200, 201, 202, 203, 204, 205, 207, 208, 209, 211, 217, 220, 221, 250, 256, 280, 281, 282, 300,
    301, 302, 303, 304, 305, 306, 307, 308, 309, 350, 351, 355, 400, 404, 405, 406, 407, 408, 412, 413, 420,
    425, 486, 493, 500, 501, 502, 503, 504, 566, 567, 568, 569, 570, 571, 572, 573, 575, 591, 592, 593, 710,
    851, 862.1, 862.2, 862.3, 862.4, 862.5, 862.6, 876, 900, 905, 906, 907, 908, 911, 912, 913, 914,
    919)}  # fmt: skip
_FIRST = {"G10", "G32", "G34", "G52", "M48", "M49"}  # known in front of the first cut
_STAYS = _ANYWHERE | {"M0", "M1", "M60"}  # the axes are behind it where they were
_TALK = re.compile(r"M ?(?:11[578]|862\.[1-6])\b")  # what follows is a text
_BACK = re.compile(r"[#\[\]*$=]|\bM ?0*9[789]\b|\bG ?0*6[567]\b|\b(?:GOTO|IF|WHILE)\b")
_SAG = 0.01  # by which a chord may miss its arc, in the file's unit


@dataclass(slots=True)
class _Piece:
    """Cuts between two rapid moves."""

    line: int
    lead: Hashable  # the state in which the rapid move before it came
    cuts: list[Hashable] = field(default_factory=list)
    paths: list[NDArray[np.float64]] = field(default_factory=list)
    depths: list[tuple[float, float]] = field(default_factory=list)
    air: list[bool] = field(default_factory=list)  # whether a rapid move up went before it
    regime: set[Hashable] = field(default_factory=set)
    epoch: int = 0

    @property
    def key(self) -> Hashable:
        return self.lead, tuple(self.cuts), self.epoch


@dataclass(slots=True)
class _Rapid:
    """A rapid move in the plane, and how many pieces there are before it."""

    ends: Hashable
    height: float  # at its lowest, NaN where that is not known
    behind: int
    line: int
    dark: bool  # whether beam or spindle is off
    path: NDArray[np.float64]


@dataclass(slots=True)
class _Run:
    """What a program did."""

    pieces: list[_Piece] = field(default_factory=list)
    rapids: list[_Rapid] = field(default_factory=list)
    fixed: list[Hashable] = field(default_factory=list)  # what keeps its place, in order
    heights: set[Decimal] = field(default_factory=set)
    downs: list[_Rapid] = field(default_factory=list)  # rapid moves down, at one place
    prints: bool = False
    lit: bool = True  # whether every cut in the plane has beam or spindle on
    flat: bool = False  # whether there are any
    width: float = 0.0
    first: int = -1  # the line of the first rapid move in the plane
    tail: int = 0  # the line behind the last work from which on nothing may change
    flow: int = 0  # a line that may lead back to other lines; 0 for none
    targets: Counter[Hashable] = field(default_factory=Counter)  # of rapid moves
    texts: Counter[bytes] = field(default_factory=Counter)  # of lines that are no rapid moves


def verify(before: bytes, after: bytes, rules: Rules) -> None:
    """Run both programs; raise `NotVerified` unless they do the same work in an order that is as good."""
    if before == after and not rules.inner_first:
        return
    first, second = _run(before), _run(after)
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
        _depths_in_order(first, place)
    if rules.inner_first:
        _inner_first(second, regimes[1])


def _regimes_in_order(before: list[Any], after: list[Any], place: NDArray[np.intp]) -> None:
    """Whether cuts of one power and feed rate stay together; holes have neither, and may be among any."""
    own = np.array([k for k, (_, regime) in enumerate(before) if regime], dtype=np.intp)
    others = np.array([k for k, (_, regime) in enumerate(after) if regime], dtype=np.intp)
    behind = np.searchsorted(others, place[own])
    same_groups([before[k] for k in own.tolist()], [after[k] for k in others.tolist()], behind,
                "cuts of different power or feed")  # fmt: skip


def _same_bytes(before: bytes, after: bytes, first: _Run, second: _Run) -> None:
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


def _rapids_are_high(first: _Run, second: _Run, place: NDArray[np.intp]) -> None:
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


def _is_flat(run: _Run) -> bool:
    """Whether rapid moves may run at the height of cuts, as those of plotters, lasers and printers do."""
    beam = run.flat and run.lit and all(rapid.dark for rapid in run.rapids)
    return len(run.heights) <= 1 or run.prints or beam


def _top(run: _Run) -> float:
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
    return max(tops, default=-math.inf)


class _RangeMaximum:
    """The largest of any part of an array, from the largest of all parts of 2, 4, 8 ..."""

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.levels = [values]
        while len(self.levels[-1]) > 1 << (len(self.levels) - 1):
            last, step = self.levels[-1], 1 << (len(self.levels) - 1)
            self.levels.append(np.maximum(last[:-step], last[step:]))

    def over(self, low: int, high: int) -> float:
        """The largest from `low` to `high`, both included."""
        level = (high - low + 1).bit_length() - 1
        values = self.levels[level]
        return max(float(values[low]), float(values[high - (1 << level) + 1]))


def _depths_in_order(run: _Run, place: NDArray[np.intp]) -> None:
    """Whether cuts that overlap keep their order where their depths differ.

    Rapid moves below the top of what is cut are as cuts of a depth of their own: they go where something was
    cut away before.
    """
    top = _top(run)
    works: list[tuple[float, int, NDArray[np.float64], Hashable, int]] = []  # place before, behind, ...
    for number, piece in enumerate(run.pieces):
        for path, depth in zip(piece.paths, piece.depths, strict=True):
            works.append((float(number), int(place[number]), path, depth, piece.line))
    travels = [] if _is_flat(run) else run.rapids
    for rapid in [] if run.prints else [*travels, *run.downs]:
        if not rapid.height > top and not math.isnan(rapid.height):
            number = rapid.behind
            behind = int(place[number]) if number < len(place) else len(place)
            works.append((number - 0.5, behind, rapid.path, ("rapid", rapid.height), rapid.line))
    if not works:
        return
    works.sort(key=lambda work: work[0])
    order = sorted(range(len(works)), key=lambda k: (works[k][1], works[k][0]))
    where = np.empty(len(works), dtype=np.intp)
    where[order] = np.arange(len(works))
    found = overlaps_in_order([w[2] for w in works], [w[3] for w in works], where, max(run.width, 2 * _SAG))
    if found is not None:
        lines = [works[f][4] for f in found]
        raise NotVerified(f"is not written: the cuts at lines {lines[0]} and {lines[1]} overlap, have "
                          "different depths and would change places")  # fmt: skip


def _inner_first(run: _Run, regimes: list[Any]) -> None:
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


def _largest_loop(path: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of a path that comes back to its beginning more than once the widest round; any other as it is."""
    if len(path) == 0:
        return np.zeros((1, 2))
    path = path[np.concatenate([[True], (np.diff(path, axis=0) != 0).any(axis=1)])]
    back = np.flatnonzero((path == path[0]).all(axis=1))
    if len(back) < 3 or back[-1] != len(path) - 1:
        return path
    rounds = [path[a : b + 1] for a, b in pairwise(back.tolist())]
    return max(rounds, key=lambda points: float(np.ptp(points, axis=0).max()))


def _run(data: bytes) -> _Run:
    """Run a program from its first line to its last, or to the first that is not understood."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    machine = _Machine()
    lines = text.removeprefix("\ufeff").split("\n")
    for number, line in enumerate(lines, start=1):
        if not machine.step(line.rstrip("\r"), number):
            run = machine.run
            rest = "\n".join(lines[number - 1 :])
            run.fixed.append((rest, machine.where(), machine.state()))
            machine.ends(number)
            for later, text in enumerate(lines[number:], start=number + 1):
                bare = (_uncommented(text)[0] or text).upper()
                run.flow = run.flow or (later if _BACK.search(bare) else 0)
            break
    else:
        machine.ends(len(lines) + (lines[-1] != ""))
        machine.run.fixed.append(("the end", machine.end_state()))
    if machine.run.first < 0:
        machine.run.first = machine.run.tail
    return machine.run


class _Machine:
    """Where the tool is and in which state, while a program runs."""

    def __init__(self) -> None:
        self.run = _Run()
        self.at: dict[str, Decimal | None] = {"X": None, "Y": None, "Z": None}
        self.filament: Decimal | None = None
        self.motion: int | None = None
        self.modal: dict[str, str] = {}
        self.chosen: Hashable = ()
        self.choose("spindle", "M5")  # as every control begins
        self.choose("coolant", "M9")
        self.feed: Decimal | None = None
        self.power: Decimal | None = None
        self.drawn = Decimal(0)  # filament that is drawn back
        self.piece: _Piece | None = None
        self.epoch = 0
        self.lead: Hashable = None
        self.air = False  # whether a rapid move up was the last in height
        self.begun = False  # whether anything has moved
        self.idle = 0  # the line behind the last work from which on lines have changed nothing
        self.counted = 0  # lines of a piece that only say how much filament there was (G92 E)

    def choose(self, group: str, value: str) -> None:
        """One of the settings that stay until another of the group comes."""
        self.modal[group] = value
        self.chosen = tuple(sorted(self.modal.items()))

    def where(self) -> Hashable:
        return self.at["X"], self.at["Y"], self.at["Z"], self.filament

    def state(self) -> Hashable:
        return self.motion, self.feed, self.power, self.chosen

    def end_state(self) -> Hashable:
        return self.at["Z"], self.chosen

    def step(self, line: str, number: int) -> bool:
        """Run one line; False if it is not understood."""
        bare, comments = _uncommented(line)
        if bare is None:
            return False
        for comment in comments:
            self.heed(comment)
        bare = bare.strip().upper()
        named = bare[:1] == "O" and bare[1:].strip().isdigit() and self.run.first < 0
        if _BACK.search(bare) or (bare[:1] == "O" and not named):
            self.run.flow = self.run.flow or number
            return False
        if _TALK.match(bare):
            self.fix(line, number, "nothing")
            return True
        if bare in ("", "%") or named:
            if bare == "%" and self.run.first >= 0:
                self.fix(line, number, "nothing")
            else:
                self.run.texts[line.encode()] += 1
            return True
        if re.fullmatch(r"/ *M0?[01789]", bare):  # left out, if the machine is told so
            self.fix(line, number)
            return True
        words = _words(bare)
        if words is None:
            return False
        letters = [letter for letter, _ in words]
        if any(number is None for letter, number in words if letter in "GM"):
            return False
        codes = [f"{a}{_plain(b)}" for a, b in words if a in "GM"]
        if len(codes) == 1 and codes[0] in _STAYS:
            self.fix(line, number, "nothing" if codes[0] in _ANYWHERE else "place")
            return True
        if letters.count("N") > 1 or "N" in letters[1:]:
            return False
        if len(set(letters) - set("GM")) != sum(letter not in "GM" for letter in letters):
            return False  # a word twice
        values = {a: b for a, b in words if a not in "GM"}
        return self.does(line, number, codes, values)

    def does(self, line: str, number: int, codes: list[str], values: dict[str, Decimal | None]) -> bool:
        """One line of words, each of which is known or not."""
        lost = [code for code in codes if code in ("G28", "G29", "G30", "G53")]
        early = not any(piece.paths for piece in self.run.pieces)
        if early and len(codes) == 1 and codes[0] in _FIRST:
            if codes[0] == "G32" and set(values) & set("XYZFKE"):
                return False
            if codes[0] != "G10" or set(values) - {"N"}:  # alone it draws filament back
                lost = codes
        if lost:  # behind it the axes are where only the machine knows
            others = [
                code for code in codes if code != lost[0] and not (lost == ["G53"] and code in ("G0", "G1"))
            ]
            groups = [_MODAL.get(code) for code in others if code not in ("G43", "G64", "G20", "G21")]
            if len(set(groups) - {None}) < len(others):
                return False
            if set(values) & set("FST") and lost[0] not in _FIRST | {"G29"}:
                return False
            self.fix(line, number)
            self.begun = True
            for code in codes:
                if code in _MODAL:
                    self.choose(_MODAL[code], code)
                self.motion = _MOVES.get(code, self.motion)
            for axis in [a for a in "XYZ" if a in values] or "XYZ":
                self.at[axis] = None
            return True
        if None in values.values():
            return False
        if len(codes) == 1 and codes[0] == "G92":
            return self.counts(line, number, values)
        if len(codes) == 1 and codes[0] in ("G10", "G11") and not set(values) - {"N"}:
            self.work(line, number, (codes[0], line), None)
            return True
        dwell = codes == ["G4"]
        allowed = set("NPXS") if dwell else set("NXYZEFST")
        if "G43" in codes:
            allowed.add("H")
        if "G64" in codes:
            allowed |= set("PQ")
        if set(codes) & {"G15", "G50", "G69", "G70", "G71"}:
            if set(values) - {"N"}:
                return False  # another command, on some controls
            metric, imperial = {"G21", "G71"} & set(codes), {"G20", "G70"} & set(codes)
            if metric and imperial:
                return False
            codes = [code for code in codes if code not in metric | imperial]
            codes += ["G21"] * bool(metric) + ["G20"] * bool(imperial)
        moves = [_MOVES[code] for code in codes if code in _MOVES]
        motion = moves[0] if moves else self.motion
        axes = [a for a in "XYZ" if a in values]
        if motion in (2, 3):
            axes += [a for a in "IJK" if a in values]  # alone they are a full circle
            allowed |= set("IJKR")
        turns = bool(set(values) & set("ABC")) and motion == 0 and early  # once, in front of all cuts
        if turns:
            allowed |= set("ABC")
        if len(moves) > 1 or set(values) - allowed:
            return False
        change = "M6" in codes
        if change:
            codes.remove("M6")
        groups = [_MODAL.get(code) for code in codes if code not in _MOVES and not dwell]
        if None in groups or len(set(groups)) < len(groups):
            return False
        if dwell:
            self.work(line, number, ("dwell", line), None)
            return True
        before, self.motion = self.state(), motion
        for code in codes:
            if code in _MOVES:
                continue
            group = _MODAL[code]
            if group == "units":
                printer = self.run.prints or "filament" in self.modal  # which begins in millimetres
                fresh = not self.begun or (printer and code == "G21")
                if self.modal.get("units", code if fresh else "") != code:
                    return False
            given = [f"{a}{values.get(a)}" for a in {"G43": "H", "G64": "PQ"}.get(code, "")]
            self.choose(group, " ".join([code, *given]))
        if "F" in values:
            self.feed = values["F"]
        if "S" in values:
            self.power = values["S"]
        if "T" in values:
            self.choose("tool", str(values["T"]))
        if turns and not change and "T" not in values:
            self.goes(values)
            self.fix(line, number, "all")
            return True
        if axes or "E" in values:
            return not (change or "T" in values) and self.moves(line, number, values)
        if change or "T" in values:
            self.fix(line, number)
        else:
            self.run.texts[line.encode()] += 1
            if before == self.state():  # says what holds already: no way up of the last cut, if none follows
                self.idle = self.idle or number - 1
        return True

    def ends(self, number: int) -> None:
        """Note that the way up of the last cut is over: before this line, or those that changed nothing."""
        self.run.tail = self.run.tail or self.idle or number - 1

    def heed(self, comment: str) -> None:
        """Comments say what a slicer prints, and how wide a tool is."""
        if re.match(r";\s*(?:TYPE|LAYER)\b", comment, re.IGNORECASE):
            self.choose("type", comment.strip())
        for width in _WIDTH.findall(comment):
            self.run.width = max(self.run.width, float(width))

    def fix(self, line: str, number: int, asks: str = "place") -> None:
        """Note a line that keeps its place, and what it finds: nothing that matters, the place, or all."""
        found = {"nothing": None, "place": self.where(), "all": (self.where(), self.state())}[asks]
        self.run.fixed.append((line, found, self.end_state()))
        self.epoch += 1
        self.piece, self.lead = None, None
        self.ends(number)
        self.run.texts[line.encode()] += 1

    def counts(self, line: str, number: int, values: dict[str, Decimal | None]) -> bool:
        """Another number for the place where the machine is."""
        if set(values) - set("NXYZE"):
            return False
        if set(values) - set("NE") and any(piece.paths for piece in self.run.pieces):
            return False  # places and heights before and behind it could not be compared
        if "E" in values:
            self.filament = values["E"]
            self.counted += not set(values) - set("NE")
        if set(values) - set("NE"):
            self.fix(line, number)
        elif "E" not in values:
            return False
        for axis in "XYZ":
            self.at[axis] = values.get(axis, self.at[axis])
        return True

    def moves(self, line: str, number: int, values: dict[str, Decimal | None]) -> bool:
        """A move of axes, rapid or not."""
        if self.motion is None:
            return False
        relative = self.modal.get("distance") == "G91"
        begin = dict(self.at)
        self.goes(values)
        below, above = begin["Z"], self.at["Z"]
        rises = below is not None and above is not None and above > below and not self.air
        there = (begin["X"], begin["Y"]) == (self.at["X"], self.at["Y"])
        lifts = self.motion == 0 and rises and there  # straight up from a cut
        if "Z" in values and self.at["Z"] is not None:
            self.run.heights.add(self.at["Z"])
            self.air = self.motion == 0 and (begin["Z"] is None or self.at["Z"] >= begin["Z"])
        fed = self.feeds(values.get("E"), relative)
        if fed is None:
            self.fix(line, number, "all")
            return True
        round = self.motion in (2, 3) and bool(set(values) & set("IJK"))
        plane = ("X" in values or "Y" in values or round) and not lifts
        if self.motion == 0 and plane and not fed:
            self.travels(line, number, begin)
            return True
        if self.motion == 0 and not fed:
            low, high = begin["Z"], self.at["Z"]
            if low is None or high is None or high < low:
                self.downs(begin, number)
                self.work(line, number, ("down", low, high, line), None)
            else:
                self.idle = 0
                self.run.texts[line.encode()] += 1
            return True
        if None in (self.at["X"], self.at["Y"], begin["X"], begin["Y"]):
            self.fix(line, number, "all")
            return True
        if plane:
            self.run.prints |= bool(fed)
            self.run.flat = True
            self.run.lit &= self.modal["spindle"] != "M5" and self.power != 0
        path = None
        if plane or "Z" in values:
            path = self.path(begin, values)
            if path is None:
                return False
        text = line if not fed else re.sub(r"(?i)E\s*[-+.0-9]+", "E", line, count=1)
        laid = fed if self.modal.get("filament") != "M83" else Decimal(0)
        self.work(line if not laid else "", number, (self.motion, tuple(begin.values()),
                  tuple(self.at.values()), text, fed, self.drawn), path)  # fmt: skip
        if not plane and "Z" not in values:
            self.drawn += fed
        return True

    def goes(self, values: dict[str, Decimal | None]) -> None:
        """Be at another place."""
        relative, self.begun = self.modal.get("distance") == "G91", True
        for axis in "XYZ":
            value = values.get(axis)
            if value is not None:
                base = self.at[axis] if relative else Decimal(0)
                self.at[axis] = None if base is None else base + value

    def feeds(self, value: Decimal | None, relative: bool) -> Decimal | None:
        """How much filament a line feeds; None if nobody knows."""
        if value is None:
            return Decimal(0)
        if self.modal.get("filament") == "M83":
            return value
        if relative or self.filament is None:  # firmware differs in what G91 means for it
            self.filament = None if relative else value
            return None
        fed = value - self.filament
        self.filament = value
        return fed

    def travels(self, line: str, number: int, begin: dict[str, Decimal | None]) -> None:
        """A rapid move in the plane."""
        run = self.run
        run.first = number - 1 if run.first < 0 else run.first
        self.piece = None
        self.ends(number)
        heights = [float(z) for z in (begin["Z"], self.at["Z"]) if z is not None]
        dark = self.modal["spindle"] == "M5" or self.power == 0
        run.rapids.append(_Rapid((*begin.values(), *self.at.values()), min(heights, default=math.nan),
                                 len(run.pieces), number, dark, self.line(begin)))  # fmt: skip
        self.lead = (self.at["Z"], self.chosen, None if dark else self.power,
                     _uncommented(line)[1:])  # fmt: skip
        run.targets[tuple(self.at.values())] += 1

    def downs(self, begin: dict[str, Decimal | None], number: int) -> None:
        """A rapid move down."""
        if self.at["Z"] is not None and None not in (begin["X"], begin["Y"]):
            behind = len(self.run.pieces) - (self.piece is not None)
            self.run.downs.append(
                _Rapid(None, float(self.at["Z"]), behind, number, True, self.line(begin)[:1])
            )

    def line(self, begin: dict[str, Decimal | None]) -> NDArray[np.float64]:
        """A straight way in the plane."""
        return np.array([[float(place[axis] or 0) for axis in "XY"] for place in (begin, self.at)])

    def work(self, line: str, number: int, what: Hashable, path: _Path | None) -> None:
        """Note a cut, a dwell, or a rapid move down."""
        if self.piece is None:
            self.counted = 0
            self.piece = _Piece(number, self.lead, epoch=self.epoch)
            self.run.pieces.append(self.piece)
        self.run.tail = self.idle = 0
        if line:
            self.run.texts[line.encode()] += 1
        piece = self.piece
        state: Hashable = (self.feed, self.power, self.chosen)
        if isinstance(what, tuple) and isinstance(what[0], str):  # a dwell or a rapid move: nothing is cut
            state = (self.power if self.modal["spindle"] != "M5" else None, self.chosen)
        place = self.at["X"], self.at["Y"]
        piece.cuts.append((what, place, state, number - piece.line - self.counted))
        if path is not None:
            points, low, high = path
            piece.paths.append(points)
            piece.depths.append((low, high))
            piece.air.append(self.air)
            if len(points) > 1:
                piece.regime.add((self.feed, self.power))

    def path(self, begin: dict[str, Decimal | None], values: dict[str, Decimal | None]) -> _Path | None:
        """The points of a move in the plane and the heights between which it runs; None if it has none."""
        a = [float(begin[axis] or 0) for axis in "XYZ"]
        b = [float(self.at[axis] or 0) for axis in "XYZ"]
        points = [a, b]
        if self.motion in (2, 3):
            found = self.arc(a, b, values)
            if found is None:
                return None
            points = found
        heights = [p[2] for p in points]
        low, high = min(heights), max(heights)
        if all(p[:2] == a[:2] for p in points):
            return np.array([a[:2]]), low, low
        return np.array(points)[:, :2], low, high

    def arc(
        self, a: list[float], b: list[float], values: dict[str, Decimal | None]
    ) -> list[list[float]] | None:
        """Points along an arc or a helix."""
        first, second, third = {"G18": (2, 0, 1), "G19": (1, 2, 0)}.get(
            self.modal.get("plane", ""), (0, 1, 2)
        )
        clockwise = self.motion == 2
        given = {
            letter: float(value) for letter, value in values.items() if value is not None and letter in "IJKR"
        }
        names = "IJK"
        if "R" in given:
            centre = _centre(a[first], a[second], b[first], b[second], given["R"], clockwise)
            if centre is None:
                return None
            u, v = centre
        else:
            absolute = self.modal.get("centres") == "G90.1"
            base = (0.0, 0.0) if absolute else (a[first], a[second])
            u, v = base[0] + given.get(names[first], 0.0), base[1] + given.get(names[second], 0.0)
        radius = math.hypot(a[first] - u, a[second] - v)
        begin = math.atan2(a[second] - v, a[first] - u)
        end = math.atan2(b[second] - v, b[first] - u)
        turn = (begin - end if clockwise else end - begin) % (2 * math.pi)
        if (a[first] == b[first] and a[second] == b[second]) or turn < 1e-9:
            turn = 2 * math.pi
        step = 2 * math.acos(max(1 - _SAG / radius, 0.0)) if radius > _SAG else math.pi
        count = min(max(math.ceil(turn / max(step, 1e-9)), 8), 4096)
        points = [a]
        for k in range(1, count):
            angle = begin + (-turn if clockwise else turn) * k / count
            point = [0.0, 0.0, 0.0]
            point[first], point[second] = u + radius * math.cos(angle), v + radius * math.sin(angle)
            point[third] = a[third] + (b[third] - a[third]) * k / count
            points.append(point)
        return [*points, b]


_Path = tuple[NDArray[np.float64], float, float]


def _centre(
    x: float, y: float, to_x: float, to_y: float, radius: float, clockwise: bool
) -> tuple[float, float] | None:
    """The centre of an arc of which the radius is given: negative for the longer one."""
    half = math.hypot(to_x - x, to_y - y) / 2
    if half == 0:
        return None
    away = math.sqrt(max(radius**2 - half**2, 0.0)) * (-1 if clockwise == (radius > 0) else 1)
    return (x + to_x) / 2 - away * (to_y - y) / (2 * half), (y + to_y) / 2 + away * (to_x - x) / (2 * half)


def _uncommented(line: str) -> tuple[str | None, tuple[str, ...]]:
    """A line without its comments, and these; None if one has no end."""
    if "(" not in line and ";" not in line:
        return line, ()
    bare, comments, at = [], [], 0
    while at < len(line):
        if line[at] == ";":
            comments.append(line[at:])
            break
        if line[at] == "(":
            end = line.find(")", at)
            if end < 0:
                return None, ()
            comments.append(line[at : end + 1])
            at = end + 1
            continue
        bare.append(line[at])
        at += 1
    return "".join(bare), tuple(comments)


@lru_cache(maxsize=1 << 16)  # programs say the same again and again
def _words(bare: str) -> list[tuple[str, Decimal | None]] | None:
    """Letters and their numbers; None if there is anything else."""
    found: list[tuple[str, Decimal | None]] = []
    at = 0
    while at < len(bare):
        match = _TOKEN.match(bare, at)
        if match is None:
            return None
        found.append((match[1], None if match[2] is None else Decimal(match[2])))
        at = match.end()
    return found


def _plain(value: Decimal | None) -> str:
    """The number of a code: 1 for 01, 90.1 for 90.1."""
    return f"{float(value or 0):g}"
