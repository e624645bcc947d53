"""Files of strokes: what is drawn stays the same, what is malformed is one line, the original stays."""

import io
import json
import math
import re
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner
from drawing_files import checked_plot, run, same
from gcode_second import differences, simulate

import warptsp
from warptsp.cli import commands
from warptsp.plotting.packed import unpacked_integers
from warptsp.strokes import arrange
from warptsp.strokes.files import read_drawing

SVG = """<?xml version="1.0"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">
 <!-- a > b -->
 <defs><path d="M0 0L1 1"/></defs>
 <g transform="translate(5,5) rotate(10)" id="a &gt; b">
  <path d="M0 0 L10 0" stroke="red"/>
  <line x1="50" y1="50" x2="60" y2="50"/>
  <circle cx="10" cy="3" r="2" fill="none"><title>hi</title></circle>
  <path fill="none" d="m 60 55 q 3 3 6 0 t 6 0 m 10 0 l 1 1 z a 3 4 20 0 1 3 -3"/>
  <path d="M1 1L2 1L2 2z M1.2 1.2 L1.4 1.2 L1.4 1.4 z"/>
 </g>
 <g><rect x="1" y="1" width="5" height="5"/><text x="3" y="3">t</text><polyline points="80,80 90,90"/>
 <polygon points="10,10 20,20 30,10"/><ellipse cx="50" cy="5" rx="3" ry="1"/>
 <rect x="60" y="1" width="5" height="5" rx="1"/></g>
</svg>
"""
HPGL = (
    "IN;SP1;PU0,0;PD100,0,100,100;PU500,500;PD600,500;PU100,110;PD200,200;VS10;PD210,200;"
    "SP2;PU10,10;PR;PD5,5,5,5;PA;PU300,300;PD;PU0,0;LBsay;\x03SP0;"
)
EXCELLON = """M48
METRIC,TZ
T1C0.8
T2C1.0
%
T1
X010000Y010000
X020000
Y030000
X000000Y000000
T2
X5.5Y1.25
X100.0Y100.0
X6.0Y1.0
X1.0Y1.0G85X2.0Y1.0
T0
M30
"""
GCODE = """G21 G90
M3 S1000
G0 Z5
G0 X0 Y0
G1 Z-1 F100
G1 X10 F800 (cut)
G0 Z5
G0 X100 Y100
G1 Z-1
X110
G0 Z5
G0 X12
G1 Z-1
G2 X12 Y10 I0 J-45
G0 Z5
G0 X100 Y112 ; far
G1 Z-1
G1 X90
G0 Z5
M6 T2
G0 X50 Y50
G1 Z-2 S900
G0 Z5
G0 X0 Y1
G1 Z-2
G0 Z5
G0 X51
G1 Z-2
G0 Z5
M5
G0 X0
G0 Y0
M2
"""
FILES = {"a.svg": SVG, "a.hpgl": HPGL, "a.drl": EXCELLON, "a.gcode": GCODE}


def seen(name):
    """The lengths and the boxes of all parts of a drawing where they are shown, by another reader."""
    svgelements = pytest.importorskip("svgelements")
    shapes = [s for s in svgelements.SVG.parse(name).elements() if isinstance(s, svgelements.Shape)]
    parts = [svgelements.Path(p) for s in shapes for p in svgelements.Path(s).as_subpaths()]
    return sorted((part.length(error=1e-7), *part.bbox()) for part in parts)


@pytest.fixture(autouse=True)
def files(folder):
    for name, text in FILES.items():
        (folder / name).write_text(text, newline="")


@pytest.mark.parametrize("name", FILES)
def test_a_file_has_less_travel_and_the_same_strokes(folder, name):
    out = f"out{name[1:]}"
    done = run(name, "-o", out, "--json", "--preview", "both.svg", "--home", "0,0")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["travel"] < 0.8 * told["travel_before"]
    assert (folder / name).read_text() == FILES[name]
    before, after = FILES[name], (folder / out).read_bytes()
    if name == "a.gcode":
        assert differences(before, after.decode()) == []
    else:
        assert same({"a.svg": "svg", "a.hpgl": "hpgl", "a.drl": "excellon"}[name], before.encode(), after)
    again = run(out, "--json", "--home", "0,0")
    assert json.loads(again.stdout)["travel_before"] == pytest.approx(told["travel"])
    assert "<svg" in (folder / "both.svg").read_text()


@pytest.mark.parametrize("seed", range(30))
def test_programs_that_move_one_axis_at_a_time(folder, seed):
    rng = np.random.default_rng(seed)
    axes = ["XZ", "YZ", "XYZ"][seed % 3]
    lines = ["G21 G90", *(["G0 Z5"] if seed % 2 else [])]
    for _ in range(25):
        axis, value = rng.choice(list(axes)), rng.integers(-9, 50)
        lines.append(f"{rng.choice(['G0', 'G1', ''] if len(lines) > 3 else ['G0'])} {axis}{value}".strip())
        if rng.random() < 0.1:
            lines.append(rng.choice(["G28 X0", "G28 Y0", "G0 X3 Y4", "G1 X3 Y4", "G0 X2 Z1"]))
    (folder / "r.nc").write_text("\n".join([*lines, "M30", ""]))
    done = run("r.nc", "-o", "s.nc")
    if done.exception is not None:
        assert isinstance(done.exception, warptsp.WarpTSPError), (seed, done.exception)
        assert "no rapid moves" in str(done.exception) or "would cut something else" in str(done.exception)
        return
    assert differences((folder / "r.nc").read_text(), (folder / "s.nc").read_text()) == [], seed


def test_the_way_to_where_a_program_ends_counts(folder):
    program = (
        "G21 G90\nG0 Z5 F300\nG0 X0 Y0\nG0 Z5\nG0 X100 Y0\nG1 Z-1\nG0 Z5\nG0 X0 Y60\nG1 Z-1\nG0 Z5\n"
        "G0 X0 Y60\nM2\n"
    )
    (folder / "w.nc").write_text(program)
    told = json.loads(run("w.nc", "-o", "x.nc", "--json").stdout)
    assert told["travel"] == told["travel_before"] == pytest.approx(math.hypot(100, 60))
    assert (folder / "x.nc").read_text() == program


@pytest.mark.parametrize("seed", range(12))
def test_the_travel_is_that_of_all_rapid_moves(folder, seed):
    rng = np.random.default_rng(seed)
    lines = ["G21 G90", "G0 X0 Y0 Z5"]
    for k in range(12):
        x, y, to = rng.integers(0, 100, 3)
        rapids = [f"G0 X{x} Y{y}", f"G0 X{x}", f"G0 X{x}\nY{y}"]
        lines += [rng.choice(rapids if k % 4 else rapids[:1]), "G1 Z-1 F100"]  # behind a tool change, both
        lines += [f"G1 X{to}"] * int(rng.integers(0, 2)) + ["G0 Z5"]
        if k % 4 == 3:  # to the place of the tool change, and what does not depend on it
            lines += rng.choice(["M6 T1", "G0 X0 Y100\nM6 T2", "M6 T3\nG0 X50 Y0\nG0 X0\nM8"]).split("\n")
    lines += [
        "M5",
        *rng.choice(["G0 X0 Y0", f"G0 X{x}", "G1 X3 Y3", "G0 X0 Y0\nG1 X5", "M9"]).split("\n"),
        "M2",
    ]
    (folder / "r.nc").write_text("\n".join([*lines, ""]))
    told = json.loads(run("r.nc", "-o", "s.nc", "--json").stdout)
    before, after = (folder / "r.nc").read_text(), (folder / "s.nc").read_text()
    assert differences(before, after) == []
    (end_before, travel_before), (end, travel) = (simulate(program)[4:] for program in (before, after))
    assert end == end_before
    assert travel_before - travel == pytest.approx(told["travel_before"] - told["travel"], abs=1e-6)
    assert told["travel"] <= told["travel_before"]


START = """M201 X500 E5000
M104 S210
G21
G90
M82
G28 X Y ; home
G28
G92 X0 Y0 E0
M117 Printing 1 of 2
G1 X0 Y20 E3 F900
G92 E0
"""
END = """G91
G1 E-2 F2400
G0 Z10
G90
G28 X0 Y0
M84 X Y E
"""


def fed(program):
    """What a printer lays down, by an interpreter of its own: lines, filament, what was drawn back."""
    at, e, relative, laid, retracted = [None, None], 0.0, False, Counter(), 0.0
    for line in program.splitlines():
        words = re.findall(r"([A-Z])\s*([-+]?[\d.]*)", re.sub(r"\(.*?\)|;.*", "", line))
        if not words:
            continue
        code, values = words[0][0] + words[0][1], {k: float(v or 0) for k, v in words[1:]}
        if code in ("M82", "M83", "G90", "G91"):
            relative = {"M82": False, "G90": False}.get(code, True)
        elif code == "G92":
            e = values.get("E", e)
            at = [values.get("X", at[0]), values.get("Y", at[1])]
        elif code in ("G0", "G1"):
            before = tuple(at)
            at = [values.get("X", at[0]), values.get("Y", at[1])]
            amount = 0.0
            if "E" in values:
                amount = values["E"] if relative else values["E"] - e
                e = values["E"] if not relative else e
            if code == "G1" and tuple(at) != before:
                laid[(before, tuple(at), round(amount, 5), round(retracted, 5))] += 1
            else:
                retracted += amount
    return laid


@pytest.mark.parametrize("seed", range(4))
def test_absolute_extrusion_is_counted_anew(folder, seed):
    rng = np.random.default_rng(seed)
    lines, e = [], 0.0
    for k in range(40):
        x, y = rng.integers(0, 90, 2)
        lines.append(f"G0 X{x} Y{y} F9000")
        lines.append(f"G1 E{e + 1:.5f} F2400")
        for _ in range(rng.integers(1, 4)):
            x, y, e = x + rng.integers(1, 9), y + rng.integers(0, 9), e + rng.integers(1, 5) / 16
            lines.append(f"G1 X{x} Y{y} E{e + 1:.5f} F1800 ; wall E")
        if k == 20 or (seed == 1 and k % 7 == 0):
            e -= e
            lines.append("G92 E1")
        lines.append(f"G1 E{e:.5f} F2400 (E in)")
    program = START + "\n".join(["G1 E-1", *lines, ""]) + END
    (folder / "p.gcode").write_text(program)
    done = run("p.gcode", "-o", "q.gcode", "--json")
    assert done.exit_code == 0, (seed, done.exception)
    told = json.loads(done.stdout)
    assert told["travel"] < 0.8 * told["travel_before"], seed
    changed = (folder / "q.gcode").read_text()
    assert fed(changed) == fed(program), seed
    assert changed.startswith(START)
    assert changed.endswith(END)
    assert "G92 E" in changed


def test_lines_of_a_plotter_are_joined(folder):
    assert run("a.hpgl", "-o", "b.plt").exit_code == 0
    assert run("a.hpgl", "-o", "c.plt", "--join", "20").exit_code == 0
    assert (folder / "c.plt").read_text().count("PU") < (folder / "b.plt").read_text().count("PU")


@pytest.mark.parametrize(
    ("head", "hole", "place"),
    [
        (";FILE_FORMAT=2:5\nINCH,LZ\n", "X0100001Y02", [1.00001, 2.0]),  # Altium
        ("INCH,LZ\n;FILE_FORMAT=2:5\n", "X01Y02", [1.0, 2.0]),
        (";FILE_FORMAT=4:4\nMETRIC,TZ\n", "X10000Y123456", [1.0, 12.3456]),
        (";FILE_FORMAT=4:4\nMETRIC,LZ,000.000\n", "X001Y0025", [1.0, 2.5]),
        ("; FORMAT={3:3/ absolute / metric / suppress leading zeros}\nMETRIC,TZ\n", "X1000Y2", [1.0, 0.002]),
        ("INCH,LZ\n%\nM72\n", "X01Y02", [1.0, 2.0]),
        ("METRIC,TZ,00.00\n%\nM71\n", "X100Y200", [1.0, 2.0]),
        ("INCH,LZ\n", "X0105Y0200", [1.05, 2.0]),
        ("METRIC,TZ\nICI,OFF\n%\nICI,OFF\n", "X1000Y2000", [1.0, 2.0]),  # coordinates are absolute
    ],
)
def test_a_board_says_how_many_digits_its_numbers_have(folder, head, hole, place):
    body = head if "%" in head else f"{head}T1C.03\n%\n"
    (folder / "f.drl").write_text(f"M48\n{body}T1\n{hole}\nM30\n")
    assert [p[0].tolist() for p in read_drawing("f.drl").paths] == [place]


def test_a_drawing_is_what_another_reader_sees(folder):
    assert run("a.svg", "-o", "b.svg", "--home", "90,90").exit_code == 0
    assert np.array(seen("b.svg")) == pytest.approx(np.array(seen("a.svg")), abs=0.01)
    text = (folder / "b.svg").read_text()
    for kept in (
        "<!-- a > b -->",
        "<defs><path",
        'id="a &gt; b"',
        "<title>hi</title>",
        ">t</text>",
        "<!DOCTYPE",
    ):
        assert kept in text
    # What is filled stays one element, or its holes would be filled.
    assert len(re.findall(r'd="[^"]*M[^"]*M', text)) == 1


def test_lengths_of_a_drawing_are_millimetres_where_it_has_a_size(folder):
    def first(head, shape='<path d="M10 20L30 20"/>'):
        (folder / "u.svg").write_text(f"<svg {head}>{shape}</svg>")
        drawing = read_drawing("u.svg")
        return drawing.paths[0].tolist(), drawing.unit

    line = [[10.0, 20.0], [30.0, 20.0]]
    assert first("") == first('viewBox="0 0 100 50"') == first('width="100" height="50px"') == (line, "")
    assert first('width="20cm" height="10cm" viewBox="0 0 100 50"') == ((2 * np.array(line)).tolist(), "mm")
    assert first('width="100mm" height="50%" viewBox="10 20 50 25"') == ([[0, 0], [40, 0]], "mm")
    assert first('width="1in"')[0] == pytest.approx(25.4 / 96 * np.array(line))
    # What is smaller decides: the drawing keeps its proportions.
    assert first('width="20cm" height="5cm" viewBox="0 0 100 50"') == (line, "mm")
    assert first("", '<line x1="1in" x2="25.4mm" y2="6pc"/>')[0][1] == pytest.approx([96, 96])
    told = json.loads(run("u.svg", "--json").stdout)
    assert told["unit"] == ""
    first('width="100mm" viewBox="0 0 100 50"')
    assert json.loads(run("u.svg", "--json").stdout)["unit"] == "mm"
    assert " mm, " in run("u.svg", "--home", "0,0").output


def test_a_group_of_one_shape_changes_places_where_groups_are_mixed(folder):
    rng = np.random.default_rng(3)
    drawn = []
    for k, (x, y) in enumerate(rng.integers(0, 90, (40, 2)).tolist()):
        shape = f'<path fill="none" d="M{x} {y}l3 1"><title>t{k}</title></path>'
        inside = f'<g class="b{k}">{shape}</g>' if k % 2 else shape
        drawn.append(f'<g id="line{k}" stroke="red"><title>line {k}</title>{inside}</g>')
    layer = '<g k:groupmode="layer"><path d="M1 1L2 2"/></g>'
    pieces = '<g><path fill="none" d="M0 0L1 1M50 50L51 51M2 2L3 3"/></g>'
    head = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:k="k">'
    (folder / "m.svg").write_text(head + "\n".join([*drawn, layer, pieces]) + "</svg>")
    assert run("m.svg", "-o", "k.svg", "--home", "0,0").exit_code == 0
    kept = re.findall(r'id="line(\d+)"', (folder / "k.svg").read_text())
    assert kept == [str(k) for k in range(40)]
    assert run("m.svg", "-o", "n.svg", "--home", "0,0", "--ungroup").exit_code == 0
    before, after = read_drawing("m.svg", ungroup=True), read_drawing("n.svg", ungroup=True)
    assert len(set(before.groups)) == 3
    assert sorted(after.groups) == sorted(before.groups)
    text = (folder / "n.svg").read_text()
    assert re.findall(r"<title>t(\d+)", text) == re.findall(r'id="line(\d+)"', text)
    assert re.findall(r'id="line(\d+)"', text) != [str(k) for k in range(40)]
    assert text.index('id="line') < text.index(layer[:26]) < text.index("<g><path")
    assert np.array(seen("n.svg")) == pytest.approx(np.array(seen("m.svg")))
    # Three parts of a path that was alone in its group are in a group each.
    assert text.count("<g") == text.count("</g>") == (folder / "m.svg").read_text().count("<g") + 2
    assert all(f"<title>line {k}</title>" in text.split(f'id="line{k}"')[1][:60] for k in range(40))


@pytest.mark.parametrize(
    ("release", "page", "encoding"),
    [
        ("R12", "ANSI_936", "gbk"),
        ("R2000", "ANSI_936", "gbk"),
        ("R2000", "ANSI_1251", "cp1251"),
        ("R2010", "ANSI_936", "utf-8"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_dxf_file_keeps_its_code_page(folder, release, page, encoding, newline):
    ezdxf = pytest.importorskip("ezdxf")
    word = "\u0442\u0435\u043a\u0441\u0442" if "1251" in page else "\u5207\u5272"
    document = ezdxf.new(release)
    document.header["$DWGCODEPAGE"] = page
    document.encoding = "gbk" if "936" in page else encoding
    document.layers.add(word)
    for x in (0, 50, 10):
        document.modelspace().add_line((x, 0), (x + 5, 0), dxfattribs={"layer": word})
    document.modelspace().add_text("any", dxfattribs={"layer": word})
    stream = io.StringIO()
    document.write(stream)
    # A byte that the code page does not have is kept, too.
    data = document.encode(stream.getvalue()).replace(b"any", word.encode(encoding) + b"\x98\xff")
    (folder / "a.dxf").write_bytes(data.replace(b"\n", newline.encode()))
    assert run("a.dxf", "-o", "b.dxf").exit_code == 0
    written = (folder / "b.dxf").read_bytes()
    count = data.count(word.encode(encoding))
    assert written.count(word.encode(encoding)) == count > 4
    assert written.count(word.encode(encoding) + b"\x98\xff" + newline.encode()) == 1
    after = ezdxf.readfile("b.dxf")
    assert {entity.dxf.layer for entity in after.modelspace()} == {word}


BAD = {
    "text.svg": ("hello", "not XML"),
    "kml.svg": ("<kml/>", "svg is needed"),
    "bomb.svg": ('<!DOCTYPE svg [<!ENTITY a "b">]><svg/>', "declarations"),
    "path.svg": ('<svg><path d="M0 0 L1"/></svg>', "numbers"),
    "word.svg": ('<svg><path d="M0 0 Lx"/></svg>', "needed|numbers"),
    "far.svg": ('<svg><path d="M0 0 L1e300 1e300 1e300 1e300"/></svg>', "bounds"),
    "unit.svg": ('<svg><rect width="3em" height="4"/></svg>', "user units"),
    "points.svg": ('<svg><polyline points="1,2 L3,4"/></svg>', "'L' in its points"),
    "odd.svg": ('<svg><polyline points="1-2 3"/></svg>', "3 numbers in its points"),
    "inner.svg": ('<svg><svg x="3em"><path d="M0 0L1 1"/></svg></svg>', "x='3em'"),
    "background.svg": ('<svg><rect width="100%" height="4"/></svg>', "no strokes"),
    "sixteen.svg": (
        '<?xml version="1.0" encoding="UTF-16LE"?><svg/>'.encode("utf-16-le").decode("latin-1"),
        "UTF-16 text",
    ),
    "turn.svg": ('<svg><g transform="spin(3)"><path d="M0 0L1 1"/></g></svg>', "transform"),
    "none.svg": ("<svg><g/></svg>", "no strokes"),
    "deep.svg": ("<svg>" + "<g>" * 300, "deep"),
    "arc.hpgl": ("IN;PD1,1;AA0,0,90;", "AA"),
    "odd.hpgl": ("PD1,2,3;", "pairs"),
    "word.hpgl": ("?!;", "two letters"),
    "none.hpgl": ("IN;SP1;", "no strokes"),
    "rel.nc": ("G91\nG0 X1 Y1\nG1 X2\n", "no rapid moves"),
    "thread.nc": ("G0 X1 Y1\nG33 Z-3 K1\n", "G33"),
    "table.nc": ("G16\nG0 X1 Y1\nG1 X2\n", "G16"),
    "axis.nc": ("G0 X Y1\nG1 X2\n", "no line of G-code"),
    "loop.nc": ("G0 X1 Y1\nG1 X2\nG92 X0\n", "G92"),
    "cycle.nc": ("G0 X1 Y1\nG81 X1 Y1 Z-1 R1\n", "G81"),
    "macro.nc": ("G0 X#1 Y1\n", "expressions"),
    "word.nc": ("hello there\n", "G-code|followed"),
    "lathe.nc": (
        "%\nO1000\nG21 G90\nG0 X22 Z2\nG1 Z-30 F100\nG0 X24\nG0 X20 Z2\nG1 Z-20\nM30\n%\n",
        "no rapid",
    ),
    "none.nc": ("G1 X1 Y1\nG1 X2\n", "no rapid moves"),
    "start.nc": ("X1 Y1\n", "before G0"),
    "text.drl": ("hello\n", "Excellon"),
    "rout.drl": ("M48\n%\nT1\nX1Y1\nM15\n", "order"),
    "rel.drl": ("M48\nMETRIC,TZ\nICI,ON\n%\nT1\nX1000Y1000\nX500Y0\nX-450Y0\nM30\n", "ICI,ON.*absolute"),
    "rel g91.drl": ("M48\nMETRIC,TZ\nG91\n%\nT1\nX1000Y1000\nX500Y0\nM30\n", "G91.*absolute"),
    "rel body.drl": ("M48\nMETRIC,TZ\n%\nG91\nT1\nX1000Y1000\nX500Y0\nM30\n", "G91.*order"),
    "half.drl": ("M48\n%\nT1\nX1\n", "no hole"),
    "dots.drl": ("M48\n%\nT1\nX1.2.3Y1\n", "no hole"),
    "huge.drl": ("M48\nMETRIC\n%\nT1\nX" + "9" * 400 + "Y5\nX5Y5\nM30\n", "is no hole"),
    "huge.nc": ("G0 X" + "9" * 300 + " Y0\nG1 X5 F1\nG0 X1 Y1\nG1 X2\n", "out of all bounds"),
    "huge.svg": (
        '<svg><g transform="scale(1e200)"><g transform="scale(1e200)"><path d="M0 0L1 1"/></g></g></svg>',
        "out of all bounds",
    ),
    "units.nc": ("G21\nG0 X1 Y1\nG1 X2 F1\nG20\nG0 X3 Y1\nG1 X4\n", "another unit .G20."),
    "endless.plt": ("IN;PU5,5;PD6,6;DT#;LBa;b\x03PU7,7;PD8,8;", "LB has no end"),
    "text.plt": ("IN;PU5,5;LBx\x03PD6,6;", "from where a text, a scale or IN ends"),
    "relative text.plt": ("IN;PU5,5;LBx\x03PR;PU6,6;PD7,7;", "from where a text, a scale or IN ends"),
    "wide.svg": ('<svg xmlns="x"><path d="M0,0'.encode("utf-16").decode("latin-1"), "UTF-16"),
}


@pytest.mark.parametrize("name", BAD)
def test_malformed_files_are_one_line_and_stay(folder, name):
    text, message = BAD[name]
    (folder / name).write_bytes(text.encode("latin-1"))
    done = run(name, "-o", name)
    assert isinstance(done.exception, warptsp.WarpTSPError), done.exception
    assert re.search(message, str(done.exception)), done.exception
    assert "\n" not in str(done.exception)
    assert (folder / name).read_bytes() == text.encode("latin-1")


def test_a_text_is_written_where_it_was(folder):
    (folder / "a.plt").write_bytes(
        b"IN;\r\nSP1;PU0,0;PD9,9;PU50,50;PD51,51;PU1,1;PD2,2;PU80,80;LBa\r\nb\x03PU5,5;PD6,6;PU;SP0;"
    )
    assert run("a.plt", "-o", "b.plt").exit_code == 0
    written = (folder / "b.plt").read_bytes()
    assert b"PU80,80;LBa\r\nb\x03" in written
    before, behind = written.split(b"LBa\r\nb\x03")
    assert b"51,51" in before
    assert b"6,6" in behind


@pytest.mark.parametrize(
    ("program", "texts"),
    [
        ("DT#;LBa;b#", ["DT#;", "LBa;b#"]),
        ("DT#;PU3,3;LBa;PD1,1;\x03#", ["DT#;", "LBa;PD1,1;\x03#"]),
        ("DT#,1;LBa;b#DT;LBc;#\x03", ["DT#,1;", "LBa;b#", "DT;", "LBc;#\x03"]),
        ("dt#lba;b#IN;LBc;#\x03", ["dt#", "lba;b#", "LBc;#\x03"]),
        ("DTB;LBa;PD5,5B", ["DTB;", "LBa;PD5,5B"]),
        ("DT#;DF;LBc;#\x03", ["LBc;#\x03"]),
        ("DT\n;LBa;b\n", ["DT\n;", "LBa;b\n"]),
    ],
)
def test_a_label_ends_where_the_program_says(folder, program, texts):
    lines = "PU0,0;PD100,0;PU500,500;PD600,500;PU100,0;PD100,200;"
    (folder / "a.plt").write_text(f"IN;{lines}{program}{lines}", newline="")
    assert run("a.plt", "-o", "b.plt").exit_code == 0
    written = (folder / "b.plt").read_bytes().decode()
    assert re.search(".*".join(map(re.escape, texts)), written, re.DOTALL)
    assert len(read_drawing("a.plt").paths) == len(read_drawing("b.plt").paths) == 6
    rest = written
    for text in texts:
        rest = rest.replace(text, "")
    drawn = [sum((found[1] for found in checked_plot(t.encode())), Counter()) for t in (2 * lines, rest)]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("end", ["", "\n", "\nM2", "\nM2\n", "\n%\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_ends_of_lines_and_of_a_program_stay(folder, end, newline):
    blocks = [f"G0 X{x} Y{x}\nG1 X{x + 1} F1" for x in (0, 90, 5, 80, 9)]
    start = "%\nO1234 (a number)\nG21 G90\n"
    text = (start + "\n".join(blocks) + end).replace("\n", newline)
    (folder / "a.nc").write_bytes(text.encode())
    assert run("a.nc", "-o", "b.nc").exit_code == 0
    written = (folder / "b.nc").read_bytes().decode()
    assert written != text
    assert written.startswith(start.replace("\n", newline))
    assert written.endswith(end.replace("\n", newline))
    assert written.count(newline) == written.count("\n") == text.count("\n")
    assert "\n\n" not in written.replace("\r", "")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("seed", range(12))
def test_mutants_end_well_or_in_one_line(folder, name, seed):
    rng = np.random.default_rng((seed, len(name)))
    data = bytearray(FILES[name].encode())
    for _ in range(rng.integers(1, 6)):
        place = int(rng.integers(0, len(data)))
        kind = rng.integers(0, 3)
        if kind == 0:
            data[place] = int(rng.integers(0, 256))
        elif kind == 1:
            del data[place : place + int(rng.integers(1, 30))]
        else:
            data[place:place] = rng.choice(
                [b"1e99", b"-", b"\0", b"99999999999999999999", b"nan", b"<g>", b"X", b"Z"]
            )
    (folder / name).write_bytes(bytes(data))
    done = CliRunner().invoke(
        commands, ["strokes", name, "-o", f"x{name[1:]}", "--kicks", "1", "--threads", "1"]
    )
    assert done.exception is None or isinstance(done.exception, warptsp.WarpTSPError), (seed, done.exception)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.svg", "-o", "b.nc"], "one format"),
        (["a.txt"], "no format of strokes"),
        (["-"], "what format it has"),
        (["a.svg", "--format", "png"], "no format of strokes"),
        (["a.svg", "-o", "-", "--json"], "both want stdout"),
        (["a.svg", "--preview", "b.png"], "must end in .svg"),
        (["a.svg", "-o", "b.svg", "--preview", "b.svg"], "taken"),
        (["a.svg", "--acceleration", "3"], "--speed"),
        (["a.svg", "--back"], "home"),
        (["missing.svg"], "no such file"),
        (["a.svg", "-o", "no/b.svg"], "no directory"),
    ],
)
def test_options_that_do_not_go_together(folder, arguments, message):
    done = run(*arguments)
    assert message in str(done.exception) + done.output


def test_the_page_holds_both_orders(folder):
    done = run("a.svg", "--report", "a.html", "--home", "1,2", "--json")
    told = json.loads(done.stdout)
    text = (folder / "a.html").read_text("utf-8")
    assert told["report"] == "a.html"
    assert "a.svg" in text.split("<h1>")[1][:20]
    facts = json.loads(re.search(r'id="facts">(.*?)</script>', text)[1])
    plan = arrange([p * [1, -1] for p in read_drawing("a.svg").paths], home=[1, -2], kicks=1, threads=1)
    for name, travel in (("before", told["travel_before"]), ("after", told["travel"])):
        x, y, flags = (
            unpacked_integers(
                re.search(f'id="array-{axis}-{name}">(.*?)<', text)[1], differences=axis != "travel"
            )
            for axis in ("x", "y", "travel")
        )
        assert flags.sum() == len(plan.order)
        steps = np.hypot(np.diff(x), np.diff(y)) * facts["step"]
        assert steps[flags[1:] == 1].sum() == pytest.approx(travel, rel=1e-4)
    assert "must end in .html" in str(run("a.svg", "--report", "a.svg").exception)


def test_output_to_stdout_and_quiet(folder):
    done = run("a.drl", "-o", "-")
    assert done.stdout.startswith("M48")
    assert "travel" in done.stderr
    assert run("a.drl", "-o", "b.drl", "-q").output == ""
