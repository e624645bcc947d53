"""HPGL: lines between pen-up moves change their order, within what stands between other commands.

Absolute and relative coordinates are read, absolute ones written. A command that neither draws nor moves
keeps its place, and strokes do not pass it: what comes after SP2 is drawn with the second pen. A pattern of
dashes goes on from one line to the next, so that lines under one keep their order and their directions.
"""

import re
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from warptsp._checks import short
from warptsp.errors import ParseError
from warptsp.strokes.files.drawing import Drawing, Source, StrokeFormat, written
from warptsp.strokes.model import Path
from warptsp.strokes.plan import Plan

_COMMAND = re.compile(r"\s*([A-Za-z]{2})\s*([^A-Za-z;\x1b]*);?")
# What is meant for the plotter's interface, or for a printer that is told to be a plotter.
_ESCAPE = re.compile(r"(\x1b)(\.[@A-Z()](?:[0-9;]*:)?|%-?[0-9]+[A-Z]|E)")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)")
_SPACES = re.compile(r"[\s;]*")
_MOVES = ("PU", "PD", "PA", "PR")
# Commands that do not move the pen; behind any other no place would be known.
_KNOWN = {
    "IN", "DF", "SP", "VS", "FS", "AS", "AP", "PW", "PT", "WU", "LT", "LA", "FT", "UL", "AC", "TR",
    "MC", "PP", "RF", "SV", "SB", "LB", "BL", "PB", "WD", "CP", "CA", "CS", "SS", "SA", "DI", "DR",
    "DV", "DT", "ES", "LO", "SI", "SR", "SL", "SD", "AD", "FI", "FN", "TD", "TL", "CR", "CV", "NR",
    "NP", "PS", "PG", "OA", "OC", "OD", "OE", "OF", "OG", "OH", "OI", "OK", "OL", "OO", "OP", "OS",
    "OT", "OW", "IW", "IP", "SC", "RO", "\x1b",
}  # fmt: skip
_TEXT = ("LB", "BL", "WD")  # followed by text up to a terminator
_ETX = "\x03"  # which it is, unless DT names another one
_TERMINATOR = re.compile(r"DT(?:([^;])(?:\s*,\s*[01])?)?;?", re.IGNORECASE)

_FRAMES = ("IP", "SC", "RO")  # behind which the place of the pen has other numbers
_PRINTING = ("LB", "BL", "PB", "CP", "PG")  # from where the pen is, to a place that nobody knows


@dataclass(slots=True)
class _Block:
    """Strokes between two places that keep theirs; `before` is the text of the place in front of them."""

    before: str
    dashed: bool
    strokes: list[list[tuple[float, float]]] = field(default_factory=list)


def _read(source: Source) -> Drawing:
    text = source.text
    newline = "\r\n" if "\r\n" in text else "\n"
    blocks, tail = _blocks(text, source.file, newline)
    paths: list[Path] = []
    groups: list[int] = []
    free: list[bool] = []
    for number, block in enumerate(blocks):
        paths += [np.array(stroke, dtype=np.float64) for stroke in block.strokes]
        groups += [number] * len(block.strokes)
        free += [not block.dashed] * len(block.strokes)
    everything = np.array(free, dtype=np.bool_)

    def rewrite(plan: Plan) -> bytes:
        drawn: dict[int, list[str]] = {}
        for number in plan.order.tolist():
            points = plan.stroke(paths[number], number)
            out = drawn.setdefault(groups[number], [])
            if not plan.joined[number]:
                out.append(f"PU{_pair(points[0])};")
            elif len(points) > 1:
                out.append(f"PD{_pair(points[0])};")
            rest = ",".join(map(_pair, points[1:]))
            out.append(f"PD{rest};{newline}")
        pieces = []
        for number, block in enumerate(blocks):
            pieces += [block.before, *drawn.get(number, [])]
        return source.encoded("".join([*pieces, tail]))

    return Drawing(paths=paths, reversible=everything, loops=everything, groups=groups, rewrite=rewrite)


def _pair(point: Path) -> str:
    return ",".join(written(float(value), 9) for value in point[:2])


def _blocks(text: str, file: str, newline: str) -> tuple[list[_Block], str]:
    """The blocks of a program, and what comes behind the last stroke."""
    blocks: list[_Block] = []
    kept: list[str] = []
    at, down, relative, scaled = (0.0, 0.0), False, False, False
    stroke: list[tuple[float, float]] = []
    current: _Block | None = None
    lost = False  # whether the pen is where a text ends
    parked, left = 0, at  # the place in `kept` behind which the pen has last been moved, and where to
    terminator, dashed = _ETX, False

    def finish() -> None:
        nonlocal current, parked
        if stroke:
            if current is None or dashed:
                current = _Block("".join(kept), dashed)
                kept.clear()
                parked = 0
                blocks.append(current)
            current.strokes.append(list(stroke))
            stroke.clear()

    def fail(message: str, at: int) -> NoReturn:
        raise ParseError(message, file=file, line=1 + text.count("\n", 0, at))

    place, length = _skipped(text, 0), len(text)
    while place < length:
        match = _COMMAND.match(text, place) or _ESCAPE.match(text, place)
        if match is None:
            fail(f"{short(text[place : place + 20])!r} is no HPGL command: two letters are needed", place)
        name, arguments = match[1].upper(), match[2]
        if name not in _MOVES and name not in _KNOWN:
            fail(
                f"{name} draws or moves in a way that is not followed here: only PU, PD, PA and PR are", place
            )
        if name not in _MOVES:
            finish()
            if current is not None and not down:
                kept.append("PU;")  # as it was there
            current = None
            end = match.end()
            if name in _TEXT:
                stop = text.find(terminator, place + len(name))
                if stop < 0 and terminator == _ETX:
                    stop = text.find(";", place)
                if stop < 0:
                    fail(f"{name} has no end", place)
                end = stop + 1
            named = _TERMINATOR.match(text, place)
            if named:
                terminator, end = named[1] or _ETX, named.end()
            if name in ("IN", "DF"):
                terminator, dashed, relative = _ETX, False, False
                lost, scaled = lost or scaled, False  # the pen has other numbers without the scale
            if name == "SC":
                scaled = bool(arguments.strip())
            if name == "LT":
                dashed = bool(arguments.strip())
            if name == "IN":
                at, down, lost = (0.0, 0.0), False, lost or at != (0.0, 0.0)  # few plotters go there
            if name in _PRINTING and not lost:
                kept.append(f"PU{_pair(np.array(at))};")
            lost = lost or name in _PRINTING + _FRAMES
            kept.append(text[place:end])
            place = _skipped(text, end)
            if "\n" in text[end:place]:
                kept.append(newline)
            continue
        place = _skipped(text, match.end())
        relative = name == "PR" or (relative and name != "PA")
        if name in ("PU", "PD"):
            lowered, down = name == "PD" and not down, name == "PD"
            if not down:
                finish()
            elif lowered:
                stroke.append(at)
        numbers = [float(n) for n in _NUMBER.findall(arguments)]
        if len(numbers) % 2 or _NUMBER.sub("", arguments).strip(" ,\t\r\n"):
            fail(f"{short(name + arguments)!r} has no pairs of numbers", match.start())
        if lost and ((down and (numbers or name == "PD")) or (relative and numbers)):
            fail(f"{short(name + arguments)!r} goes on from where a text, a scale or IN ends: "
                 "PU with a place is needed", match.start())  # fmt: skip
        lost = lost and not numbers
        for x, y in zip(numbers[::2], numbers[1::2], strict=True):
            if down and not stroke:  # the pen was down through a command that keeps its place
                stroke.append(at)
            at = (at[0] + x, at[1] + y) if relative else (x, y)
            if down:
                stroke.append(at)
            parked, left = len(kept), at
    finish()
    # Behind the last stroke the pen is up, and goes where the program has left it.
    kept.insert(parked, f"PU{_pair(np.array(left))};{newline}")
    return blocks, "".join(kept)


def _skipped(text: str, place: int) -> int:
    match = _SPACES.match(text, place)
    return match.end() if match else place


FORMAT = StrokeFormat(
    name="hpgl", title="an HPGL program", endings=(".hpgl", ".plt", ".hgl"), read=_read,
    same="same strokes of the same pens",
)  # fmt: skip
