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
TOURS = ("u1817", "fnl4461", "usa13509", "d18512", "pla33810")
BYTES = 16  # of a city on the circle: place, edge, number
BARRIERS, LOADS, THREADS = 10_000, 20_000, 512
CLOCKS_A_US = 1980  # of an H100 and an H200, at most


def cells(setting: Setting) -> Iterator[Cell]:
    if setting.device == "cpu":
        return
    yield Cell(CHIP)
    for name in TOURS:
        yield Cell(f"{name} descent", {"instance": name})


def measure(cell: Cell, setting: Setting) -> dict[str, Any]:
    if cell.name == CHIP:
        return _chip()
    problem = instance(setting.instances, cell.facts["instance"])
    return run(problem, setting, method="symmetric-two-opt", start="greedy")


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
        size = BYTES * (found["cities"] + 1 - found["cities"] % 2)
        copies = size <= chip["shared_bytes"]
        us = 1e6 * found["kernel_seconds"] / found["rotations"]
        line = [name, size, "a copy for each block" if copies else "one for all, in the second cache"]
        line += [found["rotations"], found["moves"], number(us), number(2 * chip["barrier_us"] / us)]
        rows.append(line)
    words = ("instance", "bytes", "the tour", "axes", "moves", "us an axis", "two barriers over it")
    title = "Figures 13 to 16: a tour divided among blocks"
    return [Section(title, words if rows else (), rows, _why(chip) if chip else "")]


def _why(chip: dict[str, Any]) -> str:
    """Return why such a tour cannot win."""
    two, room = 2 * chip["barrier_us"], chip["shared_bytes"] // BYTES // 100 * 100
    saved = 2 * (chip["cached_clocks"] - chip["shared_clocks"]) / CLOCKS_A_US
    return (
        f"{published('003').notes('figures 13 to 16')} These are two barriers an axis. Here one of all "
        f"{chip['blocks']} blocks takes {chip['barrier_us']:.2f} us. Up to {room} cities every block has the "
        "whole tour, a longer one lies in the second cache; dividing that would save two loads, "
        f"{saved:.2f} us, of an axis with moves, and keep the two barriers, {two:.1f} us. So it is not built."
    )
