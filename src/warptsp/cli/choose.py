"""``warptsp choose``: one place of each group, and a tour through these."""

from __future__ import annotations

import click

from warptsp._facts import Fact
from warptsp._words import counted
from warptsp.cli._options import (
    InstanceFile,
    Printing,
    examples,
    instance_argument,
    instance_options,
    kicks_option,
    printing_options,
    seed_option,
    threads_option,
    time_limit_option,
)
from warptsp.cli._search import Ends, ends_options
from warptsp.cli._tours import TourOutputs, output_option
from warptsp.interruption import FirstSignal, status


@click.command(
    epilog=examples(
        "warptsp choose entries.csv --groups block -o route.csv --time-limit 10",
        "warptsp choose 40kroa200.gtsp -o best.tour",
    )
)
@instance_argument
@instance_options
@click.option(
    "--groups",
    default="group",
    show_default=True,
    metavar="COLUMN",
    help="Column of a table that says which group a place is in; group for the sets of a GTSPLIB file.",
)
@output_option
@time_limit_option
@kicks_option
@seed_option
@threads_option
@ends_options
@printing_options
def command(
    instance: InstanceFile,
    groups: str,
    outputs: TourOutputs,
    time_limit: float | None,
    kicks: int | None,
    seed: int,
    threads: int | None,
    ends: Ends,
    printing: Printing,
) -> int:
    """Find a short tour that visits one place of each group of INSTANCE, whichever is best.

    Which entry of a block, which of several parking places. INSTANCE is a table with a column that names the
    group of each place, or a GTSPLIB file, with up to 5000 places.
    """
    from warptsp.groups import choose

    outputs.check(as_json=printing.as_json, inputs=[("the instance itself", instance.path)])
    problem = ends.of_path(instance.load(groups=True))
    outputs.check_tours(problem)
    with FirstSignal() as signals:  # what there is by then is written
        choice = choose(problem, groups, time_limit=time_limit, kicks=kicks, seed=seed, threads=threads)
        result = choice.result
        outputs.write(result.tour, result.problem)
    groups_of = f"{problem.n} in {counted(result.problem.n, 'group', 'groups')}"
    told = {"length", "seconds", "stop_reason"}
    facts = [
        Fact("file", str(instance.path)),
        Fact("places", problem.n, groups_of),
        *(fact if fact.key in told else fact._replace(words=None) for fact in result.told()),
        *(Fact(key, value) for key, value in (result.as_dict() if printing.as_json else {}).items()),
    ]
    outputs.show(facts, printing)
    return 0 if signals.caught is None else status(signals.caught)
