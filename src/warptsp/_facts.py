"""What a result says: each fact once, for programs and for people."""

from collections.abc import Iterable
from typing import Any, NamedTuple


class Fact(NamedTuple):
    """One thing that a result says."""

    key: str  # what programs find it by; empty if only people are told
    value: Any = None  # what programs are told
    words: str | None = None  # what people are told; None if only programs are
    # What stands before the words, if that is not the key; empty if the line goes on from the one above.
    name: str | None = None


def values_of(facts: Iterable[Fact]) -> dict[str, Any]:
    """Return what programs are told."""
    return {fact.key: fact.value for fact in facts if fact.key}


def pairs_of(facts: Iterable[Fact]) -> list[tuple[str, str]]:
    """Return what people are told: a name and a text each."""
    return [
        (fact.key if fact.name is None else fact.name, fact.words) for fact in facts if fact.words is not None
    ]


def lines_of(facts: Iterable[Fact], width: int = 12) -> list[str]:
    return [f"{name:{width}} {words}" for name, words in pairs_of(facts)]
