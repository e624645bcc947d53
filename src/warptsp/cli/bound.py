"""``warptsp bound``: a lower bound on the length of any tour."""

from pathlib import Path
from typing import Annotated

from warptsp._facts import Fact
from warptsp.cli._command import as_command, file_option, option
from warptsp.cli._options import (
    Certificate,
    Ends,
    InstanceFile,
    Printing,
    Reading,
    Threads,
    TimeLimit,
    certificate_fact,
    device_option,
)
from warptsp.cli._tours import with_tour


@as_command(
    "warptsp bound usa13509.tsp --tour usa13509.tour",
    "warptsp bound places.csv --time-limit 10 --certificate places.json",
)
def command(
    instance: InstanceFile,
    tour: Annotated[
        Path | None,
        file_option("A tour whose gap to the bound is shown; its edges also guide the computation."),
    ],
    time_limit: TimeLimit,
    iterations: Annotated[int | None, option("Number of spanning trees.  [default: 100]", "N")],
    threads: Threads,
    device: Annotated[
        str,
        device_option(
            "auto|cpu|cuda|cuda:N", "Where it is computed; auto takes a GPU from 50,000 cities on."
        ),
    ],
    certificate: Certificate,
    ends: Ends,
    printing: Printing,
    reading: Reading,
) -> int:
    """Compute a lower bound on the length of any tour of INSTANCE: the Held-Karp bound, proved for all pairs.

    It is usually 0.7 to 0.8 % below the shortest tour. Ctrl-C ends the computation and keeps what has been
    proved so far.
    """
    from warptsp.bound import lower_bound, write_certificate
    from warptsp.bound.held_karp import ITERATIONS
    from warptsp.interruption import FirstSignal
    from warptsp.outputs import Attempts, check_outputs
    from warptsp.progress import in_percent
    from warptsp.quantities import format_gap, length_text

    inputs = [("the instance itself", instance)]
    if tour is not None:
        inputs.append(("the tour", tour))
    check_outputs([("--certificate", certificate)], inputs)
    problem, cities = with_tour(reading.load(instance), tour, ends)
    attempts = Attempts()
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
            attempts.make(write_certificate, certificate, problem, bound)
    length = None if cities is None or len(problem.missing_arcs(cities)) else problem.length(cities)
    gap = None if length is None or not bound.certified else bound.gap(length)
    unit = problem.unit
    least = "none: the computation ended before one was proved"
    if bound.certified:
        kind = "tour" if problem.open is None else "path"
        least = f"no {kind} is shorter than {length_text(bound.value, unit, down=True)}"
    above = None if gap is None else f"at most {format_gap(gap, up=True)} above the shortest"
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
        certificate_fact(None if attempts.failures else certificate, bound.certified),
    ]
    printing.show(facts)
    attempts.finish()
    return signals.status
