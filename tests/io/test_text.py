"""Text of others: as it is shown, as files hold it, as spreadsheets may have it."""

import csv
import json
import re

import numpy as np
import pytest

import warptsp
from warptsp.errors import InvalidProblem
from warptsp.text import printable, well_formed

PLACES = [[52.5, 13.4], [48.1, 11.5], [50.1, 8.6], [40.0, 3.0], [41.0, 2.0]]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("S\xe3o Paulo \u6771\u4eac \U0001f468\u200d\U0001f469 a\u200cb", None),
        ("\x1b[31m", r"\x1b[31m"),
        ("a\x00b\x7fc\x9bd", r"a\x00b\x7fc\x9bd"),
        ("a\tb\nc\rd\u2028e\x85f", "a b c d e f"),
        ("\u202eabc\u2066", r"\u202eabc\u2066"),
        ("\udce9\ud800", r"\xe9\ud800"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_printable(text, shown):
    assert printable(text) == (text if shown is None else shown)


def test_well_formed():
    assert well_formed("plain \U0001f600") == "plain \U0001f600"
    assert well_formed("\udce9 \ud800 \udfff") == "\xe9 \ufffd \ufffd"
    assert well_formed("\udcc3\udca9 \udce9\udcc3\udca9\udcc3") == "\xe9 \xe9\xe9\xc3"


def test_a_problem_has_texts_that_files_can_hold():
    problem = warptsp.Problem.from_points(
        PLACES, metric="GREAT_CIRCLE", name="\ud800", comment="\udce9", labels=["\udcff", *"abcd"]
    )
    assert (problem.name, problem.comment, problem.labels[0]) == ("\ufffd", "\xe9", "\xff")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"labels": ["a", "b", 3, "d", "e"]}, "label 3 of city 2 (counted from 0): a string is needed"),
        ({"name": None}, "name is None: a string is needed"),
        ({"comment": b"c"}, "comment is b'c': a string is needed"),
    ],
)
def test_what_is_no_text_is_refused_before_the_search(fields, words):
    with pytest.raises(InvalidProblem, match=re.escape(words)):
        warptsp.Problem.from_points(PLACES, **fields)


@pytest.mark.parametrize("ending", ["tour", "csv", "geojson", "gpx", "kml", "svg", "html"])
def test_names_with_halves_of_pairs_are_written(tmp_path, ending):
    named = dict(zip(["\ud800", "\x1b", "c", "d", "e"], PLACES, strict=True))
    (tmp_path / "some.json").write_text(json.dumps(named))
    problem = warptsp.load(tmp_path / "some.json", metric="haversine")
    result = warptsp.solve(problem, snapshots=2)
    path = tmp_path / f"out.{ending}"
    result.save(path)
    path.read_text(encoding="utf-8")


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1", "'quoted", "plain", "a=1"]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_tours_that_spreadsheets_do_not_compute(tmp_path, ending):
    names = [f"{name} {number}" for number, name in enumerate(FORMULAS)]
    problem = warptsp.Problem.from_points(np.random.default_rng(0).random((len(names), 2)), labels=names)
    tour = np.arange(len(names), dtype=np.int32)[::-1]
    path = tmp_path / f"out.{ending}"
    warptsp.write_tour(path, tour, problem, csv_safe=True)
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="," if ending == "csv" else "\t"))
    for row, city in zip(rows, tour, strict=True):
        name = names[city].replace("\r", " ")  # since a row is one line
        assert row["name"] in (name, f"'{name}")
        assert row["name"][0] not in "=+-@\t\r\uff1d"
    assert (warptsp.read_tour(path, problem) == tour).all()


@pytest.mark.parametrize("csv_safe", [False, True])
def test_tours_of_formulas_are_read_by_name(tmp_path, csv_safe):
    names = [name.strip() for name in FORMULAS if name not in ("\t=1", "\r=1")]
    problem = warptsp.Problem.from_points(np.random.default_rng(0).random((len(names), 2)), labels=names)
    tour = np.arange(len(names), dtype=np.int32)[::-1]
    warptsp.write_tour(tmp_path / "out.csv", tour, problem, csv_safe=csv_safe)
    lines = [line.split(",")[2] for line in (tmp_path / "out.csv").read_text("utf-8").splitlines()]
    (tmp_path / "names.csv").write_text("\n".join(lines), encoding="utf-8")
    assert (warptsp.read_tour(tmp_path / "names.csv", problem) == tour).all()
