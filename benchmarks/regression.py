"""Whether tours or speed have become worse since another version, at a fixed number of kicks.

Both versions solve the same instances with the same seeds, one thread and the same number of kicks, in turn,
so that what else the machine does falls on both. What is compared are ratios: lengths, and CPU seconds. The
exit status is 1 if a method's median ratio over the instances is beyond a margin; no absolute figure decides.

The margin of the lengths is measured: between two draws of five seeds from ten of one version, over all
instances, the median ratio of ``lk`` is off by more than 0.054 % once in a thousand draws, that of ``ils`` by
more than 0.097 %.

The other version is an interpreter that has it (``--baseline PYTHON``) or a commit, such as the tag of the
last release (``--commit REVISION``), which is built and installed into a temporary environment.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from common import REPOSITORY, is_available, note, parser, report, run_worker, table

# Name, and kicks a city. TSPLIB's are left out where they are not at hand.
INSTANCES = {
    "E1k.0": 1.0,
    "E3k.0": 1.0,
    "E10k.0": 0.5,
    "C1k.0": 2.0,
    "C3k.0": 1.0,
    "C10k.0": 0.5,
    "pcb442": 3.0,
    "pr1002": 1.0,
    "fl1577": 1.0,
    "pr2392": 1.0,
    "fnl4461": 1.0,
    "usa13509": 0.5,
}
METHODS = ("lk", "ils")
QUICK = ("E1k.0", "C1k.0")
SIDES = ("before", "now")
KEYS = ("lengths", "seconds")  # of a row of results: ratios, now to before


def main() -> None:
    options_parser = parser(__doc__)
    other = options_parser.add_mutually_exclusive_group(required=True)
    other.add_argument("--baseline", metavar="PYTHON", help="interpreter that has the other version")
    other.add_argument("--commit", metavar="REVISION", help="commit of the other version, which is built")
    options_parser.add_argument("--instances", nargs="+", default=list(INSTANCES))
    options_parser.add_argument("--methods", nargs="+", default=list(METHODS))
    options_parser.add_argument("--seeds", type=int, default=5)
    options_parser.add_argument("--longer", type=float, default=0.1, help="per cent that tours may be longer")
    options_parser.add_argument("--slower", type=float, default=10.0, help="per cent more CPU seconds")
    options = options_parser.parse_args()
    if options.quick:
        options.instances, options.seeds = QUICK, 2
    with ExitStack() as opened:
        before = options.baseline or opened.enter_context(installed(options.commit))
        results = [
            compare(options, before, method, name)
            for method in options.methods
            for name in options.instances
            if is_available(options.shared, name)
        ]
    rows = [
        [row["method"], row["instance"], row["kicks"], *(f"{100.0 * (row[k] - 1.0):+.3f} %" for k in KEYS)]
        for row in results
    ]
    text = table(["method", "instance", "kicks", "length", "CPU seconds"], rows)
    failed = False
    for method in options.methods:
        of_method = [row for row in results if row["method"] == method]
        longer, slower = (100.0 * (statistics.median(row[key] for row in of_method) - 1.0) for key in KEYS)
        worse = longer > options.longer or slower > options.slower
        failed |= worse
        text += f"\n\n{method}, medians over instances: "
        text += f"lengths {longer:+.3f} % (at most {options.longer:+g} %), "
        text += f"CPU seconds {slower:+.1f} % (at most {options.slower:+g} %): "
        text += "**worse**." if worse else "kept."
    report("regression", "Now and before", text, results, options.output)
    sys.exit(int(failed))


def compare(options: Any, before: str, method: str, name: str) -> dict[str, Any]:
    """Return the median ratios of one instance, now to before, over the seeds."""
    note(f"{method}, {name}")
    lengths, seconds = [], []
    for seed in range(1, options.seeds + 1):
        job = {
            "job": "kicks",
            "instance": name,
            "shared": str(options.shared),
            "method": method,
            "kicks_per_city": INSTANCES.get(name, 1.0),
            "seed": seed,
        }
        found = {}
        # Whoever comes first finds colder caches.
        for side in SIDES if seed % 2 else SIDES[::-1]:
            found[side] = run_worker(job, python=before if side == "before" else sys.executable)
        lengths.append(found["now"]["length"] / found["before"]["length"])
        seconds.append(found["now"]["cpu"] / found["before"]["cpu"])
    return {
        "method": method,
        "instance": name,
        "kicks": found["now"]["kicks"],
        "lengths": statistics.median(lengths),
        "seconds": statistics.median(seconds),
        "seeds": options.seeds,
    }


@contextmanager
def installed(revision: str) -> Iterator[str]:
    """Build a commit, and yield an interpreter that has it."""
    with tempfile.TemporaryDirectory() as folder:
        source, environment = Path(folder) / "source", Path(folder) / "environment"
        note(f"building {revision}")
        _run("git", "-C", str(REPOSITORY), "worktree", "add", "--detach", str(source), revision)
        try:
            _run(sys.executable, "-m", "venv", str(environment))
            python = environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
            _run(str(python), "-m", "pip", "install", "--quiet", str(source))
            yield str(python)
        finally:
            _run("git", "-C", str(REPOSITORY), "worktree", "remove", "--force", str(source))


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise SystemExit(f"{' '.join(words)}: {last[-1] if last else f'exit status {done.returncode}'}")


if __name__ == "__main__":
    main()
