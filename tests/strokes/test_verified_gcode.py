"""G-code: what is written does the same work, as a second interpreter sees it, or a line says why not."""

import contextlib
import logging
import re
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner
from drawing_files import plan_of
from gcode_second import UNKNOWN, differences, program

import warptsp.strokes
from warptsp.cli import commands
from warptsp.strokes.files import NotVerified, Rules, read_drawing, rewritten
from warptsp.strokes.verify import verify

HEAD, END = "G21 G90|M3 S10000|G0 Z5|", "M5|G0 X0 Y0|M30|"


def lines(text):
    return text.replace("|", "\n")


def hole(x, y=0, z=-1):
    return f"G0 X{x} Y{y}|G1 Z{z} F100|G0 Z5|"


@pytest.fixture
def order(tmp_path):
    """A program in its new order, from the command line; the second interpreter finds it the same."""

    def ordered(text, *options):
        text = lines(text)
        (tmp_path / "a.nc").write_bytes(text.encode())
        with contextlib.chdir(tmp_path):
            done = CliRunner().invoke(
                commands, ["strokes", "a.nc", "-o", "b.nc", "--kicks", "50", "--threads", "1", *options]
            )
        if done.exception is not None:
            raise done.exception
        assert "verified     same cuts, same order of depths" in done.output
        out = (tmp_path / "b.nc").read_bytes().decode()
        assert differences(text, out) == []
        return out

    return ordered


def depths_at(out, place):
    """The depths of the cuts that begin behind a rapid move to a place."""
    return [int(z) for z in re.findall(rf"G0 {place}[^\n]*\nG1 Z(-\d)", out)]


def shuffled(drawing, rng):
    """A plan of any order that keeps groups."""
    return plan_of(drawing, np.lexsort([rng.random(len(drawing.paths)), np.array(drawing.groups)]))


PASS = "G0 X0 Y0|G1 Z{z} F100|G1 X50 F300|G0 Z5|G0 X60 Y50|G1 Z{z} F100|G1 X10 F300|G0 Z5|"


def test_passes_keep_their_order(order):
    out = order(HEAD + "".join(PASS.format(z=z) for z in (-1, -2, -3)) + END)
    assert depths_at(out, "X60 Y50") == depths_at(out, "X0 Y0")[:3] == [-1, -2, -3]


@pytest.mark.parametrize("options", [[], ["--inner-first"]])
def test_finishing_comes_behind_roughing(order, options):
    cut = "G0 X0 Y{y}|G1 Z{z} F100|X50|G0 Z5|"
    program = HEAD + cut.format(y=0, z=-2) + hole(90, 90, -2) + cut.format(y=5, z=-2) + cut.format(y=0, z=-4)
    assert depths_at(order(program + END, *options), "X0 Y0")[:2] == [-2, -4]


def test_parts_that_are_cut_to_their_depth_at_once_are_units(order):
    deep = "".join(hole(x, 0, z) for x in (0, 90, 10, 80, 20) for z in (-1, -2, -3))
    out = order(HEAD + deep + END)
    assert out != lines(HEAD + deep + END)
    for x in (90, 10, 80):
        assert re.search(
            rf"G0 X{x} .*\nG1 Z-1 .*\nG0 Z5\nG0 X{x} .*\nG1 Z-2 .*\nG0 Z5\nG0 X{x} .*\nG1 Z-3", out
        )


def test_the_width_of_a_tool_counts(tmp_path):
    cuts = "".join(f"G0 X{x} Y{y}|G1 Z{z} F100|X{x + 5}|G0 Z5|" for x, y, z in
                   [(0, 0, -1), (80, 0, -1), (0, 2, -2), (70, 0, -1), (10, 50, -1)])  # fmt: skip
    groups = []
    narrow = "(T1 D=1.5)|", "(T1 D=.05in)|", "(dia: 1.5 mm)|"
    inches = '(D=.25")|', "(D=.25in)|", "(D=1/4in)|"
    wide = "(T1 D=6. flat)|", "(D6)|", "(DIA. - 6.)|", "(3D 6)|", "(T1 D1)|", *inches
    for comment in ("", *narrow, *wide):
        (tmp_path / "a.nc").write_text(lines(comment + HEAD + cuts + END))
        groups.append(list(read_drawing(tmp_path / "a.nc").groups[:5]))
    kept, free = [0, 0, 1, 1, 1], [0] * 5
    assert groups == [kept, *[free] * 3, *[kept] * 8]  # as wide as is usual where no comment tells it
    inches = HEAD.replace("G21", "G20")
    for comment, x, codes in (
        *(("(D=6)|", 2, HEAD), ("", 2, HEAD), ("(D1)|", 2, HEAD), ("(D=1/4)|", 2, HEAD), ("", 0.2, inches)),
        *(("(D=.25in)|", 2, HEAD), ('(D=.25")|', 2, HEAD), ("(D=6 mm)|", 0.2, inches)),
    ):
        far = lines(comment + codes + hole(0) + hole(90) + hole(x, 0, -2) + END)
        near = lines(comment + codes + hole(x, 0, -2) + hole(90) + hole(0) + END)
        with pytest.raises(NotVerified, match="overlap, have different depths"):
            verify("gcode", far.encode(), near.encode(), Rules())
        thin = [f"(D={x / 2})\n{text.removeprefix(lines(comment))}".encode() for text in (far, near)]
        verify("gcode", *thin, Rules())


PLACES = [(0, 0), (90, 0), (10, 0), (80, 5), (20, 0)]
DIALECTS = {
    "cura": (
        ";FLAVOR:Marlin|M82|M104 S200|G28|G92 E0|G1 F1500 E-6.5|;LAYER:0|;TYPE:FILL|"
        + "".join(f"G0 F9000 X{x} Y{y} Z0.3|G1 F1500 E{k}|"
            f"G1 F1800 X{x + 5} E{k + 1}|G1 F1500 E{k - 5.5}|"
                  for k, (x, y) in enumerate(PLACES))
        + "M104 S0|M84|"
    ),
    "prusa": (
        "M862.3 P \"MK3S\"|M83|G28 W|G80|G0 X0 Y0 Z0.2|;TYPE:Solid infill|"
        + "".join(f"G0 X{x} Y{y} F9000|G1 E0.8 F2100|G1 X{x + 5} E0.5 F1200|G1 E-0.8 F2100|"
                  for x, y in PLACES)
        + "M107|M84|"
    ),
    "laser": (
        "G90|M4 S0|G0 X0 Y0 F6000|"
        + "".join(f"G0X{x}Y{y}S0|G1X{x + 5}S300F1000|G1Y{y + 3}|G0 S0|" for x, y in PLACES)
        + "M5|M2|"
    ),
    "kicad": (
        "(G-CODE GENERATED BY FLATCAM)|(Tool diameter: 0.8 mm)|G21|G90|G94|G00 Z15.0000|"
        "T1|M5|M6|M0|M03 S1000|"
        + "".join(f"G00 X{x:.4f} Y{y:.4f}|G01 Z-1.7000 F120.00|G01 Z0|G00 Z2.0000|"
                  for x, y in PLACES)
        + "M05|G00 Z15.00|M30|"
    ),
    "fusion": (
        "%|O1001|(T1 D=3. CR=0. - ZMIN=-1. - FLAT END MILL)|N10 G90 G94 G17 G91.1|N15 G21|"
        "N20 G53 G0 Z0.|N25 T1 M6|"
        "N30 S5000 M3|N35 G54|N40 M8|N45 G0 X0. Y0.|N50 G43 Z15. H1|"
        + "".join(f"G0 X{x}. Y{y}.|G0 Z5.|G1 Z-1. F300.|G3 X{x + 4}. I2. J0. F900.|G1 X{x}.|G0 Z15.|"
                  for x, y in PLACES)
        + "N90 M9|N95 M5|N100 G28 G91 Z0.|N105 G90|N110 G53 G0 X0. Y0.|N115 M30|%|"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DIALECTS)
def test_programs_of_every_dialect_gain(tmp_path, name):
    text = lines(DIALECTS[name])
    (tmp_path / "a.nc").write_text(text)
    drawing = read_drawing(tmp_path / "a.nc")
    assert not drawing.notes
    plan = warptsp.strokes.arrange(drawing.paths, reversible=drawing.reversible, loops=drawing.loops,
                                   groups=drawing.groups, home=drawing.home, kicks=50, threads=1)  # fmt: skip
    assert plan.saved > 0.3
    assert len(rewritten(drawing, plan)) > 0.9 * len(text)


@pytest.mark.parametrize(
    "head",
    ["G00G21G17G90G40G49G80|G71G91.1", "G69 G15 G50", "G64 P0.003 Q0.01", "G61.1 G97", "M10 P1", "M62 P0",
     "M83|M92 X80|M201 X500|M500|M566 X600|M851 Z-1|M906 X800|G1 Z2 F900|G21"],
)  # fmt: skip
def test_ordinary_headers_cost_nothing(order, head):
    holes = "".join(hole(x) for x in (0, 90, 10, 80))
    out = order(head + "|" + HEAD + holes + END)
    places = [int(x) for x in re.findall(r"G0 X(\d+)", out.split("G0 Z5", 1)[1])[:4]]
    assert places in ([0, 10, 80, 90], [90, 80, 10, 0])


@pytest.mark.parametrize("line", ["G71 P10 Q20 U1", "G50 S2000", "G69 X1", "G70 G21", "G1 Z3 F9|G21"])
def test_words_with_two_meanings_are_not_understood(tmp_path, line):
    (tmp_path / "a.nc").write_text(lines(f"G90|{line}|G0 Z5|" + hole(0) + hole(90) + hole(10) + END))
    with pytest.raises(warptsp.ParseError, match="keep their place"):
        read_drawing(tmp_path / "a.nc")


def shuffles(path, text):
    """What a program becomes in a few orders; the second interpreter finds each the same."""
    path.write_text(lines(text))
    found = []
    for seed in range(8):
        drawing = read_drawing(path)
        found.append(rewritten(drawing, shuffled(drawing, np.random.default_rng(seed))).decode())
        assert differences(lines(text), found[-1]) == []
    return found


CROSS = [(0, 0), (90, 0), (0, 40), (90, 40), (40, 5), (50, 90)]


@pytest.mark.parametrize(
    ("head", "block"),
    [
        ("M83|G28|G1 Z0.2 F900|", "G1 E-0.8 F1500|G0 X{x} Y{y}|G1 E0.8|G1 X{to} E0.3 F1200|"),
        ("M82|G28|G1 Z0.2 F900|G92 E0|", "G0 X{x} Y{y}|G1 X{to} E{e} F1200|"),
        ("G90|G0 Z0|M5|", "G0 X{x} Y{y}|M3 S500|G1 X{to} F800|M5|"),
        ("G21 G90|M3 S99|G0 Z5|", "G0 X{x} Y{y} Z5|G1 X{x} Y{y} Z-1 F99|G1 X{to} Z-1|G0 X{to} Y{y} Z5|"),
    ],
)  # fmt: skip
def test_travel_may_cross_what_does_not_stand_up(tmp_path, head, block):
    """Travel of printers and lasers runs at the height of the work; lifts may name where they are."""
    body = "".join(block.format(x=x, y=y, to=x + 5, e=k + 1) for k, (x, y) in enumerate(CROSS))
    (tmp_path / "a.nc").write_text(lines(head + body + "M2|"))
    assert max(Counter(read_drawing(tmp_path / "a.nc").groups).values()) >= len(CROSS) - 1
    assert len(set(shuffles(tmp_path / "a.nc", head + body + "M2|"))) > 1


@pytest.mark.parametrize(
    "text",
    [
        HEAD + hole(0) + hole(90) + hole(10) + "G0 X50 Y50 Z2|G1 Z-1|G0 Z5|" + hole(70) + hole(20) + END,
        HEAD + hole(0) + hole(90) + hole(10) + "G0 X3 Y3|G0 Z20|G0 X0 Y0|M30|",
        "M82|G28|G1 Z0.2 F900|G92 E0|G0 X0 Y0|G1 X5 E1|G0 X50 Y0|G1 X55 E2|G92 E0|G0 X20 Y0|G1 X25 E1|"
        "G1 E0 F1500|G0 X9 Y9|G1 E1|G1 X8 E2|M2|",
        HEAD + "G0 X0 Y0|G1 Z-2 F9|Y20|G0 Y9|G0 Z5|" + hole(90) + hole(3, 9, -3) + hole(70) + END,
        "G21 G90|M3 S90|"
        + "".join(
            f"G0 X{x} Y0{s}|M3 S500|G1 X{x + 5} F500|M3 S90|"
            for x, s in [(0, ""), (50, ""), (20, ""), (70, " S0"), (10, ""), (40, "")]
        )
        + "M5|M30|",
        "M82|G28|G1 Z1 F9|G92 E0|G0 X0 Y0|G1 X5 E1|G0 X20 Y0|G1 X25 E2|G0 X50 Y0|G1 X55 E3|M83|G1 E-1|"
        "G1 E1|M82|G0 X70 Y0|G1 X75 E4|G1 X76 E5|M2|",
    ],
)
def test_every_order_that_is_offered_verifies(tmp_path, text):
    """Where rapid moves go down, run at two heights in a row or within the workpiece, the power goes to
    another than before, or filament is counted anew, or no more.
    """
    assert len(set(shuffles(tmp_path / "a.nc", text))) > 1


def test_a_rapid_move_down_stays_behind_what_was_cut_there(tmp_path):
    cut = "G0 X{x} Y0|M3 S99|G1 Z-2 F99|G1 X{to}|G0 Z5|M5|"
    down = "G0 X4 Y0|M3 S99|G0 Z-2|G1 Y9|G0 Z5|M5|"
    text = "G21 G90|M5|G0 Z5|" + cut.format(x=0, to=5) + cut.format(x=60, to=65) + down + "M30|"
    for out in shuffles(tmp_path / "a.nc", text):
        assert out.index("G0 X0 Y0") < out.index("G0 X4 Y0")
    early = "G21 G90|M5|G0 Z5|" + down + "G0 X0 Y0 F99|M3 S99|G1 Z-2 F99|G1 X5|G0 Z5|M5|M30|"
    late = "G21 G90|M5|G0 Z5|G0 X0 Y0|M3 S99|G1 Z-2 F99|G1 X5|G0 Z5|M5|" + down + "M30|"
    with pytest.raises(NotVerified):
        verify("gcode", lines(late).encode(), lines(early).encode(), Rules())


@pytest.mark.parametrize("table", [0, -10])
def test_rapid_moves_within_the_workpiece_stay(tmp_path, table):
    # Between the legs of a slot in the form of a U all is full, though no cut is as high as the travel there.
    def above(text):  # where 0 is the table instead of the top
        return re.sub(r"(?<=Z)-?\d+", lambda z: str(int(z[0]) - table), text)

    slot = above("G21 G90|{}|G0 X0 Y0|G1 Z-2 F9|Y50|X20|Y0|G0 Z-1|")
    holes = [above(f"G0 X{x} Y{y}|G1 Z-5|G0 Z-1|")
             for x, y in [(20, 9), (20, 0), (20, 50), (0, 50), (0, 0), (0, 9)]]  # fmt: skip
    found = []
    for high in (above("G0 Z5"), above("G0 Z0")):  # where Z is never above 0, that is no top
        (tmp_path / "a.nc").write_text(lines(slot.format(high) + "".join(holes) + f"{high}|M30|"))
        found.append(len(read_drawing(tmp_path / "a.nc").paths))
    assert found == [1, 7 if table == 0 else 1]
    before, after = (
        lines(slot.format(above("G0 Z5")) + "".join(holes[k] for k in order) + above("G0 Z5|")).encode()
        for order in ((0, 1, 2, 3, 4, 5), (0, 1, 4, 2, 3, 5))
    )
    with pytest.raises(NotVerified, match="or not above all cuts"):
        verify("gcode", before, after, Rules())


@pytest.mark.parametrize("down", ["G1 Z-2 F3000", "G1 Z-2. F900|F600"])
def test_a_fast_move_down_stays_behind_what_was_cut_there(tmp_path, down):
    """What goes down faster than other cuts goes where nothing is left."""
    slot = "G0 X{x} Y0|G1 Z-2 F100|G1 X{to} F600|G0 Z5|"
    fast = f"G0 X25 Y0|{down}|G1 Y50 F600|G0 Z5|"
    slots = slot.format(x=0, to=50), slot.format(x=90, to=140), slot.format(x=200, to=220)
    for out in shuffles(tmp_path / "a.nc", HEAD + "".join(slots) + fast + END):
        assert out.index("G0 X0 Y0") < out.index("G0 X25 Y0")
    late, early = HEAD + slots[0] + fast + slots[1] + END, HEAD + fast.replace("G0 X25", "G0 F600 X25")
    with pytest.raises(NotVerified, match="overlap, have different depths"):
        verify("gcode", lines(late).encode(), lines(early + slots[0] + slots[1] + END).encode(), Rules())
    alike = HEAD + "".join(slots) + fast.replace(down, "G1 Z-2 F100") + END
    assert (
        len({out.index("G0 X0 Y0") < out.index("G0 X25 Y0") for out in shuffles(tmp_path / "a.nc", alike)})
        == 2
    )


def test_a_fast_move_in_the_plane_stays_behind_what_was_cut_there(tmp_path):
    """As adaptive clearing moves without lifting, where nothing is left."""
    slots = [f"G0 X{x} Y0|G1 Z-3 F100|G1 X{x + 50} F600|G1 X{x + 9} F3000|G0 Z5|" for x in (0, 90, 200)]
    through = "G0 X25 Y-40|G1 Z-3 F100|G1 Y0 F600|G1 X45 F3000|G1 Y40 F600|G0 Z5|"
    text = HEAD + "".join([*slots, through]) + END
    for out in shuffles(tmp_path / "a.nc", text):
        assert out.index("G0 X0 Y0") < out.index("G0 X25 Y-40")
    late, early = (HEAD + slots[1] + "".join(two) + END for two in ((slots[0], through), (through, slots[0])))
    with pytest.raises(NotVerified, match="overlap, have different depths"):
        verify("gcode", lines(late).encode(), lines(early).encode(), Rules())
    alike = shuffles(tmp_path / "a.nc", text.replace("F3000", "F600"))
    assert len({out.index("G0 X0 Y0") < out.index("G0 X25 Y-40") for out in alike}) == 2


@pytest.mark.parametrize("faster", ["M3 S12000|G4 P3", "M5|S12000|M3|G4 P3", "S12000."])
def test_nothing_passes_where_the_spindle_gets_another_speed(tmp_path, faster):
    """A wait for it may follow, which is of use there only."""
    text = HEAD + hole(0) + hole(90) + hole(10) + f"{faster}|" + hole(70) + hole(20) + END
    for out in shuffles(tmp_path / "a.nc", text):
        place = out.index(lines(faster))
        assert {int(x) for x in re.findall(r"G0 X(\d+)", out[:place])} == {0, 90, 10}
        assert "S10000" not in out[place:]
    slow, fast = (f"{hole('{}')}".replace("Y0", f"Y0 S{speed}").format for speed in ("10000", "12000."))
    swapped = HEAD + hole(0) + fast(70) + slow(10) + f"{faster}|" + slow(90) + fast(20) + END
    with pytest.raises(NotVerified, match="would be lost or changed"):
        verify("gcode", lines(text).encode(), lines(swapped).encode(), Rules())
    same = HEAD + hole(0) + hole(90) + "M5|G4 P1|M3 S10000.|G4 P3|" + hole(10) + hole(70) + END
    assert any(out.index("M5") > out.index("X70") for out in shuffles(tmp_path / "a.nc", same))


def test_a_pen_that_the_speed_of_a_spindle_lifts_moves_with_its_line(tmp_path):
    pen = "G0 X{x} Y0|M3 S30|G4 P0.1|G1 X{to} F500|M3 S90|G4 P0.1|"
    text = "G21 G90|M3 S90|" + "".join(pen.format(x=x, to=x + 5) for x in (0, 50, 20, 70)) + "M5|M30|"
    (tmp_path / "a.nc").write_text(lines(text))
    assert list(read_drawing(tmp_path / "a.nc").groups) == [0, 0, 0, 0]
    assert len(set(shuffles(tmp_path / "a.nc", text))) > 1


def test_cuts_at_heights_that_nobody_knows_stay(tmp_path):
    """Relative moves tell no depth where the first height is unknown."""
    passes = "".join(f"G0 X{x} Y0|G91|G1 Z-{5 + z} F99|G90|G1 X{x + 9} F300|G91|G0 Z{5 + z}|G90|"
                     for z in (1, 2) for x in (0, 90, 50))  # fmt: skip
    (tmp_path / "a.nc").write_text(lines("G21 G90|M3 S99|" + passes + "M30|"))
    with pytest.raises(warptsp.ParseError, match="no rapid moves"):
        read_drawing(tmp_path / "a.nc")
    deep, first = (
        lines("G21 G90|M3 S99|" + text + "M30|").encode()
        for text in (
            passes,
            "|".join([*passes.split("|")[21:28], *passes.split("|")[:21], *passes.split("|")[28:]]),
        )
    )
    with pytest.raises(NotVerified):
        verify("gcode", deep, first, Rules())
    begin = "G21|G91|G0 Z5|G90|"
    assert len(set(shuffles(tmp_path / "a.nc", begin + HEAD + hole(0) + hole(90) + hole(10) + END))) > 1


def test_one_coolant_does_not_end_the_other(tmp_path):
    text = HEAD + "M7|M8|" + hole(0) + hole(90) + "M9|M8|" + hole(10) + hole(70) + END
    for out in shuffles(tmp_path / "a.nc", text):
        assert max(out.index("G0 X0 "), out.index("G0 X90 ")) < out.index("M9\nM8") < out.index("G0 X10 ")


def test_a_carriage_return_within_a_line_is_refused(tmp_path):
    """Some machines end a line there, also in a comment."""
    text = lines(HEAD + hole(0) + hole(90) + hole(10) + END).encode()
    (tmp_path / "a.nc").write_bytes(text.replace(b"M3", b";\rM3"))
    with pytest.raises(warptsp.ParseError, match=r"a\.nc:2: .* carriage return"):
        read_drawing(tmp_path / "a.nc")
    with pytest.raises(NotVerified, match="carriage return"):
        verify("gcode", text, text.replace(b"M3", b";\rM3"), Rules())


@pytest.mark.parametrize("output", ["M0", "M10", "M42 P1 S9", "M64 P0", "M280 P0 S90"])
def test_outputs_do_what_they_do_where_they_did(tmp_path, output):
    text = HEAD + hole(0) + hole(90) + hole(10) + f"{output}|" + hole(70) + hole(20) + END
    for out in shuffles(tmp_path / "a.nc", text):
        assert re.search(rf"G0 X10 .*\nG1 Z-1 .*\nG0 Z5\n{output}\n", out)
    other = HEAD + hole(0) + hole(10) + hole(90) + f"{output}|" + hole(70) + hole(20) + END
    with pytest.raises(NotVerified, match="in another place"):
        verify("gcode", lines(text).encode(), lines(other).encode(), Rules())


def test_where_a_tool_change_leaves_the_machine_nobody_knows(tmp_path):
    """Some go to a rack for tools: what follows names X and Y, though they are as before."""
    text = (
        HEAD
        + "T1 M6|"
        + hole(0)
        + hole(90)
        + "T2 M6|"
        + hole(0)
        + "G0 X40|G1 Z-1|G0 Z5|" * 2
        + hole(20)
        + END
    )
    for out in shuffles(tmp_path / "a.nc", text):
        assert re.search(r"T2 M6\nG0 X\d+ Y0\n", out)
    with pytest.raises(NotVerified, match="would"):
        verify(
            "gcode", lines(text).encode(), lines(text.replace("M6|G0 X0 Y0", "M6|G0 X0")).encode(), Rules()
        )
    other = HEAD + "T1 M6|" + hole(90) + hole(0) + text[text.index("T2 M6") :]
    with pytest.raises(NotVerified, match="in another place"):
        verify("gcode", lines(text).encode(), lines(other).encode(), Rules())


@pytest.mark.parametrize("stop", ["T2 M6", "T2", "M0", "M01 (turn it over)", "/M1", "M60"])
@pytest.mark.parametrize(("on", "off"), [("M3 S10000", "M5"), ("M8", "M9")])
def test_what_a_stop_may_have_ended_comes_on_before_it_is_needed(tmp_path, stop, on, off):
    """Most controls stop spindle and coolant for another tool, others do not."""
    text = HEAD + "M8|" + hole(0) + stop + "|" + hole(9, 9).replace("|", f"|{on}|", 1) + hole(70) + hole(40)
    for out in shuffles(tmp_path / "a.nc", text + END):
        assert lines(f"{stop}|G0 X9 Y9|{on}|") in out
    swapped = text.replace(hole(9, 9).replace("|", f"|{on}|", 1), "") + hole(9, 9).replace("|", f"|{on}|", 1)
    with pytest.raises(NotVerified, match="would be lost or changed"):
        verify("gcode", lines(text + END).encode(), lines(swapped + END).encode(), Rules())
    sure = text.replace(f"{stop}|", f"{stop}|{on}|") + f"{off}|"
    assert any(lines(f"{stop}|{on}|G0 X9") not in out for out in shuffles(tmp_path / "a.nc", sure + END))


def test_rapid_moves_give_no_feed_rate_to_cuts(tmp_path):
    """Some machines keep one for rapid moves apart from that of cuts."""

    def fed(text):  # the feed rate of each cut, if that of rapid moves is another
        feed, found = None, Counter()
        for line in re.findall(r"G1.*", text):
            feed = next(iter(re.findall(r"F\d+", line)), feed)
            found[re.sub(r" F\d+", "", line), feed] += 1
        return found

    slots = [f"G0 X{x} Y0|G1 Z-1{f}|G1 X{x + 9} ( on)|G0 Z5|" for x, f in ((0, " F600"), (90, ""), (40, ""))]
    text = HEAD + "".join(slots) + hole(20) + hole(70) + "G0 X60|G1 Z-2 (a)|G0 Z5|" + END
    out = shuffles(tmp_path / "a.nc", text)
    assert any("G1 Z-1 F600\nG1 X99" in one for one in out)
    assert [fed(one) for one in out] == [fed(lines(text))] * len(out)
    stays = "G0 X20 Y50|G43 H2|G91|G1 Z-3|G90|G1 X25|G0 Z5|"  # a line that keeps its place is not rewritten
    assert len(set(shuffles(tmp_path / "a.nc", HEAD + "".join(slots) + hole(70) + stays + END))) > 1


@pytest.mark.parametrize("border", ["M104 S200", "M106 S9 F2", "M486 A1.stl S5", "M117 #1 = [2*3]"])
def test_words_of_commands_that_move_nothing_are_no_feed_or_power(tmp_path, border):
    slower = "G0 X30 Y3|G1 Z-1|S8000|G0 Z5|"
    text = HEAD + hole(0) + hole(9) + slower + border + "|" + hole(6) + hole(70) + hole(4) + END
    for out in shuffles(tmp_path / "a.nc", text):
        assert border in out


def test_rapid_moves_at_depth_stay(order):
    around = "G0 X0 Y0|G1 Z-5 F100|G1 Y40 F600|G0 X15 Y60|G1 X30|G0 Z5|"
    out = order(HEAD + around + hole(90, 0, -5) + hole(10, 0, -5) + END)
    assert "G1 Y40 F600\nG0 X15 Y60\nG1 X30\n" in out
    with pytest.raises(warptsp.ParseError, match="above all that is cut"):
        order("G21 G90|G0 X0 Y0|G1 Z-5 F9|G1 Y40|G0 X15 Y60|G1 X30|G0 X90|G1 X95|G0 X10 Y0|G1 X12|G0 Z5|M30|")


@pytest.mark.parametrize("word", UNKNOWN)
def test_what_is_not_understood_stays_with_all_that_follows(order, word):
    stays = f"{word}|X0 Y20|G1 Z-1|G0 Z5|G0 X5|G1 Z-1|G0 Z5|M30|"
    out = order(HEAD + hole(0) + hole(90) + hole(10) + hole(80) + stays)
    assert out.startswith(lines(HEAD))
    assert out.endswith(lines(stays))
    with pytest.raises(warptsp.ParseError, match=r"a\.nc:4: .*keep their place"):
        order(HEAD + stays)


def test_comments_behind_it_are_no_expressions(order):
    stays = "M777|; #### the end ####|(a = [1])|; max_layer_z = 47.88|M30|"
    assert order(HEAD + hole(0) + hole(90) + hole(10) + stays).endswith(lines(stays))
    with pytest.raises(warptsp.ParseError, match="'#1=2' has expressions"):
        order(HEAD + hole(0) + hole(90) + hole(10) + "M777|#1=2 ; two|M30|")


BACK = [
    "M97P10",
    "N9M99P10",
    "M98(it)P1000",
    "M  98 P5",
    "N99 M99",
    "M96P10",
    "M47",
    "g65p9000",
    "N5G66P2",
    "GOTO10",
    "N9GOTO10",
]
BACK += [
    "(RPT N10,N20)3",
    "(IF P1 EQ 2 GOTO N5)",
    "(PCALL 10)",
    "G27 L5",
    "N5 G25L1000",
    "GOTOB N10",
    "REPEAT N10 N50",
    "N7IF",
    "CALL O10",
    "G25N10.50",
    "G25 N10",
]


@pytest.mark.parametrize("line", [*BACK, "M117 GOTO N5", "N5M101", "IFS1", "M970"])
def test_what_may_lead_to_another_line_is_refused_however_it_is_written(order, tmp_path, line):
    text = HEAD + hole(0) + hole(90) + hole(10) + f"M777|{line}|M30|"
    if line not in BACK:
        assert order(text).endswith(lines(f"M777|{line}|M30|"))
        return
    with pytest.raises(warptsp.ParseError, match=r"a\.nc:14: .* has expressions, checksums or subprograms"):
        order(text)
    other = lines(HEAD + hole(10) + hole(90) + hole(0) + f"M777|{line}|M30|").encode()
    with pytest.raises(NotVerified, match="may lead back to any line"):
        verify("gcode", lines(text).encode(), other, Rules())


@pytest.mark.parametrize(
    "head",
    ["M48|", "G52 X0 Y0|", "G32|", "G10 L2 P1 X0 Y0|", "G0 G54 X0. Y0. A0.|", "G53 G90 G40|", "/M8|/ M01|"],
)
def test_what_is_usual_in_front_of_the_first_cut_stays_there(order, head):
    blocks = hole(0) + hole(90) + hole(10) + hole(80)
    out = order(HEAD + head + "G0 Z5|" + blocks + END)
    assert out.startswith(lines(HEAD + head))
    assert re.findall(r"G0 X(\d+)", out)[-5:-1] in (["0", "10", "80", "90"], ["90", "80", "10", "0"])
    if head[0] != "/":  # behind a cut it would be another frame for some of the cuts
        stays = head + "G0 Z5|" + blocks + "M30|"
        assert order(HEAD + blocks + stays).endswith(lines(stays)) or head.startswith("G53")


def test_a_setting_that_holds_already_is_no_end_of_the_last_cut(order):
    text = HEAD + hole(90) + hole(0) + "G0 X80 Y0|G1 Z-1|G90|G0 Z5|G90|" + END
    out = order(text)
    assert out.index("X80") < out.index("X0 Y0")
    assert out.endswith(lines("G90|" + END))
    changed = out.replace(lines("G90|" + END), lines(END))
    with pytest.raises(NotVerified, match="behind the last cut"):
        verify("gcode", lines(text).encode(), changed.encode(), Rules())


def test_numbers_are_written_as_the_source_writes_them(order):
    out = order("G21 G90|G0 Z5.|G0 X0. Y5.|G1 Z-1. F100.|G0 Z5.|X90.|G1 Z-1.|G0 Z5.|X10.|G1 Z-1.|G0 Z5.|"
                "G0 X80. Y7.|G1 Z-1.|G0 Z5.|M30|")  # fmt: skip
    assert not re.search(r"[XYZF]-?\d+(?!\.|\d)", out)
    assert "X90. Y5.0" in out


def test_a_point_is_kept_beside_numbers_without_one(order):
    # Some controls count thousandths where there is no point: X90 is 0.09 there, and Y0 is 0 as Y0. is.
    out = order("G21 G90|G0 Z5.|G0 X0 Y5.|G1 Z-1. F100|G0 Z5.|X90.|G1 Z-1.|G0 Z5.|G0 X10. Y5|G1 Z-1.|G0 Z5.|"
                "Y0|G1 Z-1.|G0 Z5.|G0 X80. Y7.|G1 Z-1.|G0 Z5.|M30|")  # fmt: skip
    assert "X90. Y5.0" in out


@pytest.mark.parametrize(
    "circle", ["G2 I-{r} J0", "G2 X{r} I-{r}", "G2 X-{r} I-{r} J0|X{r} I{r}", "G3 X-{r} Y0 R{r}|X{r} Y0 R{r}",
               "G2 I-{r}|G1 Z-2|G2 I-{r}"]
)  # fmt: skip
@pytest.mark.parametrize("head", [HEAD, "G21 G90|G0 Z5|"])
def test_inner_circles_come_first(order, circle, head):
    cut = "G0 X{r} Y0|G1 Z-1{f}|" + circle + "|G0 Z5|"
    program = head + cut.format(r=100, f=" F100") + hole(300) + cut.format(r=10, f="") + END
    out = order(program, "--inner-first")
    assert out.index("X10 Y0") < out.index("X100 Y0")
    before = (lines(head + cut.format(r=100, f=" F9") + END)).encode()
    verify("gcode", before, before, Rules(inner_first=True))
    with pytest.raises(NotVerified, match="lies in that at line"):
        verify("gcode", lines(program).encode(), lines(program).encode(), Rules(inner_first=True))


@pytest.mark.parametrize(("given", "new", "told"), [((10, 100), (1, 0), 1), ((10, 100), (0, 1), 0),
                                                    ((100, 10), (0, 1), 0)])  # fmt: skip
def test_what_no_longer_comes_before_the_cut_around_it_is_told(tmp_path, caplog, given, new, told):
    program = HEAD + "".join(f"G0 X{r} Y0|G1 Z-1 F9|G2 I-{r}|G0 Z5|" for r in given) + END
    (tmp_path / "a.nc").write_text(lines(program))
    drawing = read_drawing(tmp_path / "a.nc")
    rewritten(drawing, plan_of(drawing, np.array([*new, *range(2, len(drawing.paths))])))
    assert caplog.text.count("inner_first=True") == told


def test_line_numbers_come_first_and_what_need_not_change_does_not(order):
    text = lines("N10 G21 G90|N20 G0 Z5|N30 G0 X0 Y0|N32 G1 Z-1 F9|N34 G0 Z5|N40 X10 Y0|N50 G1 Z-1|N52 G0 Z5|"
                 "N54 X30|N56 G1 Z-1|N58 G0 Z5|M30|")  # fmt: skip
    assert order(text) == text
    text = lines("G21 G90|G0 Z5|N1 X0 Y5|G1 Z-1 F9|G0 Z5|n2x90 (a)|G1 Z-1|G0 Z5|N3 X10|G1 Z-1|G0 Z5|"
                 "N4 X80 Y6|G1 Z-1|G0 Z5|M30|")  # fmt: skip
    out = order(text)
    assert "n2x90y5" in out.replace(" ", "")
    assert not re.search(r"(?i)[^\n]N\d", out)


@pytest.mark.parametrize(
    "states", [("G43 H1", "G43 H2"), ("G64 P0.01", "G64 P0.1"), ("G54", "G55"), ("G61", "G64")]
)
def test_what_a_cut_is_made_under_is_kept(order, states):
    one, two = states
    out = order(f"{HEAD}{one}|{hole(0)}{hole(90)}{two}|{hole(10)}{hole(80)}{hole(20)}{END}")
    assert set(re.findall(r"X(\d+) Y0", out.split(two + "\n")[0])) == {"0", "90"}


OFFSET = HEAD + "G54|" + hole(0) + hole(9) + "G55|G0 X20|G1 Z-1|G0 Z5|{}M30|"
BEAM = "G90|M5|G54|G0 X20 Y0|M3 S9|G1 X26 F9|M5|G55|{}M30|"
FILAMENT = "G90|M82|G28|G1 Z1 F9|G92 E0|G0 X0 Y0|G1 X5 E1|M83|G1 E3|M82|{}M30|"
NUMBERS = [  # works behind what makes numbers mean others, what stays in any order, an order that is wrong
    (OFFSET, [hole(40, 7), hole(30, 2)], r"G55\nG0 X20\n", [hole(20), hole(40, 7), hole(30, 2)]),
    (BEAM, [f"G0 {at}|M3 S9|G1 X{x}|M5|" for at, x in (("X20 Y3", 26), ("Y9", 25), ("X20 Y7", 25))],
     r"Y9 X26|X26\nM5\nG0 Y9", ["G0 Y9|M3 S9|G1 X25|M5|"]),
    (HEAD + hole(0) + hole(9) + "T2 M6|G43 H2|{}M30|", [hole(20, 3), hole(40, 7), hole(30, 2)],
     "G43 H2\nG0 X20 Y3\n", [hole(30, 2), hole(20, 3), hole(40, 7)]),
    (FILAMENT, ["G0 X20 Y0|G1 X25 E5|", "G0 X50 Y0|G1 X55 E6|", "G0 X70 Y0|G1 X75 E7|"], "X25 E5\nG0 X50",
     ["G0 X70 Y0|G1 X75 E2|", "G0 X50 Y0|G1 X55 E3|", "G0 X20 Y0|G1 X25 E7|"]),
    ("M83|G28|G90|G1 Z1 F9|G92 E0|{}M30|", [f"G0 X{x} Y0|G1 X{x + 5} E{x}|" for x in (1, 30, 20)], "",
     [f"G0 X{x} Y0|G1 X{x + 5} E{x}|" for x in (1, 20, 30)]),
]  # fmt: skip


@pytest.mark.parametrize(("frame", "works", "stays", "wrong"), NUMBERS)
def test_what_numbers_mean_is_followed(tmp_path, frame, works, stays, wrong):
    """Under another offset, tool length or count of filament a number is another place or amount."""
    text = lines(frame.format("".join(works)))
    (tmp_path / "a.nc").write_text(text)
    if stays:
        drawing = read_drawing(tmp_path / "a.nc")
        for seed in range(8):
            out = rewritten(drawing, shuffled(drawing, np.random.default_rng(seed))).decode()
            assert re.search(stays, out)
    else:
        with pytest.raises(warptsp.ParseError, match="no rapid moves"):
            read_drawing(tmp_path / "a.nc")
    with pytest.raises(NotVerified):
        verify("gcode", text.encode(), lines(frame.format("".join(wrong))).encode(), Rules())


def test_numbers_of_any_size_end_in_a_line(tmp_path):
    holes = HEAD + hole(0) + hole(90) + hole(10)
    for word in (f"G2 I{'9' * 200}", f"G2 X9 R{'9' * 200}", f"X{'9' * 400}", f"G2 I{'9' * 30}"):
        (tmp_path / "a.nc").write_text(lines(holes + f"{word}|" + END))
        assert read_drawing(tmp_path / "a.nc").paths
        before, after = (lines(holes + f"G1 Z-1|{word}|G0 Z{z}|" + END).encode() for z in (5, 6))
        with pytest.raises(NotVerified):
            verify("gcode", before, after, Rules())


def test_engraving_is_not_mixed_with_cutting(order):
    blocks = [f"G0 X{x} Y{y}|M3 S{s}|G1 X{x + 2} F{f}|M5|" for y, s, f in ((0, 200, 3000), (5, 1000, 200))
              for x in (0, 90, 10, 80)]  # fmt: skip
    out = order("G21 G90|" + "".join(blocks) + "M30|")
    assert re.findall(r"M3 S(\d+)", out) == ["200"] * 4 + ["1000"] * 4
    mixed = (
        "G21 G90|" + "".join(b for pair in zip(blocks[:4], blocks[4:], strict=True) for b in pair) + "M30|"
    )
    assert order(mixed) == lines(mixed)


@pytest.mark.parametrize(
    "footer", ["G91|G0 X-5|G90|M30|", "G0 X5|M30|", "G1 E-2 F9|M30|", "M0|M30|", "X5 Y5|M30|"]
)
def test_footers_begin_where_they_began(order, footer):
    body = "M83|" + hole(0) + hole(90) + hole(10) + hole(80) + hole(20)
    out = order(f"{HEAD}{body}{footer}")
    assert out.endswith(lines(footer))
    assert out.index("X20 Y0") > max(out.index(f"X{x} Y0") for x in (90, 10, 80))


def test_blocks_that_begin_and_end_at_one_point(order):
    text = HEAD + "".join(f"G0 X3 Y4|G1 Z-1 F100|G2 I{r} J0|G0 Z5|" for r in range(1, 30)) + END
    assert sorted(order(text).split("\n")) == sorted(lines(text).split("\n"))


def test_comments_line_ends_and_marks_are_kept(tmp_path):
    text = lines("G21 G90|G0 Z5|G0 X0 Y5 (a)|G1 Z-1 F100|G0 Z5|X90 (b; c)|G1 Z-1|G0 Z5|(next)|"
                 "X10 ; d|G1 Z-1|G0 Z5|"
                 "G0 X80 Y7 (e)|G1 Z-1|G0 Z5|M30|").replace("\n", "\r\n")  # fmt: skip
    (tmp_path / "a.nc").write_bytes(b"\xef\xbb\xbf" + text.encode())
    drawing = read_drawing(tmp_path / "a.nc")
    for seed in range(5):
        out = rewritten(drawing, shuffled(drawing, np.random.default_rng(seed)))
        assert out.startswith(b"\xef\xbb\xbfG21")
        assert out.count(b"\r\n") == out.count(b"\n") == text.count("\n")
        assert all(comment in out for comment in (b"(a)", b"(b; c)", b"; d", b"(e)"))
        assert re.search(rb"\(next\)\r\n[^\r]*; d", out)


def test_a_line_of_brackets_is_read_at_once(order):
    stays = "(" * 200_000 + "|M30|"
    out = order(HEAD + hole(0) + hole(90) + hole(10) + stays)
    assert out.endswith(lines(stays))


def test_check_only_writes_nothing(tmp_path):
    (tmp_path / "a.nc").write_text(lines(HEAD + hole(0) + hole(90) + hole(10) + END))
    with contextlib.chdir(tmp_path):
        done = CliRunner().invoke(commands, ["strokes", "a.nc", "--check-only", "--kicks", "5"])
        assert "verified     same cuts" in done.output
        done = CliRunner().invoke(commands, ["strokes", "a.nc", "--check-only", "--json", "--kicks", "5"])
        assert '"verified": true' in done.output
        done = CliRunner().invoke(commands, ["strokes", "a.nc", "--check-only", "-o", "b.nc"])
        assert "leave one out" in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["a.nc"]


def test_nothing_is_written_that_was_not_verified(tmp_path, monkeypatch):
    text = lines(HEAD + hole(0) + hole(90) + hole(10) + END)
    (tmp_path / "a.nc").write_text(text)
    monkeypatch.setattr("warptsp.strokes.files.gcode._Writer.rapid", lambda self, line, state: "G0 X7 Y7")
    with contextlib.chdir(tmp_path):
        done = CliRunner().invoke(commands, ["strokes", "a.nc", "-o", "a.nc", "--kicks", "5"])
    assert isinstance(done.exception, NotVerified)
    assert (tmp_path / "a.nc").read_text() == text


def test_a_warning_is_told_once(tmp_path, monkeypatch):
    (tmp_path / "a.nc").write_text(lines(HEAD + "".join(hole(k) for k in (0, 9, 3)) + END))
    from warptsp.strokes import arrange

    def warned(*arguments, **options):
        for _ in range(15):
            logging.getLogger("warptsp.solver").warning("the CPU did the search")
        return arrange(*arguments, **options)

    monkeypatch.setattr("warptsp.strokes.arrange", warned)
    done = CliRunner().invoke(commands, ["strokes", str(tmp_path / "a.nc"), "--kicks", "5"])
    assert done.output.count("the CPU did the search") == 1


def checked(path, seed):
    """Write a random program in any order that its groups allow: what became of it, and what is wrong."""
    rng = np.random.default_rng(seed)
    text = program(rng)
    path.write_bytes(text.encode())
    try:
        drawing = read_drawing(path)
        out = rewritten(drawing, shuffled(drawing, rng)).decode()
    except warptsp.ParseError as error:
        told = re.search(r"keep their place|above all that is cut|is not written", str(error))
        what = "not verified" if isinstance(error, NotVerified) else "refused"
        return what, [] if told else [str(error)]
    return "same" if out == text else "changed", differences(text, out)


@pytest.mark.parametrize("count", [60, pytest.param(800, marks=pytest.mark.slow)])
def test_random_programs_do_the_same_under_a_second_interpreter(tmp_path, count):
    found = Counter()
    for seed in range(count):
        what, wrong = checked(tmp_path / "a.nc", seed)
        assert not wrong, (seed, wrong)
        found[what] += 1
    assert found["changed"] > 0.3 * count
    assert found["not verified"] <= 0.01 * count


def mutant(out, rng):
    """An output with one fault: lines swapped, a word or line lost, a height or a decimal changed."""
    rows = out.split("\n")
    kind = rng.integers(0, 5)
    place = int(rng.integers(0, len(rows) - 1))
    if kind == 0:
        other = int(rng.integers(0, len(rows) - 1))
        rows[place], rows[other] = rows[other], rows[place]
    elif kind == 1:
        rows[place] = re.sub(r" ?[FSMGXYZH][-+.\d]+", "", rows[place], count=1)
    elif kind == 2:
        rows[place] = re.sub(r"(G0 ?)Z(\d+)", lambda m: f"{m[1]}Z{int(m[2]) - 1}", rows[place])
    elif kind == 3:
        rows[place] = re.sub(r"([XYZFSIJ]-?\d+)", r"\g<1>.1", rows[place].replace(".", ""), count=1)
    else:
        del rows[place]
    return "\n".join(rows)


def equivalent(out, changed):
    """Whether a mutant does the same: the second interpreter sees nothing else, and it goes up as high."""
    heights = [re.findall(r"G0 ?Z\S+", text) for text in (out, changed)]
    return differences(out, changed) == [] and Counter(heights[0]) == Counter(heights[1])


@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_the_verifier_catches_mutants(tmp_path, count):
    caught = passed = seed = 0
    while caught + passed < count:
        seed += 1
        rng = np.random.default_rng((7, seed))
        text = program(rng)
        (tmp_path / "a.nc").write_bytes(text.encode())
        try:
            drawing = read_drawing(tmp_path / "a.nc")
            out = rewritten(drawing, shuffled(drawing, rng)).decode()
        except warptsp.ParseError:
            continue
        for _ in range(5):
            changed = mutant(out, rng)
            if changed == out:
                continue
            try:
                verify("gcode", text.encode(), changed.encode(), Rules())
            except NotVerified:
                caught += 1
                continue
            passed += 1
            assert equivalent(out, changed), (seed, changed)
    assert passed < 0.1 * count  # such as a G0 that holds already
