"""What was published: the figures of the documents, as they stand in ``published/``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

PUBLISHED = Path(__file__).parents[1] / "published"


@dataclass(frozen=True)
class Published:
    """The figures of one document, as they stand in ``published/``."""

    document: str
    what: str
    hardware: str
    tables: dict[str, Any]
    facts: dict[str, Any]

    def rows(self, number: str) -> list[dict[str, Any]]:
        """Return the rows of a table by the names of its columns."""
        found = self.tables[number]
        return [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]

    def notes(self, number: str) -> str:
        """Return what is to be said about the published table, as one paragraph."""
        return " ".join(self.tables[number].get("notes", ()))


@cache
def published(document: str) -> Published:
    """Return the published figures of a document, 000 to 004."""
    content = json.loads((PUBLISHED / f"{document}.json").read_text(encoding="utf-8"))
    named = {name: content.pop(name) for name in ("document", "what", "hardware", "tables")}
    return Published(**named, facts=content)
