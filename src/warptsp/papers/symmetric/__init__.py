"""Symmetrical 2-opt moves, any subset of which is made at once, and annealing with them (document 003)."""

from warptsp.papers.document import Document, System

DOCUMENTS = (
    Document(
        number="003",
        authors="I. Mavroidis",
        title="Algorithm mapping to reconfigurable systems and systems with multiple embedded processors",
        published="doctoral thesis, Technical University of Crete",
        year=2011,
        metric="EXACT_2D",
        systems={
            "symmetric-two-opt": System(start="given", params={"order": "threads"}),
            "symmetric-annealing": System(start="given", params={"order": "threads", "chains": 1}),
        },
        named=("symmetric-three-opt",),
    ),
)
