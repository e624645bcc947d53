"""Certificates of optimality, and unfinished proofs, in files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warptsp._checks import shown
from warptsp.bound.certificate import as_json, bound_of
from warptsp.bound.document import Document, write_document
from warptsp.problem import Problem
from warptsp.problem.places import Places
from warptsp.proof.check import MAX_PRICE, is_complete, is_valid, native_least_walk
from warptsp.proof.closed_instance import (
    exponent_for,
    has_dummy_city,
    has_one_tour,
    largest_exponent,
    provable_places,
)
from warptsp.proof.evidence import Branch, Certificate, CutDescription, Evidence, Node

if TYPE_CHECKING:
    from warptsp.bound.held_karp import LowerBound
    from warptsp.proof.branch_and_cut import BranchAndCut

FORMAT = "warptsp proof of optimality"
FORMAT_UNFINISHED = "warptsp unfinished proof"
_MAX_ENTRY = 2**24


# Writing


def write_proof(path: str | os.PathLike[str], problem: Problem, certificate: Certificate) -> None:
    """Write a finished proof as JSON. Raises `OutputError` if the file cannot be written."""
    write_document(path, _content_of(FORMAT, problem, certificate))


def write_unfinished(path: str | os.PathLike[str], problem: Problem, certificate: Certificate) -> None:
    """Write where a proof is, for another run to go on from there, as `write_proof` does."""
    content = _content_of(FORMAT_UNFINISHED, problem, certificate)
    write_document(path, {**content, "open": [_node_as_json(node) for node in certificate.open]})


def certificate_of(problem: Problem, state: BranchAndCut, trees: LowerBound | None) -> Certificate:
    """Return what branch and cut has come to, and the bound that there was before."""
    tour = state.instance.open(state.tour)
    return Certificate(
        length=problem.length(tour),
        tour=tour,
        exponent=state.instance.exponent,
        cuts=state.cuts,
        elimination=state.elimination,
        leaves=state.leaves,
        open=state.open_nodes(),
        places=None if state.instance.places is None else state.instance.seen.n,
        trees=trees,
    )


def certificate_of_tour(
    problem: Problem, tour: NDArray[np.int32], places: Places | None, trees: LowerBound | None
) -> Certificate:
    """Return what is known before the first step: a tour, of few cities that it is the only one; a bound."""
    length = problem.length(tour)
    seen = problem if places is None else places.problem
    whole = Node((), Evidence(0, np.zeros(seen.n + has_dummy_city(seen), dtype=np.int64), ()))
    nodes = [] if has_one_tour(problem) else [whole]
    exponent = exponent_for(seen, length)
    return Certificate(length, tour, exponent, {}, None, [], nodes, None if places is None else seen.n, trees)


def _content_of(form: str, problem: Problem, certificate: Certificate) -> dict[str, Any]:
    evidences = [leaf.evidence for leaf in [*certificate.leaves, *certificate.open]]
    if certificate.elimination is not None:
        evidences.append(certificate.elimination)
    named = {number for evidence in evidences for number, _ in evidence.cuts}
    elimination = certificate.elimination
    return {
        "format": form,
        "instance": problem.name,
        "cities": problem.n,
        **({} if certificate.places is None else {"places": certificate.places}),
        **({} if certificate.trees is None else {"trees": as_json(certificate.trees)}),
        "length": certificate.length,
        "exponent": certificate.exponent,
        "tour": certificate.tour.tolist(),
        "cuts": {str(number): _cut_as_json(certificate.cuts[number]) for number in sorted(named)},
        "elimination": None if elimination is None else _evidence_as_json(elimination),
        "leaves": [_node_as_json(leaf) for leaf in certificate.leaves],
    }


def _node_as_json(node: Node) -> dict[str, Any]:
    branches = [[list(branch.cities), branch.least, branch.most] for branch in node.branches]
    return {"branches": branches, **_evidence_as_json(node.evidence)}


def _evidence_as_json(evidence: Evidence) -> dict[str, Any]:
    order = {} if evidence.order is None else {"order": evidence.order.tolist()}
    return {"prices": evidence.cities.tolist(), "cuts": [list(entry) for entry in evidence.cuts], **order}


def _cut_as_json(cut: CutDescription) -> dict[str, Any]:
    class_of, lengths, bound, comb = cut
    classes = [np.flatnonzero(class_of == k).tolist() for k in range(1, len(lengths))]
    return {"classes": classes, "lengths": lengths.tolist(), "bound": bound, "comb": comb}


# Reading


def is_proof(path: str | os.PathLike[str]) -> bool:
    """Return whether a file says that it is a proof, finished or not; other files are not judged."""
    document = Document(path)
    return document.is_of(FORMAT) or document.is_of(FORMAT_UNFINISHED)


def read_proof(path: str | os.PathLike[str], problem: Problem) -> Certificate:
    """Read a certificate of optimality, or of the bound of an unfinished proof, for `proven_bound`.

    Raises `ParseError`: the file holds no certificate of an instance with so many cities.
    """
    document = Document(path)
    form = FORMAT_UNFINISHED if document.is_of(FORMAT_UNFINISHED) else FORMAT
    return _Reader(document, problem).read(form, "a certificate")


def read_unfinished(path: str | os.PathLike[str], problem: Problem) -> Certificate:
    """Read where a proof was; its cuts are valid, and its bounds are still to be computed.

    Raises `ParseError`: the file holds no unfinished proof of an instance with so many cities, or a cut that
    some tour violates; `InvalidTour`: the tour is not one of this instance.
    """
    document = Document(path)
    certificate = _Reader(document, problem).read(FORMAT_UNFINISHED, "an unfinished proof")
    problem.check_tour(certificate.tour)
    length = problem.length(certificate.tour)
    if length != certificate.length:
        document.fail(f"claims a length of {certificate.length}, and its tour has {length}")
    branches = [node.branches for node in [*certificate.leaves, *certificate.open]]
    if not has_one_tour(problem) and not is_complete(branches):
        document.fail("its branches leave something out")
    if any(len({branch.cities for branch in node}) != len(node) for node in branches):
        document.fail("a node has two branches on one set of cities")
    for number, cut in certificate.cuts.items():
        if not is_valid(cut, native_least_walk):
            document.fail(f"cut {number} is not valid: a tour may violate it")
    return certificate


class _Reader:
    def __init__(self, document: Document, problem: Problem) -> None:
        self._document, self._problem = document, problem
        self._size = problem.n + has_dummy_city(problem)

    def read(self, form: str, what: str) -> Certificate:
        document, n = self._document, self._problem.n
        document.check(form, what, self._problem)
        if (count := document["places"]) is not None:
            problem = self._problem if self._problem.reduced is None else self._problem.reduced.problem
            places = provable_places(problem)
            here = problem.n if places is None else places.problem.n
            if count != here or places is None:
                document.fail(f"places is {shown(count)}, and the instance has {here}")
            self._size += here - n
        cuts = {
            document.whole(_number(name), "the number of a cut", 0, 2**62): self._cut(cut)
            for name, cut in document.members(document["cuts"], "cuts").items()
        }
        elimination, trees = document["elimination"], document["trees"]
        # Lengths in these units are whole numbers that have fewer than 49 bits.
        length = document.length("length", integral=False)
        finest = min(1100, largest_exponent(self._problem, length))
        return Certificate(
            length=length,
            tour=document.array(document["tour"], "tour", 0, n - 1, n).astype(np.int32),
            exponent=document.whole(document["exponent"], "exponent", -1100, finest),
            cuts=cuts,
            elimination=None if elimination is None else self._evidence(elimination, cuts),
            leaves=[self._node(leaf, cuts) for leaf in document.entries(document["leaves"], "leaves")],
            open=[
                self._node(node, cuts) for node in document.entries(document.content.get("open", []), "open")
            ],
            places=count,
            trees=None
            if trees is None
            else bound_of(document, document.members(trees, "trees"), self._problem, 0),
        )

    def _cut(self, value: Any) -> CutDescription:
        document, cut = self._document, self._document.members(value, "a cut")
        class_of = np.zeros(self._size, dtype=np.int32)
        classes = document.entries(cut.get("classes"), "the classes of a cut")
        for number, cities in enumerate(classes, 1):
            for city in document.entries(cities, "a class"):
                class_of[document.whole(city, "a city", 0, self._size - 1)] = number
        k = len(classes) + 1
        rows = document.entries(cut.get("lengths"), "the lengths of a cut")
        if len(rows) != k:
            document.fail(f"the lengths of a cut have {len(rows)} rows: {k} are needed")
        lengths = np.array([document.array(row, "the lengths of a cut", 0, _MAX_ENTRY, k) for row in rows])
        comb = [
            [document.whole(c, "a class", 0, k - 1) for c in document.entries(classes, "a set of a comb")]
            for classes in document.entries(cut.get("comb"), "a comb")
        ]
        bound = document.whole(cut.get("bound"), "the right side of a cut", 0, _MAX_ENTRY)
        return class_of, lengths.astype(np.int32), bound, comb

    def _evidence(self, value: Any, cuts: Mapping[int, Any]) -> Evidence:
        document, entry = self._document, self._document.members(value, "a leaf")
        prices = document.array(entry.get("prices"), "the prices", -MAX_PRICE, MAX_PRICE, self._size)
        priced = []
        for pair in document.entries(entry.get("cuts"), "the cuts of a leaf"):
            number, price = document.array(pair, "the price of a cut", -MAX_PRICE, MAX_PRICE, 2).tolist()
            if number not in cuts:
                document.fail(f"there is no cut {number}")
            priced.append((number, price))
        order: NDArray[np.int32] | None = None
        if "order" in entry:
            given = document.array(entry["order"], "an order of a sweep", 0, self._size - 1, self._size)
            order = given.astype(np.int32)
            if len(np.unique(order)) != self._size:
                document.fail("an order of a sweep has a city twice")
        return Evidence(0, prices, tuple(priced), order)

    def _node(self, value: Any, cuts: Mapping[int, Any]) -> Node:
        document, entry = self._document, self._document.members(value, "a leaf")
        branches = []
        for pair in document.entries(entry.get("branches"), "branches"):
            parts = document.entries(pair, "a branch")
            if len(parts) != 3 or not isinstance(parts[0], list):
                document.fail(f"a branch is {shown(pair)}: cities, least and most edges out are needed")
            cities = sorted({document.whole(city, "a city", 0, self._size - 1) for city in parts[0]})
            if not 2 <= len(cities) <= self._size - 2 or len(cities) != len(parts[0]):
                document.fail("a branch is not one of two cities or more, and not of all but one")
            least = document.whole(parts[1], "how many edges leave a set at least", 2, 2 * len(cities))
            most = parts[2]
            if most is not None:
                most = document.whole(most, "how many edges leave a set at most", 2, 2 * len(cities) - 2)
            branches.append(Branch(tuple(cities), least, most))
        return Node(tuple(branches), self._evidence(entry, cuts))


def _number(name: str) -> int | str:
    return int(name) if name.isascii() and name.isdigit() and len(name) < 20 else name
