"""The page of ``warptsp solve --watch``, as the command sees it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from warptsp.cli._command import option
from warptsp.cli.streams import tell
from warptsp.errors import InvalidOption
from warptsp.interruption import Terminated
from warptsp.outputs import Attempts

if TYPE_CHECKING:
    from warptsp.cli._outputs import Outputs
    from warptsp.problem import Problem
    from warptsp.progress import Progress
    from warptsp.result import Result
    from warptsp.watch import Watch

HURRY = 2.0  # seconds that open pages have for the end of a run that was interrupted


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOptions:
    """Whether there is a page, where, and whether a browser is opened for it."""

    watch: Annotated[
        bool,
        option("Serve a page to browsers on this machine that shows the search and can stop and save it."),
    ]
    port: Annotated[int | None, option("Port of the --watch page; default: any free port.", "N")]
    browser: bool = False

    def check(self) -> None:
        """Refuse the port of a page that there is not."""
        if self.port is not None and not self.watch:
            raise InvalidOption("--port: only --watch serves a page with a port; add --watch")

    @contextmanager
    def page(
        self, problem: Problem, outputs: Outputs, first: int | None, settings: dict[str, str]
    ) -> Iterator[Page]:
        """The page of a run, whose button writes the tour into the files of --output; say where it is."""
        if not self.watch:
            yield Page(None)
            return
        from warptsp.problem.tours import beginning_with
        from warptsp.watch import Watch

        def save(tour: Any) -> list[str]:
            attempts = Attempts()
            turned = tour if first is None else beginning_with(tour, first)
            outputs.save(problem, turned, outputs.tour_files, attempts)
            attempts.finish()
            return outputs.tour_files

        tiles = outputs.below.chosen()
        with Watch(problem, port=self.port or 0, settings=settings, save=save, tiles=tiles) as watch:
            tell(f"watch        {watch.url}")
            if self.browser and not watch.open_browser():
                tell("watch        no display here: open this address in a browser of this machine")
            yield Page(watch)


class Page:
    """A page that browsers on this machine open, or none."""

    def __init__(self, watch: Watch | None) -> None:
        self._watch = watch

    def __call__(self, progress: Progress) -> str | None:
        """Show progress; return why the search is to end, if somebody has said so."""
        return None if self._watch is None else self._watch(progress)

    def finish(self, result: Result) -> None:
        """Show the end of the run."""
        if self._watch is not None:
            self._watch.finish(result)

    def fail(self, error: BaseException) -> None:
        """Show that there is no result."""
        if self._watch is not None:
            self._watch.fail(f"Failed: {error}")
            self._watch.wait(HURRY)

    def serve_the_end(self, *, in_a_hurry: bool, quiet: bool) -> None:
        """Wait until the pages that are open have the end of the run; Ctrl-C ends that."""
        if self._watch is None:
            return
        try:
            if self._watch.wait(HURRY) or in_a_hurry:
                return
            if not quiet:
                tell("watch        waiting until the page has the last tour; Ctrl-C ends it now")
            self._watch.wait()
        except KeyboardInterrupt as error:
            if isinstance(error, Terminated):
                raise
