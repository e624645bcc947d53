"""3-opt: the triple that belongs to a number, by the published formulas in double precision.

Ours uses integers (`native/papers/exhaustive/move_numbers.h`). Triples i > j > k are numbered by i, then by
j, then by k.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reproduce.harness import Cell, Results, Section, Setting, published

DOCUMENT = "000"
TABLES = ("4.23", "4.24")
LARGEST = 3_000_000  # number that formulas are tried with

Numbers = NDArray[np.int64]


def cells(setting: Setting) -> Iterator[Cell]:
    if setting.device == "cpu":
        yield from map(Cell, TABLES)


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    numbers = np.arange(1, LARGEST + 1)
    right = np.searchsorted(below(np.arange(1, 1000)), numbers, side="right")
    if cell.name == "4.23":
        wrong = numbers[as_printed(numbers) != right]
        rows = published("000").rows("4.23")
        found = [wrong[(row["first"] <= wrong) & (wrong <= row["last"])].tolist() for row in rows]
        values = [[int(right[row["first"] - 1]), int(right[row["last"] - 1])] for row in rows]
        return {"wrong": found, "i": values, "all_wrong": len(wrong)}
    first = mended(numbers)
    j, k = rest(numbers, first, 1)
    i_then = first + (first == j)
    j_then, k_then = rest(numbers, i_then, 1)
    off = (i_then != right) | (k_then < 0) | (k_then >= j_then) | (j_then >= i_then)
    table = np.transpose([numbers, first, j, k, i_then, j_then, k_then])
    as_in_4_9 = [int(value[0]) for value in rest(np.array([2]), np.array([3]), 3)]
    example = [int(value[0]) for value in rest(np.array([2]), np.array([3]), 1)]
    return {
        "rows": table[: len(published("000").rows("4.24"))].tolist(),
        "off": int(off.sum()),
        "formula_4_9": [as_in_4_9, example],
    }


def below(i: Numbers) -> Numbers:
    """Return how many triples have a first index below i."""
    return i * (i - 1) * (i - 2) // 6


def as_printed(numbers: Numbers) -> Numbers:
    """Return i by formula 4.8."""
    root = np.sqrt(9.0 * numbers * numbers - 1 / 9)
    return np.floor(np.cbrt(3.0 * numbers + root) + np.cbrt(3.0 * numbers - root) + 1).astype(np.int64)


def mended(numbers: Numbers) -> Numbers:
    """Return i by the document's second formula, to which 1 is added if it equals j."""
    root = np.sqrt(9.0 * numbers * numbers - 1 / 9)
    return np.floor(np.cbrt(3.0 * numbers + root) + 1).astype(np.int64)


def rest(numbers: Numbers, i: Numbers, summand: int) -> tuple[Numbers, Numbers]:
    """Return j by formula 4.9, which prints 3 as the summand before the root, and k by formula 4.10."""
    left = numbers - below(i)
    j = np.floor((summand + np.sqrt(8.0 * left + 1)) / 2).astype(np.int64)
    return j, left - j * (j - 1) // 2


def report(results: Results) -> list[Section]:
    wrong, triples = (results.get(table, "cpu") for table in TABLES)
    if wrong is None or triples is None:
        return []
    rows = [
        [f"{row['first']} to {row['last']}", row["i"], _listed(row["wrong"]), _listed(found)]
        for row, found in zip(published("000").rows("4.23"), wrong["wrong"], strict=True)
    ]
    text = (
        f"Formula 4.8 in double precision: {wrong['all_wrong']} of the first {LARGEST} numbers get a wrong i."
    )
    words = ["numbers", "i", "wrong, published", "computed"]
    sections = [Section("Table 4.23: numbers that the formula gets wrong", words, rows, text)]
    names = ("i", "j", "k", "i_then", "j_then", "k_then")
    theirs = [[row["id"], *(row[name] for name in names)] for row in published("000").rows("4.24")]
    rows = [
        [ours[0], *(_listed(part) for line in (row, ours) for part in (line[1:4], line[4:]))]
        for row, ours in zip(theirs, triples["rows"], strict=True)
        if row != ours
    ]
    (printed, _), (needed, _) = triples["formula_4_9"]
    text = (
        f"The mended formula and its `if` get {triples['off'] or 'none'} of the first {LARGEST} numbers "
        f"wrong. {len(theirs) - len(rows)} of {len(theirs)} rows are as published; the others are misprints, "
        f"as is 3 before the root in formula 4.9, where 1 gives the example: number 2 has j = {needed}, not "
        f"{printed}."
    )
    words = ["number", "i, j, k, published", "then, published", "i, j, k, computed", "then, computed"]
    return [*sections, Section("Table 4.24: triples by the mended formula", words, rows, text)]


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))
