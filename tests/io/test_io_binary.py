"""Coordinates and tours as numbers, with a header and without; random instances written in pieces."""

import hashlib
import mmap
import os
import sys

import numpy as np
import pytest

from warptsp.cli import run
from warptsp.errors import InvalidOption, InvalidTour, OutputError, ParseError
from warptsp.generate import clustered, clustered_points, random, uniform, uniform_points
from warptsp.io import load, read_tour, write_points, write_problem, write_tour
from warptsp.problem import Metric, Problem


def is_mapped(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap)


@pytest.mark.parametrize(
    ("format", "kind", "columns"),
    [("f64", "<f8", 2), ("f32", "<f4", 2), ("f64x3", "<f8", 3), ("f32x3", "<f4", 3)],
)
def test_bare_numbers_are_read(tmp_path, monkeypatch, format, kind, columns):
    points = np.random.default_rng(1).random((1000, columns)).astype(kind)
    file = tmp_path / f"cities.{format}"
    points.tofile(file)
    problem = load(file)
    assert problem.metric is (Metric.EXACT_2D if columns == 2 else Metric.EXACT_3D)
    assert problem.name == "cities"
    assert np.array_equal(problem.coordinates, points)
    np.save(tmp_path / "cities.npy", points)
    for read in (problem, load(tmp_path / "cities.npy")):
        assert is_mapped(read.coordinates) == (kind == "<f8")
    file.rename(tmp_path / "cities.bin")
    assert np.array_equal(load(tmp_path / "cities.bin", format=format).coordinates, points)
    with open(tmp_path / "cities.bin", "rb") as stream:
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": stream}))
        assert np.array_equal(load("-", format=format).coordinates, points)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.f64", bytes(24), "a.f64: has 24 bytes: 2 float64 numbers per city take 16"),
        ("a.f32x3", bytes(13), "a.f32x3: has 13 bytes: 3 float32 numbers per city take 12"),
        ("a.f64", b"", "a.f64: has 0 bytes"),
        ("a.f64", np.array([0.0, 1.0, np.nan, 2.0]).tobytes(), "a.f64: coordinate 0 of city 1 .* is"),
        ("a.f64", np.array([0.0, 1.0, 1.0, np.inf]).tobytes(), "a.f64: coordinate 1 of city 1 .* is inf"),
    ],
)
def test_bad_numbers_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ParseError, match=message):
        load(tmp_path / name)


def test_places_and_formats_that_are_wrong(tmp_path):
    with pytest.raises(ParseError, match=r"none.f64: no such file"):
        load(tmp_path / "none.f64")
    with pytest.raises(ParseError, match="is a directory"):
        load(tmp_path, format="f64")
    with pytest.raises(InvalidOption, match=r"a.bin: bare numbers do not say .* f64, f32, f64x3, f32x3"):
        load(tmp_path / "a.bin")
    for name in ("a.npy", "a.f64"):
        with pytest.raises(InvalidOption, match="cannot say that distances are EUC_2D"):
            write_problem(tmp_path / name, uniform(10))
    with pytest.raises(InvalidOption, match=r"a .f64 file cannot say that distances are EXACT_3D"):
        write_problem(tmp_path / "a.f64", Problem.from_points(np.zeros((3, 3))))
    with pytest.raises(InvalidOption, match="piece by piece as npy or f64, not csv"):
        write_points(tmp_path / "a.csv", 1, [])
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("ending", ["npy", "i32"])
def test_tours_as_numbers(tmp_path, ending):
    rng = np.random.default_rng(4)
    problem = Problem.from_points(rng.random((1000, 2)))
    tour = rng.permutation(1000).astype(np.int32)
    file = tmp_path / f"a.{ending}"
    write_tour(file, tour, problem)
    assert np.array_equal(np.fromfile(file, "<i4")[-1000:], tour)
    again = read_tour(file, problem)
    assert np.array_equal(again, tour)
    again[0] = 7  # not the file's
    assert np.array_equal(read_tour(file, problem), tour)
    for wrong in (np.append(tour[1:], tour[1]), tour[1:], tour + 1):
        if ending == "npy":
            np.save(file, wrong)
        else:
            wrong.astype("<i4").tofile(file)
        with pytest.raises(InvalidTour, match=rf"a.{ending}: "):
            read_tour(file, problem)
    file.write_bytes(bytes(7))
    with pytest.raises(ParseError, match=rf"a.{ending}: "):
        read_tour(file, problem)


@pytest.mark.parametrize(
    ("make", "digest"),
    [
        (lambda: uniform_points(5000, seed=5), "1fa49f46eb27bdc6"),
        (lambda: uniform_points(5000, seed=5, side=10**12), "27361cc9630cbdd8"),
        (lambda: clustered_points(5000, seed=5), "de3e3e54532ca50e"),
        (lambda: clustered_points(5000, seed=5, clusters=3, spread=2.5), "102426972e99b932"),
    ],
)
def test_a_seed_means_the_same_instance_for_ever(monkeypatch, make, digest):
    """Whatever the pieces and threads; users compare lengths on these instances."""
    for size in (1 << 20, 5000, 4999, 700, 1):
        if size == 1 and digest != "1fa49f46eb27bdc6":
            continue
        monkeypatch.setattr(random, "BLOCK", size)
        for threads in (1, 3):
            blocks = list(make().blocks(threads))
            assert len(blocks) == -(-5000 // size)
            assert hashlib.sha256(np.concatenate(blocks).tobytes()).hexdigest()[:16] == digest


@pytest.mark.parametrize("ending", ["npy", "f64"])
def test_instances_of_any_size_are_written_in_pieces(tmp_path, monkeypatch, capsys, ending):
    monkeypatch.setattr(random, "BLOCK", 1000)
    monkeypatch.setattr("warptsp.cli.generate.MAX_CITIES", 5000)
    file = tmp_path / f"a.{ending}"
    for kind, expected in (("uniform", uniform(5432, seed=7)), ("clustered", clustered(5432, seed=7))):
        for threads in ("1", "3"):
            assert run(["generate", kind, "5432", "--seed", "7", "-o", str(file), "--threads", threads]) == 0
            assert f"{file}, {kind}5432, 5432 cities" in capsys.readouterr().out
            assert np.array_equal(load(file).coordinates, expected.coordinates)
    assert run(["generate", "uniform", "5432", "-o", str(tmp_path / "a.tsp")]) == 2
    assert "may be larger as .npy or .f64" in capsys.readouterr().err
    assert os.listdir(tmp_path) == [file.name]


def test_nothing_is_left_of_pieces_that_cannot_be_made(tmp_path):
    def blocks():
        yield np.zeros((3, 2))
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match="No space left"):
        write_points(tmp_path / "a.npy", 6, blocks())
    assert os.listdir(tmp_path) == []
