"""GPX and KML: places in, tours out, and hostile XML."""

import gzip
import zipfile
from xml.etree import ElementTree

import numpy as np
import pytest

from warptsp import Metric, OpenPath, Problem
from warptsp.errors import InvalidOption, ParseError
from warptsp.io import load, write_tour

KML = "{http://www.opengis.net/kml/2.2}"
GPX_TEXT = """<?xml version="1.0"?>
<gpx version="1.1" creator="somebody" xmlns="http://www.topografix.com/GPX/1/1">
  <metadata><name>not a place</name></metadata>
  <wpt lat="52.5" lon="13.4"><name>Berlin &amp; Spree</name></wpt>
  <wpt lat="48.86" lon="2.35"/>
  <rte><name>a route</name><rtept lat="1" lon="2"><name>elsewhere</name></rtept></rte>
</gpx>"""
KML_TEXT = """<kml:kml xmlns:kml="http://www.opengis.net/kml/2.2"><kml:Document><kml:name>all</kml:name>
<kml:Placemark><kml:Point><kml:coordinates>
  13.4,52.5,34 </kml:coordinates></kml:Point><kml:name>Berlin</kml:name></kml:Placemark>
<kml:Placemark><kml:name>a line</kml:name><kml:LineString><kml:coordinates>1,2 3,4</kml:coordinates>
</kml:LineString></kml:Placemark>
<kml:Placemark><kml:name>Paris</kml:name><kml:Point><kml:coordinates>2.35,48.86</kml:coordinates>
</kml:Point></kml:Placemark></kml:Document></kml:kml>"""


@pytest.fixture
def places():
    return Problem.from_points(
        [[52.5, 13.4], [48.86, 2.35], [41.9, 12.5]],
        "GREAT_CIRCLE",
        labels=["Berlin", "<Paris> & \x00", "Roma"],
        name="capitals",
    )


@pytest.mark.parametrize(("ending", "text"), [("gpx", GPX_TEXT), ("kml", KML_TEXT)])
def test_places_are_read(tmp_path, ending, text, caplog):
    plain, packed = text.encode(), gzip.compress(text.encode())
    for name, data in ((f"a.{ending}", plain), ("a.xml", plain), (f"a.{ending}.gz", packed)):
        (tmp_path / name).write_bytes(data)
        problem = load(tmp_path / name)
        assert problem.metric is Metric.GREAT_CIRCLE
        np.testing.assert_array_equal(problem.coordinates, [[52.5, 13.4], [48.86, 2.35]])
        assert problem.labels[0].startswith("Berlin")
        assert problem.labels[1] == ("" if ending == "gpx" else "Paris")
        assert ("1 point of a route is left out" in caplog.text) == (ending == "gpx")
    address = "<kml:Placemark><kml:address>Rome</kml:address></kml:Placemark>"
    link = "<kml:NetworkLink><kml:Link><kml:href>more.kml</kml:href></kml:Link></kml:NetworkLink>"
    (tmp_path / "a.kml").write_text(KML_TEXT.replace("</kml:Document>", f"{address}{link}</kml:Document>"))
    assert load(tmp_path / "a.kml").n == 2
    assert caplog.text.count("1 placemark without a place is left out") == 1
    assert caplog.text.count("links to more places, which are not fetched: 'more.kml'") == 1


@pytest.mark.parametrize("ending", ["gpx", "kml"])
@pytest.mark.parametrize("path", [OpenPath(), None])
def test_tours_are_read_back_as_places(tmp_path, places, ending, path):
    file = tmp_path / f"tour.{ending}"
    write_tour(file, [2, 0, 1], Problem(places.metric, places.coordinates, open=path))
    np.testing.assert_array_equal(load(file).coordinates, places.coordinates[[2, 0, 1]])


def test_kml_has_a_line_and_the_cities(tmp_path, places):
    write_tour(tmp_path / "a.kml", [2, 0, 1], places)
    root = ElementTree.parse(tmp_path / "a.kml").getroot()
    assert root.tag == KML + "kml"
    (line,) = root.iter(KML + "LineString")
    points = [tuple(map(float, text.split(","))) for text in line.find(KML + "coordinates").text.split()]
    assert points == [(12.5, 41.9), (13.4, 52.5), (2.35, 48.86), (12.5, 41.9)]
    names = [place.findtext(KML + "name") for place in root.iter(KML + "Placemark")]
    assert names == ["tour", "Roma", "Berlin", "<Paris> & ?"]
    with pytest.raises(InvalidOption, match=r"a.kml: KML needs latitudes and longitudes"):
        write_tour(tmp_path / "a.kml", [0, 1, 2], Problem.from_points([[0, 0], [1, 0], [2, 2]]))


def bomb(entities):
    lines = ['<!ENTITY a "lol">'] + [f'<!ENTITY a{i} "{"&a;" * 10}">' for i in range(entities)]
    return f"<!DOCTYPE gpx [{''.join(lines)}]><gpx><wpt lat='1' lon='2'><name>&a;</name></wpt></gpx>"


PLACE = "<Placemark><Point><coordinates>{}</coordinates></Point></Placemark>"
HOSTILE = {
    "entities": bomb(20),
    "a file": '<!DOCTYPE gpx [<!ENTITY x SYSTEM "file:///etc/passwd">]><gpx><wpt lat="1" lon="2"/>&x;</gpx>',
    "a type elsewhere": '<!DOCTYPE gpx SYSTEM "http://127.0.0.1:9/a.dtd"><gpx><wpt lat="1" lon="2"/></gpx>',
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_document_types_are_refused(tmp_path, text, encoding):
    file = tmp_path / "a.gpx"
    file.write_bytes(text.encode(encoding))
    with pytest.raises(ParseError, match="document type"):
        load(file)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.gpx", "<gpx><wpt lat='1' lon='2'></gpx>", "a.gpx:1: is not XML: mismatched tag"),
        ("a.gpx", "<gpx>", "a.gpx:1: is not XML: no element found"),
        ("a.gpx", "<?xml version='1.0' encoding='klingon'?><gpx/>", "a.gpx:1: is not XML: "),
        ("a.gpx", "<gpx><wpt lat='1' lon='2'>&nbsp;</wpt></gpx>", "a.gpx:1: is not XML: undefined entity"),
        ("a.gpx", "<osm/>", "a.gpx:1: the document is 'osm': gpx is needed"),
        ("a.gpx", "<gpx>\n<trk/></gpx>", "a.gpx: has no waypoints and no routes"),
        ("a.gpx", "<gpx>\n<wpt lat='91' lon='2'/></gpx>", "a.gpx:2: a place has latitude '91' and"),
        ("a.gpx", "<gpx>\n<wpt lon='nan'/></gpx>", "a.gpx:2: a place has latitude '' and longitude 'nan'"),
        ("a.kml", "<kml><Placemark/></kml>", "a.kml: has no placemarks with a Point"),
        ("a.kml", f"<kml>{PLACE.format(1)}</kml>", "latitude '' and longitude '1'"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ParseError) as caught:
        load(tmp_path / name)
    assert message in str(caught.value)


def test_deep_nesting_is_no_matter(tmp_path):
    file = tmp_path / "a.gpx"
    file.write_text("<gpx>" + "<a>" * 100_000 + "</a>" * 100_000 + "<wpt lat='1' lon='2'/></gpx>")
    assert load(file).n == 1


@pytest.mark.parametrize("text", [GPX_TEXT, KML_TEXT], ids=["gpx", "kml"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "declaration",
    [
        "<?xml version='1.0' encoding='UTF-16'?>",
        '<?xml version="1.0"\n encoding = "utf-16le" standalone="yes" ?>\n',
        '<?xml version="1.0" encoding="UTF-8"?>',
        "",
    ],
)
def test_utf_16_may_declare_itself(tmp_path, text, encoding, declaration):
    text = declaration + text.removeprefix('<?xml version="1.0"?>\n').replace("Berlin", "Zürich")
    (tmp_path / "a.xml").write_bytes(f"\ufeff{text}".encode(encoding))
    assert load(tmp_path / "a.xml").labels[0].startswith("Zürich")


def test_other_encodings_are_what_they_declare(tmp_path):
    declared = GPX_TEXT.replace("?>", ' encoding="ISO-8859-1"?>').replace("Berlin", "Zürich")
    (tmp_path / "a.gpx").write_bytes(declared.encode("latin-1"))
    assert load(tmp_path / "a.gpx").labels[0].startswith("Zürich")


def archive(file, **members):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in members.items():
            packed.writestr(name.replace("_", "."), text)


@pytest.mark.parametrize("name", ["a.kmz", "a.kml", "a.dat"])
def test_kml_in_an_archive(tmp_path, name):
    folder = {"files/legend_kml": "<kml/>"}
    archive(tmp_path / name, icon_png="x", **folder, doc_kml=KML_TEXT, other_kml="<kml/>")
    assert list(load(tmp_path / name).labels) == ["Berlin", "Paris"]


def test_archives_that_are_refused(tmp_path):
    archive(tmp_path / "a.kmz", doc_kml=b" " * 40_000_000)
    with pytest.raises(ParseError, match="more than 32000000 unpacked, which looks like a trap"):
        load(tmp_path / "a.kmz")
    archive(tmp_path / "b.kmz", a_csv="x,y")
    with pytest.raises(ParseError, match="is a ZIP archive or a workbook"):
        load(tmp_path / "b.kmz")
    archive(tmp_path / "c.kmz", doc_kml=KML_TEXT)
    data = bytearray((tmp_path / "c.kmz").read_bytes())
    data[60] ^= 255
    (tmp_path / "c.kmz").write_bytes(data)
    with pytest.raises(ParseError, match="is damaged"):
        load(tmp_path / "c.kmz")


def test_a_link_to_places_is_told(tmp_path):
    link = "<NetworkLink><Link><href>https://maps.example/kml?mid=1</href></Link></NetworkLink>"
    (tmp_path / "a.kml").write_text(f"<kml><Document>{link}</Document></kml>")
    with pytest.raises(ParseError, match=r"no places but a link .*'https://maps.example/kml.mid=1': in G"):
        load(tmp_path / "a.kml")


def test_longitudes_beyond_the_antimeridian_are_refused_in_a_line(tmp_path):
    files = {
        "a.kml": KML_TEXT.replace("2.35,", "-180.03,"),
        "a.geojson": '{"type": "Point", "coordinates": [-180.03, 4]}',
        "a.csv": "lat,lon\n4,-180.03\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(ParseError, match=r"-180.03.* -180 (and|to) .*360"):
            load(tmp_path / name)
