"""SVG: whatever is turned, entered elsewhere, split or moved, the drawing looks as before."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from drawing_files import PAINTS, plan_of

from warptsp.errors import ParseError
from warptsp.strokes.files import read_drawing, rewritten

HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 100 80">'
)


def read(text, encoding="utf-8"):
    with open("a.svg", "wb") as stream:
        stream.write(text.encode(encoding))
    return read_drawing("a.svg")


def changed(text, encoding="utf-8"):
    """The document with all shapes in reverse order, turned around or entered elsewhere where they may be."""
    drawing = read(text, encoding)
    closed = np.array([len(path) > 2 and (path[0] == path[-1]).all() for path in drawing.paths])
    order = np.lexsort([-np.arange(len(closed)), np.array(drawing.groups)])
    entered = closed & drawing.loops
    plan = plan_of(drawing, order, drawing.reversible & ~entered, entered.astype(np.intp))
    written = rewritten(drawing, plan)
    ElementTree.fromstring(written)
    return written.decode(encoding)


def test_a_sum_with_zeros_at_its_end_is_the_same_place(folder):
    text = f'{HEAD}<path d="m15.016 15.516 1 2 0.00001 0.00001-1.00001-2.00002"/></svg>'
    assert "M15.016 15.51599L" in changed(text)


@pytest.mark.parametrize("sheet", PAINTS)
def test_colours_of_a_style_sheet_stay_together(folder, sheet):
    shapes = "".join(f'<path id="b{i}" d="M{i} 0h1"/><line id="c" role="x" x1="{i}"/>' for i in range(3))
    groups = read(f"{HEAD}<style>{sheet}</style>{shapes}</svg>").groups
    assert list(groups) == ([0, 1, 2, 3, 4, 5] if PAINTS[sheet] else [0] * 6)


@pytest.mark.parametrize(("one", "other"), [("red", "blue"), ("red", "red")])
def test_the_current_colour_is_that_of_the_shape(folder, one, other):
    lines = f'<line color="{one}" x2="1"/><line color="{other}" x2="2"/>'
    groups = read(f'{HEAD}<g stroke="currentColor">{lines}</g></svg>').groups
    assert (groups[0] == groups[1]) == (one == other)


SHAPES = {
    "pill": '<rect x="1" y="2" width="0.5" height="9" ry="30"/>',
    "line": '<line x1="1" y1="2.50" x2="3"/>',
    "polyline": '<polyline points="1,2 3,4 5,9.0"/>',
    "polygon": '<polygon points="0,0 9,1 5 9"/>',
    "loop": '<polyline points="0 0 9 1 5 9 0 0"/>',
}


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("line", '<line x1="3" x2="1" y2="2.50"/>'),
        ("polyline", '<polyline points="5,9.0 3,4 1,2"/>'),
        ("polygon", '<polygon points="9,1 5,9 0,0"/>'),
        ("loop", '<polyline points="0,0 5,9 9,1 0,0"/>'),  # its corner stays where it begins
    ],
)
def test_a_turned_shape_keeps_its_element(folder, name, written):
    before = read(HEAD + SHAPES[name] + "</svg>").paths[0]
    text = changed(HEAD + SHAPES[name] + "</svg>")
    assert text == HEAD + written + "</svg>"
    after = read(text).paths[0]
    turned = before[::-1] if name != "polygon" else np.roll(before[:-1], -1, axis=0)
    assert after[: len(turned)].tolist() == turned.tolist()


ROUND = '<circle cx="9" cy="9" r="2"/><ellipse rx="1" ry="2"/><rect width="3" height="4"/>'


@pytest.mark.parametrize(
    "sheet",
    [
        "<style>line, circle {stroke: black}</style>",
        "<style><![CDATA[line{stroke:black}]]></style>",
        '<style>@import "a.css";</style>',
    ],
)
def test_shapes_of_a_style_sheet_keep_their_elements(folder, sheet):
    text = changed(HEAD + ROUND + "".join(SHAPES.values()) + sheet + "</svg>")
    for name in ("line", "polyline", "polygon", "circle", "ellipse", "rect"):
        assert f"<{name} " in text
    assert "<path" not in text
    assert "<path" in changed(HEAD + ROUND + "</svg>")
    assert "<path" in changed(HEAD + ROUND + "<style> </style></svg>")


@pytest.mark.parametrize(
    "text",
    [
        '<rect width="9" height="9" style="rx:4;ry:3"/>',
        """<path d="M0 0L9 9M1 1h1" fill="none" style="d:path('M0 0L5 9')"/>""",
        """<path d="M0 0L9 9M1 1h1" fill="none"/><style>path{d:path('M0 0L5 9')}</style>""",
        '<path d="M0 0L9 9M1 1h1" fill="none" id="a"/><style>[id]{stroke:red}</style>',
    ],
)
def test_what_a_style_draws_stays_as_it_is(folder, text):
    assert changed(f"{HEAD}{text}</svg>") == f"{HEAD}{text}</svg>"


@pytest.mark.parametrize(
    "text",
    [
        '<line x2="9" style="transform: rotate(5deg)"/>',
        '<g transform="scale(2)" style="transform:none"><line x2="9"/></g>',
        '<g transform="rotate(9)" transform-origin="50 50"><line x2="9"/></g>',
        '<line x2="9"/><style>.a{transform:scale(2)}</style>',
    ],
)
def test_transforms_of_css_are_refused(folder, text):
    with pytest.raises(ParseError, match="write it as an attribute"):
        read(f"{HEAD}{text}</svg>")
    style = 'style="transform-origin:0px 0px 0;text-transform:none"'
    read(f'{HEAD}<g transform="scale(2)" {style}>{ROUND}</g></svg>')


def test_a_style_sheet_in_a_file_of_its_own_counts(folder):
    text = '<?xml-stylesheet href="a.css"?>' + HEAD + ROUND + "</svg>"
    assert "<path" not in changed(text)


RING = "M0 0H50V50H0ZM10 10H40V40H10Z"


@pytest.mark.parametrize(
    ("sheet", "attributes", "parts"),
    [
        ("<style>.a{fill:red}</style>", 'class="a"', 1),
        ("<style>.a{stroke:red}</style>", 'class="a"', 2),
        ("<style>#ring{stroke:red}</style>", 'id="ring"', 1),
        ("<style>@import 'b.css'</style>", "", 1),
        ("", 'fill="inherit"', 2),
        ("", 'style="fill:none;fill:red"', 1),
        ("", 'marker-start="url(#m)"', 1),
        ("", "", 2),
    ],
)
def test_what_may_be_filled_is_not_split(folder, sheet, attributes, parts):
    for text in (f"{sheet}<g fill='none'><path {attributes} d='{RING}'/></g>",
                 f"<g fill='none'><path {attributes} d='{RING}'/></g>{sheet}"):  # fmt: skip
        assert len(read(HEAD + text + "</svg>").paths) == parts
        assert changed(HEAD + text + "</svg>").count("<path") == parts


def test_the_root_may_say_that_nothing_is_filled(folder):
    root = HEAD.replace("<svg", '<svg fill="none"')
    assert len(read(f"{root}<path d='{RING}'/></svg>").paths) == 2
    assert len(read(f"{root}<path fill='red' d='{RING}'/></svg>").paths) == 1


def test_the_first_part_keeps_the_id_and_the_title(folder):
    text = changed(f'{HEAD}<path fill="none" id="p" d="{RING}"><title>t</title></path></svg>')
    assert text.count('id="p"') == text.count("<title>t</title>") == 1
    assert text.count("<path") == text.count("</path>") == 2


@pytest.mark.parametrize(
    "link",
    [
        '<use href="#p"/>',
        '<use xlink:href="#p" x="5"/>',
        '<text><textPath xlink:href="#p">along</textPath></text>',
        '<circle r="1"><animateMotion><mpath href="#p"/></animateMotion></circle>',
        '<use href="#around"/>',
        "<style>#p{stroke:red}</style>",
    ],
)
@pytest.mark.parametrize("data", ["M0 0L9 9", "M0 0L9 9L0 9Z", "M0 0L9 9M5 5L6 9"])
def test_what_is_referred_to_stays_as_it_is(folder, link, data):
    shape = f'<path id="p" d="{data}"/>'
    for text in (shape + link, link + shape):
        whole = f'{HEAD}<g id="around" fill="none">{text}<path d="M5 5L1 1"/></g></svg>'
        assert shape in changed(whole)


@pytest.mark.parametrize(
    ("attributes", "fixed"),
    [
        ('marker-end="url(#m)"', True),
        ('style="stroke:red; marker-start : url(#m)"', True),
        ('style="marker:url(#m)"', True),
        ('stroke-dasharray="5 3"', True),
        ('marker-end="none" stroke-dasharray="none"', False),
        ('stroke="red"', False),
    ],
)
def test_what_shows_its_direction_keeps_it(folder, attributes, fixed):
    shapes = ['<line x2="9"/>', '<path d="M0 0L9 9L0 9Z"/>', '<polygon points="0 0 9 9 0 9"/>']
    for shape in shapes:
        own = shape.replace(" ", f" {attributes} ", 1)
        assert (own in changed(f"{HEAD}{own}</svg>")) == fixed
        assert (shape in changed(f"{HEAD}<g {attributes}>{shape}</g></svg>")) == fixed
    style = attributes.split('"')[1] if attributes.startswith("style") else attributes.replace("=", ":")
    sheet = f"<style>path{{{style}}}</style>".replace('"', "")
    assert (shapes[1] in changed(f"{HEAD}{shapes[1]}{sheet}</svg>")) == (fixed or "marker" in sheet)


def test_dashes_do_not_keep_subpaths_together(folder):
    text = changed(f'{HEAD}<path fill="none" stroke-dasharray="1" d="M0 0Q5 5 0 9ZM5 5L6 6"/></svg>')
    assert sorted(re.findall(r' d="([^"]*)"', text)) == ["M0 0Q5 5 0 9L0 0Z", "M5 5L6 6"]


def test_what_is_animated_stays_as_it_is(folder):
    shape = '<line x2="9"><animate attributeName="x2" to="50"/></line>'
    assert shape in changed(f"{HEAD}{shape}</svg>")


@pytest.mark.parametrize(
    ("head", "inner", "ends"),
    [
        ("", 'x="50" y="30" width="50" height="50" viewBox="0 0 1000 1000"', [[50, 30], [100, 80]]),
        ("", 'x="50" y="30"', [[50, 30], [1050, 1030]]),
        ("", 'viewBox="0 0 1000 1000"', [[10, 0], [90, 80]]),
        ("", 'viewBox="0 0 1000 1000" preserveAspectRatio="none"', [[0, 0], [100, 80]]),
        ("", 'viewBox="0 0 1000 1000" preserveAspectRatio="xMaxYMid meet"', [[20, 0], [100, 80]]),
        ("", 'viewBox="0 0 1000 1000" preserveAspectRatio="xMinYMax slice"', [[0, -20], [100, 80]]),
        ("", 'x="10%" width="50%" height="50" viewBox="0 0 1000 1000"', [[10, 0], [60, 50]]),
        ("", 'x="1" viewBox="5 5 1000 1000" width="50" height="50"', [[0.75, -0.25], [50.75, 49.75]]),
        ('width="200mm"', 'x="50" y="30" width="50" height="50" viewBox="0 0 1000 1000"',
         [[100, 60], [200, 160]]),
    ],
)  # fmt: skip
def test_a_drawing_in_a_drawing_lies_where_it_is_shown(folder, head, inner, ends):
    text = f'{HEAD.replace("<svg", "<svg " + head)}<svg {inner}><path d="M0 0L1000 1000"/></svg></svg>'
    assert read(text).paths[0] == pytest.approx(np.array(ends, dtype=float))


def test_a_drawing_in_one_without_a_size_has_its_units(folder):
    text = '<svg><svg x="3" viewBox="0 0 9 9"><path d="M0 0L1 1"/></svg></svg>'
    assert read(text).paths[0].tolist() == [[3, 0], [4, 1]]
    text = '<svg width="18px" height="1in"><svg x="3" viewBox="0 0 9 9"><path d="M0 0L1 1"/></svg></svg>'
    assert read(text).paths[0] == pytest.approx(np.array([[3, 39], [5, 41]]) * 25.4 / 96)


def test_a_background_stays_where_it_is(folder):
    background = '<rect width="100%" height="100%" fill="white"/>'
    lines = '<line x2="1"/><line x2="2"/>'
    text = f"{HEAD}{lines}{background}{lines}<g>{background}<line x2='5'/></g>{lines}</svg>"
    drawing = read(text)
    assert len(drawing.paths) == 7
    assert drawing.groups[0] == drawing.groups[1] < drawing.groups[2] == drawing.groups[3] < drawing.groups[4]
    assert drawing.groups[4] < drawing.groups[5]
    written = changed(text)
    assert [part.count("<line") for part in written.split(background)] == [2, 2, 3]


@pytest.mark.parametrize("points", ["1,1 5,5 6-3", "1 1 5 5 6-3", "1.0.1e1 5,5,6-3", " 1,1\n5 ,5\t6-3 "])
def test_points_may_be_separated_by_a_sign(folder, points):
    assert read(f'{HEAD}<polyline points="{points}"/></svg>').paths[0].tolist() == [[1, 1], [5, 5], [6, -3]]


@pytest.mark.parametrize(
    ("encoding", "letters"),
    [("ISO-8859-1", ""), ("ISO-8859-1", "\u00e9"), ("us-ascii", ""), ("utf-8", "\u20ac")],
)
def test_what_the_encoding_lacks_is_a_reference(folder, encoding, letters):
    shapes = f'<circle id="a{letters}&#233;&#8364;" r="3"/><line id="b{letters}&#8364;&#233;" x2="5"/>'
    text = f'<?xml version="1.0" encoding="{encoding}"?>{HEAD}{shapes}</svg>'
    written = changed(text, encoding).encode(encoding)
    assert written != text.encode(encoding)
    found = {element.get("id") for element in ElementTree.fromstring(written)}
    assert found == {f"a{letters}\u00e9\u20ac", f"b{letters}\u20ac\u00e9"}
