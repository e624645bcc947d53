"""``warptsp insert``: new places in a tour whose order is kept."""

from __future__ import annotations

from pathlib import Path

import click

from warptsp._words import counted
from warptsp.cli._options import (
    InstanceFile,
    echo_json,
    examples,
    find_city,
    instance_options,
    json_option,
    quiet_option,
)
from warptsp.cli._tours import check_output, open_option, read_tours
from warptsp.cli.streams import say, tell
from warptsp.errors import InvalidOption


@click.command(
    epilog=examples(
        "warptsp insert route.csv new.csv -o route2.csv",
        "warptsp insert route.csv new.csv -o route2.csv --improve 3",
        "warptsp insert route.csv -o route2.csv --remove Depot",
    )
)
@click.argument("instance", metavar="TOUR", type=click.Path(path_type=Path))
@click.argument("places", metavar="[PLACES]", required=False, type=click.Path(path_type=Path))
@instance_options
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(), help="Write the tour; the ending sets the format."
)
@click.option("--remove", metavar="CITY", multiple=True, help="Take a city out first: its number or name.")
@click.option(
    "--improve",
    type=int,
    default=0,
    show_default=True,
    metavar="K",
    help="Let K cities before and behind each new one change places, too.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random numbers.")
@open_option
@json_option
@quiet_option
def command(
    instance: InstanceFile,
    places: Path | None,
    output: str | None,
    remove: tuple[str, ...],
    improve: int,
    seed: int,
    open_: bool | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Insert the places of the file PLACES into a tour with the least detour, keeping its order.

    TOUR is a file with places in visiting order, such as a .csv, .geojson or .gpx tour that warptsp solve has
    written; PLACES is an instance of the same kind of coordinates.
    """
    from warptsp import insertion
    from warptsp.io import load, write_tour
    from warptsp.io.tours import check_tour_output
    from warptsp.quantities import length_text

    if places is None and not remove:
        raise InvalidOption("nothing to do: give a file of PLACES, or --remove CITY")
    check_output(output, as_json=as_json)
    problem = instance.load()
    problem, (tour,), _ = read_tours(problem, [instance.path], open_)
    cities, before, inserted = problem.n, problem.length(tour), 0
    if remove:
        result = insertion.remove(problem, tour, {find_city(problem, text, "--remove") for text in remove})
        problem, tour = result.problem, result.tour
    removed = cities - problem.n
    if places is not None:
        new = load(places)
        if new.metric is not problem.metric:
            raise InvalidOption(
                f"{places} has distances of the kind {new.metric.name}, and {instance.path} of "
                f"{problem.metric.name}: give both the same columns, or convert one"
            )
        points = new.given_coordinates()
        inserted = len(points)
        result = insertion.insert(
            problem, tour, points, labels=_labels(problem, new), improve=improve, seed=seed
        )
    if output is not None:
        if output != "-":
            check_tour_output(output, result.problem)
        write_tour(output, result.tour, result.problem, format="tsplib" if output == "-" else None)
    if as_json:
        echo_json(
            {
                "file": str(instance.path), "output": output, "cities": result.problem.n,
                "inserted": inserted, "removed": removed, "length": result.length, "length_before": before,
                "seconds": round(result.seconds, 3),
            }
        )  # fmt: skip
    elif not quiet:
        unit = problem.metric.unit
        lines = [
            f"tour         {instance.path}, {counted(cities)}",
            f"places       {inserted} inserted, {removed} removed",
            f"length       {length_text(result.length, unit)}",
            f"before       {length_text(before, unit)}",
            f"output       {output}" if output else "output       not written; --output FILE writes it",
        ]
        (tell if output == "-" else say)(*lines)


def _labels(problem: object, new: object) -> list[str] | None:
    """The names of new places, where they have some."""
    labels = getattr(new, "labels", None)
    return None if labels is None else list(labels)
