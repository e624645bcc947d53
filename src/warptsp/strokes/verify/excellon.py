"""What a drill file does: holes and slots, each with its tool and its unit, between the lines that stay."""

from collections import Counter
from dataclasses import dataclass, field

from warptsp.strokes.verify.work import NotVerified, Rules

_LETTERS = b"0123456789.+-"


@dataclass(slots=True)
class _Stretch:
    """Holes between two lines of another kind, and the bytes of the lines in front of them."""

    before: list[bytes] = field(default_factory=list)
    holes: list[tuple[bytes, ...]] = field(default_factory=list)


def verify(before: bytes, after: bytes, rules: Rules) -> None:
    """Compare the holes of two drill files: the same ones in each stretch, all other lines as they were.

    Raises `NotVerified`, which says where they differ.
    """
    first, second = _run(before), _run(after)
    for number, (one, two) in enumerate(zip(first, second, strict=False)):
        if one.before != two.before:
            raise NotVerified(f"is not written: the lines in front of its stretch {number + 1} would differ")
        if len(one.holes) != len(two.holes) or Counter(one.holes) != Counter(two.holes):
            lost = Counter(one.holes) - Counter(two.holes)
            hole = b" ".join(next(iter(lost or Counter(two.holes) - Counter(one.holes)))).decode("latin-1")
            raise NotVerified(f"is not written: the hole {hole!r} would be lost, added or changed")
    if len(first) != len(second):
        raise NotVerified("is not written: holes of two stretches would be mixed")
    if _ends(before) != _ends(after):
        raise NotVerified("is not written: the ends of its lines would change")


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)  # of bytes: only \n, \r\n and \r end them


def _ends(data: bytes) -> list[bytes]:
    return [line[len(line.rstrip(b"\r\n")) :] for line in _lines(data)]


def _run(data: bytes) -> list[_Stretch]:
    """Go through a program line by line."""
    stretches = [_Stretch()]
    x = y = b""
    for line in _lines(data):
        words = _words(line.strip(b" \t\r\n"))
        if words is None:
            if stretches[-1].holes:
                stretches.append(_Stretch())
            stretches[-1].before.append(line)
            if line.strip(b" \t").upper().startswith(b"G93"):
                x = y = b""  # a coordinate that is left out behind it is nobody's
            continue
        cycle, slot, found = b"", False, []
        for letter, number in words:
            if letter == b"G" and number == b"85":
                slot = True
                found.append((x, y))
            elif letter == b"G":
                cycle = number
            elif letter == b"X":
                x = number
            else:
                y = number
        found.append((x, y))
        places = tuple(coordinate for place in found for coordinate in place)
        hole = (cycle, b"slot" if slot else b"hole", *places)
        if cycle:  # a cycle stays where it is, as a stretch of its own
            if stretches[-1].holes:
                stretches.append(_Stretch())
            stretches[-1].before.append(b" ".join(hole))
        else:
            stretches[-1].holes.append(hole)
    return stretches


def _words(line: bytes) -> list[tuple[bytes, bytes]] | None:
    """The words of a line that drills; None for any other line."""
    words, place = [], 0
    line = line.upper()
    while place < len(line):
        end = place + 1
        while end < len(line) and line[end] in _LETTERS:
            end += 1
        letter, number = line[place : place + 1], line[place + 1 : end]
        if letter not in (b"X", b"Y", b"G") or not number:
            return None
        if letter == b"G" and number not in (b"85", b"81", b"5", b"05"):
            return None
        words.append((letter, number))
        place = end
    return words if any(letter in (b"X", b"Y") for letter, _ in words) else None
