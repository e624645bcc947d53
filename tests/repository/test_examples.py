"""The scripts of examples/ run on their small settings, and what they print and write holds together."""

import csv
import json
import os
import re
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from instances import unit_points
from processes import run_python

import warptsp

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))


def run(name, folder, *options, rc=0):
    """Run a script as a reader would, with warnings as errors, and return what it prints."""
    done = run_python(
        "-W",
        "error",
        EXAMPLES / name,
        folder,
        *options,
        env={**os.environ, "MPLBACKEND": "agg", "PYTHONIOENCODING": "utf-8", "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == rc, done.stderr
    return done.stdout


def numbers(text):
    return [float(number.replace(",", "")) for number in re.findall(r"-?\d[\d,]*\.?\d*", text)]


def test_there_are_six_and_the_page_and_the_list_name_them():
    assert len(SCRIPTS) == 6
    for page in (EXAMPLES / "README.md", EXAMPLES.parent / "docs" / "gallery.md"):
        text = page.read_text(encoding="utf-8")
        assert all(f"({path})" in text.replace("../examples/", "") for path in [s.name for s in SCRIPTS])


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_is_a_page_and_says_what_one_learns(script):
    text = script.read_text(encoding="utf-8")
    assert text.count("\n") <= 100
    assert re.match(r'""".*\n\n(.*\n)*?You learn', text)
    assert f"python examples/{script.name} OUT" in text
    # The public interface only: the package, and what the documentation names below it.
    assert set(re.findall(r"from (warptsp[\w.]*) import", text)) <= {"warptsp.generate"}
    assert "._" not in text


def test_cities_of_a_country(tmp_path):
    printed = run("cities_of_a_country.py", tmp_path)
    problem = warptsp.load(EXAMPLES / "italy.csv")
    count, file_order = numbers(printed.splitlines()[0])
    assert (count, round(problem.length(range(problem.n)) / 1000)) == (problem.n, file_order)
    for name, ends in (("round_trip", None), ("one_way", ("Bolzano", "Ragusa"))):
        tour = warptsp.read_tour(tmp_path / f"{name}.csv", problem)
        if ends is not None:
            assert (problem.label(tour[0]), problem.label(tour[-1])) == ends
            problem = warptsp.Problem.from_points(
                problem.coordinates, "GREAT_CIRCLE", labels=problem.labels, open=warptsp.OpenPath()
            )
        problem.check_tour(tour)
        assert f"{problem.length(tour) / 1000:.0f} km" in printed
        line = json.loads((tmp_path / f"{name}.geojson").read_text(encoding="utf-8"))["features"][0]
        assert len(line["geometry"]["coordinates"]) == problem.n + (ends is None)
        for ending in ("kml", "gpx", "svg"):
            ElementTree.parse(tmp_path / f"{name}.{ending}")
        assert (tmp_path / f"{name}.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_cities_of_ones_own_table(tmp_path):
    table = tmp_path / "mine.csv"
    table.write_text(
        "city;Lat;Lng\nWien;48.21;16.37\nGraz;47.07;15.44\nLinz;48.31;14.29\nSalzburg;47.80;13.04\n"
    )
    assert "4 places" in run("cities_of_a_country.py", tmp_path, "--places", str(table))


def test_drilling_a_board(tmp_path):
    printed = run("drilling_a_board.py", tmp_path, "--small")
    drilled = (tmp_path / "board.drl").read_text().splitlines()
    holes = sum(line.startswith("X") for line in drilled)
    assert holes == len({line for line in drilled if line.startswith("X")})  # each once
    rows = [numbers(line) for line in printed.splitlines()[1:5]]
    assert holes == sum(row[0] for row in rows)
    for _, _, file_order, strips, tour in rows:
        assert 0 < tour <= min(file_order, strips)
    # The seconds of the tour, measured again in the file that the machine gets.
    for tool, (_, _, _, _, seconds) in enumerate(rows, start=1):
        begin = drilled.index(f"T{tool}") + 1
        end = drilled.index(f"T{tool + 1}") if tool < 4 else drilled.index("T0")
        way = np.array([numbers(line) for line in ["X-10Y-10", *drilled[begin:end], "X-10Y-10"]])
        assert np.abs(np.diff(way, axis=0)).max(axis=1).sum() / 200 == pytest.approx(seconds, abs=0.06)
    whole = {line[:14].strip(): numbers(line)[0] for line in printed.splitlines()[6:]}
    assert whole["tour"] < whole["back and forth"] < whole["file order"]
    assert whole["tour"] == pytest.approx(4 * 8 + 0.12 * holes + sum(row[-1] for row in rows), abs=1)


def test_art_from_a_picture(tmp_path):
    image = pytest.importorskip("PIL.Image", reason="the script reads a picture with Pillow")
    # Left black, right white: all places must come to lie on the left.
    picture = np.full((40, 60), 255, np.uint8)
    picture[:, :30] = 0
    image.fromarray(picture).save(tmp_path / "half.png")
    options = ["--small", "--cities", "300", "--picture", str(tmp_path / "half.png")]
    run("art_from_a_picture.py", tmp_path, *options)
    points = drawn(tmp_path)
    assert len(points) == 300
    assert points[:, 0].max() <= 1010
    assert points[:, 0].min() < 100


def drawn(folder):
    """The corners of the line in the SVG, after the files were found to be whole."""
    svg = ElementTree.parse(folder / "art.svg").getroot()
    (polygon,) = svg.findall("{*}polygon")
    assert (folder / "art.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    return np.array([numbers(corner) for corner in polygon.get("points").replace(",", ";").split()])


def test_art_from_the_drawing_of_the_script(tmp_path):
    printed = run("art_from_a_picture.py", tmp_path, "--small", "--cities", "1500")
    points = drawn(tmp_path)
    cities, length, _ = numbers(printed)
    assert len(points) == cities == 1500
    around = np.hypot(*(points - np.roll(points, 1, axis=0)).T).sum()
    assert around == pytest.approx(length, rel=1e-3)
    assert sorted(np.load(tmp_path / "art.npy")) == list(range(1500))
    # Weighted: the ball's dark side, lower right, has more than its lit one.
    middle = points.mean(axis=0)
    assert (points > middle).all(axis=1).sum() > 1.5 * (points < middle).all(axis=1).sum()


def test_comparing_methods(tmp_path):
    with_chart = find_spec("matplotlib") is not None
    printed = run("comparing_methods.py", tmp_path, "--small", rc=0 if with_chart else 1)
    with open(tmp_path / "methods.csv", encoding="utf-8") as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert len(rows) == 10
    lengths = {name: float(row["length"]) for name, row in rows.items()}
    best = min(lengths.values())
    assert lengths["lk"] <= min(lengths["two-opt"], lengths["swap"])
    for name, row in rows.items():
        assert float(row["gap in %"]) == pytest.approx(100 * (lengths[name] / best - 1), abs=0.006)
        assert re.search(rf"^{name} +{re.escape(row['gap in %'])} %", printed, re.MULTILINE)
    if with_chart:
        ElementTree.parse(tmp_path / "gap_over_time.svg")


def test_gpu_against_cpu(tmp_path):
    printed = run("gpu_against_cpu.py", tmp_path, "--small")
    assert printed.startswith("CPU alone: no ")  # the reason; CUDA_VISIBLE_DEVICES hides what there is
    with open(tmp_path / "devices.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["instance"], row["device"]) for row in rows] == [("E1k.0", "cpu"), ("E10k.0", "cpu")]
    assert all(0 <= float(row["gap in %"]) < 100 for row in rows)


def test_resuming_a_long_run(tmp_path):
    printed = run("resuming_a_long_run.py", tmp_path, "--small").splitlines()
    assert printed.pop(2).endswith(f"began with {tmp_path / 'best.tour'}")
    killed, interrupted, finished = (numbers(line)[0] for line in printed[:3])
    assert killed >= interrupted >= finished
    assert printed[1].endswith("stop requested")
    snapshots = [numbers(line) for line in printed[3:]]
    assert snapshots[0][1] == interrupted
    assert snapshots[-1][1] == finished
    problem = warptsp.Problem.from_points(unit_points(2000, 5))
    tour = warptsp.read_tour(tmp_path / "best.tour", problem)
    assert problem.length(tour) == pytest.approx(finished, abs=1e-4)
    assert (tmp_path / "best.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
