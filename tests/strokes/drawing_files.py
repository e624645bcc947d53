"""Random SVG, HPGL, Excellon and DXF, what is written of them, and a second check of what a file does.

The second checks are of other kind than the package's verifiers: ElementTree and svgelements, regular
expressions, the lines of a file sorted.
"""

import io
import re
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from warptsp.cli import commands
from warptsp.strokes import Euclidean, Plan, arrange
from warptsp.strokes.files import Rules, read_drawing, rewritten

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 80">'


def run(*arguments):
    """The command, for a moment."""
    return CliRunner().invoke(commands, ["strokes", *arguments, "--kicks", "20", "--threads", "1"])


def written(name, data, rules=None, **options):
    """What is written of a file; `options` are those of arrange."""
    rules = rules or Rules()
    with open(name, "wb") as stream:
        stream.write(data if isinstance(data, bytes) else data.encode())
    drawing = read_drawing(name, ungroup=rules.ungrouped, inner_first=rules.inner_first)
    plan = arrange(
        drawing.paths,
        groups=drawing.groups,
        reversible=drawing.reversible & (not rules.keep_directions),
        loops=drawing.loops & (not rules.keep_entries),
        inner_first=rules.inner_first,
        outlines=drawing.outlines,
        kicks=20,
        threads=1,
        device="cpu",
        **{"home": [0, 0], **options},
    )
    return rewritten(drawing, plan, rules)


def plan_of(drawing, order, backwards=False, entry=0):
    """A plan with this order, for which nothing was searched."""
    n = len(drawing.paths)
    return Plan(
        order=order, backwards=np.broadcast_to(backwards, n), entry=np.broadcast_to(entry, n),
        joined=np.zeros(n, dtype=bool), travel=0.0, travel_before=0.0, home=None, back=False,
        machine=Euclidean(), seconds=0.0,
    )  # fmt: skip


# Random files of each format, with what their readers know.


def one_of(rng, texts, weights=None):
    return str(rng.choice(texts, p=weights))


def random_drill(rng):
    end = one_of(rng, ["\n", "\r\n", "\r"])
    lines = ["%"] * int(rng.integers(0, 2))
    lines += ["M48", ";made \x85 by X1Y1", "METRIC,TZ", "T1C0.8", "T2C1", "%"]
    for tool in (1, 2):
        lines.append(f"T{tool}")
        x, y = rng.integers(0, 99, 2)
        lines.append(f"X{x}.0Y{y}.0")
        for _ in range(9):
            x, y = rng.integers(0, 99, 2)
            nibbled = end.join([f"X{x}.0Y{y}.0", f"X{x}.9", f"X{x}.4"])
            kinds = [
                one_of(rng, [f"X{x}.0Y{y}.0", nibbled]),
                f"X{x}.0",
                f" y{y}.50",
                f"X{x}.0Y{y}.0G85X{y}.0",
                f"G81X{x}.0",
            ]
            lines.append(one_of(rng, [*kinds, "; X5Y5", "G05"], [0.4, 0.15, 0.15, 0.1, 0.1, 0.05, 0.05]))
    if rng.random() < 0.3:
        lines += ["M72", "X1.0Y2.0", "X0.5Y0.5", "X1.0Y2.5"]
    return end.join([*lines, "M30", ""]).encode("latin-1")


def random_plot(rng):
    text = "IN;\r\n" if rng.random() < 0.5 else "IN;"
    for _ in range(25):
        x, y, u, v = rng.integers(0, 400, 4).tolist()
        lines = [f"PU{x},{y};PD{u},{v};", f"PU{x},{y};PD{u},{v},{y},{x};", f"PR;PU{x},{y};PD{u},{v};PA;"]
        others = ["PD;PU;", f"SP{x % 3 + 1};", f"LT{x % 7};", "LT;", f"PU{x},{y};LBt;{u}\x03PU{x},{v};"]
        weights = [0.34, 0.2, 0.1, 0.04, 0.06, 0.04, 0.08, 0.06, 0.08]
        text += one_of(rng, [*lines, *others, f"VS{u};"], weights)
    return (text + "PU0,0;SP0;").encode()


LOOKS = {"": 0.3, ' stroke="red"': 0.25, ' stroke="blue"': 0.15, ' fill="lime"': 0.1, ' opacity="0.5"': 0.05,
         ' id="%s"': 0.1, ' stroke-dasharray="1"': 0.05}  # fmt: skip


def random_svg(rng):
    def number():
        return one_of(rng, [f"{rng.integers(0, 90)}", f"{rng.random() * 90:.3f}", f"{rng.random():.2e}"])

    def shape():
        a, b, c, d = (number() for _ in range(4))
        look = one_of(rng, list(LOOKS), list(LOOKS.values()))
        if "%s" in look:
            look %= f"i{rng.integers(1 << 40)}"
        shapes = [
            f'<line x1="{a}" y1="{b}" x2="{c}" y2="{d}"{look}/>',
            f'<circle cx="{a}" cy="{b}" r="2.5"{look}/>',
            f'<path d="M{a} {b}l{c} {d}"{look}/>',
            f'<path d="M{a} {b}C1 2 3 4 {c} {d}s2 2 0 0a5 3 30 1 1 4 4z"{look}/>',
            f'<ellipse cx="{a}" cy="{b}" rx="3" ry="1"{look}/>',
            f"<path d='M{a} {b}q1 2 {c} {d}t3 4'{look}/>",
            f'<path d="M{a} {b}h9v{c}z m1 1l5 5"{look}/>',
            f'<rect x="{a}" y="{b}" width="9" height="4"{look}/>',
            f'<polyline points="{a} {b} {c} {d} {a} {b}"{look}/>',
            f'<polygon points="{a},{b} {c},{d} 5,5"{look}/>',
            f'<path d="M{a} {b}a5 3 30 1 0 {c} 4z"{look}><title>t</title></path>',
            f'<path d="M{a} {b}z"{look}/>',
        ]
        return one_of(rng, shapes)

    text = HEAD.replace("<svg", '<svg fill="none" stroke="red"')
    for _ in range(6):
        shapes = "\n".join(shape() for _ in range(int(rng.integers(1, 7))))
        group = f'<g transform="rotate(10)">{shapes}</g>'
        others = [f"{shapes}<text>t</text>", f"<!-- c -->{shapes}", f"<foreignObject/>{shapes}"]
        text += one_of(rng, [shapes, group, *others])
    return (text + "</svg>").encode()


def random_dxf(rng):
    ezdxf = pytest.importorskip("ezdxf")
    document = ezdxf.new()
    space = document.modelspace()
    for _ in range(20):
        x, y, u, v = rng.integers(0, 99, 4).tolist()
        look = {"layer": f"L{x % 2}", "color": [256, 1, 5][y % 3]}
        kind = rng.integers(0, 6)
        if kind <= 1:
            space.add_line((x, y), (u, v), dxfattribs=look)
        elif kind == 2:
            space.add_lwpolyline([(x, y, 0, 1, 0.5), (u, v), (5, y, 2, 0, 0), (1, 2)], dxfattribs=look)
        elif kind == 3:
            space.add_circle((x, y), 3, dxfattribs=look)
        elif kind == 4:
            space.add_polyline2d([(x, y), (u, v)], dxfattribs=look)
        else:
            space.add_text("kept", dxfattribs=look)
    stream = io.StringIO()
    document.write(stream)
    return document.encode(stream.getvalue())


# The second checks: what a file does, as one value to compare.


def checked_drill(data):
    x = y = b""
    found, tool = [[[], Counter()]], b""
    for line in re.findall(rb"([^\r\n]*)(\r\n|\r|\n|$)", data):
        word = line[0].strip(b" \t").upper()
        hole = re.fullmatch(
            rb"(?:X([\d.+-]+))?(?:Y([\d.+-]+))?(?:G85(?:X([\d.+-]+))?(?:Y([\d.+-]+))?)?", word
        )
        cycle = re.fullmatch(rb"(G81|G05)(?:X([\d.+-]+))?(?:Y([\d.+-]+))?", word)
        if word and hole:
            x, y = hole[1] or x, hole[2] or y
            place = (tool, x, y)
            if b"G85" in word:
                x, y = hole[3] or x, hole[4] or y
                place += (x, y)
            found[-1][1][place] += 1
            continue
        if cycle and len(word) > 3:
            x, y = cycle[2] or x, cycle[3] or y
            word = b"cycle " + x + y
        tool = word if word.startswith(b"T") else tool
        found.append([word, Counter()])
    return found


def checked_plot(data):
    found, at, down, relative = [["", Counter()]], (0.0, 0.0), False, False
    for command in re.findall(r"LB.*?\x03|[A-Z]{2}[^;A-Z]*", data.decode()):
        name, numbers = command[:2], [float(n) for n in re.findall(r"[-\d.]+", command[2:])]
        if name not in ("PU", "PD", "PA", "PR"):
            found.append([command.strip(), Counter()])
            if name == "LB":
                found[-1].append(at)
            continue
        relative = {"PR": True, "PA": False}.get(name, relative)
        down = {"PD": True, "PU": False}.get(name, down)
        for x, y in zip(numbers[::2], numbers[1::2], strict=True):
            to = (at[0] + x, at[1] + y) if relative else (x, y)
            if down:
                found[-1][1][tuple(sorted((at, to)))] += 1
            at = to
    return found


def checked_svg(data):
    svgelements = pytest.importorskip("svgelements")
    found = []

    def look(element):
        name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "comment"
        if name not in SHAPES:
            said = name, tuple(sorted(element.attrib.items()))
            found.append((said, (element.text or "").strip(), Counter()))
            for child in element:
                look(child)
            found.append((f"end of {name}", "", Counter()))
            return
        own = {key: value for key, value in element.attrib.items() if key not in GEOMETRY}
        shape = svgelements.Path(getattr(svgelements, SHAPES[name])(dict(element.attrib)))
        color = (own.get("stroke", "red"), own.get("fill", "none"))  # as the root says
        if not found[-1][2] or found[-1][1] != color:
            found.append(("run", color, Counter()))
        whole = "opacity" in own or own.get("fill", "none") != "none"
        parts = [shape] if whole else [svgelements.Path(p) for p in shape.as_subpaths()]
        own.pop("id", None)
        for part in parts:
            sizes = (part.length(error=1e-6), *(part.bbox() or (0, 0, 0, 0)))
            key = (tuple(sorted(own.items())), *(round(v + 0.00031, 3) for v in sizes))
            found[-1][2][key] += 1

    look(ElementTree.fromstring(data))
    ids = Counter(re.findall(rb'\sid="([^"]*)"', data))
    return [f for f in found if f[0] != "comment"], ids


SHAPES = {"path": "Path", "line": "SimpleLine", "polyline": "Polyline", "polygon": "Polygon", "rect": "Rect",
          "circle": "Circle", "ellipse": "Ellipse"}  # fmt: skip
GEOMETRY = ("d", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "points", "width", "height")


def checked_dxf(data):
    """The file cut at its entities, the lines of each sorted; swapped signs of bulges aside."""
    head, entities, tail = re.fullmatch(
        rb"(.*?ENTITIES\s*\n)(.*?)(  0\nENDSEC\n.*)", data, re.DOTALL
    ).groups()
    found, group = [], None
    for chunk in re.split(rb"(?=^  0\n)", entities, flags=re.MULTILINE)[1:]:
        if chunk[4:].startswith((b"VERTEX", b"SEQEND")):
            found[-1][1][next(reversed(found[-1][1]))] += 1000
            continue
        lines = chunk.split(b"\n")
        pairs = dict(zip(lines[::2], lines[1::2], strict=False))
        if chunk[4:].startswith(b"TEXT"):
            found.append([chunk, Counter()])
            group = None
            continue
        here = (pairs.get(b"  8"), pairs.get(b" 62"))
        if here != group:
            found.append([here, Counter()])
            group = here
        points = (
            Counter(zip(lines[::2], lines[1::2], strict=False))
            if b"LINE" not in chunk[:12]
            else Counter(v.lstrip(b"-") for v in lines[1::2])
        )
        found[-1][1][frozenset(points.items())] += 1
    return head, tail, found


FORMATS = {
    "excellon": ("r.drl", random_drill, checked_drill),
    "hpgl": ("r.plt", random_plot, checked_plot),
    "svg": ("r.svg", random_svg, checked_svg),
    "dxf": ("r.dxf", random_dxf, checked_dxf),
}


def same(format, before, after):
    """Whether two files do the same by the second check; DXF may have its layers together."""
    one, two = (FORMATS[format][2](data) for data in (before, after))
    if format != "dxf":
        return one == two
    return one[:2] == two[:2] and _gathered(one[2]) == _gathered(two[2])


def _gathered(found):
    stretches = [[]]
    for key, counter in found:
        if isinstance(key, bytes):
            stretches += [[key], []]
        else:
            known = next((entry for entry in stretches[-1] if entry[0] == key), None)
            if known is None:
                stretches[-1].append((key, counter))
            else:
                known[1].update(counter)
    return stretches


PAINTS = dict.fromkeys(
    ["path{stroke:red}", "@media print{g>line,rect{fill:red}}", "#c{stroke:red}", "svg [role]{stroke:red}"],
    "colours or groups",
) | dict.fromkeys(["*{stroke:red}", "rect{fill:red}", "#a,.path{stroke:red}", "path{color:red}"])
"""Style sheets, and whether they may give a path and a line two colours."""
