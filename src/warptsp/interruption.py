"""Ctrl-C and SIGTERM in the command's process: both unwind the stack, so that no half-written file stays."""

from __future__ import annotations

import _thread
import signal
import sys
import time
from types import FrameType
from typing import NoReturn

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}
"""The exit status after each signal, as shells have it."""


def terminate(number: int, frame: FrameType | None) -> NoReturn:
    """Handle SIGTERM as `signal.default_int_handler` handles SIGINT: by an exception, here `SystemExit`."""
    raise SystemExit(STATUS[signal.SIGTERM])


DEFAULT = (signal.SIG_DFL, signal.default_int_handler, terminate)
"""What handles the two signals unless a program has set handlers for purposes of its own."""


def install() -> None:
    """Let both signals raise an exception in the main thread, and let none of these exceptions be lost.

    Python drops an exception in a destructor or in a callback of a weak reference, of which each import has
    one; then the signal comes again.
    """
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminate)
    sys.unraisablehook = _unraisable


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    if issubclass(lost.exc_type, KeyboardInterrupt):
        number = signal.SIGINT
    elif isinstance(lost.exc_value, SystemExit) and lost.exc_value.code == STATUS[signal.SIGTERM]:
        number = signal.SIGTERM
    else:
        sys.__unraisablehook__(lost)
        return
    _thread.start_new_thread(_resend, (number, _thread.get_ident()))


def _resend(number: signal.Signals, thread: int) -> None:
    time.sleep(0.001)  # until the thread has left the callback
    if sys.platform == "win32":
        _thread.interrupt_main(number)
    else:
        signal.pthread_kill(thread, number)  # which also ends its waiting
