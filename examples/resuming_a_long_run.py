"""A long run that is killed, continues, is interrupted, and continues again.

You learn to keep the best tour in a file at all times (checkpoint), to continue from it (start), to end a run
from outside and keep its tour (StopToken; Ctrl-C does the same), and to see how it improved (snapshots).

    python examples/resuming_a_long_run.py OUT
"""

import argparse
import multiprocessing
import threading
import time
from pathlib import Path

import numpy as np

import warptsp


def search(checkpoint, cities):
    """Search for an hour, as a batch job would, with the best tour so far in a file."""
    warptsp.solve(instance(cities), time_limit=3600, seed=1, checkpoint=checkpoint, checkpoint_interval=0.1)


def instance(cities):
    """Return the same random cities every time."""
    return warptsp.Problem.from_points(np.random.default_rng(5).random((cities, 2)), name="long run")


def main():
    """Do it in three acts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="output folder")
    parser.add_argument(
        "--small", action="store_true", help="2000 cities and half a second instead of 50 000 and a minute"
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    checkpoint = options.out / "best.tour"
    checkpoint.unlink(missing_ok=True)
    cities, seconds = (2_000, 0.2) if options.small else (50_000, 20.0)
    problem = instance(cities)

    # Act 1: another process searches, and is killed in the middle, as by kill -9 or a power cut.
    job = multiprocessing.get_context("spawn").Process(target=search, args=(checkpoint, cities), daemon=True)
    job.start()
    while not checkpoint.exists() and job.is_alive():
        time.sleep(0.05)
    time.sleep(seconds)
    job.kill()
    job.join()
    # Whenever that was, the file is whole: a new one replaces it only when it is complete.
    killed = problem.length(warptsp.read_tour(checkpoint, problem))
    print(f"killed:      {killed:.4f} is in {checkpoint.name}")

    # Act 2: continue from the file, and be interrupted. Without start= the search would begin anew.
    token = warptsp.StopToken()
    threading.Timer(seconds, token.request).start()
    second = warptsp.solve(problem, start=checkpoint, checkpoint=checkpoint, stop=token, seed=2)
    print(f"interrupted: {second.length:.4f} after {second.seconds:.1f} s more, {second.stop_reason}")
    print(f"             it began with {second.start}")

    # Act 3: to the end, keeping up to eight tours from the way there. A known end gives a better tour.
    third = warptsp.solve(
        problem, start=checkpoint, checkpoint=checkpoint, time_limit=seconds, seed=3, snapshots=8
    )
    print(f"finished:    {third.length:.4f} after {third.seconds:.1f} s more")
    for snapshot in third.snapshots:
        print(f"  {snapshot.seconds:6.2f} s  {snapshot.length:.4f}")
    third.report(options.out / "best.html")  # has a slider through the snapshots


if __name__ == "__main__":
    main()
