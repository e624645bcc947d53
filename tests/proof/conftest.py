"""What tests of proofs share."""

import pytest
from few_cuts import leave_few_cuts, leave_out_sweeps
from instances import whole_points

from warptsp import Problem


@pytest.fixture
def few_cuts(monkeypatch):
    """The tree has to do the work."""
    leave_few_cuts(monkeypatch)


@pytest.fixture
def undecided(monkeypatch):
    """Not proved without branches."""
    leave_out_sweeps(monkeypatch)
    return Problem.from_points(whole_points(80, 1, side=10_000), "EUC_2D")
