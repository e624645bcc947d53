"""A tour divided among the blocks of a GPU: what it would wait for, and what an axis takes now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.reproduce.harness import Cell, Results, Section, Setting, number, published, run
from benchmarks.reproduce.instances import instance

DOCUMENT = "003"
TABLES = ("figures 13 to 16",)
CHIP = "chip"
# The first three tours fit into the shared memory of a block.
TOURS = {
    "u1817": "given",
    "fnl4461": "greedy",
    "usa13509": "greedy",
    "d18512": "greedy",
    "pla85900": "greedy",
}
BYTES = 16  # of a city on the circle: place, edge, number
BARRIERS, LOADS, THREADS = 10_000, 20_000, 512


def cells(setting: Setting) -> Iterator[Cell]:
    if setting.device == "cpu":
        return
    yield Cell(CHIP)
    for name, start in TOURS.items():
        yield Cell(f"{name} descent", {"instance": name, "start": start})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    if cell.name == CHIP:
        return _chip()
    problem = instance(setting.instances, cell.facts["instance"])
    return run(problem, setting, method="symmetric-two-opt", start=cell.facts["start"])


def _chip() -> dict[str, Any]:
    import numpy as np

    from warptsp.backends.cuda.compiler import Source
    from warptsp.backends.cuda.device import Device

    with Device.open(0) as device:
        module = device.module(
            Source(Path(__file__).with_name("chip.cu"), ("barriers", "chase"), {}, fmad=False)
        )
        taken = []
        for count in (100, 100, 100 + BARRIERS):
            arrived = device.zeros(1, np.uint32)
            with device.timer() as timer:
                module.kernel("barriers").launch(
                    device.multiprocessors, THREADS, arrived, np.int32(count), cooperative=True
                )
            taken.append(timer.seconds)
        size = 1 << 18
        following = device.upload(((np.arange(size) + 40_961) % size).astype(np.int32))
        clocks = device.zeros(3, np.int64)
        for _ in range(2):
            module.kernel("chase").launch(1, 1, following, np.int32(LOADS), clocks)
        shared, cached, _ = (clocks.download() / LOADS).tolist()
        return {
            "blocks": device.multiprocessors,
            "shared_bytes": device.shared_memory_per_block,
            "barrier_us": round(1e6 * (taken[2] - taken[1]) / BARRIERS, 4),
            "shared_clocks": round(shared, 1),
            "cached_clocks": round(cached, 1),
        }


def report(results: Results) -> list[Section]:
    chip = results.get(CHIP, "cuda")
    rows: list[list[object]] = []
    for name in TOURS:
        found = results.get(f"{name} descent", "cuda")
        if found is None or chip is None:
            continue
        size = found["cities"] + 1 - found["cities"] % 2
        inside = BYTES * size <= chip["shared_bytes"]
        us = 1e6 * found["kernel_seconds"] / found["rotations"]
        rows.append(
            [
                name,
                BYTES * size,
                "shared memory, a copy a block" if inside else "second cache, one for all",
                found["rotations"],
                found["moves"],
                number(us),
                number(2 * chip["barrier_us"] / us),
            ]
        )
    words = [
        "instance",
        "bytes",
        "where the tour lies",
        "axes",
        "moves",
        "us an axis",
        "two barriers over it",
    ]
    title = "Figures 13 to 16: a tour divided among blocks"
    return [Section(title, words, rows, _why(chip, rows) if chip else "")]


def _why(chip: dict[str, Any], rows: list[list[object]]) -> str:
    """Return why such a tour cannot win."""
    two = 2 * chip["barrier_us"]
    clock = 1.98e3  # a us, at most
    saved = 2 * (chip["cached_clocks"] - chip["shared_clocks"]) / clock
    return (
        f"{published('003').notes('figures 13 to 16')} That is two barriers an axis. One of all "
        f"{chip['blocks']} blocks takes {chip['barrier_us']:.2f} us here, a load from shared memory "
        f"{chip['shared_clocks']:.0f} clocks, and one from the second cache {chip['cached_clocks']:.0f}. Up to "
        f"{chip['shared_bytes'] // BYTES // 100 * 100} cities a block has room for the whole tour: blocks make all "
        "moves without a word while these are many, and each examines axes of its own between two barriers while "
        f"they are few. A longer tour lies in the second cache, the blocks share each axis, and many axes "
        f"between two barriers; divided, it would save {saved:.2f} us of loads in an axis with moves, of which "
        f"the two barriers, {two:.1f} us, are left, and each axis that moves it by one city would pass 2 x {BYTES} "
        "bytes from block to block behind one more. So it was not built."
    )
