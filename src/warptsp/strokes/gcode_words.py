"""G-code: which words there are, what a line of them says, and which settings stay until others come.

These are the facts that the reader (`files.gcode`) and the verifier (`verify.gcode`) have in common. What a
program does, and in which order it may do that, each of them finds out for itself.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache

from warptsp._checks import short

NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_WORD = re.compile(rf"([A-Za-z])[ \t]*({NUMBER})?[ \t]*")
_LONGEST = 40  # signs of a number that machines may know
_NO_LINE = "is no line of G-code: letters with numbers are needed"
# What may lead to another line, also where no blank is in front of it; N is a name, but in front of a line.
_BACK = re.compile(
    r"(?i)[#\[\]*$=]|(?<![A-Z])(?:(?:M\s*0*(?:47|9[6-9])|G\s*0*6[567])(?!\d)|GOTO|REPEAT)"
    r"|(?<![A-Z])(?:CALL|IF|RPT|WHILE)(?![A-Z])|(?<=[^\sA-Z/])\s*N ?\d|G\s*0*2[57](?!\d).*L"
)
# Jumps and calls of some controls look like comments.
_IN_BRACKETS = re.compile(r"(?i)\((?:.*\b(?:GOTO|RPT)\s*N\s*\d|\s*[MP]?CALL\s*\d)")
_NAME = re.compile(r"[Oo][ \t]*[0-9]+")  # of a program
_TALK = re.compile(r"(?i)M ?(11[578]|486|862\.[1-6])\b")  # what follows is a text
_OPTIONAL = re.compile(r"/[ \t]*[Mm]0?[01789]")  # the machine may be told to leave it out
_KIND = re.compile(r";\s*(?:TYPE|LAYER)\b", re.IGNORECASE)  # of slicers: walls, infill, layers
_LENGTH = (  # 1-1/2", 1/4, 12.7mm
    r"((?:[0-9]+[ -])?[0-9]+/[0-9]+|[0-9]+[.,]?[0-9]*|\.[0-9]+)(?![0-9./])"
    r"(?:\s*(mm\b|in\b|inch|\"|'')(?!/))?"
)
_WIDTH = re.compile(
    r"(?i)(?<!\w)(dia|diam|diameter|diam[eè]tre|di[aá]metro|durchmesser|[dø⌀])(\.?\s*[-:=]?\s*)" + _LENGTH
)
_TOOL = re.compile(r"(?i)\b(?:tools?|bit|T[0-9]+)\b|mill(?!im)|cutter|router|drill|fr[aä]e?s|fraise|fres[ae]")
_OF_TOOL = re.compile(r"(?i)(?<!\w)(?<![0-9][.,/])" + _LENGTH)
_USUAL_WIDTH = 6.35  # mm, of a tool that no comment tells
_INCH = 25.4  # mm

MOTIONS = {"G0": 0, "G1": 1, "G2": 2, "G3": 3}
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
BEGIN = {"spindle": "M5", "coolant": "M9"}  # as every control does
_SAME = {"G70": "G20", "G71": "G21"}
_ALONE = {"G15", "G50", "G69", *_SAME}  # with words they are other commands on some controls
_HOMES = ("G28", "G29", "G30", "G53")  # behind them axes are where only the machine knows
_WITH = {"G43": "H", "G64": "PQ"}
# What may stand in front of the first cut: offsets, levelling, overrides. Behind it no place is known.
_BEGINNINGS = ("G10", "G32", "G34", "G52", "M48", "M49")
# Commands that no axis moves for, with any words: they keep their place, and do not ask where the tool is.
_STILL = {f"M{number}" for number in (
    2, 17, 18, 30, 31, 36, 73, 75, 76, 77, 78, 80, 81, 84, 85, 92,
    *range(104, 112), 113, 114, 115, 116, 117, 118, 119, 122, 140, 141, 143, 144, 145, 149, 150, 155, 190,
    191, 200, 201, 202, 203, 204, 205, 207, 208, 209, 211, 217, 220, 221, 250, 256,
    *range(300, 310), 350, 351, 355, 400, 404, 405, 406, 407, 408, 412, 413, 420, 425, 486, 493, 500, 501,
    502, 503, 504, 566, 567, 568, 569, 570, 571, 572, 573, 575, 591, 592, 593, 710, 851, 862.1, 862.2,
    862.3, 862.4, 862.5, 862.6, 876, 900, 905, 906, 907, 908, 911, 912, 913, 914, 919,
)}  # fmt: skip
# These, too, but they do: somebody stands beside the machine, or an output does something there.
_HERE = {f"M{number}" for number in (0, 1, 10, 11, 42, 60, 62, 63, 64, 65, 280, 281, 282)}
_STOPS = ("M0", "M1", "M60")


class Unknown(Exception):  # noqa: N818
    """A line with a word that is not understood."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a line says.

    `kind` is one of: `nothing`; `still`, a command that no axis moves for, wherever the tool is, and `here`,
    one that acts where it is; `home`, behind which only the machine knows where `axes` are; `count` (G92),
    other numbers for the place where the machine is; `retract` (G10, G11); `dwell`; and `words`, any others.
    """

    kind: str
    codes: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)  # words but G and M, with numbers as written
    settings: Mapping[str, str] = field(default_factory=dict)  # which are chosen, by group
    motion: int | None = None  # G0 to G3, or that which was in force
    axes: str = ""  # which move
    turns: bool = False  # A, B or C, in front of all cuts
    changes: bool = False  # the tool
    stops: bool = False  # for somebody or for a tool: most controls stop spindle and coolant, too


def uncommented(line: str) -> tuple[str | None, list[str]]:
    """A line without its comments, in one pass, and these; None if one has no end."""
    if "(" not in line and ";" not in line:
        return line, []
    pieces: list[str] = []
    comments: list[str] = []
    at = 0
    while True:
        begin = min((place for place in (line.find("(", at), line.find(";", at)) if place >= 0), default=-1)
        if begin < 0:
            return "".join([*pieces, line[at:]]), comments
        pieces.append(line[at:begin])
        at = line.find(")", begin) + 1 if line[begin] == "(" else len(line)
        if at == 0:
            return None, comments
        comments.append(line[begin:at])


def leads_back(line: str) -> str:
    """Words of a line that may lead to any other: expressions, subprograms, checksums; or else nothing."""
    bare, comments = uncommented(line)
    bare = (line if bare is None else bare).strip()
    back = _BACK.search(bare) or bare[:1] in ("O", "o")
    jump = next((comment for comment in comments if _IN_BRACKETS.match(comment)), "")
    return bare if back and not _TALK.match(bare) else jump


def printed(comments: Iterable[str]) -> str:
    """What a slicer says that it prints from here on."""
    return next((comment.strip() for comment in comments if _KIND.match(comment)), "")


def tool_width(comments: Iterable[str], inches: bool, prints: bool) -> float:
    """That of the widest tool in the unit of the program, or what it may be where no comment tells it.

    In a comment on a tool without a diameter it may be any length, or the first number with a point.
    """
    mm, inch = (1 / _INCH, 1.0) if inches else (1.0, _INCH)
    told, widths = prints, [0.0]
    for comment in comments:
        found = _WIDTH.findall(comment)
        sure = any(len(word) > 1 or sign.strip() for word, sign, *_ in found)  # (D1) may number an offset
        told = told or sure
        lengths = [(size, unit) for *_, size, unit in found]
        if not sure and not prints and _TOOL.search(comment):
            beside = _OF_TOOL.findall(comment)
            lengths += [(size, unit) for size, unit in beside if unit or "/" in size]
            lengths += [(size, unit) for size, unit in beside if "." in size][:1]
        for size, unit in lengths:
            scale = mm if unit.lower() == "mm" else inch if unit or "/" in size else 1.0
            *whole, part = re.split("[ -]", size.replace(",", "."))
            over, _, under = part.partition("/")
            widths.append((sum(map(float, whole)) + float(over) / (float(under or 1) or math.inf)) * scale)
    return max(*widths, 0.0 if told else _USUAL_WIDTH * mm)


@lru_cache(maxsize=1 << 16)  # programs say the same again and again
def statement(bare: str, motion: int | None, begun: bool, cut: bool) -> Statement:
    """What a line without comments says, under a motion, and whether anything has moved, or was cut, before.

    Raises `Unknown` if it has a word that is not understood.
    """
    bare = bare.strip()
    if not bare or (not begun and (bare == "%" or _NAME.fullmatch(bare))):
        return Statement("nothing")
    if bare == "%" or _TALK.match(bare):
        return Statement("still")
    if _OPTIONAL.fullmatch(bare):
        return Statement("here", stops=True)
    codes, values = _words(bare)
    if len(codes) == 1 and codes[0] in _STILL | _HERE:  # the S of M104 is no power
        return Statement("here" if codes[0] in _HERE else "still", stops=codes[0] in _STOPS)
    return _said(bare, codes, values, motion, cut)


def _words(bare: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Codes, and letters with their numbers."""
    codes: list[str] = []
    values: dict[str, str] = {}
    at = 0
    while at < len(bare):
        word = _WORD.match(bare, at)
        if word is None or (word[1] in "GMgm" and not word[2]):
            raise Unknown(f"{short(bare)!r} {_NO_LINE}")
        letter, value = word[1].upper(), word[2] or ""
        if len(value) > _LONGEST:
            raise Unknown(f"{short(bare)!r} has a number out of all bounds")
        if letter in "GM":
            codes.append(f"{letter}{float(value):g}")
        elif letter in values or (letter == "N" and at > 0):
            raise Unknown(f"{short(bare)!r} has a word {letter} that is not followed")
        else:
            values[letter] = value
        at = word.end()
    return tuple(codes), values


def _said(
    bare: str, codes: tuple[str, ...], values: dict[str, str], motion: int | None, cut: bool
) -> Statement:
    """What words say, all of which must be on the lists."""
    letters = values.keys() - {"N"}
    home = next((code for code in codes if code in _HOMES), None)
    if len(codes) == 1 and codes[0] in _BEGINNINGS and not cut:
        threading = codes[0] == "G32" and letters & set("XYZFKE")
        home = None if threading or (codes[0] == "G10" and not letters) else codes[0]
    if home is not None:
        return _homed(bare, home, codes, values, motion)
    if "" in values.values():
        raise Unknown(f"{short(bare)!r} {_NO_LINE}")
    if codes == ("G92",):
        if letters - set("XYZE") or not letters:
            raise Unknown(f"{short(bare)!r}: G92 is followed with X, Y, Z and E")
        if cut and letters & set("XYZ"):  # places and heights before and behind it could not be compared
            raise Unknown(f"{short(bare)!r}: a moved origin (G92) behind the first cut is not followed")
        return Statement("count", codes, values, motion=motion)
    if codes in (("G10",), ("G11",)) and not letters:
        return Statement("retract", codes, values, motion=motion)
    if codes == ("G4",) and not letters - set("PXS"):
        return Statement("dwell", codes, values, motion=motion)
    if _ALONE & set(codes) and letters:
        raise Unknown(f"{short(bare)!r}: G15, G50 and G69-G71 are not followed with words")
    moves = [MOTIONS[code] for code in codes if code in MOTIONS]
    motion = moves[-1] if moves else motion
    settings: dict[str, str] = {}
    for code in dict.fromkeys(
        _SAME.get(code, code) for code in codes if code not in MOTIONS and code != "M6"
    ):
        group = _SETTINGS.get(code)
        if group is None or group in settings:
            raise Unknown(f"{code} is not followed")
        settings[group] = " ".join([code, *(f"{a}{values.get(a, '')}" for a in _WITH.get(code, ""))])
    arc, turns = motion in (2, 3), motion == 0 and not cut and bool(letters & set("ABC"))
    axes = "".join(a for a in ("XYZIJK" if arc else "XYZ") if a in letters)  # I alone is a full circle
    known = set("XYZEFST" + "IJKR" * arc + "ABC" * turns).union(*(_WITH.get(code, "") for code in codes))
    other = next((letter for letter in values if letter in letters - known), None)
    if other is not None or len(moves) > 1:
        raise Unknown(f"{short(bare)!r}: word {other or 'G'} is not followed")
    if "T" in values:
        settings["tool"] = values["T"]
    changes = "M6" in codes or "T" in values
    if axes or "E" in values:
        if changes:
            raise Unknown(f"{short(bare)!r} moves and changes the tool")
        if motion is None:
            raise Unknown(f"{short(bare)!r} moves before G0 or G1 says how")
    return Statement("words", codes, values, settings, motion, axes, turns, changes, stops=changes)


def _homed(
    bare: str, home: str, codes: tuple[str, ...], values: dict[str, str], motion: int | None
) -> Statement:
    """What takes axes where only the machine knows says besides."""
    others = [code for code in codes if code != home and not (home == "G53" and code in ("G0", "G1"))]
    settings = {_SETTINGS[code]: code for code in others if code in _SETTINGS and code not in _WITH}
    if len(settings) < len(others) or "units" in settings:
        raise Unknown(f"{short(bare)!r}: {home} is not followed with other codes")
    if values.keys() & set("FST") and home not in ("G29", *_BEGINNINGS):
        raise Unknown(f"{short(bare)!r}: {home} is not followed with F, S and T")
    motion = next((MOTIONS[code] for code in codes if code in MOTIONS), motion)
    axes = "".join(axis for axis in "XYZ" if axis in values) or "XYZ"
    return Statement("home", codes, values, settings, motion, axes)


def chosen(
    settings: Mapping[str, str], said: Statement, begun: bool, prints: bool
) -> tuple[dict[str, str], str]:
    """The settings behind a line, and the axes whose places nobody knows then: their numbers mean others, or
    the tool was changed (M6), for which some machines go elsewhere.

    Printers measure in millimetres from the beginning; on some of them G90 behind M83 makes filament absolute
    again. On most mills M8 leaves M7 on. Behind a stop or another tool nobody knows whether spindle and
    coolant are on, until a line says so. Raises `Unknown` for another unit behind the first move.
    """
    if said.stops:
        doubted = {code.rstrip("?") + "?" for code in settings["coolant"].split()}
        spindle = settings["spindle"].rstrip("?")
        spindle += "?" * (spindle != "M5")
        settings = {**settings, "spindle": spindle, "coolant": " ".join(sorted(doubted))}
    new = dict(said.settings)
    unit = new.get("units", "")
    fresh = not begun or (unit == "G21" and (prints or "extrusion" in settings))
    if unit and settings.get("units", unit if fresh else "") != unit:
        raise Unknown(f"another unit ({unit}) behind the first move")
    if new.get("coolant", "M9") != "M9":
        on = {*settings["coolant"].split(), new["coolant"]} - {"M9", new["coolant"] + "?"}
        new["coolant"] = " ".join(sorted(on))
    if settings.get("extrusion") == "M83" and new.get("distance") == "G90":
        new = {"extrusion": "", **new}
    other = {name for name, value in new.items() if value == "G43 H" or value != settings.get(name)}
    lost = "XY" * ("M6" in said.codes or "offset" in other) + "Z" * bool({"offset", "tool length"} & other)
    return {**settings, **new}, lost


def filament(
    given: Decimal, count: Decimal | None, settings: Mapping[str, str]
) -> tuple[Decimal | None, Decimal | None]:
    """How much a line with E feeds, and the count behind it where that is absolute; None if nobody knows.

    Firmware differs in whether G91 makes filament relative, too, and G90 absolute.
    """
    mode = settings.get("extrusion", "M82")
    if mode == "M83":
        return given, None
    if mode != "M82" or settings.get("distance") == "G91":
        return None, None
    return None if count is None else given - count, given
