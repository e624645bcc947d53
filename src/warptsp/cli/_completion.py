"""The values that a shell completes: looked up at each press of Tab, in a process of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]


Pairs = Iterable[tuple[str, str]]


def one_of(values: Callable[[], Pairs], *, or_file: bool = False) -> Complete:
    """Complete values, each with what it means, or ""; or the name of a file, where none of them fits."""

    def complete(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem[str]]:
        from click.shell_completion import CompletionItem

        known = ((value, text or None) for value, text in values() if value.startswith(begun))
        fitting = [CompletionItem(value, help=text) for value, text in known]
        return [CompletionItem(begun, type="file")] if or_file and not fitting else fitting

    return complete


def _methods() -> Pairs:
    from warptsp.methods import METHODS

    return [(name, "") for name in METHODS]  # what they are would import all of them


def _documents() -> Pairs:
    from warptsp.papers import DOCUMENTS

    return [(number, f"{document.authors} ({document.year})") for number, document in DOCUMENTS.items()]


def _devices() -> Pairs:
    from warptsp.backends.cuda.driver import find
    from warptsp.errors import BackendUnavailable

    try:
        gpus = find().gpus
    except BackendUnavailable:
        gpus = ()
    kinds = [("auto", "a GPU for large instances"), ("cpu", "CPU threads"), ("cuda", "all GPUs that help")]
    return [*kinds, *((f"cuda:{gpu.ordinal}", gpu.name) for gpu in gpus)]


def _starts() -> Pairs:
    from warptsp.construct import CONSTRUCTIONS

    return [(name, construction.summary) for name, construction in CONSTRUCTIONS.items()]


def _formats(kind: str) -> Pairs:
    from warptsp import io

    return [(name, " ".join(endings)) for name, endings in getattr(io, kind).items()]


def _metrics() -> Pairs:
    from warptsp.problem.metric import COMMON, Metric

    common = [(name, metrics[0].name) for name, metrics in COMMON.items()]
    return [*((metric.name, metric.description) for metric in Metric), *common]


metrics = one_of(_metrics)
formats, tour_formats = (one_of(partial(_formats, kind)) for kind in ("FORMATS", "TOUR_FORMATS"))
methods, devices, documents = one_of(_methods), one_of(_devices), one_of(_documents)
starts = one_of(_starts, or_file=True)
