"""What was found in real drawings, boards and plots, each with its right value."""

import io
import re
from collections import Counter
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from drawing_files import HEAD, plan_of, run, written

import warptsp
from warptsp.errors import ParseError
from warptsp.strokes import arrange
from warptsp.strokes.files import Rules, read_drawing, rewritten
from warptsp.strokes.verify import NotVerified, verify


def holes(data):
    """The holes of a drill file in their order, each with both coordinates."""
    found, x, y = [], "", ""
    for line in re.split(r"\r\n|\r|\n", data.decode("latin-1")):
        hole = re.fullmatch(r"(?:G81)?(?:X([\d.]+))?(?:Y([\d.]+))?", line.strip())
        if line.strip() and hole:
            x, y = hole[1] or x, hole[2] or y
            found.append((x, y))
    return found


def test_a_comment_with_a_byte_that_ends_lines_elsewhere_is_one_line(folder):
    before = b"M48\nMETRIC,TZ\nT1C1\n%\n;see \x85X99.0Y99.0\nT1\nX9.0Y1.0\nX1.0\nX8.0\nM30\n"
    after = written("a.drl", before)
    assert sorted(holes(after)) == [("1.0", "1.0"), ("8.0", "1.0"), ("9.0", "1.0")]
    assert b";see \x85X99.0Y99.0\n" in after


def test_a_hole_with_a_cycle_tells_the_next_one_its_place(folder):
    before = b"M48\nMETRIC,TZ\nT1C1\n%\nT1\nX9.0Y1.0\nG81X2.0Y5.0\nX3.0\nX8.0\nX4.0\nM30\n"
    after = written("a.drl", before, home=[9, 5])
    assert sorted(holes(after)) == sorted(holes(before))
    assert ("3.0", "5.0") in holes(after)
    assert after.split(b"\n")[5:7] == before.split(b"\n")[5:7]


@pytest.mark.parametrize(
    "head", ["METRIC,TZ\nT1C0.8", "INCH\nT1C.0315\n%\nM71", "T01F00S00C0.8\nM71", "M71", "M71\nT1C300"]
)
def test_holes_that_overlap_move_as_one_in_their_order(folder, head):
    far = ["X80.0Y80.0", "X60.0Y5.0", "X5.0Y70.0", "X90.0Y30.0"]
    slot = ["X9.0Y1.0", "X9.9Y1.0", "X9.45Y1.0"]  # two whole holes, and what is between them
    lines = [slot[0], far[0], slot[1], *far[1:3], slot[2], far[3], *slot[:1]]
    before = "\n".join(["M48", head, "%", "T1", *lines, "M30", ""]).encode()
    after = written("a.drl", before).decode().split()
    places = [after.index(line) for line in slot]
    assert places == list(range(places[0], places[0] + 3))
    assert len(read_drawing("a.drl").paths) == 5
    assert after.count(slot[0]) == 2


def test_many_holes_that_all_overlap_are_one(folder):
    """Each is measured once; the first of two at one place speaks for both."""
    holes = "".join(f"X{k % 150 / 50}Y{k // 150 / 50}\n" for k in range(20_000))
    again = "X0.0Y0.0\nX80.0Y80.0\nX80.0Y80.0\n"
    (folder / "a.drl").write_text(f"M48\nMETRIC\nT1C5\n%\nT1\n{holes}{again}M30\n")
    assert sorted(map(len, read_drawing("a.drl").paths)) == [1, 1, 20_001]


def test_a_file_may_begin_with_a_percent_sign(folder):
    before = b"%\nM48\nM72\nT01C0.02\n%\nT01\nX3505Y5015\nX100Y100\nX3000Y5000\nM30\n"
    after = written("a.drl", before)
    assert after != before
    assert after.startswith(before[:24])
    assert sorted(after.split(b"\n")) == sorted(before.split(b"\n"))


def test_units_in_front_of_the_header_and_an_origin_that_does_not_move_are_understood(folder):
    body = "T1C0.02\n%\nG93X0Y00\nT1\nX3505Y5015\nX100\nX3000Y5000\nM30\n"
    before = b"G90\nM72\nM48\n" + body.encode()
    after = written("a.drl", before)
    assert after != before
    assert after.startswith(before[:33])
    assert read_drawing("a.drl").unit == "in"
    with pytest.raises(warptsp.ParseError, match=r"G93X5Y0.*order"):
        written("a.drl", before.replace(b"G93X0Y00", b"G93X5Y0"))
    with pytest.raises(warptsp.ParseError, match="no hole"):  # nobody knows the Y behind a new origin
        written("a.drl", before.replace(b"X100\n", b"G93X0Y0\nX100\n"))
    moved = before.replace(b"X100\n", b"G93X0Y0\nX100\n"), before.replace(b"X100\n", b"G93X0Y0\nX100Y5015\n")
    with pytest.raises(NotVerified):
        verify("excellon", *moved, Rules())


def test_units_that_change_in_the_body_count(folder):
    text = "M48\nMETRIC,TZ\nT1C1\n%\nT1\nX25.4Y0.0\nM72\nX1.0Y1.0\nM71\nX25.4Y50.8\nM30\n"
    written("a.drl", text)
    paths = [path[0].tolist() for path in read_drawing("a.drl").paths]
    assert paths == [[25.4, 0.0], pytest.approx([25.4, 25.4]), [25.4, 50.8]]
    with pytest.raises(warptsp.ParseError, match="no hole"):  # the Y of another unit
        written("a.drl", text.replace("X1.0Y1.0", "X1.0"))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.drl", "M48\nT1C1\n%\nT1\nX9.0Y1.0\nX1.0\nX8.0\nM30"),
        ("a.plt", "IN;\nSP1;\nPU90,90;PD99,90;\nPU0,0;PD9,9;\nPU88,90;PD70,70;\nSP0;\n"),
        (
            "a.svg",
            HEAD
            + '\n<path fill="none" d="M90 90L99 90M0 0L9 9M9 10L80 80"/>\n<path d="M1 1L0 3"/>\n</svg>\n',
        ),
    ],
)
def test_ends_of_lines_and_the_mark_of_the_encoding_stay(folder, name, text, mark, newline):
    before = mark + text.replace("\n", newline).encode()
    after = written(name, before)
    assert after != before
    assert after.startswith(mark)
    assert after.count(b"\r\n") == (after.count(b"\n") if newline == "\r\n" else 0)


def test_default_values_are_absolute_places_without_a_scale(folder):
    body = "PU30,0;PD34,9;PU1,1;PD3,5;PU31,9;PD35,7;SP0;"
    after = written("a.plt", f"IN;SP1;PR;PU5,5;DF;{body}").decode()
    assert set(re.findall(r"\d+,\d+", after.split("DF;")[1])) == set(re.findall(r"\d+,\d+", body))
    before = b"IN;SC0,9,0,9;PU2,2;DF;PD9,9;PU7,7;PD8,8;PU;"
    with pytest.raises(warptsp.ParseError, match="goes on from where"):  # the place has no number any more
        written("a.plt", before)
    with pytest.raises(NotVerified, match="draws from where"):
        verify("hpgl", before, before.replace(b"PU7", b"PU7 "), Rules())
    with pytest.raises(NotVerified):
        verify("hpgl", b"PR;DF;PD2,2,4,4;PU;", b"PR;DF;PD2,2,6,6;PU;", Rules())


@pytest.mark.parametrize(
    "group",
    ['<g><text>a</text><path d="M90 90h9"/></g>', '<g><!-- a --><path d="M90 90h9M10 10h5"/></g>',
     '<g><path d="M90 90h9M10 10h5"/><image/></g>'],
)  # fmt: skip
@pytest.mark.parametrize("inner_first", [True, False])
def test_groups_are_mixed_with_what_they_hold_beside_their_shape_or_stay(folder, group, inner_first):
    others = "".join(f'<path d="M{x} 9h5"/>' for x in (80, 10, 60))
    text = f'{HEAD}<g fill="none" stroke="black">{others}{group}{others}</g></svg>'
    after = written("a.svg", text, Rules(ungrouped=True, inner_first=inner_first)).decode()
    assert after != text
    assert [after.count(word) for word in ("<text", "<!--", "<image")] == [
        text.count(word) for word in ("<text", "<!--", "<image")
    ]


def test_lines_under_a_pattern_keep_their_directions_and_their_order(folder):
    lines = "PU9,0;PD0,0;PU50,50;PD60,60;PU8,1;PD1,1;PU55,50;PD65,60;"
    after = written("a.plt", f"IN;SP1;LT2,4;{lines}LT;{lines}SP0;").decode().replace("\n", "")
    dashed, solid = after.split("LT2,4;")[1].split("LT;")
    assert dashed.startswith(lines)
    assert not solid.startswith(lines)
    with pytest.raises(warptsp.ParseError, match="QX"):
        written("a.plt", f"IN;SP1;{lines}QX3;{lines}")


SHAPE = '<path d="M{x} {y}l5 1" {look}/>'


def svg_of(rows, before="", after=""):
    return HEAD + before + "\n".join(SHAPE.format(x=x, y=1, look=look) for x, look in rows) + after + "</svg>"


def test_runs_of_colours_keep_their_places(folder):
    xs = (50, 0, 40, 9, 45, 5)
    rows = [(x, 'stroke="red"' if k < 3 else 'style="stroke:blue"') for k, x in enumerate(xs)]
    after = written("a.svg", svg_of(rows)).decode()
    assert re.findall("red|blue", after) == ["red"] * 3 + ["blue"] * 3
    assert after.index("M0 1") < after.index("M50 1")
    mixed = written("a.svg", svg_of(rows), Rules(ungrouped=True)).decode()
    assert re.findall("red|blue", mixed) != ["red"] * 3 + ["blue"] * 3


def test_groups_of_one_shape_keep_their_places(folder):
    groups = '<g id="engrave"><path d="M90 1l1 1"/></g>\n<g id="cut"><path d="M1 1l1 1"/></g>'
    after = written("a.svg", HEAD + groups + "</svg>", Rules(keep_directions=True)).decode()
    assert after == HEAD + groups + "</svg>"
    mixed = written("a.svg", HEAD + groups + "</svg>", Rules(ungrouped=True)).decode()
    assert mixed.index("cut") < mixed.index("engrave")


@pytest.mark.parametrize(
    "beside",
    [
        "<g><title>a</title></g>{}",
        "<g>{}</g><!-- a -->",
        "<defs/><g>{}</g>",
        "<g display='none'><path d='M0 0L1 1'/></g><defs/>{}",
    ],
)
@pytest.mark.parametrize("part", ["", "m0 3l5 0"])
def test_what_stands_beside_the_only_shape_of_a_group_goes_with_it(folder, beside, part):
    groups = [f"<g>{beside}</g>".format(f"<path d='M{x} 1l1 1{part}' fill='none'/>") for x in (50, 9, 40)]
    mixed = written("a.svg", HEAD + "".join(groups) + "</svg>", Rules(ungrouped=True)).decode()
    assert mixed.index("M9 1") < mixed.index("M40 1") < mixed.index("M50 1")
    assert mixed.count("</g>") == sum(group.count("</g>") for group in groups)


def test_groups_that_are_mixed_look_the_same(folder):
    def group(k):
        return (
            f'<g id="g{k}" transform="translate({k} 2)" stroke="red"><path d="M{90 - 9 * k} 1l1 1"/>'
            f'<circle cx="{(37 * k) % 90}" cy="9" r="1"/></g>'
        )

    special = '<g opacity="0.5"><path d="M1 1L2 2"/><path d="M50 1L60 2"/></g>'
    before = HEAD + "".join(map(group, range(8))) + special + "".join(map(group, range(9, 12))) + "</svg>"
    after = written("a.svg", before, Rules(ungrouped=True)).decode()
    assert re.search(r'<g opacity="0.5">(<path d="[^"]*"/>){2}</g>', after)
    root = ElementTree.fromstring(after)

    def drawn(text):
        return Counter(
            (parent.get("transform"), parent.get("stroke"), parent.get("opacity"))
            for parent in ElementTree.fromstring(text).iter()
            for child in parent
            if child.tag.endswith(("path", "circle"))
        )

    assert drawn(before) == drawn(after)
    assert len(root.findall(".//*[@id]")) == 11
    assert len({element.get("id") for element in root.findall(".//*[@id]")}) == 11
    (folder / "a.drl").write_text("T1\nX1Y1\n")
    with pytest.raises(warptsp.InvalidOption, match="ungroup: an Excellon"):
        read_drawing("a.drl", ungroup=True)


def test_what_lies_in_a_loop_comes_first_on_either_side_of_a_text(folder):
    outer, inner = '<circle cx="40" cy="40" r="30"/>', '<circle cx="60" cy="60" r="1.5"/>'

    def place(text, radius):
        return re.search(f'r="{radius}"|A{radius} {radius}', text).start()

    before = HEAD + outer + "<text>t</text>" + inner + '<circle cx="61" cy="40" r="2"/>' + "</svg>"
    after = written("a.svg", before, Rules(inner_first=True)).decode()
    assert max(place(after, 1.5), place(after, 2)) < place(after, 30)
    assert "<text>t</text>" in after
    apart = HEAD + outer.replace("/>", ' stroke="red"/>') + inner + "</svg>"
    with pytest.raises(NotVerified, match=r"line 1 .*--ungroup"):
        written("a.svg", apart, Rules(inner_first=True))
    mixed = written("a.svg", apart, Rules(inner_first=True, ungrouped=True)).decode()
    assert place(mixed, 1.5) < place(mixed, 30)


def test_dots_of_round_ends_are_kept(folder):
    path = '<path fill="none" stroke-linecap="round" d="M5 5z M10 5z M0 0H10 M40 0H50"/>'
    after = written("a.svg", HEAD + path + "</svg>").decode()
    assert sorted(re.findall(r' d="([^"]*)"', after)) == [
        "M0 0L10 0",
        "M10 5L10 5Z",
        "M40 0L50 0",
        "M5 5L5 5Z",
    ]


def test_an_open_path_keeps_its_corner(folder):
    path = '<path fill="none" d="M50 50L90 50L90 9L50 50"/>'
    assert path in written("a.svg", HEAD + path + '<path d="M1 1L2 2"/></svg>', home=[99, 0]).decode()


@pytest.mark.parametrize(
    "look",
    [
        'inkscape:path-effect="#e1" inkscape:original-d="M0 0"',
        'stroke="url(#g)"',
        'opacity=".5"',
        'filter="url(#f)"',
        'style="mix-blend-mode:multiply"',
        'stroke-opacity="0.5"',
        'clip-path="url(#c)"',
        'anything="1"',
    ],
)
def test_what_looks_otherwise_in_parts_is_not_split(folder, look):
    path = f'<path {look} fill="none" d="M0 0H5M90 90H95M5 5H9"/>'
    text = HEAD.replace("<svg", '<svg xmlns:inkscape="i"') + path + '<path d="M1 1L2 2"/></svg>'
    after = written("a.svg", text).decode()
    assert after.count("<path") == 2
    whole = written("a.svg", text.replace(look, 'stroke="red" stroke-width="2"')).decode()
    assert whole.count("<path") == 4


def test_small_numbers_are_kept(folder):
    path = '<path fill="none" d="M0 0L1.2345e-6 1M90 90l5 5"/>'
    after = written("a.svg", HEAD + path + "</svg>", home=[1, 2]).decode()
    assert "0.0000012345" in after
    assert "95 95" in after


def test_a_circle_that_is_entered_elsewhere_is_two_arcs(folder):
    after = written("a.svg", HEAD + '<circle cx="50.5" cy="40.25" r="2.50"/></svg>', home=[0, 40.25]).decode()
    assert 'd="M48 40.25A2.5 2.5 0 0 1 53 40.25A2.5 2.5 0 0 1 48 40.25Z"' in after


def test_a_group_around_a_path_of_several_parts_keeps_its_place(folder):
    parts = "M50 9h1M0 9h1M40 9h1M9 9h1"
    group = f"<g clip-path='url(#c)'><path fill='none' d='{parts}'/></g>"
    after = written("a.svg", svg_of([(50, ""), (9, "")], after=group), Rules(ungrouped=True)).decode()
    left, inside = after.split("<g clip-path='url(#c)'>")
    assert (left.count("<path"), inside.partition("</g>")[0].count("<path")) == (2, 4)


def test_what_is_unknown_keeps_shapes_on_their_side(folder):
    for element in (
        "<foreignObject/>",
        "<switch><path d='M0 0L1 1'/></switch>",
        "<own:thing xmlns:own='o'/>",
    ):
        after = written("a.svg", svg_of([(50, ""), (9, "")], after=element + SHAPE.format(x=1, y=1, look="")))
        left, right = after.decode().split(element)
        assert (left.count("<path"), right.count("<path")) == (2, 1)
    for rule in ("path:first-child{}", "@media print{.a{fill:red}} path + path{}", "@layer b{path~path{}}"):
        with pytest.raises(warptsp.ParseError, match="first-child"):
            written("a.svg", svg_of([(50, ""), (9, "")], f"<style>{rule}</style>"))


@pytest.mark.parametrize(
    "head",
    ["\x1b.(;\x1b.I81;;17:\x1b.N;19:IN;SC;PU;", "IN;IP0,0,9,9;SC0,100,0,50;IW;", "\x1bE\x1b%0BIN;RO90;"],
)
def test_hpgl_may_say_its_scale_and_speak_to_the_interface(folder, head):
    lines = "PU50,0;PD53,0;PU0,0;PD3,0;PU40,0;PD43,0;PU9,0;PD12,0;PU;"
    after = written("a.plt", f"{head}SP1;{lines}SP0;\x1b.)").decode().replace("\n", "")
    assert after.replace(";", "").startswith(head.replace(";", "").removesuffix("PU"))
    assert re.findall(r"PU(\d+)", after)[:4] == ["0", "9", "40", "50"]
    with pytest.raises(warptsp.ParseError, match="goes on from where"):
        written("a.plt", f"IN;SP1;PU5,5;SC0,9,0,9;PD6,6;{lines}")
    with pytest.raises(warptsp.ParseError, match="goes on from where"):
        written("a.plt", f"IN;SP1;PU5,5;PD6,6;SC0,9,0,9;PA7,7;{lines}")
    moved = [f"IN;PU0,0;PD9,9;{pen}SC0,9,0,9;PU1,1;PD2,2;PU;".encode() for pen in ("PU;", "PU5,5;")]
    verify("hpgl", *moved, Rules())
    with pytest.raises(NotVerified, match="a scale or IN ends"):
        verify("hpgl", moved[0], b"IN;PU0,0;PD9,9;PU;SC0,9,0,9;PD2,2;PU;", Rules())
    with pytest.raises(warptsp.ParseError, match="goes on from where"):  # some pens stay there, others do not
        written("a.plt", f"IN;SP1;PU5,5;PD6,6;IN;PD7,7;{lines}")
    moved = [f"IN;PU5,5;PD6,6;PU{place};IN;PD9,9;PU;".encode() for place in ("", "0,0")]
    with pytest.raises(NotVerified, match="a scale or IN ends"):
        verify("hpgl", *moved, Rules())
    after = written("a.plt", f"IN;SP1;{lines}PU7,8;SP0;IN;PG;").decode().replace("\n", "")
    assert after.endswith("PU7,8;PU;SP0;IN;PG;")  # where the pen was, not where it may be then


def test_a_dxf_polyline_of_one_vertex_moves_as_a_point(folder):
    ezdxf = pytest.importorskip("ezdxf")
    document = ezdxf.new()
    for points in ([(50, 0), (53, 0)], [(0, 0), (3, 0)], [(40, 0)], [(9, 0), (12, 0)]):
        document.modelspace().add_lwpolyline(points)
    stream = io.StringIO()
    document.write(stream)
    (folder / "b.dxf").write_bytes(written("a.dxf", stream.getvalue().encode()))
    entities = ezdxf.readfile("b.dxf").modelspace()
    assert [e.get_points("x")[0][0] for e in entities] == [0, 9, 40, 50]


def test_a_closed_dxf_polyline_is_one_in_a_file_of_no_version(folder):
    pytest.importorskip("ezdxf")
    polylines = [
        f"0\nLWPOLYLINE\n100\nAcDbEntity\n8\n0\n100\nAcDbPolyline\n90\n4\n70\n1\n10\n{low}\n20\n{low}\n10\n{high}\n"
        f"20\n{low}\n10\n{high}\n20\n{high}\n10\n{low}\n20\n{high}\n"
        for low, high in ((0, 30), (10, 20), (13, 15))
    ]
    body = "".join(polylines)
    text = f"0\nSECTION\n2\nENTITIES\n{body}0\nENDSEC\n0\nEOF\n"
    after = written("a.dxf", text.encode(), Rules(inner_first=True)).decode()
    assert [after.index(one) for one in polylines] == sorted(map(after.index, polylines), reverse=True)


def test_what_is_mirrored_in_dxf_is_where_it_is_drawn(folder):
    """AutoCAD mirrors with another axis (group code 230), and coordinates as they were."""
    ezdxf = pytest.importorskip("ezdxf")

    def drawing(x):
        document = ezdxf.new()
        document.modelspace().add_lwpolyline([(0, 0), (40, 0), (40, 40), (0, 40)], close=True)
        document.modelspace().add_circle((x, 20), 5, dxfattribs={"extrusion": (0, 0, -1)})
        stream = io.StringIO()
        document.write(stream)
        return stream.getvalue().encode()

    within, beside = drawing(-20), drawing(20)
    after = written("a.dxf", within, Rules(inner_first=True))
    assert after.index(b"CIRCLE\n  5") < after.index(b"LWPOLYLINE\n  5")
    with pytest.raises(NotVerified, match="cut after the outline"):
        verify("dxf", within, within, Rules(inner_first=True))
    verify("dxf", beside, beside, Rules(inner_first=True))


def test_a_line_that_crosses_an_outline_of_dxf_has_no_right_order(folder):
    circle = "0\nCIRCLE\n8\n0\n10\n0\n20\n0\n40\n5\n"
    line = "0\nLINE\n8\n0\n10\n0\n20\n0\n11\n{}\n21\n0\n"
    text = f"0\nSECTION\n2\nENTITIES\n{circle}{line}0\nENDSEC\n0\nEOF\n"
    crossing, within = (text.format(x).encode() for x in (9, 4))
    verify("dxf", crossing, crossing, Rules(inner_first=True))
    with pytest.raises(NotVerified, match="cut after the outline"):
        verify("dxf", within, within, Rules(inner_first=True))


def lines_of_dxf(*, extra="", handles=("1", "2", "3", "4"), flag="62"):
    """Four lines without a version, as small programs write them, and something behind them."""
    lines = [
        f"0\nLINE\n5\n{handle}\n8\n0\n{flag if x == 9 else 62}\n1\n10\n{x}\n20\n0\n11\n{x}\n21\n5\n"
        for x, handle in zip((5, 1, 9, 3), handles, strict=True)
    ]
    return f"0\nSECTION\n2\nENTITIES\n{''.join(lines)}{extra}0\nENDSEC\n0\nEOF\n"


LWPOLYLINE = "0\nLWPOLYLINE\n100\nAcDbEntity\n8\n0\n100\nAcDbPolyline\n70\n0.0\n10\n2\n20\n1\n10\n4\n20\n1\n"
POLYLINE = "0\nPOLYLINE\n8\n0\n66\n1\n70\n{}\n0\nVERTEX\n8\n0\n10\n2\n20\n1\n0\nVERTEX\n8\n0\n10\n4\n20\n1\n"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (lines_of_dxf(handles=("1a", "2a", "3a", "4a")), (1, 3, 5, 9)),
        (lines_of_dxf(handles=("A1", "A1", "B1", "B2")), (1, 3, 5, 9)),
        (re.sub("LINE\n5\n.\n", "LINE\n", lines_of_dxf(flag=60)), (1, 5, 9, 3)),
        (lines_of_dxf(extra=POLYLINE.format(64) + "0\nSEQEND\n8\n0\n"), (1, 3, 5, 9)),
        (lines_of_dxf() + "\n\n", (1, 3, 5, 9)),
        (lines_of_dxf(extra=LWPOLYLINE), (1, 3, 5, 9)),
    ],
    ids=["small-handles", "equal-handles", "invisible", "mesh", "blank-lines", "decimals"],
)
def test_dxf_is_read_as_programs_write_it(folder, text, places):
    pytest.importorskip("ezdxf")
    after = written("a.dxf", text.encode()).decode()
    found = tuple(int(x) for x in re.findall(r"\n10\n(\d)\n20\n[05]\n", after))
    assert sorted(after.split("\n")) == sorted(text.split("\n"))
    assert found == places


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"AutoCAD Binary DXF\r\n\x1a\0", "is a binary DXF file: save it"),
        (b"AC1027\0\0", "is a DWG drawing: save it"),
        (b"", "it is empty"),
        (lines_of_dxf(extra=POLYLINE.format(0)).encode(), "the POLYLINE in line 69 has no SEQEND"),
    ],
)
def test_what_is_no_dxf_of_text_says_so(folder, data, told):
    pytest.importorskip("ezdxf")
    (folder / "a.dxf").write_bytes(data)
    with pytest.raises(ParseError, match=told):
        read_drawing("a.dxf")


def nested_lines(*, hole_first=True):
    """A hole, and lines that close an outline around it, as an SVG drawing."""
    corners = [(x, y) for x, y in ((0, 0), (40, 0), (40, 40), (0, 40), (0, 0))]
    outline = [f"<path d='M{a} {b}L{c} {d}'/>" for (a, b), (c, d) in pairwise(corners)]
    shapes = ["<circle cx='9' cy='9' r='5'/>", *outline][:: 1 if hole_first else -1]
    return HEAD + "<g fill='none'>" + "".join(shapes) + "</g></svg>"


@pytest.mark.parametrize(("hole_first", "told"), [(True, 1), (False, 0)])
def test_outlines_of_several_lines_that_close_too_early_are_told(folder, caplog, hole_first, told):
    (folder / "a.svg").write_text(nested_lines(hole_first=hole_first))
    drawing = read_drawing("a.svg")
    order = np.array(sorted(range(5), key=lambda stroke: len(drawing.paths[stroke]) > 2))
    rewritten(drawing, plan_of(drawing, order))
    assert caplog.text.count("comes behind it now") == told


def test_outlines_of_several_lines_come_behind_what_lies_in_them(folder, caplog):
    for hole_first in (True, False):
        after = written("a.svg", nested_lines(hole_first=hole_first).encode(), Rules(inner_first=True))
        (folder / "b.svg").write_bytes(after)
        assert [len(path) > 2 for path in read_drawing("b.svg").paths] == [True, False, False, False, False]
    assert not caplog.text


def test_dxf_is_kept_byte_for_byte_and_texts_stand(folder):
    ezdxf = pytest.importorskip("ezdxf")
    document = ezdxf.new()
    space = document.modelspace()
    for k, (x, color) in enumerate(zip((50, 0, 40, 9, 45, 5), (1, 1, 1, 5, 5, 5), strict=True)):
        space.add_line((x, 0), (x + 3, 1), dxfattribs={"color": color})
        if k == 1:
            space.add_hatch().paths.add_polyline_path([(0, 0), (1, 0), (1, 1)])
            space.add_text("between")
    document.layers.add("dashed", linetype="DASHED")
    space.add_line((99, 0), (1, 1), dxfattribs={"layer": "dashed"})
    stream = io.StringIO()
    document.write(stream)
    before = stream.getvalue().replace("\n", "\r\n").encode()
    after = written("a.dxf", before)
    assert sorted(after.split(b"\r\n")) == sorted(before.split(b"\r\n"))
    kinds = re.findall(r"\r\n +0\r\n(LINE|HATCH|TEXT)\r\n", after.decode())
    assert kinds == ["LINE"] * 2 + ["HATCH", "TEXT"] + ["LINE"] * 5
    (folder / "b.dxf").write_bytes(after)
    lines = [e for e in ezdxf.readfile("b.dxf").modelspace() if e.dxftype() == "LINE"]
    assert [line.dxf.color for line in lines] == [1, 1, 1, 5, 5, 5, 256]
    assert lines[0].dxf.start.x == 0
    assert (lines[-1].dxf.start.x, lines[-1].dxf.end.x) == (99, 1)


def test_groups_say_what_they_cost_and_end_early(folder):
    rng = np.random.default_rng(0)
    groups = [
        '<g fill="none">'
        + "".join(f'<rect x="{x}" y="{y}" width="5" height="3"/>' for x, y in places)
        + "</g>"
        for places in rng.integers(0, 190, (30, 2, 2)).tolist()
    ]
    (folder / "a.svg").write_text(HEAD + "\n".join(groups) + "</svg>")
    done = run("a.svg", "-o", "b.svg")
    assert "groups       keep their places; mixed, the travel would be about" in done.output
    assert "--ungroup mixes them" in done.output
    assert "more than before" not in done.output
    assert "groups       keep" not in run("a.svg", "-o", "c.svg", "--ungroup").output
    drawing = read_drawing("a.svg")
    plan = arrange(drawing.paths, groups=drawing.groups, loops=drawing.loops, threads=1, device="cpu")
    assert plan.travel_mixed < 0.5 * plan.travel
    assert plan.kicks < 100_000


@pytest.mark.parametrize("radius", ["1e-320", "1e-300", "1e-100", "1e300"])
def test_arcs_of_any_radius_are_read(tmp_path, radius):
    arcs = "".join(f'<path d="M{k} 0A{radius} {radius} 0 0 1 5 {k}"/>' for k in (0, 9, 1))
    out = written(tmp_path / "a.svg", f"{HEAD}{arcs}</svg>")
    assert out.count(b"A") == 3
