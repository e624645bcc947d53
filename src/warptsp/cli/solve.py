"""``warptsp solve``: from an instance file to a short tour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import click

from warptsp.cli._command import as_command, option
from warptsp.cli._display import MODES, NoDisplay, make_display
from warptsp.cli._options import Ends, InstanceFile, Reading
from warptsp.cli._outputs import Outputs
from warptsp.cli._page import Page, PageOptions
from warptsp.cli._search import Search, Stops
from warptsp.cli.streams import say, tell
from warptsp.errors import InvalidOption, OutputError
from warptsp.interruption import FirstSignal
from warptsp.outputs import Attempts

if TYPE_CHECKING:
    from warptsp.problem import Problem
    from warptsp.progress import Progress
    from warptsp.result import Result
    from warptsp.stop import StoppingCriterion

LONG = 60.0  # seconds of a run that nobody wants to do again


@as_command(
    "warptsp solve places.csv --time-limit 30 --output route.geojson",
    "warptsp solve usa13509.tsp --target-gap 0.5 --picture usa13509.svg",
    "warptsp solve cities.npy --checkpoint best.tour   # --start best.tour continues from it",
)
def command(
    instance: InstanceFile,
    outputs: Outputs,
    stops: Stops,
    search: Search,
    explain_launch: Annotated[bool, option("Show how the search would use the GPU, then exit.")],
    arch: Annotated[
        str | None, option("With --explain-launch: for this GPU architecture, such as sm_90.", metavar="SM")
    ],
    progress: Annotated[
        str, option("Progress on stderr.", type=click.Choice(MODES), default="auto", show_default=True)
    ],
    no_progress: Annotated[bool, option("Same as --progress none.", None, "-q", "--quiet")],
    page: PageOptions,
    ends: Ends,
    reading: Reading,
) -> int:
    """Find a short tour through the cities of INSTANCE.

    INSTANCE is a TSPLIB file, a CSV, TSV, Excel or Parquet file with the columns x,y or lat,lon (and name),
    .npy, GeoJSON, GPX or KML points, or an OSRM table. Without a stopping option the search ends when little
    is left to gain: after at most 10 s up to 2000 cities, 40 s for 10 000, 5 minutes for 100 000. With
    several stopping options, the first one met ends the search.

    Ctrl-C or SIGTERM ends the search; the best tour so far is written, and the exit status is 130 or 143. A
    second signal ends the command at once.
    """
    from warptsp.papers import method_of

    outputs.check_all(instance, watched=page.watch)
    if outputs.to_stdout and reading.format not in (None, "tsplib", outputs.output_format):
        written = outputs.format_of("-")
        tell(
            f"warptsp: note: --format is that of the instance; --output-format, here {written}, is the tour's"
        )
    problem = reading.load(instance)
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
    problem = outputs.drawn(problem)
    page.check()
    display = make_display("none" if no_progress else progress)
    criterion = stops.criterion()
    if not (no_progress or progress == "none" or outputs.as_json or outputs.tours or outputs.checkpoint):
        _remind_of_output(problem, criterion)
    options = {
        **search.arguments(),
        "start_city": first,
        "stop": criterion,
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
            attempts.make(watched.finish, result)
            # The only thing that a search writes itself is its checkpoint.
            checkpointed = not isinstance(error, OutputError)
            files = outputs.write_all(result, attempts, checkpointed=checkpointed)
            attempts.make(outputs.tell_all, instance, result, files)
        watched.serve_the_end(in_a_hurry=result.interrupted or signals.caught is not None, quiet=no_progress)
    if error is not None and not isinstance(error, Exception):
        raise error
    attempts.finish()
    return signals.status


def _remind_of_output(problem: Problem, criterion: StoppingCriterion | None) -> None:
    """Say at the start of a long run that its tour will be nowhere, while something can be done about it."""
    from warptsp.stop import DefaultStop

    seconds = (DefaultStop(problem.n) if criterion is None else criterion).limit().seconds
    if seconds is not None and seconds >= LONG:
        tell(
            f"warptsp: note: up to {seconds:g} s, and no file for the tour: --output FILE writes it at the "
            "end, --checkpoint FILE also on the way"
        )


def _found(
    problem: Problem, options: dict[str, Any], display: NoDisplay, page: Page
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
