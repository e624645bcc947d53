"""Random-restart hill climbing with 2-opt (document 002)."""

from warptsp.papers.document import Document, System

DOCUMENTS = (
    Document(
        number="002",
        authors="M. A. O'Neil and M. Burtscher",
        title="Rethinking the parallelization of random-restart hill climbing",
        published="GPGPU-8",
        year=2015,
        systems={
            "hill-climbing": System(
                start=None,
                params={"climbers": 100_000, "restart": "random"},
                cpu={"version": "global-matrix"},
                gpu={"version": "tuned"},
                gpu_plane=True,
            )
        },
    ),
)
