"""What a document's system is: a method with the start tour and the parameters that the document has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A method as a document has it.

    Attributes
    ----------
    start : str or None
        The construction of its start tour; None where the method makes its own.
    params : mapping
        Parameters on every device.
    cpu, gpu : mapping
        Further ones, where the document has another version for each.
    gpu_plane : bool
        Whether that of the GPU is for closed tours in the plane alone; with others "auto" takes the CPU.
    """

    start: str | None
    params: Mapping[str, Any] = field(default_factory=dict)
    cpu: Mapping[str, Any] = field(default_factory=dict)
    gpu: Mapping[str, Any] = field(default_factory=dict)
    gpu_plane: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A published paper or thesis.

    Attributes
    ----------
    number : str
        What ``solve(document=...)`` and ``--document`` take.
    authors, title, published : str
    year : int
    systems : mapping
        Its methods, the one that it is known for first.
    metric : str or None
        That of its distances, where it is said; a call has that of the instance.
    named : tuple of str
        Methods that it names as future work, and that are ours.
    """

    number: str
    authors: str
    title: str
    published: str
    year: int
    systems: Mapping[str, System]
    metric: str | None = None
    named: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.number}: {self.authors} ({self.year})"
