"""Parquet files: a table of columns, read as a data frame."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from warptsp._offers import find
from warptsp.errors import BackendUnavailable, InvalidProblem, ParseError

from ._text import quoted
from .format import Format, Instance, Source

if TYPE_CHECKING:
    from .options import ReadOptions

__all__ = ["FORMATS"]


def _read(source: Source, options: ReadOptions) -> Instance:
    data, file = source.bytes, source.file
    try:
        from pyarrow import parquet
    except ImportError:
        raise BackendUnavailable(
            f"{file}: Parquet is read with pyarrow, which is not installed: pip install 'warptsp[parquet]', "
            "or save it as CSV"
        ) from None
    try:
        table = parquet.read_table(BytesIO(data))
    except Exception as error:  # pyarrow has errors of its own for what is damaged
        raise ParseError(f"is damaged: {quoted(str(error))}", file=file) from None
    try:
        return Instance(
            find("problem of a data frame")(
                table, options.asked, options.columns, asymmetric=options.asymmetric
            )
        )
    except InvalidProblem as error:
        geo = b"geo" in (table.schema.metadata or {})
        hint = (
            "; of GeoParquet only columns of numbers are read: geopandas.read_parquet has its points"
            if geo
            else ""
        )
        raise ParseError(f"{error}{hint}", file=file) from None


FORMATS = (
    Format(name="parquet", title="Parquet", endings=(".parquet",), read=_read, binary=True, has_columns=True),
)
