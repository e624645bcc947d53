"""Small instances of hostile numbers, and what every claim about them must be: `exact` says it.

`test_claims.py` takes some hundred of them; ``.ci/claims SECONDS`` takes new ones.
"""

import logging
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any

import exact
import numpy as np

import warptsp
from warptsp import Problem
from warptsp.errors import BackendUnavailable, InvalidProblem, NoTourFound, UnsupportedProblem
from warptsp.problem import OpenPath

MOST = 8  # cities, as a rule
SEARCHED, ONE_IN = 13, 300  # cities that are searched, by one in so many calls: half a second of the oracle
SHARE = Fraction(1, 10**12)  # of a real length, which "proved" leaves open
SHARE_OF_TREE = Fraction(10001, 10**11)  # the same of branch and cut
Draw = Callable[[random.Random], Any]


class FalseClaimError(AssertionError):
    """A claim that does not hold."""


def _integers(base: int, spread: int = 9) -> Draw:
    return lambda chance: base + chance.randint(-min(spread, base), spread)


def _hidden(chance: random.Random) -> float:
    return chance.choice([1e-3, 1.0, 1e12]) * (1 + chance.randint(0, 3))


# The entries of a matrix, by what is hostile about them.
FAMILIES: dict[str, Draw] = {
    "reals": random.Random.random,
    "ties and zeros": lambda chance: chance.choice([0.0, 0.0, 0.5, 1.0, 2.5]),
    "mostly zero": lambda chance: chance.choice([0.0, 0.0, 0.0, 2.5 * chance.random()]),
    "hidden": _hidden,
    "far apart": lambda chance: 10.0 ** chance.uniform(-278, 286),
    "two scales": lambda chance: chance.choice([1e-150, 3e-150, 1e160, 0.0]),
    "tiny": lambda chance: 5e-324 * chance.randint(0, 9),
    "tenths": lambda chance: chance.randint(0, 20) / 10,
    "whole reals": lambda chance: float(10**13 + chance.randint(0, 9)),
    "small integers": lambda chance: chance.randint(0, 9),
    "2**31": _integers(1 << 31),
    "2**32": _integers(1 << 32),
    "10**12": _integers(10**12),
    "10**13": _integers(10**13),
    "2**48": _integers(1 << 48),
    "2**53": _integers(1 << 53),
    "2**63": _integers(1 << 63),
    "10**30": _integers(10**30),
    "near ties": lambda chance: chance.choice([0, 10**25]) + chance.randint(0, 9),
    "large integers": lambda chance: chance.randint(0, 10**30),
    "integers far apart": lambda chance: chance.choice([0, 1, 2, 10**6, 10**12, 1 << 53, 10**20, 10**40 + 1]),
}
PROVING = ("solve", "kicks", "exact", "many")  # of up to `MOST` cities
CALLS = ("solve", "kicks", "time", "exact", "two-opt", "many", "many in time", "bound", "prove")


@dataclass(frozen=True)
class Case:
    """An instance, and the call that makes claims about it."""

    family: str
    call: str
    matrix: Any
    asymmetric: bool = False
    open: Any = None  # as `exact.optimum` takes it
    fixed: list[tuple[int, int]] = field(default_factory=list)
    wall: int | None = None  # of integers: the entry of a missing arc

    def problem(self) -> Problem:
        """Return the instance as the package takes it."""
        path = None if self.open is None else OpenPath() if self.open is True else OpenPath(*self.open)
        return Problem.from_matrix(
            self.matrix,
            asymmetric=self.asymmetric,
            open=path,
            fixed_edges=np.array(self.fixed, dtype=np.int32).reshape(-1, 2),
            wall=self.wall,
        )

    def best(self) -> tuple[int | Fraction, list[int]] | None:
        """Return the optimum."""
        return exact.optimum(self.entries(), open=self.open, fixed=self.fixed, directed=self.asymmetric)

    def entries(self) -> list[list[Any]]:
        """Return the matrix with None for missing arcs."""
        return [[None if self.wall is not None and d >= self.wall else d for d in row] for row in self.matrix]


def case(seed: int) -> Case:
    """Return the instance of a seed."""
    chance = random.Random(seed)
    family, call = chance.choice(list(FAMILIES)), chance.choice(CALLS)
    n = chance.choice([1, 2, 2, 3, 3, 4, 5, 5, 6, 6, 7, MOST])
    if chance.randrange(ONE_IN) == 0:
        n = SEARCHED
    draw = FAMILIES[family]
    matrix = [[0 if i == j else draw(chance) for j in range(n)] for i in range(n)]
    whole = isinstance(draw(chance), int)
    asymmetric = call not in ("two-opt", "bound", "prove") and chance.random() < 0.4
    wall = None
    if n > 2 and chance.random() < 0.35:
        missing: Any = inf
        if whole and chance.random() < 0.8:
            wall = missing = chance.choice([1 << 53, 10**41])
        share = chance.choice([0.2, 0.5, 0.8])
        kept = set()
        if chance.random() < 0.7:  # with a cycle that is there
            cycle = chance.sample(range(n), n)
            kept = set(zip(cycle, cycle[1:] + cycle[:1], strict=True))
        for i in range(n):
            for j in range(n):
                if i != j and (i, j) not in kept and chance.random() < share:
                    matrix[i][j] = missing
    if not asymmetric:
        for i in range(n):
            for j in range(i):
                matrix[i][j] = matrix[j][i] = min(matrix[i][j], matrix[j][i])
    open_ = None
    if chance.random() < 0.4:
        open_ = chance.choice([True, (None, None), (0, None), (None, n - 1), (0, n - 1)] if n > 1 else [True])
    fixed: list[tuple[int, int]] = []
    if n > 4 and chance.random() < 0.25:
        fixed = [(2, 1), (1, 3)][: chance.randint(1, 2)]
        if not asymmetric and chance.random() < 0.3 and open_ is None:
            fixed.append((0, 4))
    if whole:
        large = max((d for row in matrix for d in row if d != inf), default=0) > 1 << 53
        kind = np.object_ if large or any(inf in row for row in matrix) else np.int64
        return Case(family, call, np.array(matrix, dtype=kind), asymmetric, open_, fixed, wall)
    return Case(family, call, np.array(matrix, dtype=np.float64), asymmetric, open_, fixed)


def claims_of(given: Case) -> Iterator[tuple[Any, Any, bool, Any, Fraction]]:
    """Make the call; tour, length, whether it is proved, lower bound, and what "proved" leaves open."""
    problem, few = given.problem(), {"threads": 1, "device": "cpu"}
    if given.call == "prove":
        proof = warptsp.prove(problem, threads=1, time_limit=5)
        yield proof.tour, proof.length, proof.proved, proof.lower_bound, SHARE_OF_TREE
        return
    if given.call == "bound":
        bound = warptsp.lower_bound(problem, iterations=20, **few).value
        yield None, None, False, bound, SHARE
        return
    if given.call.startswith("many"):
        limit = {"time_limit": 0.05} if given.call == "many in time" else {}
        found = warptsp.solve_many([problem, problem], threads=1, **limit)
        if found.errors:
            raise found.errors[0]
        results = [found[0], found[1]]
    elif given.call in ("exact", "two-opt"):
        results = [warptsp.solve(problem, method=given.call, **few)]
    else:
        limit = {"kicks": {"kicks": 20}, "time": {"time_limit": 0.01}}.get(given.call, {})
        results = [warptsp.solve(problem, **limit, **few)]
    for result in results:
        yield result.tour, result.length, result.proved_optimal, result.lower_bound, SHARE


def check(given: Case) -> None:
    """Make the call of a case, and compare what it claims with the optimum.

    Raises
    ------
    FalseClaimError
    """
    best = given.best()
    withdrawn: list[str] = []
    heard = logging.Handler()
    heard.emit = lambda record: withdrawn.append(record.getMessage())  # type: ignore[method-assign]
    gate = logging.getLogger("warptsp.claims")
    gate.addHandler(heard)
    try:
        for tour, length, proved, bound, share in claims_of(given):
            _check(given, best, tour, length, proved, bound, share)
    except (
        UnsupportedProblem,
        BackendUnavailable,
    ):  # such as where HiGHS is not installed
        pass
    except (InvalidProblem, NoTourFound) as error:
        says_so = error.proved if isinstance(error, NoTourFound) else "there is no tour" in str(error)
        if says_so and best is not None:
            raise FalseClaimError(f"{error}, but {best}") from error
        if best is not None and len(given.matrix) <= MOST and given.call in ("solve", "exact"):
            raise FalseClaimError(f"{type(error).__name__}: {error}, but {best}") from error
    finally:
        gate.removeHandler(heard)
    if withdrawn:
        raise FalseClaimError(f"withdrawn: {withdrawn}")


def _check(given: Case, best: Any, tour: Any, length: Any, proved: bool, bound: Any, share: Fraction) -> None:
    def expect(holds: bool, what: str) -> None:
        if not holds:
            raise FalseClaimError(f"{what}: length {length!r}, proved {proved}, bound {bound!r}, best {best}")

    expect(best is not None or tour is None, "a tour where there is none")
    optimum = inf if best is None else best[0]
    expect(bound is None or Fraction(bound) <= optimum, "the bound is above the optimum")
    if tour is None:
        return
    own = exact.length(given.entries(), tour, open=given.open)
    expect(own is not None, "an arc of the tour is missing")
    assert own is not None
    if given.matrix.dtype != np.float64:
        expect(type(length) is int and length == own, f"not the length of the tour, {own}")
        expect(not proved or own == optimum, "not optimal")
        expect(bound is None or type(bound) is int, "the bound is no integer")
    else:
        expect(length == float(own), f"not the length of the tour, {float(own)!r}")
        expect(not proved or own * (1 - share) <= optimum, "not optimal")
    expect(bound is None or bound <= length, "the bound is above the length")
    expect(proved or len(given.matrix) > MOST or given.call not in PROVING, "nothing is proved")
