"""G-code: a machine that runs a program line by line, and notes what it does and in which state.

It knows few words. At the first line with another one it stops: all that follows must be the same bytes.
"""

import math
import re
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from warptsp.strokes.verify import _gcode_text as gcode
from warptsp.strokes.verify._gcode_arcs import points_of_arc
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
    widths: list[tuple[float, str]] = field(default_factory=list)  # of tools, as comments say, and units
    told: bool = False  # whether they surely say it
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
            for later, text in enumerate(lines[number:], start=number + 1):
                without = gcode.uncommented(text)[0]
                bare = (text if without is None else without).strip().upper()
                back = gcode.BACK.search(bare) and not gcode.TALK.match(bare)
                run.flow = run.flow or (later if back else 0)
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
        self.run = Run()
        self.at: dict[str, Decimal | None] = dict.fromkeys("XYZ")
        self.filament: Decimal | None = None
        self.motion: int | None = None
        self.modal: dict[str, str] = {}
        self.chosen: Hashable = ()
        self.choose("spindle", "M5")  # as every control begins
        self.choose("coolant", "M9")
        self.feed: Decimal | None = None
        self.power: Decimal | None = None
        self.drawn = Decimal(0)  # filament that is drawn back
        self.piece: Piece | None = None
        self.epoch = 0
        self.lead: Hashable = None
        self.air = False  # whether a rapid move up was the last in height
        self.begun = False  # whether anything has moved
        self.idle = 0  # the line behind the last work from which on lines have changed nothing
        self.speeds: tuple[Decimal | None, Decimal | None] = None, None  # at the last rapid move, and cut
        self.turned = ""  # the last line behind it under which the spindle was on, at a third speed
        self.counted = 0  # lines of a piece that only say how much filament there was (G92 E)

    def choose(self, group: str, value: str) -> None:
        """One of the settings that stay until another of the group comes.

        Another offset or tool length gives other numbers to the place, and G90 may end M83.
        """
        if group == "offset" and self.modal.get(group) != value:
            self.at = dict.fromkeys(self.at)
        if group == "length" and (self.modal.get(group) != value or value == "G43 HNone"):
            self.at["Z"] = None
        if value == "G90" and self.modal.get("filament") == "M83":
            self.modal["filament"] = "nobody knows"
        if value in ("M7", "M8"):  # one need not end the other
            value = self.modal["coolant"].replace("M9", "").replace(value, "") + value
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
        bare, comments = gcode.uncommented(line)
        if bare is None:
            return False
        for comment in comments:
            self.heed(comment)
        bare = bare.strip().upper()
        named = bare[:1] == "O" and bare[1:].strip().isdigit() and self.run.first < 0
        if gcode.BACK.search(bare) or (bare[:1] == "O" and not named):
            self.run.flow = self.run.flow or number
            return False
        if gcode.TALK.match(bare):
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
        words = gcode.words_of(bare)
        if words is None:
            return False
        letters = [letter for letter, _ in words]
        if any(number is None for letter, number in words if letter in "GM"):
            return False
        codes = [f"{a}{gcode.plain(b)}" for a, b in words if a in "GM"]
        if len(codes) == 1 and codes[0] in gcode.STAYS:
            self.fix(line, number, "nothing" if codes[0] in gcode.ANYWHERE else "place")
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
        if early and len(codes) == 1 and codes[0] in gcode.FIRST:
            if codes[0] == "G32" and set(values) & set("XYZFKE"):
                return False
            if codes[0] != "G10" or set(values) - {"N"}:  # alone it draws filament back
                lost = codes
        if lost:  # behind it the axes are where only the machine knows
            others = [
                code for code in codes if code != lost[0] and not (lost == ["G53"] and code in ("G0", "G1"))
            ]
            groups = [gcode.MODAL.get(code) for code in others if code not in ("G43", "G64", "G20", "G21")]
            if len(set(groups) - {None}) < len(others):
                return False
            if set(values) & set("FST") and lost[0] not in gcode.FIRST | {"G29"}:
                return False
            self.fix(line, number)
            self.begun = True
            for code in codes:
                if code in gcode.MODAL:
                    self.choose(gcode.MODAL[code], code)
                self.motion = gcode.MOVES.get(code, self.motion)
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
        allowed |= set("H" * ("G43" in codes) + "PQ" * ("G64" in codes))
        if set(codes) & {"G15", "G50", "G69", "G70", "G71"}:
            if set(values) - {"N"}:
                return False  # another command, on some controls
            metric, imperial = {"G21", "G71"} & set(codes), {"G20", "G70"} & set(codes)
            if metric and imperial:
                return False
            codes = [code for code in codes if code not in metric | imperial]
            codes += ["G21"] * bool(metric) + ["G20"] * bool(imperial)
        moves = [gcode.MOVES[code] for code in codes if code in gcode.MOVES]
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
        codes = [code for code in codes if code != "M6"]
        groups = [gcode.MODAL.get(code) for code in codes if code not in gcode.MOVES and not dwell]
        if None in groups or len(set(groups)) < len(groups):
            return False
        if dwell:
            self.work(line, number, ("dwell", line), None)
            return True
        before, self.motion = self.state(), motion
        for code in codes:
            if code in gcode.MOVES:
                continue
            group = gcode.MODAL[code]
            if group == "units":
                printer = self.run.prints or "filament" in self.modal  # which begins in millimetres
                fresh = not self.begun or (printer and code == "G21")
                if self.modal.get("units", code if fresh else "") != code:
                    return False
                self.run.inches = code == "G20"
            given = [f"{a}{values.get(a)}" for a in {"G43": "H", "G64": "PQ"}.get(code, "")]
            self.choose(group, " ".join([code, *given]))
        self.feed, self.power = values.get("F", self.feed), values.get("S", self.power)
        behind = self.piece is not None and self.piece.paths and not axes
        if behind and self.modal["spindle"] != "M5" and self.power not in (0, *self.speeds):
            self.turned = line
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
        for word, sign, width, unit in gcode.WIDTH.findall(comment):
            self.run.widths.append((float(width), unit.lower()))
            self.run.told |= len(word) > 1 or bool(sign.strip())  # (D1) may be the number of an offset

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
        lost = "Z" in values and self.at["Z"] is None
        self.run.unknown += lost
        if fed is None or lost:
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
        pace = None
        down = below is not None and above is not None and above < below
        if path is not None and self.feed and (down or len(path[0]) > 1):
            kind = down, self.epoch, self.chosen
            self.run.slowest[kind] = min(self.feed, self.run.slowest.get(kind, self.feed))
            pace = kind, self.feed
        text = line if not fed else re.sub(r"(?i)E\s*[-+.0-9]+", "E", line, count=1)
        laid = fed if self.modal.get("filament") != "M83" else Decimal(0)
        self.work(line if not laid else "", number, (self.motion, tuple(begin.values()),
                  tuple(self.at.values()), text, fed, self.drawn), path, pace)  # fmt: skip
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
        mode, begin = self.modal.get("filament", "M82"), self.filament
        known = mode == "M82" and not relative  # firmware differs in what G91 and G90 mean for it
        self.filament = value if known else None
        if mode == "M83":
            return value
        return value - begin if known and begin is not None else None

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
                     gcode.uncommented(line)[1:])  # fmt: skip
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
            self.speeds, self.turned = (self.speeds[0], self.power), ""
            points, low, high = path
            piece.paths.append(points)
            piece.depths.append((low, high))
            piece.air.append(self.air)
            piece.paces.append(pace)
            if len(points) > 1:
                piece.regime.add((self.feed, self.power))

    def path(self, begin: dict[str, Decimal | None], values: dict[str, Decimal | None]) -> _Path | None:
        """The points of a move in the plane and the heights between which it runs; None if it has none."""
        a = [float(begin[axis] or 0) for axis in "XYZ"]
        b = [float(self.at[axis] or 0) for axis in "XYZ"]
        points = [a, b]
        if self.motion in (2, 3):
            found = points_of_arc(a, b, values, self.motion == 2, self.modal.get("plane", ""),
                                  self.modal.get("centres") == "G90.1")  # fmt: skip
            if found is None:
                return None
            points = found
        heights = [p[2] for p in points]
        low, high = min(heights), max(heights)
        if all(p[:2] == a[:2] for p in points):
            return np.array([a[:2]]), low, low
        return np.array(points)[:, :2], low, high
