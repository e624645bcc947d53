"""Mutants of the files in `corpus`, and what must hold for each: a valid result, or one line.

`test_fuzz.py` takes some hundred of them, always the same; ``.ci/fuzz SECONDS`` takes new ones.
"""

import gzip
import random
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import warptsp
from warptsp import Problem
from warptsp.cli import run
from warptsp.errors import WarpTSPError
from warptsp.io import FORMATS, TOUR_FORMATS, load
from warptsp.io.tours import read_tour_file

CORPUS = Path(__file__).parent / "corpus"
FILES = sorted(CORPUS.iterdir())
LONGEST_MESSAGE = 500  # beside the name of the file
SOLVED = 300  # cities up to which a mutant is solved, too
ENDINGS = sorted({ending for endings in (*FORMATS.values(), *TOUR_FORMATS.values()) for ending in endings})

_NUMBERS = """nan inf -inf NaN Infinity null true "1" 0 -0 -1 1e308 -1e308 1e309 1e-320 1e39 1e19 2147483647
2147483648 -2147483649 4294967296 9007199254740993 9223372036854775807 9223372036854775808
18446744073709551616 91 -91 181 361 90 180 -180 0.60 59.99 1,5 1.234,5 0x10 1_000 1e 1e+ .5 5. + - --1
1e999999999999"""
_STRANGE = ["9" * 400, "9" * 5000, "0." + "0" * 500 + "1", "\u0663", "\ud7ff", "\x00", "\x1b[31m", "'", '"']
EXTREMES = _NUMBERS.split() + _STRANGE
_KEYWORDS = """NAME TYPE TSP ATSP HPP TOUR CVRP DIMENSION EDGE_WEIGHT_TYPE EXPLICIT EUC_2D EUC_3D GEO ATT
XRAY1 GREAT_CIRCLE EDGE_WEIGHT_FORMAT FULL_MATRIX UPPER_ROW LOWER_DIAG_COL NODE_COORD_SECTION
EDGE_WEIGHT_SECTION DISPLAY_DATA_SECTION FIXED_EDGES_SECTION TOUR_SECTION DISPLAY_DATA_TYPE NO_DISPLAY
THREED_COORDS EOF -1 : = x y z lat lon id name position path_position type Feature FeatureCollection Point
MultiPoint LineString MultiLineString Polygon GeometryCollection coordinates geometries geometry properties
durations distances sources destinations location code gpx kml wpt rte rtept trkpt Placemark <![CDATA[ ]]>
<!-- --> <!DOCTYPE <?xml &amp; &a; descr fortran_order shape <f4 <i8 <m8 |O"""
WORDS = _KEYWORDS.split()
_TOKEN = re.compile(rb"[A-Za-z_]+|[-+]?[\d.]+(?:[eE][-+]?\d+)?|\S")
_DIGITS = re.compile(rb"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?")


def _spans(pattern: re.Pattern[bytes], data: bytes) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(data[:20_000])]


def _replaced(pattern: re.Pattern[bytes], data: bytes, chance: random.Random, new: bytes) -> bytes:
    spans = _spans(pattern, data)
    if not spans:
        return data + new
    begin, end = chance.choice(spans)
    return data[:begin] + new + data[end:]


def flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data or b"?")
    for _ in range(chance.choice((1, 1, 2, 8))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def cut_off(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def cut_out(data: bytes, chance: random.Random) -> bytes:
    begin = chance.randrange(len(data) + 1)
    return data[:begin] + data[begin + chance.choice((1, 2, 8, 64)) :]


def strange_bytes(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.randbytes(chance.choice((1, 2, 9))) + data[place:]


def extreme_number(data: bytes, chance: random.Random) -> bytes:
    return _replaced(_DIGITS, data, chance, chance.choice(EXTREMES).encode("utf-8", "surrogatepass"))


def other_word(data: bytes, chance: random.Random) -> bytes:
    return _replaced(_TOKEN, data, chance, chance.choice(WORDS).encode())


def swapped_tokens(data: bytes, chance: random.Random) -> bytes:
    spans = _spans(_TOKEN, data)
    if len(spans) < 2:
        return data
    (a, b), (c, d) = sorted(chance.sample(spans, 2))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def lines_again(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    for _ in range(chance.choice((1, 1, 3))):
        if lines:
            lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
    return b"".join(lines)


def lines_shuffled(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    chance.shuffle(lines)
    return b"".join(lines)


def repeated(data: bytes, chance: random.Random) -> bytes:
    begin = chance.randrange(len(data) + 1)
    piece = data[begin : begin + chance.choice((1, 3, 20))]
    return data[:begin] + piece * chance.choice((2, 50, 3000)) + data[begin:]


def other_encoding(data: bytes, chance: random.Random) -> bytes:
    text = data.decode("latin-1")
    return chance.choice(
        (
            lambda: text.encode("utf-16"),
            lambda: b"\xef\xbb\xbf" + data,
            lambda: data.replace(b"\n", b"\r\n"),
            lambda: data.replace(b"\n", b"\r"),
            lambda: text.encode("utf-8") + "\u00e9\u2028".encode("utf-8"),
            lambda: gzip.compress(data, mtime=0),
            lambda: data.upper(),
            lambda: data.replace(b",", b";"),
            lambda: data.replace(b" ", b"\t"),
        )
    )()


def spliced(data: bytes, chance: random.Random) -> bytes:
    other = chance.choice(FILES).read_bytes()
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]


MUTATORS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    flip, cut_off, cut_out, strange_bytes, extreme_number, extreme_number, other_word, swapped_tokens,
    lines_again, lines_shuffled, repeated, other_encoding, spliced,
)  # fmt: skip


def mutants(seed: int) -> Iterator[tuple[str, bytes]]:
    """Names and contents of files without end; the same for the same seed."""
    chance = random.Random(seed)
    while True:
        file = chance.choice(FILES)
        data = file.read_bytes()
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            data = chance.choice(MUTATORS)(data, chance)[:200_000]
        ending = "".join(file.suffixes) if chance.random() < 0.85 else chance.choice(ENDINGS)
        yield f"mutant{ending}", data


class BrokenPromiseError(AssertionError):
    """What must hold does not."""


def _in_one_line(call: Callable[[], object], name: str) -> object:
    """What a call returns, None for an error that is told as it should be."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return call()
        except WarpTSPError as error:
            message = str(error)
        except Exception as error:
            raise BrokenPromiseError(f"{type(error).__name__}: {error}") from error
    rest = message.replace(name, "")
    if "\n" in message or len(rest) > LONGEST_MESSAGE or message.count(f"{name}:") > 1:
        raise BrokenPromiseError(f"no good line: {message[:2000]!r}")
    return None


def check_file(path: Path, home: Problem) -> None:
    """Read a file as an instance and as a tour of `home`, and solve the instance.

    Raises
    ------
    BrokenPromiseError
        Something else came of it than a valid result or one line.
    """
    name = str(path)
    for asymmetric in (False, True):
        problem = _in_one_line(lambda asymmetric=asymmetric: load(path, asymmetric=asymmetric), name)
    if isinstance(problem, Problem) and problem.n <= SOLVED:
        result = _in_one_line(lambda: warptsp.solve(problem, kicks=10, threads=1), name)
        if result is not None:
            problem.check_tour(result.tour)
            if result.length != problem.length(result.tour) or not np.isfinite(float(result.length)):
                raise BrokenPromiseError(
                    f"length {result.length}, and the tour has {problem.length(result.tour)}"
                )
    found = _in_one_line(lambda: read_tour_file(path, home), name)
    if found is not None:
        home.check_tour(found.cities)


def check_command(path: Path, shown: Callable[[], tuple[str, str]]) -> int:
    """Give a file to ``warptsp solve``; `shown` returns what it wrote to both streams. Returns the status."""
    status = run(["solve", str(path), "--kicks", "10", "--threads", "1", "--quiet"])
    _, errors = shown()
    faults = [line for line in errors.splitlines() if line.startswith("warptsp: error: ")]
    if status not in (0, 2) or (status == 2) != (len(faults) == 1) or "Traceback" in errors:
        raise BrokenPromiseError(f"status {status}: {errors[:2000]}")
    return status
