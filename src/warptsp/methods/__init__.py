"""The registry of methods: a name, and the module that makes the method.

To add one: write a module with a `Method` called ``METHOD``, and add its line to `METHODS`; the recipe is in
CONTRIBUTING.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any

from warptsp._checks import shown
from warptsp.errors import InvalidOption
from warptsp.methods.method import Method, NoParams

__all__ = ["MAIN", "METHODS", "Method", "NoParams", "get_method"]


class _Registry(MutableMapping[str, Method[Any]]):
    """Methods by name; the module of one is imported when the method is asked for, and no other."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._found: dict[str, Method[Any] | str] = dict(modules)

    def __getitem__(self, name: str) -> Method[Any]:
        found = self._found[name]
        if isinstance(found, str):
            method: Method[Any] = import_module(found).METHOD
            self._found[name] = found = method
        return found

    def __setitem__(self, name: str, method: Method[Any]) -> None:
        self._found[name] = method

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


METHODS: MutableMapping[str, Method[Any]] = _Registry(
    {
        "lk": "warptsp.methods.lk",
        "two-opt": "warptsp.papers.exhaustive.two_opt",
        "three-opt": "warptsp.papers.exhaustive.three_opt",
        "swap": "warptsp.papers.exhaustive.swap",
        "relocate": "warptsp.papers.exhaustive.relocate",
        "vnd": "warptsp.papers.exhaustive.vnd",
        "neighbor-two-opt": "warptsp.papers.neighbor_lists.two_opt",
        "neighbor-three-opt": "warptsp.papers.neighbor_lists.three_opt",
        "ils": "warptsp.papers.neighbor_lists.ils",
        "symmetric-two-opt": "warptsp.papers.symmetric.two_opt",
        "symmetric-three-opt": "warptsp.papers.symmetric.three_opt",
        "symmetric-annealing": "warptsp.papers.symmetric.annealing",
        "hill-climbing": "warptsp.papers.hill_climbing.climbing",
        "exact": "warptsp.methods.exact",
        "construct": "warptsp.methods.construct",
    }
)

MAIN = "lk"
"""The method of `solve` if none is named."""


def get_method(name: str) -> Method[Any]:
    """Return the method of this name.

    Raises
    ------
    InvalidOption
        If there is none; lists those there are.
    """
    if not isinstance(name, str) or name not in METHODS:
        raise InvalidOption(f"method: {shown(name)} is unknown; there are {', '.join(METHODS)}")
    return METHODS[name]
