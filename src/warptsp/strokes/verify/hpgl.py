"""What a plotter draws: lines between two places with the pen down, between the commands that stay."""

import re
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal

from warptsp.strokes.verify.work import NotVerified, Rules

_Point = tuple[Decimal, Decimal]
_Line = tuple[_Point, _Point]
_ORIGIN: _Point = (Decimal(0), Decimal(0))
_STEP = Decimal("1e-9")  # to which a place that is a sum is written
_ENDS = ";\x1b"  # of what belongs to a command, as a letter does
_COORDINATE = re.compile(r"[-+]?[0-9]*\.?[0-9]+|[-+]?[0-9]+\.")


@dataclass(slots=True)
class _Stretch:
    """What is drawn between two commands of another kind; `before` are those in front of it."""

    before: list[str] = field(default_factory=list)
    lines: list[_Line] = field(default_factory=list)  # as drawn; a dot is a line from a place to itself
    downs: int = 0  # how many strokes that is
    printed: list[_Point] = field(default_factory=list)  # where texts begin
    dashed: bool = False

    def draw(self, start: _Point, end: _Point, fresh: bool) -> None:
        """Draw a line, the first of its stroke or a later one."""
        self.lines.append((start, end))
        self.downs += fresh


def verify(before: bytes, after: bytes, rules: Rules) -> None:
    """Compare what two programs draw, stretch by stretch; under a pattern of dashes the order counts, too.

    Raises `NotVerified`, which says where they differ.
    """
    (first, end), (second, other_end) = _run(before), _run(after)
    if [stretch.before for stretch in first] != [stretch.before for stretch in second]:
        raise NotVerified("is not written: commands other than moves would differ, or stand elsewhere")
    for number, (one, two) in enumerate(zip(first, second, strict=True), start=1):
        if one.printed != two.printed:
            raise NotVerified(f"is not written: a text in front of stretch {number} would begin elsewhere")
        same = one.lines == two.lines if one.dashed else _same(one.lines, two.lines, rules)
        if not same or (two.downs > one.downs if rules.join else two.downs != one.downs):
            raise NotVerified(f"is not written: lines of stretch {number} would be lost, added or changed")
    if end != other_end and any(stretch.lines for stretch in first):
        raise NotVerified("is not written: the pen would end elsewhere")


def _same(one: list[_Line], two: list[_Line], rules: Rules) -> bool:
    """Whether the same lines are drawn, in any direction unless that is kept, but for those that join."""
    if not rules.keep_directions:
        one, two = [_either(line) for line in one], [_either(line) for line in two]
    lost, added = Counter(one) - Counter(two), Counter(two) - Counter(one)
    longest = Decimal(repr(rules.join)) * (1 + _STEP)
    return not lost and all(
        rules.join and (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 <= longest**2 for a, b in added
    )


def _either(line: _Line) -> _Line:
    return line if line[0] <= line[1] else (line[1], line[0])


def _run(data: bytes) -> tuple[list[_Stretch], _Point | None]:
    """Go through a program letter by letter; and the place where it ends, if that is known."""
    text = data.decode("latin-1")
    stretches = [_Stretch()]
    at, down, relative, moved, fresh = _ORIGIN, False, False, True, True
    known, scaled, ending = True, False, "\x03"
    place = 0
    while place < len(text):
        if text[place] in " \t\r\n;\xef\xbb\xbf":
            place += 1
            continue
        name, begin = text[place : place + 2].upper(), place
        place += 2
        if name in ("PU", "PD", "PA", "PR"):
            while place < len(text) and not text[place].isalpha() and text[place] not in _ENDS:
                place += 1
            numbers = [Decimal(n).quantize(_STEP) for n in _COORDINATE.findall(text[begin + 2 : place])]
            if name in ("PA", "PR"):
                relative = name == "PR"
            else:
                if down and not moved and name == "PU":
                    stretches[-1].draw(at, at, fresh)  # a dot
                if name == "PD" and not down:
                    moved, fresh = False, True
                down = name == "PD"
            for x, y in zip(numbers[::2], numbers[1::2], strict=True):
                to = (at[0] + x, at[1] + y) if relative else (x, y)
                if down:
                    if not known:
                        raise NotVerified("is not written: it draws from where a text, a scale or IN ends")
                    stretches[-1].draw(at, to, fresh)
                    moved, fresh = True, False
                at, known = to, known or not relative
            continue
        if down and not moved:
            stretches[-1].draw(at, at, fresh)
            moved = True
        if name[0] == "\x1b":  # to the interface of the plotter, as ESC.I81;;17: or ESC%0B
            if name[1:] == ".":
                place += 1
                numbers_end = place
                while numbers_end < len(text) and text[numbers_end] in "0123456789;":
                    numbers_end += 1
                place = numbers_end + 1 if text[numbers_end : numbers_end + 1] == ":" else place
            elif name[1:] == "%":
                while place < len(text) and not text[place - 1].isalpha():
                    place += 1
        elif name in ("LB", "BL", "WD"):
            stop = text.find(ending, place)
            if stop < 0 and ending == "\x03":
                stop = text.find(";", place)
            place = len(text) if stop < 0 else stop + 1
        elif name == "DT":
            ending = "\x03"
            if place < len(text) and text[place] != ";":
                ending, place = text[place], place + 1
            mode = re.match(r"\s*,\s*[01]", text[place:])
            place += mode.end() if mode else 0
        else:
            while place < len(text) and not text[place].isalpha() and text[place] not in _ENDS:
                place += 1
        command = text[begin:place].strip(" \t\r\n")
        if stretches[-1].lines:
            stretches.append(_Stretch(dashed=stretches[-1].dashed))
        stretches[-1].before.append(command)
        if name == "LT":
            stretches[-1].dashed = len(command) > 2
        if name in ("IN", "DF"):  # absolute places, and no scale
            ending, stretches[-1].dashed, relative = "\x03", False, False
            known, scaled = known and not scaled, False
        if name == "SC":
            scaled = len(command) > 2
        if name == "IN":
            at, down, known = _ORIGIN, False, known and at == _ORIGIN  # the pen may stay where it is
        if name in ("LB", "BL", "PB", "CP", "PG"):
            if known:
                stretches[-1].printed.append(at)
            known = False
        if name in ("IP", "SC", "RO"):
            known = False
        fresh = True  # a pen that is down goes on in a new stretch
    if down and not moved:
        stretches[-1].draw(at, at, fresh)
    return stretches, at if known else None
