"""Commands and programs in processes of their own, none of which outlives its test."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, ForkServerProcess  # not on Windows

LONG = 600.0  # seconds: what has not ended by then never will, on the busiest machine

_of_this_test = ExitStack()


@contextmanager
def running(
    command: Sequence[Any], *, limit: float = LONG, **options: Any
) -> Iterator[subprocess.Popen[Any]]:
    """A process that ends with the block, or after `limit` seconds, and all others of its group with it."""
    process = subprocess.Popen(command, **{"stdin": subprocess.DEVNULL, "process_group": 0, **options})
    try:
        with _ended_after(limit, lambda: _end(process)):
            yield process
    finally:
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(OSError):  # what nobody has read
                    stream.close()
        process.wait()


@contextmanager
def _ended_after(seconds: float, end: Callable[[], object]) -> Iterator[None]:
    """Call `end` with the block, or after so many seconds, too."""
    watchdog = threading.Timer(seconds, end)
    watchdog.daemon = True
    watchdog.start()
    try:
        yield
    finally:
        watchdog.cancel()
        end()


def _end(process: subprocess.Popen[Any]) -> None:
    if not hasattr(os, "killpg"):
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):  # on some systems the latter says that all have ended
        os.killpg(process.pid, signal.SIGKILL)


@cache
def _forks_of_dask() -> ForkServerContext:
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(["distributed.cli.dask_scheduler", "warptsp.cluster.dask"])
    return forks


@contextmanager
def forked_with_dask(function: Callable[..., object], *arguments: object) -> Iterator[ForkServerProcess]:
    """A process that calls a function in silence, and ends with the block.

    It is forked from one that has imported Dask and warptsp: a cluster of tests starts dozens of them.
    """
    process = _forks_of_dask().Process(target=_in_silence, args=(function, *arguments), daemon=True)
    process.start()
    try:
        with _ended_after(10 * LONG, process.kill):
            yield process
    finally:
        process.join()


def _in_silence(function: Callable[..., object], *arguments: object) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    function(*arguments)


def end_those_of_the_test() -> None:
    """End what `begin` has started; a fixture calls it after each test."""
    _of_this_test.close()


def begin_with_plain_signals() -> None:
    """Let tests and their children begin with no signal ignored or blocked, as under nohup or behind ``&``.

    A handler of Python's own is the default again in a child; SIGHUP goes on sparing the tests themselves.
    """
    if sys.platform == "win32":
        return
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:  # which Python itself ignores
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handlers.get(number, lambda *_: None))


def run(command: Sequence[Any], **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run a command to its end, its output in pipes, as `subprocess.run` does."""
    timeout, check = options.pop("timeout", LONG), options.pop("check", False)
    given = options.pop("input", None)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    if given is not None:
        pipes["stdin"] = subprocess.PIPE
    with running(command, limit=timeout, **{**pipes, **options}) as process:
        out, err = process.communicate(given, timeout=timeout + 30)
    done = subprocess.CompletedProcess(command, process.returncode, out, err)
    if check and done.returncode:
        raise AssertionError(f"{command}: exit status {done.returncode}\n{out}\n{err}")
    return done


def begin(command: Sequence[Any], **options: Any) -> subprocess.Popen[Any]:
    """Start a command, its output in pipes, which ends with the test at the latest."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return _of_this_test.enter_context(running(command, **{**pipes, **options}))


def python(*words: object) -> list[str]:
    """The command line of Python with these arguments."""
    return [sys.executable, *map(str, words)]


def run_python(*words: object, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run Python with these arguments to its end."""
    return run(python(*words), **options)


def run_code(code: str, *words: object, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end."""
    return run_python("-c", code, *words, **options)


def run_command(*words: object, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run the command `warptsp` to its end."""
    return run_python("-m", "warptsp", *words, **options)


def begin_python(*words: object, **options: Any) -> subprocess.Popen[Any]:
    """Start Python with these arguments."""
    return begin(python(*words), **options)


def begin_command(*words: object, **options: Any) -> subprocess.Popen[Any]:
    """Start the command `warptsp`."""
    return begin_python("-m", "warptsp", *words, **options)
