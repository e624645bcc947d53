"""``warptsp info``: what is in an instance file."""

from __future__ import annotations

from typing import Any

import click

from warptsp.cli._options import (
    InstanceFile,
    examples,
    instance_argument,
    instance_options,
    json_option,
    quiet_option,
)
from warptsp.cli.streams import echo_json, say


@click.command(epilog=examples("warptsp info pla85900.tsp", "warptsp info places.csv --json"))
@instance_argument
@instance_options
@json_option
@quiet_option
def command(instance: InstanceFile, as_json: bool, quiet: bool) -> None:
    """Show what is in INSTANCE: cities, columns of a table, metric, extent, repeated places, fixed edges,
    known length.
    """
    problem, columns = instance.read(notes=False)
    found = _describe(problem)
    if columns is not None:
        guessed = " (no header line)" if columns.titles is None else ""
        found["columns"] = columns.as_options() if as_json else f"{columns}{guessed}"
    if as_json:
        echo_json({"file": str(instance.path), **found})
        return
    found = _with_ranges(found)
    if problem.metric.words != problem.metric.name:
        found["metric"] = f"{problem.metric.words} ({problem.metric.name})"
    for name, value in () if quiet else found.items():
        if value is not None and value != "":
            say(*(f"{name.replace('_', ' '):20} {line}" for line in str(value).splitlines()))


def _with_ranges(found: dict[str, Any]) -> dict[str, Any]:
    """Return what was found with the range of each coordinate in place of the lowest and highest of them."""
    lowest, highest = found["lowest"] or (), found["highest"] or ()
    names = ("latitude", "longitude") if found["metric"] in ("GEO", "GREAT_CIRCLE") else ("x", "y", "z")
    ranges = {
        name: f"{low:.10g} to {high:.10g}" for name, low, high in zip(names, lowest, highest, strict=False)
    }
    rest = dict(found)
    del rest["lowest"], rest["highest"]
    return rest | ranges


def _describe(problem: Any) -> dict[str, Any]:
    import numpy as np

    found: dict[str, Any] = {
        "name": problem.name,
        "comment": problem.comment,
        "cities": problem.n,
        "columns": None,
        "metric": problem.metric.name,
        "warning": problem.doubt,
        "asymmetric": problem.asymmetric or None,
        "tour": "closed" if problem.open is None else "open path",
        "fixed_edges": len(problem.fixed_edges),
        "lowest": None,
        "highest": None,
        "repeated_places": None,
        "known_length": None,
        "known_length_is_optimal": None,
    }
    if problem.coordinates is not None:
        found["lowest"] = problem.coordinates.min(axis=0).tolist()
        found["highest"] = problem.coordinates.max(axis=0).tolist()
        order = np.lexsort(problem.coordinates.T)
        steps = np.diff(problem.coordinates[order], axis=0)
        found["repeated_places"] = int((~steps.any(axis=1)).sum())
    known = problem.known_length
    if known is not None:
        found["known_length"] = known.length
        found["known_length_is_optimal"] = known.proven
    return found
