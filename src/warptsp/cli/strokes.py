"""``warptsp strokes``: less travel for plotters, lasers, mills and drills."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warptsp.cli._completion import devices
from warptsp.cli._options import Seconds, echo_json, examples, json_option, quiet_option
from warptsp.cli.streams import say, tell
from warptsp.errors import InvalidOption
from warptsp.interruption import FirstSignal, status

if TYPE_CHECKING:
    from warptsp.strokes import Machine, Plan
    from warptsp.strokes.files.drawing import Drawing, StrokeFormat


class _Numbers(click.ParamType):  # type: ignore[type-arg]
    """Numbers with commas between them: ``0,0``."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a tuple of numbers."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(float(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not a list of numbers such as 0,0", param, ctx)


@click.command(
    epilog=examples(
        "warptsp strokes drawing.svg -o shorter.svg --preview both.svg",
        "warptsp strokes board.drl -o board.drl --machine max --home 0,0 --back",
        "warptsp strokes part.nc -o shorter.nc --speed 100,100 --acceleration 500 --inner-first",
    )
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(), help="Write the file in its new order; - is stdout."
)
@click.option(
    "--check-only", is_flag=True, help="Write nothing; say whether the new order does the same work."
)
@click.option("--format", "format_", metavar="NAME", help="Format: svg, hpgl, gcode, excellon or dxf.")
@click.option("--home", type=_Numbers(), metavar="X,Y", help="Start here.  [default: as the file says]")
@click.option("--back", is_flag=True, help="Return to the home position.")
@click.option("--keep-directions", is_flag=True, help="Draw no stroke backwards.")
@click.option("--keep-entries", is_flag=True, help="Enter closed paths where the file does.")
@click.option("--inner-first", is_flag=True, help="Cut what lies in a closed path before that path.")
@click.option("--ungroup", is_flag=True, help="Mix groups and colours of SVG, or layers and colours of DXF.")
@click.option(
    "--join", type=float, default=0.0, metavar="D", help="HPGL: draw on where ends are at most D apart."
)
@click.option(
    "--machine",
    type=click.Choice(("euclidean", "max")),
    default="euclidean",
    show_default=True,
    help="Travel as its length, or as the longer of its axes (both motors at once).",
)
@click.option("--speed", type=_Numbers(), metavar="V[,V]", help="Travel in seconds: top speed of the axes.")
@click.option(
    "--acceleration", type=_Numbers(), metavar="A[,A]", help="Acceleration of the axes, with --speed."
)
@click.option(
    "--time-limit",
    type=Seconds(),
    metavar="TIME",
    help="Search for this time: 10, 90s, 5m.  [default: up to 6 s, less where little is left to gain]",
)
@click.option("--kicks", type=int, metavar="N", help="Stop each search after N kicks.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random numbers.")
@click.option("--threads", type=int, metavar="N", help="Number of threads; default: all available.")
@click.option(
    "--device",
    default="auto",
    show_default=True,
    metavar="auto|cpu|cuda|cuda:N",
    shell_complete=devices,
    help="Where to search.",
)
@click.option(
    "--preview", metavar="FILE", type=click.Path(), help="Draw strokes and travel, before and after (.svg)."
)
@click.option(
    "--report",
    metavar="FILE",
    type=click.Path(),
    help="Write a page on which the tool goes its way, before and after (.html).",
)
@json_option
@quiet_option
def command(
    file: Path,
    output: str | None,
    check_only: bool,
    format_: str | None,
    home: tuple[float, ...] | None,
    back: bool,
    keep_directions: bool,
    keep_entries: bool,
    inner_first: bool,
    ungroup: bool,
    join: float,
    machine: str,
    speed: tuple[float, ...] | None,
    acceleration: tuple[float, ...] | None,
    time_limit: float | None,
    kicks: int | None,
    seed: int,
    threads: int | None,
    device: str,
    preview: str | None,
    report: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Put the strokes of a drawing, the cuts of a G-code program or the holes of a board in an order with
    little travel.

    FILE is SVG, HPGL, G-code, Excellon or DXF (which needs ezdxf: pip install 'warptsp[dxf]'); the output has
    the same format. What is drawn, cut or drilled stays the same. Groups, layers and tools keep their order.
    The new file is verified before it is written: an interpreter of its own runs both.
    """
    from warptsp.cli.report import check_page_name
    from warptsp.outputs import atomic_write, check_outputs
    from warptsp.strokes import arrange
    from warptsp.strokes.files import Rules, read_drawing, rewritten
    from warptsp.strokes.files.registry import format_of
    from warptsp.strokes.preview import write_preview

    if as_json and output == "-":
        raise InvalidOption("--json and --output -: both want stdout; give the strokes a file")
    if check_only and output is not None:
        raise InvalidOption(
            "--check-only and --output: the one writes nothing, the other says where to; leave one out"
        )
    kind = format_of(file, format_)
    if output not in (None, "-") and format_ is None and format_of(output).name != kind.name:
        raise InvalidOption(
            f"--output {output!r}: {file} is {kind.title}, and one format is not turned into another"
        )
    if preview is not None and not preview.lower().endswith(".svg"):
        raise InvalidOption(f"--preview {preview!r}: the name must end in .svg")
    if report is not None:
        check_page_name(report, "--report")
    check_outputs([("--output", output)], [])  # which may be the drawing: it is whole until then
    taken = [("the drawing itself", file)] + [
        ("taken by --output", name) for name in [output] if name is not None
    ]
    check_outputs([("--preview", preview), ("--report", report)], taken)
    drawing = read_drawing(file, format_, ungroup=ungroup, inner_first=inner_first)
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
        if output is not None:
            with atomic_write(output) as stream:
                stream.write(contents)
        if preview is not None:
            write_preview(preview, drawing.paths, plan, y_up=drawing.y_up, outlines=drawing.outlines)
        if report is not None:
            from warptsp.report import write_strokes

            write_strokes(report, drawing.paths, plan, title=file.name, unit=drawing.unit, y_up=drawing.y_up)
    written = {"output": output, "preview": preview, "report": report}
    _tell(file, kind, plan, drawing, written, verified, ungroup, as_json, quiet)
    return 0 if signals.caught is None else status(signals.caught)


def _machine(name: str, speed: tuple[float, ...] | None, acceleration: tuple[float, ...] | None) -> Machine:
    from warptsp.strokes import AxisTimes
    from warptsp.strokes.machine import machine_of

    if speed is not None:
        return AxisTimes(speed, acceleration)
    if acceleration is not None:
        raise InvalidOption("--acceleration: of which top speed? Give --speed, too")
    return machine_of(name)


def _tell(
    file: Path,
    kind: StrokeFormat,
    plan: Plan,
    drawing: Drawing,
    written: dict[str, str | None],
    verified: bool,
    ungroup: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    groups = len(set(drawing.groups))
    if as_json:
        echo_json(
            {
                **plan.as_dict(drawing.unit),
                "file": str(file),
                "groups": groups,
                "verified": verified,
                "stays": drawing.notes,
                **written,
            }
        )
        return
    if quiet:
        return
    count, many = len(plan.order), "groups" if groups != 1 else "group"
    lines = [f"file         {file}, {kind.title}, {count} stroke{'s' * (count != 1)} in {groups} {many}"]
    mixes = {"groups": "; --ungroup mixes them"} if kind.ungroups else {}
    lines += [f"{name:12} {value}{mixes.get(name, '')}" for name, value in plan.facts(drawing.unit)]
    lines += [f"stays        {note}" for note in drawing.notes]
    if verified:
        lines.append(f"verified     {'same strokes' if ungroup else kind.same}")
    lines += [f"{what:12} {name}" for what, name in written.items() if name not in (None, "-")]
    if not any(written.values()) and not verified:
        lines.append("output       not written; --output FILE writes it")
    (tell if written["output"] == "-" else say)(*lines)
