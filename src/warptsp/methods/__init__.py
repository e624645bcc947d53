"""The registry of methods: a name, and the module that makes the method.

To add one: write a module with a `Method` called ``METHOD``, and add its line to `METHODS`; the recipe is in
CONTRIBUTING.md.
"""

from collections import UserDict
from collections.abc import MutableMapping
from importlib import import_module
from typing import Any

from warptsp._checks import shown
from warptsp._words import listed
from warptsp.errors import InvalidOption
from warptsp.methods.method import MAIN, Method, NoParams

__all__ = ["MAIN", "METHODS", "Method", "NoParams", "get_method"]


class _Registry(UserDict[str, Any]):
    """Methods by name; the module of one is imported when the method is asked for, and no other."""

    def __getitem__(self, name: str) -> Method[Any]:
        if isinstance(found := self.data[name], str):
            self.data[name] = found = import_module(found).METHOD
        method: Method[Any] = found
        return method


METHODS: MutableMapping[str, Method[Any]] = _Registry(
    {
        MAIN: "warptsp.methods.lk",
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


def get_method(name: str) -> Method[Any]:
    """Return the method of this name; InvalidOption, which lists those there are, if there is none."""
    if not isinstance(name, str) or name not in METHODS:
        raise InvalidOption(f"method: {shown(name)} is unknown; there are {listed(METHODS, name)}")
    return METHODS[name]
