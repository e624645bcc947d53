"""``warptsp check``: is this a tour, how long is it, how good is it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from warptsp._facts import Fact
from warptsp.cli._command import as_command, file_option
from warptsp.cli._options import InstanceFile, OpenOrClosed, Printing, Reading, TourFile
from warptsp.cli._tours import read_tours

if TYPE_CHECKING:
    from warptsp.problem import Problem


@as_command(
    "warptsp check usa13509.tsp usa13509.tour",
    "warptsp check usa13509.tsp usa13509.tour --certificate usa13509.json",
)
def command(
    instance: InstanceFile,
    tour: TourFile,
    certificate: Annotated[
        Path | None,
        file_option(
            "Verify the bound or proof in this file, from warptsp bound or prove, over all pairs of cities."
        ),
    ],
    open_: OpenOrClosed,
    printing: Printing,
    reading: Reading,
) -> None:
    """Check the tour in the file TOUR against INSTANCE: every city once, exact length, gap if known.

    The exit status is 0 if it is a tour and 2 if it is not; the message names the city that is missing or
    repeated.
    """
    from warptsp.problem.given_tour import check_has_no_missing_arcs
    from warptsp.progress import in_percent, relative_gap
    from warptsp.proof.closed_instance import is_optimal
    from warptsp.quantities import format_gap, length_text
    from warptsp.result import known_facts, optimal_words

    problem, (cities,), reason = read_tours(reading.load(instance), [tour], open_)
    check_has_no_missing_arcs(problem, cities, str(tour))
    length = problem.length(cities)
    bound = None if certificate is None else _proven(problem, certificate)
    optimal = None if bound is None else is_optimal(problem, length, bound)
    above = relative_gap(length, bound)
    unit = problem.unit
    is_open = problem.open is not None
    visited = "the city" if problem.n == 1 else f"each of the {problem.n} cities"
    proved = (
        None
        if bound is None
        else f"{length_text(bound, unit, down=True)}, proved once more over all pairs of cities"
    )
    close = None if above is None else f"at most {format_gap(above, up=True)} above the shortest"
    if optimal:
        close = optimal_words(problem, length, bound)
    facts = [
        Fact("instance", problem.name),
        Fact("cities", problem.n, f"visits {visited} once", "tour"),
        Fact("valid", True),
        Fact("open", is_open, f"{'an open path' if is_open else 'a closed tour'}, {reason}", "taken as"),
        Fact("length", length, length_text(length, unit)),
        *known_facts(problem.known_length, length, unit),
        Fact("lower_bound", bound, proved, "bound"),
        Fact("bound_gap_percent", in_percent(above), close, ""),
        Fact("proved_optimal", optimal),
    ]
    printing.show(facts)


def _proven(problem: Problem, certificate: Path) -> int | float:
    """Return the bound in a certificate, if it holds."""
    from warptsp.bound import proven_value, read_certificate
    from warptsp.errors import ParseError
    from warptsp.proof import is_proof, proven_bound, read_proof
    from warptsp.quantities import number_text

    if is_proof(certificate):
        found = proven_bound(problem, read_proof(certificate, problem))
        if found is None:
            raise ParseError("claims more than it proves", file=certificate)
        return found
    bound = read_certificate(certificate, problem)
    proven = proven_value(problem, bound)
    if proven < bound.value:
        raise ParseError(
            f"claims {number_text(bound.value)} and proves {number_text(proven)} only", file=certificate
        )
    return bound.value
