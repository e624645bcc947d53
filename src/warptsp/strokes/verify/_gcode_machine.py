"""G-code: a machine that runs a program line by line, and notes what it does and in which state.

It knows few words. At the first line with another one it stops: all that follows must be the same bytes.
"""

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from warptsp.strokes import gcode_words as gcode
from warptsp.strokes.gcode_arcs import Point, points_of_arc
from warptsp.strokes.verify.work import Points

_Path = tuple[Points, float, float]


@dataclass(slots=True)
class Piece:
    """Cuts between two rapid moves."""

    line: int
    lead: Hashable  # the state in which the rapid move before it came
    cuts: list[Hashable] = field(default_factory=list)
    paths: list[Points] = field(default_factory=list)
    depths: list[tuple[float, float]] = field(default_factory=list)
    air: list[bool] = field(default_factory=list)  # whether a rapid move up went before it
    paces: list[tuple[Hashable, Decimal] | None] = field(default_factory=list)  # how fast, and of what kind
    regime: set[Hashable] = field(default_factory=set)
    epoch: int = 0

    @property
    def key(self) -> Hashable:
        return self.lead, tuple(self.cuts), self.epoch


@dataclass(slots=True)
class Rapid:
    """A rapid move in the plane, and how many pieces there are before it."""

    ends: Hashable
    height: float  # at its lowest, NaN where that is not known
    behind: int
    line: int
    dark: bool  # whether beam or spindle is off
    path: Points


@dataclass(slots=True)
class Run:
    """What a program did."""

    pieces: list[Piece] = field(default_factory=list)
    rapids: list[Rapid] = field(default_factory=list)
    fixed: list[Hashable] = field(default_factory=list)  # what keeps its place, in order
    heights: set[Decimal] = field(default_factory=set)
    slowest: dict[Hashable, Decimal] = field(default_factory=dict)  # feed rate of each kind of cuts
    unknown: int = 0  # moves to heights that nobody knows
    downs: list[Rapid] = field(default_factory=list)  # rapid moves down, at one place
    prints: bool = False
    lit: bool = True  # whether every cut in the plane has beam or spindle on
    flat: bool = False  # whether there are any
    comments: list[str] = field(default_factory=list)
    inches: bool = False
    first: int = -1  # the line of the first rapid move in the plane
    tail: int = 0  # the line behind the last work from which on nothing may change
    flow: int = 0  # a line that may lead back to other lines; 0 for none
    targets: Counter[Hashable] = field(default_factory=Counter)  # of rapid moves
    texts: Counter[bytes] = field(default_factory=Counter)  # of lines that are no rapid moves


def run_program(data: bytes) -> Run:
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
            run.flow = next((later for later, text in enumerate(lines[number - 1 :], start=number)
                             if gcode.leads_back(text)), 0)  # fmt: skip
            break
    else:
        machine.ends(len(lines) + (lines[-1] != ""))
        machine.run.fixed.append(("the end", machine.end_state()))
    machine.run.inches = machine.modal.get("units") == "G20"
    if machine.run.first < 0:
        machine.run.first = machine.run.tail
    return machine.run


class _Machine:
    """Where the tool is and in which state, while a program runs."""

    def __init__(self) -> None:
        self.run = Run()
        self.at: dict[str, Decimal | None] = dict.fromkeys("XYZ")
        self.filament: Decimal | None = None
        self.motion: int | None = None
        self.modal = dict(gcode.BEGIN)
        self.chosen: Hashable = tuple(sorted(gcode.BEGIN.items()))
        self.feed: Decimal | None = None
        self.power: Decimal | None = None
        self.drawn = Decimal(0)  # filament that is drawn back
        self.piece: Piece | None = None
        self.epoch = 0
        self.lead: Hashable = None
        self.air = False  # whether a rapid move up was the last in height
        self.begun = False  # whether anything has moved
        self.cut = False  # or was cut
        self.idle = 0  # the line behind the last work from which on lines have changed nothing
        self.speeds: tuple[Decimal | None, Decimal | None] = None, None  # at the last rapid move, and cut
        self.turned = ""  # the last line behind it under which the spindle was on, at a third speed
        self.counted = 0  # lines of a piece that only say how much filament there was (G92 E)

    def choose(self, said: gcode.Statement) -> None:
        """Settings that stay until another of their group comes."""
        self.modal, lost = gcode.chosen(self.modal, said, self.begun, self.run.prints)
        self.at |= dict.fromkeys(lost)
        self.chosen = tuple(sorted(self.modal.items()))

    def where(self) -> Hashable:
        return self.at["X"], self.at["Y"], self.at["Z"], self.filament

    def state(self) -> Hashable:
        return self.motion, self.feed, self.power, self.chosen

    def end_state(self) -> Hashable:
        return self.at["Z"], self.chosen

    def step(self, line: str, number: int) -> bool:
        """Run one line; False if it is not understood."""
        bare, comments = gcode.uncommented(line)
        if bare is None or any(map(gcode.leads_back, comments)):
            return False
        self.run.comments += comments
        if kind := gcode.printed(comments):
            self.modal["type"] = kind
            self.chosen = tuple(sorted(self.modal.items()))
        try:
            said = gcode.statement(bare, self.motion, self.begun, self.cut)
            self.does(line, number, said)
        except gcode.Unknown:
            return False
        return True

    def does(self, line: str, number: int, said: gcode.Statement) -> None:
        """What one line says."""
        match said.kind:
            case "nothing":
                self.run.texts[line.encode()] += 1
            case "still":
                self.fix(line, number, "nothing")
            case "here":
                self.fix(line, number)
                self.choose(said)
            case "home":
                self.fix(line, number)
                self.begun, self.motion = True, said.motion
                self.choose(said)
                self.at |= dict.fromkeys(said.axes)
            case "count":
                self.counts(line, number, said.values)
            case "retract":
                self.work(line, number, (said.codes[0], line), None)
            case "dwell":
                self.work(line, number, ("dwell", line), None)
            case _:
                self.words(line, number, said)

    def words(self, line: str, number: int, said: gcode.Statement) -> None:
        """Settings, feed rate and power, and a move under them."""
        before, self.motion = self.state(), said.motion
        if said.changes:
            self.fix(line, number)
        if said.settings or said.changes:
            self.choose(said)
        self.feed, self.power = (
            Decimal(said.values[a]) if a in said.values else old
            for a, old in (("F", self.feed), ("S", self.power))
        )
        behind = self.piece is not None and self.piece.paths and not said.axes
        if behind and self.modal["spindle"] != "M5" and self.power not in (0, *self.speeds):
            self.turned = line
        if said.turns:
            self.goes(said.values)
            self.fix(line, number, "all")
        elif said.axes or "E" in said.values:
            self.moves(line, number, said)
        elif not said.changes:
            self.run.texts[line.encode()] += 1
            if before == self.state():  # says what holds already: no way up of the last cut, if none follows
                self.idle = self.idle or number - 1

    def ends(self, number: int) -> None:
        """Note that the way up of the last cut is over: before this line, or those that changed nothing."""
        self.run.tail = self.run.tail or self.idle or number - 1

    def fix(self, line: str, number: int, asks: str = "place") -> None:
        """Note a line that keeps its place, and what it finds: nothing that matters, the place, or all."""
        found = {"nothing": None, "place": self.where(), "all": (self.where(), self.state())}[asks]
        self.run.fixed.append((line, found, self.end_state()))
        self.epoch += 1
        self.piece, self.lead = None, None
        self.ends(number)
        self.run.texts[line.encode()] += 1

    def counts(self, line: str, number: int, values: Mapping[str, str]) -> None:
        """Another number for the place where the machine is."""
        if "E" in values:
            self.filament = Decimal(values["E"])
            self.counted += not set(values) - set("NE")
        if set(values) - set("NE"):
            self.fix(line, number)
        self.at |= {axis: Decimal(values[axis]) for axis in "XYZ" if axis in values}

    def moves(self, line: str, number: int, said: gcode.Statement) -> None:
        """A move of axes, rapid or not."""
        begin, values = dict(self.at), said.values
        self.goes(values)
        below, above = begin["Z"], self.at["Z"]
        rises = below is not None and above is not None and above > below and not self.air
        there = (begin["X"], begin["Y"]) == (self.at["X"], self.at["Y"])
        lifts = self.motion == 0 and rises and there  # straight up from a cut
        if "Z" in values and self.at["Z"] is not None:
            self.run.heights.add(self.at["Z"])
            self.air = self.motion == 0 and (begin["Z"] is None or self.at["Z"] >= begin["Z"])
        fed: Decimal | None = Decimal(0)
        if "E" in values:
            fed, self.filament = gcode.filament(Decimal(values["E"]), self.filament, self.modal)
        lost = "Z" in values and self.at["Z"] is None
        self.run.unknown += lost
        if fed is None or lost:
            self.fix(line, number, "all")
            return
        round = self.motion in (2, 3) and bool(set(values) & set("IJK"))
        plane = ("X" in values or "Y" in values or round) and not lifts
        if self.motion == 0 and plane and not fed:
            self.travels(line, number, begin)
            return
        if self.motion == 0 and not fed:
            low, high = begin["Z"], self.at["Z"]
            if low is None or high is None or high < low:
                self.downs(begin, number)
                self.work(line, number, ("down", low, high, line), None)
            else:
                self.idle = 0
                self.run.texts[line.encode()] += 1
            return
        if None in (self.at["X"], self.at["Y"], begin["X"], begin["Y"]):
            self.fix(line, number, "all")
            return
        if plane:
            self.run.prints |= bool(fed)
            self.run.flat = True
            self.run.lit &= self.modal["spindle"] != "M5" and self.power != 0
        path = self.path(begin, values) if plane or "Z" in values else None
        pace = None
        down = below is not None and above is not None and above < below
        if path is not None and self.feed and (down or len(path[0]) > 1):
            kind = down, self.epoch, self.chosen
            self.run.slowest[kind] = min(self.feed, self.run.slowest.get(kind, self.feed))
            pace = kind, self.feed
        # Without what may be given anew: the feed rate, and the count of filament.
        given = {"F"} if self.modal.get("extrusion") == "M83" else {"F", "E"}
        comments = gcode.uncommented(line)[1]
        words = said.codes, *((a, b) for a, b in values.items() if a not in given), *comments
        self.work("", number, (self.motion, tuple(begin.values()), tuple(self.at.values()), words, fed,
                  self.drawn), path, pace)  # fmt: skip
        if not plane and "Z" not in values:
            self.drawn += fed

    def goes(self, values: Mapping[str, str]) -> None:
        """Be at another place."""
        relative, self.begun = self.modal.get("distance") == "G91", True
        for axis in "XYZ":
            if axis in values:
                base = self.at[axis] if relative else Decimal(0)
                self.at[axis] = None if base is None else base + Decimal(values[axis])

    def travels(self, line: str, number: int, begin: dict[str, Decimal | None]) -> None:
        """A rapid move in the plane."""
        if self.turned:
            self.run.fixed.append((self.turned, None, self.end_state()))
            self.epoch, self.turned = self.epoch + 1, ""
        self.speeds = self.power, self.power
        run = self.run
        run.first = number - 1 if run.first < 0 else run.first
        self.piece = None
        self.ends(number)
        heights = [float(z) for z in (begin["Z"], self.at["Z"]) if z is not None]
        dark = self.modal["spindle"] == "M5" or self.power == 0
        run.rapids.append(Rapid((*begin.values(), *self.at.values()), min(heights, default=math.nan),
                                 len(run.pieces), number, dark, self.line(begin)))  # fmt: skip
        self.lead = (self.at["Z"], self.chosen, None if dark else self.power,
                     tuple(gcode.uncommented(line)[1]))  # fmt: skip
        run.targets[tuple(self.at.values())] += 1

    def downs(self, begin: dict[str, Decimal | None], number: int) -> None:
        """A rapid move down."""
        if self.at["Z"] is not None and None not in (begin["X"], begin["Y"]):
            behind = len(self.run.pieces) - (self.piece is not None)
            ends, height = tuple(self.at.values()), float(self.at["Z"])
            self.run.downs.append(Rapid(ends, height, behind, number, True, self.line(begin)[:1]))

    def line(self, begin: dict[str, Decimal | None]) -> Points:
        """A straight way in the plane."""
        return np.array([[float(place[axis] or 0) for axis in "XY"] for place in (begin, self.at)])

    def work(self, line: str, number: int, what: Hashable, path: _Path | None,
             pace: tuple[Hashable, Decimal] | None = None) -> None:  # fmt: skip
        """Note a cut, a dwell, or a rapid move down."""
        if self.piece is None:
            self.counted = 0
            self.piece = Piece(number, self.lead, epoch=self.epoch)
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
            self.cut = True
            self.speeds, self.turned = (self.speeds[0], self.power), ""
            points, low, high = path
            piece.paths.append(points)
            piece.depths.append((low, high))
            piece.air.append(self.air)
            piece.paces.append(pace)
            if len(points) > 1:
                piece.regime.add((self.feed, self.power))

    def path(self, begin: dict[str, Decimal | None], values: Mapping[str, str]) -> _Path:
        """The points of a move in the plane and the heights between which it runs."""
        a, b = (_point(place) for place in (begin, self.at))
        points = [a, b]
        if self.motion in (2, 3):
            points = points_of_arc(a, b, values, self.motion == 2, self.modal.get("plane", ""),
                                   self.modal.get("arc centres") == "G90.1")  # fmt: skip
        heights = [p[2] for p in points]
        low, high = min(heights), max(heights)
        if all(p[:2] == a[:2] for p in points):
            return np.array([a[:2]]), low, low
        return np.array(points)[:, :2], low, high


def _point(place: dict[str, Decimal | None]) -> Point:
    return float(place["X"] or 0), float(place["Y"] or 0), float(place["Z"] or 0)
