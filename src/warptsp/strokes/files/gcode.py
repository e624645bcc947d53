"""G-code: blocks between rapid moves change their order; what a block does stays line for line.

A block is a rapid move in the plane, above all that is cut, and all lines up to the next one: down, cut, up
again. Blocks follow each other in another order only where that changes nothing but the travel:

- The state in which a block finds the machine (height, units, plane, tool, spindle, coolant, offsets ...)
  must be that in which it was written. Stretches of blocks share one such state, and lines between stretches
  keep their place.
- A block ends where the spindle gets another speed, since a time to reach it may follow.
- Within a stretch, blocks of different feed or power are groups. Blocks that overlap others at another depth
  or, where that may be a link, feed rate are a group behind these, or one unit with the block before them.
- What the lines behind a stretch find must be what they found: if they ask for it, the last block stays.

Only the rapid move of a block is rewritten, and only by what it took over from the block before it: a
coordinate, the power; and its first cut by the feed rate. Absolute extrusion (M82) is counted on from where a
block now begins. A block keeps its direction, since that is climb or conventional milling.
"""

import math
import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise

import numpy as np

from warptsp.errors import ParseError
from warptsp.strokes.files._gcode_cuts import Cuts, path_of, slowest_feeds
from warptsp.strokes.files._gcode_lines import Line, Program, State, read_lines
from warptsp.strokes.files._overlaps import Overlaps, cell_of
from warptsp.strokes.files.drawing import Drawing, Source, StrokeFormat
from warptsp.strokes.gcode_words import NUMBER, uncommented
from warptsp.strokes.model import Path
from warptsp.strokes.plan import Plan

_E = re.compile(r"(?i)^((?:[^;(E]|\([^)]*\))*E\s*)[-+]?(?:\d+\.?\d*|\.\d+)")
_WORD = re.compile(rf"([A-Za-z])\s*{NUMBER}")
_SLACK = 0.05  # nearer than this cuts touch, whatever the width of the tool
_RAPID = re.compile(r"(?i)\bG0*0(?![\d.])")


@dataclass(slots=True)
class _Block:
    """Lines that change places together: comments, a rapid move, cuts, the way up."""

    lines: list[Line]
    rapid: int  # which line is the first rapid move
    regime: Hashable
    cuts: Cuts
    movable: bool
    unknown: tuple[bool, bool]  # whether it takes over a feed rate, or a power, that nobody has given
    fed: int  # which line is to say the feed rate that it takes over; -1 if none is

    @property
    def begin(self) -> State:
        """The state in which it finds the machine."""
        return self.lines[0].before

    @property
    def shared(self) -> Hashable:
        """What blocks that change places must find alike."""
        return self.begin.hard, self.begin.z, self.lines[self.rapid].after.z, self.unknown

    @property
    def sinks(self) -> bool:
        """Whether its rapid move goes down on its way, so that it must begin where it began."""
        low = self.lines[self.rapid].after.z
        return low is not None and low != self.begin.z

    @property
    def end(self) -> State:
        """The state in which it leaves it."""
        return self.lines[-1].after


@dataclass(slots=True)
class _Stretch:
    """Units of blocks in groups, behind lines that keep their place."""

    before: list[Line]
    groups: list[list[list[_Block]]] = field(default_factory=list)

    @property
    def last(self) -> _Block:
        return self.groups[-1][-1][-1]


def _read(source: Source) -> Drawing:
    text = source.text
    if alone := re.search(r"\r[^\r\n]", text):
        raise ParseError("has a carriage return within a line, which ends lines on some machines only: end "
                         "them with \\n or \\r\\n",
                         file=source.file, line=1 + text.count("\n", 0, alone.start()))  # fmt: skip
    newline = "\r\n" if "\r\n" in text else "\n"
    ended = text.endswith("\n")  # or else the last line gets an end for as long as it may change places
    texts = (text if ended else text + newline).split("\n")[:-1]
    program = read_lines(texts, source.file)
    stretches, tail = _Arrangement(program).stretches()
    free = any(len(units) > 1 for stretch in stretches for units in stretch.groups)
    if program.why and not free:
        raise ParseError(f"{program.why}: it and all that follows keep their place, and before it nothing "
                         "can change places", file=source.file, line=program.line)  # fmt: skip
    if not stretches:
        raise ParseError("has no rapid moves (G0 X Y) between cuts, above all that is cut: there is no "
                         "travel to shorten", file=source.file)  # fmt: skip
    paths, units, groups = zip(*_strokes(stretches, tail), strict=True)

    def rewrite(plan: Plan) -> bytes:
        in_order = [units[stroke] for stroke in plan.order.tolist() if units[stroke]]
        out = _Writer(texts).written(stretches, in_order)
        out += [line.text for line in tail] + program.rest
        whole = "".join(f"{line}\n" for line in out)
        return source.encoded(whole if ended else whole.removesuffix(newline))

    first = stretches[0].groups[0][0][0].begin
    home = None if first.x is None or first.y is None else np.array([float(first.x), float(first.y)])
    keep = np.zeros(len(paths), dtype=np.bool_)
    unit = next(({"G20": "in", "G21": "mm"}[code] for line in program.lines for code in line.codes
                 if code in ("G20", "G21")), "")  # fmt: skip
    notes = (f"all from line {program.line} on: {program.why}",) if program.why else ()
    return Drawing(paths=list(paths), reversible=keep, loops=keep, groups=groups, rewrite=rewrite, home=home,
                   unit=unit, notes=notes)  # fmt: skip


def _strokes(stretches: list[_Stretch], tail: list[Line]) -> Iterator[tuple[Path, list[_Block], int]]:
    """Units of blocks as strokes with their groups; ways of lines that keep their place are strokes without
    blocks, in groups of their own.
    """
    group = 0
    for number, stretch in enumerate([*stretches, _Stretch(tail)]):
        way = _way(stretch.before) if number else np.empty((0, 2))
        if len(way):
            yield way, [], group
            group += 1
        for units in stretch.groups:
            yield from ((_unit_path(unit), unit, group) for unit in units)
            group += 1


class _Arrangement:
    """A program on its way to stretches of blocks."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.cuts = Cuts.of(program.lines, program.highest)
        beam = self.cuts.in_plane and self.cuts.lit and all(
            not line.after.lit for line in program.lines if line.after.motion == 0 and line.moves
        )  # fmt: skip
        self.flat = program.heights <= 1 or program.prints or beam
        self.slowest = slowest_feeds(program.lines, self.flat)
        # Where cuts are below 0 and the tool is ever above it, 0 is the top of the workpiece: beside what is
        # cut away below, all is full.
        floor = math.nextafter(0.0, -math.inf) if program.highest > 0 else -math.inf
        self.top = max(self.cuts.top, floor, self.way_in())
        self.cell = cell_of(self.cuts.segments)

    def way_in(self) -> float:
        """Below what height the workpiece may be: of several depths above 0, as if that were the table.

        The first rapid moves run above it, since nothing is cut away yet.
        """
        depths = {depth for depth in self.cuts.depths if isinstance(depth, tuple) and depth[0] != "rapid"}
        if len(depths) < 2 or min(low for low, _ in depths) < 0 or self.program.prints:
            return -math.inf
        first = next(place for place, line in enumerate(self.program.lines) if line.cuts)
        heights = [
            float(min(line.before.z, line.after.z)) for line in self.program.lines[:first]
            if line.moves and line.after.motion == 0
            and line.before.z is not None and line.after.z is not None
        ]  # fmt: skip
        return math.nextafter(min(heights, default=self.program.highest), -math.inf)

    def travels(self, line: Line) -> bool:
        """Whether a line is a rapid move to a known place, above all that is cut."""
        if not line.moves or line.after.motion != 0 or line.relative or line.fixed or line.fed is not None:
            return False
        if line.after.x is None or line.after.y is None or "E" in line.letters:
            return False
        return self.is_high(line)

    def is_high(self, line: Line) -> bool:
        low, high = line.before.z, line.after.z
        if self.flat:
            return low == high
        return low is not None and high is not None and min(low, high) > self.top

    def stretches(self) -> tuple[list[_Stretch], list[Line]]:
        """All stretches, and the lines behind the last."""
        lines, place = self.program.lines, 0
        found: list[tuple[list[Line], list[_Block]]] = []
        kept: list[Line] = []
        while place < len(lines):
            block = self.block(place, kept if found and all(line.comment for line in kept) else [])
            if block is None:
                kept.append(lines[place])
                place += 1
                continue
            place += len(block.lines) - block.rapid
            kept = kept[: len(kept) - block.rapid]
            last = found[-1][1] if found and not kept else None
            same = last is not None and last[0].movable and block.movable
            if last is None or not same or last[0].shared != block.shared:
                found.append((kept, [block]))
                kept = []
            else:
                last.append(block)
        stretches = []
        for number, (before, blocks) in enumerate(found):
            behind = found[number + 1][0] if number + 1 < len(found) else kept
            rest = bool(self.program.rest) and number + 1 == len(found)
            stays = self.asks(behind, rest) or (number + 1 < len(found) and found[number + 1][1][0].sinks)
            stretches.append(_Stretch(before, self.grouped(blocks, stays)))
        return stretches, kept

    def block(self, place: int, comments: list[Line]) -> _Block | None:
        """The block that begins at a line, up to where the machine is again as it was; None if none does."""
        lines = self.program.lines
        if not self.travels(lines[place]):
            return None
        begin, end, at, speed = lines[place].before, 0, place, ""
        cut = gone = turned = False
        for at in range(place, len(lines)):
            line = lines[at]
            rapid = line.moves and line.after.motion == 0
            if cut and (self.travels(line) or (turned and rapid)):
                break
            cut = cut or line.cuts
            speed = line.after.power if line.cuts else speed
            other = all(_is_on_but_not_at(power, line.after) for power in (speed, lines[place].after.power))
            turned = cut and not line.cuts and (turned or other)  # or else a pen is up again
            gone = not line.cuts and (gone or rapid or turned)
            back = line.after.hard == begin.hard and line.after.z == begin.z
            if cut and back and not gone and (line.asks == 2 or line.after != line.before):
                end = at + 1
        else:
            at = len(lines)
        if not cut:
            return None
        inside = lines[place : end or at]
        free = -np.inf if self.program.heights <= 1 or self.program.prints else self.top
        cuts = Cuts.of(inside, slowest=self.slowest).below(-np.inf if self.flat else self.top, free)
        regimes = {regime for regime in cuts.regimes if regime}
        unknown, last = _unknown(inside), inside[-1].after
        movable = bool(end) and not any(line.fixed for line in inside)
        movable = movable and not (unknown[0] and last.feed) and not (unknown[1] and last.power)
        movable = movable and (last.e is not None or begin.e is None)  # what is behind it counts on
        whole = [*comments, *inside]
        if self.program.prints:
            regime: Hashable = None
        else:
            regime = next(iter(regimes), None)
            movable = movable and len(set(cuts.regimes)) <= 1
        fed = len(comments) if self.program.prints else _first_fed(whole, len(comments))
        return _Block(whole, len(comments), regime, cuts, movable, unknown, fed)

    def grouped(self, blocks: list[_Block], stays: bool) -> list[list[list[_Block]]]:
        """Groups of units: in every group any order does; none is passed."""
        groups: list[list[list[_Block]]] = []
        deep = len({depth for block in blocks for depth in block.cuts.depths}) > 1
        overlaps = Overlaps(self.program.width + _SLACK, self.cell)
        regime: Hashable = None  # of the group; holes have none, and belong to any
        for number, block in enumerate(blocks):
            if not groups or (None not in (regime, block.regime) and regime != block.regime):
                overlaps.clear()
                groups.append([])
                regime = None
            regime = block.regime if regime is None else regime
            touched = overlaps.of(block.cuts.segments, block.cuts.depths) if deep else set()
            last = len(groups[-1]) - 1
            if stays and number == len(blocks) - 1 and groups[-1] and touched != {last}:
                groups.append([[block]])
                break
            if touched == {last}:
                groups[-1][-1].append(block)
            elif touched:
                overlaps.clear()
                groups.append([[block]])
                regime = block.regime
            else:
                groups[-1].append([block])
            if deep:
                overlaps.add(block.cuts.segments, block.cuts.depths, len(groups[-1]) - 1)
        if stays and len(groups[-1]) > 1:  # the last block went into a unit
            groups.append([groups[-1].pop()])
        return groups

    def asks(self, lines: list[Line], rest: bool) -> bool:
        """Whether lines that keep their place ask where the last block ended, or in which state."""
        place = motion = False
        height = None
        for line in lines:
            if line.asks == 2 or (line.asks == 1 and not place):
                return True
            if line.after.lit and ("S" in line.letters or {"M3", "M4"} & set(line.codes)):
                return True
            motion = motion or any(code in ("G0", "G1", "G2", "G3") for code in line.codes)
            if line.fixed or not set("XYZ") & set(line.letters):
                continue
            if not motion or line.after.motion != 0 or (line.moves and not self.is_high(line)):
                return True
            if line.moves:
                if line.relative or not {"X", "Y"} <= set(line.letters):
                    return not place
                if place and not self.flat and line.before.z != height:
                    return True  # the first of them runs at another height than the file's highest there
                place, height = True, line.before.z
        return rest


def _is_on_but_not_at(speed: str, state: State) -> bool:
    """Whether a spindle is on, at another speed."""
    power = state.power
    return state.lit and power != speed and (not speed or float(power) != float(speed))


def _unknown(lines: list[Line]) -> tuple[bool, bool]:
    """Whether a block is done under a feed rate, and under a power, that nobody has given before it."""
    fed, powered = bool(lines[0].before.feed), bool(lines[0].before.power)
    found = [False, False]
    for line in lines:
        fed, powered = fed or "F" in line.letters, powered or "S" in line.letters
        works = line.cuts or "E" in line.letters
        found[0] |= works and not fed
        found[1] |= (works or line.after.lit) and not powered
    return found[0], found[1]


def _first_fed(lines: list[Line], rapid: int) -> int:
    """Which line is to say the feed rate that lines take over: the first that cuts at it; -1 if none does.

    An F on the rapid move in front of it would do on most machines: Smoothieware has another one for these.
    """
    first = next((k for k, line in enumerate(lines) if line.cuts or line.fixed or "F" in line.letters), -1)
    if first < 0 or "F" in lines[first].letters:
        return -1
    return rapid if lines[first].fixed else first


def _unit_path(unit: list[_Block]) -> Path:
    """The way of a unit; that of its widest closed block where all passes begin and end at one point."""
    paths = [path_of(block.lines[block.rapid :]) for block in unit]
    whole = np.concatenate(paths)
    if (whole[0] == whole[-1]).all():
        rounds = []
        for path in paths:
            back = np.flatnonzero((path == whole[0]).all(axis=1)).tolist()
            rounds += [path[a : b + 1] for a, b in pairwise(back)]
        if rounds:
            return max(rounds, key=lambda path: float(np.ptp(path, axis=0).max()))
    return whole


def _way(lines: list[Line]) -> Path:
    """The places that lines which keep their place go through, from the first on that does not depend on
    where the blocks before them end.
    """
    first = next((place for place, line in enumerate(lines) if line.moves or line.cuts), len(lines))
    while first < len(lines) and (lines[first].after.x is None or lines[first].after.y is None):
        first += 1
    moved = lines[first:]
    if not moved:
        return np.empty((0, 2))
    begin = lines[first].before
    path = path_of(moved)
    partial = lines[first].cuts or lines[first].relative or not {"X", "Y"} <= set(lines[first].letters)
    if partial and begin.x is not None and begin.y is not None:  # then the last block stays
        path = np.concatenate([[[float(begin.x), float(begin.y)]], path])
    return path


class _Writer:
    """A program in a new order, with the numbers and codes of the old one."""

    def __init__(self, texts: list[str]) -> None:
        codes = next(
            (match[0] for text in texts if (match := _RAPID.search(uncommented(text)[0] or ""))), "G0"
        )
        self.rapid_code = codes

    def written(self, stretches: list[_Stretch], units: list[list[_Block]]) -> list[str]:
        """All lines up to the last block; units are in the order of groups."""
        out: list[str] = []
        at = 0
        state = stretches[0].groups[0][0][0].begin
        for number, stretch in enumerate(stretches):
            out += [line.text for line in stretch.before]
            begin = stretch.groups[0][0][0].begin
            state = begin if number == 0 else _behind(stretch.before, state, begin)
            count = sum(len(group) for group in stretch.groups)
            for unit in units[at : at + count]:
                for block in unit:
                    texts = [line.text for line in block.lines]
                    texts[block.rapid] = self.rapid(block.lines[block.rapid], state)
                    feed, fed = block.begin.feed, block.lines[block.fed]
                    if block.fed >= 0 and "F" not in fed.letters and feed and feed != state.feed:
                        texts[block.fed] = _with(texts[block.fed], [f"F{feed}"])
                    filament = _extruding(block.lines, texts, state.e)
                    out += texts
                    kept = block.end
                    state = kept._replace(
                        e=filament, feed=kept.feed or state.feed, power=kept.power or state.power
                    )
            at += count
            wanted = stretch.last.end
            if wanted.e != state.e and wanted.e is not None:
                end = "\r" if stretch.last.lines[-1].text.endswith("\r") else ""
                out.append(f"G92 E{wanted.e:f}{end}")
                state = state._replace(e=wanted.e)
        return out

    def rapid(self, line: Line, state: State) -> str:
        """The rapid move of a block, with what it took over from the block before it."""
        added = []
        for letter, value, now in (("X", line.after.x, state.x), ("Y", line.after.y, state.y)):
            if letter not in line.letters and value is not None and str(value) != str(now):
                added.append(f"{letter}{value:f}")
        power = line.before.power
        if "S" not in line.letters and power and power != state.power:
            added.append(f"S{power}")
        code = self.rapid_code if "G0" not in line.codes and state.motion != 0 else ""
        return _with(line.text, added, code) if added or code else line.text


def _with(whole: str, added: list[str], code: str = "") -> str:
    """A line with words behind its own, and a code in front of them."""
    text = whole.rstrip("\r")
    bare = uncommented(text)[0] or ""
    words = list(_WORD.finditer(bare))
    space = " " if " " in bare.strip() or len(words) == 1 else ""
    end = words[-1].end()
    if text[:end] != bare[:end]:  # a comment between words: all of them go behind
        comments = text[len(bare) - len(bare.lstrip()) :]
        comments = "".join(re.findall(r"\([^)]*\)|;.*", comments))
        text, end = bare.rstrip() + (space + comments if comments else ""), len(bare.rstrip())
    starts = [word.start() for word in words[words[0][1] in "Nn" :]]  # the number of a line stays first
    first = starts[0] if starts else end
    if bare.strip().islower():
        added, code = [word.lower() for word in added], code.lower()
    head = text[:first] + (code + space if code else "")
    return head + text[first:end] + "".join(space + word for word in added) + text[end:] + (
        "\r" if whole.endswith("\r") else "")  # fmt: skip


def _behind(lines: list[Line], state: State, begin: State) -> State:
    """The state behind lines that keep their place: what they set, and else what they found."""
    letters = {letter for line in lines for letter in line.letters}
    placed = any(line.asks == 1 or {"X", "Y"} <= set(line.letters) for line in lines)
    moved = any(line.codes for line in lines if {"G0", "G1", "G2", "G3"} & set(line.codes))
    return begin._replace(
        x=begin.x if placed or begin.x is None else state.x,
        y=begin.y if placed or begin.y is None else state.y,
        feed=begin.feed if "F" in letters else state.feed,
        power=begin.power if "S" in letters else state.power,
        motion=begin.motion if moved else state.motion,
    )


def _extruding(lines: list[Line], texts: list[str], begun: Decimal | None) -> Decimal | None:
    """Count the filament of a block on from where it begins now; return where it ends."""
    at = begun
    for place, line in enumerate(lines):
        if line.fed is not None and at is not None:
            at += line.fed
            if at != line.after.e:
                texts[place] = _E.sub(rf"\g<1>{at:f}", texts[place], count=1)
        elif line.after.e != line.before.e:
            at = line.after.e
    return at


FORMAT = StrokeFormat(
    name="gcode", title="a G-code program", endings=(".gcode", ".nc", ".ngc", ".gco", ".tap"), read=_read,
    same="same cuts, same order of depths",
)  # fmt: skip
