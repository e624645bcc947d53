"""Tables are read and written in blocks, fast where nothing is unusual, with the same outcome."""

import gc
import logging
import random

import numpy as np
import pytest

from warptsp._native import format_reals
from warptsp.errors import ParseError
from warptsp.io.options import ReadOptions
from warptsp.io.table import text as texts
from warptsp.io.table.reader import read_table
from warptsp.io.table.rows import CHUNK
from warptsp.io.table.writer import _in_columns, _rows

HEADERS = (["name", "x", "y"], ["x", "y"], ["id", "name", "x", "y"], ["name", "lat", "lon"], ["a", "b"], None)
NUMBERS = [
    *("1", "2.5", "-3", "4,5", "1.234", "1e400", "1_0", "\u0661", "7.0", "nan", "-"),
    *("\u00a01", "52\u00b0 N"),
]
MARKED = ['"A"', '"B, C"', '" d "', '"e""f"', '"', '"h"i', ' "g" ', 'j"k"', '"l\nm"', '"5"']
BLANKS = ["", "  ", "\t", "\x0c", "\u2028", "a\x85b"]
ODD = [*NUMBERS, *MARKED, *BLANKS, "s", "sep=", "sep=;", "#", "# a", "#b", "'3"]


def hostile(draw: random.Random) -> bytes:
    """A small table of which more or less is odd."""
    mark = draw.choice([",", ",", ";", "\t", "|"])
    header = draw.choice(HEADERS)
    width, odd = len(header or "xy"), draw.choice([0.0, 0.0, 0.02, 0.1, 0.4])
    lines = [draw.choice(["# c", "", "Title", "3", "sep=;", mark * 3])] if draw.random() < 0.2 else []
    lines += [mark.join(header)] if header else []
    for row in range(draw.randint(1, 12)):
        name = draw.choice(['"Stop %d"', "Stop %d", '"s, %d"', '"#%d"', "sep=%d", "\u00e4%d"]) % row
        fields = [f"{80 * draw.random():.{draw.randint(0, 3)}f}" for _ in range(width)]
        fields = [name if header and header[at] == "name" else field for at, field in enumerate(fields)]
        fields = [draw.choice(ODD) if draw.random() < odd else field for field in fields]
        lines.append(mark.join(fields[: -1 if draw.random() < odd / 2 else None]))
        if draw.random() < odd / 2:
            lines.append(draw.choice(["", "  ", mark * (width - 1), "# c", f"#{mark}5", "sep=;", ",", '"']))
    end = draw.choice(["\n", "\r\n", "\r"])
    return (end.join(lines) + end * draw.randint(0, 2)).encode()


def outcome(data: bytes, caplog, **options) -> list[str] | None:
    """What is said of a table and what is read, or None if it is refused."""
    caplog.clear()
    try:
        problem, columns = read_table(data, "t.csv", ReadOptions(**options))
    except ParseError:
        return None
    names = ("labels", "node_ids", "extra", "style", "matrix", "coordinates")
    return [*caplog.messages, str(columns), *(repr(getattr(problem, name)) for name in names)]


def test_blocks_change_nothing(monkeypatch, caplog):
    caplog.set_level(logging.DEBUG, "warptsp")
    draw = random.Random(5)
    read = 0
    for number in range(700):
        data = hostile(draw)
        whole = outcome(data, caplog, skip_incomplete=number % 3 == 0)
        with monkeypatch.context() as patched:
            patched.setattr(texts, "CHUNK", 1 + number % 3)
            assert outcome(data, caplog, skip_incomplete=number % 3 == 0) == whole, data
        read += whole is not None
        # What decides fast whether a closer look is needed.
        even = all(line.count(b'"') % 2 == 0 for line in data.splitlines())
        assert texts._has_pairs_in_lines(data) == even, data
        for _, line in texts._numbered(data):
            line = line.rstrip("\n")
            if texts._is_blank(line) or texts._is_comment(line):
                assert texts._may_begin_no_row(line[:1]), line
    assert 175 < read < 525


def test_blank_lines_of_any_white_space_get_a_closer_look():
    for character in map(chr, range(0x3100)):
        assert texts._may_begin_no_row(character) or not texts._is_blank(character), character


def test_columns_are_written_as_rows():
    draw = random.Random(6)
    plain = 0
    for _ in range(2000):
        plain_ones = ["a", "Stop 7", "-1.5", "", "\u00e4"]
        fields = plain_ones if draw.random() < 0.3 else [*ODD, "\r", "x\ry", "a\x1cb"]
        mark, n = draw.choice(",;\t|"), draw.randint(1, 5)
        columns = [[draw.choice(fields) for _ in range(n)] for _ in range(draw.randint(2, 4))]
        assert _in_columns(columns, mark) == _rows(zip(*columns, strict=True), mark), columns
        plain += '"' not in "".join(map("".join, columns))
    assert 500 < plain < 1500


def test_reals_are_written_as_python_does():
    draw = np.random.default_rng(7)
    powers = 10.0 ** np.arange(-8, 20)
    for values in (
        draw.integers(0, 1 << 63, 20_000).view(np.float64),
        -(10.0 ** draw.uniform(-6, 18, 20_000)),
        np.round(10.0 ** draw.uniform(-2, 17, 20_000), 1),
        np.concatenate([powers, np.nextafter(powers, 0), np.nextafter(powers, np.inf)]),
        np.array([0.0, -0.0, np.inf, -np.inf, np.nan]),
    ):
        assert format_reals(values).decode().split("\n") == list(map(repr, values.tolist()))


@pytest.mark.parametrize("row", ['"Stop {}",1.5,2.5', "Stop {},1.5,2.5"])
def test_rows_do_not_wake_the_garbage_collector(row):
    """Which walks through all lists that are alive, again and again, if blocks are larger."""
    data = "\n".join(["name,x,y", *(row.format(number) for number in range(20 * CHUNK))]).encode()
    table, starts = texts.TableText(data, "t.csv"), []
    gc.collect()
    gc.callbacks.append(watch := lambda phase, _: starts.append(phase))
    try:
        count = sum(len(rows) for _, rows in table.chunks())
    finally:
        gc.callbacks.remove(watch)
    assert count == 20 * CHUNK + 1
    assert len(starts) <= 4
