"""G-code: blocks between rapid moves change their order; what a block does stays line for line.

A block is a rapid move in the plane (G0 X Y) and all lines up to the next one: down, cut, up again. Blocks
follow each other in another order only where that changes nothing but the travel: the state in which a block
finds the machine (height, units, plane, tool, spindle, coolant, offsets, retraction) must be that in which it
was written. So blocks are put in order within stretches that share one such state. Feed rate and power that a
block takes over from the one before are written into its rapid move; where extrusion is absolute (M82), its
filament is counted on from where it now begins. A block keeps its direction, since that is climb or
conventional milling, and its power or extrusion belongs to it.

The way of lines that keep their place, such as that to a tool change or to where the program ends, is a
stroke in a group of its own: the travel to it and from it counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import NoReturn

import numpy as np

from warptsp._checks import short
from warptsp.errors import ParseError
from warptsp.strokes.model import Path
from warptsp.strokes.plan import Plan

from .drawing import Drawing, Source, StrokeFormat, number_text

__all__ = ["FORMAT"]

_COMMENT = re.compile(r"\([^)]*\)|;.*")
_E = re.compile(r"(?i)^((?:[^;(E]|\([^)]*\))*E\s*)[-+]?(?:\d+\.?\d*|\.\d+)")
_WORD = re.compile(r"\s*([A-Za-z])\s*([-+]?(?:\d+\.?\d*|\.\d+))?")
_NUMBERED = re.compile(r"[Oo]\s*\d+")  # the number of the program, as its first word
_TALK = re.compile(r"(?i)M11[78]\b")  # text for a display
_BARE = {"G28", "G30", "M17", "M18", "M84"}  # name axes without numbers
_REFUSED = {
    "G41": "cutter compensation (G41)", "G42": "cutter compensation (G42)",
    "G68": "a rotated coordinate system (G68)", "G16": "polar coordinates (G16)",
    "G51": "a scaled coordinate system (G51)", "G52": "a moved origin (G52)",
    "G53": "machine coordinates (G53)",
    **{f"G{n}": f"a motion that is not followed (G{n})" for n in (5, 5.1, 5.2, 33, 38.2, 38.3, 38.4, 38.5)},
    "G65": "a macro (G65)", "G66": "a macro (G66)",
    "M97": "a subprogram (M97)", "M98": "a subprogram (M98)", "M99": "a subprogram (M99)",
    **{f"G{n}": f"a canned cycle (G{n})" for n in (73, 76, 81, 82, 83, 84, 85, 86, 87, 88, 89)},
}  # fmt: skip
_REFUSED_AXES = "ABCUVW"
# State by the words that set it; what is not here belongs to the line, or is a state of its own.
_GROUPS = {
    **dict.fromkeys(("G17", "G18", "G19"), "plane"),
    **dict.fromkeys(("G20", "G21"), "units"),
    **dict.fromkeys(("G90.1", "G91.1"), "arc centres"),
    **dict.fromkeys(("G93", "G94", "G95"), "feed mode"),
    **dict.fromkeys(("G54", "G55", "G56", "G57", "G58", "G59"), "offsets"),
    **dict.fromkeys(("G43", "G49"), "tool length"),
    **dict.fromkeys(("G61", "G64"), "path mode"),
    **dict.fromkeys(("M3", "M4", "M5"), "spindle"),
    **dict.fromkeys(("M7", "M8", "M9"), "coolant"),
    **dict.fromkeys(("M82", "M83"), "extrusion"),
    **dict.fromkeys(("G90", "G91"), "distance"),
    "G11": "firmware retraction",  # and G10 without words of its own
}
_HOMES = ("G28", "G30")
_CUTS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class _State:
    """The machine between two lines. `hard` is what a block must find as it was written."""

    x: float | None = None
    y: float | None = None
    e: Decimal | None = None  # filament, where extrusion is absolute
    cut: bool = False  # whether anything has been
    feed: str = ""
    power: str = ""
    motion: int | None = None
    hard: tuple[tuple[str, str], ...] = ()

    def with_hard(self, name: str, value: str) -> _State:
        found = dict(self.hard)
        found[name] = value
        return replace(self, hard=tuple(sorted(found.items())))

    def get(self, name: str) -> str:
        return dict(self.hard).get(name, "")


@dataclass(slots=True)
class _Line:
    """A line, the states before and behind it, and what it does."""

    text: str
    before: _State
    after: _State
    travels: bool  # a rapid move in the plane, to a place that is known
    cuts: bool  # any other move of X, Y or Z
    fed: Decimal | None = None  # how much filament, where its count is absolute


@dataclass(slots=True)
class _Stretch:
    """Blocks that may change places, behind lines that do not.

    All of them find the machine in the state `hard` and leave it so; None for one block that does not.
    """

    before: list[_Line]
    hard: tuple[tuple[str, str], ...] | None
    blocks: list[list[_Line]] = field(default_factory=list)


def _read(source: Source) -> Drawing:
    text = source.text
    newline = "\r\n" if "\r\n" in text else "\n"
    ended = text.endswith("\n")  # or else the last line gets an end for as long as it may change places
    texts = (text if ended else text + newline).split("\n")[:-1]
    lines = _lines(texts, source.file)
    stretches, tail = _stretches(lines)
    if not stretches:
        raise ParseError("has no rapid moves (G0 X Y) between cuts: there is no travel to shorten",
                         file=source.file)  # fmt: skip
    paths: list[Path] = []
    blocks: list[list[_Line]] = []  # of each stroke: none where it is the way of lines that keep their place
    groups: list[int] = []
    for number, (before, found) in enumerate([*((s.before, s.blocks) for s in stretches), (tail, [])]):
        way = _way(before)
        if number > 0 and len(way):
            paths.append(way)
            blocks.append([])
            groups.append(2 * number - 1)
        paths += [_path(block) for block in found]
        blocks += found
        groups += [2 * number] * len(found)

    def rewrite(plan: Plan) -> bytes:
        drawn: dict[int, list[list[_Line]]] = {}
        for number in plan.order.tolist():
            drawn.setdefault(groups[number], []).append(blocks[number])
        out: list[str] = []
        state = _State()
        for number, stretch in enumerate(stretches):
            out += _kept(stretch.before, moved=number > 0)
            state = stretch.blocks[0][0].before
            for block in drawn[2 * number]:
                texts = [_rapid(block[0], state), *(line.text for line in block[1:])]
                filament = _extruding(block, texts, state.e)
                out += texts
                state = replace(block[-1].after, e=filament)
            out += _restored(stretch.blocks[-1][-1].after, state)
        out += _kept(tail, moved=True)
        if _cuts(_lines(out, source.file)) != _cuts(lines):
            raise ParseError("would cut something else in another order: a line behind a stretch of blocks "
                             "depends on where the last one ends", file=source.file)  # fmt: skip
        whole = "".join(f"{line}\n" for line in out)
        return source.encoded(whole if ended else whole.removesuffix(newline))

    first = stretches[0].blocks[0][0].before
    home = None if first.x is None or first.y is None else np.array([first.x, first.y])
    keep = np.zeros(len(paths), dtype=np.bool_)
    unit = {"G20": "in", "G21": "mm"}.get(first.get("units"), "")
    return Drawing(
        paths=paths, reversible=keep, loops=keep, groups=groups, rewrite=rewrite, home=home, unit=unit
    )


def _kept(lines: list[_Line], *, moved: bool) -> list[str]:
    """Lines that keep their place; the first rapid move behind blocks that moved names both coordinates."""
    texts = [line.text for line in lines]
    travel = next((place for place, line in enumerate(lines) if line.travels), None)
    if moved and travel is not None:
        texts[travel] = _rapid(lines[travel], lines[travel].before)
    return texts


def _cuts(lines: list[_Line]) -> Counter[tuple[object, ...]]:
    """What a program cuts: every move but rapid ones, from where to where, in which state.

    Nothing that would change it is written.
    """
    return Counter(
        (line.before.x, line.before.y, line.before.hard, line.text.strip() if line.fed is None else line.fed,
         line.after.x, line.after.y, line.after.feed, line.after.power, line.after.motion)
        for line in lines
        if line.cuts
    )  # fmt: skip


def _path(block: list[_Line]) -> Path:
    """Where a block begins, the places it goes through, and where it ends."""
    points = [
        (line.after.x, line.after.y)
        for line in block
        if line.after.x is not None and line.after.y is not None
    ]
    kept = [point for point, before in zip(points, [None, *points], strict=False) if point != before]
    return np.array(kept, dtype=np.float64).reshape(-1, 2)


def _way(lines: list[_Line]) -> Path:
    """The places that lines which keep their place go through, from the first on that does not depend on
    where the blocks before them end.
    """
    first = next((place for place, line in enumerate(lines) if line.travels or line.cuts), len(lines))
    way = _path(lines[first:])
    if first < len(lines) and lines[first].cuts:  # from where the last block ends: that keeps its place, too
        begin = lines[first].before
        if begin.x is not None and begin.y is not None:
            way = np.concatenate([[[begin.x, begin.y]], way])
    return way


def _lines(texts: list[str], file: str) -> list[_Line]:
    lines, state = [], _State()
    for number, text in enumerate(texts, start=1):
        line = _line(text, state, file, number)
        lines.append(line)
        state = line.after
    return lines


def _line(text: str, before: _State, file: str, number: int) -> _Line:
    def refuse(message: str) -> NoReturn:
        raise ParseError(message, file=file, line=number)

    state = before
    kind = re.match(r"\s*;\s*(TYPE|LAYER)\b", text, re.IGNORECASE)
    if kind:  # what slicers call walls, infill and layers: one is printed before the other
        state = state.with_hard("type", text.strip())
    bare = _COMMENT.sub("", text).strip()
    if bare == "%" and before != _State():  # the end of the program
        return _Line(text, before, _barrier(before), False, False)
    if bare in ("", "%") or (before == _State() and _NUMBERED.fullmatch(bare)):
        return _Line(text, before, state, False, False)
    if _TALK.match(bare):
        return _Line(text, before, _barrier(before), False, False)
    if any(sign in bare for sign in "#[*$=") or bare[:1] in "Oo":
        refuse(f"{short(bare)!r} has expressions, checksums or subprograms: only plain words such as X1.5 "
               "are followed")  # fmt: skip
    words: dict[str, str] = {}
    place = 0
    motion, axes, codes, others = before.motion, {}, set[str](), set[str]()
    while place < len(bare):
        match = _WORD.match(bare, place)
        if match is None or (match[2] is None and not codes & _BARE):
            refuse(f"{short(bare)!r} is no line of G-code: letters with numbers are needed")
        letter, value = match[1].upper(), match[2] or "0"
        place = match.end()
        if letter in "GM":
            code = f"{letter}{_code(value)}"
            if code in _REFUSED:
                refuse(f"{_REFUSED[code]} makes blocks depend on their order")
            codes.add(code)
            if code in ("G0", "G1", "G2", "G3"):
                motion = int(code[1])
            elif code in _GROUPS:
                if code in ("G20", "G21"):
                    state = _measured(state, code, refuse)
                state = state.with_hard(_GROUPS[code], code)
            elif code not in ("G4", "G80", "G40", "G50", "G69", "G15", "G10", "G92"):
                state = _barrier(state)  # M6, G28 and whatever is unknown
                others.add(letter)
        elif letter in _REFUSED_AXES and not codes & _BARE:
            refuse(f"axis {letter} is not followed: X, Y, Z and E are")
        elif letter == "T":
            state = state.with_hard("tool", value)
        elif letter == "F":
            # Before the first one it is unknown, and nothing could bring that back.
            state = replace(state, feed=value).with_hard("feed", "set")
        elif letter in "XYZE":
            axes[letter] = value
        elif letter not in "NIJKRPHDLQSUVW":
            refuse(f"{short(bare)!r}: word {letter} is not followed")
        words[letter] = value
    if others == {"M"} and not any(code[0] == "G" for code in codes):
        return _Line(text, before, state, False, False)  # M104 S200, M201 X500: words of the command
    if "S" in words and "G4" not in codes:
        state = replace(state, power=words["S"]).with_hard("power", "set")
    if "G10" in codes:
        if words.keys() & set("LPRXYZ"):
            refuse("offsets set by the program (G10) make blocks depend on their order")
        state = state.with_hard("firmware retraction", "G10")
    if codes & set(_HOMES):
        return _Line(text, before, _homed(state, axes), False, False)
    if any(code.startswith("G92") for code in codes):
        if not before.cut or ("G92" in codes and axes.keys() == {"E"}):
            return _Line(text, before, _counted(state, axes), False, False)
        refuse("a moved origin (G92) behind the first cut makes blocks depend on their order")
    moved = any(axis in axes for axis in "XYZ")
    if axes and motion is None:
        refuse(f"{short(bare)!r} moves before G0 or G1 says how")
    relative = state.get("distance") == "G91"
    x, y = _moved(state.x, axes.get("X"), relative), _moved(state.y, axes.get("Y"), relative)
    cuts = motion in _CUTS and moved
    state = replace(state, x=x, y=y, motion=motion, cut=state.cut or cuts)
    if "Z" in axes:
        last = float(state.get("Z")) if state.get("Z") else None
        height = _moved(last, axes["Z"], relative)
        state = state.with_hard("Z", "") if height is None else state.with_hard("Z", number_text(height))
    fed = None
    if "E" in axes:
        state, fed = _extruded(state, Decimal(axes["E"]), moved, relative)
    known = x is not None and y is not None  # on a lathe, whose axes are X and Z, it never is
    travels = motion == 0 and ("X" in axes or "Y" in axes) and not relative and known
    return _Line(text, before, state, travels, cuts, fed)


def _measured(state: _State, code: str, refuse: Callable[[str], NoReturn]) -> _State:
    """Behind a choice of units: places are numbers in one unit only."""
    known = state.get("units")
    moved = state.cut or bool(state.x or state.y)
    if known and known != code and moved:
        refuse(f"another unit ({code}) behind the first move makes blocks depend on their order")
    return state if known or not moved else replace(state, x=None, y=None)


def _moved(at: float | None, value: str | None, relative: bool) -> float | None:
    """Where an axis is then; None where nobody knows."""
    if value is None or (relative and at is None):
        return at
    return at + float(value) if relative and at is not None else float(value)


def _barrier(state: _State) -> _State:
    """The state behind what nothing may pass."""
    return state.with_hard("commands", str(1 + int(state.get("commands") or 0)))


def _homed(state: _State, axes: dict[str, str]) -> _State:
    """Behind a reference position: where the axes that it names are, or all of them, is not known."""
    named = set(axes) or set("XYZ")
    state = replace(state, x=None if "X" in named else state.x, y=None if "Y" in named else state.y)
    return state.with_hard("Z", "") if "Z" in named else state


def _counted(state: _State, axes: dict[str, str]) -> _State:
    """Behind another number for the place where the machine is (G92)."""
    x, y = (float(axes[a]) if a in axes else at for a, at in (("X", state.x), ("Y", state.y)))
    state = replace(state, x=x, y=y)
    if "E" in axes:
        state = replace(state, e=Decimal(axes["E"])).with_hard("filament", "counted")
    return state.with_hard("Z", number_text(float(axes["Z"]))) if "Z" in axes else state


def _extruded(state: _State, amount: Decimal, moved: bool, relative: bool) -> tuple[_State, Decimal | None]:
    """Where the filament is, and how much of it a line feeds where the count is absolute.

    Firmware differs in whether G91 makes it relative, too: nothing passes a line with both.
    """
    fed = None
    if state.get("extrusion") != "M83":
        if relative:
            return _barrier(replace(state, e=None)), None
        fed = amount - (state.e or 0)
        known = state.e is not None
        state = replace(state, e=amount).with_hard("filament", "counted")
        if not known:
            return state, None
        amount = fed
    if not moved:
        back = Decimal(state.get("drawn back") or 0) + amount
        state = state.with_hard("drawn back", f"{back.normalize():f}" if back else "0")
    return state, fed


def _extruding(block: list[_Line], texts: list[str], begun: Decimal | None) -> Decimal | None:
    """Count the filament of a block on from where it begins now; return where it ends."""
    at = begun
    for place, line in enumerate(block):
        if line.fed is not None and at is not None:
            at += line.fed
            if at != line.after.e:
                texts[place] = _E.sub(rf"\g<1>{at:f}", texts[place], count=1)
        elif line.after.e != line.before.e:
            at = line.after.e
    return at


def _code(value: str) -> str:
    return f"{float(value):g}"


def _stretches(lines: list[_Line]) -> tuple[list[_Stretch], list[_Line]]:
    """Cut a program into blocks, and these into stretches of the same state."""
    stretches: list[_Stretch] = []
    kept: list[_Line] = []
    place = 0
    while place < len(lines):
        block = _block(lines, place)
        if block is None:
            kept.append(lines[place])
            place += 1
            continue
        state = block[0].before.hard
        same = block[-1].after.hard == state
        last = stretches[-1] if stretches and not kept else None
        if last is None or not same or last.hard != state:
            last = _Stretch(kept, state if same else None)
            kept = []
            stretches.append(last)
        last.blocks.append(block)
        place += len(block)
    behind = [*(stretch.before for stretch in stretches[1:]), kept]
    parts = [_pinned(stretch, lines) for stretch, lines in zip(stretches, behind, strict=False)]
    return [part for pair in parts for part in pair], kept


def _pinned(stretch: _Stretch, behind: list[_Line]) -> list[_Stretch]:
    """A stretch; with its last block apart if the lines behind it cut from where that block ends."""
    travel = next((place for place, line in enumerate(behind) if line.travels), len(behind))
    if len(stretch.blocks) < 2 or not any(line.cuts for line in behind[:travel]):
        return [stretch]
    last = stretch.blocks.pop()
    return [stretch, _Stretch([], None, [last])]


def _block(lines: list[_Line], place: int) -> list[_Line] | None:
    """The block that begins at a line, up to where the machine is again as it was; None if none begins."""
    if not lines[place].travels:
        return None
    state, cut, end = lines[place].before.hard, False, 0
    for at in range(place, len(lines)):
        line = lines[at]
        if cut and line.travels:
            break
        cut = cut or line.cuts
        if cut and line.after.hard == state:
            end = at + 1
    if not cut:
        return None
    return lines[place : end if end else at if lines[at].travels else at + 1]


def _rapid(line: _Line, state: _State) -> str:
    """The rapid move of a block, with both coordinates, and feed rate and power as they were."""
    added = []
    bare = _COMMENT.sub("", line.text)
    letters = {match[1].upper() for match in _WORD.finditer(bare)}
    moves = re.search(r"(?i)G\s*0*0(?![\d.])", bare) is not None
    for letter, value in (("X", line.after.x), ("Y", line.after.y)):
        if letter not in letters and value is not None:
            added.append(f"{letter}{number_text(value)}")
    if "F" not in letters and line.before.feed != state.feed and line.before.feed:
        added.append(f"F{line.before.feed}")
    if "S" not in letters and line.before.power != state.power and line.before.power:
        added.append(f"S{line.before.power}")
    head = "" if moves else "G0 "
    if not added and moves:
        return line.text
    comment = line.text[len(bare.rstrip()) :] if line.text.startswith(bare.rstrip()) else ""
    return f"{head}{bare.strip()} {' '.join(added)}{comment}".rstrip(" ")


def _restored(wanted: _State, state: _State) -> list[str]:
    """What the lines behind a stretch find as it was: motion, feed rate and power."""
    words = []
    if wanted.motion != state.motion and wanted.motion in (0, 1):
        words.append(f"G{wanted.motion}")
    if wanted.feed != state.feed and wanted.feed:
        words.append(f"F{wanted.feed}")
    if wanted.power != state.power and wanted.power:
        words.append(f"S{wanted.power}")
    lines = [" ".join(words)] if words else []
    if wanted.e != state.e and wanted.e is not None:
        lines.append(f"G92 E{wanted.e:f}")
    return lines


FORMAT = StrokeFormat(
    name="gcode", title="a G-code program", endings=(".gcode", ".nc", ".ngc", ".gco", ".tap"), read=_read
)
