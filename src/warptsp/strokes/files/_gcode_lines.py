"""Lines of G-code: what each does, in which state it finds the machine, and in which it leaves it.

The words that are understood are a short list. At the first line with another one reading ends: nobody knows
where the machine is then, so that all that follows keeps its place.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from warptsp._checks import short
from warptsp.errors import ParseError
from warptsp.strokes.gcode_arcs import Point, points_of_arc
from warptsp.strokes.gcode_words import (
    BEGIN,
    Statement,
    Unknown,
    chosen,
    filament,
    leads_back,
    printed,
    statement,
    tool_width,
    uncommented,
)


class State(NamedTuple):
    """The machine between two lines. `hard` is what a block must find as it was written."""

    x: Decimal | None = None
    y: Decimal | None = None
    z: Decimal | None = None
    e: Decimal | None = None  # filament, where extrusion is absolute
    feed: str = ""
    power: str = ""
    motion: int | None = None
    hard: Hashable = ()
    lit: bool = False


@dataclass(slots=True)
class Line:
    """A line, the states before and behind it, and what it does.

    `asks` is what it finds the machine in: 0 for nothing, 1 for its place, 2 for its whole state.
    """

    text: str
    before: State
    after: State
    letters: str = ""
    codes: tuple[str, ...] = ()
    comment: bool = False  # nothing but that
    fixed: bool = False
    asks: int = 0
    moves: bool = False  # in the plane
    cuts: bool = False
    air: bool = False  # whether a rapid move up was the last in height before it
    relative: bool = False
    fed: Decimal | None = None  # how much filament, where its count is absolute
    points: list[Point] = field(default_factory=list)  # along a cut


@dataclass(slots=True)
class Program:
    """The lines of a program, up to the first that is not understood, and what they say on the whole."""

    lines: list[Line]
    rest: list[str]
    why: str = ""  # what is not understood, and its line
    line: int = 0
    width: float = 0.0  # of the widest tool, as comments say, or else as is usual
    prints: bool = False
    heights: int = 0  # how many there are
    highest: float = 0.0


def _as_written(number: str) -> Decimal:
    """A number that keeps its point: without one, some controls count thousandths."""
    return Decimal(number + "0" * number.endswith("."))


def read_lines(texts: list[str], file: str) -> Program:
    """Read lines up to the first that is not understood.

    Raises `ParseError` if some line may lead back to any other.
    """
    reader = _Reader()
    program = Program([], [])
    for number, text in enumerate(texts, start=1):
        try:
            program.lines.append(reader.line(text.rstrip("\r"), text))
        except Unknown as error:
            program.why, program.line, program.rest = str(error), number, texts[number - 1 :]
            break
    for number, text in enumerate(program.rest, start=program.line):
        if bare := leads_back(text):
            raise ParseError(f"{short(bare)!r} has expressions, checksums or subprograms: lines may run in "
                             "another order than they stand in", file=file, line=number)  # fmt: skip
    program.prints, program.heights = reader.prints, len(reader.heights) + reader.unknown
    inches = reader.settings.get("units") == "G20"
    program.width = tool_width(reader.comments, inches, reader.prints)
    program.highest = float(max(reader.heights, default=0))
    return program


class _Reader:
    """The machine while lines are read."""

    def __init__(self) -> None:
        self.settings: dict[str, str] = dict(BEGIN)
        self.fixed = 0
        self.drawn = Decimal(0)
        self.state = State(hard=self.hard())
        self.comments: list[str] = []
        self.prints = False
        self.heights: set[Decimal] = set()
        self.unknown = 0  # how many there are beside these: relative ones, from where nobody knows
        self.begun = self.cut = self.up = False

    def hard(self) -> Hashable:
        return (*sorted(self.settings.items()), self.fixed, self.drawn)

    def line(self, text: str, whole: str) -> Line:
        before = self.state
        bare, comments = uncommented(text)
        if bare is None:
            raise Unknown(f"{short(text.strip())!r} has a comment without an end")
        if any(map(leads_back, comments)):
            raise Unknown("a jump")
        self.comments += comments
        kind = printed(comments)
        if kind:
            self.settings["type"] = kind
            self.state = self.state._replace(hard=self.hard())
        said = statement(bare, self.state.motion, self.begun, self.cut)
        line = Line(whole, before, self.state, "".join(said.values), said.codes)
        if said.kind == "nothing":
            line.comment = not kind
            return line
        self.does(said, line)
        if line.fixed:
            self.fixed += 1
            self.state = self.state._replace(hard=self.hard())
        line.after = self.state
        return line

    def does(self, said: Statement, line: Line) -> None:
        match said.kind:
            case "still" | "here":
                line.fixed, line.asks = True, int(said.kind == "here")
                self.choose(said)
            case "home":
                line.fixed, line.asks, line.letters = True, 1, ""
                self.begun = True
                self.choose(said)
                places: dict[str, None] = dict.fromkeys(said.axes.lower())
                self.state = self.state._replace(motion=said.motion, **places)  # type: ignore[arg-type]
            case "count":
                self.counted(said.values, line)
            case "retract":
                self.settings["firmware retraction"] = said.codes[0]
                self.state = self.state._replace(hard=self.hard())
                line.asks = 2
            case "dwell":
                line.asks = 2
            case _:
                feed, power = said.values.get("F", self.state.feed), said.values.get("S", self.state.power)
                self.state = self.state._replace(motion=said.motion, feed=feed, power=power)
                if said.settings or said.changes or "S" in said.values:
                    self.choose(said)
                if said.turns or said.changes:
                    line.fixed, line.asks = True, 1 + said.turns
                if said.axes or "E" in said.values:
                    self.moved(said.values, line)

    def choose(self, said: Statement) -> None:
        self.settings, lost = chosen(self.settings, said, self.begun, self.prints)
        lit = self.settings["spindle"] != "M5" and (not self.state.power or float(self.state.power) != 0)
        places: dict[str, None] = dict.fromkeys(lost.lower())
        self.state = self.state._replace(hard=self.hard(), lit=lit, **places)  # type: ignore[arg-type]

    def counted(self, values: Mapping[str, str], line: Line) -> None:
        """Another number for the place where the machine is (G92)."""
        counted = "XYZE" if self.settings.get("extrusion", "M82") == "M82" else "XYZ"
        places = {axis.lower(): _as_written(values[axis]) for axis in counted if axis in values}
        line.fixed = bool(values.keys() & set("XYZ"))
        line.asks = int(line.fixed)
        self.state = self.state._replace(**places)  # type: ignore[arg-type]

    def moved(self, values: Mapping[str, str], line: Line) -> None:
        state = self.state
        relative = self.settings.get("distance") == "G91"
        places: list[Decimal | None] = [state.x, state.y, state.z]
        for number, axis in enumerate("XYZ"):
            if axis in values:
                base = places[number] if relative else Decimal(0)
                places[number] = None if base is None else base + _as_written(values[axis])
        x, y, z = places
        rises = z is not None and state.z is not None and z > state.z
        lifts = rises and not self.up and (x, y) == (state.x, state.y)
        if "Z" in values and z is not None:
            self.heights.add(z)
            self.up = state.motion == 0 and (state.z is None or z >= state.z)
        line.relative, line.moves = relative, "X" in values or "Y" in values
        if state.motion in (2, 3):
            line.moves = line.moves or bool(values.keys() & set("IJK"))
        elif state.motion == 0 and lifts:
            line.moves = False  # straight up from a cut, though it names X and Y
        if "Z" in values and z is None:
            line.fixed = True
            self.unknown += 1
        self.begun = True
        fed = self.extruded(values, line)
        self.state = self.state._replace(x=x, y=y, z=z)
        if line.fixed or (state.motion == 0 and not fed):
            down = "Z" in values and (state.z is None or z is None or z < state.z)
            line.asks = 2 if line.fixed or (down and not line.moves) else 0
            return
        line.asks = 2
        if None in (x, y, state.x, state.y):
            line.fixed = True
            return
        self.cut = self.cut or line.moves or "Z" in values
        line.cuts, line.air = line.moves or "Z" in values, self.up
        self.prints |= bool(fed) and line.moves
        if line.cuts:
            line.points = self.points(values, state)
        else:
            self.drawn += fed
            self.state = self.state._replace(hard=self.hard())

    def points(self, values: Mapping[str, str], begin: State) -> list[Point]:
        """The points along a cut."""
        a, b = (
            (float(place.x or 0), float(place.y or 0), float(place.z or 0)) for place in (begin, self.state)
        )
        if begin.motion not in (2, 3):
            return [a, b]
        return points_of_arc(a, b, values, begin.motion == 2, self.settings.get("plane", "G17"),
                             self.settings.get("arc centres") == "G90.1")  # fmt: skip

    def extruded(self, values: Mapping[str, str], line: Line) -> Decimal:
        """How much filament a line feeds: nothing passes one of which that is not known."""
        if "E" not in values:
            return Decimal(0)
        fed, count = filament(Decimal(values["E"]), self.state.e, self.settings)
        self.state = self.state._replace(e=count)
        line.fixed = line.fixed or fed is None
        line.fed = None if count is None else fed
        return fed or Decimal(0)
