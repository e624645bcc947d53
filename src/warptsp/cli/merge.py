"""``warptsp merge``: several tours of an instance joined into one."""

from pathlib import Path
from typing import Annotated

from warptsp._facts import Fact
from warptsp.cli._command import argument, as_command
from warptsp.cli._options import InstanceFile, OpenOrClosed, Reading, Seed, Threads
from warptsp.cli._outputs import TourOutputs
from warptsp.cli._tours import read_tours
from warptsp.errors import InvalidOption
from warptsp.interruption import FirstSignal


@as_command(
    "warptsp merge usa13509.tsp seed1.tour seed2.tour seed3.tour -o best.tour",
    "warptsp merge places.csv old.tour new.tour -o - --seed 2",
)
def command(
    instance: InstanceFile,
    tour_files: Annotated[tuple[Path, ...], argument("TOUR TOUR...")],
    seed: Seed,
    threads: Threads,
    open_: OpenOrClosed,
    outputs: TourOutputs,
    reading: Reading,
) -> int:
    """Join tours of INSTANCE into one that has no edges but theirs and is no longer than the shortest.

    Each TOUR is a file, such as the checkpoint of a run. Where they differ, the better one is taken, which
    works best for tours of separate runs with different seeds. It takes seconds for a million cities.
    warptsp solve --merge FILE --merge FILE does the same and searches from there.
    """
    from warptsp.problem.itinerary import length_of
    from warptsp.quantities import finite, length_text
    from warptsp.result import known_facts
    from warptsp.solver.merging import merge

    if len(tour_files) < 2:
        raise InvalidOption(f"{len(tour_files)} tours to merge: give two files or more behind INSTANCE")
    outputs.check([("the instance itself", instance)])
    problem, cities, _ = read_tours(reading.load(instance), tour_files, open_)
    outputs.check_tours(problem)
    with FirstSignal() as signals:  # what there is by then is written
        result = merge(problem, cities, seed=seed, threads=threads)
        written = outputs.write(problem, result.tour)
    lengths = [length_of(problem, tour) for tour in cities]
    unit = problem.unit
    given = [(str(file), length) for file, length in zip(tour_files, lengths, strict=True)]
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
    outputs.tell(facts, written)
    return signals.status
