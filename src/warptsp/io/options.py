"""What a caller says of an instance's file: which column holds what, the metric, the symmetry of a matrix."""

import codecs
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from warptsp._checks import shown
from warptsp._words import as_called, listed
from warptsp.errors import InvalidOption
from warptsp.problem import Metric

ROLES = ("x", "y", "z", "lat", "lon", "name", "id")
"""What a column can hold."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What `warptsp.load` is told beside the name of the file."""

    columns: Mapping[str, str | int] = field(default_factory=dict)  # `ROLES`, by title or number from 1
    metric: Metric | str | None = None  # as the caller named it
    asymmetric: bool = False  # whether a matrix may be
    groups: bool = False  # whether one place of each group is visited, as some files mean
    sheet: str | int | None = None  # of a workbook, by its name or its number from 1
    encoding: str | None = None  # of a text, where no byte order mark says it
    skip_incomplete: bool = False  # whether rows without coordinates are left out

    def __post_init__(self) -> None:
        """Refuse a column that can hold no such thing, x beside a latitude, and what is no metric."""
        if not isinstance(self.columns, Mapping):
            raise InvalidOption(
                f"columns: {self.columns!r} is not a mapping such as {{'lat': 3, 'lon': 'Longitude'}}"
            )
        _ = self.parsed
        if isinstance(self.sheet, bool) or not isinstance(self.sheet, (str, int, np.integer, type(None))):
            raise InvalidOption(f"sheet: {shown(self.sheet)}: the name or number of a sheet is needed")
        if self.encoding is not None:
            _check_encoding(self.encoding)
        for role, column in self.columns.items():
            if role not in ROLES:
                raise InvalidOption(f"columns: there is no {role!r}: use one of {listed(ROLES, role)}")
            if isinstance(column, bool) or not isinstance(column, (str, int, np.integer)):
                raise InvalidOption(
                    f"columns: {role} is {column!r}: the name or number of a column is needed"
                )
        flat, globe = (
            {role: column for role, column in self.columns.items() if role in axes}
            for axes in (("x", "y", "z"), ("lat", "lon"))
        )
        if flat and globe:
            raise InvalidOption(f"{as_columns(**flat, **globe)}: a place has either x and y, or lat and lon")

    @property
    def parsed(self) -> Metric | None:
        return None if self.metric is None else Metric.parse(self.metric)

    def check_no_table(self, file: str, kind: str) -> None:
        """Refuse what is said of a table, for a file that is read as something else."""
        if self.columns:
            raise InvalidOption(
                f"{as_columns(**self.columns)}: only a table has columns, and {file} is read as {kind}"
            )
        if self.skip_incomplete:
            skip = as_called("skip_incomplete", "--skip-incomplete")
            raise InvalidOption(f"{skip}: only a table has rows, and {file} is read as {kind}")


def _check_encoding(encoding: object) -> None:
    """Accept the name of an encoding of text, of which Python has others, too."""
    try:
        if isinstance(encoding, str) and codecs.lookup(encoding)._is_text_encoding:
            return
    except (LookupError, ValueError):
        pass
    raise InvalidOption(
        f"{as_called('encoding', '--encoding')} {shown(encoding)}: there is no such encoding of text; use "
        "one such as utf-8, cp1252, cp1250, cp1251, shift_jis or gbk"
    )


def as_columns(**columns: object) -> str:
    """How the caller says which column holds what.

    >>> as_columns(lat=3, lon=4)
    "columns={'lat': 3, 'lon': 4}"
    """
    options = " ".join(f"--{role} {shlex.quote(str(column))}" for role, column in columns.items())
    return as_called(f"columns={columns}", f"{options}")


def as_metric(name: str) -> str:
    """How the caller names a metric.

    >>> as_metric("GEO")
    'metric="GEO"'
    """
    return as_called(f'metric="{name}"', f"--metric {name}")


def other_metric(name: str, what: str, own: Metric) -> InvalidOption:
    """The error of who names another metric than what has its own."""
    return InvalidOption(
        f"{as_metric(name)} does not fit {what}, whose metric is {own.name}: {own.description}"
    )
