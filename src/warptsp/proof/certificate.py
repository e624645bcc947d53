"""Certificates of optimality, and unfinished proofs, in files."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from warptsp._checks import shown
from warptsp._words import counted
from warptsp.errors import ParseError
from warptsp.outputs import atomic_write

from .check import MAX_PRICE, is_complete, is_valid, native_least_walk
from .closed_instance import exponent_for, has_dummy_city, has_one_tour, largest_exponent
from .evidence import Branch, Certificate, Evidence, Node

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from warptsp.problem import Problem

    from .branch_and_cut import BranchAndCut
    from .evidence import CutDescription

__all__ = [
    "FORMAT",
    "FORMAT_UNFINISHED",
    "certificate_of",
    "certificate_of_tour",
    "is_proof",
    "read_proof",
    "read_unfinished",
    "write_proof",
    "write_unfinished",
]

FORMAT = "warptsp proof of optimality"
FORMAT_UNFINISHED = "warptsp unfinished proof"
_MAX_ENTRY = 2**24


# Writing


def write_proof(path: str | os.PathLike[str], problem: Problem, certificate: Certificate) -> None:
    """Write a finished proof as JSON.

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    _write(path, _document_of(FORMAT, problem, certificate))


def write_unfinished(path: str | os.PathLike[str], problem: Problem, certificate: Certificate) -> None:
    """Write where a proof is, for another run to go on from there.

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    document = _document_of(FORMAT_UNFINISHED, problem, certificate)
    _write(path, {**document, "open": [_leaf_as_json(node) for node in certificate.open]})


def certificate_of(problem: Problem, state: BranchAndCut) -> Certificate:
    """Return what branch and cut has come to."""
    tour = state.instance.open(state.tour)
    return Certificate(
        length=problem.length(tour),
        tour=tour,
        exponent=state.instance.exponent,
        cuts=state.cuts,
        elimination=state.elimination,
        leaves=state.leaves,
        open=state.open_nodes(),
    )


def certificate_of_tour(problem: Problem, tour: NDArray[np.int32]) -> Certificate:
    """Return what is known before the first step: a tour; of few cities that it is the only one."""
    length = problem.length(tour)
    size = problem.n + has_dummy_city(problem)
    whole = Node((), Evidence(0, np.zeros(size, dtype=np.int64), ()))
    nodes = [] if has_one_tour(problem) else [whole]
    return Certificate(length, tour, exponent_for(problem, length), {}, None, [], nodes)


def _document_of(form: str, problem: Problem, certificate: Certificate) -> dict[str, Any]:
    evidences = [leaf.evidence for leaf in [*certificate.leaves, *certificate.open]]
    if certificate.elimination is not None:
        evidences.append(certificate.elimination)
    named = {number for evidence in evidences for number, _ in evidence.cuts}
    elimination = certificate.elimination
    return {
        "format": form,
        "instance": problem.name,
        "cities": problem.n,
        "length": certificate.length,
        "exponent": certificate.exponent,
        "tour": certificate.tour.tolist(),
        "cuts": {str(number): _cut_as_json(certificate.cuts[number]) for number in sorted(named)},
        "elimination": None if elimination is None else _evidence_as_json(elimination),
        "leaves": [_leaf_as_json(leaf) for leaf in certificate.leaves],
    }


def _write(path: str | os.PathLike[str], document: dict[str, Any]) -> None:
    with atomic_write(path) as file:
        file.write((json.dumps(document) + "\n").encode())


def _leaf_as_json(leaf: Node) -> dict[str, Any]:
    branches = [[list(branch.cities), branch.crossings] for branch in leaf.branches]
    return {"branches": branches, **_evidence_as_json(leaf.evidence)}


def _evidence_as_json(evidence: Evidence) -> dict[str, Any]:
    return {"prices": evidence.cities.tolist(), "cuts": [list(entry) for entry in evidence.cuts]}


def _cut_as_json(cut: CutDescription) -> dict[str, Any]:
    class_of, lengths, bound, comb = cut
    classes = [np.flatnonzero(class_of == k).tolist() for k in range(1, len(lengths))]
    return {"classes": classes, "lengths": lengths.tolist(), "bound": bound, "comb": comb}


# Reading


def is_proof(path: str | os.PathLike[str]) -> bool:
    """Return whether a file says that it is a certificate of optimality; other files are not judged."""
    document = _document(path)[0]
    return isinstance(document, dict) and document.get("format") == FORMAT


def _document(path: str | os.PathLike[str]) -> tuple[Any, str]:
    from warptsp.io._files import contents, named, reading  # `solve` imports this module, and reads no files

    file = named(path)
    with reading(file):
        data, file = contents(file)
    try:
        return json.loads(data), file
    except (ValueError, RecursionError) as error:
        raise ParseError(f"is not JSON: {' '.join(str(error).split())}", file=file) from None


def read_proof(path: str | os.PathLike[str], problem: Problem) -> Certificate:
    """Read what a certificate of optimality claims; `proven_bound` tells whether that is true.

    Raises
    ------
    ParseError
        The file holds no certificate of an instance with so many cities.
    """
    document, file = _document(path)
    return _Reader(file, problem).read(document)


def read_unfinished(path: str | os.PathLike[str], problem: Problem) -> Certificate:
    """Read where a proof was; its cuts are valid, and its bounds are still to be computed.

    Raises
    ------
    ParseError
        The file holds no unfinished proof of an instance with so many cities, or a cut that some tour
        violates.
    InvalidTour
        The tour is not one of this instance.
    """
    document, file = _document(path)
    certificate = _Reader(file, problem).read(document, FORMAT_UNFINISHED, "an unfinished proof")
    problem.check_tour(certificate.tour)
    if problem.length(certificate.tour) != certificate.length:
        raise ParseError(
            f"claims a length of {certificate.length}, and its tour has {problem.length(certificate.tour)}",
            file=file,
        )
    branches = [node.branches for node in [*certificate.leaves, *certificate.open]]
    if not has_one_tour(problem) and not is_complete(branches):
        raise ParseError("its branches leave something out", file=file)
    if any(len({branch.cities for branch in node}) != len(node) for node in branches):
        raise ParseError("a node has two branches on one set of cities", file=file)
    for number, cut in certificate.cuts.items():
        if not is_valid(cut, native_least_walk):
            raise ParseError(f"cut {number} is not valid: a tour may violate it", file=file)
    return certificate


class _Reader:
    def __init__(self, file: str, problem: Problem) -> None:
        self._file, self._problem = file, problem
        self._size = problem.n + has_dummy_city(problem)

    def read(self, document: Any, form: str = FORMAT, what: str = "a certificate") -> Certificate:
        if not isinstance(document, dict) or document.get("format") != form:
            self._fail(f'is not {what}: an object with "format": "{form}" is needed')
        cities = self._whole(document.get("cities"), "cities", 1, 2**31 - 1)
        if cities != self._problem.n:
            self._fail(f"is {what} for {counted(cities)}, and the instance has {self._problem.n}")
        tour = self._array(document.get("tour"), "tour", 0, cities - 1, cities).astype(np.int32)
        cuts = {
            self._whole(_number(name), "the number of a cut", 0, 2**62): self._cut(cut)
            for name, cut in self._mapping(document.get("cuts"), "cuts").items()
        }
        elimination = document.get("elimination")
        length = document.get("length")
        if not isinstance(length, (int, float)) or isinstance(length, bool) or not 0 <= length < 2**1000:
            self._fail(f"length is {shown(length)}: a number not below 0 is needed")
        return Certificate(
            length=length,
            tour=tour,
            exponent=self._exponent(document.get("exponent")),
            cuts=cuts,
            elimination=None if elimination is None else self._evidence(elimination, cuts),
            leaves=[self._leaf(leaf, cuts) for leaf in self._list(document.get("leaves"), "leaves")],
            open=[self._leaf(node, cuts) for node in self._list(document.get("open", []), "open")],
        )

    def _fail(self, message: str) -> NoReturn:
        raise ParseError(message, file=self._file)

    def _whole(self, value: Any, name: str, least: int, most: int) -> int:
        if type(value) is not int or not least <= value <= most:
            self._fail(f"{name} is {shown(value)}: an integer from {least} to {most} is needed")
        return value

    def _exponent(self, value: Any) -> int:
        """Lengths in these units are whole numbers that have fewer than 49 bits."""
        return self._whole(value, "exponent", -1100, min(1100, largest_exponent(self._problem)))

    def _list(self, value: Any, name: str) -> list[Any]:
        if not isinstance(value, list):
            self._fail(f"{name} is {shown(value)}: a list is needed")
        return value

    def _mapping(self, value: Any, name: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self._fail(f"{name} is {shown(value)}: an object is needed")
        return value

    def _array(self, value: Any, name: str, least: int, most: int, size: int) -> NDArray[np.int64]:
        numbers = self._list(value, name)
        if len(numbers) != size:
            self._fail(f"{name} has {len(numbers)} numbers: {size} are needed")
        return np.array([self._whole(number, name, least, most) for number in numbers], dtype=np.int64)

    def _cut(self, value: Any) -> CutDescription:
        cut = self._mapping(value, "a cut")
        class_of = np.zeros(self._size, dtype=np.int32)
        classes = self._list(cut.get("classes"), "the classes of a cut")
        for number, cities in enumerate(classes, 1):
            for city in self._list(cities, "a class"):
                class_of[self._whole(city, "a city", 0, self._size - 1)] = number
        k = len(classes) + 1
        rows = self._list(cut.get("lengths"), "the lengths of a cut")
        if len(rows) != k:
            self._fail(f"the lengths of a cut have {len(rows)} rows: {k} are needed")
        lengths = np.array([self._array(row, "the lengths of a cut", 0, _MAX_ENTRY, k) for row in rows])
        comb = [
            [self._whole(c, "a class", 0, k - 1) for c in self._list(classes, "a set of a comb")]
            for classes in self._list(cut.get("comb"), "a comb")
        ]
        bound = self._whole(cut.get("bound"), "the right side of a cut", 0, _MAX_ENTRY)
        return class_of, lengths.astype(np.int32), bound, comb

    def _evidence(self, value: Any, cuts: Mapping[int, Any]) -> Evidence:
        entry = self._mapping(value, "a leaf")
        prices = self._array(entry.get("prices"), "a price", -MAX_PRICE, MAX_PRICE, self._size)
        priced = []
        for pair in self._list(entry.get("cuts"), "the cuts of a leaf"):
            number, price = self._array(pair, "the price of a cut", -MAX_PRICE, MAX_PRICE, 2).tolist()
            if number not in cuts:
                self._fail(f"there is no cut {number}")
            priced.append((number, price))
        return Evidence(0, prices, tuple(priced))

    def _leaf(self, value: Any, cuts: Mapping[int, Any]) -> Node:
        entry = self._mapping(value, "a leaf")
        branches = []
        for pair in self._list(entry.get("branches"), "branches"):
            parts = self._list(pair, "a branch")
            if len(parts) != 2 or parts[1] not in (2, 4) or not isinstance(parts[0], list):
                self._fail(f"a branch is {shown(pair)}: cities and 2 or 4 are needed")
            cities = sorted({self._whole(city, "a city", 0, self._size - 1) for city in parts[0]})
            if not 2 <= len(cities) <= self._size - 2 or len(cities) != len(parts[0]):
                self._fail("a branch is not one of two cities or more, and not of all but one")
            branches.append(Branch(tuple(cities), int(parts[1])))
        return Node(tuple(branches), self._evidence(entry, cuts))


def _number(name: str) -> int | str:
    return int(name) if name.isascii() and name.isdigit() and len(name) < 20 else name
