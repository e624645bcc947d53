"""What ``warptsp solve`` writes: tours, pictures, a page, and what it says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warptsp._facts import Fact
from warptsp._words import counted
from warptsp.cli._options import Printing
from warptsp.endings import FIGURES, PICTURES, ends_in
from warptsp.errors import InvalidOption
from warptsp.outputs import Attempts, check_outputs

if TYPE_CHECKING:
    from warptsp.problem import Problem
    from warptsp.result import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The options of ``warptsp solve`` that name files, and those that say how they are written."""

    tours: tuple[str, ...]  # - is standard output
    pictures: tuple[str, ...]
    report: str | None
    checkpoint: str | None
    csv_safe: bool
    output_format: str | None
    speed: float | None
    as_json: bool

    @property
    def tour_files(self) -> list[str]:
        """The tours that do not go to standard output."""
        return [name for name in self.tours if name != "-"]

    @property
    def _stdout_format(self) -> str:
        return self.output_format or "tsplib"

    @property
    def to_stdout(self) -> bool:
        """Whether a tour does, so that nothing else may."""
        return "-" in self.tours

    def _named(self) -> Iterator[tuple[str, str]]:
        """Each file, behind the option that names it."""
        yield from (("--output", name) for name in self.tours)
        yield from (("--picture", name) for name in self.pictures)
        yield from (("--report", name) for name in [self.report] if name is not None)
        yield from (("--checkpoint", name) for name in [self.checkpoint] if name is not None)

    def check(self, instance: Path) -> None:
        """Check before anything is read that every file can be written, and that no two are the same.

        Raises
        ------
        InvalidOption, OutputError
            Naming the option.
        """
        from warptsp.io import can_guard_names, tour_format

        if self.output_format is not None:
            if not self.to_stdout:
                raise InvalidOption(
                    "--output-format: no tour goes to stdout; add --output -, or leave it out: a file's name "
                    "says its format"
                )
            tour_format("-", self.output_format)
        guarded = [can_guard_names(name) for name in self.tour_files]
        guarded += [can_guard_names("-", self._stdout_format)] * self.to_stdout
        if self.csv_safe and not any(guarded):
            raise InvalidOption("--csv-safe: no --output is a .csv or .tsv file; add one, or leave it out")
        if self.to_stdout and self.as_json:
            raise InvalidOption("--json and --output -: both want stdout; give the tour a file")
        for option, name in self._named():
            if option == "--output" and name != "-":
                tour_format(name)
            if option == "--picture" and not ends_in(name, FIGURES):
                raise InvalidOption(f"--picture {name!r}: the name must end in .svg, .png or .pdf")
            if option == "--report":
                from warptsp.cli.report import check_page_name

                check_page_name(name, option)
        check_outputs(self._named(), [("the instance itself", instance)])

    def check_tours(self, problem: Problem) -> None:
        """Check before the search that the formats can hold tours of the instance."""
        from warptsp.io import check_tour_output

        for name in self.tour_files:
            check_tour_output(name, problem)
        if self.to_stdout:
            check_tour_output("-", problem, self._stdout_format)
        if self.speed is not None:
            from warptsp.problem.itinerary import travel_seconds

            travel_seconds(problem, 0, self.speed)

    def check_drawings(self, problem: Problem) -> None:
        """Check before the search that the instance can be drawn, where it will be."""
        if self.pictures:
            from warptsp.plotting import check_drawable, check_figure

            for picture in self.pictures:
                (check_figure if _shows_run(picture) else check_drawable)(problem, picture)
        if self.report is not None:
            from warptsp.report import check_reportable

            check_reportable(problem)

    def snapshots(self, problem: Problem) -> int:
        """How many tours on the way the files show."""
        if self.report is not None:
            from warptsp.report import snapshots_for

            return snapshots_for(problem)
        return 2 if any(map(_shows_run, self.pictures)) else 0

    def save(self, problem: Problem, tour: object, names: Sequence[str], attempts: Attempts) -> list[str]:
        """Write a tour into files, and return the names of those that are there then."""
        from warptsp.io import write_tour

        def written(name: str) -> bool:
            format = self._stdout_format if name == "-" else None
            return attempts.make(
                write_tour, name, tour, problem, format=format, csv_safe=self.csv_safe, speed=self.speed
            )

        return [name for name in names if written(name)]

    def write(
        self, result: Result, first: int | None, attempts: Attempts, *, checkpointed: bool
    ) -> dict[str, list[str]]:
        """Write all that was asked for, standard output last; return the names of the files, by kind.

        Parameters
        ----------
        result : Result
        first : int or None
            The city that a closed tour begins with.
        attempts : Attempts
            Is told of what fails.
        checkpointed : bool
            Whether the search has written its checkpoint.

        Of a tour with missing arcs nothing is written: there is no such tour.
        """
        checkpoint = [] if self.checkpoint is None or not checkpointed else [self.checkpoint]
        if len(result.missing_arcs):
            return {"tour": [], "picture": [], "report": [], "checkpoint": checkpoint}
        problem = result.problem
        tour = result.tour if first is None else result.tour_from(first)

        def draw(name: str) -> None:
            if _shows_run(name):
                result.plot(name)
            else:
                from warptsp.plotting import draw

                draw(name, problem, tour)

        def describe(name: str) -> None:
            from warptsp.report import Report, write

            write(Report.of(result, first=first, speed=self.speed), name)

        def made(make: Callable[[str], None], names: Sequence[str]) -> list[str]:
            return [name for name in names if attempts.make(make, name)]

        files = {
            "tour": self.save(problem, tour, self.tour_files, attempts),
            "picture": made(draw, self.pictures),
            "report": made(describe, [] if self.report is None else [self.report]),
            "checkpoint": checkpoint,
        }
        self.save(problem, tour, [name for name in self.tours if name == "-"], attempts)
        return files

    def tell(self, instance: Path, result: Result, files: dict[str, list[str]]) -> None:
        """Say what was found and which files there are: as JSON, or for people."""
        problem = result.problem
        kind = "closed tour" if problem.open is None else "open path"
        name = problem.name or ("standard input" if str(instance) == "-" else instance)
        what = f"{name}, {counted(problem.n)}, {problem.metric.words}, {kind}"
        facts = [
            Fact("file", str(instance), what, "instance"),
            *result.told(speed=self.speed),
            Fact("outputs", files["tour"]),
            Fact("pictures", files["picture"]),
            *(Fact(kind, next(iter(files[kind]), None)) for kind in ("report", "checkpoint")),
            *(Fact("", words=name, name=kind) for kind, names in files.items() for name in names),
        ]
        if len(result.missing_arcs):
            facts.append(Fact("", words="not written: there is none", name="tour"))
        elif not self.to_stdout and not any(files.values()):
            words = "not written; --output FILE writes it, --picture FILE draws it"
            facts.append(Fact("", words=words, name="tour"))
        if self.as_json:
            facts += [Fact(key, value) for key, value in result.as_dict(speed=self.speed).items()]
        Printing(self.as_json).show(facts, on_stderr=self.to_stdout)


def _shows_run(picture: str) -> bool:
    return not ends_in(picture, PICTURES)
