"""Measured cells: the file that they are in, and what tables take from them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEVICES = {"cpu": "CPU", "cuda": "GPU"}

Figure = str | Callable[[dict[str, Any]], Any]  # a figure of a result: its name, or how it is computed


def kernel_ms(result: Mapping[str, Any]) -> float:
    """Return the milliseconds of a pass: of the kernels on a GPU, of everything on the CPU."""
    seconds: float = result.get("kernel_seconds", result["seconds"])
    passes: int = max(1, result.get("passes", 1))
    return 1e3 * seconds / passes


def rate(result: Mapping[str, Any]) -> float:
    """Return evaluated moves in 10^9 a second, of the kernels on a GPU."""
    seconds: float = result.get("kernel_seconds", result["seconds"])
    return 1e-9 * float(result["evaluations"]) / seconds


@dataclass
class Results:
    """The measured cells of one study, and what is beside them in the tables."""

    rows: list[dict[str, Any]]

    def get(self, name: str, device: str) -> dict[str, Any] | None:
        """Return the result of a cell on a device, None if it was not measured or failed."""
        for row in reversed(self.rows):
            if row["cell"] == name and row["device"] == device and "error_text" not in row["result"]:
                return dict(row["result"])
        return None

    def value(self, name: str, device: str, of: Figure) -> Any:
        """Return a figure of a cell, None if there is none."""
        result = self.get(name, device)
        if result is None:
            return None
        return result[of] if isinstance(of, str) else of(result)

    def first(self, name: str, of: Figure) -> Any:
        """Return a figure that all devices have in common, from the first that has it."""
        found = (self.value(name, device, of) for device in DEVICES)
        return next((value for value in found if value is not None), None)

    def lines(self, cells: Iterable[tuple[float, str]], of: Figure) -> dict[str, list[tuple[float, float]]]:
        """Return a line of a chart for each device: points (x, figure) of cells given as (x, name)."""
        names = list(cells)
        found = {
            DEVICES[device]: [(x, y) for x, name in names if (y := self.value(name, device, of)) is not None]
            for device in self.devices()
        }
        return {device: points for device, points in found.items() if points}

    def devices(self) -> list[str]:
        """Return the devices that cells were measured on."""
        return [device for device in DEVICES if any(row["device"] == device for row in self.rows)]

    def failures(self) -> list[str]:
        """Return what went wrong, a line for each kind of fault and device."""
        found: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            if "error_text" in row["result"] and self.get(row["cell"], row["device"]) is None:
                key = (DEVICES[row["device"]], row["result"]["error_text"])
                found.setdefault(key, []).append(row["cell"])
        return [
            f"{', '.join(dict.fromkeys(cells))} ({device}): {text}" for (device, text), cells in found.items()
        ]

    def machines(self) -> list[str]:
        """Return a line for each machine and commit that cells were measured with."""
        found: dict[tuple[str, ...], set[str]] = {}
        for row in self.rows:
            machine = re.sub(r"\(R\)| Processor|, Linux x86_64", "", row["machine"])
            key = (DEVICES[row["device"]], machine, row["threads"])
            found.setdefault(key, set()).add(f"{row['date']} at {row['commit']}")
        return [
            f"{device}: {machine}, {threads}; {', '.join(sorted(dates))}"
            for (device, machine, threads), dates in sorted(found.items())
        ]


def read_cells(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of cells; the last line may have been cut off, and is left out then.

    A line is a row, or, as `write_cells` has them, what the rows below have in common, or a list of the rest.
    """
    if not path.is_file():
        return []
    rows = []
    common: dict[str, Any] = {}
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            found = json.loads(line)
        except json.JSONDecodeError as error:
            if number < len(lines):
                raise SystemExit(f"{path}, line {number}: {error}") from error
        else:
            if isinstance(found, list):
                cell, *figures = found
                shared = {key: value for key, value in common.items() if key != "columns"}
                result = dict(zip(common["columns"], figures, strict=True))
                rows.append({"cell": cell, **shared, "result": result})
            elif "columns" in found:
                common = found
            else:
                rows.append(found)
    return rows


def write_cells(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a file of cells in which rows are lists, below a line with what they have in common."""
    lines = []
    before: dict[str, Any] = {}
    for row in rows:
        common = {key: value for key, value in row.items() if key not in ("cell", "result")}
        common["columns"] = list(row["result"])
        if common != before:
            lines.append(json.dumps(common))
        before = common
        lines.append(json.dumps([row["cell"], *row["result"].values()]))
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def append(path: Path, row: Mapping[str, Any]) -> None:
    """Add a row to a file of cells, behind a line that was cut off if there is one."""
    with open(path, "a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                _drop_last_line(path)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def _drop_last_line(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: content.rfind(b"\n") + 1])
