"""``warptsp bound``: a lower bound on the length of any tour."""

from __future__ import annotations

from pathlib import Path

import click

from warptsp._facts import Fact
from warptsp.cli._options import (
    InstanceFile,
    Printing,
    certificate_fact,
    device_option,
    examples,
    file_option,
    instance_argument,
    instance_options,
    new_certificate_option,
    printing_options,
    threads_option,
    time_limit_option,
)
from warptsp.cli._search import Ends, ends_options
from warptsp.cli._tours import with_tour


@click.command(
    epilog=examples(
        "warptsp bound usa13509.tsp --tour usa13509.tour",
        "warptsp bound places.csv --time-limit 10 --certificate places.json",
    )
)
@instance_argument
@file_option("--tour", "A tour whose gap to the bound is shown; its edges also guide the computation.")
@time_limit_option
@click.option("--iterations", type=int, metavar="N", help="Number of spanning trees.  [default: 100]")
@threads_option
@device_option("auto|cpu|cuda|cuda:N", "Where it is computed; auto takes a GPU from 50,000 cities on.")
@new_certificate_option
@instance_options
@ends_options
@printing_options
def command(
    instance: InstanceFile,
    tour: Path | None,
    time_limit: float | None,
    iterations: int | None,
    threads: int | None,
    device: str,
    certificate: Path | None,
    ends: Ends,
    printing: Printing,
) -> int:
    """Compute a lower bound on the length of any tour of INSTANCE: the Held-Karp bound, proved for all pairs.

    It is usually 0.7 to 0.8 % below the shortest tour. Ctrl-C ends the computation and keeps what has been
    proved so far.
    """
    from warptsp.bound import lower_bound, write_certificate
    from warptsp.bound.held_karp import ITERATIONS
    from warptsp.interruption import FirstSignal, status
    from warptsp.outputs import check_outputs
    from warptsp.progress import in_percent
    from warptsp.quantities import format_gap, length_text

    inputs = [("the instance itself", instance.path)]
    if tour is not None:
        inputs.append(("the tour", tour))
    check_outputs([("--certificate", certificate)], inputs)
    problem, cities = with_tour(instance.load(), tour, ends)
    with FirstSignal() as signals:
        bound = lower_bound(
            problem,
            cities,
            time_limit=time_limit,
            iterations=ITERATIONS if iterations is None else iterations,
            threads=threads,
            device=device,
        )
        if certificate is not None and bound.certified:
            write_certificate(certificate, problem, bound)
    length = None if cities is None else problem.length(cities)
    gap = None if length is None or not bound.certified else bound.gap(length)
    unit = problem.metric.unit
    least = "none: the computation ended before one was proved"
    if bound.certified:
        kind = "tour" if problem.open is None else "path"
        least = f"no {kind} is shorter than {length_text(bound.value, unit, down=True)}"
    above = None if gap is None else f"at most {format_gap(gap)} above the shortest"
    facts = [
        Fact("instance", problem.name),
        Fact("cities", problem.n),
        Fact("open", problem.open is not None),
        Fact("lower_bound", bound.value, least, "bound"),
        Fact("certified", bound.certified),
        Fact("length", length, None if length is None else length_text(length, unit)),
        Fact("bound_gap_percent", in_percent(gap), above, "gap"),
        Fact("iterations", bound.iterations),
        Fact("seconds", bound.seconds, f"{bound.seconds:.2f} s, {bound.iterations} spanning trees", "time"),
        certificate_fact(certificate, bound.certified),
    ]
    printing.show(facts)
    return 0 if signals.caught is None else status(signals.caught)
