"""SVG, HPGL, Excellon and DXF: what is written does the same work, and what would not is noticed."""

from __future__ import annotations

import re

import numpy as np
import pytest
from drawing_files import FORMATS, same, written

import warptsp
from warptsp.strokes.files import Rules
from warptsp.strokes.verify import NotVerified, verify


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("seed", range(3))
def test_random_files_are_written_and_do_the_same(folder, format, seed):
    name, random, _ = FORMATS[format]
    rng = np.random.default_rng(seed)
    before = random(rng)
    try:
        after = written(name, before)
    except NotVerified:
        raise
    except warptsp.WarpTSPError:  # refused by the reader: tests of it are elsewhere
        return
    assert same(format, before, after), seed


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_many_random_files_do_the_same(folder, format):
    count = {"dxf": 10, "svg": 40}.get(format, 150)
    for seed in range(100, 100 + count):
        test_random_files_are_written_and_do_the_same(folder, format, seed)


def mutant(data, format, rng):
    """A file with one fault: a line or an element lost, twice or elsewhere, a digit changed."""
    cut = {"svg": rb"(?<=>)", "hpgl": rb"(?<=;)"}.get(format, rb"(?<=\n)")
    parts = re.split(cut, data)
    kind, (a, b) = rng.integers(0, 4), sorted(rng.integers(0, len(parts), 2).tolist())
    if kind == 0:
        parts[a], parts[b] = parts[b], parts[a]
    elif kind == 1:
        del parts[a]
    elif kind == 2:
        parts.insert(b, parts[a])
    else:
        places = [m.start() for m in re.finditer(rb"\d", data)]
        place = places[int(rng.integers(0, len(places)))]
        digit = b"%d" % ((int(data[place : place + 1]) + int(rng.integers(1, 10))) % 10)
        return data[:place] + digit + data[place + 1 :]
    return b"".join(parts)


def unnoticed(format, seed, count):
    """Mutants of an output that the verifier lets pass, though the second check tells them apart."""
    name, random, _ = FORMATS[format]
    rng = np.random.default_rng(seed)
    before = after = b""
    while before == after:
        before = random(rng)
        try:
            after = written(name, before)
        except warptsp.WarpTSPError:
            before = after
    missed, caught = [], 0
    for _ in range(count):
        other = mutant(after, format, rng)
        try:
            verify(format, before, other, Rules())
        except NotVerified:
            caught += 1
            continue
        if other != after and not same(format, before, other):
            missed.append(other)
    return missed, caught


@pytest.mark.parametrize("format", FORMATS)
def test_a_mutant_of_what_is_written_is_noticed(folder, format):
    missed, caught = unnoticed(format, 1, 25)
    assert not missed
    assert caught > 10


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("seed", range(5))
def test_many_mutants_are_noticed(folder, format, seed):
    missed, caught = unnoticed(format, 10 + seed, 100)
    assert not missed
    assert caught > 5


# The verifiers, told of files that were written by hand.

# Of SVG what stands in the document.
FAULTS = [
    ("excellon", b"T1\nX1Y1\nX2\nT2\nX3Y3\n", b"T1\nX2Y1\nX1\nT2\nX3Y3\n", None),
    ("excellon", b"T1\nX1Y1\nX2\nT2\nX3Y3\n", b"T1\nX2\nX1Y1\nT2\nX3Y3\n", "hole"),
    ("excellon", b"T1\nX1Y1\nX2Y2\nT2\nX3Y3\n", b"T1\nX1Y1\nT2\nX3Y3\nX2Y2\n", "hole"),
    ("excellon", b"T1\nX1Y1\nX2Y2\nM30\n", b"T1\nX1Y1\nM30\nX2Y2\n", "hole|mixed"),
    ("excellon", b"T1\r\nX1Y1\r\nX2Y2\r\n", b"T1\r\nX2Y2\nX1Y1\r\n", "ends of its lines"),
    ("excellon", b"M72\nT1\nX1Y1\n", b"M71\nT1\nX1Y1\n", "lines in front"),
    ("hpgl", b"SP1;PU0,0;PD9,9;PU1,1;PD2,2;PU;", b"SP1;PU2,2;PD1,1;PU9,9;PD0,0;PU2,2;", None),
    (
        "hpgl",
        b"SP1;PU0,0;PD9,9;SP2;PU1,1;PD2,2;PU;",
        b"SP1;PU1,1;PD2,2;SP2;PU0,0;PD9,9;PU2,2;",
        "lines of stretch",
    ),
    ("hpgl", b"SP1;PU0,0;PD9,9;PU;SP0;", b"SP1;PU0,0;PD9,8;PU9,9;SP0;", "lines of stretch"),
    ("hpgl", b"SP1;PU0,0;PD9,9;PU5,5;LBa\x03PU;", b"SP1;PU0,0;PD9,9;PU5,6;LBa\x03PU;", "text"),
    ("hpgl", b"LT2;PU0,0;PD9,9;PU;", b"LT2;PU9,9;PD0,0;PU9,9;", "lines of stretch"),
    ("svg", b"<g><line x2='1'/><line x2='2'/></g>", b"<g><line x2='2'/><line x1='1'/></g>", None),
    (
        "svg",
        b"<g><line x2='1'/></g><g><line x2='2'/></g>",
        b"<g><line x2='2'/></g><g><line x2='1'/></g>",
        "colours or groups|shape in line",
    ),
    (
        "svg",
        b"<g stroke='red'><line x2='1'/><line x2='2' stroke='blue'/></g>",
        b"<g stroke='red'><line x2='2' stroke='blue'/><line x2='1'/></g>",
        "colours or groups",
    ),
    ("svg", b"<line x2='1' stroke-width='2'/>", b"<line x2='1' stroke-width='3'/>", "line 1"),
    (
        "svg",
        b"<g transform='scale(2)'><line x2='1'/></g>",
        b"<g transform='scale(3)'><line x2='1'/></g>",
        "no shape",
    ),
    ("svg", b"<path d='M0 0H9V9z'/>", b"<path d='M9 0L9 9L0 0L9 0Z'/>", None),
    ("svg", b"<path d='M0 0H9V9z'/>", b"<path d='M9 0L9 9L0 0L9 0'/>", "line 1"),
    ("svg", b"<circle r='2'/>", b"<path d='M0 2A2 2 0 0 1 0 -2A2 2 0 0 1 0 2Z'/>", None),
    ("svg", b"<circle r='2'/>", b"<path d='M0 2A2 2 0 0 0 0 -2A2 2 0 0 0 0 2Z'/>", "line 1"),
    (
        "svg",
        b"<path d='M0 0L9 9' stroke-dasharray='1'/>",
        b"<path d='M9 9L0 0' stroke-dasharray='1'/>",
        "line 1",
    ),
    (
        "svg",
        b"<path fill='none' d='M0 0L9 9M1 1h1'/>",
        b"<path fill='none' d='M1 1H2'/><path fill='none' d='M9 9L0 0'/>",
        None,
    ),
    ("svg", b"<path d='M0 0L9 9M1 1h1'/>", b"<path d='M1 1H2'/><path d='M9 9L0 0'/>", "line 1"),
    ("hpgl", b"PU5,5;PD9,9;PU1,1;PD;", b"PU1,1;PD1,1;PU5,5;PD9,9;PU1,1;", None),
    ("hpgl", b"PU5,5;PD9,9;PU1,1;PD;", b"PU5,5;PD9,9;PU1,1;", "lines of stretch"),
    (
        "svg",
        b"<line x2='1'/><circle class='k'/><line x2='2'/>",
        b"<line x2='2'/><circle class='k'/><line x2='1'/>",
        None,
    ),
    ("svg", b"<line x2='1'/><circle class='k'/>", b"<line x2='1'/><circle class='j'/>", "no shape"),
    ("svg", b"<path id='a' d='M0 0L9 9'/>", b"<path d='M0 0L9 9'/>", "ids"),
]


@pytest.mark.parametrize(("format", "before", "after", "message"), FAULTS)
def test_a_verifier_tells_files_apart(format, before, after, message):
    if format == "svg":
        before, after = (b"<svg>%s</svg>" % inside for inside in (before, after))
    verify(format, before, before, Rules())
    if message is None:
        verify(format, before, after, Rules())
    else:
        with pytest.raises(NotVerified, match=message):
            verify(format, before, after, Rules())


ENTITIES = b"0\nSECTION\n2\nENTITIES\n%s0\nENDSEC\n0\nEOF\n"
LINE = b"0\nLINE\n8\n%s\n62\n%d\n10\n%d\n20\n0\n11\n%d\n21\n0\n"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ([(b"A", 1, 0, 5), (b"A", 1, 9, 7)], [(b"A", 1, 7, 9), (b"A", 1, 0, 5)], None),
        ([(b"A", 1, 0, 5), (b"B", 1, 9, 7)], [(b"B", 1, 9, 7), (b"A", 1, 0, 5)], "layers or colours"),
        ([(b"A", 1, 0, 5), (b"A", 5, 9, 7)], [(b"A", 5, 9, 7), (b"A", 1, 0, 5)], "layers or colours"),
        (
            [(b"A", 1, 0, 5), (b"B", 1, 9, 7), (b"A", 1, 1, 2)],
            [(b"A", 1, 0, 5), (b"A", 1, 1, 2), (b"B", 1, 9, 7)],
            None,
        ),
        ([(b"A", 1, 0, 5)], [(b"A", 1, 0, 6)], "LINE"),
        ([(b"A", 1, 0, 5)], [(b"A", 2, 0, 5)], "LINE"),
        ([(b"A", 1, 0, 5)], [(b"A", 1, 0, 5), (b"A", 1, 0, 5)], "LINE"),
    ],
)
def test_the_verifier_of_dxf_tells_files_apart(before, after, message):
    one, two = (ENTITIES % b"".join(LINE % line for line in lines) for lines in (before, after))
    if message is None:
        verify("dxf", one, two, Rules())
    else:
        with pytest.raises(NotVerified, match=message):
            verify("dxf", one, two, Rules())
