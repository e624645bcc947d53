"""How many kicks a round of a GPU's annealing has, and how hot it begins."""

from __future__ import annotations

import pytest

from warptsp._native import Kicks
from warptsp.methods.annealing import start_temperature
from warptsp.methods.lk import LkParams, tuning
from warptsp.methods.lk.cuda import RoundPace, start_temperature_on_gpu


def pace(beside: float) -> RoundPace:
    """Two rounds of a quarter of a kick a city, each 10 ms of the kernel and so many seconds beside."""
    noted = RoundPace()
    for _ in range(2):
        noted.note(0.25, 0.01 + beside, 0.01)
    return noted


def test_rounds_have_their_usual_kicks_where_nothing_is_lost_beside_them():
    assert pace(0.0).kicks_a_round(1000.0) == tuning.GPU_KICKS_A_SHORT_ROUND


def test_rounds_get_longer_until_little_is_lost_beside_them():
    beside = 0.004
    kicks = pace(beside).kicks_a_round(1000.0)
    assert kicks > tuning.GPU_KICKS_A_SHORT_ROUND
    kernel = kicks / 0.25 * 0.01
    assert beside / kernel == pytest.approx(tuning.GPU_BESIDE_KERNEL)


@pytest.mark.parametrize("beside", [0.0, 0.004])
def test_there_are_enough_rounds_in_a_short_time(beside):
    horizon = tuning.GPU_MIN_ROUNDS * 0.005
    assert pace(beside).kicks_a_round(horizon) == pytest.approx(0.125)
    assert pace(beside).kicks_a_round(horizon / 1000) == tuning.GPU_MIN_KICKS


def test_the_start_is_hotter_with_a_gpus_kicks():
    assert start_temperature(10, hotter=0.2) == pytest.approx(start_temperature(10) + 0.2)
    assert start_temperature(1e9, hotter=0.2, hottest=0.58) == 0.58
    assert start_temperature(0.0) == 0.0
    full = tuning.GPU_HOTTER_FROM
    for kicks, share in ((full / 2, 0.5), (full, 1.0), (1.5 * full, 1.0)):
        expected = start_temperature(kicks) + share * tuning.GPU_HOTTER
        assert start_temperature_on_gpu(kicks) == pytest.approx(expected)
    assert start_temperature_on_gpu(1e9) == tuning.GPU_HOTTEST


def test_kicks_are_the_usual_ones_unless_they_are_said():
    usual = tuning.GPU_KICKS_OF_TOUR
    assert LkParams().of_search(1000).kicks.as_dict() == Kicks().as_dict()
    assert LkParams().of_kicks(usual).as_dict() == usual.as_dict() != Kicks().as_dict()
    said = LkParams(walk=3, long_links=0.0)
    for kicks in (said.of_search(1000).kicks, said.of_kicks(usual)):
        assert (kicks.walk, kicks.long_links) == (3, 0.0)
