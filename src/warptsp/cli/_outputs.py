"""What commands write: tours, pictures, a page, and what they say of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from warptsp._facts import Fact
from warptsp._words import counted
from warptsp.cli import _values
from warptsp.cli._command import file_option, option
from warptsp.cli._completion import tour_formats
from warptsp.cli._drawing import Axes, Map
from warptsp.cli._options import Printing
from warptsp.cli.streams import tell
from warptsp.endings import FIGURES, PAGES, PICTURES, ends_in
from warptsp.errors import InvalidOption, OutputError
from warptsp.outputs import Attempts, ReaderGone, check_outputs

if TYPE_CHECKING:
    from warptsp.io.format import Format
    from warptsp.problem import Problem
    from warptsp.problem.itinerary import Timing
    from warptsp.result import Result


class Written(NamedTuple):
    """The names under which a tour is, and what has failed."""

    names: list[str]
    attempts: Attempts


@dataclass(frozen=True, kw_only=True)
class TourOutputs(Printing):
    """Where a command writes its tour: files, - for stdout, or nowhere; and how it says its result."""

    tours: Annotated[
        tuple[str, ...],
        file_option(
            "Write the tour; the ending sets the format, - is stdout. May be given several times.",
            "FILE",
            "-o",
            "--output",
        ),
    ]
    output_format: str | None = None
    csv_safe: bool = False
    speed: float | None = None
    stop_time: float = 0.0
    depart: str | None = None

    @property
    def times(self) -> dict[str, Any]:
        """What tells when a tour is where, as `Timing` takes it."""
        return {"speed": self.speed, "stop_time": self.stop_time, "depart": self.depart}

    @property
    def tour_files(self) -> list[str]:
        """The tours that do not go to standard output."""
        return [name for name in self.tours if name != "-"]

    @property
    def to_stdout(self) -> bool:
        """Whether a tour does, so that nothing else may."""
        return "-" in self.tours

    def format_of(self, name: str) -> str | None:
        """The format of a tour, if its name does not say it."""
        return (self.output_format or "tsplib") if name == "-" else None

    def check(
        self, inputs: Iterable[tuple[str, Path]], others: Iterable[tuple[str, str | Path | None]] = ()
    ) -> list[Format]:
        """Check before any work that every file can be written, and that no two are the same.

        Inputs stand behind what they are, and what else is written behind its option. Returns the formats of
        the tours.
        """
        from warptsp.io.registry import format_to_write

        if self.as_json and self.to_stdout:
            raise InvalidOption("--json and --output -: both want stdout; give the tour a file")
        formats = [format_to_write(name, self.format_of(name), tour=True) for name in self.tours]
        check_outputs([*(("--output", name) for name in self.tours), *others], inputs)
        return formats

    def check_tours(self, problem: Problem) -> None:
        """Check before the search that the formats can hold tours of the instance."""
        from warptsp.io.tours import check_tour_output

        for name in self.tours:
            check_tour_output(name, problem, self.format_of(name))
        self.timing().check(problem)

    def timing(self) -> Timing:
        """The same, checked."""
        from warptsp.problem.itinerary import Timing

        return Timing(**self.times)

    def save(self, problem: Problem, tour: Any, names: Iterable[str], attempts: Attempts) -> list[str]:
        """Write a tour into files, and return the names of those that are there then."""
        from warptsp.io import write_tour

        how = {"csv_safe": self.csv_safe, **self.times}
        return [
            name
            for name in names
            if attempts.make(write_tour, name, tour, problem, format=self.format_of(name), **how)
        ]

    def write(self, problem: Problem, tour: Any) -> Written:
        """Write the tour everywhere, stdout last; what fails does not keep the others from it."""
        attempts = Attempts()
        names = self.save(problem, tour, sorted(self.tours, key="-".__eq__), attempts)
        return Written(names or self.rescued(problem, tour, attempts), attempts)

    def rescued(self, problem: Problem, tour: Any, attempts: Attempts) -> list[str]:
        """Write a tour that is nowhere, as all have failed, among the temporary files."""
        from warptsp.io import write_tour

        def write(name: str) -> None:
            write_tour(name, tour, problem, format="tsplib")

        return rescued("the tour is", write, attempts, ".tour")

    def tell(self, facts: Iterable[Fact], written: Written) -> None:
        """Say the facts of a result, and where the tour is, on stderr if that is stdout; then what failed."""
        self.show(
            [*facts, *output_facts(written.names, None if self.tours else "it")], on_stderr=self.to_stdout
        )
        written.attempts.finish()


def rescued(what: str, write: Callable[[str], None], attempts: Attempts, ending: str = "") -> list[str]:
    """Write what is nowhere, as attempts have failed, among the temporary files, and tell where.

    A reader that is gone does not want it.
    """
    if all(isinstance(error, ReaderGone) for error in attempts.failures):
        return []
    import secrets
    from tempfile import gettempdir

    with suppress(OSError, OutputError):
        name = os.path.join(gettempdir(), f"warptsp-{secrets.token_hex(8)}{ending}")
        write(name)
        tell(f"warptsp: note: {what} in {name}, as what was asked for could not be written")
        return [name]
    return []


def output_facts(names: Sequence[str], what: str | None) -> list[Fact]:
    """Where something was written: the first file and all of them, or how to; None if that was tried."""
    where = names or ([] if what is None else [f"not written; --output FILE writes {what}"])
    return [
        Fact("output", next(iter(names), None)),
        Fact("outputs", list(names)),
        *(Fact("", words=words, name="output") for words in where),
    ]


def check_page_name(name: Path | str | None, option: str) -> None:
    """Make sure that a file will be taken for a page, and that no tour is overwritten by mistake."""
    if name is not None and not ends_in(name, PAGES):
        raise InvalidOption(f"{option} {str(name)!r}: the name must end in .html, the page that is written")


@dataclass(frozen=True, kw_only=True)
class Outputs(TourOutputs):
    """The options of ``warptsp solve`` that name files, and those that say how they are written."""

    tours: Annotated[
        tuple[str, ...],
        file_option(
            "Write the tour; the ending sets the format: .tour (TSPLIB), .csv, .xlsx, .geojson, .gpx, .kml, "
            ".npy; - is stdout, in TSPLIB format or that of --output-format. May be given several times.",
            "FILE",
            "-o",
            "--output",
        ),
    ]
    output_format: Annotated[
        str | None,
        option(
            "Format of the tour that --output - writes to stdout: csv, geojson, gpx, ...",
            "NAME",
            shell_complete=tour_formats,
        ),
    ]
    speed: Annotated[
        float | None,
        option(
            "Give travel times at this speed: 60 (km/h), 37mph, 5m/s; needs latitudes and longitudes.",
            "SPEED",
            type=_values.speed,
        ),
    ]
    stop_time: Annotated[
        float, option("Time at each stop on the way: 5m, 90s.", "TIME", type=_values.stop_time, default="0s")
    ]
    depart: Annotated[str | None, option("When the tour starts: 08:00. Gives each arrival.", "HH:MM")]
    pictures: Annotated[
        tuple[str, ...],
        file_option(
            "Draw the tour (.svg, .png), or the run (.pdf: start tour, tour, gap over time; needs "
            "matplotlib).",
            "FILE",
            "--picture",
        ),
    ]
    report: Annotated[
        str | None,
        file_option("Write an HTML page about the run (.html); it opens in any browser, without a network."),
    ]
    checkpoint: Annotated[
        str | None,
        file_option(
            "Save the best tour here at intervals, and what is proved in FILE.proof; --start continues from "
            "it."
        ),
    ]
    csv_safe: Annotated[
        bool,
        option("In .csv and .tsv tours, put ' before names that a spreadsheet would take for formulas."),
    ]
    axes: Axes
    below: Map
    quiet: bool = False  # the result is said in any case

    def check_all(self, instance: Path, *, watched: bool) -> None:
        """`check` all files of the options; `watched` is whether there is a page of the search."""
        paged = watched or self.report is not None
        if self.below.chosen() is not None and not paged:
            raise InvalidOption("--tiles: only a page has a map; add --report, or leave it out")
        if self.axes.given is not None and not (paged or self.pictures):
            raise InvalidOption(
                f"{self.axes.given}: nothing is drawn; add --picture or --report, or leave it out"
            )
        if self.output_format is not None and not self.to_stdout:
            raise InvalidOption(
                "--output-format: no tour goes to stdout; add --output -, or leave it out: a file's name "
                "says its format"
            )
        others: list[tuple[str, str | None]] = [("--picture", name) for name in self.pictures]
        others += [("--report", self.report), ("--checkpoint", self.checkpoint)]
        if self.checkpoint is not None:
            from warptsp.run.checkpoint import proof_beside

            others.append(("--checkpoint", proof_beside(self.checkpoint)))
        for name in self.pictures:
            if not ends_in(name, FIGURES):
                raise InvalidOption(f"--picture {name!r}: the name must end in .svg, .png or .pdf")
        check_page_name(self.report, "--report")
        formats = self.check([("the instance itself", instance)], others)
        if self.csv_safe and all(format.guarded is None for format in formats):
            raise InvalidOption("--csv-safe: no --output is a .csv or .tsv file; add one, or leave it out")

    def drawn(self, problem: Problem) -> Problem:
        """Check before the search that the instance can be drawn, where it will be; return it so."""
        if self.pictures:
            from warptsp.plotting import check_drawable, check_figure

            for picture in self.pictures:
                (check_figure if _shows_run(picture) else check_drawable)(problem, picture)
        if self.report is not None:
            from warptsp.report import check_reportable

            check_reportable(problem, self.below.chosen())
        return self.axes.turned(problem)

    def snapshots(self, problem: Problem) -> int:
        """How many tours on the way the files show."""
        if self.report is not None:
            from warptsp.report import snapshots_for

            return snapshots_for(problem)
        return 2 if any(map(_shows_run, self.pictures)) else 0

    def write_all(self, result: Result, attempts: Attempts, *, checkpointed: bool) -> dict[str, list[str]]:
        """Write all that was asked for, standard output last; return the names of the files, by kind.

        The search may have written its checkpoint. Of a tour with missing arcs nothing is written: there is
        no such tour.
        """
        checkpoint = [] if self.checkpoint is None or not checkpointed else [self.checkpoint]
        if len(result.missing_arcs):
            return {"tour": [], "picture": [], "report": [], "checkpoint": checkpoint}
        problem, tour = result.problem, result.tour

        def draw(name: str) -> None:
            if _shows_run(name):
                result.plot(name)
            else:
                from warptsp.plotting import draw

                draw(name, problem, tour)

        def describe(name: str) -> None:
            from warptsp.report import Report, write

            write(Report.of(result, timing=self.timing(), tiles=self.below.chosen()), name)

        def made(make: Callable[[str], None], names: Sequence[str]) -> list[str]:
            return [name for name in names if attempts.make(make, name)]

        files = {
            "tour": self.save(problem, tour, self.tour_files, attempts),
            "picture": made(draw, self.pictures),
            "report": made(describe, [] if self.report is None else [self.report]),
            "checkpoint": checkpoint,
        }
        printed = self.save(problem, tour, ["-"] * self.to_stdout, attempts)
        if (self.tours or self.checkpoint) and not (files["tour"] or printed or checkpoint):
            files["tour"] = self.rescued(problem, tour, attempts)
        return files

    def tell_all(self, instance: Path, result: Result, files: dict[str, list[str]]) -> None:
        """Say what was found and which files there are: as JSON, or for people."""
        problem = result.problem
        kind = "closed tour" if problem.open is None else "open path"
        name = problem.name or ("standard input" if str(instance) == "-" else instance)
        what = f"{name}, {counted(problem.n)}, {problem.metric.words}, {kind}"
        facts = [
            Fact("file", str(instance), what, "instance"),
            *result.told(self.timing()),
            Fact("outputs", files["tour"]),
            Fact("pictures", files["picture"]),
            *(Fact(kind, next(iter(files[kind]), None)) for kind in ("report", "checkpoint")),
            *(Fact("", words=name, name=kind) for kind, names in files.items() for name in names),
        ]
        if len(result.missing_arcs):
            facts.append(Fact("", words="not written: there is none", name="tour"))
        elif not (self.tours or self.pictures or self.report or self.checkpoint):
            words = "not written; --output FILE writes it, --picture FILE draws it"
            facts.append(Fact("", words=words, name="tour"))
        if self.as_json:
            facts += [Fact(key, value) for key, value in result.as_dict(**self.times).items()]
        self.show(facts, on_stderr=self.to_stdout)


def _shows_run(picture: str) -> bool:
    return not ends_in(picture, PICTURES)
