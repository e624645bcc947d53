"""The page of ``warptsp solve --watch``, as the command sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from warptsp.cli.streams import tell
from warptsp.errors import InvalidOption
from warptsp.interruption import Terminated
from warptsp.outputs import Attempts

if TYPE_CHECKING:
    from warptsp.cli._outputs import Outputs
    from warptsp.problem import Problem
    from warptsp.progress import Progress
    from warptsp.result import Result

HURRY = 2.0  # seconds that open pages have for the end of a run that was interrupted


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOptions:
    """Whether there is a page, where, and whether a browser is opened for it."""

    watch: bool
    port: int | None
    browser: bool = False

    def check(self) -> None:
        """Refuse the port of a page that there is not."""
        if self.port is not None and not self.watch:
            raise InvalidOption("--port: only --watch serves a page with a port; add --watch")

    def page(self, problem: Problem, outputs: Outputs, first: int | None, settings: dict[str, str]) -> NoPage:
        """Return the page of a run, whose button writes the tour, and say where it is."""
        if not self.watch:
            return NoPage()
        page = Page(problem, self.port or 0, _saver(problem, outputs, first), settings)
        page.announce(self.browser)
        return page


class NoPage:
    """The page of a run that nobody watches."""

    def __enter__(self) -> NoPage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def __call__(self, progress: Progress) -> str | None:
        """Show progress; return why the search is to end, if somebody has said so."""
        return None

    def finish(self, result: Result) -> None:
        """Show the end of the run."""

    def fail(self, error: BaseException) -> None:
        """Show that there is no result."""

    def serve_the_end(self, *, in_a_hurry: bool, quiet: bool) -> None:
        """Wait until the pages that are open have the end of the run; Ctrl-C ends that."""


class Page(NoPage):
    """A page that browsers on this machine open."""

    def __init__(
        self, problem: Problem, port: int, save: Callable[[Any], list[str]], settings: dict[str, str]
    ) -> None:
        from warptsp.watch import Watch

        self._watch = Watch(problem, port=port, settings=settings, save=save)

    def announce(self, browser: bool) -> None:
        """Say where the page is, and open it if that is wanted."""
        tell(f"watch        {self._watch.url}")
        if browser and not self._watch.open_browser():
            tell("watch        no display here: open this address in a browser of this machine")

    def __enter__(self) -> Page:
        self._watch.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watch.__exit__(kind, error, trace)

    def __call__(self, progress: Progress) -> str | None:
        return self._watch(progress)

    def finish(self, result: Result) -> None:
        self._watch.finish(result)

    def fail(self, error: BaseException) -> None:
        self._watch.fail(f"Failed: {error}")
        self._watch.wait(HURRY)

    def serve_the_end(self, *, in_a_hurry: bool, quiet: bool) -> None:
        try:
            if self._watch.wait(HURRY) or in_a_hurry:
                return
            if not quiet:
                tell("watch        waiting until the page has the last tour; Ctrl-C ends it now")
            self._watch.wait()
        except KeyboardInterrupt as error:
            if isinstance(error, Terminated):
                raise


def _saver(problem: Problem, outputs: Outputs, first: int | None) -> Callable[[Any], list[str]]:
    """What the page's button does with a tour: it goes into the files of --output."""

    def save(tour: Any) -> list[str]:
        import numpy as np

        if first is not None:
            tour = np.roll(tour, -int(np.flatnonzero(tour == first)[0]))
        attempts = Attempts()
        outputs.save(problem, tour, outputs.tour_files, attempts)
        attempts.finish()
        return outputs.tour_files

    return save
