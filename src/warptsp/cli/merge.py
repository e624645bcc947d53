"""``warptsp merge``: several tours of an instance joined into one."""

from __future__ import annotations

from pathlib import Path

import click

from warptsp._facts import Fact
from warptsp.cli._options import (
    InstanceFile,
    Printing,
    examples,
    instance_argument,
    instance_options,
    printing_options,
    seed_option,
    threads_option,
)
from warptsp.cli._tours import TourOutputs, check_has_no_missing_arcs, open_option, output_option, read_tours
from warptsp.errors import InvalidOption
from warptsp.interruption import FirstSignal, status


@click.command(
    epilog=examples(
        "warptsp merge usa13509.tsp seed1.tour seed2.tour seed3.tour -o best.tour",
        "warptsp merge places.csv old.tour new.tour -o - --seed 2",
    )
)
@instance_argument
@click.argument("tours", metavar="TOUR TOUR...", nargs=-1, type=click.Path(path_type=Path))
@instance_options
@output_option
@seed_option
@threads_option
@open_option
@printing_options
def command(
    instance: InstanceFile,
    tours: tuple[Path, ...],
    outputs: TourOutputs,
    seed: int,
    threads: int | None,
    open_: bool | None,
    printing: Printing,
) -> int:
    """Join tours of INSTANCE into one that has no edges but theirs and is no longer than the shortest.

    Each TOUR is a file, such as the checkpoint of a run. Where they differ, each place is decided by itself:
    best for tours of separate runs, with other seeds. It takes seconds for a million cities. warptsp solve
    --merge FILE --merge FILE does the same and searches from there.
    """
    from warptsp.problem.itinerary import length_of
    from warptsp.quantities import finite, length_text
    from warptsp.result import known_facts
    from warptsp.solver.merging import merge

    if len(tours) < 2:
        raise InvalidOption(f"{len(tours)} tours to merge: give two files or more behind INSTANCE")
    outputs.check(as_json=printing.as_json, inputs=[("the instance itself", instance.path)])
    problem, cities, _ = read_tours(instance.load(), tours, open_)
    outputs.check_tours(problem)
    with FirstSignal() as signals:  # what there is by then is written
        result = merge(problem, cities, seed=seed, threads=threads)
        check_has_no_missing_arcs(problem, result.tour, "the merged tour")
        outputs.write(result.tour, problem)
    lengths = [length_of(problem, tour) for tour in cities]
    unit = problem.metric.unit
    given = [(str(file), length) for file, length in zip(tours, lengths, strict=True)]
    nothing = "as long as the shortest: the others have nothing for it"
    early = "interrupted before all choices were made"
    facts = [
        Fact("instance", problem.name),
        Fact("cities", problem.n),
        Fact("tours", [{"file": file, "length": finite(length)} for file, length in given]),
        *(Fact("", words=f"{length_text(length, unit)}  {file}", name="tour") for file, length in given),
        Fact("length", result.length, length_text(result.length, unit), "merged"),
        Fact("", words=nothing if result.length == min(lengths) else None, name=""),
        *(fact._replace(key="") for fact in known_facts(result.known, result.length, unit)),
        Fact("interrupted", result.interrupted, early if result.interrupted else None, ""),
        Fact("seconds", round(result.seconds, 3)),
    ]
    outputs.show(facts, printing)
    return 0 if signals.caught is None else status(signals.caught)
