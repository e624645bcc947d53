"""The systems of five published papers and theses, a folder for each family of methods.

Each is a method of `solve` like any other, and its figures are put beside the published ones
(docs/reproduction). The main solver needs nothing from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from warptsp._checks import shown
from warptsp._words import listed
from warptsp.devices import resolve_device
from warptsp.errors import InvalidOption
from warptsp.methods import MAIN, get_method
from warptsp.papers import exhaustive, hill_climbing, neighbor_lists, symmetric
from warptsp.papers.document import Document, System

if TYPE_CHECKING:
    from warptsp.problem import Problem

__all__ = ["DOCUMENTS", "Document", "System", "documents_of", "method_of", "params_of", "system_of"]

_FAMILIES: tuple[tuple[Document, ...], ...] = (
    exhaustive.DOCUMENTS,
    hill_climbing.DOCUMENTS,
    symmetric.DOCUMENTS,
    neighbor_lists.DOCUMENTS,
)
DOCUMENTS = {document.number: document for documents in _FAMILIES for document in documents}


class Call(NamedTuple):
    """Arguments of `solve`."""

    method: str
    params: dict[str, Any]
    start: Any
    device: str


def get_document(number: str) -> Document:
    """Return the document of this number; InvalidOption, which lists those there are, if there is none."""
    if not isinstance(number, str) or number not in DOCUMENTS:
        raise InvalidOption(f"document: {shown(number)} is unknown; there are {listed(DOCUMENTS, number)}")
    return DOCUMENTS[number]


def method_of(number: str | None, method: str | None) -> str:
    """Return the method that runs: the one named, that which the document is known for, or the main one."""
    if number is None:
        return MAIN if method is None else method
    systems = get_document(number).systems
    if method is None:
        return next(iter(systems))
    if not isinstance(method, str) or method not in systems:
        raise InvalidOption(
            f"document {number} does not have method {shown(method)}; it has {listed(systems, method)}"
        )
    return method


def system_of(
    number: str,
    problem: Problem,
    method: str | None,
    params: Mapping[str, Any] | object | None,
    start: Any,
    device: str,
    seconds: float | None,
) -> Call:
    """Return the call that runs a document's system; what is given in addition comes before what it has.

    Where it has another version for each kind of device, the device is chosen here, and not left while it
    runs.
    """
    method = method_of(number, method)
    system = get_document(number).systems[method]
    if params is not None and not isinstance(params, Mapping):
        raise InvalidOption(
            f"document {number}: params is a {type(params).__name__}; give those that shall differ by name"
        )
    in_plane = problem.metric.euclidean and problem.open is None and not len(problem.fixed_edges)
    if device == "auto" and system.gpu_plane and not in_plane:
        device = "cpu"
    if system.cpu or system.gpu:
        device = resolve_device(device, problem, get_method(method), seconds)
    chosen = params_of(number, method, params or {}, on_gpu=device != "cpu")
    return Call(method, chosen, system.start if start is None else start, device)


def params_of(number: str | None, method: str, params: Mapping[str, Any], *, on_gpu: bool) -> dict[str, Any]:
    """Return the parameters of a document's method on a kind of device; what is given comes first."""
    if number is None:
        return dict(params)
    system = get_document(number).systems[method]
    return {**system.params, **(system.gpu if on_gpu else system.cpu), **params}


def documents_of(method: str) -> list[str]:
    """Return the documents of a method, as they are listed beside it."""
    found = [str(document) for document in DOCUMENTS.values() if method in document.systems]
    return found + [
        f"future work of {document}" for document in DOCUMENTS.values() if method in document.named
    ]
