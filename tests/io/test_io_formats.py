"""The registry of formats: what each says of itself is so, and none is loaded that nobody asks for."""

import contextlib
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from processes import run_code

import warptsp.io
from warptsp import Problem, load, read_tour
from warptsp.io import FORMATS, TOUR_FORMATS, write_problem, write_tour
from warptsp.io.format import Format
from warptsp.io.registry import MODULES, formats

ALL = list(formats())
PLACES = np.array([[10.5, 20.25], [11.5, 21.0], [-12.0, 179.5], [13.25, -179.5], [1.0, 2.0]])
INSTANCES = {
    "points": Problem.from_points(PLACES, name="a"),
    "space": Problem.from_points(np.arange(15.0).reshape(5, 3) ** 1.5, name="a"),
    "globe": Problem.from_points(PLACES, "GREAT_CIRCLE", name="a"),
    "matrix": Problem.from_matrix(np.abs(np.subtract.outer(np.arange(5), np.arange(5)) * 7), name="a"),
}


def test_every_module_with_formats_is_in_the_registry():
    folder = Path(warptsp.io.__file__).parent
    paths = [*folder.glob("[!_]*.py"), *folder.glob("*/__init__.py")]
    having = {path for path in paths if "\nFORMATS = (" in path.read_text(encoding="utf-8")}
    assert {path.parent.name if path.stem == "__init__" else path.stem for path in having} == set(MODULES)
    assert all(isinstance(format, Format) for format in ALL)


def test_names_and_endings_mean_one_format():
    names = [f.name for f in ALL]
    assert len(set(names)) == len(names)
    for endings in ([e for f in ALL for e in f.endings], [e for f in ALL for e in f.tour_endings]):
        assert len(set(endings)) == len(endings)
        assert all(ending.startswith(".") and ending == ending.lower() for ending in endings)
    assert {f.name for f in ALL if f.read} == set(FORMATS)
    assert {f.name for f in ALL if f.write_tour} == set(TOUR_FORMATS)
    assert {f.name for f in ALL if f.write_points} == {"npy", "f64"}
    assert all(f.endings for f in ALL if f.write)
    assert all(f.tour_endings for f in ALL if f.write_tour)
    assert all(f.title for f in ALL if f.on_maps)


@pytest.mark.parametrize("format", [f for f in ALL if f.write and f.read], ids=lambda f: f.name)
def test_an_instance_is_read_back_by_name_by_ending_and_by_contents(format, tmp_path):
    held = {}
    for name, problem in INSTANCES.items():
        with contextlib.suppress(warptsp.InvalidOption):  # which says that the format cannot hold it
            held[name] = list(format.write(problem))
    assert held
    for name in held:
        problem = INSTANCES[name]
        paths = {tmp_path / f"a{format.endings[0]}": None, tmp_path / "a.whatever": format.name}
        if format.sniff is not None or format.fallback:
            paths[tmp_path / "a"] = None
        for path, named in paths.items():
            write_problem(path, problem, format=format.name)
            metric = "GREAT_CIRCLE" if name == "globe" and format.bare else None
            found = load(path, named, metric=metric)
            assert (found.n, found.metric, found.name) == (5, problem.metric, "a"), (name, path)
            assert found.length(range(5)) == problem.length(range(5)), (name, path)


@pytest.mark.parametrize("format", [f for f in ALL if f.write_tour], ids=lambda f: f.name)
def test_a_tour_is_read_back_by_its_contents_alone(format, tmp_path):
    if format.name == "xlsx":
        pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    problem = INSTANCES["globe"]
    tour = np.array([3, 1, 4, 0, 2])
    path = tmp_path / (f"a{format.tour_endings[0]}" if format.sniff is None and not format.fallback else "a")
    write_tour(path, tour, problem, format=format.name)
    assert read_tour(path, problem).tolist() == tour.tolist()


def test_no_format_is_imported_that_nobody_asks_for(tmp_path):
    write_problem(tmp_path / "a.tsp", INSTANCES["points"])
    code = """if True:
        import sys, warptsp
        problem = warptsp.load("a.tsp")
        warptsp.write_tour("a.tour", range(5), problem)
        assert not {f"warptsp.io.{name}" for name in ("table", "geojson", "gpx", "npy")} & set(sys.modules)
    """
    run_code(code, check=True, cwd=tmp_path)


PLUGIN = """
import numpy as np
from warptsp import Problem
from warptsp.io.format import Format, Instance
def read(source, options):
    return Instance(Problem.from_points([eval(place.replace(b"/", b",")) for place in source.text.split()]))
FORMATS = (Format(name="slashes", endings=(".xy",), read=read, sniff=lambda data: data.startswith(b"0/")),)
"""


def test_another_package_may_offer_a_format(tmp_path):
    (tmp_path / "slashes.py").write_text(PLUGIN)
    about = tmp_path / "slashes-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: slashes\nVersion: 1\n")
    offered = "[warptsp.formats]\nslashes = slashes:FORMATS\nbroken = slashes:NONE\n"
    (about / "entry_points.txt").write_text(offered)
    (tmp_path / "a.xy").write_text("0/0 3/4 3/0")
    (tmp_path / "b.txt").write_text("0/0 3/4 3/0")
    code = (
        "import logging, warptsp; logging.basicConfig();"
        "from warptsp.io import FORMATS; assert list(FORMATS)[-1] == 'slashes';"
        "print(*(warptsp.load(name).distance(0, 1) for name in ('a.xy', 'b.txt')), FORMATS['slashes'])"
    )
    done = run_code(code, check=True, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)})
    assert done.stdout == "5.0 5.0 ('.xy',)\n"
    assert "the formats of slashes:NONE cannot be used" in done.stderr


def test_every_stopping_option_is_a_criterion():
    from warptsp.cli._search import Stops
    from warptsp.cli.solve import command

    names = [field.name for field in fields(Stops)]
    assert set(names) <= {parameter.name for parameter in command.params}
    for name in names:
        value = (3.0, None) if name == "target_gap" else 3
        assert Stops(**{**dict.fromkeys(names), name: value}).criterion() is not None
    assert Stops(**dict.fromkeys(names)).criterion() is None
