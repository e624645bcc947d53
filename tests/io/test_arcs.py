"""Tables with a line for each arc."""

import re

import pytest

import warptsp
from warptsp.errors import InvalidProblem, ParseError
from warptsp.io import load

RING = "from,to,cost\nhere,there,3\nthere,far off,4\nfar off,here,5\nhere,far off,1\n"


def written(tmp_path, text):
    file = tmp_path / "arcs.csv"
    file.write_text(text)
    return file


def test_arcs(tmp_path):
    problem = load(written(tmp_path, RING))
    assert problem.asymmetric
    assert problem.integral
    assert list(problem.labels) == ["here", "there", "far off"]
    result = warptsp.solve(problem)
    assert (list(result.tour), result.length) == ([0, 1, 2], 12)
    assert problem.distance(1, 0) == problem.wall
    other = "cost;Origin;note;TO\n3,5;here;;there\n4;there;;far off\n5;far off;x;here\n1;here;;far off\n"
    assert warptsp.solve(written(tmp_path, other)).length == 12.5


def test_of_two_columns_of_costs_the_one_that_counts_is_said(tmp_path, caplog):
    load(written(tmp_path, RING))
    assert not caplog.text
    two = "from,to,Duration,distance\nhere,there,3,1\nthere,here,4,1\n"
    assert load(written(tmp_path, two)).distance(0, 1) == 1
    assert "arcs cost what column 'distance' says: remove it if they cost what 'Duration' says" in caplog.text


def test_units_in_brackets_are_no_part_of_a_name(tmp_path, caplog):
    text = "From,To,Distance (km),Time (min)\na,b,1.5,9\nb,a,1.5,9\n"
    problem = load(written(tmp_path, text))
    assert (problem.distance(0, 1), problem.unit) == (1.5, "km")
    assert "remove it if they cost what 'Time (min)' says" in caplog.text
    assert load(written(tmp_path, text.replace("Distance (km),Time (min)", "x,Duration [m]"))).unit == ""


def test_arcs_without_a_cost_are_missing_if_that_is_said(tmp_path, caplog):
    file = written(tmp_path, f"{RING}there,here,\n")
    with pytest.raises(ParseError, match=r"arcs.csv:6: nothing in column cost: .*skip_incomplete"):
        load(file)
    problem = load(file, skip_incomplete=True)
    assert problem.missing_arcs([0, 1, 2]).tolist() == []
    assert problem.distance(1, 0) == problem.wall
    assert "1 row without a cost or an end is left out: line 6" in caplog.text


def test_arcs_none_of_which_has_one_back_are_told(tmp_path, caplog):
    load(written(tmp_path, RING.replace("here,far off,1\n", "")))
    assert "no arc has one that leads back: write both directions of a two-way street" in caplog.text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("there,far off,4", "there,far off", r"arcs.csv:3: 2 fields: the first line has 3"),
        ("there,far off,4", ",far off,4", r"arcs.csv:3: nothing in column from"),
        ("there,far off,4", "there,far off,x", r"arcs.csv:3: 'x' in column cost"),
        ("there,far off,4", "here,there,4", r"arcs.csv:3: the arc from 'here' to 'there' stands in line 2,"),
        ("there,far off,4", "there,far off,-4", r"entry \(1, 2\) of the matrix is -4"),
        ("there,far off,4", 'there,far off,"4,000"', r"arcs.csv:3: '4,000' may be 4.000 or 4000"),
        (RING[13:], "", r"no lines below the names"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, old, new, message):
    assert old in RING
    with pytest.raises(ParseError, match=message):
        load(written(tmp_path, RING.replace(old, new)))


@pytest.mark.parametrize(
    ("options", "tour"),
    [
        ({"open": True}, ["here", "there", "far off"]),
        ({"end_city": "far off"}, ["here", "there", "far off"]),
        ({"start_city": "here", "open": True}, ["here", "there", "far off"]),
        ({"start_city": "here", "end_city": "there"}, "no arc leaves node 3 (far off)"),
        ({}, "no arc leaves node 3 (far off), so that there is no tour; each direction of a road is an arc"),
    ],
)
def test_whether_arcs_suffice_is_asked_when_the_ends_are_known(tmp_path, options, tour):
    file = written(tmp_path, RING.replace("far off,here,5\n", ""))
    if isinstance(tour, list):
        assert warptsp.solve(file, **options).names == tour
        return
    with pytest.raises(InvalidProblem, match=re.escape(tour)):
        warptsp.solve(file, **options)
