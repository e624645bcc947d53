"""Tables of routing services: from files and from what JSON was read into."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import warptsp
from warptsp import Problem
from warptsp.cli import commands
from warptsp.errors import InvalidOption, InvalidProblem, ParseError
from warptsp.io import load, write_tour

# As OSRM answers, with annotations=duration,distance.
TABLE = {
    "code": "Ok",
    "durations": [[0, 192.6, 382.8], [199, 0, 283.9], [344.7, 222.3, 0]],
    "distances": [[0, 1886, 3791], [1824, 0, 2838], [3275, 2361, 0]],
    "sources": [
        {"hint": "x", "distance": 4.1, "name": "Friedrichstraße", "location": [13.388798, 52.517033]},
        {"hint": "y", "distance": 6.9, "name": "Torstraße", "location": [13.39763, 52.529432]},
        {"hint": "z", "distance": 4.7, "name": "Vereinte Nationen", "location": [13.428554, 52.523239]},
    ],
}
TABLE["destinations"] = TABLE["sources"]


def changed(**entries):
    return {**TABLE, **entries}


def test_durations_and_places():
    problem = Problem.from_osrm(TABLE)
    assert problem.asymmetric
    assert problem.distance(0, 1) == 192.6
    assert problem.comment == "durations in seconds"
    assert problem.label(1) == "Torstraße"
    np.testing.assert_array_equal(problem.plot_points[2], [13.428554, 52.523239])
    assert warptsp.solve(TABLE).length == pytest.approx(min(192.6 + 283.9 + 344.7, 382.8 + 222.3 + 199))


def test_distances():
    problem = Problem.from_osrm(TABLE, "distances", name="Berlin")
    assert (problem.integral, problem.name, problem.comment) == (True, "Berlin", "distances in metres")
    assert warptsp.solve(problem).length == min(1886 + 2838 + 3275, 3791 + 2361 + 1824)
    only = {"distances": TABLE["distances"]}
    assert Problem.from_osrm(only).distance(0, 1) == 1886  # without code and places, as other services answer


def test_files(tmp_path):
    file = tmp_path / "table.json"
    file.write_text(json.dumps(TABLE), encoding="utf-8")
    assert load(file).distance(0, 1) == 192.6
    assert load(file).name == "table"
    assert load(file, format="osrm-distances").distance(0, 1) == 1886
    with pytest.raises(ParseError, match=r"table.json: is no GeoJSON, which has a type such as"):
        load(file, format="geojson")
    output = tmp_path / "tour.csv"
    done = CliRunner().invoke(commands, ["solve", str(file), "--output", str(output), "--quiet"])
    assert done.exit_code == 0
    assert "distances    asymmetric" in done.output
    assert "Torstraße,52.529432,13.39763" in output.read_text(encoding="utf-8")
    file.write_text("", encoding="utf-8")
    with pytest.raises(ParseError, match="is empty"):
        load(file)


@pytest.mark.parametrize("ending", ["gpx", "kml", "geojson"])
def test_tours_go_into_files_for_maps(tmp_path, ending):
    problem = Problem.from_osrm(TABLE)
    write_tour(tmp_path / f"route.{ending}", [1, 2, 0], problem)
    text = (tmp_path / f"route.{ending}").read_text(encoding="utf-8")
    assert "13.39763" in text
    assert "Torstraße" in text
    if ending == "gpx":
        np.testing.assert_array_equal(load(tmp_path / "route.gpx").coordinates[0], [52.529432, 13.39763])
    places = [{"location": [0, latitude]} for latitude in (90, 97, 1)]
    with pytest.raises(InvalidProblem, match="latitude 97 of city 1"):
        Problem.from_osrm(changed(sources=places, destinations=None))
    with pytest.raises(InvalidProblem, match="there is no display"):
        Problem.from_points([[0, 0], [1, 1]], display_degrees=True)


def test_names_only_if_all_have_one():
    sources = [{**source, "name": ""} if i == 1 else source for i, source in enumerate(TABLE["sources"])]
    assert Problem.from_osrm(changed(sources=sources)).labels is None
    assert Problem.from_osrm(changed(sources=None)).display is None
    assert Problem.from_osrm(changed(sources=[{"location": "there"}] * 3)).display is None
    assert list(Problem.from_osrm(changed(sources=None), labels=["a", "b", "c"]).labels) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"code": "TooBig", "message": "Too many table coordinates"}, "'TooBig' and no table: 'Too many"),
        ({"code": "Ok"}, "neither durations nor distances"),
        ({"error_code": 171, "error": "No suitable edges near location"}, "answered '171' and no table:"),
        ({"message": "Cannot find point 0", "hints": [{}]}, "answered no table: 'Cannot find point 0'"),
        ({"message": "Not Authorized - Invalid Token"}, "answered no table: 'Not Authorized - Inv"),
        ({"error": "Daily quota reached", "status": 403}, "answered no table: 'Daily quota reached'"),
        ({"sources_to_targets": [[{"time": 0}, {"time": "x"}], [{}, {}]]}, "have .x. from place 0 to place"),
        ({"sources_to_targets": [5]}, "not rows of numbers"),
        ({"times": None}, "neither durations nor distances"),
        (changed(durations=[[0, 1, 2], [1, 0, 2]]), r"shape \(2, 3\): it must go from each place to each"),
        (changed(durations=[[0, 1], [1]]), "not rows of numbers"),
        (changed(durations=[[0, "x"], [1, 0]]), "have .x. from place 0 to place 1"),
        (changed(durations={"0": 1}), "not rows of numbers"),
        (changed(durations=[[0, -1, 2], [1, 0, 2], [1, 2, 0]]), r"entry \(0, 1\) of the matrix is -1"),
        (changed(destinations=TABLE["sources"][::-1]), "source and destination 0 .* are different places"),
    ],
)
def test_what_is_wrong_is_said(table, message, tmp_path):
    with pytest.raises(InvalidProblem, match=message):
        warptsp.solve(table)
    file = tmp_path / "table.json"
    file.write_text(json.dumps(table), encoding="utf-8")
    with pytest.raises(ParseError, match=rf"table\.json: .*{message}"):
        load(file)


def test_a_place_that_no_route_leaves_is_one_of_a_path_at_most():
    table = changed(durations=[[0, None, None], [1, 0, 1], [1, 2, 0]])
    with pytest.raises(InvalidProblem, match=r"row 0 .* no arc leaves node 1"):
        warptsp.solve(table)
    assert warptsp.solve(table, open=True).tour[-1] == 0


def test_what_was_not_asked_for():
    with pytest.raises(InvalidProblem, match="no distances, it has durations: ask for annotations=distance"):
        Problem.from_osrm({"durations": TABLE["durations"]}, "distances")
    with pytest.raises(InvalidOption, match="annotation: 'speeds'"):
        Problem.from_osrm(TABLE, "speeds")
    with pytest.raises(InvalidProblem, match="not list"):
        Problem.from_osrm([[0, 1], [1, 0]])


PLACES = [{"lon": 13.38, "lat": 52.51}, {"lon": 13.39, "lat": 52.52}, {"lon": 13.42, "lat": 52.53}]


@pytest.mark.parametrize("places", [PLACES, [PLACES]])
def test_valhalla(tmp_path, places):
    """As its matrix service answers, in long and in short."""
    seconds, km = [[0, 192, 382], [199, 0, 283], [344, 222, 0]], [[0, 1.8, 3.7], [1.9, 0, 2.8], [3.2, 2.3, 0]]
    cells = [
        [{"distance": km[i][j], "time": seconds[i][j], "from_index": i, "to_index": j} for j in range(3)]
        for i in range(3)
    ]
    whole = {"sources_to_targets": cells, "sources": places, "targets": places, "units": "kilometers"}
    short = {**whole, "sources_to_targets": {"durations": seconds, "distances": km}}
    for table in (whole, short):
        problem = Problem.from_osrm(table)
        np.testing.assert_array_equal(problem.matrix, seconds)
        assert (problem.comment, problem.integral) == ("durations in seconds", True)
        np.testing.assert_array_equal(problem.plot_points[1], [13.39, 52.52])
        far = Problem.from_osrm(table, "distances")
        assert (far.distance(0, 1), far.comment) == (1.8, "distances in kilometers")
        file = tmp_path / "matrix.json"
        file.write_text(json.dumps(table), encoding="utf-8")
        assert load(file).distance(2, 1) == 222
        assert warptsp.solve(table).length == 382 + 222 + 199
    cells[0].reverse()
    with pytest.raises(InvalidProblem, match=r"entry 0 of row 0 .* is from place '0' to '2'"):
        Problem.from_osrm(whole)
    far_alone = [[{"distance": length} for length in row] for row in km]
    assert Problem.from_osrm({"sources_to_targets": far_alone}).comment == "distances in kilometers"


@pytest.mark.parametrize(("unit", "means"), [("m", "m"), ("km", "km"), ("mi", ""), (None, "m"), ([], "m")])
def test_the_unit_of_openrouteservice(unit, means):
    table = {"distances": [[0, 1.8], [1.9, 0]], "metadata": {"query": {"units": unit}}}
    assert Problem.from_osrm(table).unit == means


def test_graphhopper():
    """As its matrix service answers."""
    table = {
        "distances": [[0, 1886, 3791], [1824, 0, 2838], [3275, 2361, 0]],
        "times": [[0, 192, 382], [199, 0, 283], [344, 222, 0]],
        "weights": [[0, 220.1, 430.2], [230.3, 0, 330.4], [390.5, 260.6, 0]],
        "info": {"copyrights": ["GraphHopper"], "took": 3},
        "hints": [],
    }
    assert Problem.from_osrm(table).distance(1, 2) == 283
    assert Problem.from_osrm(table, "distances").distance(1, 2) == 2838
    assert warptsp.solve(table).length == 382 + 222 + 199


def test_integers_stay_integers_whatever_their_size_beside_null():
    large = 2**60 + 1
    rows = [[0, large, None], [large, 0, large + 2], [large + 5, large, 0]]
    problem = Problem.from_osrm({"distances": rows})
    assert problem.length([0, 1, 2]) == 3 * large + 7
    assert len(problem.missing_arcs([0, 2, 1])) == 1


def test_where_no_route_leads_no_tour_goes(caplog):
    table = {"durations": [[0, None, 4, 9], [1, 0, None, 9], [9, 5, 0, 1], [1, 9, 9, 0]]}
    problem = Problem.from_osrm(table)
    assert "no route for 2 pairs of places, such as from 0 to 1" in caplog.text
    result = warptsp.solve(problem)
    assert not len(problem.missing_arcs(result.tour))
    assert result.length == 4 + 1 + 9 + 1
