"""Lines of G-code: what each does, in which state it finds the machine, and in which it leaves it.

The words that are understood are a short list. At the first line with another one reading ends: nobody knows
where the machine is then, so that all that follows keeps its place.
"""

import re
from collections.abc import Hashable
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from warptsp._checks import short
from warptsp.errors import ParseError

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)"
WORD = re.compile(rf"([A-Za-z])\s*({_NUMBER})")
_LONGEST = 40  # signs of a number that machines may know
_WORDS = re.compile(rf"\s*(?:[A-Za-z]\s*(?:{_NUMBER})?\s*)+", re.ASCII)
_BARE_WORD = re.compile(rf"([A-Za-z])\s*({_NUMBER})?")
_WIDTH = re.compile(
    r"(?i)\b(?:d|dia|diam|diameter)\.?\s*[-:=]?\s*(\d+\.?\d*|\.\d+)(?![\d./])(?:\s*(mm\b|in\b|inch|\"))?"
)
_PLAIN = re.compile(r"(?i)\bd\s*\d")  # may be the number of an offset: it tells of no narrow tool
_USUAL_WIDTH = 6.35  # mm, of a tool that no comment tells
_INCH = 25.4  # mm
_KIND = re.compile(r";\s*(?:TYPE|LAYER)\b", re.IGNORECASE)  # of slicers: walls, infill, layers
# What may lead to another line, also where no blank is in front of it; N is a name, but in front of a line.
_LOOPS = re.compile(
    r"(?i)[#\[\]*$=]|(?<![A-Z])(?:(?:M\s*0*(?:47|9[6-9])|G\s*0*6[567])(?!\d)|GOTO|REPEAT)"
    r"|(?<![A-Z])(?:CALL|IF|RPT|WHILE)(?![A-Z])|(?<=[^\sA-Z/])\s*N ?\d"
)
_TALK = re.compile(r"(?i)M ?(11[578]|486|862\.[1-6])\b")  # what follows is a text
# Settings that stay: each belongs to a group of which one is in force, and cuts must find it as it was.
_SETTINGS = {
    **dict.fromkeys(("G17", "G18", "G19"), "plane"),
    **dict.fromkeys(("G20", "G21"), "units"),
    **dict.fromkeys(("G90", "G91"), "distance"),
    **dict.fromkeys(("G90.1", "G91.1"), "arc centres"),
    **dict.fromkeys(("G93", "G94", "G95"), "feed mode"),
    **dict.fromkeys(("G54", "G55", "G56", "G57", "G58", "G59"), "offset"),
    **dict.fromkeys(("G43", "G49"), "tool length"),
    **dict.fromkeys(("G61", "G61.1", "G64"), "path mode"),
    **dict.fromkeys(("G98", "G99"), "return"),
    **dict.fromkeys(("M3", "M4", "M5"), "spindle"),
    **dict.fromkeys(("M7", "M8", "M9"), "coolant"),
    **dict.fromkeys(("M82", "M83"), "extrusion"),
    "G40": "compensation",
    "G80": "cycle",
    "G15": "polar coordinates",
    "G50": "scaling",
    "G69": "rotation",
    "G97": "spindle mode",
}
_SAME = {"G70": "G20", "G71": "G21"}
_ALONE = {"G15", "G50", "G69", *_SAME}  # with words they are other commands on some controls
_BEGIN = {"spindle": "M5", "coolant": "M9"}  # as every control does
_MOTIONS = {"G0": 0, "G1": 1, "G2": 2, "G3": 3}
_HOMES = ("G28", "G29", "G30", "G53")  # behind them axes are where only the machine knows
_WITH = {"G43": "H", "G64": "PQ"}
# What may stand in front of the first cut: offsets, levelling, overrides. Behind it no place is known.
_BEGINNINGS = ("G10", "G32", "G34", "G52", "M48", "M49")
_OPTIONAL = {"M0", "M1", "M7", "M8", "M9"}  # behind a slash, that the machine may be told to leave out
# Commands that no axis moves for, with any words: they keep their place, and do not ask where the tool is.
_ANYWHERE = {
    2, 17, 18, 30, 31, 36, 73, 75, 76, 77, 78, 80, 81, 84, 85, 92,
    *range(104, 112), 113, 114, 115, 116, 117, 118, 119, 122, 140, 141, 143, 144, 145, 149, 150, 155, 190,
    191, 200, 201, 202, 203, 204, 205, 207, 208, 209, 211, 217, 220, 221, 250, 256,
    *range(300, 310), 350, 351, 355, 400, 404, 405, 406, 407, 408, 412, 413, 420, 425, 486, 493, 500, 501,
    502, 503, 504, 566, 567, 568, 569, 570, 571, 572, 573, 575, 591, 592, 593, 710, 851, 862.1, 862.2,
    862.3, 862.4, 862.5, 862.6, 876, 900, 905, 906, 907, 908, 911, 912, 913, 914, 919,
}  # fmt: skip
# These, too, but they do: somebody stands beside the machine, or an output does something there.
_THERE = {0, 1, 10, 11, 42, 60, 62, 63, 64, 65, 280, 281, 282}


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
    arc: tuple[float, float, float | None] | None = None  # centre, from where it begins or as it is; radius
    absolute: bool = False  # the centre as it is
    plane: str = ""
    points: list[tuple[float, float, float]] = field(default_factory=list)  # along it, once somebody asks


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


class _Unknown(Exception):  # noqa: N818
    """A line with a word that is not understood."""


def _as_written(number: str) -> Decimal:
    """A number that keeps its point: without one, some controls count thousandths."""
    return Decimal(number + "0" * number.endswith("."))


def bare_text(text: str) -> str | None:
    """A line without its comments, in one pass; None if one has no end."""
    if "(" not in text and ";" not in text:
        return text
    pieces: list[str] = []
    at = 0
    while True:
        begin = min((place for place in (text.find("(", at), text.find(";", at)) if place >= 0), default=-1)
        if begin < 0:
            return "".join([*pieces, text[at:]])
        pieces.append(text[at:begin])
        if text[begin] == ";":
            return "".join(pieces)
        at = text.find(")", begin) + 1
        if at == 0:
            return None


def read_lines(texts: list[str], file: str) -> Program:
    """Read lines up to the first that is not understood.

    Raises `ParseError` if some line may lead back to any other.
    """
    reader = _Reader()
    program = Program([], [])
    for number, text in enumerate(texts, start=1):
        try:
            program.lines.append(reader.line(text.rstrip("\r"), text))
        except _Unknown as error:
            program.why, program.line, program.rest = str(error), number, texts[number - 1 :]
            break
    for number, text in enumerate(program.rest, start=program.line):
        bare = bare_text(text)
        bare = (text if bare is None else bare).strip()
        if not _TALK.match(bare) and (_LOOPS.search(bare) or bare[:1] in ("O", "o")):
            raise ParseError(f"{short(bare)!r} has expressions, checksums or subprograms: lines may run in "
                             "another order than they stand in", file=file, line=number)  # fmt: skip
    program.prints, program.heights = reader.prints, len(reader.heights) + reader.unknown
    mm, inch = (1 / _INCH, 1.0) if reader.settings.get("units") == "G20" else (1.0, _INCH)
    widths = [float(width) * {"": 1.0, "mm": mm}.get(unit.lower(), inch) for width, unit in reader.widths]
    least = 0.0 if reader.told or reader.prints else _USUAL_WIDTH * mm
    program.width = max([least, *widths])
    program.highest = float(max(reader.heights, default=0))
    return program


class _Reader:
    """The machine while lines are read."""

    def __init__(self) -> None:
        self.settings: dict[str, str] = dict(_BEGIN)
        self.fixed = 0
        self.drawn = Decimal(0)
        self.state = State(hard=self.hard())
        self.widths: list[tuple[str, str]] = []  # of tools, each with its unit if a comment tells it
        self.prints = False
        self.heights: set[Decimal] = set()
        self.unknown = 0  # how many there are beside these: relative ones, from where nobody knows
        self.begun = self.cut = self.up = self.told = False

    def hard(self) -> Hashable:
        return (*sorted(self.settings.items()), self.fixed, self.drawn)

    def line(self, text: str, whole: str) -> Line:
        before = self.state
        bare = bare_text(text)
        if bare is None:
            raise _Unknown(f"{short(text.strip())!r} has a comment without an end")
        kind = False
        if len(bare) < len(text):
            self.widths += _WIDTH.findall(text)
            self.told = self.told or bool(_WIDTH.search(_PLAIN.sub("", text)))
            place = text.find(";")
            if place >= 0 and _KIND.match(text, place):
                self.settings["type"], kind = text[place:].strip(), True
                self.state = self.state._replace(hard=self.hard())
        bare = bare.strip()
        if not bare or (bare == "%" and not self.begun):
            return Line(whole, before, self.state, comment=not kind)
        if bare[0] in "Oo" and bare[1:].strip().isdigit() and not self.begun:
            return Line(whole, before, self.state)
        found = self.words(bare, Line(whole, before, before))
        if found.fixed:
            self.fixed += 1
            self.state = self.state._replace(hard=self.hard())
        found.after = self.state
        return found

    def words(self, bare: str, line: Line) -> Line:
        talk = _TALK.match(bare)
        if bare == "%" or talk:
            line.fixed = True
            return line
        if bare[0] == "/" and bare[1:].strip().upper().replace("M0", "M", 1) in _OPTIONAL:
            line.fixed, line.asks = True, 1
            return line
        if _LOOPS.search(bare) or bare[0] in "Oo" or not _WORDS.fullmatch(bare):
            raise _Unknown(f"{short(bare)!r} is no line of G-code: letters with numbers are needed")
        pairs = [(letter.upper(), value) for letter, value in _BARE_WORD.findall(bare)]
        codes: list[str] = []
        values: dict[str, str] = {}
        for place, (letter, value) in enumerate(pairs):
            if len(value) > _LONGEST:
                raise _Unknown(f"{short(bare)!r} has a number out of all bounds")
            if letter in "GM":
                if not value:
                    raise _Unknown(f"{short(bare)!r} is no line of G-code: letters with numbers are needed")
                codes.append(f"{letter}{float(value):g}")
            elif letter in values or (letter == "N" and place > 0):
                raise _Unknown(f"{short(bare)!r} has a word {letter} that is not followed")
            else:
                values[letter] = value
        line.codes, line.letters = tuple(codes), "".join(values)
        if len(codes) == 1 and codes[0][0] == "M" and float(codes[0][1:]) in _ANYWHERE | _THERE:
            line.fixed, line.asks = True, int(float(codes[0][1:]) in _THERE)
            line.letters = ""  # the S of M104 is no power
            return line
        try:
            self.understood(bare, codes, values, line)
        except InvalidOperation:
            raise _Unknown(f"{short(bare)!r} is no line of G-code: letters with numbers are needed") from None
        return line

    def understood(self, bare: str, codes: list[str], values: dict[str, str], line: Line) -> None:
        """Take a line of words, all of which must be on the list."""
        home = next((code for code in codes if code in _HOMES), None)
        if len(codes) == 1 and codes[0] in _BEGINNINGS and not self.cut:
            threading = codes[0] == "G32" and values.keys() & set("XYZFKE")
            home = None if threading or (codes[0] == "G10" and not values.keys() - {"N"}) else codes[0]
        if home is not None:
            self.homed(bare, home, codes, values, line)
            return
        if "" in values.values():
            raise _Unknown(f"{short(bare)!r} is no line of G-code: letters with numbers are needed")
        if codes == ["G92"]:
            self.counted(bare, values, line)
            return
        if codes in (["G10"], ["G11"]) and not values.keys() - {"N"}:
            self.set_groups({"firmware retraction": codes[0]})
            line.asks = 2
            return
        if codes == ["G4"] and not values.keys() - set("NPXS"):
            line.asks = 2
            return
        if _ALONE & set(codes):
            if values.keys() - {"N"}:
                raise _Unknown(f"{short(bare)!r}: G15, G50 and G69-G71 are not followed with words")
            codes = list(dict.fromkeys(_SAME.get(code, code) for code in codes))
        moves = [_MOTIONS[code] for code in codes if code in _MOTIONS]
        motion = moves[-1] if moves else self.state.motion
        axes = [axis for axis in "XYZ" if axis in values]
        groups: dict[str, str] = {}
        change = False
        for code in codes:
            if code == "M6":
                change = True
            elif code not in _MOTIONS:
                group = _SETTINGS.get(code)
                if group is None or group in groups:
                    raise _Unknown(f"{code} is not followed")
                groups[group] = " ".join([code, *(f"{a}{values.get(a, '')}" for a in _WITH.get(code, ""))])
        known = set("NXYZEFST").union(*(_WITH[code] for code in codes if code in _WITH))
        if motion == 0 and not self.cut and values.keys() & set("ABC"):  # turned once, in front of all cuts
            known |= set("ABC")
            line.fixed, line.asks = True, 2
        if motion in (2, 3):
            axes += [letter for letter in "IJK" if letter in values]  # alone they are a full circle
            known |= set("IJKR")
        other = next((letter for letter in values if letter not in known), None)
        if other is not None or len(moves) > 1:
            raise _Unknown(f"{short(bare)!r}: word {other or 'G'} is not followed")
        unit = groups.get("units")
        # Printers measure in millimetres from the beginning.
        begins = not self.begun or (unit == "G21" and (self.prints or "extrusion" in self.settings))
        if unit and self.settings.get("units", unit if begins else "") != unit:
            raise _Unknown(f"another unit ({unit}) behind the first move")
        if "T" in values:
            groups["tool"] = values["T"]
        self.state = self.state._replace(motion=motion, feed=values.get("F", self.state.feed),
                                         power=values.get("S", self.state.power))  # fmt: skip
        if groups or "S" in values:
            self.set_groups(groups)
        if change or "T" in values:
            line.fixed, line.asks = True, 1
            if axes or "E" in values:
                raise _Unknown(f"{short(bare)!r} moves and changes the tool")
        if axes or "E" in values:
            if motion is None:
                raise _Unknown(f"{short(bare)!r} moves before G0 or G1 says how")
            self.moved(values, line)

    def set_groups(self, groups: dict[str, str]) -> None:
        """Take settings. Under another offset or tool length the place has other numbers, which nobody knows;
        G90 behind M83 makes filament absolute again on some printers, and M8 leaves M7 on, on most mills.
        """
        if (coolant := groups.get("coolant", "M9")) != "M9":
            others = [code for code in self.settings["coolant"].split() if code not in ("M9", coolant)]
            groups = {**groups, "coolant": " ".join([*others, coolant])}
        if self.settings.get("extrusion") == "M83" and groups.get("distance") == "G90":
            groups = {"extrusion": "", **groups}
        new = {name for name, value in groups.items() if value == "G43 H" or value != self.settings.get(name)}
        lost: dict[str, None] = dict.fromkeys("xyz" if "offset" in new else "z" * ("tool length" in new))
        self.settings |= groups
        lit = self.settings["spindle"] != "M5" and (not self.state.power or float(self.state.power) != 0)
        self.state = self.state._replace(hard=self.hard(), lit=lit, **lost)  # type: ignore[arg-type]

    def homed(self, bare: str, home: str, codes: list[str], values: dict[str, str], line: Line) -> None:
        allowed = {home, *(_SETTINGS.keys() - _WITH.keys())} | ({"G0", "G1"} if home == "G53" else set())
        groups = [_SETTINGS[code] for code in codes if code in _SETTINGS]
        if set(codes) - allowed or len(set(groups)) < len(groups) or "units" in groups:
            raise _Unknown(f"{short(bare)!r}: {home} is not followed with other codes")
        if values.keys() & set("FST") and home not in ("G29", *_BEGINNINGS):
            raise _Unknown(f"{short(bare)!r}: {home} is not followed with F, S and T")
        line.fixed, line.asks, line.letters = True, 1, ""
        self.begun = True
        self.set_groups({_SETTINGS[code]: code for code in codes if code in _SETTINGS})
        named = [axis for axis in "XYZ" if axis in values] or list("XYZ")
        places = {axis.lower(): None for axis in named}
        motion = next((_MOTIONS[code] for code in codes if code in _MOTIONS), self.state.motion)
        self.state = self.state._replace(motion=motion, **places)  # type: ignore[arg-type]

    def counted(self, bare: str, values: dict[str, str], line: Line) -> None:
        """Another number for the place where the machine is (G92)."""
        if values.keys() - set("NXYZE") or not values.keys() - {"N"}:
            raise _Unknown(f"{short(bare)!r}: G92 is followed with X, Y, Z and E")
        counted = "XYZE" if self.settings.get("extrusion", "M82") == "M82" else "XYZ"
        places = {axis.lower(): _as_written(values[axis]) for axis in counted if axis in values}
        line.fixed = bool(values.keys() & set("XYZ"))
        if line.fixed and self.cut:  # places and heights before and behind it could not be compared
            raise _Unknown(f"{short(bare)!r}: a moved origin (G92) behind the first cut is not followed")
        line.asks = int(line.fixed)
        self.state = self.state._replace(**places)  # type: ignore[arg-type]

    def moved(self, values: dict[str, str], line: Line) -> None:
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
        fed = self.extruded(values, relative, line)
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
        if not line.cuts:
            self.drawn += fed
            self.state = self.state._replace(hard=self.hard())
        if line.cuts and state.motion in (2, 3):
            line.plane = self.settings.get("plane", "G17")
            line.absolute = self.settings.get("arc centres") == "G90.1"
            first, second = {"G18": ("K", "I"), "G19": ("J", "K")}.get(line.plane, ("I", "J"))
            radius = float(values["R"]) if "R" in values else None
            if radius is not None and (x, y, z) == (state.x, state.y, state.z):
                raise _Unknown(f"an arc of radius {values['R']} that ends where it begins")
            line.arc = float(values.get(first, 0)), float(values.get(second, 0)), radius

    def extruded(self, values: dict[str, str], relative: bool, line: Line) -> Decimal:
        """How much filament a line feeds.

        Firmware differs in whether G91 makes it relative, too, and G90 absolute: nothing passes a line of
        which that is not known, nor one that counts on from what is not.
        """
        if "E" not in values:
            return Decimal(0)
        amount, mode = Decimal(values["E"]), self.settings.get("extrusion", "M82")
        last, absolute = self.state.e, mode == "M82" and not relative
        self.state = self.state._replace(e=amount if absolute else None)
        if mode == "M83":
            return amount
        if not absolute or last is None:
            line.fixed = True
            return Decimal(0)
        line.fed = amount - last
        return line.fed
