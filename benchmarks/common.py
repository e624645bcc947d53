"""What the benchmarks share: instances, child processes, machine and commit, tables."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warptsp.problem import Problem
    from warptsp.result import Result

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
DIMACS = re.compile(r"([EC])(\d+)(k|M)\.(\d+)")
UNIFORM = re.compile(r"uniform-(\d+)")
STRUCTURED = re.compile(r"(board|chip|defects)-(\d+)")


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has."""
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    options.add_argument("--quick", action="store_true", help="a quick check that takes at most a minute")
    options.add_argument("--output", type=Path, help="folder for the report, as Markdown and JSON")
    options.add_argument(
        "--shared",
        type=Path,
        default=os.environ.get("WARPTSP_SHARED", REPOSITORY.parent / "shared"),
        help="folder that has the TSPLIB instances in data/tsplib",
    )
    return options


def tsplib_file(shared: Path, name: str) -> Path:
    """Return where a TSPLIB instance is."""
    return Path(shared) / "data" / "tsplib" / f"{name}.tsp"


def is_available(shared: Path, name: str) -> bool:
    """Tell whether an instance can be generated or is in the shared folder."""
    return DIMACS.fullmatch(name) is not None or tsplib_file(shared, name).is_file()


def load(shared: Path, name: str) -> Problem:
    """Return an instance by name: DIMACS E and C, ``uniform-CITIES``, and ``board-``, ``chip-`` and
    ``defects-CITIES`` are generated, others read from the shared folder."""
    from warptsp.generate import dimacs
    from warptsp.io import load as read

    if found := UNIFORM.fullmatch(name):
        import numpy as np

        from warptsp import Problem

        n = int(found[1])
        points = np.random.default_rng(n).integers(0, 1_000_000, (n, 2))
        return Problem.from_points(points.astype(float), "EUC_2D")
    if found := STRUCTURED.fullmatch(name):
        from structured_instances import make

        from warptsp import Problem

        return Problem.from_points(make(found[1], int(found[2])), "EUC_2D")
    return dimacs(name) if DIMACS.fullmatch(name) else read(tsplib_file(shared, name))


def run_worker(job: dict[str, Any], *, python: str = sys.executable) -> Any:
    """Run one job in a process of its own and return what it found; see worker.py. One that fails ends the
    benchmark."""
    process = subprocess.run(
        [python, str(HERE / "worker.py")], input=json.dumps(job), capture_output=True, text=True, check=False
    )
    lines = process.stdout.strip().splitlines()
    if process.returncode != 0 or not lines:
        last = process.stderr.strip().splitlines()
        raise SystemExit(f"{job}: {last[-1] if last else f'exit status {process.returncode}'}")
    return json.loads(lines[-1])


def thinned(history: Iterable[Any]) -> list[tuple[float, float]]:
    """Return a history of (seconds, length) with at most one point for each per cent of time."""
    kept: list[tuple[float, float]] = []
    for seconds, length in history:
        if len(kept) > 1 and seconds < 1.01 * kept[-2][0]:
            kept.pop()
        kept.append((round(seconds, 4), length))
    return kept


def seconds_to(history: Iterable[Sequence[float]], length: float) -> float | None:
    """Return when a history of (seconds, length) first was at most this long."""
    return next((seconds for seconds, reached in history if reached <= length), None)


def gap_percent(length: float, known: float) -> float:
    """Return how many per cent a length is over the known one."""
    return 100.0 * (length / known - 1.0)


def was_on_gpu(result: Result) -> bool:
    """Tell whether the GPU alone searched: while kernels are compiled, the CPU does."""
    return result.device != "cpu" and "seconds_on_cpu" not in result.counters


def spread(values: Sequence[float], digits: int = 3) -> str:
    """Return the median, and the range if there is more than one value."""
    middle = f"{statistics.median(values):.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def _command(*words: str) -> str:
    try:
        return subprocess.run(
            words, capture_output=True, text=True, check=True, cwd=REPOSITORY
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"model name\s*:\s*(.+)", text)
    return found[1] if found else platform.machine()


def host() -> str:
    """Return what the machine is without its GPUs."""
    return f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def provenance() -> dict[str, str]:
    """Return where, when and from which source the figures come."""
    commit = _command("git", "rev-parse", "--short=10", "HEAD") or "unknown"
    if _command("git", "status", "--porcelain", "--untracked-files=no"):
        commit += " with changes"
    gpus = _command("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()
    named = [gpu.replace(", ", " (driver ") + ")" for gpu in gpus]
    return {
        "machine": ", ".join([*named, host()]),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "commit": commit,
        "python": platform.python_version(),
        "command": " ".join([f"python benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]]),
    }


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def compact(value: Any) -> Any:
    """Return JSON in which a list of objects with the same keys is ``{"columns": [...], "rows": [...]}``."""
    if isinstance(value, dict):
        return {key: compact(part) for key, part in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) > 1 and all(isinstance(part, dict) for part in value):
        columns = list(value[0])
        if columns and all(list(part) == columns for part in value):
            return {"columns": columns, "rows": [[compact(part[key]) for key in columns] for part in value]}
    return [compact(part) for part in value]


def expand(value: Any) -> Any:
    """Return what `compact` made a value of."""
    if isinstance(value, list):
        return [expand(part) for part in value]
    if not isinstance(value, dict):
        return value
    if list(value) == ["columns", "rows"]:
        return [dict(zip(value["columns"], expand(row), strict=True)) for row in value["rows"]]
    return {key: expand(part) for key, part in value.items()}


def read_results(path: Path) -> Any:
    """Return the results in a file."""
    return expand(json.loads(path.read_text(encoding="utf-8")))


def write_results(path: Path, results: Any) -> None:
    """Write results into a file: compact, a row on a line."""
    path.write_text(_lines(compact(results)) + "\n", encoding="utf-8")


def _lines(value: Any) -> str:
    if isinstance(value, dict) and list(value) == ["columns", "rows"]:
        rows = ",\n".join(json.dumps(row) for row in value["rows"])
        return f'{{"columns": {json.dumps(value["columns"])}, "rows": [\n{rows}\n]}}'
    if isinstance(value, dict) and any(isinstance(part, list | dict) for part in value.values()):
        return "{\n" + ",\n".join(f"{json.dumps(key)}: {_lines(part)}" for key, part in value.items()) + "\n}"
    if isinstance(value, list) and any(isinstance(part, dict) for part in value):
        return "[\n" + ",\n".join(map(_lines, value)) + "\n]"
    return json.dumps(value)


def report(name: str, title: str, text: str, data: Any, output: Path | None) -> None:
    """Print a report and, if a folder is given, write it there as ``name.md`` and ``name.json``."""
    source = provenance()
    command = re.sub(r" --output \S+", "", source["command"])
    facts = f"{source['machine']}; {source['date']}, commit {source['commit']}: `{command}`."
    markdown = f"# {title}\n\n{facts}\n\n{text}\n"
    print(f"\n{markdown}")
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        (output / f"{name}.md").write_text(markdown, encoding="utf-8")
        write_results(output / f"{name}.json", {**source, "results": data})


def added_to(
    name: str, output: Path, data: dict[str, list[Any]], order: Sequence[str]
) -> dict[str, list[Any]]:
    """Return lists of results with those of other instances, in this order, that the report there has.

    Each result has its instance as ``"instance"``. The report must be of this machine and commit.
    """
    try:
        before = read_results(output / f"{name}.json")
    except FileNotFoundError:
        return data
    for key, value in provenance().items():
        if key in ("machine", "commit") and before[key] != value:
            raise SystemExit(
                f"the report in {output} is of {key} {before[key]}, this one would be of {value}"
            )
    new = {one["instance"] for results in data.values() for one in results}
    return {
        key: sorted(
            [*(one for one in before["results"].get(key, []) if one["instance"] not in new), *results],
            key=lambda one: order.index(one["instance"]),
        )
        for key, results in data.items()
    }


def note(text: str) -> None:
    """Say on stderr what is going on."""
    print(text, file=sys.stderr, flush=True)
