"""JSON in the forms that people have: each is read right, or refused in a line that names the cure."""

import json
import logging

import numpy as np
import pytest
from click.testing import CliRunner

import warptsp
from warptsp.cli import commands
from warptsp.errors import InvalidOption, InvalidTour, ParseError
from warptsp.io import load, read_tour

PLACES = {"A": (52.1, 13.2), "B": (53.1, 13.3), "C": (53.4, 14.2)}
NAMED = [{"name": name, "lat": lat, "lon": lon} for name, (lat, lon) in PLACES.items()]
MATRIX = [[0, 5, 7], [5, 0, 9], [7, 9, 0]]
LATITUDES, LONGITUDES = (list(axis) for axis in zip(*PLACES.values(), strict=True))
COLUMNS = {"name": list(PLACES), "lat": LATITUDES, "lon": LONGITUDES}


def point(lat, lon):
    return {"type": "Point", "coordinates": [lon, lat]}


def read(folder, document, name="a.json", **options):
    file = folder / name
    file.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return load(file, **options)


@pytest.fixture(autouse=True)
def _notes(caplog):
    caplog.set_level(logging.INFO, "warptsp")


@pytest.mark.parametrize(
    "document",
    [
        NAMED,
        [NAMED[0], dict(reversed(NAMED[1].items())), NAMED[2]],
        {name: {"lat": lat, "lng": lon} for name, (lat, lon) in PLACES.items()},
        COLUMNS,
        [list(COLUMNS), *map(list, zip(*COLUMNS.values(), strict=True))],
        [{"name": name, "location": {"lat": lat, "lng": lon}} for name, (lat, lon) in PLACES.items()],
        [{"name": name, "at": {"gps": {"lat": lat, "lng": lon}}} for name, (lat, lon) in PLACES.items()],
        [{"name": name, "loc": point(*place)} for name, place in PLACES.items()],
        [{"name": name, "lonlat": [lon, lat]} for name, (lat, lon) in PLACES.items()],
        [{"name": name, "lat": f"{lat}", "lon": f"{lon}"} for name, (lat, lon) in PLACES.items()],
        {"version": 1, "data": {"cities": NAMED}},
        {"names": list(PLACES), "data": [["lat", "lon"], *map(list, PLACES.values())]},
        # As pandas writes a frame.
        {title: dict(enumerate(column)) for title, column in COLUMNS.items()},
        {str(row): place for row, place in enumerate(NAMED)},
        {"columns": ["lat", "lon"], "index": list(PLACES), "data": list(map(list, PLACES.values()))},
        {"schema": {"fields": []}, "data": [{"index": row, **place} for row, place in enumerate(NAMED)]},
        "\n".join(map(json.dumps, NAMED)),
        [{"type": "Feature", "geometry": point(*p), "properties": {"name": n}} for n, p in PLACES.items()],
        {
            "elements": [
                {"type": "node", "id": number, "lat": lat, "lon": lon, "tags": {"name": name, "x": "y"}}
                for number, (name, (lat, lon)) in enumerate(PLACES.items(), 1)
            ]
        },
    ],
)
def test_places(tmp_path, document):
    problem = read(tmp_path, document)
    assert (problem.metric.name, list(problem.labels)) == ("GREAT_CIRCLE", list(PLACES))
    np.testing.assert_array_equal(problem.coordinates, list(PLACES.values()))


def test_places_in_the_plane(tmp_path, caplog):
    for document in ({"A": [100, 2], "B": [3, 4]}, [["A", 100, 2], ["B", 3, 4]], [[100, 2], [3, 4]]):
        problem = read(tmp_path, document)
        assert (problem.metric.name, problem.coordinates.tolist()) == ("EXACT_2D", [[100, 2], [3, 4]])
    caplog.clear()
    assert read(tmp_path, PLACES).metric.name == "EXACT_2D"
    assert f"{tmp_path / 'a.json'}: the numbers look like degrees" in caplog.text
    assert read(tmp_path, PLACES, metric="haversine").metric.name == "GREAT_CIRCLE"


@pytest.mark.parametrize("depot", [[0, 0], {"x": 0, "y": 0}, 7])
def test_a_place_beside_the_others_is_told(tmp_path, caplog, depot):
    assert read(tmp_path, {"depot": depot, "customers": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]}).n == 2
    assert ("the tour leaves out 'depot'" in caplog.text) == (depot != 7)


@pytest.mark.parametrize(
    "document",
    [
        MATRIX,
        [[0], [5, 0], [7, 9, 0]],
        [["", *"ABC"], *([name, *row] for name, row in zip("ABC", MATRIX, strict=True))],
        {"A": {"B": 5, "C": 7}, "B": {"A": 5, "C": 9}, "C": {"A": 7, "B": 9}},
        {"A": {"B": 5, "C": 7}, "B": {"C": 9}},
        {"columns": list("ABC"), "index": list("ABC"), "data": MATRIX},
        {name: dict(enumerate(row)) for name, row in zip("ABC", MATRIX, strict=True)},
        {"cities": list("ABC"), "distances": MATRIX},
        {"distance_matrix": MATRIX, "num_vehicles": 1, "depot": 0},
        [
            {"from": a, "to": b, "distance": d}
            for a, b, d in [*zip("AABBCC", "BCACAB", (5, 7, 5, 9, 7, 9), strict=True)]
        ],
    ],
)
def test_distances(tmp_path, document):
    problem = read(tmp_path, document)
    assert problem.matrix.tolist() == MATRIX
    assert problem.labels is None or list(problem.labels) == list("ABC")


def test_large_numbers_and_missing_arcs(tmp_path):
    large = 2**60 + 1
    assert read(tmp_path, [[0, large, 1], [large, 0, 2], [1, 2, 0]]).matrix[0, 1] == large
    names = {"A": {"B": "inf", "C": 7, "D": 1}, "B": {"C": 9, "D": 1}, "C": {"D": 1}}
    row = [[0, "inf", 7, 1], ["inf", 0, 9, 1], [7, 9, 0, 1], [1, 1, 1, 0]]
    for document in (names, row):
        assert warptsp.solve(read(tmp_path, document)).tour.tolist() in ([0, 2, 1, 3], [0, 3, 1, 2])


def element(seconds, metres):
    return {"duration": {"value": seconds}, "distance": {"value": metres}, "status": "OK"}


def route(start, end, seconds):
    # Google leaves out what is 0.
    ends = {key: index for key, index in (("originIndex", start), ("destinationIndex", end)) if index}
    return {**ends, "duration": f"{seconds}s", "condition": "ROUTE_EXISTS"}


@pytest.mark.parametrize(
    "document",
    [
        {
            "origin_addresses": ["P", "Q"],
            "destination_addresses": ["P", "Q"],
            "rows": [
                {"elements": [element(0, 0), element(5, 50)]},
                {"elements": [element(6, 60), element(0, 0)]},
            ],
            "status": "OK",
        },
        [route(1, 0, 6), route(0, 1, 5), route(0, 0, 0), route(1, 1, 0)],
        {"matrix": {"numOrigins": 2, "numDestinations": 2, "travelTimes": [0, 5, 6, 0]}, "matrixId": "x"},
        {"durations": [[0, 5], [6, 0]], "metadata": {"query": {"profile": "driving-car"}}},
    ],
)
def test_answers_of_services(tmp_path, document):
    problem = read(tmp_path, document)
    assert (problem.asymmetric, problem.matrix.tolist()) == (True, [[0, 5], [6, 0]])
    if "rows" in document:
        assert list(problem.labels) == ["P", "Q"]
        assert load(tmp_path / "a.json", format="osrm-distances").matrix.tolist() == [[0, 50], [60, 0]]
    with pytest.raises(InvalidOption, match=r"only a table has columns, and .*a.json is read as a"):
        load(tmp_path / "a.json", columns={"x": 1, "y": 2})


def test_where_no_route_leads(tmp_path, caplog):
    here = {"numOrigins": 2, "numDestinations": 2, "travelTimes": [0, 5, 6, 0], "errorCodes": [0, 1, 3, 0]}
    read(tmp_path, {"matrix": here})
    assert "no route for 1 pairs of places, such as from 0 to 1" in caplog.text
    routes = [{**route(i, j, 0), "distanceMeters": 5} for i in range(3) for j in range(3)]
    routes[2] = {"destinationIndex": 2, "status": {"code": 5, "message": "no road near"}}
    read(tmp_path, routes)
    assert load(tmp_path / "a.json", format="osrm-distances").missing_arcs([0, 2, 1]).tolist() == [[0, 2]]


@pytest.mark.parametrize(
    ("wkid", "metric"),
    [(102100, "EXACT_2D"), (25833, "EXACT_2D"), (4326, "GREAT_CIRCLE"), (7844, "GREAT_CIRCLE")],
)
@pytest.mark.parametrize("beside", [True, False])
def test_features_of_arcgis_are_in_the_system_that_they_name(wkid, metric, beside, tmp_path, caplog):
    system = {"spatialReference": {"wkid": wkid}}
    degrees = metric == "GREAT_CIRCLE"
    features = [
        {
            "attributes": {"OBJECTID": 7 - at, "NAME": f"at {at}"},
            "geometry": {"x": 13.5 if degrees else 1.5e6 + at, "y": 52.0 + at if degrees else 6.9e6}
            | ({} if beside else system),
        }
        for at in range(3)
    ]
    fields = [{"name": "OBJECTID", "type": "esriFieldTypeOID"}]
    document = {"fields": fields, **system, "features": features} if beside else features
    problem = read(tmp_path, document)
    assert (problem.metric.name, problem.labels[2]) == (metric, "at 2")
    assert problem.distance(0, 2) == pytest.approx(222_390 if degrees else 2, rel=1e-3)
    assert ("Web Mercator, stretches distances, here about 1.64 times" in caplog.text) == (wkid == 102100)


def test_nodes_of_overpass(tmp_path, caplog):
    nodes = [{"type": "node", "id": 77, "lat": 1, "lon": 2}, {"type": "node", "id": 55, "lat": 3, "lon": 4}]
    assert read(tmp_path, {"elements": nodes}).node_ids.tolist() == [77, 55]
    way = {"type": "way", "id": 77, "center": {"lat": 5, "lon": 6}, "tags": {"name": "W"}}
    problem = read(tmp_path, {"elements": [*nodes, way, {"type": "way", "id": 78}]})
    assert (problem.n, problem.node_ids, list(problem.labels)) == (3, None, ["", "", "W"])
    assert "elements without a place are left out, 1 of 4" in caplog.text


def test_what_stands_beside_the_coordinates_need_not_fit_together(tmp_path):
    rows = [{"x": 1, "y": 2, "more": []}, {"x": 3, "y": 4}, {"x": 5, "y": None, "more": {"a": [1]}}]
    assert read(tmp_path, rows, skip_incomplete=True).coordinates.tolist() == [[1, 2], [3, 4]]
    assert read(tmp_path, {"title": "t", "x": [1, 3], "y": [2, 4]}).n == 2


def test_columns_and_incomplete_rows(tmp_path, caplog):
    rows = [{"Kunde": "A", "Nord": 52.1, "Ost": 13.2}, {"Kunde": "B", "Nord": 53.1}]
    with pytest.raises(ParseError, match="columns 'Kunde', 'Nord', 'Ost': columns x and y, or lat and lon"):
        read(tmp_path, rows)
    columns = {"lat": "Nord", "lon": "Ost"}
    with pytest.raises(ParseError, match=r"row 1 \(counted from 0\): nothing in column Ost: .*skip_incomp"):
        read(tmp_path, rows, columns=columns)
    assert read(tmp_path, rows, columns=columns, skip_incomplete=True).n == 1
    assert "1 row without coordinates is left out: row 1 (counted from 0) ('B')" in caplog.text


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("[1, 2, 3]", "a list of 3 entries such as 1 is no instance: places by name, .* or the table of a"),
        ("5", "5 is no instance"),
        ("{}", "an empty object is no instance"),
        ('{"a": 1}', "an object with the keys 'a' is no instance"),
        ('{"nodes": [{"id": 1}], "links": [{"to": 1}]}', "an object with the keys 'nodes', 'links' is no"),
        ('{"type": "Topology", "objects": {}}', "an object with the keys 'type', 'objects' is no instance"),
        ('{"A": {"B": 5}, "B": {"C": 9}}', "no distance leads from 'A' to 'C': every pair is needed"),
        ('{"A": [1, 2], "A": [3, 4]}', "an object has the key 'A' twice: each once is needed"),
        ('{"A": [1, 1e999], "B": [1, 2]}', "'1e999' is too large for a floating-point number"),
        ("[[0, Infinity], [1, 0]]", 'Infinity is not a JSON number: .*, in a matrix "inf" for a missing arc'),
        (f"[[1{'0' * 400}, 1], [2, 3]]", "is too large for a floating-point number"),
        ('{"a":' * 500 + "[[1, 2]]" + "}" * 500, "an object with the keys 'a' is no instance"),
        ('[{"name": "A", "at": [13.2, 52.1]}]', r"'at' is \[13.2, 52.1\]: call it latlon or lonlat"),
        ('[{"coordinatesofthecustomer": [13.2, 52.1]}]', "'coordinatesofthecustomer' is .*: call it latlon"),
        ('{"lat": [1, 2], "lon": [3]}', "column 'lat' has 2 entries, and column 'lon' 1: all have as many"),
        ('[{"x": 1, "y": 2}, 5]', r"row 1 \(counted from 0\) is 5: an object is needed, as before it"),
        ("[[false, 1], [2, 3]]", r"row 0 \(counted from 0\): False: a number is needed"),
        ("[[null, 3], [2, 3], [4, 5], [6, 7]]", "2 columns without a header line"),
        ("[[3, null], [2, 3], [4, 5], [6, 7]]", "2 columns without a header line"),
        ('{"x": 1}\n{"x": 1\n', "a.json:2: is not JSON: Extra data"),
        ('{"elements": []}', "has no elements with lat and lon: ask Overpass for nodes, or for out center"),
        ('{"rows": [], "status": "X", "error_message": "no key"}', "answered 'X' and no table: 'no key'"),
        ('{"error": {"code": 6004, "message": "too many"}}', "the service answered no table: 'too many'"),
        (
            '{"origin_addresses": ["P"], "destination_addresses": ["Q"], "rows": [{"elements": [{}]}]}',
            "source and destination 0 .* are different places",
        ),
        ('[{"originIndex": 1, "duration": "5s", "condition": "ROUTE_EXISTS"}]', "1 elements of 2 places"),
        ('[{"originIndex": 1e9, "duration": "5s", "condition": "X"}]', "an index '1000000000.0': a whole"),
        ('{"matrix": {"numOrigins": 2, "numDestinations": 3, "distances": [0]}}', "1 distances, not 2 x 3"),
        (
            '[{"duration": "5s", "condition": "ROUTE_EXISTS"}, {"originIndex": 0}, {"originIndex": 1}, 7]',
            "4 elements of 2 places: one from each place to each",
        ),
        ('{"matrix": {"numOrigins": "2"}}', "does not say in whole numbers how many"),
        (json.dumps([{f"k{row}": 1} for row in range(6000)]), "6000 objects have 6000 different keys"),
    ],
)
def test_what_is_refused(tmp_path, document, message):
    with pytest.raises(ParseError, match=message):
        read(tmp_path, document)


@pytest.mark.parametrize(
    "tour", [[0, 2, 1], [1, 3, 2], ["A", "C", "B"], ["A", "C", "B", "A"], {"tour": [0, 2, 1], "closed": True}]
)
def test_tours(tmp_path, tour):
    (tmp_path / "tour.json").write_text(json.dumps(tour))
    assert read_tour(tmp_path / "tour.json", read(tmp_path, NAMED)).tolist() == [0, 2, 1]


@pytest.mark.parametrize("tour", [[], [1.5, 2, 3], [10**30, 1, 2], [True, 1, 2], [{"id": 1}], 5.5, {"a": 1}])
def test_what_is_no_tour(tmp_path, tour):
    (tmp_path / "tour.json").write_text(f" {json.dumps(tour)}")
    with pytest.raises((ParseError, InvalidTour), match=r"is no tour: a list of node numbers|an integer is"):
        read_tour(tmp_path / "tour.json", read(tmp_path, NAMED))


def test_what_solve_writes_is_checked_and_no_instance(tmp_path):
    read(tmp_path, NAMED)
    places, answer = str(tmp_path / "a.json"), tmp_path / "answer.json"
    answer.write_text(CliRunner().invoke(commands, ["solve", places, "--json", "--quiet"]).stdout)
    checked = CliRunner().invoke(commands, ["check", places, str(answer)])
    assert (checked.exit_code, "visits each of the 3 cities once" in checked.output) == (0, True)
    with pytest.raises(ParseError, match=r"is a tour that warptsp found: the places stand in '.*a.json'"):
        load(answer)


@pytest.mark.parametrize(
    "document",
    [
        [{"x": True, "y": 2}, {"x": 3, "y": 4}],
        {"A": [True, 2.5], "B": [3, 4]},
        {"x": [1, True], "y": [2, 3]},
        {"A": {"B": True, "C": 2}, "B": {"C": 3}},
        [[0, True, 2], [1, 0, 3], [2, 3, 0]],
    ],
)
def test_true_is_no_number(tmp_path, document):
    with pytest.raises(ParseError):
        read(tmp_path, document)


def test_integers_beside_reals_keep_their_digits(tmp_path):
    rows = [
        {"x": k, "y": k * k, "order": order} for k, order in enumerate([2**53 + 1, 2.5, 1425678901234567891])
    ]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    problem = load(tmp_path / "a.json")
    warptsp.write_tour(tmp_path / "a.csv", range(3), problem)
    written = (tmp_path / "a.csv").read_text()
    assert str(2**53 + 1) in written
    assert "1425678901234567891" in written
