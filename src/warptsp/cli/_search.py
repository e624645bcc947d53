"""What the options of ``warptsp solve`` say of the search: when it stops, and how it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any

from warptsp.cli import _values
from warptsp.cli._command import option
from warptsp.cli._completion import documents, methods, starts
from warptsp.cli._options import Kicks, Seed, Threads, TimeLimit, device_option, time_option

if TYPE_CHECKING:
    from warptsp.stop import StoppingCriterion


@dataclass(frozen=True, slots=True, kw_only=True)
class Stops:
    """The options that end a search; `criterion` has what each of them means."""

    time_limit: TimeLimit
    kicks: Kicks
    no_improvement: Annotated[float | None, time_option("Stop when the tour has not improved for this time.")]
    no_improvement_kicks: Annotated[
        int | None, option("Stop when the tour has not improved for this many kicks.", "N")
    ]
    target_length: Annotated[float | None, option("Stop when the tour is no longer than this.", "LENGTH")]
    target_gap: Annotated[
        tuple[float, str | None] | None,
        option(
            "Stop when the tour is within this gap of the optimum (if known); 0.8%bound: of the lower bound.",
            "PERCENT[%bound]",
            type=_values.gap,
        ),
    ]

    def criterion(self) -> StoppingCriterion | None:
        """Return what ends the search: the first that holds; None if no option was given."""
        from warptsp import stop

        criteria: dict[str, Callable[[Any], stop.StoppingCriterion]] = {
            "time_limit": stop.MaxRuntime,
            "kicks": stop.MaxKicks,
            "no_improvement": lambda seconds: stop.NoImprovement(seconds=seconds),
            "no_improvement_kicks": lambda kicks: stop.NoImprovement(kicks=kicks),
            "target_length": stop.TargetLength,
            "target_gap": lambda gap: stop.TargetGap(*gap),
        }
        given = [(field.name, getattr(self, field.name)) for field in fields(self)]
        found = [criteria[name](value) for name, value in given if value is not None]
        return reduce(or_, found) if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The other arguments of `warptsp.solve`, by their names."""

    bound: Annotated[
        str | float,
        option(
            "Compute a lower bound during the search: auto takes at most a tenth of the processor time. lp: "
            "after it, by linear programmes, ten times closer; the search gets 0.3 of a time limit "
            "(warptsp[prove]).",
            "auto|lp|none|TIME",
            type=_values.bound_time,
            default="auto",
            show_default=True,
        ),
    ]
    prove: Annotated[
        bool | None,
        option(
            "Prove the tour optimal, or find one that is; the search gets 0.3 of a time limit. By default it "
            "is tried up to 200 cities, for a tenth of the time and half a second at most, if warptsp[prove] "
            "is there.",
            None,
            "--prove/--no-prove",
            default=None,
        ),
    ]
    seed: Seed
    start: Annotated[
        str | None,
        option(
            "Start tour: greedy (default), space-filling, nearest-neighbor, random, given, patching (default "
            "for asymmetric distances); or a tour file, such as a checkpoint, to continue from.",
            "NAME|FILE",
            shell_complete=starts,
        ),
    ]
    merge: Annotated[
        tuple[str, ...],
        option(
            "A tour to begin with, such as that of an earlier run; given several times, or with --start "
            "FILE, the tours are joined first, as by warptsp merge.",
            "FILE",
        ),
    ]
    device: Annotated[
        str,
        device_option(
            "auto|cpu|cuda|cuda:N[,M...]",
            "Where to search: auto takes a GPU for large instances; auto and cuda take all GPUs where that "
            "is faster; cuda:0,1 names them.",
        ),
    ]
    threads: Threads
    method: Annotated[
        str | None,
        option(
            "Method; warptsp methods lists them; default: lk, or that of --document.",
            "NAME",
            shell_complete=methods,
        ),
    ]
    document: Annotated[
        str | None,
        option(
            "Run the system of a published paper or thesis, 000 to 004, as it defines it: method, start "
            "tour, parameters; --method, --start and --param change it.",
            "NUMBER",
            shell_complete=documents,
        ),
    ]
    params: Annotated[tuple[str, ...], option("A parameter of the method.", "NAME=VALUE", "--param")]
    then: Annotated[
        str | None,
        option(
            "A second method, such as two-opt, that starts from the first one's tour.",
            "NAME",
            shell_complete=methods,
        ),
    ]
    then_params: Annotated[
        tuple[str, ...], option("A parameter of the second method.", "NAME=VALUE", "--then-param")
    ]
    cluster: Annotated[
        str | None,
        option(
            "Spread the search over the workers of a Dask scheduler; local, or local:N, starts N workers "
            "here.",
            "ADDRESS|local",
        ),
    ]
    cluster_params: Annotated[
        tuple[str, ...],
        option(
            "How --cluster divides the work: part, rounds, kicks, deadline, wait, attempts.",
            "NAME=VALUE",
            "--cluster-param",
        ),
    ]
    checkpoint_interval: Annotated[
        float | None, time_option("Minimum time between checkpoint writes.  [default: 5 s]")
    ]

    def arguments(self) -> dict[str, Any]:
        """Return them as `warptsp.solve` takes them."""
        arguments = {
            name: _values.parse_params(value) if name.endswith("params") else value
            for name, value in asdict(self).items()
        }
        arguments["merge"] = list(self.merge) or None
        if self.prove is None:  # which `solve` knows
            del arguments["prove"]
        return arguments
