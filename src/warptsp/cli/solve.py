"""``warptsp solve``: from an instance file to a short tour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from warptsp.cli._completion import documents, methods, starts, tour_formats
from warptsp.cli._display import MODES, NoDisplay, make_display
from warptsp.cli._options import (
    BoundSeconds,
    Gap,
    InstanceFile,
    Seconds,
    Speed,
    device_option,
    examples,
    file_option,
    grouped,
    instance_argument,
    instance_options,
    json_option,
    kicks_option,
    seed_option,
    threads_option,
    time_limit_option,
    time_option,
)
from warptsp.cli._outputs import Outputs
from warptsp.cli._page import NoPage, PageOptions
from warptsp.cli._search import Ends, Search, Stops, ends_options
from warptsp.cli.streams import say, tell
from warptsp.errors import InvalidOption, OutputError
from warptsp.interruption import FirstSignal, status
from warptsp.outputs import Attempts

if TYPE_CHECKING:
    from collections.abc import Callable

    from warptsp.problem import Problem
    from warptsp.progress import Progress
    from warptsp.result import Result


def _params_option(name: str, group: str, what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(name, group, multiple=True, metavar="NAME=VALUE", help=what)


@click.command(
    epilog=examples(
        "warptsp solve places.csv --time-limit 30 --output route.geojson",
        "warptsp solve usa13509.tsp --target-gap 0.5 --picture usa13509.svg",
        "warptsp solve cities.npy --checkpoint best.tour   # --start best.tour continues from it",
    )
)
@instance_argument
@instance_options
@click.option(
    "-o", "--output", "tours", multiple=True, type=click.Path(), metavar="FILE",
    help="Write the tour; the ending sets the format: .tour (TSPLIB), .csv, .geojson, .gpx, .kml, .npy; - "
    "is stdout, in TSPLIB format or that of --output-format. May be given several times.",
)  # fmt: skip
@click.option(
    "--output-format",
    metavar="NAME",
    shell_complete=tour_formats,
    help="Format of the tour that --output - writes to stdout: csv, geojson, gpx, ...",
)
@click.option(
    "--speed",
    type=Speed(),
    metavar="SPEED",
    help="Give travel times at this speed: 60 (km/h), 37mph, 5m/s; needs latitudes and longitudes.",
)
@click.option(
    "--picture",
    "pictures",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Draw the tour (.svg, .png), or the run (.pdf: start tour, tour, gap over time; needs matplotlib).",
)
@file_option(
    "--report",
    "Write an HTML page about the run (.html); it opens in any browser, without a network.",
    path_type=str,
)
@click.option(
    "--csv-safe",
    is_flag=True,
    help="In .csv and .tsv tours, put ' before names that a spreadsheet would take for formulas.",
)
@json_option
@time_limit_option
@kicks_option
@time_option("--no-improvement", "Stop when the tour has not improved for this time.")
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
    type=Gap(),
    metavar="PERCENT[%bound]",
    help="Stop when the tour is within this gap of the optimum (if known); 0.8%bound: of the lower bound.",
)
@click.option(
    "--bound",
    type=BoundSeconds(),
    default="auto",
    show_default=True,
    metavar="auto|lp|none|TIME",
    help="Compute a lower bound beside the search: auto takes at most a tenth of the processor time. lp: "
    "after it, by linear programmes, ten times closer; the search gets 0.3 of a time limit (warptsp[prove]).",
)
@click.option(
    "--prove/--no-prove",
    default=None,
    help="Prove the tour optimal, or find one that is; the search gets 0.3 of a time limit. By default it is "
    "tried up to 200 cities, for a tenth of the time and half a second at most, if warptsp[prove] is there.",
)
@seed_option
@click.option(
    "--start", metavar="NAME|FILE", shell_complete=starts,
    help="Start tour: greedy (default), space-filling, nearest-neighbor, random, given, patching (default "
    "for asymmetric distances); or a tour file, such as a checkpoint, to continue from.",
)  # fmt: skip
@click.option(
    "--merge",
    multiple=True,
    metavar="FILE",
    help="A tour to begin with, such as that of an earlier run; given several times, or beside --start FILE, "
    "the tours are joined first, as by warptsp merge.",
)
@ends_options
@device_option(
    "auto|cpu|cuda|cuda:N[,M...]",
    "Where to search: auto takes a GPU for large instances; auto and cuda take all GPUs where that is "
    "faster; cuda:0,1 names them.",
)
@click.option("--explain-launch", is_flag=True, help="Show how the search would use the GPU, then exit.")
@click.option("--arch", metavar="SM", help="With --explain-launch: a GPU that is not there, such as sm_90.")
@threads_option
@click.option(
    "--method",
    metavar="NAME",
    shell_complete=methods,
    help="Method; warptsp methods lists them; default: lk, or that of --document.",
)
@click.option(
    "--document",
    metavar="NUMBER",
    shell_complete=documents,
    help="Run the system of a published paper or thesis, 000 to 004, as it defines it: method, start tour, "
    "parameters; --method, --start and --param change it.",
)
@_params_option("--param", "params", "A parameter of the method.")
@click.option(
    "--then",
    metavar="NAME",
    shell_complete=methods,
    help="A second method, such as two-opt, that starts from the first one's tour.",
)
@_params_option("--then-param", "then_params", "A parameter of the second method.")
@click.option(
    "--cluster", metavar="ADDRESS|local",
    help="Spread the search over the workers of a Dask scheduler; local, or local:N, starts N workers here.",
)  # fmt: skip
@_params_option(
    "--cluster-param",
    "cluster_params",
    "How --cluster divides the work: part, rounds, kicks, deadline, wait, attempts.",
)
@file_option(
    "--checkpoint",
    "Save the best tour here at intervals, and what is proved in FILE.proof; --start continues from it.",
    path_type=str,
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
@grouped(outputs=Outputs, stops=Stops, search=Search, page=PageOptions)
def command(
    instance: InstanceFile,
    outputs: Outputs,
    ends: Ends,
    stops: Stops,
    search: Search,
    page: PageOptions,
    explain_launch: bool,
    arch: str | None,
    progress: str,
    quiet: bool,
) -> int:
    """Find a short tour through the cities of INSTANCE.

    INSTANCE is a TSPLIB file, a CSV, TSV, Excel or Parquet file with the columns x,y or lat,lon (and name),
    .npy, GeoJSON, GPX or KML points, or an OSRM table. Without a stopping option the search ends when the
    tour has not improved for a while: after at most 10 s up to 10 000 cities, later for more. With several
    stopping options, the first one met ends the search.

    Ctrl-C or SIGTERM ends the search; the best tour so far is written, and the exit status is 130 or 143. A
    second signal ends the command at once.
    """
    from warptsp.papers import method_of

    outputs.check(instance.path)
    if outputs.to_stdout and instance.format not in (None, "tsplib", outputs.output_format):
        written = outputs.output_format or "tsplib"
        tell(
            f"warptsp: note: --format is that of the instance; --output-format, here {written}, is the tour's"
        )
    problem = instance.load()
    outputs.check_tours(problem)
    problem, first = ends.of(problem)
    method = method_of(search.document, search.method)
    if explain_launch:
        say(*_explain_launch(problem, search, method, arch).split("\n"))
        return 0
    if arch is not None:
        raise InvalidOption(
            "--arch: it says for which GPU launches are explained; give --explain-launch, too"
        )
    outputs.check_drawings(problem)
    page.check()
    display = make_display("none" if quiet else progress)
    options = {
        **search.arguments(),
        "stop": stops.criterion(),
        "checkpoint": outputs.checkpoint,
        "snapshots": outputs.snapshots(problem),
    }
    settings = {"method": method, "seed": str(search.seed), "device": search.device}
    attempts = Attempts()
    with page.page(problem, outputs, first, settings) as watched:
        # What is found is written, whatever comes: also where a signal comes after the search.
        with FirstSignal() as signals:
            result, error = _found(problem, options, display, watched)
            if isinstance(error, Exception):
                attempts.failures.append(error)
            if first is not None:
                result = result.starting_at(first)
            attempts.make(watched.finish, result)
            # The only thing that a search writes itself is its checkpoint.
            checkpointed = not isinstance(error, OutputError)
            files = outputs.write(result, first, attempts, checkpointed=checkpointed)
            attempts.make(outputs.tell, instance.path, result, files)
        watched.serve_the_end(in_a_hurry=result.interrupted or signals.caught is not None, quiet=quiet)
    if error is not None and not isinstance(error, Exception):
        raise error
    attempts.finish()
    return 0 if signals.caught is None else status(signals.caught)


def _found(
    problem: Problem, options: dict[str, Any], display: NoDisplay, page: NoPage
) -> tuple[Result, BaseException | None]:
    """Search; return what was found, and what ended the search before its time."""
    from warptsp.result import Result
    from warptsp.solver import solve

    def callback(progress: Progress) -> object:
        display(progress)
        return page(progress)

    try:
        with display:
            return solve(problem, callback=callback, **options), None
    except BaseException as error:
        found = getattr(error, "result", None)
        if not isinstance(found, Result):
            page.fail(error)
            raise
        return found, error


def _explain_launch(problem: Problem, search: Search, method: str, arch: str | None) -> str:
    from warptsp.devices import resolve_device
    from warptsp.methods import get_method
    from warptsp.methods.parameters import parse_params
    from warptsp.methods.places import seen_by
    from warptsp.papers import params_of

    if search.device == "cpu":
        raise InvalidOption("--explain-launch and --device cpu: there is nothing to launch on a CPU")
    chosen = get_method(method)
    if chosen.explain_launch is None:
        raise InvalidOption(f"--explain-launch: method {method} has no launch to explain")
    problem = seen_by(chosen, problem).problem
    params = params_of(search.document, method, search.arguments()["params"], on_gpu=True)
    where = arch or resolve_device("cuda" if search.device == "auto" else search.device, problem, chosen)
    return chosen.explain_launch(problem, where, parse_params(chosen.params, method, params))
