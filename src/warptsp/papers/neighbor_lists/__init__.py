"""2-opt and 3-opt along neighbour lists, and iterated local search with them (document 004)."""

from warptsp.papers.document import Document, System

_LISTS = {"neighbors": 40, "improvement": "best", "edges": "next"}
_DESCENT = System(start="nearest-neighbor", params={**_LISTS, "moves": "one"})

DOCUMENTS = (
    Document(
        number="004",
        authors="J. Fosin, D. Davidović and T. Carić",
        title="A GPU implementation of local search operators for symmetric travelling salesman problem",
        published="Promet - Traffic & Transportation 25",
        year=2013,
        systems={
            "ils": System(
                start="nearest-neighbor",
                params={**_LISTS, "restart": "pass", "acceptance": "always", "segment": 0, "iterations": 1.0},
            ),
            "neighbor-two-opt": _DESCENT,
            "neighbor-three-opt": _DESCENT,
        },
    ),
)
