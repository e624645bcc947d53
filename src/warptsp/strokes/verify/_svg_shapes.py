"""What the shapes of SVG draw, in exact decimal numbers: an interpreter of path data, for `svg`."""

import math
import re
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation

from warptsp.strokes.verify.work import NotVerified

Pair = tuple[Decimal, Decimal]
# A letter of L, Q, C, A, where it ends, its control points, and of an arc: radii, rotation, two flags.
Step = tuple[str, Pair, tuple[Pair, ...], tuple[Decimal, ...]]
Geometry = tuple[object, ...]
GEOMETRY = {
    "path": {"d"}, "line": {"x1", "y1", "x2", "y2"}, "polyline": {"points"}, "polygon": {"points"},
    "rect": {"x", "y", "width", "height", "rx", "ry"}, "circle": {"cx", "cy", "r"},
    "ellipse": {"cx", "cy", "rx", "ry"},
}  # fmt: skip
_ROUND = Context(prec=11)  # what a double keeps of a sum, and more than a file says
_WORD = re.compile(r"[A-Za-z]|[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_NEEDED = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7}
_UNITS = {
    "": 1,
    "px": 1,
    "mm": 96 / 25.4,
    "cm": 960 / 25.4,
    "in": 96,
    "pt": 96 / 72,
    "pc": 16,
    "q": 24 / 25.4,
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A subpath: where it starts, its steps, and whether it closes."""

    start: Pair
    steps: tuple[Step, ...]
    closed: bool

    def backwards(self) -> "Figure":
        """The same from its end."""
        places = [self.start, *(step[1] for step in self.steps)]
        turned = []
        for number in range(len(self.steps) - 1, -1, -1):
            kind, _, controls, arc = self.steps[number]
            if kind == "A":
                arc = (*arc[:4], 1 - arc[4])
            turned.append((kind, places[number], controls[::-1], arc))
        return Figure(places[-1], tuple(turned), self.closed)

    def form(self) -> Geometry:
        """Numbers and letters, to compare."""
        flat: list[object] = [self.closed, *map(_plain, self.start)]
        for kind, end, controls, arc in self.steps:
            flat.append(kind)
            flat += [_plain(value) for point in (*controls, end) for value in point]
            flat += [_plain(value) for value in arc]
        return tuple(flat)


def _plain(value: Decimal) -> Decimal:
    """Without zeros at the end, so that equal numbers are equal texts."""
    return _ROUND.plus(value).normalize()


def canonical(figures: list[Figure], free: bool, turn: bool, enter: bool) -> Geometry:
    """One form of all ways to draw some figures, if they are `free` to be drawn in another way than this.

    `turn` and `enter` say whether open ones may be drawn backwards, and closed ones from another place.
    """
    figures = [_without_nothing(figure) for figure in figures]
    forms = tuple(figure.form() for figure in figures)
    if not free:
        return forms
    if len(figures) > 1:
        return min(forms, tuple(f.backwards().form() for f in figures[::-1]), key=repr) if turn else forms
    (figure,) = figures
    if not figure.closed:
        return (min(figure.form(), figure.backwards().form(), key=repr),) if turn else forms
    if not enter or not figure.steps:
        return forms
    round_ = _ellipse(figure)
    if round_ is not None:
        return round_
    places = [figure.start, *(step[1] for step in figure.steps[:-1])]
    first = min(places)
    found = []
    for number, place in enumerate(places):
        if place == first:
            steps = figure.steps[number:] + figure.steps[:number]
            found.append(Figure(place, steps, True).form())
    return (min(found, key=repr),)


def _without_nothing(figure: Figure) -> Figure:
    """Without steps from a place to itself; a dot has none but that it is one."""
    kept, at = [], figure.start
    for step in figure.steps:
        if step[1] != at or step[0] in "QC":
            kept.append(step)
        at = step[1]
    if figure.closed and at != figure.start:
        kept.append(("L", figure.start, (), ()))
    return Figure(figure.start, tuple(kept), figure.closed)


def _ellipse(figure: Figure) -> Geometry | None:
    """Two or four arcs along the axes around one centre, as a whole ellipse."""
    if {step[0] for step in figure.steps} != {"A"} or len(figure.steps) not in (2, 4):
        return None
    rx, ry, rotation, _, sweep = figure.steps[0][3]
    if rotation or any((*s[3][:3], s[3][4]) != (rx, ry, rotation, sweep) for s in figure.steps):
        return None
    there = figure.steps[len(figure.steps) // 2 - 1][1]
    centre = ((figure.start[0] + there[0]) / 2, (figure.start[1] + there[1]) / 2)
    for place in (figure.start, *(step[1] for step in figure.steps)):
        away = (abs(place[0] - centre[0]), abs(place[1] - centre[1]))
        if away not in ((rx, Decimal(0)), (Decimal(0), ry)):
            return None
    return ("ellipse", *map(_ROUND.plus, centre), _ROUND.plus(rx), _ROUND.plus(ry), _ROUND.plus(sweep))


def drawn_by(local: str, attributes: dict[str, str]) -> list[Figure]:
    """The figures of a shape; raises `NotVerified` if its geometry is not understood."""
    try:
        return _drawn_by(local, attributes)
    except (InvalidOperation, ValueError, IndexError, KeyError, ArithmeticError):
        raise NotVerified(f"is not written: the geometry of a {local} is not understood") from None


def _drawn_by(local: str, attributes: dict[str, str]) -> list[Figure]:
    if local == "path":
        return _path(attributes.get("d", ""))

    def length(name: str) -> Decimal:
        text = attributes.get(name, "0").strip()
        found = re.fullmatch(r"(.*?[0-9.])\s*([a-zA-Z%]*)", text)
        if found is None or found[2].lower() not in _UNITS:
            raise ValueError(text)
        factor = _UNITS[found[2].lower()]
        return Decimal(found[1]) * (factor if isinstance(factor, int) else Decimal(repr(factor)))

    if local == "line":
        end = (length("x2"), length("y2"))
        return [Figure((length("x1"), length("y1")), (("L", end, (), ()),), False)]
    if local in ("polyline", "polygon"):
        numbers = [Decimal(word) for word in _WORD.findall(attributes.get("points", ""))]
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        if len(points) < 2:
            return []
        return [Figure(points[0], tuple(("L", p, (), ()) for p in points[1:]), local == "polygon")]
    if local == "rect":
        x, y, w, h = length("x"), length("y"), length("width"), length("height")
        rx = length("rx") if "rx" in attributes else length("ry")
        ry = length("ry") if "ry" in attributes else rx
        rx, ry = min(max(rx, Decimal(0)), w / 2), min(max(ry, Decimal(0)), h / 2)
        if w <= 0 or h <= 0:
            return []
        if rx == 0 or ry == 0:
            corners = [(x + w, y), (x + w, y + h), (x, y + h), (x, y)]
            return [Figure((x, y), tuple(("L", corner, (), ()) for corner in corners), True)]
        bend = (rx, ry, Decimal(0), Decimal(0), Decimal(1))
        steps: list[Step] = []
        for side, corner in (((x + w - rx, y), (x + w, y + ry)), ((x + w, y + h - ry), (x + w - rx, y + h)),
                             ((x + rx, y + h), (x, y + h - ry)), ((x, y + ry), (x + rx, y))):  # fmt: skip
            steps += [("L", side, (), ()), ("A", corner, (), bend)]
        return [Figure((x + rx, y), tuple(steps), True)]
    cx, cy = length("cx"), length("cy")
    rx = length("r" if local == "circle" else "rx")
    ry = rx if local == "circle" else length("ry")
    if rx <= 0 or ry <= 0:
        return []
    bend = (rx, ry, Decimal(0), Decimal(0), Decimal(1))
    ends = [(cx, cy + ry), (cx - rx, cy), (cx, cy - ry), (cx + rx, cy)]
    return [Figure((cx + rx, cy), tuple(("A", end, (), bend) for end in ends), True)]


def _path(data: str) -> list[Figure]:
    words = _words(data)
    figures: list[Figure] = []
    steps: list[Step] = []
    zero = (Decimal(0), Decimal(0))
    at = start = control = zero
    place, letter, last = 0, "", ""
    while place < len(words):
        if words[place].isalpha():
            letter, place = words[place], place + 1
        elif letter in "Mm":
            letter = "l" if letter == "m" else "L"
        kind, base = letter.upper(), at if letter.islower() else zero
        if kind == "Z":
            if steps or last == "M":
                figures.append(Figure(start, tuple(steps), True))
            steps, at, last = [], start, kind
            continue
        numbers = [Decimal(word) for word in words[place : place + _NEEDED[kind]]]
        place += len(numbers)
        if len(numbers) < _NEEDED[kind] or (kind == "A" and not {*numbers[3:5]} <= {0, 1}):
            raise ValueError(data)
        if kind == "H":
            points = [(base[0] + numbers[0], at[1])]
        elif kind == "V":
            points = [(at[0], base[1] + numbers[0])]
        else:
            pairs = numbers[5:] if kind == "A" else numbers
            points = [(base[0] + x, base[1] + y) for x, y in zip(pairs[::2], pairs[1::2], strict=True)]
        if kind == "M":
            if steps:
                figures.append(Figure(start, tuple(steps), False))
            steps, at, start, last = [], points[0], points[0], kind
            continue
        if kind in "ST":
            smooth = last in ("CS" if kind == "S" else "QT")
            points.insert(0, (2 * at[0] - control[0], 2 * at[1] - control[1]) if smooth else at)
        control = points[-2] if kind in "CSQT" else zero
        drawn = {"H": "L", "V": "L", "S": "C", "T": "Q"}.get(kind, kind)
        arc: tuple[Decimal, ...] = ()
        if kind == "A" and numbers[0] and numbers[1]:
            arc = (abs(numbers[0]), abs(numbers[1]), *numbers[2:5])
        elif kind == "A":
            drawn = "L"
        steps.append((drawn, points[-1], tuple(points[:-1]), arc))
        at, last = points[-1], kind
    if steps:
        figures.append(Figure(start, tuple(steps), False))
    return figures


def _words(data: str) -> list[str]:
    """Letters and numbers; the flags of an arc may stand without a space."""
    if not re.search("[Aa]", data):
        return _WORD.findall(data)
    found: list[str] = []
    place, letter, count = 0, "", 0
    while match := _WORD.search(data, place):
        word, place = match[0], match.end()
        if word.isalpha():
            letter, count = word, 0
        else:
            if letter in "Aa" and count % 7 in (3, 4) and len(word) > 1:
                word, place = word[0], match.start() + 1
            count += 1
        found.append(word)
    return found


def outline_of(figure: Figure) -> list[complex]:
    """Points along a figure, in doubles; the first is the last of a closed one."""
    points = [_complex(figure.start)]
    for kind, end, controls, arc in figure.steps:
        at, to = points[-1], _complex(end)
        if kind == "A":
            points += _along_arc(at, to, [float(value) for value in arc])
        elif kind in "QC":
            row = [at, *map(_complex, controls), to]
            for k in range(1, 24):
                t = k / 24
                powers = [math.comb(len(row) - 1, i) * t**i * (1 - t) ** (len(row) - 1 - i)
                          for i in range(len(row))]  # fmt: skip
                points.append(sum((p * w for p, w in zip(row, powers, strict=True)), 0j))
        points.append(to)
    if figure.closed:
        points.append(points[0])
    return points


def _complex(point: Pair) -> complex:
    return complex(float(point[0]), float(point[1]))


def _along_arc(at: complex, to: complex, arc: list[float]) -> list[complex]:
    rx, ry, rotation, large, sweep = arc
    turn = complex(math.cos(math.radians(rotation)), math.sin(math.radians(rotation)))
    one, two = at / turn, to / turn
    a, b = complex(one.real / rx, one.imag / ry), complex(two.real / rx, two.imag / ry)  # a unit circle
    half = math.hypot(b.real - a.real, b.imag - a.imag) / 2
    if half == 0 or half > 1e150:  # none, or of no size
        return []
    if half > 1:
        rx, ry, a, b, half = rx * half, ry * half, a / half, b / half, 1.0
    side = 1j * (b - a) / abs(b - a) * math.sqrt(max(0.0, 1 - half * half))
    centre = (a + b) / 2 + (side if bool(large) != bool(sweep) else -side)
    first, last = (a - centre), (b - centre)
    angle = math.atan2(first.imag, first.real)
    way = (math.atan2(last.imag, last.real) - angle) % (2 * math.pi)
    way = way if sweep else way - 2 * math.pi
    points = []
    for k in range(1, 32):
        turned = angle + way * k / 32
        place = centre + complex(math.cos(turned), math.sin(turned))
        points.append(complex(place.real * rx, place.imag * ry) * turn)
    return points
