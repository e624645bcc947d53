"""``warptsp prove``: is this tour optimal."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from warptsp._facts import Fact
from warptsp.cli._command import as_command, file_option, option
from warptsp.cli._display import NoDisplay, make_display
from warptsp.cli._options import Certificate, Ends, InstanceFile, Reading, Seed, TimeLimit, certificate_fact
from warptsp.cli._outputs import TourOutputs
from warptsp.cli._tours import with_tour

if TYPE_CHECKING:
    from warptsp.problem import Problem
    from warptsp.proof import Proof, ProofProgress


LIVE_SECONDS = 0.2
LOG_SECONDS = 10.0  # lines in a log stay


@as_command(
    "warptsp prove berlin52.tsp",
    "warptsp prove pr299.tsp --tour pr299.tour --time-limit 5m --certificate pr299.json",
    "warptsp prove vm1084.tsp --checkpoint vm1084.json --resume vm1084.json",
)
def command(
    instance: InstanceFile,
    tour: Annotated[Path | None, file_option("The tour to begin with; by default a search finds one.")],
    time_limit: TimeLimit,
    seed: Seed,
    threads: Annotated[
        int | None, option("CPU threads, for cuts and nodes of the tree.  [default: all]", "N")
    ],
    tree: Annotated[
        bool,
        option(
            "Whether branches follow; without them the proof ends with the bound of the root, which is "
            "close.",
            None,
            "--tree/--no-tree",
            default=True,
        ),
    ],
    certificate: Certificate,
    checkpoint: Annotated[
        Path | None,
        file_option(
            "Save tour, bounds and tree here (JSON), every 5 seconds and at the end; --resume goes on from "
            "it."
        ),
    ],
    resume: Annotated[Path | None, file_option("Continue from the checkpoint of an earlier proof.")],
    outputs: TourOutputs,
    ends: Ends,
    reading: Reading,
) -> int:
    """Prove that a tour of INSTANCE is optimal, or find a better one that is: branch and cut.

    Most instances of up to 300 cities take seconds, those of up to 1000 minutes, and some far longer. Ctrl-C
    ends the proof and keeps the best tour and what has been proved so far.
    """
    from warptsp.errors import OutputError
    from warptsp.interruption import FirstSignal
    from warptsp.outputs import check_outputs
    from warptsp.solver.proving import prove

    others = [("--certificate", certificate), ("--checkpoint", checkpoint)]
    outputs.check([("the instance itself", instance)], others)
    if tour is not None:
        check_outputs(others, [("the tour", tour)])
    if resume is not None:  # which only a new checkpoint may replace
        check_outputs(
            [("--output", name) for name in outputs.tours], [("the proof that this one continues", resume)]
        )
    problem, cities = with_tour(reading.load(instance), tour, ends)
    outputs.check_tours(problem)
    with FirstSignal() as signals:
        with make_display("none" if outputs.quiet else "auto") as display:
            if cities is None and resume is None:
                display.phase("searching for a tour")
            told = _Told(display, problem)
            failed: OutputError | None = None
            try:
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
            except OutputError as error:  # a certificate or checkpoint that cannot be written costs no tour
                if not hasattr(error, "result"):
                    raise
                failed, proof = error, error.result
        written = outputs.write(problem, proof.tour)
        if failed is not None:
            written.attempts.failures.insert(0, failed)
    facts = [
        *_facts(problem, proof),
        certificate_fact(
            certificate if proof.certified or not failed else None,
            proof.certified,
            "the proof came to no bound of its own",
        ),
        Fact("checkpoint", kept := None if failed or checkpoint is None else str(checkpoint), kept),
    ]
    outputs.tell(facts, written)
    return signals.status


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

    unit = problem.unit
    parts = [
        f"proving: {length_text(progress.length, unit)}",
        f"none below {length_text(progress.lower_bound, unit, down=True)}",
    ]
    gap = relative_gap(progress.length, progress.lower_bound)
    if gap is not None and math.isfinite(gap):
        parts.append(f"at most {format_gap(gap, up=True)} too long")
    if progress.nodes:
        parts.append(f"{progress.nodes} nodes, {progress.open_nodes} open")
    return ", ".join(parts)


def _facts(problem: Problem, proof: Proof) -> list[Fact]:
    from warptsp.progress import in_percent
    from warptsp.quantities import format_gap, length_text
    from warptsp.result import optimal_words

    unit = problem.unit
    bound, root = (length_text(value, unit, down=True) for value in (proof.lower_bound, proof.root_bound))
    if proof.proved:
        told = optimal_words(problem, proof.length, proof.lower_bound)
    elif proof.bound_gap is None:
        told = "none: the proof ended before one was proved"
    else:
        told = f"at most {format_gap(proof.bound_gap, up=True)} above the shortest: none is below {bound}"
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
