"""Certificates of lower bounds, and the commands that write and verify them."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import warptsp
from warptsp import Metric, Problem
from warptsp.bound import box_tree, lower_bound, proven_value, read_certificate, write_certificate
from warptsp.bound import certificate as certificates
from warptsp.cli import run
from warptsp.errors import ParseError, UnsupportedProblem
from warptsp.problem import OpenPath
from warptsp.quantities import format_gap

POINTS = np.random.default_rng(4).integers(0, 10_000, (60, 2))


@pytest.fixture
def problem():
    return Problem.from_points(POINTS, "EUC_2D", name="sixty")


@pytest.fixture
def certificate(problem, tmp_path):
    file = tmp_path / "sixty.json"
    write_certificate(file, problem, lower_bound(problem, threads=1))
    return file


@pytest.fixture
def files(problem, tmp_path):
    """An instance, its tour and their names."""
    instance, tour = tmp_path / "sixty.csv", tmp_path / "sixty.tour"
    np.savetxt(instance, POINTS, delimiter=",", header="x,y", comments="", fmt="%d")
    result = warptsp.solve(problem, stop=warptsp.MaxKicks(500), threads=1)
    result.save(tour)
    return [str(instance), "--metric", "EUC_2D"], str(tour), result.length


def changed(certificate, **entries):
    document = json.loads(certificate.read_text())
    document.update(entries)
    certificate.write_text(json.dumps(document))
    return certificate


def test_what_is_written_is_read(problem, certificate):
    bound, read = lower_bound(problem, threads=1), read_certificate(certificate, problem)
    assert (read.value, read.exponent, read.root) == (bound.value, bound.exponent, bound.root)
    assert np.array_equal(read.potentials, bound.potentials)
    assert proven_value(problem, read) == bound.value


def test_changed_potentials_prove_less(problem, certificate):
    document = json.loads(certificate.read_text())
    for city in 0, 30, 59:
        for change in -(10**6), 10**6:
            potentials = list(document["potentials"])
            potentials[city] += change
            read = read_certificate(changed(certificate, potentials=potentials), problem)
            assert proven_value(problem, read) < read.value


@pytest.mark.parametrize(
    "entries",
    [
        {"format": "another"},
        {"cities": 61},
        {"cities": "60"},
        {"bound": -1},
        {"bound": "12"},
        {"bound": True},
        {"bound": 1.5},
        {"bound": float("nan")},
        {"exponent": 8.0},
        {"exponent": 10**9},
        {"root": 60},
        {"root": -1},
        {"root": None},
        {"potentials": None},
        {"potentials": [0] * 59},
        {"potentials": [0] * 59 + [2**31]},
        {"potentials": [0] * 59 + [0.5]},
        {"potentials": [[0]] * 60},
    ],
    ids=lambda entries: json.dumps(entries)[:40],
)
def test_no_certificate(problem, certificate, entries):
    with pytest.raises(ParseError, match=str(certificate)):
        read_certificate(changed(certificate, **entries), problem)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, "\x00\xff", "1" * 10_000])
def test_other_files(problem, certificate, text):
    certificate.write_text(text, encoding="latin-1")
    with pytest.raises(ParseError) as error:
        read_certificate(certificate, problem)
    assert not re.search("cities|places", str(error.value))  # a certificate is no list of them


def test_what_is_not_checked(problem, certificate):
    read = read_certificate(changed(certificate, exponent=1100), problem)
    assert proven_value(problem, read) < read.value  # what is too long to be added exactly is rounded down
    asymmetric = Problem.from_matrix([[0, 1, 2], [3, 0, 4], [5, 6, 0]], asymmetric=True)
    with pytest.raises(UnsupportedProblem, match="asymmetric"):
        proven_value(asymmetric, read)


def instances():
    random = np.random.default_rng(5)
    for metric in Metric:
        if metric is Metric.EXPLICIT:
            continue
        points = random.random((350, metric.dimensions))
        if metric.geographic:
            points = np.floor(points * [178, 358] - [89, 179]) + 0.5 * random.random((350, 2))
        elif metric in (Metric.XRAY1, Metric.XRAY2):
            points *= [359, 90, 90]
        else:
            points = np.floor(points * 100) if metric is Metric.MAN_2D else points * 1000
        yield pytest.param(Problem.from_points(points, metric), id=metric.name)
    points = random.integers(0, 9, (350, 2))
    yield pytest.param(Problem.from_points(points, "EUC_2D"), id="many at one place")
    yield pytest.param(Problem.from_points(np.zeros((300, 2)), "EUC_2D"), id="all at one place")
    points = random.integers(0, 1000, (500, 2))
    fixed = [[0, 400], [400, 7], [30, 31]]
    yield pytest.param(Problem.from_points(points, "EUC_2D", fixed_edges=fixed), id="fixed edges")
    yield pytest.param(Problem.from_points(points, "EUC_2D", open=OpenPath(start=3)), id="open path")


@pytest.mark.parametrize("instance", list(instances()))
def test_a_tree_over_boxes_is_one_over_all_pairs(instance, monkeypatch):
    bound = lower_bound(instance, iterations=30, threads=1)
    dense = proven_value(instance, bound)
    monkeypatch.setattr(certificates, "MAX_DENSE", 100)
    monkeypatch.setattr(box_tree, "CITIES_IN_A_BOX", 16)
    assert proven_value(instance, bound) == dense
    assert dense >= bound.value


def test_more_cities_than_all_pairs_are_taken_of(monkeypatch):
    """A potential that is changed proves less here, too."""
    monkeypatch.setattr(certificates, "MAX_DENSE", 3000)
    points = np.random.default_rng(7).integers(0, 10**6, (certificates.MAX_DENSE + 1, 2))
    large = Problem.from_points(points, "EUC_2D")
    bound = lower_bound(large, iterations=10)
    assert proven_value(large, bound) == bound.value
    potentials = bound.potentials.copy()
    potentials[77] += 10**6
    assert proven_value(large, replace(bound, potentials=potentials)) < bound.value


# The commands


def test_commands(problem, files, tmp_path, capsys):
    instance, tour, length = files
    proof = str(tmp_path / "proof.json")
    assert run(["bound", *instance, "--tour", tour, "--certificate", proof, "--threads", "1"]) == 0
    bound = read_certificate(proof, problem)
    out = capsys.readouterr().out
    assert f"no tour is shorter than {bound.value}\n" in out
    assert f"at most {format_gap(bound.gap(length), up=True)} above the shortest" in out
    assert run(["check", *instance, tour, "--certificate", proof]) == 0
    out = capsys.readouterr().out
    assert f"{bound.value}, proved once more" in out
    assert run(["check", *instance, tour, "--certificate", proof, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["lower_bound"] == bound.value
    assert found["bound_gap_percent"] == pytest.approx(100 * bound.gap(length))


def test_a_claim_that_is_too_high_is_refused_and_none_is_not_written(files, tmp_path, capsys):
    instance, tour, _ = files
    proof = tmp_path / "proof.json"
    assert run(["bound", *instance, "--certificate", str(proof), "--time-limit", "0"]) == 0
    out = capsys.readouterr().out
    assert "none: the computation ended before one was proved" in out
    assert "not written: nothing was proved" in out
    assert not proof.exists()
    assert run(["bound", *instance, "--certificate", str(proof), "-q"]) == 0
    claimed = json.loads(proof.read_text())["bound"] + 1
    changed(proof, bound=claimed)
    assert run(["check", *instance, tour, "--certificate", str(proof)]) == 2
    assert f"claims {claimed} and proves {claimed - 1} only" in capsys.readouterr().err


def test_json(files, capsys):
    instance, tour, length = files

    def found(*options):
        assert run(["bound", *instance, *options, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    along = found("--tour", tour, "--iterations", "30")
    assert along["certified"]
    assert along["length"] == length
    assert 0.95 * length < along["lower_bound"] <= length
    assert along["bound_gap_percent"] == pytest.approx(100 * (length / along["lower_bound"] - 1))
    nothing = found("--time-limit", "0")
    assert not nothing["certified"]
    assert (nothing["lower_bound"], nothing["bound_gap_percent"]) == (0, None)
    path = found("--open")
    assert path["open"]
    assert 0.8 * length < path["lower_bound"] < length


def test_refusals(files, tmp_path, capsys):
    instance, tour, _ = files
    short = tmp_path / "short.csv"
    short.write_text("x,y\n0,0\n1,0\n1,1\n")
    for arguments in (
        ["bound", str(short), "--tour", tour],
        ["bound", *instance, "--iterations", "0"],
        ["bound", *instance, "--certificate", str(tmp_path / "none" / "proof.json")],
        ["check", *instance, tour, "--certificate", str(tmp_path / "none.json")],
        ["check", *instance, tour, "--certificate", tour],
    ):
        assert run(arguments) == 2
        assert capsys.readouterr().err.startswith("warptsp: error: ")
