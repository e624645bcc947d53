"""Tables with a line for each arc: where it begins, where it ends, and what it costs."""

import logging
import re
from collections.abc import Sequence

import numpy as np

from warptsp.errors import InvalidProblem
from warptsp.io._text import as_integers, quoted
from warptsp.problem import Problem
from warptsp.problem.matrices import matrix_of_arcs
from warptsp.problem.values import real_array

from .rows import Table, shown_lines
from .titles import common_unit

_log = logging.getLogger(__name__)

_TAILS = ("from", "source", "origin")
_HEADS = ("to", "target", "destination")
_COSTS = ("cost", "distance", "duration", "time", "weight")


def names_arcs(titles: Sequence[str]) -> bool:
    """Whether these are the names of the columns of such a table."""
    return all(_place(titles, words) is not None for words in (_TAILS, _HEADS, _COSTS))


def _place(titles: Sequence[str], words: Sequence[str]) -> int | None:
    lower = list(map(_word, titles))
    return next((lower.index(word) for word in words if word in lower), None)


def _word(title: str) -> str:
    """A title without its unit in brackets, such as ``distance`` for ``Distance (km)``."""
    return re.sub(r"\s*[(\[][^()\[\]]*[)\]]$", "", title.strip().lower())


def arcs_problem(table: Table, titles: Sequence[str], *, skip_incomplete: bool = False) -> Problem:
    """The asymmetric instance in a table of arcs; those that it does not have are missing.

    Cities are numbered in the order of their first lines, and have the names that stand there.
    """
    tail, head, cost = (_place(titles, words) or 0 for words in (_TAILS, _HEADS, _COSTS))
    if skip_incomplete:
        table.skip_incomplete([tail, head, cost])
    others = [title for at, title in enumerate(titles) if at != cost and _word(title) in _COSTS]
    if others:
        _log.warning(
            "%s: arcs cost what column %s says: remove it if they cost what %s says",
            table.file, quoted(titles[cost]), " or ".join(map(quoted, others)))  # fmt: skip
    number: dict[str, int] = {}
    seen: dict[tuple[int, int], int] = {}
    costs, texts = [], []
    for line, fields in table.rows():
        if len(fields) != len(titles):
            table.fail(f"{len(fields)} fields: the first line has {len(titles)}", line)
        ends = []
        for place in (tail, head):
            if not (name := fields[place].strip()):
                table.fail(
                    f"nothing in column {titles[place]}: the name of a city is needed", line, titles[place]
                )
            ends.append(number.setdefault(name, len(number)))
        if (first := seen.setdefault((ends[0], ends[1]), line)) != line:
            table.fail(
                f"the arc from {quoted(fields[tail])} to {quoted(fields[head])} stands in "
                f"{shown_lines([first], table.rows_called)}, too",
                line,
            )
        costs.append(table.number(fields[cost].strip(), line, titles[cost]))
        texts.append(fields[cost])
    table.check_thousands([cost])
    table.warn_of_blanks(len(costs) + len(table.incomplete))
    table.tell_of_incomplete(None, "a cost or an end")
    if len(number) > 2 and seen.keys().isdisjoint((b, a) for a, b in seen if a != b):
        _log.warning(
            "%s: no arc has one that leads back: write both directions of a two-way street", table.file
        )
    if not costs:
        table.fail("has no lines below the names of the columns: a line for each arc is needed")
    unit = common_unit([titles[cost]]) if _word(titles[cost]) == "distance" else ""  # (m) may be minutes
    tails, heads = np.array(list(seen), dtype=np.int64).T
    try:
        values = real_array(as_integers(np.array(costs), lambda: texts), "the costs", any_size=True)
        matrix, missing = matrix_of_arcs(tails, heads, values, len(number))
        return Problem.from_matrix(
            matrix, labels=list(number), asymmetric=True, wall=missing, style=table.style(), unit=unit
        )
    except InvalidProblem as error:
        table.fail(str(error))
