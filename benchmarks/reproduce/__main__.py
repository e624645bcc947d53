"""Lists the studies and runs them: ``python -m benchmarks.reproduce``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from benchmarks.reproduce.harness import main

STUDIES = (
    "two_opt_launches",
    "two_opt_occupancy",
    "two_opt_sizes",
    "two_opt_starts",
    "three_opt_sizes",
    "triple_numbers",
    "swap_versions",
    "climbing_rates",
    "climbing_quality",
    "symmetric_table",
    "symmetric_hardware",
    "symmetric_study",
    "symmetric_orders",
    "symmetric_divided",
    "neighbor_passes",
    "neighbor_search",
    "iterated_passes",
)


def studies() -> list[Any]:
    """Return the modules of the studies, in the order of the documents."""
    return [import_module(f"benchmarks.reproduce.{name}") for name in STUDIES]


if __name__ == "__main__":
    main(studies())
