"""Proofs whose tree has to do the work."""

import pytest

from warptsp._native import Effort
from warptsp.proof import branching, node_solver


def leave_out_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cuts do not prove is left to branches."""
    monkeypatch.setattr(node_solver, "MOST_STATES", 0)


def leave_few_cuts(monkeypatch: pytest.MonkeyPatch, in_tree: int = 1) -> None:
    """Seek cuts three times at the root, so often in a node; one edge and one set are tried as branches, and
    nothing is swept."""
    leave_out_sweeps(monkeypatch)
    rounds = {**dict.fromkeys(Effort, 1), Effort.BLOSSOMS: 0, Effort.PATIENT: 0}
    monkeypatch.setattr(node_solver, "_ROUNDS", rounds)
    monkeypatch.setattr(node_solver, "_ROUNDS_IN_TREE", (in_tree, in_tree))
    monkeypatch.setattr(branching, "CANDIDATES", 1)
