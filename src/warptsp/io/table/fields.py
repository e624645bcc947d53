"""What a field of a table can be: a number, a name, or nothing."""

import re

MINUS = "\u2212"  # as Unicode has it beside the hyphen
NUMBER = re.compile(rf"[+\-{MINUS}]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
WITH_COMMA = re.compile(rf"[+\-{MINUS}]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
THOUSANDS = {mark: re.compile(rf"[+\-{MINUS}]?[1-9]\d{{0,2}}\{mark}\d{{3}}") for mark in ".,"}
"""Numbers that may be thousands, by the mark in them."""
GROUPED = re.compile(
    rf"[+\-{MINUS}]?[1-9]\d{{0,2}}(?P<mark>[ .,'\u00b4\u2019\u00a0\u2009\u202f])\d{{3}}"
    r"((?P=mark)\d{3})*([.,]\d*)?"
)
"""Numbers with a mark between thousands, where `NUMBER` and `WITH_COMMA` do not know them."""
HINT_OF_THOUSANDS = " (without marks between thousands)"
WORDS_FOR_NO_NUMBER = re.compile(
    r"[+-]?(nan|inf(inity)?|n/?a|none|null|#(n/a|nv|value!|wert!|ref!|bezug!))?", re.IGNORECASE
)
"""What stands where a number is missing, in workbooks an error of a formula."""

HOLE = re.compile(rf"[-\u2013\u2014{MINUS}]?|n/?a|nan|none|null", re.IGNORECASE)
"""What stands in a matrix where there is no distance."""
LEADING_ZERO = re.compile(r"0[0-9]")
_DIGITS = 15
_NODE_NUMBER = re.compile(rf"[0-9]{{1,{_DIGITS}}}(\.0*)?")
NODE_NUMBERS = 10.0**_DIGITS  # where these end: longer ones are names; a float may not hold their last digit
_INFINITE = re.compile(r"\+?(inf(inity)?|\u221e)", re.IGNORECASE)
_OF_DIAGONAL = re.compile(r"[-\u2013\u2014.*xX\u00d7\\/#]+")


def is_infinite(field: str) -> bool:
    """Whether a field stands for an arc that is missing."""
    return bool(_INFINITE.fullmatch(field.strip()))


def is_mark(field: str) -> bool:
    """Whether a field may stand in the diagonal of a matrix for no distance."""
    return bool(HOLE.fullmatch(field) or _OF_DIAGONAL.fullmatch(field) or is_infinite(field))


def is_number(text: str) -> bool:
    """Whether a text is a number, with a decimal point or comma."""
    return bool(NUMBER.fullmatch(text) or WITH_COMMA.fullmatch(text))


def is_node_number(text: str) -> bool:
    """Whether a text is a whole number from 0 upwards, perhaps as a spreadsheet writes it: ``7.0``."""
    return _NODE_NUMBER.fullmatch(text) is not None


def is_name(text: str) -> bool:
    """Whether a text can be the name of a place, and not a number that is written in an unknown way."""
    return any(map(str.isalpha, text)) and not WORDS_FOR_NO_NUMBER.fullmatch(text)


def is_counted(names: list[str]) -> bool:
    """Whether these only count: 0, 1, 2, ... or 1, 2, 3, ..."""
    return any(names == list(map(str, range(first, first + len(names)))) for first in (0, 1))
