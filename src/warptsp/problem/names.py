"""How files, messages and people call the cities of an instance: by numbers of their own, and by names."""

import logging
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warptsp._checks import shown
from warptsp._words import did_you_mean, folded
from warptsp.errors import InvalidOption, InvalidTour
from warptsp.problem.values import integer_array

_log = logging.getLogger(__name__)

# Names that a mistyped one is compared with: some hundredths of a second.
_NAMES_COMPARED = 10_000


class Cities:
    """Cities, counted from 0, and what they are called; `Problem` says what its parts are."""

    node_ids: NDArray[np.int64] | None
    labels: Sequence[str] | None
    name: str
    n: int

    def node_id(self, city: int) -> int:
        """The number that files and messages give to a city."""
        return int(city) + 1 if self.node_ids is None else int(self.node_ids[city])

    def label(self, city: int) -> str:
        """The city's name, or its node number if it has none."""
        return str(self.node_id(city)) if self.labels is None else self.labels[city]

    def ids_of(self, cities: ArrayLike) -> NDArray[np.int64]:
        """The numbers that files give to these cities."""
        index = integer_array(cities, "cities", InvalidTour)
        check_range(self, index)
        return index.astype(np.int64) + 1 if self.node_ids is None else self.node_ids[index]

    def cities_of(self, ids: ArrayLike) -> NDArray[np.int32]:
        """The cities, counted from 0, that files give these numbers.

        Raises
        ------
        InvalidTour
            The instance has no such node.
        """
        wanted = integer_array(ids, "node numbers", InvalidTour)
        if wanted.dtype.kind == "u":
            wanted = np.minimum(wanted, np.uint64(2**63 - 1))
        wanted = wanted.astype(np.int64, copy=False)
        if self.node_ids is None:
            cities = wanted - 1
            unknown = (cities < 0) | (cities >= self.n)
        else:
            order = np.argsort(self.node_ids, kind="stable")
            place = np.searchsorted(self.node_ids, wanted, sorter=order)
            cities = order[np.minimum(place, self.n - 1)]
            unknown = self.node_ids[cities] != wanted
        if unknown.any():
            first, there = int(wanted[unknown].flat[0]), f"its nodes are 1 to {self.n}"
            if self.node_ids is not None:
                there = f"its {self.n} nodes lie between {self.node_ids.min()} and {self.node_ids.max()}"
            raise InvalidTour(f"the instance{called(self)} has no node {first}: {there}")
        return cities.astype(np.int32)

    def city(self, name: str) -> int:
        """The city, counted from 0, that has this name.

        Raises
        ------
        InvalidOption
            If there is no such city, or several of this name.
        """
        if not isinstance(name, str):
            raise InvalidOption(f"{shown(name)} is not the name of a city: a string is needed")
        city = _named(self, name)
        if city is not None:
            return city
        cure = f"give a number, counted from 0 to {self.n - 1}"
        if (numbered := _numbered(self, name)) is not None:
            cure += f"; {name} in a file is {numbered}"
        if self.labels is None:
            raise InvalidOption(f"{shown(name)}: the cities have no names; {cure}")
        raise InvalidOption(f"{shown(name)}: no such city{_suggestion(self, name) or f'; {cure}'}")


def check_range(names: Cities, cities: NDArray[Any]) -> None:
    """Accept cities that there are, or raise `InvalidTour`."""
    if cities.size and (int(cities.min()) < 0 or int(cities.max()) >= names.n):
        bad = cities[(cities < 0) | (cities >= names.n)].flat[0]
        raise InvalidTour(f"there is no city {bad}: cities are counted from 0 to {names.n - 1}")


def city_of_file(names: Cities, text: str) -> int:
    """The city, counted from 0, that has this name, or else this number, in the file.

    Raises `InvalidOption`: there is no such city, or several of this name.
    """
    named, numbered = _named(names, text), _numbered(names, text)
    if numbered is not None and named is not None and named != numbered:
        _log.warning(
            "%s: taken for the name of node %d, not for the node of this number, %s",
            text,
            names.node_id(named),
            shown(names.label(numbered)),
        )
    if (city := numbered if named is None else named) is not None:
        return city
    ids = (1, names.n) if names.node_ids is None else (names.node_ids.min(), names.node_ids.max())
    cure = f"; give a number from the file ({ids[0]} to {ids[1]})"
    if names.labels is not None:
        cure = _suggestion(names, text) or f"{cure} or a name"
    raise InvalidOption(f"{shown(text)}: no such city{cure}")


def _named(names: Cities, name: str) -> int | None:
    """The city of this name, in any spelling; None if there is none."""
    if names.labels is None:
        return None
    named = [city for city, label in enumerate(names.labels) if label == name]
    if not named and (wanted := folded(name)):
        named = [city for city, label in enumerate(names.labels) if folded(label) == wanted]
    if len(named) > 1:
        raise InvalidOption(f"{shown(name)}: {len(named)} cities have this name; give the city's number")
    return named[0] if named else None


def _numbered(names: Cities, text: str) -> int | None:
    """The city of this number in the file; None if there is none."""
    if re.fullmatch(r"-?\d{1,18}", text):
        with suppress(InvalidTour):
            return int(names.cities_of(int(text)))
    return None


def _suggestion(names: Cities, name: str) -> str:
    return did_you_mean(name, () if names.labels is None else names.labels[:_NAMES_COMPARED])


def words_for(names: Cities, city: int) -> str:
    """The city by its name, if it has one, and by its number, for messages."""
    return f"node {names.node_id(city)}" + ("" if names.labels is None else f" ({names.labels[city]})")


def called(names: Cities) -> str:
    """The instance's name behind a blank, for messages."""
    return f" {names.name}" if names.name else ""
