"""The group of each place, as people give it."""

import logging
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp._words import as_called, did_you_mean, folded
from warptsp.errors import InvalidOption
from warptsp.problem import Problem
from warptsp.problem.names import words_for

_log = logging.getLogger(__name__)


def owners_of(problem: Problem, groups: str | Sequence[Any]) -> NDArray[np.intp]:
    """Return the group of each place, numbered from 0."""
    if isinstance(groups, str):
        columns = _columns(problem)
        titles = [groups] if groups in columns else [t for t in columns if folded(t) == folded(groups)]
        if len(titles) != 1:
            there = (", ".join(columns) or "none") + did_you_mean(groups, columns)
            option = as_called("groups", "--groups")
            raise InvalidOption(
                f"{option}: there is no column {shown(groups)}; columns beside the coordinates: {there}"
            )
        groups = list(columns[titles[0]])
    if not isinstance(groups, Iterable):
        raise InvalidOption(f"groups: {shown(groups)} is no list of groups")
    given = list(groups)
    if given and all(
        isinstance(group, Collection) and not isinstance(group, (str, bytes)) for group in given
    ):
        return _of_lists(problem, given)
    if len(given) != problem.n:
        raise InvalidOption(f"groups: {len(given)} for {problem.n} places; one for each is needed")
    numbers: dict[Any, int] = {}
    owner = np.empty(problem.n, dtype=np.intp)
    for place, group in enumerate(given):
        name = group.strip() if isinstance(group, str) else group
        if isinstance(name, (float, np.floating)) and name == np.floor(name):
            name = int(name)  # a column of numbers with gaps
        if name is None or name == "" or (isinstance(name, (float, np.floating)) and name != name):
            raise InvalidOption(f"groups: place {problem.label(place)} is in no group")
        if isinstance(name, bool) or not isinstance(name, (str, int, np.integer)):
            raise InvalidOption(
                f"groups: that of place {problem.label(place)} is {shown(group)}: a text or an integer "
                "is needed"
            )
        owner[place] = numbers.setdefault(name, len(numbers))
    alike: dict[str, Any] = {}
    for name in numbers:
        if (first := alike.setdefault(folded(str(name)), name)) is not name:
            _log.warning(
                "groups: %s and %s count as two: write them alike if they are one", shown(first), shown(name)
            )
    return owner


def _columns(problem: Problem) -> dict[str, Sequence[Any]]:
    """The columns that may hold groups: names of places may be those of their groups."""
    called = None if problem.style is None else problem.style.title_of("name")
    names = {} if called is None or problem.labels is None else {called: problem.labels}
    return {**names, **(problem.extra or {})}


def check_ends(problem: Problem, owner: NDArray[np.intp]) -> None:
    """Refuse a path between two places of one group, of which it visits one."""
    path = problem.open
    if path is None or path.start is None or path.end is None or owner[path.start] != owner[path.end]:
        return
    ends = " and ".join(words_for(problem, end) for end in (path.start, path.end))
    raise InvalidOption(f"the ends of the path, {ends}, are in one group, of which it visits one place")


def _of_lists(problem: Problem, groups: list[Collection[Any]]) -> NDArray[np.intp]:
    owner = np.full(problem.n, -1, dtype=np.intp)
    for number, group in enumerate(groups):
        if not len(group):
            raise InvalidOption(f"groups: group {number} (counted from 0) is empty")
        for place in group:
            whole = isinstance(place, (int, np.integer)) and not isinstance(place, bool)
            if not whole or not 0 <= place < problem.n:
                raise InvalidOption(
                    f"groups: group {number} has place {shown(place)}: places are 0 to {problem.n - 1}"
                )
            if owner[place] >= 0:
                raise InvalidOption(
                    f"groups: place {problem.label(int(place))} is twice in groups, {owner[place]} and "
                    f"{number} (counted from 0)"
                )
            owner[place] = number
    if (owner < 0).any():
        raise InvalidOption(f"groups: place {problem.label(int(np.argmin(owner)))} is in no group")
    return owner
