"""G-code as text: which words there are, and what stands on a line; `_gcode_machine` knows what they do."""

import re
from decimal import Decimal
from functools import lru_cache

_TOKEN = re.compile(r"([A-Z])[ \t]*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))?[ \t]*")
WIDTH = re.compile(
    r"(?i)\b(D|dia|diam|diameter)(\.?\s*[-:=]?\s*)([0-9]+\.?[0-9]*|\.[0-9]+)(?![0-9./])\s*"
    r"((?:mm|in)\b|inch|\")?"
)
MOVES = {"G0": 0, "G1": 1, "G2": 2, "G3": 3}
MODAL = {
    "G17": "plane", "G18": "plane", "G19": "plane", "G20": "units", "G21": "units", "G40": "compensation",
    "G43": "length", "G49": "length", "G54": "offset", "G55": "offset", "G56": "offset", "G57": "offset",
    "G58": "offset", "G59": "offset", "G61": "path", "G61.1": "path", "G64": "path", "G80": "cycle",
    "G90": "distance", "G91": "distance", "G90.1": "centres", "G91.1": "centres", "G93": "feed mode",
    "G94": "feed mode", "G95": "feed mode", "G15": "polar", "G50": "scale", "G69": "turn", "G97": "speed",
    "G98": "return", "G99": "return", "M3": "spindle", "M4": "spindle", "M5": "spindle", "M7": "coolant",
    "M8": "coolant", "M9": "coolant", "M82": "filament", "M83": "filament",
}  # fmt: skip
# Commands that neither move the machine nor ask where it is; anything else that is no move does.
ANYWHERE = {f"M{n}" for n in (
    2, 30, 17, 18, 31, 36, 73, 75, 76, 77, 78, 80, 81, 84, 85, 92, 104, 105, 106,
    107, 108, 109, 110, 111, 113, 114, 115, 116, 117, 118, 119, 122, 140, 141, 143, 144, 145, 149, 150, 155,
    190, 191, 200, 201, 202, 203, 204, 205, 207, 208, 209, 211, 217, 220, 221, 250, 256, 300,
    301, 302, 303, 304, 305, 306, 307, 308, 309, 350, 351, 355, 400, 404, 405, 406, 407, 408, 412, 413, 420,
    425, 486, 493, 500, 501, 502, 503, 504, 566, 567, 568, 569, 570, 571, 572, 573, 575, 591, 592, 593, 710,
    851, 862.1, 862.2, 862.3, 862.4, 862.5, 862.6, 876, 900, 905, 906, 907, 908, 911, 912, 913, 914,
    919)}  # fmt: skip
FIRST = {"G10", "G32", "G34", "G52", "M48", "M49"}  # known in front of the first cut
STAYS = ANYWHERE | {f"M{n}" for n in (0, 1, 10, 11, 42, 60, 62, 63, 64, 65, 280, 281, 282)}  # move no axis
TALK = re.compile(r"M ?(?:11[578]|486|862\.[1-6])\b")  # what follows is a text
# Signs of expressions and checksums, words, repeats and calls, with a line's number or without a blank, too.
BACK = re.compile(
    r"[#\[\]*$=]|(?:^|[^A-Z])(?:GOTO|REPEAT|(?:CALL|IF|RPT|WHILE)(?![A-Z]))"
    r"|(?:^|[^A-Z])(?:M\s*0*(?:47|96|97|98|99)|G\s*0*(?:65|66|67))(?:$|[^0-9])|[^A-Z/ \t][ \t]*N ?[0-9]"
)


def uncommented(line: str) -> tuple[str | None, tuple[str, ...]]:
    """A line without its comments, and these; None if one has no end."""
    if "(" not in line and ";" not in line:
        return line, ()
    bare, comments, at = [], [], 0
    while at < len(line):
        if line[at] == ";":
            comments.append(line[at:])
            break
        if line[at] == "(":
            end = line.find(")", at)
            if end < 0:
                return None, ()
            comments.append(line[at : end + 1])
            at = end + 1
            continue
        bare.append(line[at])
        at += 1
    return "".join(bare), tuple(comments)


@lru_cache(maxsize=1 << 16)  # programs say the same again and again
def words_of(bare: str) -> list[tuple[str, Decimal | None]] | None:
    """Letters and their numbers; None if there is anything else."""
    found: list[tuple[str, Decimal | None]] = []
    at = 0
    while at < len(bare):
        match = _TOKEN.match(bare, at)
        if match is None or len(match[0]) > 99:
            return None
        found.append((match[1], None if match[2] is None else Decimal(match[2])))
        at = match.end()
    return found


def plain(value: Decimal | None) -> str:
    """The number of a code: 1 for 01, 90.1 for 90.1."""
    return f"{float(value or 0):g}"
