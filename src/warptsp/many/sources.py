"""Where many problems come from: an array, a list, a folder, a file of arrays, or an iterator."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp.errors import InvalidOption, InvalidProblem

__all__ = ["Source"]


class Source:
    """Problems in any form that `warptsp.solve` takes, in order.

    Attributes
    ----------
    items : sequence, array or None
        All of them; None where they come one after another and are not kept.
    names : list of str or None
        Those of files.
    """

    def __init__(
        self, items: Sequence[Any] | NDArray[Any] | None, stream: Iterable[Any], names: list[str] | None
    ) -> None:
        self.items = items
        self.names = names
        self._stream = stream

    def __reduce__(self) -> tuple[object, ...]:
        # An iterator has been read, and cannot be pickled.
        return Source, (self.items, (), self.names)

    def __len__(self) -> int:
        return 0 if self.items is None else len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._stream)

    @classmethod
    def of(cls, problems: object) -> Source:
        """Return the problems that `solve_many` was given.

        Raises
        ------
        InvalidProblem
            If they are none, or there are none in a folder or file.
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
            if (
                "numpy.ma" in sys.modules
                and isinstance(problems, np.ma.MaskedArray)
                and np.any(problems.mask)
            ):
                rows = list(problems)  # which keep their masks, so that each is refused like a single problem
                return cls(rows, rows, None)
            return cls(array, array, None)
        if isinstance(problems, Sequence):
            return cls(problems, problems, None)
        if isinstance(problems, Iterable):
            return cls(None, problems, None)
        raise InvalidProblem(
            f"problems: {shown(problems)} is no array, sequence or iterator of problems, and no folder or "
            "file"
        )

    def problem(self, position: int) -> Any:
        """Return a problem again, in the form in which it was given.

        Raises
        ------
        InvalidOption
            If they have not been kept.
        """
        if self.items is None:
            raise InvalidOption(
                f"problem {position} came from an iterator, which is not kept: give the problem, too, as in "
                f"result({position}, problem)"
            )
        return self.items[position]


def _of_path(path: Path) -> Source:
    """Return the instances in a folder, by name, or the problems of a file of arrays."""
    if os.path.isdir(path):  # also where the name is too long for one
        from warptsp.io.registry import has_instance_ending

        files = sorted(file for file in path.iterdir() if file.is_file() and has_instance_ending(file.name))
        if not files:
            raise InvalidProblem(f"{path}: there are no instances in this folder")
        return Source(files, files, [file.name for file in files])
    if path.suffix.lower() != ".npy":
        raise InvalidProblem(f"{path} is no folder and no .npy file")
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InvalidProblem(f"{path}: {error}") from error
    return Source.of(array)
