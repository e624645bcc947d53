"""A made-up town: driving times between its addresses, as OSRM's service ``table`` would give them.

``python benchmarks/town.py > examples/town.json`` makes the table of docs/streets.md. Streets lie in a grid,
most of them one-way, in turn in either direction; a river has two bridges.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

ROWS, COLUMNS, ADDRESSES = 11, 14, 24
RIVER, BRIDGES = 6, (3, 10)  # between these rows of crossings; the columns that cross it
SOUTH, WEST, BLOCK = 48.0, 7.8, 120.0  # degrees, degrees, metres
STREETS = [
    "Ash",
    "Beech",
    "Cedar",
    "Elm",
    "Fir",
    "Hazel",
    "Juniper",
    "Larch",
    "Maple",
    "Oak",
    "Pine",
    "Rowan",
    "Spruce",
    "Willow",
]
DEGREE = 111_195.0  # metres


def town() -> dict[str, Any]:
    """Return the table, always the same."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    random = np.random.default_rng(19)
    tails, heads, seconds = [], [], []

    def road(a: tuple[int, int], b: tuple[int, int], speed: float, ways: int) -> None:
        """Add a block that may be driven from a to b (1), from b to a (-1), or both (0)."""
        for tail, head, way in ((a, b, 1), (b, a, -1)):
            if ways in (0, way):
                tails.append(tail[0] * COLUMNS + tail[1])
                heads.append(head[0] * COLUMNS + head[1])
                seconds.append(BLOCK / speed + 4.0)  # the crossing

    for row in range(ROWS):
        for column in range(COLUMNS - 1):
            ways = 0 if row % 3 == 0 or row == ROWS - 1 else 1 if row % 2 else -1
            road((row, column), (row, column + 1), 14.0 if row == 3 else 8.0, ways)
    for column in range(COLUMNS):
        for row in range(ROWS - 1):
            bridge = column in BRIDGES
            if row == RIVER and not bridge:
                continue
            ways = 0 if bridge or column in (0, COLUMNS - 1) else 1 if column % 2 else -1
            road((row, column), (row + 1, column), 14.0 if bridge else 8.0, ways)
    graph = csr_array((seconds, (tails, heads)), shape=(ROWS * COLUMNS, ROWS * COLUMNS))
    chosen = np.sort(random.choice(ROWS * COLUMNS, ADDRESSES, replace=False))
    times = dijkstra(graph, indices=chosen)[:, chosen]
    places = []
    for crossing in chosen.tolist():
        row, column = divmod(crossing, COLUMNS)
        latitude = SOUTH + row * BLOCK / DEGREE
        longitude = WEST + column * BLOCK / (DEGREE * np.cos(np.radians(SOUTH)))
        name = f"{2 * row + 1} {STREETS[column]} Street"
        places.append({"name": name, "location": [round(longitude, 5), round(latitude, 5)]})
    return {"code": "Ok", "durations": np.rint(times).astype(int).tolist(), "sources": places}


def text() -> str:
    """Return it as JSON, a line for each row."""
    table = town()
    parts = [
        f'"{key}": [\n' + ",\n".join(json.dumps(row) for row in table[key]) + "\n]"
        for key in ("durations", "sources")
    ]
    return '{"code": "Ok",\n' + ",\n".join(parts) + "}\n"


if __name__ == "__main__":
    print(text(), end="")
