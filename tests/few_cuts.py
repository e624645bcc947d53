"""Proofs whose tree has to do the work."""

import pytest

from warptsp._native import Effort
from warptsp.proof import branch_and_cut, branching, node_solver


def leave_out_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cuts of small pieces do not prove is left to branches."""
    monkeypatch.setattr(node_solver, "MOST_STATES", 0)
    monkeypatch.setattr(branch_and_cut, "WORTH_WIDE", (1, 1e9))


def leave_few_cuts(monkeypatch: pytest.MonkeyPatch, in_tree: int = 1) -> None:
    """Seek cuts three times at the root, so often in a node; one edge and one set are tried as branches, by
    few steps and without cuts, and nothing is swept."""
    leave_out_sweeps(monkeypatch)
    rounds = {**dict.fromkeys(Effort, 1), Effort.BLOSSOMS: 0}
    monkeypatch.setattr(node_solver, "_ROUNDS", rounds)
    monkeypatch.setattr(node_solver, "_ROUNDS_IN_TREE", (in_tree, in_tree))
    monkeypatch.setattr(branching, "CANDIDATES", 1)
    monkeypatch.setattr(node_solver, "SHARE_OF_PROBES", 0.0)
    monkeypatch.setattr(node_solver, "TELLING", 0.0)
