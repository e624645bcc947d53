"""The page: what is in it, and what a browser may load for it."""

import base64
import hashlib
import json
import os
import platform
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from warptsp._words import as_called
from warptsp.describe import ABOVE_SHORTEST
from warptsp.errors import InvalidOption, UnsupportedProblem
from warptsp.io.places import degrees
from warptsp.io.table.tour_columns import axes_of
from warptsp.outputs import write_whole
from warptsp.plotting.coasts import packed_world
from warptsp.plotting.packed import packed_integers, packed_reals, packed_text
from warptsp.problem import KnownLength, Problem
from warptsp.problem.given_tour import check_has_no_missing_arcs
from warptsp.problem.itinerary import Itinerary, Schedule, Timing
from warptsp.problem.origin import METRES
from warptsp.quantities import format_gap, number_text
from warptsp.report.plane import HUGE, MERCATOR_LATITUDE, Plane, on_map
from warptsp.report.tiles import Tiles
from warptsp.result import HistoryPoint, Result, Snapshot
from warptsp.run import PROVED

MAX_CITIES = 10_000_000  # a page of so many is what browsers take
WITH_COORDINATES = 100_000  # cities up to which the page holds all digits of the coordinates
LEG_STEPS = 2**31 - 1  # of the longest leg: as many as the page can hold
LISTED = 1_000_000  # cities up to which it holds names and distances
POINTS = 2_000  # of a curve, at most: more than a picture of it has columns
Point = TypeVar("Point")

SCRIPTS = (
    "data.js",
    "viewer.js",
    "painters.js",
    "view.js",
    "map.js",
    "world.js",
    "labels.js",
    "itinerary.js",
    "curves.js",
    "downloads.js",
    "page.js",
)


@dataclass(frozen=True, slots=True)
class Report:
    """What a page shows.

    Attributes
    ----------
    problem : Problem
    snapshots : sequence of Snapshot
        Tours in order of time, the best one last; none for a page that gets them later.
    known : KnownLength or None
        The optimal, or else best known, length.
    history : sequence of HistoryPoint
        The curve; of the snapshots alone if it is empty.
    settings, machine : mapping of str to str
        Two lists of names and values.
    title : str
        The name of the instance if it is empty.
    timed : bool
        Whether the seconds of the snapshots mean anything.
    bound_gap : float or None
        How much longer than the shortest tour the best one can be at most, as a fraction.
    timing : Timing
        When the tour is where, in the list of stops; the reader may type another speed.
    tiles : Tiles or None
        The map that can be laid below the tour.
    proved : bool
        Whether the best tour is known to be the shortest.
    """

    problem: Problem
    snapshots: Sequence[Snapshot] = ()
    known: KnownLength | None = None
    history: Sequence[HistoryPoint] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    timed: bool = True
    bound_gap: float | None = None
    timing: Timing = field(default_factory=Timing)
    tiles: Tiles | None = None
    proved: bool = False

    @classmethod
    def of(cls, result: Result, *, timing: Timing | None = None, tiles: Tiles | None = None) -> "Report":
        """Return the report of a run: its snapshots, or its tour alone."""
        best = Snapshot(result.history[-1].seconds if result.history else 0.0, result.length, result.tour)
        return cls(
            problem=result.problem,
            snapshots=result.snapshots or (best,),
            known=result.known,
            history=result.history,
            settings=settings_of(result),
            machine=machine(result.device),
            bound_gap=result.bound_gap,
            timing=timing or Timing(),
            tiles=tiles,
            proved=result.proved_optimal,
        )

    @classmethod
    def of_tours(cls, problem: Problem, tours: Mapping[str, NDArray[np.int32]]) -> "Report":
        """Return the report of tours of an instance that were there already, by name; the best comes last.

        Raises `InvalidTour`: one has an arc that is missing from the matrix.
        """
        for name, tour in tours.items():
            check_has_no_missing_arcs(problem, tour, name)
        lengths = {name: problem.length(tour) for name, tour in tours.items()}
        names = sorted(tours, key=lambda name: lengths[name], reverse=True)
        return cls(
            problem=problem,
            snapshots=[Snapshot(float(i), lengths[name], tours[name]) for i, name in enumerate(names)],
            known=problem.known_length,
            settings={f"tour {i + 1}": name for i, name in enumerate(names)},
            timed=False,
        )


def check_reportable(problem: Problem, tiles: Tiles | None = None) -> None:
    """Make sure, before any work is done, that a page can hold the tours of an instance, and a map below."""
    if tiles is not None and not on_map(problem):
        raise InvalidOption(
            f"{as_called('tiles', '--tiles')}: a map lies below latitudes up to {MERCATOR_LATITUDE} "
            f"and longitudes; the instance has {problem.metric.description}"
        )
    if problem.n > MAX_CITIES:
        raise UnsupportedProblem(
            f"report: {problem.n} cities, and a page that browsers open holds {MAX_CITIES} at most; "
            f"draw the tour into a .png instead ({as_called('Result.save', '--picture, or warptsp plot')})"
        )


def snapshots_for(problem: Problem) -> int:
    """Return how many snapshots of a run make a good page without making it too large."""
    return 16 if problem.n <= 100_000 else 12 if problem.n <= HUGE else 6


def write(
    result: Result | Report,
    path: str | os.PathLike[str],
    *,
    tiles: str | None = None,
    attribution: str = "",
    **timing: Any,
) -> None:
    """Write the page of a report, or of a result as `warptsp.Result.report` does, into a file."""
    if isinstance(result, Result):
        chosen = None if tiles is None else Tiles(tiles, attribution)
        result = Report.of(result, timing=Timing(**timing), tiles=chosen)
    write_whole(path, render(result))


def render(report: Report, *, scripts: Sequence[str] = (), connect: str = "'none'") -> str:
    """Return the page as text.

    Parameters
    ----------
    report : Report
    scripts : sequence of str
        Further programs, modules that run after those of the page and use ``window.warptspPage``.
    connect : str
        What these may connect to, as a Content Security Policy's ``connect-src`` says it.

    Raises
    ------
    UnsupportedProblem
        If there are too many cities for a page.
    """
    check_reportable(report.problem, report.tiles)
    facts, arrays = _content(report)
    programs = [program(SCRIPTS), *scripts]
    images = "data:"
    if report.tiles is not None:
        images = "data: blob:"
        connect = " ".join([*(other for other in [connect] if other != "'none'"), report.tiles.origin])
    return assembled("page", programs, facts, arrays, images=images, connect=connect)


def assembled(
    kind: str,
    programs: Sequence[str],
    facts: Mapping[str, Any],
    arrays: Mapping[str, str],
    *,
    images: str = "data:",
    connect: str = "'none'",
) -> str:
    """Return a page of this kind (``assets/page.html``) with style, data, programs, and what it may load."""
    style = asset("page.css")
    programs = ["\n".join(program.splitlines()) for program in programs]  # as browsers see them
    policy = "; ".join(
        [
            "default-src 'none'",
            "script-src " + " ".join(_hash(program) for program in programs),
            f"style-src {_hash(style)}",
            f"img-src {images}",
            f"connect-src {connect}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    data = [_element("application/json", "facts", _json(facts))]
    data += [_element("text/plain", f"array-{name}", text) for name, text in arrays.items()]
    parts = {
        "kind": kind,
        "policy": escape(policy),
        # Half of a surrogate pair, from the name of a file, has no place in UTF-8.
        "title": escape(facts["title"].encode("utf-8", "replace").decode()),
        "style": style,
        "data": "\n".join(data),
        **{name: asset(f"{name}.html").rstrip() for name in ("play", "zoom")},
        "programs": "\n".join(f'<script type="module">{program}</script>' for program in programs),
    }
    pieces = asset("shell.html").replace("@@body@@", asset(f"{kind}.html").rstrip()).split("@@")
    # Every second piece names a part; what is put in is not searched again.
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def settings_of(result: Result) -> dict[str, str]:
    """Return what a run was asked to do, and how it ended, for people."""
    settings = {"method": result.method if result.then is None else f"{result.method}, then {result.then}"}
    settings |= {name: str(value) for name, value in result.params.items()}
    settings |= {
        "start": result.start,
        "seed": str(result.seed),
        "threads": str(result.threads),
        "device": result.device,
        "time": f"{result.seconds:.2f} s",
        "kicks": f"{result.kicks:,}".replace(",", "\u2009"),
    }
    if result.stop_reason != PROVED:  # which stands at the top of the page
        settings["stopped by"] = result.stop_reason
    return settings


def machine(device: str = "cpu") -> dict[str, str]:
    """Return what a report says about this machine, and the time."""
    from warptsp._version import __version__
    from warptsp.machine import available_threads, cpu_name

    described = {
        "processor": f"{cpu_name()}, {os.cpu_count() or 1} cores, {available_threads()} of them for warptsp",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "warptsp": __version__,
        "written": time.strftime("%Y-%m-%d %H:%M %z"),
    }
    if device.startswith("cuda"):
        from warptsp.backends.cuda import driver
        from warptsp.machine import ordinals

        names = {gpu.ordinal: gpu.name for gpu in driver.find().gpus}
        described = {"GPU": ", ".join(f"cuda:{gpu} {names[gpu]}" for gpu in ordinals(device)), **described}
    return described


# What goes into the page


def _content(report: Report) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the facts of a page, for JSON, and its arrays as text."""
    problem, snapshots, known = report.problem, report.snapshots, report.known
    plane = Plane.of(problem)
    # Cities are numbered along the best tour.
    order = np.asarray(snapshots[-1].tour) if snapshots else np.arange(problem.n, dtype=np.int32)
    number = np.empty(problem.n, dtype=np.int32)
    number[order] = np.arange(problem.n, dtype=np.int32)
    arrays = {"order": packed_integers(order, differences=False)}
    if problem.node_ids is not None:
        arrays["ids"] = packed_text("\n".join(map(str, problem.node_ids[order].tolist())))
    if plane is not None:
        for axis, name in enumerate("xy"):
            arrays[name] = packed_integers(plane.steps[order, axis], differences=True)
    table = degrees(problem, "report") if problem.geographic else problem.coordinates
    titles = axes_of(problem)
    if problem.n <= WITH_COORDINATES and table is not None:
        for title, column in zip(titles, table.T, strict=True):
            arrays[f"column-{title}"] = packed_reals(column[order])
    if problem.labels is not None and problem.n <= LISTED:
        arrays["labels"] = packed_text(json.dumps([problem.labels[city] for city in order.tolist()]))
    leg = 0.0
    if snapshots and problem.n <= LISTED:
        legs = Itinerary.of(problem, order).legs
        leg = 1.0 if problem.integral else max(float(legs.max(initial=0)), 1e-300) / LEG_STEPS
        if not problem.integral or legs.max(initial=0) < 2**31:
            arrays["legs"] = packed_integers(np.rint(legs / leg).astype(np.int64), differences=False)
        schedule = Schedule.of(problem, order, report.timing)
        if schedule is not None and schedule.seconds[-1] < 2**31:
            arrays["arrivals"] = packed_integers(np.rint(schedule.seconds).astype(np.int64), differences=True)
    if plane is not None and plane.mercator:
        arrays |= dict(zip(("world-x", "world-y", "world-sizes"), packed_world(), strict=True))
    for i, snapshot in enumerate(snapshots):
        arrays[f"tour-{i}"] = packed_integers(number[np.asarray(snapshot.tour)], differences=True)
    gap = None if report.bound_gap is None else format_gap(report.bound_gap, up=True)
    facts = {
        "title": report.title or problem.name or "Tour",
        "name": problem.name,
        "cities": problem.n,
        "metric": problem.metric.name + (", asymmetric" if problem.asymmetric else ""),
        "unit": "m along great circles" if problem.metric.unit == "m" else "",
        "metres": METRES.get(problem.unit, 0),
        "leg": leg,
        "speed": report.timing.speed,
        "stopTime": report.timing.stop_time,
        "depart": report.timing.depart,
        "seconds": problem.unit == "s",
        "integral": problem.integral,
        "closed": problem.open is None,
        "dimensions": problem.metric.dimensions,
        "fixed": number[problem.fixed_edges].tolist(),
        "known": None if known is None else {"length": _number(known.length), "proven": known.proven},
        "proved": PROVED if report.proved else None,
        "bound": gap and [ABOVE_SHORTEST, gap],
        "timed": report.timed,
        "snapshots": [
            {"seconds": s.seconds, "length": _number(s.length), "text": number_text(s.length)}
            for s in snapshots
        ],
        "history": [[p.seconds, _number(p.length)] for p in thinned(report.history, POINTS)],
        "settings": list(report.settings.items()),
        "machine": list(report.machine.items()),
        "columns": titles if f"column-{titles[0] if titles else ''}" in arrays else [],
        "exact": plane is not None and plane.exact and titles == ["x", "y"] and problem.display is None,
        "plane": None
        if plane is None
        else {"step": plane.step, "low": plane.low, "mercator": plane.mercator},
        "tiles": None if report.tiles is None else [report.tiles.template, report.tiles.credit],
    }
    return facts, arrays


def thinned(history: Sequence[Point], most: int) -> Sequence[Point]:
    """Return so many points of a curve at most, evenly over their number, with the first and the last."""
    if len(history) <= most:
        return history
    return [history[i] for i in np.linspace(0, len(history) - 1, most).astype(int).tolist()]


def _number(value: int | float) -> int | float:
    return float(value) if isinstance(value, float) else int(value)


# Text in a page


def asset(name: str) -> str:
    """Return a file of this folder's `assets` as text."""
    return resources.files("warptsp.report").joinpath("assets", name).read_text("utf-8")


def program(names: Sequence[str]) -> str:
    """Return scripts as one program, without indentation and lines of comments, a seventh of a small page."""
    text = "\n".join(asset(name) for name in names)
    return re.sub(r"^[ \t]*//.*\n|^[ \t]+", "", text, flags=re.MULTILINE)


def _hash(text: str) -> str:
    # Browsers hash the text as they have parsed it: with plain line feeds.
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(facts: Mapping[str, Any]) -> str:
    # Nothing in it may end the element that holds it, or begin another one.
    text = json.dumps(facts, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _element(kind: str, name: str, text: str) -> str:
    return f'<script type="{kind}" id="{name}">{text}</script>'
