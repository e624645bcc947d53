"""Groups that are searched together, as floors of one path."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from warptsp.strokes import arrange


@pytest.mark.parametrize("machine", ["euclidean", "max"])
@pytest.mark.parametrize("back", [False, True])
def test_floors_keep_groups_and_are_no_longer_than_one_after_the_other(monkeypatch, machine, back):
    rng = np.random.default_rng(4)
    paths = [rng.random((2, 2)) * 10 + rng.random(2) * 100 for _ in range(120)]
    groups = rng.integers(0, 4, 120).tolist()
    options = {
        "home": [0, 0],
        "back": back,
        "groups": groups,
        "machine": machine,
        "kicks": 3000,
        "threads": 1,
    }
    together = arrange(paths, device="cpu", **options)
    assert [groups[i] for i in together.order] == sorted(groups)
    monkeypatch.setattr(importlib.import_module("warptsp.strokes.parts"), "FLOORS", 1)
    apart = arrange(paths, device="cpu", **options)
    assert [groups[i] for i in apart.order] == sorted(groups)
    assert together.travel <= 1.02 * apart.travel


def test_no_time_is_time_for_a_curve():
    rng = np.random.default_rng(0)
    paths = list(rng.random((500, 1, 2)) + 0.01 * rng.random((500, 2, 2)))
    plan = arrange(paths, time_limit=0, device="cpu")
    assert plan.travel < 0.2 * plan.travel_before
