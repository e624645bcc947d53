"""What docs/formats.md and the examples say is so."""

import re
from pathlib import Path

import pytest

from warptsp.io import FORMATS, TOUR_FORMATS, load
from warptsp.io.table import read_table
from warptsp.io.tsplib import parse_problem
from warptsp.problem import Metric

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def page():
    return (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def test_every_metric_and_format_is_there(page):
    table = page.split("## Metrics")[1].split("## Tours")[0]
    for metric in Metric:
        assert f"`{metric.name}`" in table
    for formats in (FORMATS, TOUR_FORMATS):
        for name, endings in formats.items():
            assert f"`{name}`" in page
            assert all(f"`{ending}`" in page for ending in endings)


def test_the_samples_can_be_read(page):
    samples = blocks(page, "text")
    problem = parse_problem(next(block for block in samples if "SECTION" in block).encode(), "sample")
    assert problem.length([0, 1, 2]) == 5 + 5 + 10
    places = read_table(
        next(block for block in samples if block.startswith("name;")).encode(), "sample"
    ).problem
    assert list(places.labels) == ["Z\u00fcrich", "Bern; Altstadt"]
    assert places.distance(0, 1) == pytest.approx(95_000, rel=0.02)


def test_the_examples_can_be_read():
    capitals = load(ROOT / "examples" / "capitals.csv")
    assert capitals.metric is Metric.GREAT_CIRCLE
    assert capitals.n == 42
    berlin, paris = capitals.labels.index("Berlin"), capitals.labels.index("Paris")
    assert capitals.distance(berlin, paris) == pytest.approx(877_464, abs=100)
    assert load(ROOT / "examples" / "E1k.0.tsp").n == 1000
