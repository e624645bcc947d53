"""What a study is made of: its setting, its cells and the sections of its report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.chart import Chart

if TYPE_CHECKING:
    from benchmarks.reproduce.harness.results import Results


@dataclass(frozen=True)
class Setting:
    """What a study is to measure, and with what."""

    device: str
    full: bool
    instances: Path
    threads: int | None = None
    pattern: str = ""
    side_by_side: int = 1


@dataclass(frozen=True)
class Cell:
    """One measurement: a name that is unique in its study on a device, and whatever it needs to be made."""

    name: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """A part of a report: a table, and perhaps a picture."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    text: str = ""
    chart: Chart | None = None


class Study(Protocol):
    """A module of this package that measures something."""

    __name__: str
    DOCUMENT: str
    TABLES: Sequence[str]
    cells: Callable[[Setting], Iterable[Cell]]
    measure: Callable[[Cell, Setting], dict[str, Any]]
    report: Callable[[Results], list[Section]]


def name_of(study: Study) -> str:
    """Return the name of a study: that of its file."""
    return study.__name__.rpartition(".")[2]


def title_of(study: Study) -> str:
    """Return what a study is about: the first line of its docstring, and the tables that it repeats."""
    first = (study.__doc__ or "").partition("\n")[0].removesuffix(".")
    return f"{first} ({', '.join(study.TABLES)})"
