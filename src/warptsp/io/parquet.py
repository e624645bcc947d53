"""Parquet files: a table of columns, read as a data frame."""

from io import BytesIO
from typing import Any

import numpy as np

from warptsp._checks import not_installed
from warptsp.errors import ParseError

from ._files import undamaged
from .format import Format, Instance, Source
from .options import ReadOptions
from .table.frame import read_frame

_INDEX = "__index_level_0__"  # what pandas calls the index of a data frame, if it has no name


class _Frame:
    """A table with what pandas writes of a data frame: names of rows, and nothing where a text is missing."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self.column_names = [name for name in table.column_names if name != _INDEX]
        index = _without_nulls(table[_INDEX]).to_pylist() if _INDEX in table.column_names else [None]
        # Numbers only tell which rows a larger frame had.
        are_names = all(isinstance(name, str) for name in index)
        self.index = np.array(index, dtype=object) if are_names else None

    def __getitem__(self, name: str) -> Any:
        return _without_nulls(self._table[name])


def _without_nulls(column: Any) -> Any:
    """A column whose missing texts are empty ones; others as they are."""
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_null(column.type):
        column = column.cast("string")
    is_text = types.is_string(column.type) or types.is_large_string(column.type)
    return column.fill_null("") if is_text else column


def _read(source: Source, options: ReadOptions) -> Instance:
    data, file = source.bytes, source.file
    try:
        from pyarrow import parquet
    except ImportError:
        needed = f"{file}: Parquet is read with pyarrow"
        raise not_installed(needed, "parquet", ", or save it as CSV") from None
    with undamaged(file):
        table = parquet.read_table(BytesIO(data))
    try:
        return read_frame(_Frame(table), options, file)
    except ParseError as error:
        if b"geo" not in (table.schema.metadata or {}):
            raise
        hint = "of GeoParquet only columns of numbers are read: geopandas.read_parquet has its points"
        raise ParseError(f"{error.message}; {hint}", file=file) from None


FORMATS = (
    Format(name="parquet", title="Parquet", endings=(".parquet",), read=_read, binary=True, has_columns=True),
)
