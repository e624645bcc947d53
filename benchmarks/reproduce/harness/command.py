"""The command line of the studies."""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.common import REPOSITORY, note
from benchmarks.reproduce.harness.measuring import machine, measure
from benchmarks.reproduce.harness.pages import fill_page, markdown, write_report
from benchmarks.reproduce.harness.results import DEVICES, Results, read_cells, write_cells
from benchmarks.reproduce.harness.study import Setting, Study, name_of, title_of

CELLS = "cells.jsonl"
EXAMPLES = """\
examples:
  python -m benchmarks.reproduce --list
  python -m benchmarks.reproduce swap_versions symmetric_table   two studies, on the CPU, in minutes
  python -m benchmarks.reproduce --device both --resume          all of them; goes on where it was cut off
  python -m benchmarks.reproduce two_opt_sizes --device cuda --full

Reports, pictures and measured cells are in the folder of --output. Studies of documents 002 to 004 need
instances of TSPLIB (http://comopt.ifi.uni-heidelberg.de/software/TSPLIB95/), unpacked, in that of
--instances.
"""


def options_of(studies: Sequence[Study], arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduce",
        description="Measure what the documents published, and put it beside their figures.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [name_of(study) for study in studies]
    options.add_argument("studies", nargs="*", metavar="STUDY", help="those of --list; all if none")
    options.add_argument("--list", action="store_true", help="list the studies, and do nothing")
    devices = [*DEVICES, "both"]
    options.add_argument("--device", choices=devices, default="cpu", help="cpu if not given")
    size = options.add_mutually_exclusive_group()
    size.add_argument("--reduced", action="store_true", help="minutes at most on two cores; the default")
    size.add_argument("--full", action="store_true", help="as published; may take hours")
    options.add_argument("--resume", action="store_true", help="leave out what the output folder has already")
    options.add_argument("--report", action="store_true", help="measure nothing: reports of what there is")
    options.add_argument(
        "--seconds", type=float, metavar="N", help="begin no cell of a study after N seconds"
    )
    options.add_argument(
        "--cells", default="", metavar="PATTERN", help="only cells whose name matches this regular expression"
    )
    options.add_argument(
        "--side-by-side", type=int, default=1, metavar="N", help="N cells at once, where only tours count"
    )
    options.add_argument("--threads", type=int, metavar="N", help="of the CPU; all if not given")
    instances = Path(os.environ.get("WARPTSP_SHARED", REPOSITORY.parent / "shared"), "data", "tsplib")
    options.add_argument(
        "--instances",
        type=Path,
        default=instances,
        metavar="FOLDER",
        help=f"of .tsp files; {instances} if not given",
    )
    options.add_argument(
        "--output",
        type=Path,
        default=Path("reproduction"),
        metavar="FOLDER",
        help="for cells and reports; reproduction if not given",
    )
    options.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="of pages to fill; gets the cells and pictures, too"
    )
    options.add_argument("--commit", help="commit to write down, where there is no repository")
    found = options.parse_args(arguments)
    unknown = set(found.studies) - set(names)
    if unknown:
        options.error(f"no study {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return found


def chosen(studies: Sequence[Study], options: argparse.Namespace) -> Iterator[Study]:
    """Yield the studies that are asked for, in the order that they were asked for."""
    by_name = {name_of(study): study for study in studies}
    for name in options.studies or by_name:
        yield by_name[name]


def main(studies: Sequence[Study], arguments: Sequence[str] | None = None) -> None:
    """Run studies as the command line says."""
    from warptsp.devices import describe

    options = options_of(studies, arguments)
    if options.list:
        for study in studies:
            print(f"{name_of(study):20} {study.DOCUMENT}  {title_of(study)}")
        return
    path = options.output / CELLS
    options.output.mkdir(parents=True, exist_ok=True)
    devices = list(DEVICES) if options.device == "both" else [options.device]
    wanted = list(chosen(studies, options))
    if "cuda" in devices and not options.report:
        found = describe()
        if not found["gpus"]:
            raise SystemExit(f"--device {options.device}: {found['gpu_why']}")
    if not (options.report or options.instances.is_dir()):
        note(f"no folder {options.instances}: TSPLIB instances cannot be measured; --instances names another")
    if not options.resume and not options.report:
        names = {name_of(study) for study in wanted}
        kept = [r for r in read_cells(path) if r["study"] not in names or r["device"] not in devices]
        write_cells(path, kept)
    for study in wanted:
        for device in () if options.report else devices:
            setting = Setting(
                device, options.full, options.instances, options.threads, options.cells, options.side_by_side
            )
            until = time.monotonic() + (options.seconds or math.inf)
            measure(study, setting, path, machine(setting, options.commit), until)
        results = Results([row for row in read_cells(path) if row["study"] == name_of(study)])
        text = write_report(study, results, options.output)
        print(f"\n# {title_of(study)}\n\n{text}", flush=True)
        if options.docs is not None:
            write_cells(options.docs / CELLS, read_cells(path))
            text = markdown(study, results, options.docs)
            filled = [fill_page(page, name_of(study), text) for page in sorted(options.docs.glob("*.md"))]
            if not any(filled):
                note(f"no page of {options.docs} has a place for {name_of(study)}")
