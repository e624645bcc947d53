"""Where many problems come from: an array, a list, a folder, a file of arrays, or an iterator."""

import logging
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp.errors import InvalidOption, InvalidProblem, UnreadableFile
from warptsp.io._files import reading
from warptsp.problem import Metric, OpenPath, Problem
from warptsp.solver.inputs import instance_of

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Problems in any form that `warptsp.solve` takes, in order, read as `solve_many` is told."""

    items: Sequence[Any] | NDArray[Any] | None  # None where they come one after another and are not kept
    stream: Iterable[Any]  # the same, which is read once
    names: list[str] | None = None  # of files
    metric: Metric | str | None = None
    open: bool | OpenPath | None = None
    asymmetric: bool = False
    reader: Callable[[str | os.PathLike[str]], Problem] | None = None  # of files

    def __reduce__(self) -> tuple[object, ...]:
        # An iterator has been read, and cannot be pickled.
        kept = self.items, (), self.names, self.metric, self.open, self.asymmetric, self.reader
        return Source, kept

    @property
    def total(self) -> int | None:
        """How many there are; None if nobody knows."""
        return None if self.items is None else len(self.items)

    @classmethod
    def of(cls, problems: object) -> "Source":
        """Return the problems that `solve_many` was given.

        Raises `InvalidProblem` if they are none, or there are none in a folder or file.
        """
        if isinstance(problems, cls):
            return problems
        if isinstance(problems, (str, os.PathLike)):
            return _of_path(Path(problems))
        if hasattr(problems, "__array__") and not isinstance(problems, (list, tuple)):
            array = np.asarray(problems)
            if array.ndim != 3:
                raise InvalidProblem(
                    f"problems have shape {array.shape}: (m, n, 2) or (m, n, 3) is needed for points, "
                    "(m, n, n) for matrices"
                )
            is_masked = "numpy.ma" in sys.modules and isinstance(problems, np.ma.MaskedArray)
            if is_masked and np.any(problems.mask):  # type: ignore[attr-defined]
                array = list(problems)  # type: ignore[call-overload]  # each is refused like a single problem
            return cls(array, array)
        if isinstance(problems, Iterable):
            return cls(problems if isinstance(problems, Sequence) else None, problems)
        raise InvalidProblem(
            f"problems: {shown(problems)} is no array, sequence or iterator of problems, and no folder or "
            "file"
        )

    def read(self, given: Any) -> Problem:
        """Return the problem in what was given, as `solve` would take it."""
        if self.reader is not None and isinstance(given, (str, os.PathLike)):
            given = self.reader(given)
        return instance_of(given, metric=self.metric, asymmetric=self.asymmetric, open=self.open)[0]

    def problem(self, position: int) -> Problem:
        """Return a problem again; raises `InvalidOption` if they have not been kept."""
        if self.items is None:
            raise InvalidOption(
                f"problem {position} came from an iterator, which is not kept: give the problem, too, as in "
                f"result({position}, problem)"
            )
        return self.read(self.items[position])


def _is_instance(file: Path) -> bool:
    """Whether a file holds one, as far as its ending leaves that open: most JSON is something else."""
    if not file.name.lower().removesuffix(".gz").endswith(".json"):
        return True
    from warptsp.io import load

    try:
        load(file)
    except UnreadableFile:  # what is wrong with it is said beside the others
        return True
    except InvalidProblem:
        return False
    return True


def _of_path(path: Path) -> Source:
    """Return the instances in a folder, by name, or the problems of a file of arrays."""
    if os.path.isdir(path):  # also where the name is too long for one
        from warptsp.io.registry import has_instance_ending

        named = [file for file in path.iterdir() if has_instance_ending(file.name)]
        # Hidden ones are of other programs: macOS leaves ._places.csv beside places.csv on many disks.
        found = sorted(file for file in named if file.is_file() and not file.name.startswith("."))
        files = [file for file in found if _is_instance(file)]
        if not files:
            raise InvalidProblem(f"{path}: there are no instances in this folder")
        if left_out := [file.name for file in found if file not in files]:
            more = ", ..." if len(left_out) > 5 else ""
            _log.warning(
                "%s: left out, as other JSON than instances: %s%s", path, ", ".join(left_out[:5]), more
            )
        return Source(files, files, [file.name for file in files])
    with reading(str(path)):
        path.stat()
        if path.suffix.lower() != ".npy":
            raise InvalidProblem(f"{path} is no folder and no .npy file")
        try:
            array = np.lib.format.open_memmap(path, mode="r")
        except (EOFError, ValueError) as error:
            raise InvalidProblem(f"{path}: {error}") from error
    return Source.of(array)
