"""GeoJSON in which points stand beside other things, as in the tours that warptsp writes."""

import json

import pytest

from warptsp.errors import ParseError
from warptsp.io import load

LINE = {"type": "LineString", "coordinates": [[1, 2], [3, 4]]}
AREA = {"type": "Polygon", "coordinates": [[[0, 0], [9, 0], [9, 9], [0, 0]]]}
SHAPES = [
    LINE,
    AREA,
    {"type": "MultiLineString", "coordinates": [LINE["coordinates"]]},
    {"type": "MultiPolygon", "coordinates": [AREA["coordinates"]]},
]


def feature(geometry, **properties):
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def point(longitude, latitude):
    return {"type": "Point", "coordinates": [longitude, latitude]}


def loaded(tmp_path, *features):
    document = {"type": "FeatureCollection", "features": features}
    (tmp_path / "a.geojson").write_text(json.dumps(document))
    return load(tmp_path / "a.geojson")


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape["type"])
def test_points_beside_lines_and_areas(tmp_path, shape, caplog):
    both = {"type": "GeometryCollection", "geometries": [shape, point(7, 8)]}
    problem = loaded(
        tmp_path, feature(shape, name="x"), feature(point(5, 6), name="A"), feature(both, name="B")
    )
    assert problem.coordinates.tolist() == [[6, 5], [8, 7]]
    assert list(problem.labels) == ["A", "B"]
    assert not caplog.records
    with pytest.raises(ParseError, match=rf"feature 2 is '{shape['type']}': a Point or a MultiPoint is"):
        loaded(tmp_path, feature(None), feature(shape))


def test_features_without_a_place_are_left_out(tmp_path, caplog):
    for count, words in (1, "1 feature without a place is"), (2, "2 features without a place are"):
        problem = loaded(tmp_path, *[feature(None, name="x")] * count, feature(point(5, 6), name="A"))
        assert list(problem.labels) == ["A"]
        assert caplog.messages[-1] == f"{tmp_path / 'a.geojson'}: {words} left out: the geometry is null"
        with pytest.raises(ParseError, match="holds no points"):
            loaded(tmp_path, *[feature(None)] * count)


def test_the_system_of_reference_of_older_files(tmp_path):
    points = [feature(point(7.4, 46.9)), feature(point(8.5, 47.4))]
    for name in ("urn:ogc:def:crs:OGC:1.3:CRS84", "EPSG:4326", "http://www.opengis.net/def/crs/EPSG/0/4258"):
        system = {"type": "name", "properties": {"name": name}}
        document = {"type": "FeatureCollection", "crs": system, "features": points}
        (tmp_path / "a.geojson").write_text(json.dumps(document))
        assert load(tmp_path / "a.geojson").n == 2
    for name in ("urn:ogc:def:crs:EPSG::25832", "EPSG:4807"):
        system["properties"]["name"] = name
        for shape in (document, feature(LINE) | {"crs": system}):
            (tmp_path / "b.geojson").write_text(json.dumps(shape))
            with pytest.raises(ParseError, match=f"the coordinates are in {name}, and longitudes and lat"):
                load(tmp_path / "b.geojson")


def test_points_and_their_names(tmp_path):
    problem = loaded(tmp_path, feature(point(7.4, 46.9), name="Bern"), feature(point(8.5, 47.4)))
    assert problem.metric.name == "GREAT_CIRCLE"
    assert problem.coordinates.tolist() == [[46.9, 7.4], [47.4, 8.5]]
    assert list(problem.labels) == ["Bern", ""]
    points = {"type": "MultiPoint", "coordinates": [[7.4, 46.9, 540], [8.5, 47.4]]}
    (tmp_path / "b.geojson").write_text(json.dumps({"type": "GeometryCollection", "geometries": [points]}))
    assert load(tmp_path / "b.geojson").coordinates.tolist() == [[46.9, 7.4], [47.4, 8.5]]
    assert load(tmp_path / "b.geojson").labels is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "an empty list is no instance: places by name"),
        ('{"A": {"lat": 1}, "B": 2}', "an object with the keys 'A', 'B' is no instance: places by name"),
        ('{"type": "FeatureCollection"}', "the document has no list of features"),
        ('{"type": "FeatureCollection", "features": []}', "holds no points"),
        ('{"type": "FeatureCollection", "features": [{"type": "Feature"}]}', "feature 1 is 'None'"),
        ('{"type": "Point", "coordinates": null}', "the document has no coordinates"),
        ('{"type": "MultiPoint", "coordinates": [null]}', "the document has no coordinates"),
        ('{"type": "Circle"}', "an object with the keys 'type' is no instance"),
        ('{"type": "Feature", "geometry": {"type": "LineString"}}', "the document is 'LineString'"),
        ('{"type": "MultiPoint", "coordinates": 3}', "no list of coordinates"),
        ('{"type": "Point", "coordinates": [1]}', "no coordinates"),
        ('{"type": "Point", "coordinates": ["1", 2]}', "has the coordinate '1': a number is needed"),
        ('{"type": "Point", "coordinates": [true, 2]}', "has the coordinate 'True'"),
        ('{"type": "Point", "coordinates": [46, 120]}', r"the document lies at \[46, 120\]"),
        (f'{{"type": "Point", "coordinates": [1{"0" * 400}, 1]}}', "has a coordinate too large"),
        ('{"type":\n}', "file.json:2: is not JSON"),
        ('{"type": "Point", "coordinates": [NaN, 1]}', "NaN is not a JSON number"),
        ('{"type": "Feature", "geometry": {"type": "Circle"}}', "the document is 'Circle': a Point or a"),
        ("[" * 100_000, "is nested too deeply"),
        ('{"type": "Point", "coordinates": [' + "9" * 5000 + ", 1]}", "cannot be read as JSON"),
    ],
)
def test_what_is_no_geojson(tmp_path, text, message):
    (tmp_path / "file.json").write_text(text)
    with pytest.raises(ParseError, match=message):
        load(tmp_path / "file.json")
