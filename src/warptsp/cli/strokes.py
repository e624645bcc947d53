"""``warptsp strokes``: less travel for plotters, lasers, mills and drills."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from warptsp._facts import Fact
from warptsp._words import counted
from warptsp.cli import _values
from warptsp.cli._command import argument, as_command, file_option, option
from warptsp.cli._options import Printing, Seed, Threads, device_option, time_option
from warptsp.cli._outputs import check_page_name
from warptsp.errors import InvalidOption
from warptsp.interruption import FirstSignal

if TYPE_CHECKING:
    from warptsp.strokes import Machine

Numbers = tuple[float, ...]


@as_command(
    "warptsp strokes drawing.svg -o shorter.svg --preview both.svg",
    "warptsp strokes board.drl -o board.drl --machine max --home 0,0 --back",
    "warptsp strokes part.nc -o shorter.nc --speed 100,100 --acceleration 500 --inner-first",
)
def command(
    file: Annotated[Path, argument("FILE")],
    output: Annotated[
        str | None, file_option("Write the file in its new order; - is stdout.", "FILE", "-o", "--output")
    ],
    check_only: Annotated[bool, option("Write nothing; say whether the new order does the same work.")],
    format: Annotated[str | None, option("Format: svg, hpgl, gcode, excellon or dxf.", "NAME")],
    home: Annotated[
        Numbers | None, option("Start here.  [default: as the file says]", "X,Y", type=_values.numbers)
    ],
    back: Annotated[bool, option("Return to the home position.")],
    keep_directions: Annotated[bool, option("Draw no stroke backwards.")],
    keep_entries: Annotated[bool, option("Enter closed paths where the file does.")],
    inner_first: Annotated[bool, option("Cut what lies in a closed path before that path.")],
    ungroup: Annotated[bool, option("Mix groups and colours of SVG, or layers and colours of DXF.")],
    join: Annotated[float, option("HPGL: join strokes whose ends are at most D apart.", "D", default=0.0)],
    machine: Annotated[
        str,
        option(
            "Measure travel by its length, or by the longer of its axes (both motors at once).",
            type=click.Choice(("euclidean", "max")),
            default="euclidean",
            show_default=True,
        ),
    ],
    speed: Annotated[
        Numbers | None, option("Travel in seconds: top speed of the axes.", "V[,V]", type=_values.numbers)
    ],
    acceleration: Annotated[
        Numbers | None,
        option("Acceleration of the axes, with --speed.", "A[,A]", type=_values.numbers),
    ],
    time_limit: Annotated[
        float | None,
        time_option(
            "Search for this time: 10, 90s, 5m.  [default: up to 6 s, less where little is left to gain]"
        ),
    ],
    kicks: Annotated[int | None, option("Stop each search after N kicks.", "N")],
    seed: Seed,
    threads: Threads,
    device: Annotated[str, device_option("auto|cpu|cuda|cuda:N", "Where to search.")],
    preview: Annotated[str | None, file_option("Draw strokes and travel, before and after (.svg).")],
    report: Annotated[
        str | None, file_option("Write a page that shows the tool moving, before and after (.html).")
    ],
    printing: Printing,
) -> int:
    """Put the strokes of a drawing, the cuts of a G-code program or the holes of a board in an order with
    little travel.

    FILE is SVG, HPGL, G-code, Excellon or DXF (which needs ezdxf: pip install 'warptsp[dxf]'); the output has
    the same format. What is drawn, cut or drilled stays the same. Groups, layers and tools keep their order.
    The new file is verified before it is written: a second interpreter runs both.
    """
    from warptsp.outputs import Attempts, check_outputs, write_whole
    from warptsp.strokes import arrange
    from warptsp.strokes.files import Rules, read_drawing, rewritten
    from warptsp.strokes.files.registry import format_of
    from warptsp.strokes.preview import write_preview

    if printing.as_json and output == "-":
        raise InvalidOption("--json and --output -: both want stdout; give the strokes a file")
    if check_only and output is not None:
        raise InvalidOption(
            "--check-only and --output: the one writes nothing, the other says where to; leave one out"
        )
    kind = format_of(file, format)
    if output not in (None, "-") and format is None and format_of(output).name != kind.name:
        raise InvalidOption(
            f"--output {output!r}: {file} is {kind.title}, and one format is not turned into another"
        )
    if preview is not None and not preview.lower().endswith(".svg"):
        raise InvalidOption(f"--preview {preview!r}: the name must end in .svg")
    check_page_name(report, "--report")
    check_outputs([("--output", output)], [])  # which may be the drawing: it is whole until then
    taken: list[tuple[str, str | Path]] = [("the drawing itself", file)]
    taken += [] if output is None else [("taken by --output", output)]
    check_outputs([("--preview", preview), ("--report", report)], taken)
    drawing = read_drawing(file, format, ungroup=ungroup, inner_first=inner_first)
    found = home if home is not None else drawing.home
    with FirstSignal() as signals:  # what is found is written
        plan = arrange(
            drawing.paths,
            home=found,
            back=back,
            reversible=drawing.reversible & (not keep_directions),
            loops=drawing.loops & (not keep_entries),
            groups=drawing.groups,
            inner_first=inner_first,
            outlines=drawing.outlines,
            join=join,
            machine=_machine(machine, speed, acceleration),
            time_limit=time_limit,
            seed=seed,
            threads=threads,
            device=device,
            **({} if kicks is None else {"kicks": kicks}),
        )
        rules = Rules(
            inner_first=inner_first,
            keep_directions=keep_directions,
            keep_entries=keep_entries,
            ungrouped=ungroup,
            join=join,
        )
        verified = output is not None or check_only
        contents = rewritten(drawing, plan, rules) if verified else b""
        attempts, drawn, to_stdout = Attempts(), (drawing.paths, plan), output == "-"
        if output is not None and not attempts.make(write_whole, output, contents):
            output = None
        shown = {"y_up": drawing.y_up, "outlines": drawing.outlines}
        if preview is not None and not attempts.make(write_preview, preview, *drawn, **shown):
            preview = None
        if report is not None:
            from warptsp.report import write_strokes

            named = {"title": file.name, "unit": drawing.unit, "y_up": drawing.y_up}
            report = report if attempts.make(write_strokes, report, *drawn, **named) else None
    groups = len(set(drawing.groups))
    strokes, among = counted(len(plan.order), "stroke", "strokes"), counted(groups, "group", "groups")
    mixes = {"groups": "; --ungroup mixes them"} if kind.ungroups and not ungroup else {}
    same = ("same strokes" if ungroup else kind.same) if verified else None
    written = {"output": output, "preview": preview, "report": report}
    facts = [
        *(Fact(key, value) for key, value in plan.as_dict(drawing.unit).items()),
        Fact("file", str(file), f"{file}, {kind.title}, {strokes} in {among}"),
        Fact("groups", groups),
        *(Fact("", words=text + mixes.get(name, ""), name=name) for name, text in plan.facts(drawing.unit)),
        Fact("stays", drawing.notes),
        *(Fact("", words=note, name="stays") for note in drawing.notes),
        Fact("verified", verified, same),
        *(Fact(what, name, None if name == "-" else name) for what, name in written.items()),
    ]
    if not any(written.values()) and not verified:
        facts.append(Fact("", words="not written; --output FILE writes it", name="output"))
    printing.show(facts, on_stderr=to_stdout)
    attempts.finish()
    return signals.status


def _machine(name: str, speed: Numbers | None, acceleration: Numbers | None) -> Machine:
    from warptsp.strokes import AxisTimes
    from warptsp.strokes.machine import machine_of

    if speed is not None:
        return AxisTimes(speed, acceleration)
    if acceleration is not None:
        raise InvalidOption("--acceleration: of which top speed? Give --speed, too")
    return machine_of(name)
