"""One watched run: its server, its page, and its end."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from warptsp.errors import InvalidOption
from warptsp.problem import Problem
from warptsp.progress import Progress
from warptsp.report import Report, Tiles, check_reportable, render
from warptsp.report.document import machine
from warptsp.result import Result
from warptsp.watch.live import LiveRun
from warptsp.watch.server import HOST, WatchServer


class Watch:
    """A page that shows a running search; a callback for ``solve``, and a context manager.

    >>> import numpy as np, warptsp
    >>> problem = warptsp.Problem.from_points(np.random.default_rng(1).random((100, 2)))
    >>> with Watch(problem) as watch:
    ...     print(watch.url)  # doctest: +ELLIPSIS
    ...     result = warptsp.solve(problem, time_limit=0.1, callback=watch)
    ...     watch.finish(result)
    http://127.0.0.1:.../.../

    Parameters
    ----------
    problem : Problem
    port : int
        Port on 127.0.0.1; 0 for any that is free.
    settings : mapping of str to str
        What the page says about the run, by name.
    save : callable, optional
        ``save(tour)`` writes a tour and returns the names of the files. Without it, or if it returns none,
        the browser gets the tour to download.
    tiles : Tiles, optional
        The map that the page can show below the tour; without, it has none.

    Attributes
    ----------
    url : str
        The address of the page. Anyone on this machine who knows it can see and stop the run.

    Raises
    ------
    UnsupportedProblem
        If there are too many cities for a page.
    InvalidOption
        If the port is no port, or taken, or the tiles are no map of these cities.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        port: int = 0,
        settings: Mapping[str, str] | None = None,
        save: Callable[[NDArray[np.int32]], Sequence[str]] | None = None,
        tiles: Tiles | None = None,
    ) -> None:
        check_reportable(problem, tiles)
        if not 0 <= port < 65536:
            raise InvalidOption(f"port: {port} is not a number from 0 to 65535")
        self._problem = problem
        self._settings = dict(settings or {})
        self._tiles = tiles
        self._live = LiveRun(problem, save)
        try:
            self._server = WatchServer(self._live, self._page, port)
        except OSError as error:
            raise InvalidOption(
                f"port: {HOST}:{port} is not available: {error.strerror or error}; "
                "choose another one, or 0 for any that is free"
            ) from error
        self.url = self._server.url
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            name="warptsp-watch",
            kwargs={"poll_interval": 0.05},
            daemon=True,
        )

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.close()
        self._server.shutdown()
        self._server.server_close()

    def __call__(self, progress: Progress) -> str | None:
        """Show where the search stands; returns a text, which ends it, once the button was pressed."""
        return self._live.publish(progress)

    def finish(self, result: Result, text: str | None = None) -> None:
        """Show the result, and a text, which is the reason of the end by default."""
        self._live.finish(result, text or f"Finished: {result.stop_reason}")

    def fail(self, text: str) -> None:
        """Show that the search ended without a result, and why."""
        self._live.fail(text)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until every page has got the end of the run; False if that took more seconds than these."""
        return self._live.await_watchers(timeout)

    def open_browser(self) -> bool:
        """Open the page in the user's browser; False if there is none with a window."""
        if not has_display():
            return False
        import webbrowser

        self._live.expect()
        # Others may see what a process is started with; and some browsers keep their caller waiting.
        threading.Thread(target=webbrowser.open, args=(self._server.ticket(),), daemon=True).start()
        return True

    def _page(self) -> bytes:
        report = Report(
            problem=self._problem,
            known=self._problem.known_length,
            settings=self._settings,
            machine=machine(),
            tiles=self._tiles,
        )
        script = resources.files("warptsp.watch").joinpath("live.js").read_text("utf-8")
        return render(report, scripts=(script,), connect="'self'").encode()


def has_display() -> bool:
    """Whether a browser could open a window."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
