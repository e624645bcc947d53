"""What watching a search costs it: CPU seconds of its callbacks and of the server, with one page.

The page is a process of its own that takes events and tours as a browser does; what the browser
needs for drawing is not counted. Times are CPU times of threads, so that other load on the machine matters
little. Deflate is measured to see whether tours should be sent compressed.
"""

from __future__ import annotations

import json
import multiprocessing
import threading
import time
import urllib.request
import zlib
from collections import Counter
from typing import Any

import numpy as np
from common import note, parser, report, table

import warptsp
from warptsp.watch import Watch, live
from warptsp.watch.server import WatchHandler

CASES = ((10_000, 20.0), (1_000_000, 90.0))  # cities, uniform random, and seconds
READING = """One page is open. CPU seconds of the search, what callbacks, events and tours take of them
(how often), and the size of a tour, as it is and deflated."""

spent: Counter[str] = Counter()
calls: Counter[str] = Counter()
lock = threading.Lock()


def counted(name: str, function: Any) -> Any:
    """Return the function, with the CPU time of its thread counted."""

    def call(*arguments: Any) -> Any:
        begun = time.thread_time()
        try:
            return function(*arguments)
        finally:
            with lock:
                spent[name] += time.thread_time() - begun
                calls[name] += 1

    return call


def page(url: str, got: Any) -> None:
    """Take events and tours as the page in a browser does."""
    urllib.request.urlopen(url).read()
    got.put("ready")
    number, length, tours, events, next_tour = 0, float("inf"), 0, 0, 0.0
    for line in urllib.request.urlopen(f"{url}events"):
        if not line.startswith(b"data: "):
            continue
        events += 1
        said = json.loads(line.removeprefix(b"data: "))
        if said["state"] != "live":
            break
        if said.get("length", float("inf")) < length and time.monotonic() >= next_tour:
            with urllib.request.urlopen(f"{url}tour?after={number}") as response:
                if response.status == 200:
                    response.read()
                    number = int(response.headers["X-Tour-Number"])
                    length = float(response.headers["X-Tour-Length"])
                    tours += 1
            next_tour = time.monotonic() + 1.0
    got.put((events, tours))


def measured(cities: int, seconds: float) -> dict[str, Any]:
    """Return what a search of so many seconds and its page took."""
    spent.clear()
    calls.clear()
    problem = warptsp.Problem.from_points(np.random.default_rng(1).random((cities, 2)))
    context = multiprocessing.get_context("spawn")
    got = context.Queue()
    with Watch(problem) as watch:
        client = context.Process(target=page, args=(watch.url, got))
        client.start()
        got.get()
        begun = time.process_time()
        result = warptsp.solve(problem, time_limit=seconds, device="cpu", callback=watch)
        cpu = time.process_time() - begun
        watch.finish(result)
        events, tours = got.get()
        client.join()
        watch.wait()
    data = result.tour.astype("<i4").tobytes()
    begun = time.thread_time()
    packed = len(zlib.compress(data, 1))
    return {
        "cities": cities,
        "seconds": result.seconds,
        "cpu_seconds": cpu,
        "callbacks": calls["callbacks"],
        "events": events,
        "tours": tours,
        "tour_bytes": len(data),
        "deflated_bytes": packed,
        "deflate_seconds": time.thread_time() - begun,
        "spent": {name: spent[name] for name in ("page", "callbacks", "events", "tours")},
    }


def main() -> None:
    """Measure all sizes."""
    options = parser(__doc__).parse_args()
    live.LiveRun.publish = counted("callbacks", live.LiveRun.publish)  # type: ignore[method-assign]
    for name, method in (("page", "_page"), ("events", "_events"), ("tours", "_tour")):
        setattr(WatchHandler, method, counted(name, getattr(WatchHandler, method)))
    results, rows = [], []
    for cities, seconds in ((1_000, 3.0),) if options.quick else CASES:
        note(f"{cities} cities, {seconds:g} s")
        found = measured(cities, seconds)
        results.append(found)
        total, took = found["cpu_seconds"], found["spent"]
        running = took["callbacks"] + took["events"] + took["tours"]
        rows.append(
            [
                cities,
                f"{found['seconds']:.0f}",
                f"{total:.1f}",
                *(f"{took[name]:.3f} ({found[name]})" for name in ("callbacks", "events", "tours")),
                f"{100 * running / total:.2f} %",
                f"{took['page']:.2f}",
                f"{found['tour_bytes'] / 1e6:.2f}",
                f"{found['deflated_bytes'] / 1e6:.2f} after {found['deflate_seconds']:.3f}",
            ]
        )
    header = ["cities", "s", "CPU s in all", "callbacks", "events", "tours", "these three"]
    header += ["page, once", "MB of a tour", "MB deflated, CPU s"]
    text = f"{READING}\n\n{table(header, rows)}"
    report("watching", "What watching costs", text, results, options.output)


if __name__ == "__main__":
    main()
