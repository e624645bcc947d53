"""G-code: what the reader and the verifier both take from one place, by hand."""

import math
from itertools import pairwise

import pytest

from warptsp.strokes.gcode_arcs import points_of_arc
from warptsp.strokes.gcode_words import Unknown, chosen, statement, tool_width, uncommented


@pytest.mark.parametrize(
    ("to", "words", "clockwise", "plane", "absolute", "middle"),
    [
        ((10, 0, 0), {"I": "5"}, True, "G17", False, (5, 5, 0)),
        ((10, 0, 0), {"I": "5"}, False, "G17", False, (5, -5, 0)),
        ((10, 0, 4), {"I": "5", "J": "0"}, False, "", True, (5, -5, 2)),
        ((0, 0, 0), {"J": "-3"}, True, "G17", False, (0, -6, 0)),
        ((0, 0, -2), {"J": "-3"}, False, "G17", False, (0, -6, -1)),
        ((6, 2, 0), {"R": "5"}, True, "G17", False, None),
        ((6, 2, 0), {"R": "-5"}, False, "G17", False, None),
        ((10, 0, 0), {"I": "5", "J": "9"}, True, "G18", False, (5, 0, -5)),
        ((10, 0, 0), {"I": "5"}, False, "G18", False, (5, 0, 5)),
        ((0, 10, 0), {"J": "5"}, True, "G19", False, (0, 5, 5)),
    ],
)
def test_arcs(to, words, clockwise, plane, absolute, middle):
    points = points_of_arc((0.0, 0.0, 0.0), tuple(map(float, to)), words, clockwise, plane, absolute)
    assert (points[0], points[-1]) == ((0, 0, 0), to)
    if middle is not None:
        assert points[len(points) // 2] == pytest.approx(middle, abs=0.5)
        return
    # Of the four arcs of a radius through two points: the side on which it lies, and its length.
    radius = float(words["R"])
    length = sum(math.dist(a, b) for a, b in pairwise(points))
    short = 2 * abs(radius) * math.asin(math.dist(points[0], to) / 2 / abs(radius))
    assert length == pytest.approx(short if radius > 0 else 2 * math.pi * abs(radius) - short, rel=0.02)
    x, y, _ = points[len(points) // 2]
    assert (to[0] * y - to[1] * x > 0) == clockwise  # a clockwise arc lies on the left of its chord


def test_an_arc_of_a_radius_that_ends_where_it_begins_is_not_followed():
    with pytest.raises(Unknown, match="ends where it begins"):
        points_of_arc((1.0, 2.0, 0.0), (1.0, 2.0, -1.0), {"R": "3"}, True, "G17", False)


UNKNOWN = ["X1X2", "G1 G2", "G90 G91", "X1 2", "X1.2.3", "X\uff11", "N1 N2", "M6 X1", "G50 S9", "G28 G21"]
UNKNOWN += ["O100", "M98 P1", "#1=2", "M99", "G52 X1", "G0 A9", "G92 X0", f"X{'1' * 41}", "G43 P1", "X"]
UNKNOWN += ["G38.2 Z-1", "G54.1 P1", "G68 X0", "G16", "G7", "G76 P1", "G81 X1 Z-1 R1", "G27 L5", "RPT N1,N2"]


def test_what_lines_say():
    said = statement("n10 g01x-.5 Y+2. f1", None, True, True)
    assert (said.kind, said.codes, said.motion, said.axes) == ("words", ("G1",), 1, "XY")
    assert said.values == {"N": "10", "X": "-.5", "Y": "+2.", "F": "1"}
    assert statement("I3", 2, True, True).axes == "I"
    assert statement("G43 H2 G0 Z5", None, True, True).settings == {"tool length": "G43 H2"}
    kinds = {"": "nothing", "%": "still", "M117 G1 X#": "still", "m104 S9": "still", "/ M08": "here",
             "M0": "here", "G28 X": "home", "G53 G0 Z0": "home", "G92 E0": "count", "G10": "retract",
             "G4 P1": "dwell"}  # fmt: skip
    assert {line: statement(line, 0, True, True).kind for line in kinds} == kinds
    assert [statement(line, 0, False, False).kind for line in ("%", "O 100", "G52 X1", "G0 A9")] == [
        *("nothing", "nothing", "home", "words")
    ]
    for line in UNKNOWN:
        with pytest.raises(Unknown):
            statement(line, 1, True, True)


def test_settings_that_stay():
    def after(settings, line, begun=True):
        return chosen(settings, statement(line, 0, True, True), begun, False)

    assert after({"coolant": "M7"}, "M8") == ({"coolant": "M7 M8"}, "")
    assert after({"coolant": "M7 M8"}, "M9") == ({"coolant": "M9"}, "")
    assert after({"offset": "G54"}, "G55")[1] == "XYZ"
    assert after({"offset": "G54"}, "G54")[1] == ""
    assert after({"tool length": "G43 H1"}, "G43 H2")[1] == "Z"
    assert after({"tool length": "G43 H"}, "G43")[1] == "Z"  # the tool's own, whichever that is
    assert after({"extrusion": "M83"}, "G90")[0]["extrusion"] == ""
    assert after({}, "G20", begun=False)[0] == {"units": "G20"}
    with pytest.raises(Unknown, match="another unit"):
        after({}, "G20")


def test_comments():
    assert uncommented("G1 (a;b) X1 ; c (d)") == ("G1  X1 ", ["(a;b)", "; c (d)"])
    assert uncommented("G1 (a") == (None, [])
    widths = {"(D=6)": 6, "(dia. 1/4)": 6.35, "(D1)": 6.35, '(D=.25")': 6.35, "; D=3mm": 3, "": 6.35}
    assert {comment: tool_width([comment], False, False) for comment in widths} == widths
    widths = {  # as programs write it
        '(D=1/2")': 12.7, "(DIA 12,0)": 12, "(Ø12)": 12, "(Durchmesser = 12)": 12, "(1/2 FLAT ENDMILL)": 12.7,
        "(1-1/2 face mill)": 38.1, "(TC: 10mm Endmill)": 10, "(1 = End Mill {12 mm})": 12, "(T0 : 12.0)": 12,
        "(TOOL/MILL,12.7, 0.000, 30.0)": 12.7, "(T9 | 10. FLAT ENDMILL | H9)": 10, "; Fräser 8mm": 8,
        "(T1 D=3 - ZMIN=-19.05 - flat end mill)": 3, "(END MILL 2 FLUTE)": 6.35, "(mill at 600mm/min)": 6.35,
        "(stock 300mm x 200mm)": 6.35, "(Toolpath: pocket, 20mm deep)": 6.35, "(in millimeters 20.5)": 6.35,
        "(mill 1/0)": 6.35, "(T1 3mm end mill)": 6.35,
    }  # fmt: skip
    assert {comment: tool_width([comment], False, False) for comment in widths} == pytest.approx(widths)
    assert tool_width(["; tool 1: D=0.4mm", "; retract 30mm for a tool"], False, True) == 0.4
    assert tool_width(["(D=25.4mm)"], True, False) == pytest.approx(1)
    assert tool_width([], False, True) == 0
