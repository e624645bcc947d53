"""``warptsp info``: what is in an instance file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warptsp._facts import Fact
from warptsp.cli._command import as_command
from warptsp.cli._options import InstanceFile, Printing, Reading

if TYPE_CHECKING:
    from warptsp.io.table.columns import Columns
    from warptsp.problem import Problem


@as_command("warptsp info pla85900.tsp", "warptsp info places.csv --json")
def command(instance: InstanceFile, printing: Printing, reading: Reading) -> None:
    """Show what is in INSTANCE: cities, columns of a table, metric, extent, repeated places, fixed edges,
    known length.
    """
    problem, columns = reading.read(instance, notes=False)
    printing.show([Fact("file", str(instance)), *_describe(problem, columns)], width=20)


def _describe(problem: Problem, columns: Columns | None) -> list[Fact]:
    import numpy as np

    lowest = highest = repeated = None
    ranges = []
    if problem.coordinates is not None:
        lowest, highest = (
            limit(axis=0).tolist() for limit in (problem.coordinates.min, problem.coordinates.max)
        )
        order = np.lexsort(problem.coordinates.T)
        repeated = int((~np.diff(problem.coordinates[order], axis=0).any(axis=1)).sum())
        axes = ("latitude", "longitude") if problem.metric.geographic else ("x", "y", "z")
        ranges = [
            Fact("", words=f"{low:.10g} to {high:.10g}", name=name)
            for name, low, high in zip(axes, lowest, highest, strict=False)
        ]
    guessed = " (no header line)" if columns is not None and columns.titles is None else ""
    known = problem.known_length
    metric = problem.metric
    named = metric.name if metric.words == metric.name else f"{metric.words} ({metric.name})"

    def fact(key: str, value: object) -> Fact:
        return Fact(key, value, None if value in (None, "") else str(value), key.replace("_", " "))

    return [
        fact("name", problem.name),
        Fact("comment", problem.comment),
        *(Fact("", words=line, name="comment") for line in problem.comment.splitlines()),
        fact("cities", problem.n),
        Fact("columns") if columns is None else Fact("columns", columns.as_options(), f"{columns}{guessed}"),
        Fact("metric", metric.name, named),
        fact("warning", problem.doubt),
        fact("asymmetric", problem.asymmetric or None),
        fact("tour", "closed" if problem.open is None else "open path"),
        fact("fixed_edges", len(problem.fixed_edges)),
        Fact("lowest", lowest),
        Fact("highest", highest),
        fact("repeated_places", repeated),
        fact("known_length", None if known is None else known.length),
        fact("known_length_is_optimal", None if known is None else known.proven),
        *ranges,
    ]
