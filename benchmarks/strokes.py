"""Travel of pen plotters, lasers and drills: warptsp beside vpype's linesort, with its two-opt, and greedy.

The drawings are generated here, from fixed seeds: hatching, stippling, outlines of text in a font that
matplotlib ships, circles, a board with 20 000 holes for 6 tools, the layers of a sliced object, and random
strokes. All start at the origin. Groups (tools, layers) keep their order, for every program.

Each program runs in a process of its own, on one thread. CPU seconds are those of the call alone: others
share the machine, so that wall-clock time says little.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import stroke_files
from common import note, parser, report, table
from numpy.typing import NDArray

Path = NDArray[np.float64]
Drawing = tuple[list[Path], list[int]]
PATIENCE = 60  # CPU seconds after which a program is stopped
BOUND = "no order is shorter than"
PROGRAMS = ("greedy", "linesort", "linesort --two-opt", "warptsp", BOUND)
BOUNDED = ("hatching", "stippling", "board", "sliced", "segments")  # one group of loops is too large a matrix
TARGETS = {"greedy": 25.0, "linesort --two-opt": 15.0}  # per cent less travel
ASCENT, BOUND_SECONDS = 400, 100.0  # of the bound: iterations, and wall-clock seconds that end it before
TOO_LONG = {("linesort --two-opt", 100_000)}  # its time grows with the square: 9 s of CPU time for 10 000


def hatching(n: int, random: np.random.Generator) -> Drawing:
    """Parallel lines in discs, one disc after the other, as programs fill shapes."""
    paths: list[Path] = []
    while len(paths) < n:
        centre, radius = random.random(2) * 300, random.uniform(4, 15)
        angle = random.uniform(0, np.pi)
        along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        for offset in np.arange(-radius + 0.5, radius, 1.0):
            half = np.sqrt(radius**2 - offset**2)
            middle = centre + offset * across
            paths.append(np.array([middle - half * along, middle + half * along]))
    return paths[:n], [0] * n


def stippling(n: int, random: np.random.Generator) -> Drawing:
    """Dots, denser towards the middle."""
    points = random.normal(150, 50, (n, 2))
    return [point[None] for point in points], [0] * n


def text(n: int, random: np.random.Generator) -> Drawing:
    """Outlines of letters in lines of text; each is a closed path."""
    from matplotlib.textpath import TextPath

    letters = "abcdefghijklmnopqrstuvwxyz     "
    paths: list[Path] = []
    row = 0
    while len(paths) < n:
        words = "".join(letters[i] for i in random.integers(0, len(letters), 60))
        for polygon in TextPath((0, -12.0 * row), words, size=10).to_polygons():
            paths.append(np.array(polygon))
        row += 1
    return paths[:n], [0] * n


def circles(n: int, random: np.random.Generator) -> Drawing:
    """Circles of 32 corners, in no order."""
    turn = np.linspace(0, 2 * np.pi, 33)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    ring[-1] = ring[0]
    return [random.random(2) * 300 + random.uniform(0.5, 3) * ring for _ in range(n)], [0] * n


def board(n: int, random: np.random.Generator) -> Drawing:
    """Holes on a grid of 0.1 in, for 6 tools: rows of pins, vias anywhere."""
    paths, tools = [], []
    while len(paths) < n:
        tool = int(random.choice(6, p=[0.4, 0.25, 0.15, 0.1, 0.06, 0.04]))
        place = np.round(random.random(2) * [400, 300] / 2.54) * 2.54
        pins = 1 if tool == 0 else int(random.integers(2, 20))
        step = np.array([2.54, 0.0]) if random.random() < 0.5 else np.array([0.0, 2.54])
        for pin in range(pins):
            paths.append((place + pin * step)[None])
            tools.append(tool)
    order = np.argsort(tools[:n], kind="stable")
    return [paths[i] for i in order], sorted(tools[:n])


def sliced(n: int, random: np.random.Generator) -> Drawing:
    """Layers of an object with six towers: two walls around each, and lines of infill that turn by layer."""
    paths: list[Path] = []
    layers: list[int] = []
    turn = np.linspace(0, 2 * np.pi, 41)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    ring[-1] = ring[0]
    centres = random.random((6, 2)) * 80
    layer = 0
    while len(paths) < n:
        along = np.array([[1, 1], [1, -1]])[layer % 2] / np.sqrt(2)
        across = np.array([-along[1], along[0]])
        for tower, centre in enumerate(centres):
            radius = 8 + 3 * np.sin(layer / 9 + tower)
            found = [centre + radius * ring, centre + (radius - 0.5) * ring]
            for offset in np.arange(-radius + 1.5, radius - 1, 1.2):
                half = np.sqrt(max((radius - 1) ** 2 - offset**2, 0.0))
                middle = centre + offset * across
                found.append(np.array([middle - half * along, middle + half * along]))
            paths += found
            layers += [layer] * len(found)
        layer += 1
    return paths[:n], layers[:n]


def segments(n: int, random: np.random.Generator) -> Drawing:
    """Strokes of one length anywhere and in any direction."""
    start, angle = random.random((n, 2)) * 10 * np.sqrt(n), random.uniform(0, 2 * np.pi, n)
    ends = start + 10 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return list(np.stack([start, ends], axis=1)), [0] * n


KINDS: dict[str, Callable[[int, np.random.Generator], Drawing]] = {
    "hatching": hatching, "stippling": stippling, "text": text, "circles": circles, "board": board,
    "sliced": sliced, "segments": segments,
}  # fmt: skip
SIZES = {**dict.fromkeys(KINDS, (10_000,)), "board": (20_000,), "segments": (10_000, 100_000)}
LIMITS = {1_000: 5.0, 10_000: 5.0, 20_000: 10.0, 100_000: 30.0}  # seconds


def drawn(kind: str, n: int) -> Drawing:
    """The drawing of a name; the same in every process."""
    return KINDS[kind](n, np.random.default_rng(1))


def travel(paths: list[Path]) -> float:
    """From the origin to the first, and from each to the next."""
    ends = np.array([[0.0, 0.0], *(path[-1] for path in paths[:-1])])
    return float(np.hypot(*(np.array([path[0] for path in paths]) - ends).T).sum())


def by_greedy(paths: list[Path], groups: list[int]) -> list[Path]:
    """The nearest end next, group after group."""
    from scipy.spatial import cKDTree

    at, out = np.zeros(2), []
    for group in sorted(set(groups)):
        members = [path for path, g in zip(paths, groups, strict=True) if g == group]
        ends = np.array([[path[0], path[-1]] for path in members]).reshape(-1, 2)
        left = np.ones(len(members), dtype=bool)
        alive, tree = np.arange(len(ends)), cKDTree(ends)
        for _ in members:
            if left.sum() * 4 < len(alive):
                alive = np.flatnonzero(left[np.arange(len(ends)) // 2])
                tree = cKDTree(ends[alive])
            count = 8
            while True:
                found = alive[np.atleast_1d(tree.query(at, k=min(count, len(alive)))[1])]
                fresh = found[left[found // 2]]
                if len(fresh):
                    break
                count *= 4
            stroke, last = divmod(int(fresh[0]), 2)
            left[stroke] = False
            path = members[stroke][::-1] if last else members[stroke]
            out.append(path)
            at = path[-1]
    return out


def by_linesort(paths: list[Path], groups: list[int], command: str) -> list[Path]:
    """vpype's linesort, a layer for each group, counted from 1; holes are lines to themselves."""
    import vpype
    import vpype_cli

    document = vpype.Document()
    for group in sorted(set(groups)):
        lines = [
            np.array([complex(*p) for p in (path if len(path) > 1 else np.repeat(path, 2, axis=0))])
            for path, g in zip(paths, groups, strict=True) if g == group
        ]  # fmt: skip
        document.add(vpype.LineCollection(lines), group + 1)
    found = vpype_cli.execute(command, document)
    return [
        np.stack([line.real, line.imag], axis=1)
        for group in sorted(set(groups)) for line in found.layers[group + 1]
    ]  # fmt: skip


def by_warptsp(paths: list[Path], groups: list[int], seconds: float) -> list[Path]:
    """`arrange` with a wall-clock limit."""
    from warptsp.strokes import arrange

    plan = arrange(paths, groups=groups, home=[0, 0], time_limit=seconds, threads=1, device="cpu")
    return plan.drawn(paths)


def stretched(seconds: float) -> float:
    """The wall-clock time in which a process gets so many CPU seconds, as the machine is at this moment."""
    cpu, wall = time.process_time(), time.perf_counter()
    while time.process_time() - cpu < 0.5:
        pass
    return seconds * max(1.0, (time.perf_counter() - wall) / (time.process_time() - cpu))


def bound(kind: str, n: int) -> float:
    """Travel that no order of the strokes goes below, proved (docs/bounds.md).

    Group by group: the first begins at the origin, the others anywhere, and the way to the next is left out.
    A closed stroke may be left at another of its vertices than the one where it was entered.
    """
    paths, groups = drawn(kind, n)
    numbers = sorted(set(groups))
    return sum(
        _group_bound([path for path, g in zip(paths, groups, strict=True) if g == group], group == numbers[0],
                     BOUND_SECONDS / len(numbers))
        for group in numbers
    )  # fmt: skip


def _group_bound(paths: list[Path], at_origin: bool, seconds: float) -> float:
    from warptsp import OpenPath, Problem, lower_bound

    home = np.zeros((1, 2))[: 1 if at_origin else 0]
    if any(_is_loop(path) for path in paths):
        return _bound_with_loops(paths, at_origin, seconds)
    counts = [min(len(path), 2) for path in paths]
    points = np.concatenate(
        [home, *(path[[0, -1]][:count] for path, count in zip(paths, counts, strict=True))]
    )
    first = len(home) + np.concatenate([[0], np.cumsum(counts)[:-1]])
    edges = np.array([[city, city + 1] for city, count in zip(first, counts, strict=True) if count == 2])
    strokes = sum(float(np.hypot(*(path[-1] - path[0]))) for path in paths)
    problem = Problem.from_points(
        points, fixed_edges=edges.reshape(-1, 2).astype(int), open=OpenPath(0 if at_origin else None, None)
    )
    return float(lower_bound(problem, time_limit=seconds, iterations=ASCENT, threads=1).value) - strokes


def _is_loop(path: Path) -> bool:
    return len(path) > 2 and bool((path[0] == path[-1]).all())


def _bound_with_loops(paths: list[Path], at_origin: bool, seconds: float) -> float:
    """The same from a matrix: between two closed strokes is the way between their nearest vertices."""
    from scipy.spatial.distance import cdist

    from warptsp import OpenPath, Problem, lower_bound

    cities = [np.zeros((1, 2))] if at_origin else []
    edges = []
    for path in paths:
        if _is_loop(path):
            cities.append(path)
        else:
            cities += [path[:1], path[-1:]]
            edges.append([len(cities) - 2, len(cities) - 1])
    points = np.concatenate(cities)
    first = np.cumsum([0, *(len(city) for city in cities[:-1])])
    apart = np.minimum.reduceat(np.minimum.reduceat(cdist(points, points), first, axis=0), first, axis=1)
    for a, b in edges:
        apart[a, b] = apart[b, a] = 0.0
    np.fill_diagonal(apart, 0.0)
    problem = Problem.from_matrix(
        apart, fixed_edges=np.array(edges).reshape(-1, 2), open=OpenPath(0 if at_origin else None, None)
    )
    return float(lower_bound(problem, time_limit=seconds, iterations=ASCENT, threads=1).value)


def measure(kind: str, n: int, program: str) -> dict[str, Any]:
    """One program on one drawing, in this process."""
    paths, groups = drawn(kind, n)
    if program == "warptsp":  # imports are not part of the work
        by_warptsp(paths[:20], groups[:20], 0.1)
    elif program.startswith("linesort"):
        by_linesort(paths[:20], groups[:20], program)
    limit = stretched(LIMITS[n]) if program == "warptsp" else 0.0
    cpu, wall = time.process_time(), time.perf_counter()
    if program == BOUND:
        return {"drawing": kind, "strokes": n, "program": program, "travel": bound(kind, n),
                "cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}  # fmt: skip
    if program == "greedy":
        found = by_greedy(paths, groups)
    elif program == "warptsp":
        found = by_warptsp(paths, groups, limit)
    else:
        found = by_linesort(paths, groups, program)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {
        "drawing": kind,
        "strokes": n,
        "program": program,
        "travel": travel(found),
        "cpu": cpu,
        "wall": wall,
    }


def tried(kind: str, n: int, program: str) -> bool:
    """Whether a program is worth its time on a drawing."""
    if program == BOUND:
        return kind in BOUNDED
    return (program, n) not in TOO_LONG


def apart(kind: str, n: int, program: str) -> dict[str, Any]:
    """The same in a process of its own, which may use so many CPU seconds."""
    if not tried(kind, n, program):
        return {"drawing": kind, "strokes": n, "program": program, "travel": None}

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))

    command = [sys.executable, __file__, "--one", kind, str(n), program]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited, check=False)
    if done.returncode:
        note(done.stderr[-300:])
        return {"drawing": kind, "strokes": n, "program": program, "travel": None}
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    note(str(row))
    return row


def shown(rows: list[dict[str, Any]]) -> str:
    """A row for each drawing: travels, how much shorter ours is, and the CPU seconds."""
    lines = []
    for kind, n in dict.fromkeys((row["drawing"], row["strokes"]) for row in rows):
        by = {row["program"]: row for row in rows if (row["drawing"], row["strokes"]) == (kind, n)}
        ours = by["warptsp"]["travel"]

        def cell(
            program: str, by: dict[str, Any] = by, ours: float = ours, kind: str = kind, n: int = n
        ) -> str:
            row = by[program]
            if row["travel"] is None:
                return f"not done in {PATIENCE} s" if tried(kind, n, program) else "-"
            less = "" if program == "warptsp" else f" ({100 * (1 - ours / row['travel']):.1f} %)"
            return f"{row['travel']:.0f}{less}, {row['cpu']:.1f} s"

        lines.append([kind, n, *(cell(program) for program in PROGRAMS)])
    return table(["drawing", "strokes", *PROGRAMS], lines)


def targets(rows: list[dict[str, Any]]) -> str:
    """Which targets are met, from the same rows, and which no order could meet, by the bounds."""
    travels: dict[tuple[str, int], dict[str, float]] = {}
    for row in rows:
        if row["travel"] is not None:
            travels.setdefault((row["drawing"], row["strokes"]), {})[row["program"]] = row["travel"]
    lines = []
    for other, wanted in TARGETS.items():
        kinds: dict[str, list[str]] = {"met": [], "missed": [], "out of reach": []}
        for (kind, n), by in travels.items():
            if other not in by:
                continue
            less = 100 * (1 - by["warptsp"] / by[other])
            most = 100 * (1 - by[BOUND] / by[other]) if BOUND in by else 100.0
            name = "met" if less >= wanted else "out of reach" if most < wanted else "missed"
            limit = f", at most {most:.1f} %" if name != "met" and BOUND in by else ""
            kinds[name].append(f"{kind} {n} ({less:.1f} %{limit})")
        lines.append([f"{wanted:.0f} % less than {other}", *("; ".join(kinds[k]) or "-" for k in kinds)])
    slow = [f"{row['drawing']} {row['strokes']} ({row['cpu']:.1f} s)" for row in rows
            if row["program"] == "warptsp" and row["cpu"] > LIMITS[row["strokes"]]]  # fmt: skip
    within = "all others" if slow else "all"
    lines.append(["CPU seconds within the limit", within, "; ".join(slow) or "-", "-"])
    return table(["target", "met", "missed", "out of reach"], lines)


READING = f"""Travel, how much less of it warptsp leaves, and CPU seconds of one thread. `greedy` goes to the
nearest end, and so does vpype's `linesort`, which `--two-opt` improves. warptsp had {LIMITS[10_000]:g} s for
up to 10 000 strokes, {LIMITS[20_000]:g} for 20 000 and {LIMITS[100_000]:g} for 100 000, more where others
kept the machine busy. The last column is a proved lower bound, which leaves out the ways between groups and
those along closed strokes; its percentage says how much longer warptsp's travel is."""

REACHED = """## Targets: met and missed

A target is out of reach where the bound proves that no order of these strokes saves so much.
"""


def main() -> None:
    """Measure all, or one program on one drawing, which is what a process of its own is for."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]), sys.argv[4])))
        return
    options = parser(__doc__).parse_args()
    cases = [(kind, n) for kind in KINDS for n in ((1_000,) if options.quick else SIZES[kind])]
    rows = [apart(kind, n, program) for kind, n in cases for program in PROGRAMS]
    files = stroke_files.measured(options.quick)
    report(
        "strokes",
        "How much travel strokes save",
        f"{READING}\n{shown(rows)}\n\n{REACHED}\n{targets(rows)}\n\n{stroke_files.section(files)}",
        [*rows, *files],
        options.output,
    )


if __name__ == "__main__":
    main()
