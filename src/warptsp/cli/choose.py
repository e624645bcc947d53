"""``warptsp choose``: one place of each group, and a tour through these."""

from typing import Annotated

from warptsp._facts import Fact
from warptsp._words import counted
from warptsp.cli._command import as_command, option
from warptsp.cli._options import Ends, InstanceFile, Kicks, Reading, Seed, Threads, TimeLimit
from warptsp.cli._outputs import TourOutputs
from warptsp.interruption import FirstSignal


@as_command(
    "warptsp choose entries.csv --groups block -o route.csv --time-limit 10",
    "warptsp choose 40kroa200.gtsp -o best.tour",
)
def command(
    instance: InstanceFile,
    groups: Annotated[
        str,
        option(
            "Column of a table that says which group a place is in; group for the sets of a GTSPLIB file.",
            "COLUMN",
            default="group",
            show_default=True,
        ),
    ],
    time_limit: TimeLimit,
    kicks: Kicks,
    seed: Seed,
    threads: Threads,
    outputs: TourOutputs,
    ends: Ends,
    reading: Reading,
) -> int:
    """Find a short tour that visits one place of each group of INSTANCE, whichever is best.

    For example one entry of each block, or one of several parking places. INSTANCE is a table with a column
    that names the group of each place, or a GTSPLIB file, with up to 5000 places.
    """
    from warptsp.groups import choose

    outputs.check([("the instance itself", instance)])
    problem = ends.of_path(reading.load(instance, groups=True))
    outputs.check_tours(problem)
    with FirstSignal() as signals:  # what there is by then is written
        choice = choose(problem, groups, time_limit=time_limit, kicks=kicks, seed=seed, threads=threads)
        result = choice.result
        written = outputs.write(result.problem, result.tour)
    groups_of = f"{problem.n} in {counted(result.problem.n, 'group', 'groups')}"
    told = {"length", "seconds", "stop_reason"}
    facts = [
        Fact("file", str(instance)),
        Fact("places", problem.n, groups_of),
        *(fact if fact.key in told else fact._replace(words=None) for fact in result.told()),
        *(Fact(key, value) for key, value in (result.as_dict() if outputs.as_json else {}).items()),
    ]
    outputs.tell(facts, written)
    return signals.status
