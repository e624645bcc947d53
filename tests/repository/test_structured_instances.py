"""Instances of `benchmarks/structured_instances.py`: places in rows and columns, the same every time."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def instances(imported):
    return imported("benchmarks/structured_instances.py")


@pytest.mark.parametrize("kind", ["board", "chip", "defects"])
@pytest.mark.parametrize("n", [500, 5000])
def test_cities_are_different_and_share_rows(instances, kind, n):
    cities = instances.make(kind, n)
    assert len(np.unique(cities, axis=0)) == len(cities) == n
    assert np.array_equal(cities, instances.make(kind, n))
    assert len(np.unique(cities[:, 1])) < n / 4  # rows of several cities
