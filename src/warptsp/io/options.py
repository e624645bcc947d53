"""What a caller says of an instance's file: which column holds what, the metric, the symmetry of a matrix."""

from __future__ import annotations

import codecs
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from warptsp._checks import shown
from warptsp._words import as_called
from warptsp.errors import InvalidOption
from warptsp.problem import Metric

__all__ = ["ROLES", "ReadOptions"]

ROLES = ("x", "y", "z", "lat", "lon", "name", "id")
"""What a column can hold."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What `warptsp.load` is told beside the name of the file.

    Attributes
    ----------
    columns : mapping of str to str or int
        Which column, by its title or its number from 1, holds which of `ROLES`.
    metric : Metric or None
    asked : Metric, str or None
        The metric as the caller named it.
    asymmetric : bool
        Whether a matrix may be.
    groups : bool
        Whether one place of each group is visited; otherwise files that mean that are refused.
    sheet : str, int or None
        The sheet of a workbook, by its name or its number from 1; by default the first that holds anything.
    encoding : str or None
        That of a text, where no byte order mark says it.
    skip_incomplete : bool
        Whether rows of a table that lack a coordinate are left out.
    """

    columns: Mapping[str, str | int] = field(default_factory=dict)
    metric: Metric | None = None
    asymmetric: bool = False
    asked: Metric | str | None = None
    groups: bool = False
    sheet: str | int | None = None
    encoding: str | None = None
    skip_incomplete: bool = False

    @classmethod
    def of(
        cls,
        columns: Mapping[str, str | int] | None = None,
        metric: Metric | str | None = None,
        asymmetric: bool = False,
        *,
        groups: bool = False,
        sheet: str | int | None = None,
        encoding: str | None = None,
        skip_incomplete: bool = False,
    ) -> ReadOptions:
        """Check what was given.

        Raises
        ------
        InvalidOption
            A column can hold no such thing, or one place would have x and a latitude.
        """
        if columns is not None and not isinstance(columns, Mapping):
            raise InvalidOption(
                f"columns: {columns!r} is not a mapping such as {{'lat': 3, 'lon': 'Longitude'}}"
            )
        parsed = None if metric is None else Metric.parse(metric)
        if isinstance(sheet, bool) or not isinstance(sheet, (str, int, np.integer, type(None))):
            raise InvalidOption(f"sheet: {shown(sheet)}: the name or number of a sheet is needed")
        if encoding is not None:
            _check_encoding(encoding)
        found = cls(dict(columns or {}), parsed, asymmetric, metric, groups, sheet, encoding, skip_incomplete)
        for role, column in found.columns.items():
            if role not in ROLES:
                raise InvalidOption(f"columns: there is no {role!r}: use one of {', '.join(ROLES)}")
            if isinstance(column, bool) or not isinstance(column, (str, int, np.integer)):
                raise InvalidOption(
                    f"columns: {role} is {column!r}: the name or number of a column is needed"
                )
        flat = {role: column for role, column in found.columns.items() if role in ("x", "y", "z")}
        globe = {role: column for role, column in found.columns.items() if role in ("lat", "lon")}
        if flat and globe:
            raise InvalidOption(f"{as_columns(**flat, **globe)}: a place has either x and y, or lat and lon")
        return found


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
