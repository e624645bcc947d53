"""``warptsp check``: is this a tour, how long is it, how good is it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warptsp.cli._options import (
    InstanceFile,
    certificate_option,
    echo_json,
    examples,
    instance_argument,
    instance_options,
    json_option,
    quiet_option,
)
from warptsp.cli._tours import check_arcs, open_option, read_tours
from warptsp.cli.streams import say

if TYPE_CHECKING:
    from warptsp.problem import Problem


@click.command(
    epilog=examples(
        "warptsp check usa13509.tsp usa13509.tour",
        "warptsp check usa13509.tsp usa13509.tour --certificate usa13509.json",
    )
)
@instance_argument
@click.argument("tour", metavar="TOUR", type=click.Path(path_type=Path))
@certificate_option(
    "Verify the bound or the proof in this file, of warptsp bound or prove, over all pairs of cities."
)
@instance_options
@open_option
@json_option
@quiet_option
def command(
    instance: InstanceFile,
    tour: Path,
    certificate: Path | None,
    open_: bool | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Check the tour in the file TOUR against INSTANCE: every city once, exact length, gap if known.

    The exit status is 0 if it is a tour and 2 if it is not; the message names the city that is missing or
    repeated.
    """
    from warptsp.progress import in_percent, relative_gap
    from warptsp.proof import is_optimal
    from warptsp.quantities import length_text
    from warptsp.result import format_gap

    problem, (cities,), reason = read_tours(instance.load(), [tour], open_)
    check_arcs(problem, cities, str(tour))
    length = problem.length(cities)
    known = problem.known_length
    gap = None if known is None else relative_gap(length, known.length)
    bound = None if certificate is None else _proven(problem, certificate)
    optimal = None if bound is None else is_optimal(problem, length, bound)
    if as_json:
        echo_json(
            {
                "instance": problem.name,
                "cities": problem.n,
                "valid": True,
                "open": problem.open is not None,
                "length": length,
                "known_length": None if known is None else known.length,
                "known_length_is_optimal": None if known is None else known.proven,
                "gap_percent": in_percent(gap),
                "lower_bound": bound,
                "bound_gap_percent": in_percent(relative_gap(length, bound)),
                "proved_optimal": optimal,
            }
        )
        return
    if quiet:
        return
    visited = "the city" if problem.n == 1 else f"each of the {problem.n} cities"
    say(f"tour         visits {visited} once")
    say(f"taken as     {'a closed tour' if problem.open is None else 'an open path'}, {reason}")
    unit = problem.metric.unit
    say(f"length       {length_text(length, unit)}")
    if known is not None and gap is not None:
        kind = "optimum" if known.proven else "best known length"
        say(f"gap          {format_gap(gap)} to the {kind}, {length_text(known.length, unit)}")
    if bound is not None:
        proved = length_text(bound, unit, down=True)
        say(f"bound        {proved}, proved once more over all pairs of cities")
        above = relative_gap(length, bound)
        if optimal:
            say(f"             optimal: no {'tour' if problem.open is None else 'path'} is shorter")
        elif above is not None:
            say(f"             at most {format_gap(above)} above the shortest")


def _proven(problem: Problem, certificate: Path) -> int | float:
    """Return the bound in a certificate, if it holds.

    Raises
    ------
    ParseError
        The file is no certificate of this instance, or claims more than it proves.
    """
    from warptsp.bound import proven_value, read_certificate
    from warptsp.errors import ParseError
    from warptsp.proof import is_proof, proven_bound, read_proof
    from warptsp.quantities import number_text

    if is_proof(certificate):
        found = proven_bound(problem, read_proof(certificate, problem))
        if found is None:
            raise ParseError("claims that its tour is optimal and does not prove it", file=certificate)
        return found
    bound = read_certificate(certificate, problem)
    proven = proven_value(problem, bound)
    if proven < bound.value:
        raise ParseError(
            f"claims {number_text(bound.value)} and proves {number_text(proven)} only", file=certificate
        )
    return bound.value
