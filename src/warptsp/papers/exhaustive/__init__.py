"""Best improvement over whole neighbourhoods: 2-opt, 3-opt, relocation, swaps (documents 000 and 001)."""

from warptsp.papers.document import Document, System

_FROM_THE_FILE = System(start="given")

DOCUMENTS = (
    Document(
        number="000",
        authors="G. Ermiş",
        title="Accelerating local search algorithms for travelling salesman problem using GPU effectively",
        published="master's thesis, Sabancı University",  # noqa: RUF001
        year=2015,
        metric="FLOOR_2D",
        systems={
            # Blocks of 1024 threads, as many as the GPU holds, are its best launches.
            "two-opt": System(start="given", gpu={"block": 1024}, gpu_plane=True),
            "three-opt": _FROM_THE_FILE,
            "swap": _FROM_THE_FILE,
            "relocate": _FROM_THE_FILE,
        },
        named=("vnd",),
    ),
    Document(
        number="001",
        authors="A. R. Brodtkorb, T. R. Hagen, C. Schulz and G. Hasle",
        title="GPU computing in discrete optimization. Part I: Introduction to the GPU",
        published="EURO Journal on Transportation and Logistics 2",
        year=2013,
        metric="EXACT_2D",
        systems={"swap": System(start="given", gpu={"version": 8})},
    ),
)
