"""What a document's system is: a method with the start tour and the parameters that the document has."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A method as a document has it."""

    start: str | None  # the construction of its start tour; None where the method makes its own
    params: Mapping[str, Any] = field(default_factory=dict)  # on every device
    cpu: Mapping[str, Any] = field(default_factory=dict)  # further ones, where there is another version
    gpu: Mapping[str, Any] = field(default_factory=dict)
    gpu_plane: bool = False  # that of the GPU is for closed tours in the plane; else "auto" takes the CPU


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A published paper or thesis."""

    number: str  # what ``solve(document=...)`` and ``--document`` take
    authors: str
    title: str
    published: str
    year: int
    systems: Mapping[str, System]  # its methods, the one that it is known for first
    metric: str | None = None  # that of its distances, where it is said; a call has that of the instance
    named: tuple[str, ...] = ()  # methods that it names as future work, and that are ours

    def __str__(self) -> str:
        return f"{self.number}: {self.authors} ({self.year})"
