"""Every exception that warptsp raises on purpose.

Each message names the offending value, the place it came from and what would be accepted. The command line
prints the message alone, without a traceback, and exits with status 2.
"""

import os
from functools import partial

__all__ = [
    "BackendUnavailable",
    "DeviceFailure",
    "DeviceOutOfMemory",
    "InvalidOption",
    "InvalidProblem",
    "InvalidTour",
    "MissingFile",
    "NoTourFound",
    "OutputError",
    "ParseError",
    "UnreadableFile",
    "UnsupportedProblem",
    "WarpTSPError",
]


class WarpTSPError(Exception):
    """Base of all exceptions below."""


class InvalidProblem(WarpTSPError, ValueError):  # noqa: N818 - a public name, as in cuOpt and SciPy
    """The instance is not a travelling-salesman problem that warptsp understands."""


class ParseError(InvalidProblem):
    """A file cannot be read.

    Parameters
    ----------
    message : str
        What is wrong and what would be accepted.
    file : str or os.PathLike, optional
        The file.
    line : int, optional
        The line, counted from 1; None when the fault concerns the whole file.
    keyword : str, optional
        The keyword, section or column in which the fault lies.

    Attributes
    ----------
    message, file, line, keyword
        As given; ``str(error)`` is ``FILE:LINE: message``.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | os.PathLike[str] | None = None,
        line: int | None = None,
        keyword: str | None = None,
    ) -> None:
        super().__init__(message, file, line, keyword)
        self.message = message
        self.file = None if file is None else os.fspath(file)
        self.line = line
        self.keyword = keyword

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place = f"{place}:{self.line}" if place else f"line {self.line}"
        return f"{place}: {self.message}" if place else self.message

    def __reduce__(self) -> tuple[object, ...]:
        return partial(ParseError, file=self.file, line=self.line, keyword=self.keyword), (self.message,)


class UnreadableFile(ParseError, OSError):  # noqa: N818
    """The system refuses a file, which is a directory, say, or not for this user; also an `OSError`.

    Attributes
    ----------
    errno, filename
        As an `OSError` has them.
    """

    def __init__(
        self, message: str, *, file: str | os.PathLike[str] | None = None, errno: int | None = None
    ) -> None:
        super().__init__(message, file=file)
        self.errno, self.filename, self.strerror = errno, self.file, message

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), file=self.file, errno=self.errno), (self.message,)


class MissingFile(UnreadableFile, FileNotFoundError):  # noqa: N818
    """There is no such file; also a `FileNotFoundError`."""


class InvalidTour(WarpTSPError, ValueError):  # noqa: N818
    """A tour is not a permutation of the instance's cities, or breaks one of its constraints."""


class NoTourFound(WarpTSPError):  # noqa: N818
    """Every tour that a search came to has a missing arc.

    Parameters
    ----------
    message : str
        How many arcs are missing from the best one, and one of them.
    proved : bool
        Whether it is proved that no tour goes without missing arcs.
    """

    def __init__(self, message: str, *, proved: bool) -> None:
        super().__init__(message)
        self.proved = proved

    def __reduce__(self) -> tuple[object, ...]:
        # With its `result`, if it has one.
        return partial(NoTourFound, proved=self.proved), (str(self),), self.__dict__


class InvalidOption(WarpTSPError, ValueError):  # noqa: N818
    """An option has a value that is not accepted."""


class UnsupportedProblem(WarpTSPError):  # noqa: N818
    """The chosen method cannot solve this kind of instance; another one can."""


class BackendUnavailable(WarpTSPError, RuntimeError):  # noqa: N818
    """The requested device or its driver is missing."""


class DeviceFailure(WarpTSPError, RuntimeError):  # noqa: N818
    """The device failed, or was lost, in the middle of a run."""


class DeviceOutOfMemory(WarpTSPError, MemoryError):  # noqa: N818
    """The instance does not fit into the device's memory."""


class OutputError(WarpTSPError, OSError):
    """A file cannot be written."""
