"""The columns of a table of places: which hold what, in files and in data frames."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._words import did_you_mean, folded
from warptsp.errors import InvalidOption, InvalidProblem
from warptsp.io._text import quoted
from warptsp.io.options import ROLES, ReadOptions, as_columns, as_metric
from warptsp.problem import Metric
from warptsp.problem.doubts import look_like_degrees

from .fields import MINUS, is_number
from .titles import SIZES, plain, rank

_HEAD = 1024  # rows that mostly tell already that coordinates are no degrees
_ZONE = re.compile("(0?[1-9]|[1-5][0-9]|60) ?[C-HJ-NP-X]", re.IGNORECASE)  # of the UTM grid
_MINUTES = re.compile("min|мин|['\\u2032分]|[\\W_]m$", re.IGNORECASE)  # in the title of a column
_END = re.compile(r"[\W_]([A-Za-z]+)\W*$")  # of a title: its last word
_SIDES = (({"N", "NORTH"}, {"S", "SOUTH"}), ({"E", "EAST"}, {"W", "WEST"}))  # positive and negative


@dataclass(frozen=True, slots=True)
class Columns:
    """Where things are in a row."""

    count: int
    positions: tuple[int, ...]  # x, y or x, y, z or latitude, longitude; empty if there are none
    metric: Metric
    id: int | None = None
    name: int | None = None
    titles: Sequence[str] | None = None
    said: bool = False  # whether the caller said which hold the coordinates
    named_too: tuple[int, ...] = ()  # columns that mean names as well
    called: Sequence[str | int] | None = None  # what the file calls them, where one has been split

    @property
    def letters(self) -> tuple[str, ...]:
        """Those of the directions that angles in the columns of coordinates may have."""
        count = len(self.positions)
        return ("NS", "EW")[:count] if self.metric.geographic else ("",) * count

    def roles(self) -> dict[str, int]:
        """What is held by which column, counted from 0."""
        words = ("lat", "lon") if self.metric.geographic else ROLES[:3]
        found = dict(zip(words, self.positions, strict=False))
        for role, place in (("name", self.name), ("id", self.id)):
            if place is not None:
                found[role] = place
        return found

    def as_options(self) -> dict[str, str | int]:
        """The same as a caller would say it: by the titles that differ, or by numbers from 1."""
        titles = self.titles
        if self.called is not None:
            return {role: self.called[place] for role, place in self.roles().items()}
        return {
            role: titles[place] if titles is not None and titles.count(titles[place]) == 1 else place + 1
            for role, place in self.roles().items()
        }

    def _shown(self, place: int) -> str:
        called = self.called or self.titles
        name = place + 1 if called is None else called[place]
        return quoted(name) if isinstance(name, str) else str(name)

    def left_out(self) -> list[str]:
        """The other columns, for people."""
        places = sorted(set(range(self.count)) - set(self.roles().values()))
        return list(map(self._shown, places))

    def __str__(self) -> str:
        roles = self.roles()
        parts = (
            f"{role} {self._shown(place)}" for role, place in sorted(roles.items(), key=lambda item: item[1])
        )
        rest = self.left_out()
        more = [f"{len(rest) - 8} more"] if len(rest) > 8 else []
        return ", ".join(parts) + (f"; not used: {', '.join(rest[:8] + more)}" if rest else "")


def place_of(column: str | int, role: str, titles: Sequence[str] | None, count: int) -> int:
    """The place, counted from 0, of a column that is named by its title or, from 1 to `count`, its number."""
    text = str(column).strip()
    if titles is not None and (isinstance(column, str) or count == 0):
        wanted = folded(text)
        for same in ([title == text for title in titles], [folded(title) == wanted for title in titles]):
            if sum(same) > 1:
                raise InvalidProblem(f"{as_columns(**{role: column})}: {sum(same)} columns have this name")
            if any(same):
                return same.index(True)
    if re.fullmatch(r"[0-9]{1,9}", text) and 1 <= int(text) <= count:
        return int(text) - 1
    there = f"{count} without names"
    if titles is not None:
        there = f"{_shown(titles)}{did_you_mean(text, titles)}"
    raise InvalidProblem(f"{as_columns(**{role: column})}: there is no such column; the columns are {there}")


def given_places(titles: Sequence[str] | None, count: int, options: ReadOptions) -> dict[str, int]:
    """The columns that the caller named."""
    found: dict[str, int] = {}
    for role, column in options.columns.items():
        place = place_of(column, role, titles, count)
        other = next((held for held, at in found.items() if at == place), None)
        if other is not None:
            both = as_columns(**{other: options.columns[other], role: column})
            raise InvalidProblem(f"{both}: the same column cannot hold both")
        found[role] = place
    return found


def named_columns(
    titles: Sequence[str] | None, options: ReadOptions, count: int, *, by_number: bool = True
) -> Columns:
    """What the columns with these names, in any case, hold; what the caller says comes first."""
    texts = [""] * count if titles is None else titles
    given = given_places(titles, count if by_number else 0, options)

    def ranked(role: str) -> list[list[int]]:
        taken = given.values()
        ranks = {at: rank(text, role) for at, text in enumerate(texts) if at not in taken}
        known = sorted({how for how in ranks.values() if how is not None})
        return [[at for at, how in ranks.items() if how == best] for best in known]

    def find(role: str) -> int | None:
        if role in given:
            return given[role]
        found = next(iter(ranked(role)), [])
        if len(found) > 1 and role != "name":
            both = " and ".join(quoted(texts[place]) for place in found[:2])
            which = as_columns(**{role: found[0] + 1 if by_number else texts[found[0]]})
            differ = by_number or texts[found[0]] != texts[found[1]]
            way = f"; {which} takes the first" if differ else ""
            raise InvalidProblem(f"columns {both} mean the same: remove one of them{way}")
        return found[0] if found else None

    flat = [role for role in ("x", "y", "z") if role in given]
    places: list[int | None] = []
    metric = Metric.EXACT_2D
    if not flat:
        places, metric = [find("lat"), find("lon")], Metric.GREAT_CIRCLE
        _check_partners(given, ("lat", "lon"), places, options)
        if not given and all(at is not None and plain(texts[at]) in SIZES for at in places):
            _check_no_sizes(texts, places, [find("x"), find("y")])
    if None in places or flat:
        places, metric = [find("x"), find("y")], Metric.EXACT_2D
        _check_partners(given, ("x", "y"), places, options)
        # A height is meant by who names none of the others.
        if None not in places and ("z" in given or not flat) and (z := find("z")) is not None:
            places, metric = [*places, z], Metric.EXACT_3D
    positions = () if None in places else tuple(place for place in places if place is not None)
    said = bool(flat) or "lat" in given or "lon" in given
    name = find("name")
    if name is None and len(numbers := ranked("id")) > 1:
        name = numbers[1][0]  # a tour has an id beside the numbers of a shop, which were its names
    also = () if "name" in given else tuple(at for group in ranked("name") for at in group if at != name)
    return Columns(count, positions, metric, find("id"), name, titles, said, also)


def _check_partners(
    given: Mapping[str, int], pair: tuple[str, str], places: Sequence[int | None], options: ReadOptions
) -> None:
    """Refuse a latitude without a longitude, or x, y or z without the others, if the caller names one."""
    named = [role for role in (*pair, "z") if role in given and (role != "z" or pair[0] == "x")]
    missing = [role for role, place in zip(pair, places, strict=True) if place is None]
    if named and missing:
        there = as_columns(**{role: options.columns[role] for role in named})
        raise InvalidProblem(f"{there}: which column holds {' and '.join(missing)} must be given, too")


def _check_no_sizes(titles: Sequence[str], degrees: Sequence[int | None], flat: Sequence[int | None]) -> None:
    """Refuse degrees that may be sizes of things, if there are also x and y."""
    called = [[titles[at] for at in pair if at is not None] for pair in (degrees, flat)]
    if len(called[1]) == 2:
        shown = [" and ".join(map(quoted, pair)) for pair in called]
        ways = [as_columns(**dict(zip(roles, pair, strict=True)))
                for roles, pair in zip((("lat", "lon"), ("x", "y")), called, strict=True)]  # fmt: skip
        raise InvalidProblem(
            f"columns {shown[0]} may be sizes beside {shown[1]}: give {ways[0]}, or {ways[1]}"
        )


def guessed_columns(
    count: int,
    numbers: NDArray[np.float64],
    places: Sequence[int],
    name: int | None,
    options: ReadOptions,
) -> Columns:
    """What the columns of a table without titles hold, `count` in all, told by their numbers.

    These, of shape (n, k), are what is in the columns `places`, which the caller has given no other meaning;
    `name` is the column of names.
    """
    id = given_places(None, count, options).get("id")
    axes = list(places)
    if len(axes) == 3 and id is None:
        id = next((axis for axis, values in zip(axes, numbers.T, strict=True) if _counts_rows(values)), None)
        axes = [axis for axis in axes if axis != id]
    if len(axes) not in (2, 3):
        raise InvalidProblem(
            f"{count} columns without a header line: give one that tells which are x and y, or lat and lon"
            f", or say it, such as {as_columns(lat='COLUMN', lon='COLUMN')}"
        )
    columns = Columns(count, tuple(axes), (Metric.EXACT_2D, Metric.EXACT_3D)[len(axes) - 2], id, name)
    first, *others = (axis + 1 for axis in axes)
    if len(axes) == 3 and (name is not None or (id is None and _could_be_ids(numbers))):
        one = as_columns(id=first, **dict(zip("xy", others, strict=True)))
        three = as_columns(**dict(zip("xyz", (first, *others), strict=True)))
        raise InvalidProblem(
            f"three columns of numbers without a header line may be more than x, y and z: give {three}, "
            f"or {one}, or what they hold"
        )
    if any(after != before + 1 for before, after in pairwise(axes)):
        shown = " and ".join(str(place + 1) for place in axes)
        raise InvalidProblem(
            f"columns {shown} without names hold numbers, but are not adjacent: if they are "
            f"coordinates, give {as_columns(**columns.as_options())}"
        )
    return columns


def fitting_metric(own: Metric, options: ReadOptions) -> Metric:
    """The metric that the caller wants for columns that by themselves mean `own`."""
    wanted = None if options.metric is None else Metric.parse(options.metric, own.dimensions)
    if wanted is None or wanted is own:
        return own
    words = as_metric(wanted.name)
    if own is Metric.EXPLICIT or wanted is Metric.EXPLICIT:
        has = "distances" if own is Metric.EXPLICIT else "coordinates"
        raise InvalidOption(f"{words} does not fit a table of {has}")
    if wanted.geographic and not own.geographic:
        raise InvalidOption(
            f"{words} takes latitudes and longitudes: say which columns hold them, "
            f"{as_columns(lat='COLUMN', lon='COLUMN')}"
        )
    if own.geographic and not wanted.geographic:
        raise InvalidOption(
            f"{words} takes x and y, and the table has latitudes and longitudes: use haversine or GEO, or "
            f"say which columns hold them, {as_columns(x='COLUMN', y='COLUMN')}"
        )
    if wanted.dimensions != own.dimensions:
        raise InvalidOption(
            f"{words} takes {wanted.dimensions} coordinates, and the table has {own.dimensions}: say which "
            f"columns hold them, {as_columns(**dict.fromkeys(ROLES[: wanted.dimensions], 'COLUMN'))}"
        )
    return wanted


def doubt_about_degrees(columns: Columns, points: NDArray[np.float64], options: ReadOptions) -> str | None:
    """A warning if coordinates that the table calls x and y look like degrees; None if nobody need doubt."""
    said = columns.metric.geographic or columns.said or options.parsed is not None
    if said or not look_like_degrees(points):
        return None
    x, y = (columns.as_options()[axis] for axis in "xy")
    return (
        f"columns {x} and {y} look like degrees, but are taken for x and y: "
        f"{way_out_of_degrees(columns, points)}"
    )


def way_out_of_degrees(columns: Columns, points: NDArray[np.float64]) -> str:
    """How the caller says whether coordinates of the plane are degrees, for the end of a message."""
    named = columns.as_options()
    x, y = named["x"], named["y"]
    # In tables with names x goes to the east; without, latitudes mostly stand first.
    lat, lon = (x, y) if columns.titles is None else (y, x)
    high = np.abs(points[:, :2]).max(axis=0)
    if high[0 if lat == x else 1] > 90.0:
        lat, lon = lon, lat
    either = " (or the reverse)" if high.max() <= 90.0 else ""
    return f"give {as_columns(lat=lat, lon=lon)}{either} for great circles, or {as_columns(x=x, y=y)}"


def doubt_about_zones(rest: Mapping[int, Any]) -> str | None:
    """Why coordinates are none of one plane, where another column names several zones of a map."""
    for values in rest.values():
        if len(values) and _ZONE.fullmatch(str(values[0])):
            zones = sorted({str(value).upper() for value in values})
            if len(zones) > 1 and all(map(_ZONE.fullmatch, zones)):
                shown = " and ".join(zones[:2])
                return (
                    f"places are in several zones of a map, {shown}, and no distances are known between these"
                )
    return None


def doubt_about_signs(
    columns: Columns, rest: Mapping[int, Any], coordinates: NDArray[np.float64]
) -> str | None:
    """Why degrees may lack a sign, where their title or another column says south or west, or so of each."""
    titles = [columns.titles[at] for at in columns.positions] if columns.titles is not None else []
    for axis, (values, (positive, negative)) in enumerate(zip(coordinates.T, _SIDES, strict=True)):
        if (values < 0.0).any():
            continue
        both = {*positive, *negative, ""}
        end = _END.search(titles[axis]) if titles else None
        said, who = negative.intersection([end[1].upper()] if end else []), "the title of a column"
        for texts in rest.values():
            if not said and all(str(text).strip().upper() in both for text in texts):
                said, who = {str(text).strip().upper() for text in texts} & negative, "another column"
        if said:
            return (
                f"{who} says {quoted(min(said))} beside degrees without a sign: write south "
                f"and west with a minus sign; {as_metric('haversine')} takes the numbers as they are"
            )
    return None


def doubt_about_minutes(
    titles: Sequence[str] | None, rest: Mapping[int, Any], coordinates: NDArray[np.float64]
) -> str | None:
    """Why whole degrees may not be all, where a column each says that it has their minutes."""
    if titles is None or (coordinates != np.floor(coordinates)).any():
        return None
    parts = [at for at in rest if _MINUTES.search(titles[at]) and all(map(_is_part, rest[at]))]
    if len(parts) < 2:
        return None
    both = " and ".join(quoted(titles[at]) for at in parts[:2])
    return (
        f"columns {both} may be minutes beside whole degrees: write decimal degrees, or 52° 31' in one "
        f"column; {as_metric('haversine')} takes the degrees as they are"
    )


def _is_part(value: object) -> bool:
    """Whether this may be the minutes of an angle."""
    text = str(value).strip()
    return is_number(text) and 0.0 <= float(text.replace(",", ".").replace(MINUS, "-")) < 60.0


def _counts_rows(values: NDArray[np.float64]) -> bool:
    """Whether a column is 1, 2, 3, ... or 0, 1, 2, ...: numbers of places, not coordinates."""
    first = values[0]
    return first in (0.0, 1.0) and len(values) > 1 and np.array_equal(values, first + np.arange(len(values)))


def _could_be_ids(numbers: NDArray[np.float64]) -> bool:
    """Whether the first of three columns may number the places: different whole numbers, in order or not.

    If they are in no order, and the others are whole numbers as well, nothing speaks for that.
    """
    first = numbers[:, 0]
    if len(first) < 2 or (first[:_HEAD] != np.floor(first[:_HEAD])).any():
        return False
    if (first != np.floor(first)).any() or first.min() < 0.0:
        return False
    if (np.diff(first) > 0).all():
        return True
    others = numbers[:, 1:]
    fractions = np.mean((others != np.floor(others)).any(axis=1)) >= 0.5
    return bool(fractions and len(np.unique(first)) == len(first))


def _shown(titles: Sequence[Any]) -> str:
    return ", ".join(quoted(str(title)) for title in titles[:8]) + (", ..." if len(titles) > 8 else "")
