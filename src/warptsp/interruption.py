"""The signals that end a call or the command: each unwinds the stack, so that no half-written file stays.

They are Ctrl-C (SIGINT), SIGTERM, SIGHUP (the terminal is gone), SIGQUIT (Ctrl-\\) and SIGXCPU (the limit on
CPU seconds); what was ignored when the command began, as under nohup, stays ignored.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # see `FirstSignal`
import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn, TypeVar

_T = TypeVar("_T")

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGXCPU")
SIGNALS = tuple(signal.Signals[name] for name in _NAMES if hasattr(signal, name))

ECHO = 0.02
"""Seconds within which a further signal counts as part of the first: `timeout` sends one to its command, and
one to the command's group."""

unfinished: set[str] = set()
"""Files that are being written, which `finish` removes if the end comes before their own end did."""


def status(number: int) -> int:
    """Return the exit status after a signal, as shells have it."""
    return 128 + number


class Terminated(KeyboardInterrupt):
    """What another signal than Ctrl-C raises.

    Python itself drops any other exception here and there, as its compiler does in the middle of an import.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def number_of(error: BaseException | None) -> int:
    """Return the signal that raised an exception, which by default is Ctrl-C."""
    return error.number if isinstance(error, Terminated) else signal.SIGINT


def signal_behind(error: BaseException | None) -> KeyboardInterrupt | None:
    """Return what a signal raised, from what may wrap it, as Python 3.11 does where a class is made."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error


_raised = False  # whether the stack is unwound already


def terminate(number: int, frame: FrameType | None) -> NoReturn:
    """Handle a signal of the command: the first by an exception, one that hits its consequences by the end.

    So there is no moment at which several signals in a row leave half a file, or a traceback.
    """
    global _raised
    if _raised:
        _remove_unfinished()
        os._exit(status(number))
    _raised = True
    raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)


def _remove_unfinished() -> None:
    for name in list(unfinished):  # a thread may be at one of its own
        with suppress(OSError):
            os.unlink(name)


class FirstSignal:
    """While it is entered in the main thread, the first signal calls a function.

    Any further one, but for echoes of the first, does what it did before. Handlers that the program has set
    itself, and signals that it ignores, stay as they are. SIGQUIT and SIGXCPU are taken in the command alone,
    as Python programs have other uses for them.

    `act` is given the number of the signal, and called once. Of two that are entered, the inner one first.

    Handlers are exchanged without the conversions to and from enumerations that `signal` makes: with Python
    3.11 they take 30 us, a sixth of a call of a few cities.
    """

    def __init__(self, act: Callable[[int], object] = lambda number: None) -> None:
        self.caught: int | None = None  # the first signal, also where it came before this in another one
        self._echoes = 0.0  # end of the time for its echoes
        self._act = act
        self._previous: dict[int, Any] = {}
        self._process = os.getpid()

    @property
    def status(self) -> int:
        """The exit status of a command that ends well but for the signal."""
        return 0 if self.caught is None else status(self.caught)

    def __enter__(self) -> FirstSignal:
        if threading.current_thread() is not threading.main_thread():
            return self
        global _caught
        for number in SIGNALS:
            if _is_free(number):
                self._previous[number] = _signal.signal(number, self)
        _caught = _caught and any(isinstance(handler, FirstSignal) for handler in self._previous.values())
        for handler in self._previous.values():
            if isinstance(handler, FirstSignal) and handler.caught is not None and self.caught is None:
                self._catch(handler.caught)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._previous.items():
            _signal.signal(number, handler)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        previous = self._previous[number]
        # What a callback forked is another process: multiprocessing ends its workers by SIGTERM.
        forked = os.getpid() != self._process
        if self.caught is None and not forked:
            self._catch(number)
            if isinstance(previous, FirstSignal):
                previous(number, frame)  # which shall not take the second one for the first
        elif forked or (
            time.monotonic() > self._echoes
            and signal.Signals(number).name != "SIGXCPU"  # which comes again every second
        ):
            signal.signal(number, previous)
            signal.raise_signal(number)

    def _catch(self, number: int) -> None:
        global _caught
        self.caught, _caught = number, True
        self._act(number)
        self._echoes = time.monotonic() + ECHO


_caught = False


def is_ending() -> bool:
    """Tell whether a `FirstSignal` has caught one, and none has been entered since: what is left is brief."""
    return _caught


def delivered(result: _T, number: int | None, on_interrupt: str | None = None) -> _T:
    """Return what a call has come to, or raise the signal that ended it, with that in its ``result``.

    So one Ctrl-C also ends a loop of calls. In a notebook, where it ends a cell, the result is returned
    unless "raise" is said, and so it is to a caller with a `FirstSignal` of its own, which has more to do.

    Raises `KeyboardInterrupt`, of another signal than Ctrl-C as `Terminated`.
    """
    if number is None or isinstance(signal.getsignal(number), FirstSignal):
        return result
    if on_interrupt == "return" or (on_interrupt is None and in_notebook()):
        return result
    error = KeyboardInterrupt() if number == signal.SIGINT else Terminated(number)
    error.add_note("warptsp: what was found by then is in the attribute 'result' of this exception")
    error.result = result  # type: ignore[attr-defined]
    raise error


def in_notebook() -> bool:
    """Whether a notebook runs this; a terminal with IPython is a terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def _is_free(number: signal.Signals) -> bool:
    handler = _signal.getsignal(number)
    if handler is terminate or isinstance(handler, FirstSignal):
        return True
    if number == signal.SIGINT:
        return handler in (signal.SIG_DFL, signal.default_int_handler)
    return handler == signal.SIG_DFL and number.name in ("SIGTERM", "SIGHUP")


def install() -> None:
    """Let each signal raise an exception in the main thread, and let none of these exceptions be lost.

    Python drops an exception in a destructor or in a callback of a weak reference, of which each import has
    one; then the signal comes again.
    """
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, terminate)
    sys.unraisablehook = _unraisable


def finish() -> None:
    """Remove what may be left of files that were being written, and let signals end the process."""
    global _raised
    _raised = True
    _remove_unfinished()
    for number in SIGNALS:
        if signal.getsignal(number) is terminate:
            signal.signal(number, signal.SIG_DFL)


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _thread.start_new_thread(_resend, (number_of(lost.exc_value), _thread.get_ident()))
    else:
        sys.__unraisablehook__(lost)


def _resend(number: int, thread: int) -> None:
    global _raised
    time.sleep(0.001)  # until the thread has left the callback
    _raised = False
    if sys.platform == "win32":
        _thread.interrupt_main(number)
    else:
        signal.pthread_kill(thread, number)  # which also ends its waiting
