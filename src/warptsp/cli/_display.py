"""The progress of a search, drawn on stderr: one live line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from warptsp.result import format_gap, format_length

if TYPE_CHECKING:
    from warptsp.progress import Progress

QUICK = 0.3  # seconds before rich is imported: a quick run does not wait for it
MODES = ("auto", "rich", "plain", "none")


class NoDisplay:
    """Draws nothing; shows the library's warnings on stderr while it is entered, as every display does."""

    def __enter__(self) -> NoDisplay:
        logger = logging.getLogger("warptsp")
        self._handler, self._level = _PhaseHandler(self), logger.level
        logger.addHandler(self._handler)
        logger.setLevel(logging.INFO)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        logger = logging.getLogger("warptsp")
        logger.removeHandler(self._handler)
        logger.setLevel(self._level)

    def __call__(self, progress: Progress) -> None:
        """Take note of a progress event."""

    def phase(self, text: str) -> None:
        """Take note of what the search does before it has a tour."""


class PlainDisplay(NoDisplay):
    """A line on stderr at once, then after 1, 2 and every 5 seconds."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._next = 0.0
        self._lines = 0

    def __call__(self, progress: Progress) -> None:
        """Write a line if it is time for one."""
        if progress.elapsed < self._next:
            return
        click.echo(describe(progress), err=True)
        self._lines += 1
        self._next = progress.elapsed + (1.0, 2.0, 5.0)[min(self._lines, 3) - 1]

    def phase(self, text: str) -> None:
        """Write what is being prepared, once that has taken a while."""
        elapsed = time.monotonic() - self._begun
        if elapsed > 1.0:
            click.echo(f"{elapsed:7.1f} s  {text} ...", err=True)


class RichDisplay(NoDisplay):
    """One line on the terminal that is kept up to date, its clock also between two events."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._live: Any = None
        self._phase = ""
        self._progress: Progress | None = None
        self._received = 0.0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
        super().__exit__(kind, error, trace)

    def phase(self, text: str) -> None:
        """Show what is being prepared."""
        self._phase = text
        self._show()

    def __call__(self, progress: Progress) -> None:
        """Show where the search stands."""
        self._progress = progress
        self._received = time.monotonic()
        self._show()

    def _show(self) -> None:
        if self._live is None and time.monotonic() - self._begun >= QUICK:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(
                console=Console(stderr=True), get_renderable=self._line, refresh_per_second=8, transient=True
            )
            self._live.start()

    def _line(self) -> Any:
        from rich.text import Text

        now = time.monotonic()
        if self._progress is None:
            line = f"{now - self._begun:7.1f} s  {self._phase} ..."
        else:
            line = describe(self._progress, waited=now - self._received)
        return Text(line, no_wrap=True, overflow="ellipsis")


def describe(progress: Progress, waited: float = 0.0) -> str:
    """Return one line on where a search stands, `waited` seconds after the event."""
    parts = [f"{progress.elapsed + waited:7.1f} s", f"length {format_length(progress.length)}"]
    if progress.gap is not None:
        parts.append(f"gap {format_gap(progress.gap)}")
    if progress.kicks:
        rate = progress.kicks / progress.elapsed if progress.elapsed > 0 else 0.0
        parts.append(f"{progress.kicks} kicks ({rate:.0f}/s)")
    if progress.phase != "search":
        parts.append(progress.phase)
    if progress.remaining is not None:
        parts.append(f"{max(0.0, progress.remaining - waited):.1f} s left")
    return "  ".join(parts)


class _PhaseHandler(logging.Handler):
    def __init__(self, display: NoDisplay) -> None:
        super().__init__(logging.INFO)
        self._display = display

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            click.echo(f"warptsp: {record.levelname.lower()}: {record.getMessage()}", err=True)
        elif record.name == "warptsp.run" and record.threadName == "MainThread":  # not a worker's
            self._display.phase(record.getMessage())


def make_display(mode: str) -> NoDisplay:
    """Return the display for a mode of `MODES`."""
    if mode == "auto":
        mode = "rich" if sys.stderr.isatty() else "plain"
    return {"rich": RichDisplay, "plain": PlainDisplay, "none": NoDisplay}[mode]()
