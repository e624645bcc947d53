"""The progress of a search, drawn on stderr: one live line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import logging
import os
import sys
import time
from contextlib import ExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any

from warptsp.cli.streams import listening, tell, telling_warnings
from warptsp.describe import (
    Rate,
    describe_bound,
    describe_done,
    describe_gap,
    describe_place,
    describe_time_left,
    short,
    work,
)
from warptsp.interruption import in_notebook
from warptsp.quantities import length_text
from warptsp.text import printable

if TYPE_CHECKING:
    from warptsp.progress import Progress

QUICK = 0.3  # seconds before rich is imported: a quick run does not wait for it
QUICK_PHASE = 1.0  # seconds before a log says what is being prepared
BAR = 16  # characters of the bar
WITH_BAR = 72  # columns of a terminal that has room for it
DUMB = ("dumb", "unknown")  # terminals that cannot write a line anew
MODES = ("auto", "rich", "plain", "none")


class NoDisplay:
    """Draws nothing; shows the library's warnings on stderr while it is entered, as every display does."""

    def __enter__(self) -> NoDisplay:
        self._listening = ExitStack()
        self._listening.enter_context(telling_warnings())
        self._listening.enter_context(listening(_PhaseHandler(self), "warptsp.run.phases", alone=True))
        return self

    def __exit__(self, *error: object) -> None:
        self._listening.close()

    def __call__(self, progress: Progress) -> None:
        """Take note of a progress event."""

    def phase(self, text: str, started: float | None = None) -> None:
        """Take note of what the search does before it has a tour, and of when it began to count."""


class PlainDisplay(NoDisplay):
    """A line on stderr at once, then after 1, 2 and every 5 seconds, in long runs every minute."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._next = 0.0
        self._lines = 0
        self._rate = Rate()

    def __call__(self, progress: Progress) -> None:
        """Write a line if it is time for one."""
        rate = self._rate(progress)
        if progress.elapsed < self._next:
            return
        tell("  ".join(describe(progress, rate)))
        self._lines += 1
        pause = (1.0, 2.0, 5.0)[min(self._lines, 3) - 1]
        self._next = progress.elapsed + max(pause, min(60.0, progress.elapsed / 20.0))

    def phase(self, text: str, started: float | None = None) -> None:
        """Write what is being prepared, once that has taken a while."""
        self._begun = started or self._begun
        elapsed = time.monotonic() - self._begun
        if elapsed > QUICK_PHASE:
            tell(f"{elapsed:7.1f} s  {text} ...")


class RichDisplay(NoDisplay):
    """One line on the terminal that is kept up to date, its clock also between two events."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._live: Any = None
        self._phase = ""
        self._progress: Progress | None = None
        self._rate = Rate()
        self._rate_now: float | None = None
        self._received = 0.0

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()
        super().__exit__(*error)

    def phase(self, text: str, started: float | None = None) -> None:
        """Show what is being prepared."""
        self._begun = started or self._begun
        self._phase = text
        self._show()

    def __call__(self, progress: Progress) -> None:
        """Show where the search stands."""
        self._progress = progress
        self._rate_now = self._rate(progress)
        self._received = time.monotonic()
        self._show()

    def _show(self) -> None:
        if self._live is None and time.monotonic() - self._begun >= QUICK:
            from rich.console import Console
            from rich.live import Live

            self._live = Live(
                # Who asked for it by name gets it through a pipe, too.
                console=Console(stderr=True, force_terminal=True),
                get_renderable=self._line,
                redirect_stdout=False,  # results are not for the terminal
                refresh_per_second=8,
                transient=True,
            )
            self._live.start()

    def _line(self) -> Any:
        from rich.text import Text

        now = time.monotonic()
        waited = now - self._received
        if self._progress is None:
            parts = [f"{now - self._begun:7.1f} s", f"{self._phase} ..."]
        else:
            parts = describe(self._progress, self._rate_now, waited=waited)
        # A terminal wraps what fills its last column.
        width = self._live.console.width - 1 if self._live is not None else sys.maxsize
        done = None if self._progress is None else describe_done(self._progress, waited)
        text = Text(no_wrap=True, overflow="ellipsis")
        if done is not None and WITH_BAR <= width < sys.maxsize:
            width -= BAR + 2
            for piece, style in zip(bar(done, self._live.console.encoding), ("green", "dim"), strict=True):
                text.append(piece, style)
            text.append("  ")
        line = printable("  ".join(parts))
        if len(line) > width:
            if self._progress is not None:
                parts = describe(self._progress, self._rate_now, waited=waited, brief=True)
            line = fitting([printable(part) for part in parts], width)
        return text.append(line)


class NotebookDisplay(NoDisplay):
    """A bar and a line below the cell of a notebook, which are gone when the search is over."""

    PAUSE = 0.2  # seconds between two drawings

    def __init__(self) -> None:
        self._handle: Any = None
        self._drawn = 0.0
        self._rate = Rate()

    def __exit__(self, *error: object) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": "", "text/html": ""}, raw=True)
        super().__exit__(*error)

    def __call__(self, progress: Progress) -> None:
        """Draw where the search stands, if it is time for that."""
        from html import escape

        rate = self._rate(progress)
        now = time.monotonic()
        if now - self._drawn < self.PAUSE:
            return
        self._drawn = now
        line = printable("  ".join(describe(progress, rate)).strip())
        done = describe_done(progress)
        drawn = "" if done is None else f'<progress value="{done:.4f}" max="1"></progress> '
        self._show({"text/plain": line, "text/html": f"<div>{drawn}<code>{escape(line)}</code></div>"})

    def _show(self, data: dict[str, str]) -> None:
        display: Any = import_module("IPython.display").display
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def bar(done: float, encoding: str | None) -> tuple[str, str]:
    """Return both parts of a bar, in characters that differ without colour, too."""
    cells = round(done * BAR)
    full, empty = ("\u2501", "\u2500") if str(encoding).lower().startswith("utf") else ("#", "-")
    return full * cells, empty * (BAR - cells)


def describe(
    progress: Progress, rate: float | None = None, *, waited: float = 0.0, brief: bool = False
) -> list[str]:
    """Return what there is to say on where a search stands, `waited` seconds after the event.

    The parts are in the order in which they are read; if `brief`, in few words, what can be spared last.
    """
    elapsed, length = progress.elapsed + waited, progress.length
    # With more digits than a result has: it changes by little.
    exact = length_text(length, progress.unit, digits=7)
    if brief and not (isinstance(length, int) or progress.unit or length >= 1e7):
        exact = f"{length:.8g}"
    parts = [f"{elapsed:.1f} s" if brief else f"{elapsed:7.1f} s", f"length {exact}"]
    bound, gap = describe_bound(progress), describe_gap(progress)
    if gap is not None and (bound is None or progress.gap is not None):
        percent, what = gap
        if brief:
            what = what.replace("the start tour", "start").replace("the best known length", "best known")
        parts.append(f"gap {percent}" if what == "over the optimum" else f"{percent} {what}")
    if bound is not None and (progress.gap is None or not brief):
        parts.append(f"at most {bound} {'too long' if brief else 'above the shortest'}")
    if (left := describe_time_left(progress, rate, waited)) is not None:
        parts.append(f"{left} left")
    done, what = work(progress)
    if done and brief and rate is not None:
        parts.append(f"{short(rate)} {what}/s")
    elif done:
        parts.append(f"{done} {what}" + ("" if rate is None else f" ({short(rate)}/s)"))
    end = [*([] if progress.phase == "search" else [progress.phase]), describe_place(progress)]
    return [*parts, *(end[::-1] if brief else end)]


def fitting(parts: list[str], width: int) -> str:
    """Join brief parts of `describe` to a line, without the last ones where it would be too wide."""
    while len(parts) > 2 and sum(map(len, parts)) + 2 * (len(parts) - 1) > width:
        parts = parts[:-1]
    line = "  ".join(parts)
    # Without room for two, length matters more than time.
    return line if len(line) <= width else parts[-1]


class _PhaseHandler(logging.Handler):
    def __init__(self, display: NoDisplay) -> None:
        super().__init__(logging.DEBUG)
        self._display = display

    def emit(self, record: logging.LogRecord) -> None:
        if record.threadName == "MainThread":  # not a worker's
            self._display.phase(record.getMessage(), getattr(record, "started", None))


def make_display(mode: str) -> NoDisplay:
    if mode == "auto" and in_notebook():
        return NotebookDisplay()
    if mode == "auto":
        mode = "rich" if sys.stderr.isatty() else "plain"
    if mode == "rich" and os.environ.get("TERM", "").lower() in DUMB:
        mode = "plain"
    return {"rich": RichDisplay, "plain": PlainDisplay, "none": NoDisplay}[mode]()
