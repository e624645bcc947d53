"""``warptsp prove``: is this tour optimal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warptsp._facts import Fact
from warptsp.cli._display import NoDisplay, make_display
from warptsp.cli._options import (
    InstanceFile,
    Printing,
    certificate_fact,
    examples,
    file_option,
    instance_argument,
    instance_options,
    new_certificate_option,
    printing_options,
    seed_option,
    time_limit_option,
)
from warptsp.cli._search import Ends, ends_options
from warptsp.cli._tours import TourOutputs, output_option, with_tour

if TYPE_CHECKING:
    from warptsp.problem import Problem
    from warptsp.proof import Proof, ProofProgress


LIVE_SECONDS = 0.2
LOG_SECONDS = 10.0  # lines in a log stay


@click.command(
    epilog=examples(
        "warptsp prove berlin52.tsp",
        "warptsp prove pr299.tsp --tour pr299.tour --time-limit 5m --certificate pr299.json",
        "warptsp prove vm1084.tsp --checkpoint vm1084.json --resume vm1084.json",
    )
)
@instance_argument
@file_option("--tour", "The tour to begin with; by default a search finds one.")
@time_limit_option
@seed_option
@click.option(
    "--threads", type=int, metavar="N", help="CPU threads, for cuts and nodes of the tree.  [default: all]"
)
@click.option(
    "--tree/--no-tree",
    default=True,
    help="Whether branches follow; without them the proof ends with the bound of the root, which is close.",
)
@output_option
@new_certificate_option
@file_option(
    "--checkpoint",
    "Save tour, bounds and tree here (JSON), every 5 seconds and at the end; --resume goes on from it.",
)
@file_option("--resume", "Continue from the checkpoint of an earlier proof.")
@instance_options
@ends_options
@printing_options
def command(
    instance: InstanceFile,
    tour: Path | None,
    time_limit: float | None,
    seed: int,
    threads: int | None,
    tree: bool,
    outputs: TourOutputs,
    certificate: Path | None,
    checkpoint: Path | None,
    resume: Path | None,
    ends: Ends,
    printing: Printing,
) -> int:
    """Prove that a tour of INSTANCE is optimal, or find a better one that is: branch and cut.

    Most instances of up to 300 cities take seconds, those of up to 1000 minutes, and some far longer. Ctrl-C
    ends the proof and keeps the best tour and what has been proved so far.
    """
    from warptsp.interruption import FirstSignal, status
    from warptsp.solver.proving import prove

    others = [("--certificate", certificate), ("--checkpoint", checkpoint)]
    outputs.check(as_json=printing.as_json, inputs=[("the instance itself", instance.path)], others=others)
    problem, cities = with_tour(instance.load(), tour, ends)
    outputs.check_tours(problem)
    with FirstSignal() as signals:
        with make_display("none" if printing.quiet else "auto") as display:
            if cities is None and resume is None:
                display.phase("searching for a tour")
            told = _Told(display, problem)
            proof = prove(
                problem,
                cities,
                time_limit=time_limit,
                seed=seed,
                threads=threads,
                tree=tree,
                callback=told,
                certificate=certificate,
                checkpoint=checkpoint,
                resume=resume,
            )
        outputs.write(proof.tour, problem)
    facts = [
        *_facts(problem, proof),
        certificate_fact(certificate, proof.proved),
        Fact("checkpoint", kept := None if checkpoint is None else str(checkpoint), kept),
    ]
    outputs.show(facts, printing)
    return 0 if signals.caught is None else status(signals.caught)


class _Told:
    """Shows where a proof is, now and then."""

    def __init__(self, display: NoDisplay, problem: Problem) -> None:
        self._display, self._problem = display, problem
        self._pause = LIVE_SECONDS if sys.stderr.isatty() else LOG_SECONDS
        self._next = 0.0

    def __call__(self, progress: ProofProgress) -> None:
        if progress.seconds < self._next:
            return
        self._next = progress.seconds + self._pause
        self._display.phase(_stand(self._problem, progress))


def _stand(problem: Problem, progress: ProofProgress) -> str:
    from warptsp.progress import relative_gap
    from warptsp.quantities import format_gap, length_text

    unit = problem.metric.unit
    parts = [
        f"proving: {length_text(progress.length, unit)}",
        f"none below {length_text(progress.lower_bound, unit, down=True)}",
    ]
    gap = relative_gap(progress.length, progress.lower_bound) if progress.lower_bound > 0 else None
    if gap is not None:
        parts.append(f"at most {format_gap(gap)} too long")
    if progress.nodes:
        parts.append(f"{progress.nodes} nodes, {progress.open_nodes} open")
    return ", ".join(parts)


def _facts(problem: Problem, proof: Proof) -> list[Fact]:
    from warptsp.progress import in_percent
    from warptsp.quantities import format_gap, length_text

    kind = "tour" if problem.open is None else "path"
    unit = problem.metric.unit
    bound, root = (length_text(value, unit, down=True) for value in (proof.lower_bound, proof.root_bound))
    if proof.proved:
        told = f"optimal, proved: no {kind} is shorter"
        if not problem.integral and proof.length != 0:
            told += f" than {bound}, which is rounded down"
    elif proof.bound_gap is None:
        told = "none: the proof ended before one was proved"
    else:
        told = f"at most {format_gap(proof.bound_gap)} above the shortest: none is below {bound}"
    cuts = ", ".join(f"{count} {name}" for name, count in proof.cuts.items()) or "none"
    time = f"{proof.seconds:.2f} s, {proof.search_seconds:.2f} s of them in the search for a tour"
    nodes = f"{root} without branches, {proof.nodes} nodes with them"
    return [
        Fact("instance", problem.name),
        Fact("cities", problem.n),
        Fact("open", problem.open is not None),
        Fact("length", proof.length, length_text(proof.length, unit)),
        Fact("skipped", proof.skipped, proof.skipped, "given up"),
        Fact("proved_optimal", proof.proved),
        Fact("lower_bound", proof.lower_bound, told, "bound"),
        Fact("bound_gap_percent", in_percent(proof.bound_gap)),
        Fact("root_bound", proof.root_bound, nodes, "root"),
        Fact("nodes", proof.nodes),
        Fact("cuts", proof.cuts, cuts),
        Fact("seconds", proof.seconds, time, "time"),
        Fact("search_seconds", proof.search_seconds),
        Fact("interrupted", proof.interrupted),
    ]
