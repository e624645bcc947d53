"""The command ``warptsp`` of vpype, a toolbox for plotters: ``vpype read in.svg warptsp write out.svg``."""

from __future__ import annotations

from typing import Any

import click
import numpy as np
import vpype
import vpype_cli


@click.command()
@click.option(
    "-t", "--time-limit", type=float, metavar="SECONDS", help="Search for this time, all layers together."
)
@click.option("--home", type=vpype_cli.LengthType(), nargs=2, metavar="X Y", help="Where the pen starts.")
@click.option("--back", is_flag=True, help="Return to the home position.")
@click.option("--no-flip", is_flag=True, help="Draw no line backwards.")
@click.option("--keep-entries", is_flag=True, help="Enter closed lines where they begin now.")
@click.option("--inner-first", is_flag=True, help="Draw what lies in a closed line before that line.")
@click.option("--seed", type=int, default=0, help="Seed of the random numbers.")
@click.option("--threads", type=int, help="Number of threads.")
@click.option("-l", "--layer", type=vpype_cli.LayerType(accept_multiple=True), default="all", help="Layers.")
@vpype_cli.global_processor  # type: ignore[untyped-decorator, unused-ignore]
def warptsp(
    document: vpype.Document,
    time_limit: float | None,
    home: tuple[float, float] | None,
    back: bool,
    no_flip: bool,
    keep_entries: bool,
    inner_first: bool,
    seed: int,
    threads: int | None,
    layer: int | list[int] | None,
) -> vpype.Document:
    """Sort lines for little pen-up travel, as linesort does, by the solver of warptsp.

    Layers keep their order. Closed lines are entered at the best vertex.
    """
    from warptsp.strokes import arrange

    layers = vpype_cli.multiple_to_layer_ids(layer, document)
    lines = [line for number in layers for line in document.layers[number]]
    owner = [number for number in layers for _ in document.layers[number]]
    plan = arrange(
        [np.column_stack([line.real, line.imag]) for line in lines],
        home=home,
        back=back,
        reversible=not no_flip,
        loops=not keep_entries,
        groups=owner,
        inner_first=inner_first,
        time_limit=time_limit,
        seed=seed,
        threads=threads,
    )
    drawn: dict[int, list[Any]] = {number: [] for number in layers}
    for number in plan.order.tolist():
        drawn[owner[number]].append(plan.stroke(lines[number][:, None], number)[:, 0])
    for number in layers:
        document.replace(vpype.LineCollection(drawn[number]), number)
    return document


warptsp.help_group = "Plugins"  # type: ignore[attr-defined]
