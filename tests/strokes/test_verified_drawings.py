"""SVG, HPGL, Excellon and DXF: what is written does the same work, and what would not is noticed."""

import re

import numpy as np
import pytest
from drawing_files import FORMATS, PAINTS, same, written

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


# The verifiers, told of files that were written by hand; of SVG and DXF it is what stands in the document.
DRILLS = [
    ("METRIC|T1C0.8", "X1.0Y1.0", "X1.7Y1.0", "overlap"),
    ("METRIC|T1C0.8", "X1.0Y1.0", "X1.9Y1.0", None),
    ("METRIC|T1C0.8", "X1.0Y1.0", "X1.00Y1.0", None),
    ("METRIC|T1C0.8", "X1.0Y1.0G85X9.0Y1.0", "X6.3Y1.7", "overlap"),
    ("METRIC|T1C0.8", "X1000Y1000", "X1700Y1000", "overlap"),
    ("METRIC,LZ|T1C0.8", "X1000Y1000", "X1700Y1000", None),
    ("METRIC,LZ|T1C0.8", "X001Y001", "X0017Y001", "overlap"),
    (";FILE_FORMAT=4:4|METRIC|T1C0.8", "X10000Y10000", "X17000Y10000", "overlap"),
    ("METRIC,000.00|T1C0.8", "X100Y100", "X170Y100", "overlap"),
    ("INCH|T01C.032", "X10000Y10000", "X10300Y10000", "overlap"),
    ("INCH|T1C.032|M71", "X1.0Y1.0", "X1.8Y1.0", "overlap"),
    ("T1C0.8|METRIC", "X1.0Y1.0", "X1.7Y1.0", "overlap"),
    ("METRIC", "X1.0Y1.0", "X1.4Y1.0", "overlap"),
    ("METRIC", "X1.0Y1.0", "X1.6Y1.0", None),
    ("METRIC|T1C200", "X1.0Y1.0", "X1.6Y1.0", None),
    ("INCH", "X1.0Y1.0", "X1.019Y1.0", "overlap"),
]
"""A header, two holes, and what is said of them in another order."""
FAULTS = {
    "excellon": [
        ("T1|X1.Y1.|X2.|T2|X3.Y3.|", "T1|X2.Y1.|X1.|T2|X3.Y3.|", None),
        ("T1|X1.Y1.|X2.|T2|X3.Y3.|", "T1|X2.|X1.Y1.|T2|X3.Y3.|", "hole"),
        ("T1|X1.Y1.|X2.Y2.|T2|X3.Y3.|", "T1|X1.Y1.|T2|X3.Y3.|X2.Y2.|", "hole"),
        ("T1|X1.Y1.|X2.Y2.|M30|", "T1|X1.Y1.|M30|X2.Y2.|", "hole|mixed"),
        ("T1\r|X1.Y1.\r|X2.Y2.\r|", "T1\r|X2.Y2.|X1.Y1.\r|", "ends of its lines"),
        ("M72|T1|X1.Y1.|", "M71|T1|X1.Y1.|", "lines in front"),
        # Overlapping holes of a tool in another order; the same hole again and what only is near may pass.
        *((f"{head}|T1|X5.Y5.|{one}|{two}|", f"{head}|T1|X5.Y5.|{two}|{one}|", refused)
          for head, one, two, refused in DRILLS),
    ],
    "hpgl": [
        ("SP1;PU0,0;PD9,9;PU1,1;PD2,2;PU;", "SP1;PU2,2;PD1,1;PU9,9;PD0,0;PU2,2;", None),
        ("SP1;PU0,0;PD9,9;SP2;PU1,1;PD2,2;PU;", "SP1;PU1,1;PD2,2;SP2;PU0,0;PD9,9;PU2,2;", "lines of stretch"),
        ("SP1;PU0,0;PD9,9;PU;SP0;", "SP1;PU0,0;PD9,8;PU9,9;SP0;", "lines of stretch"),
        ("SP1;PU0,0;PD9,9;PU5,5;LBa\x03PU;", "SP1;PU0,0;PD9,9;PU5,6;LBa\x03PU;", "text"),
        ("LT2;PU0,0;PD9,9;PU;", "LT2;PU9,9;PD0,0;PU9,9;", "lines of stretch"),
        ("PU5,5;PD9,9;PU1,1;PD;", "PU1,1;PD1,1;PU5,5;PD9,9;PU1,1;", None),
        ("PU5,5;PD9,9;PU1,1;PD;", "PU5,5;PD9,9;PU1,1;", "lines of stretch"),
    ],
    "svg": [
        ("<g><line x2='1'/><line x2='2'/></g>", "<g><line x2='2'/><line x1='1'/></g>", None),
        ("<g><line x2='1'/></g><g><line x2='2'/></g>", "<g><line x2='2'/></g><g><line x2='1'/></g>",
         "colours or groups|shape in line"),
        ("<g stroke='red'><line x2='1'/><line x2='2' stroke='blue'/></g>",
         "<g stroke='red'><line x2='2' stroke='blue'/><line x2='1'/></g>", "colours or groups"),
        ("<line x2='1' stroke-width='2'/>", "<line x2='1' stroke-width='3'/>", "line 1"),
        ("<g style='x:2'><line x2='1'/></g>", "<g style='x:3'><line x2='1'/></g>", "no shape"),
        ("<path d='M0 0H9V9z'/>", "<path d='M9 0L9 9L0 0L9 0Z'/>", None),
        ("<path d='M0 0H9V9z'/>", "<path d='M9 0L9 9L0 0L9 0'/>", "line 1"),
        ("<circle r='2'/>", "<path d='M0 2A2 2 0 0 1 0 -2A2 2 0 0 1 0 2Z'/>", None),
        ("<circle r='2'/>", "<path d='M0 2A2 2 0 0 0 0 -2A2 2 0 0 0 0 2Z'/>", "line 1"),
        ("<circle r='2'/>", "<path d='M0 2A2 2 0 7 1 0 -2A2 2 0 0 1 0 2Z'/>", "geometry of a path"),
        ("<path d='M0 0L9 9' stroke-dasharray='1'/>", "<path d='M9 9L0 0' stroke-dasharray='1'/>", "line 1"),
        ("<path fill='none' d='M0 0L9 9M1 1h1'/>",
         "<path fill='none' d='M1 1H2'/><path fill='none' d='M9 9L0 0'/>", None),
        ("<path d='M0 0L9 9M1 1h1'/>", "<path d='M1 1H2'/><path d='M9 9L0 0'/>", "line 1"),
        ("<line x2='1'/><circle class='k'/><line x2='2'/>",
         "<line x2='2'/><circle class='k'/><line x2='1'/>", None),
        ("<line x2='1'/><circle class='k'/>", "<line x2='1'/><circle class='j'/>", "no shape"),
        ("<path id='a' d='M0 0L9 9'/>", "<path d='M0 0L9 9'/>", "ids"),
        ("<line x2='1'/><line x2='3' stroke='red' display='none'/><line x2='2'/>",
         "<line x2='2'/><line x2='3' stroke='red' display='none'/><line x2='1'/>", None),
        ("<g stroke='currentColor'><line color='red'/><line x2='1'/></g>",
         "<g stroke='currentColor'><line x2='1'/><line color='red'/></g>", "colours or groups"),
        *((f"<style>{sheet}</style><path id='b' d='M0 0h9'/><line id='c' role='x' x2='2'/>",
           f"<style>{sheet}</style><line id='c' role='x' x2='2'/><path id='b' d='M0 0h9'/>", refused)
          for sheet, refused in PAINTS.items()),
    ],
    "dxf": [  # layer, colour and the ends of each line
        ("A 1 0 5, A 1 9 7", "A 1 7 9, A 1 0 5", None),
        ("A 1 0 5, B 1 9 7", "B 1 9 7, A 1 0 5", "layers or colours"),
        ("A 1 0 5, A 5 9 7", "A 5 9 7, A 1 0 5", "layers or colours"),
        ("A 1 0 5, B 1 9 7, A 1 1 2", "A 1 0 5, A 1 1 2, B 1 9 7", None),
        ("A 1 0 5", "A 1 0 6", "LINE"),
        ("A 1 0 5", "A 2 0 5", "LINE"),
        ("A 1 0 5", "A 1 0 5, A 1 0 5", "LINE"),
    ],
}  # fmt: skip


def whole_file(format, text):
    """A file with this in it."""
    if format == "dxf":
        entity = "0\nLINE\n8\n{}\n62\n{}\n10\n{}\n20\n0\n11\n{}\n21\n0\n"
        text = "".join(entity.format(*line.split()) for line in text.split(", "))
        text = f"0\nSECTION\n2\nENTITIES\n{text}0\nENDSEC\n0\nEOF\n"
    return (f"<svg>{text}</svg>" if format == "svg" else text.replace("|", "\n")).encode()


@pytest.mark.parametrize(
    ("format", "before", "after", "message"), [(name, *row) for name in FAULTS for row in FAULTS[name]]
)
def test_a_verifier_tells_files_apart(format, before, after, message):
    before, after = whole_file(format, before), whole_file(format, after)
    verify(format, before, before, Rules())
    if message is None:
        verify(format, before, after, Rules())
    else:
        with pytest.raises(NotVerified, match=message):
            verify(format, before, after, Rules())
