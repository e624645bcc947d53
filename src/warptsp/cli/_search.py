"""What the options of ``warptsp solve`` say of the search: the ends of the tour, when it stops, and how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Literal

import click

from warptsp.cli._options import grouped, parse_params
from warptsp.errors import InvalidOption

if TYPE_CHECKING:
    from warptsp.problem import Problem
    from warptsp.stop import StoppingCriterion


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Where a tour begins and ends."""

    open_: bool | None
    from_: str | None
    to: str | None

    def of(self, problem: Problem) -> tuple[Problem, int | None]:
        """Return the problem with these ends, and the first city of a closed tour if one was named.

        Raises
        ------
        InvalidOption
            There are no such cities, or the options contradict each other.
        """
        from warptsp.solver.inputs import with_ends

        return with_ends(problem, self.from_, self.to, self.open_)

    def of_path(self, problem: Problem) -> Problem:
        """Return the problem with these ends, for what says nothing of where a closed tour begins.

        Raises
        ------
        InvalidOption
            As `of`; or the tour is closed and its first city is named.
        """
        found, first = self.of(problem)
        if first is not None:
            raise InvalidOption(
                "--from: a closed tour has no first city here; give --open for a path from it"
            )
        return found


def ends_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--open``, ``--closed``, ``--from`` and ``--to``; the command gets `Ends`."""
    added = [
        click.option(
            "--open/--closed",
            "open_",
            default=None,
            help="An open path with free ends, or a closed tour.  [default: as the files say]",
        ),
        click.option(
            "--from", "from_", metavar="CITY", help="City where the tour or path starts: number or name."
        ),
        click.option("--to", metavar="CITY", help="City where the path ends; implies --open."),
    ]
    return reduce(lambda found, option: option(found), reversed(added), grouped(ends=Ends)(command))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stops:
    """The options that end a search; `criterion` has what each of them means."""

    time_limit: float | None
    kicks: int | None
    no_improvement: float | None
    no_improvement_kicks: int | None
    target_length: float | None
    target_gap: tuple[float, Literal["bound"] | None] | None

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

    seed: int
    start: str | None
    merge: tuple[str, ...]
    device: str
    threads: int | None
    method: str | None
    document: str | None
    params: tuple[str, ...]
    then: str | None
    then_params: tuple[str, ...]
    cluster: str | None
    cluster_params: tuple[str, ...]
    checkpoint_interval: float
    bound: str | float
    prove: bool | None

    def arguments(self) -> dict[str, Any]:
        """Return them as `warptsp.solve` takes them."""
        arguments = {
            name: parse_params(value) if name.endswith("params") else value
            for name, value in asdict(self).items()
        }
        arguments["merge"] = list(self.merge) or None
        return {**arguments, "prove": "auto" if self.prove is None else self.prove}
