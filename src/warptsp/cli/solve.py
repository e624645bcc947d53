"""``warptsp solve``: from an instance file to a short tour."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warptsp._words import counted
from warptsp.cli._completion import devices, methods, starts
from warptsp.cli._display import MODES, NoDisplay, make_display
from warptsp.cli._options import (
    Seconds,
    TableOptions,
    asymmetric_option,
    echo_json,
    examples,
    find_city,
    format_option,
    instance_argument,
    json_option,
    load_instance,
    parse_params,
    table_options,
)
from warptsp.cli.streams import say, tell
from warptsp.errors import InvalidOption, OutputError
from warptsp.interruption import FirstSignal, Terminated, status
from warptsp.outputs import Attempts, check_writable, is_stream

if TYPE_CHECKING:
    from warptsp.problem import Problem
    from warptsp.progress import Progress
    from warptsp.result import Result
    from warptsp.watch import Watch

PICTURES = (".svg", ".png", ".pdf")
HURRY = 2.0  # seconds that open pages have for the end of a run that was interrupted


@click.command(
    epilog=examples(
        "warptsp solve places.csv --time-limit 30 --output route.geojson",
        "warptsp solve usa13509.tsp --target-gap 0.5 --picture usa13509.svg",
        "warptsp solve cities.npy --checkpoint best.tour   # --start best.tour continues from it",
    )
)
@instance_argument
@format_option
@table_options
@asymmetric_option
@click.option(
    "-o", "--output", "outputs", multiple=True, type=click.Path(), metavar="FILE",
    help="Write the tour; the ending sets the format: .tour (TSPLIB), .csv, .geojson, .gpx, .kml, .npy; - "
    "is stdout in TSPLIB format. May be given several times.",
)  # fmt: skip
@click.option(
    "--picture",
    "pictures",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Draw the tour (.svg, .png), or the run (.pdf: start tour, tour, gap over time; needs matplotlib).",
)
@click.option(
    "--report",
    type=click.Path(),
    metavar="FILE",
    help="Write an HTML page about the run (.html); it opens in any browser, without a network.",
)
@click.option(
    "--csv-safe",
    is_flag=True,
    help="In .csv and .tsv tours, put ' before names that a spreadsheet would take for formulas.",
)
@json_option
@click.option("--time-limit", type=Seconds(), metavar="TIME", help="Stop after this time: 10, 90s, 5m, 2h.")
@click.option("--kicks", type=int, metavar="N", help="Stop after N kicks (same seed and threads: same tour).")
@click.option(
    "--no-improvement",
    type=Seconds(),
    metavar="TIME",
    help="Stop when the tour has not improved for this time.",
)
@click.option(
    "--no-improvement-kicks",
    type=int,
    metavar="N",
    help="Stop when the tour has not improved for this many kicks.",
)
@click.option(
    "--target-length", type=float, metavar="LENGTH", help="Stop when the tour is no longer than this."
)
@click.option(
    "--target-gap",
    type=float,
    metavar="PERCENT",
    help="Stop when the tour is within this gap of the optimum (if known).",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random numbers.")
@click.option(
    "--start", metavar="NAME|FILE", shell_complete=starts,
    help="Start tour: greedy (default), space-filling, nearest-neighbor, random, given; or a tour file, "
    "such as a checkpoint, to continue from.",
)  # fmt: skip
@click.option(
    "--open/--closed",
    "open_",
    default=None,
    help="Find an open path with free ends, or a closed tour.  [default: as INSTANCE says]",
)
@click.option("--from", "from_", metavar="CITY", help="City where the tour or path starts: number or name.")
@click.option("--to", metavar="CITY", help="City where the path ends; implies --open.")
@click.option(
    "--device", default="auto", show_default=True, metavar="auto|cpu|cuda|cuda:N[,M...]",
    shell_complete=devices,
    help="Where to search: auto takes a GPU for large instances; auto and cuda take all GPUs where that is "
    "faster; cuda:0,1 names them.",
)  # fmt: skip
@click.option("--explain-launch", is_flag=True, help="Show how the search would use the GPU, then exit.")
@click.option("--threads", type=int, metavar="N", help="Number of threads; default: all available.")
@click.option(
    "--method",
    default="lk",
    show_default=True,
    metavar="NAME",
    shell_complete=methods,
    help="Method; see --list-methods.",
)
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the method; see --list-methods.",
)
@click.option(
    "--then",
    metavar="NAME",
    shell_complete=methods,
    help="A second method, such as two-opt, that starts from the first one's tour.",
)
@click.option(
    "--then-param",
    "then_params",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the second method.",
)
@click.option(
    "--cluster", metavar="ADDRESS|local",
    help="Spread the search over the workers of a Dask scheduler; local, or local:N, starts N workers here.",
)  # fmt: skip
@click.option(
    "--cluster-param",
    "cluster_params",
    multiple=True,
    metavar="NAME=VALUE",
    help="How --cluster divides the work: part, rounds, kicks, deadline, wait, attempts.",
)
@click.option(
    "--list-methods", is_flag=True, is_eager=True, expose_value=False,
    callback=lambda context, option, value: _list_methods(context) if value else None,
    help="List the methods and their parameters, then exit.",
)  # fmt: skip
@click.option(
    "--checkpoint",
    type=click.Path(),
    metavar="FILE",
    help="Save the best tour here at intervals; --start continues from it.",
)
@click.option(
    "--checkpoint-interval",
    type=Seconds(),
    default=5.0,
    metavar="TIME",
    help="Minimum time between checkpoint writes.",
)
@click.option(
    "--progress", type=click.Choice(MODES), default="auto", show_default=True, help="Progress on stderr."
)
@click.option("-q", "--quiet", is_flag=True, help="Same as --progress none.")
@click.option(
    "--watch",
    is_flag=True,
    help="Serve a page to browsers on this machine that shows the search and can stop and save it.",
)
@click.option("--port", type=int, metavar="N", help="Port of the --watch page; default: any free port.")
def command(
    instance: Path,
    format_: str | None,
    table: TableOptions,
    asymmetric: bool,
    outputs: tuple[str, ...],
    pictures: tuple[str, ...],
    report: str | None,
    csv_safe: bool,
    as_json: bool,
    seed: int,
    start: str | None,
    open_: bool | None,
    from_: str | None,
    to: str | None,
    device: str,
    explain_launch: bool,
    threads: int | None,
    method: str,
    params: tuple[str, ...],
    then: str | None,
    then_params: tuple[str, ...],
    cluster: str | None,
    cluster_params: tuple[str, ...],
    checkpoint: str | None,
    checkpoint_interval: float,
    progress: str,
    quiet: bool,
    watch: bool,
    port: int | None,
    browser: bool = False,
    **stops: Any,
) -> int:
    """Find a short tour through the cities of INSTANCE.

    INSTANCE is a TSPLIB file, a CSV or TSV with the columns x,y or lat,lon (and name), .npy, GeoJSON, GPX
    or KML points, or an OSRM table. Without a stopping option the search ends when the tour has not improved
    for a while: after at most 10 s up to 10 000 cities, later for more. With several stopping options, the
    first one met ends the search.

    Ctrl-C or SIGTERM ends the search; the best tour so far is written, and the exit status is 130 or 143. A
    second signal ends the command at once.
    """
    from warptsp.io import check_tour_output
    from warptsp.result import Result
    from warptsp.solver import solve

    _check_outputs(instance, outputs, pictures, report, checkpoint, csv_safe, as_json)
    problem = load_instance(instance, format_, table, asymmetric=asymmetric)
    for output in outputs:
        if output != "-":
            check_tour_output(output, problem)
    problem, first = _ends(problem, open_, from_, to)
    if explain_launch:
        say(*_explain_launch(problem, device, method).split("\n"))
        return 0
    if pictures:
        from warptsp.plotting import check_drawable, check_figure

        for picture in pictures:
            (check_figure if _shows_run(picture) else check_drawable)(problem, picture)
    snapshots = 2 if any(map(_shows_run, pictures)) else 0
    if report is not None:
        from warptsp.report import check_reportable, snapshots_for

        check_reportable(problem)
        snapshots = snapshots_for(problem)
    stop = _stop(**stops)
    display = make_display("none" if quiet else progress)
    if port is not None and not watch:
        raise InvalidOption("--port: the page that has a port is that of --watch; add it")
    attempts = Attempts()
    interrupt: BaseException | None = None
    with ExitStack() as opened:
        page: Watch | None = None
        callback: Callable[[Progress], object] = display
        if watch:
            page = opened.enter_context(
                _watch(
                    problem,
                    port or 0,
                    browser,
                    [name for name in outputs if name != "-"],
                    first,
                    csv_safe,
                    {"method": method, "seed": str(seed), "device": device},
                )
            )
            callback = _both(display, page)
        # What is found is written, whatever comes: also where a signal comes after the search.
        with FirstSignal() as signals:
            try:
                with display:
                    result = solve(
                        problem,
                        stop=stop,
                        seed=seed,
                        start=start,
                        device=device,
                        threads=threads,
                        method=method,
                        params=parse_params(params),
                        then=then,
                        then_params=parse_params(then_params),
                        callback=callback,
                        checkpoint=checkpoint,
                        checkpoint_interval=checkpoint_interval,
                        snapshots=snapshots,
                        cluster=cluster,
                        cluster_params=parse_params(cluster_params),
                    )
            except BaseException as error:
                found = getattr(error, "result", None)
                if not isinstance(found, Result):
                    if page is not None:
                        page.fail(f"Failed: {error}")
                        page.wait(HURRY)
                    raise
                result = found
                if isinstance(error, Exception):
                    attempts.failures.append(error)
                    if isinstance(error, OutputError):
                        checkpoint = None  # it is what could not be written
                else:
                    interrupt = error
            if page is not None:
                attempts.make(page.finish, result)
            written = _write(attempts, result, first, outputs, pictures, report, csv_safe)
            attempts.make(_tell, instance, result, written, checkpoint, as_json, to_stderr="-" in outputs)
        if page is not None:
            _await_pages(page, in_a_hurry=result.interrupted or signals.caught is not None, quiet=quiet)
    if interrupt is not None:
        raise interrupt
    attempts.finish()
    return 0 if signals.caught is None else status(signals.caught)


def _check_outputs(
    instance: Path,
    outputs: tuple[str, ...],
    pictures: tuple[str, ...],
    report: str | None,
    checkpoint: str | None,
    csv_safe: bool,
    as_json: bool,
) -> None:
    """Check before the search that everything can be written."""
    from warptsp.io import tour_format

    if csv_safe and not any(name.lower().endswith((".csv", ".tsv")) for name in outputs):
        raise InvalidOption("--csv-safe: no --output is a .csv or .tsv file; add one, or leave it out")
    if "-" in outputs and as_json:
        raise InvalidOption("--json and --output -: both want stdout; give the tour a file")
    seen: dict[str, str] = {os.path.realpath(instance): "the instance itself"}
    named = [("--output", name) for name in outputs if name != "-"]
    named += [("--picture", name) for name in pictures]
    named += [("--report", report)] if report is not None else []
    named += [("--checkpoint", checkpoint)] if checkpoint is not None else []
    for option, name in named:
        if option == "--output":
            tour_format(name)
        if option == "--picture" and Path(name).suffix.lower() not in PICTURES:
            raise InvalidOption(f"--picture {name!r}: the name must end in .svg, .png or .pdf")
        if option == "--report":
            from warptsp.cli.report import check_page_name

            check_page_name(name, option)
        place = os.path.realpath(name)
        if place in seen and not is_stream(name) and place != os.devnull:
            raise InvalidOption(f"{option} {name!r}: this file is {seen[place]} already; choose another name")
        seen[place] = f"taken by {option}"
        check_writable(name)


def _ends(
    problem: Problem, open_: bool | None, from_: str | None, to: str | None
) -> tuple[Problem, int | None]:
    """Return the problem with the ends asked for, and the first city of a closed tour if one was named."""
    from dataclasses import replace

    from warptsp.problem import OpenPath

    start = None if from_ is None else find_city(problem, from_, "--from")
    end = None if to is None else find_city(problem, to, "--to")
    if end is not None and open_ is False:
        raise InvalidOption("--to and --closed: a closed tour has no end; leave one of them out")
    if open_ or end is not None or (open_ is None and problem.open is not None and start is not None):
        if start is not None and start == end and problem.n > 1:
            raise InvalidOption(
                f"--from and --to: both are city {to}; a round trip is a closed tour, without --to"
            )
        return replace(problem, open=OpenPath(start=start, end=end)), None
    if open_ is False:
        problem = replace(problem, open=None)
    return problem, start


def _stop(
    time_limit: float | None,
    kicks: int | None,
    no_improvement: float | None,
    no_improvement_kicks: int | None,
    target_length: float | None,
    target_gap: float | None,
) -> Any:
    from warptsp import stop

    criteria: list[stop.StoppingCriterion] = []
    if time_limit is not None:
        criteria.append(stop.MaxRuntime(time_limit))
    if kicks is not None:
        criteria.append(stop.MaxKicks(kicks))
    if no_improvement is not None:
        criteria.append(stop.NoImprovement(seconds=no_improvement))
    if no_improvement_kicks is not None:
        criteria.append(stop.NoImprovement(kicks=no_improvement_kicks))
    if target_length is not None:
        criteria.append(stop.TargetLength(target_length))
    if target_gap is not None:
        criteria.append(stop.TargetGap(target_gap))
    return stop.AnyOf(*criteria) if criteria else None


def _explain_launch(problem: Problem, device: str, method: str) -> str:
    from warptsp.devices import resolve_device
    from warptsp.methods import get_method
    from warptsp.methods.magnitude import Frame

    problem = Frame.of(problem).problem
    if device == "cpu":
        raise InvalidOption("--explain-launch and --device cpu: there is nothing to launch on a CPU")
    chosen = get_method(method)
    if chosen.explain_launch is None:
        raise InvalidOption(f"--explain-launch: method {method} does not tell")
    used = resolve_device("cuda" if device == "auto" else device, problem, chosen)
    return chosen.explain_launch(problem, used)


def _write(
    attempts: Attempts,
    result: Result,
    first: int | None,
    outputs: tuple[str, ...],
    pictures: tuple[str, ...],
    report: str | None,
    csv_safe: bool,
) -> dict[str, list[str]]:
    """Write all that was asked for, streams last; return the names of the files that are there, by kind."""
    from warptsp.io import write_tour

    problem = result.problem
    tour = result.tour if first is None else result.tour_from(first)

    def draw(name: str) -> None:
        if _shows_run(name):
            result.plot(name)
        else:
            from warptsp.plotting import draw

            draw(name, problem, tour)

    def describe(name: str) -> None:
        from warptsp.report import Report, write

        write(Report.of(result, first=first), name)

    def save(name: str) -> None:
        write_tour(name, tour, problem, format="tsplib" if name == "-" else None, csv_safe=csv_safe)

    kinds: list[tuple[str, Callable[[str], None], Sequence[str]]] = [
        ("tour", save, [name for name in outputs if name != "-"]),
        ("picture", draw, pictures),
        ("report", describe, [] if report is None else [report]),
    ]
    written = {kind: [name for name in names if attempts.make(make, name)] for kind, make, names in kinds}
    for name in outputs:
        if name == "-":
            attempts.make(save, name)
    return written


def _shows_run(picture: str) -> bool:
    return Path(picture).suffix.lower() == ".pdf"


def _tell(
    instance: Path,
    result: Result,
    written: dict[str, list[str]],
    checkpoint: str | None,
    as_json: bool,
    *,
    to_stderr: bool,
) -> None:
    if as_json:
        echo_json(
            {
                **result.as_dict(),
                "file": str(instance),
                "outputs": written["tour"],
                "pictures": written["picture"],
                "report": next(iter(written["report"]), None),
                "checkpoint": checkpoint,
            }
        )
        return
    problem = result.problem
    kind = "closed tour" if problem.open is None else "open path"
    name = problem.name or ("standard input" if str(instance) == "-" else instance)
    lines = [f"instance     {name}, {counted(problem.n)}, {problem.metric.name}, {kind}"]
    lines += [f"{fact:12} {value}" for fact, value in result.facts()]
    lines += [f"{kind:12} {name}" for kind, names in written.items() for name in names]
    if checkpoint is not None:
        lines.append(f"checkpoint   {checkpoint}")
    elif not to_stderr and not any(written.values()):
        lines.append("tour         not written; --output FILE writes it, --picture FILE draws it")
    (tell if to_stderr else say)(*lines)


def _watch(
    problem: Problem,
    port: int,
    browser: bool,
    files: list[str],
    first: int | None,
    csv_safe: bool,
    settings: dict[str, str],
) -> Watch:
    """Return the page of a run, whose button writes the tour into these files, and say where it is."""
    import numpy as np

    from warptsp.io import write_tour
    from warptsp.watch import Watch

    def save(tour: Any) -> list[str]:
        if first is not None:
            tour = np.roll(tour, -int(np.flatnonzero(tour == first)[0]))
        attempts = Attempts()
        for name in files:
            attempts.make(write_tour, name, tour, problem, csv_safe=csv_safe)
        attempts.finish()
        return files

    page = Watch(problem, port=port, settings=settings, save=save)
    tell(f"watch        {page.url}")
    if browser and not page.open_browser():
        tell("watch        no display here: open this address in a browser of this machine")
    return page


def _both(display: NoDisplay, page: Watch) -> Callable[[Progress], object]:
    def callback(progress: Progress) -> object:
        display(progress)
        return page(progress)

    return callback


def _await_pages(page: Watch, *, in_a_hurry: bool, quiet: bool) -> None:
    """Serve the end of the run to the pages that are open; Ctrl-C ends that, as the run is over."""
    try:
        if page.wait(HURRY) or in_a_hurry:
            return
        if not quiet:
            tell("watch        waiting until the page has the last tour; Ctrl-C ends it now")
        page.wait()
    except KeyboardInterrupt as error:
        if isinstance(error, Terminated):
            raise


def _list_methods(context: click.Context) -> None:
    from warptsp.methods import METHODS
    from warptsp.methods.parameters import describe_params

    for method in METHODS.values():
        say(f"{method.name:12} {method.summary}")
        for name, kind, default in describe_params(method.params):
            shown = ",".join(map(str, default)) if isinstance(default, tuple) else default
            say(f"    --param {name}={shown}   ({kind})")
    context.exit()
