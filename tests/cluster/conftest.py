"""What tests of clusters share."""

import pytest
from instances import whole_points

import warptsp


@pytest.fixture(autouse=True)
def told(caplog):
    """What the log says."""
    caplog.set_level("INFO", "warptsp")
    return caplog


@pytest.fixture(scope="module")
def problem(request):
    """As many cities as the tests' module says."""
    return warptsp.Problem.from_points(whole_points(request.module.CITIES, 1, side=100_000), "EUC_2D")


@pytest.fixture(scope="module")
def expected(request, problem):
    """The tour that everybody must find: the one of a thread of this process."""
    return warptsp.solve(problem, cluster="threads:1", cluster_params=request.module.SPREAD, seed=7)
