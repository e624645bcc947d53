"""What other threads do while a GPU, or the thread that drives it, does something else."""

import threading
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Beside(Generic[T]):
    """A call on a thread of its own, or at once where no thread can be started.

    Unlike those of a pool, it may be begun while the main thread has ended and waits for the others.
    """

    def __init__(self, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> None:
        self._results: list[T] = []
        self._error: BaseException | None = None

        def call() -> None:
            try:
                self._results.append(work(*arguments, **named))
            except BaseException as error:
                self._error = error

        self._thread: threading.Thread | None = threading.Thread(target=call, name="warptsp beside a GPU")
        try:
            self._thread.start()
        except RuntimeError:
            self._thread = None
            call()

    def is_done(self) -> bool:
        """Tell whether the call has ended."""
        return self._thread is None or not self._thread.is_alive()

    def has_failed(self) -> bool:
        """Tell whether the call has raised something."""
        return self._error is not None

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the call, for so long at most; tell whether it has ended."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self.is_done()

    def result(self) -> T:
        """Wait for what the call returns, or raise what it raised."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._results[0]
