"""Pictures: well-formed, of a sensible size, and with the tour in them."""

import re
import struct
import xml.etree.ElementTree as ElementTree
import zlib

import numpy as np
import pytest
from instances import unit_points

from warptsp.errors import InvalidOption, InvalidTour, OutputError, UnsupportedProblem
from warptsp.plotting import check_drawable, draw, raster
from warptsp.plotting.colours import BLACK, BLUE, ON_PAPER, VERMILION
from warptsp.plotting.labels import LABELLED, Labels
from warptsp.plotting.picture import VECTOR_CITIES
from warptsp.plotting.plane import Edges, city_plane, degree_of, tour_edges
from warptsp.plotting.raster import Pen, View, opacity
from warptsp.problem import OpenPath, Problem

SVG = "{http://www.w3.org/2000/svg}"


def random_problem(n, **fields):
    return Problem.from_points(unit_points(n), **fields)


def read_png(path):
    """Return red, green, blue and opacity of each pixel, after checking every checksum."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    place, chunks = 8, {}
    while place < len(data):
        size, kind = struct.unpack(">I4s", data[place : place + 8])
        body = data[place + 8 : place + 8 + size]
        assert struct.unpack(">I", data[place + 8 + size : place + 12 + size])[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        place += 12 + size
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (8, 3)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), dtype=np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()
    palette = np.frombuffer(chunks[b"PLTE"], dtype=np.uint8).reshape(-1, 3)
    opacity = (
        np.frombuffer(chunks[b"tRNS"], dtype=np.uint8) if b"tRNS" in chunks else np.full(len(palette), 255)
    )
    return np.column_stack((palette, opacity)).astype(int)[rows[:, 1:]]


def looks_like(pixel, colour):
    return np.abs(pixel[:3] - np.array(colour)).max() < 40


def paths(path):
    return [element.get("d") for element in ElementTree.parse(path).getroot().iter(f"{SVG}path")]


def texts(path):
    return ["".join(text.itertext()) for text in ElementTree.parse(path).getroot().iter(f"{SVG}text")]


def test_svg_goes_through_every_city(tmp_path):
    problem = Problem.from_points([[0, 0], [10, 0], [10, 5], [0, 5]], name="a <box> & co")
    draw(tmp_path / "box.svg", problem, np.array([0, 1, 2, 3]), size=140)
    root = ElementTree.parse(tmp_path / "box.svg").getroot()
    assert root.get("width") == "140"
    assert root.find(f"{SVG}title").text == "a <box> & co, 4 cities, length 30"
    tour, dots = paths(tmp_path / "box.svg")[:2]
    # 10 steps a pixel, margin 4, y downwards.
    assert tour == "M40 700l1320 0 0 -660 -1320 0z"
    assert dots.count("h0") == 4


def test_an_open_path_is_not_closed_and_its_ends_are_marked(tmp_path):
    problem = Problem.from_points([[0, 0], [10, 0], [10, 10], [0, 10]], open=OpenPath())
    draw(tmp_path / "path.svg", problem, np.arange(4), title="")
    assert texts(tmp_path / "path.svg")[-3:] == ["start", "end", ""]
    assert not paths(tmp_path / "path.svg")[0].endswith("z")
    first, last = ElementTree.parse(tmp_path / "path.svg").getroot().iter(f"{SVG}circle")
    assert float(first.get("cy")) > float(last.get("cy"))
    assert first.get("stroke") is None
    assert last.get("stroke") is not None
    draw(tmp_path / "path.png", problem, np.arange(4), size=1000)
    pixels = read_png(tmp_path / "path.png")
    assert (pixels[500, :40] == 255).all()  # no edge from the last city to the first
    assert looks_like(pixels[500, 980], BLUE)
    assert looks_like(pixels[980, 20], VERMILION)  # a disc
    assert not looks_like(pixels[20, 20], VERMILION)  # a ring
    assert looks_like(pixels[20, 14], VERMILION)


def test_lines_are_blue_fixed_edges_black_and_cities_dots(tmp_path):
    problem = Problem.from_points([[0, 0], [10, 0], [10, 10], [0, 10]], fixed_edges=np.array([[1, 2]]))
    draw(tmp_path / "box.png", problem, np.arange(4), size=1000)
    pixels = read_png(tmp_path / "box.png")
    assert pixels.shape == (1000, 1000, 4)
    assert looks_like(pixels[500, 980], BLACK)
    assert looks_like(pixels[500, 20], BLUE)
    assert looks_like(pixels[20, 500], BLUE)
    for corner in ((20, 20), (20, 980), (980, 20), (980, 980)):
        assert looks_like(pixels[corner], VERMILION)
    assert (pixels[500, 500] == 255).all()
    assert (pixels[0] == 255).all()
    draw(tmp_path / "box.svg", problem, np.arange(4), size=1000)
    assert paths(tmp_path / "box.svg")[1] == "M9800 9800l0 -9600"


@pytest.mark.parametrize("suffix", ["svg", "png"])
@pytest.mark.parametrize(
    "points",
    [
        [[3.0, 4.0]],
        [[1.0, 1.0]] * 5,
        [[0.0, 0.0], [1e12, 0.0], [2e12, 0.0]],
        [[0.0, 0.0], [0.0, 1e-9]],
        [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
    ],
)
def test_odd_instances(tmp_path, suffix, points):
    problem = Problem.from_points(points)
    path = tmp_path / f"odd.{suffix}"
    draw(path, problem, np.arange(problem.n))
    assert path.stat().st_size > 100


def test_a_large_instance_becomes_a_small_file(tmp_path):
    problem = random_problem(VECTOR_CITIES + 1)
    order = np.lexsort((problem.coordinates[:, 1], (problem.coordinates[:, 0] * 300).astype(int)))
    draw(tmp_path / "large.svg", problem, order, size=600)
    image = ElementTree.parse(tmp_path / "large.svg").getroot().find(f"{SVG}image")
    assert image.get("href").startswith("data:image/png;base64,")
    assert (tmp_path / "large.svg").stat().st_size < 1_000_000


def test_lines_get_thinner_where_there_are_many(tmp_path):
    """About a quarter of the area is covered, whether 10 000 cities lie in order or at random."""
    problem = random_problem(10_000)
    x, y = problem.coordinates.T
    strips = np.lexsort((np.where((x * 70).astype(int) % 2, -y, y), (x * 70).astype(int)))
    for tour in (strips, np.random.default_rng(1).permutation(problem.n)):
        draw(tmp_path / "x.png", problem, tour.astype(np.int32), size=500)
        pixels = read_png(tmp_path / "x.png")[20:-20, 20:-20, :3]
        covered = (255 - pixels[..., 0]).mean() / (255 - BLUE[0])
        assert 0.15 < covered < 0.3


def test_maps_are_cut_where_nobody_lives(tmp_path):
    islands = Problem.from_points([[-18.0, 178.0], [-17.0, -179.0], [-16.0, 177.0]], metric="GREAT_CIRCLE")
    draw(tmp_path / "fiji.svg", islands, np.arange(3), size=100)
    width, height = (
        float(ElementTree.parse(tmp_path / "fiji.svg").getroot().get(k)) for k in ("width", "height")
    )
    assert 0.3 < (height - 24) / width < 1


def test_edges_go_the_short_way_around_the_world(tmp_path):
    """Six places along the equator: the edge from the last to the first leaves the picture at both sides."""
    around = [[0.0, longitude] for longitude in (-150, -90, -30, 30, 90, 140)]
    problem = Problem.from_points([*around, [60.0, 0.0]], metric="GREAT_CIRCLE")
    tour = np.array([0, 1, 2, 6, 3, 4, 5])
    draw(tmp_path / "world.png", problem, tour, size=1000)
    pixels = read_png(tmp_path / "world.png")
    row = np.flatnonzero([looks_like(pixel, BLUE) for pixel in pixels[:, 100]])
    assert 0 < len(row) < 4
    across = [looks_like(pixel, BLUE) for pixel in pixels[int(row.mean())]]
    assert across[2]
    assert across[-3]
    west, east = (20 + 960 * (longitude + 150) / 290 for longitude in (-30, 30))
    assert not any(across[int(west) + 20 : int(east) - 20])  # there the tour goes by the north
    draw(tmp_path / "world.svg", problem, tour, size=1000)
    assert paths(tmp_path / "world.svg")[1].count("M") == 2  # land lies below it


EUROPE = {"Lisbon": (38.7223, -9.1393), "Madrid": (40.4168, -3.7038), "3 Paris": (48.8566, 2.3522),
          "Bern <&>": (46.948, 7.4474), "Rome\x00": (41.9028, 12.4964)}  # fmt: skip


def test_an_svg_says_where_the_tour_starts_its_direction_numbers_and_names(tmp_path):
    problem = Problem.from_points(list(EUROPE.values()), "GREAT_CIRCLE", labels=list(EUROPE), name="five")
    tour = np.array([2, 3, 4, 1, 0])
    draw(tmp_path / "x.svg", problem, tour, size=600)
    root = ElementTree.parse(tmp_path / "x.svg").getroot()
    names = ["3 Paris", "Bern <&>", "Rome?", "Madrid", "Lisbon"]
    expected = [f"{i + 1}\u2002{name}" for i, name in enumerate(names)]
    halo, ink = texts(tmp_path / "x.svg")[:5], texts(tmp_path / "x.svg")[5:10]
    assert halo == ink == expected
    assert texts(tmp_path / "x.svg")[10:] == ["start", "five, 5 cities, length 4443.7 km"]
    (group,) = [group for group in root.iter(f"{SVG}g") if group.get("stroke")]
    assert group.get("aria-hidden") == "true"
    assert len(group) == 5
    bold = [tspan.text for tspan in root.iter(f"{SVG}tspan") if tspan.get("font-weight") == "bold"]
    assert bold == ["1", "2", "3", "4", "5"] * 2
    # Arrows in the middle of the edges point along the tour.
    stops = [
        [float(n) for n in step.split()] for step in re.findall(r"M(\S+ \S+)h0", paths(tmp_path / "x.svg")[2])
    ]
    arrows = [
        np.array([corner.split() for corner in arrow.split("L")], dtype=float)
        for arrow in paths(tmp_path / "x.svg")[3][1:-1].split("zM")
    ]
    assert len(arrows) == 5
    for a, b, arrow in zip(stops, np.roll(stops, -1, axis=0), arrows, strict=True):
        assert np.abs((np.array(a) + b) / 20 - (2 * arrow[0] + arrow[1] + arrow[2]) / 4).max() < 0.2
        assert np.dot(np.array(b) - a, arrow[0] - arrow[1:].mean(axis=0)) > 0


@pytest.mark.parametrize("n", [1, 60, 400, 401])
def test_labels_do_not_collide(tmp_path, n):
    points = unit_points(n)
    problem = Problem.from_points(points, labels=[f"place {i} 日本" for i in range(n)])
    labels = Labels(100 + 800 * points, (1000, 1000), 12.0, ON_PAPER)
    dots = len(labels.boxes)
    assert dots == (n if n <= LABELLED else 0)
    elements = labels.elements(problem.labels, closed=True)
    placed = labels.boxes[dots:]
    assert len(placed) == sum("tspan" in element for element in elements) / 2 + 1
    assert len(placed) > min(dots, 50)
    for i, (left, top, right, bottom) in enumerate(labels.boxes):
        others = np.delete(placed, i - dots, axis=0) if i >= dots else placed
        apart = (others[:, :2] >= [right, bottom]) | (others[:, 2:] <= [left, top])
        assert apart.any(axis=1).all()
    assert placed.min() >= 0
    assert placed.max() <= 1000


def test_an_svg_has_the_coastlines_where_they_are_fine_enough(tmp_path):
    problem = Problem.from_points(list(EUROPE.values()), "GREAT_CIRCLE")
    draw(tmp_path / "x.svg", problem, np.arange(5), size=600)
    land = paths(tmp_path / "x.svg")[0]
    plane = city_plane(problem)
    view = View.fit(plane, 600)
    rings = []
    for ring in land[1:-1].split("zM"):
        first, _, steps = ring.partition("l")
        moves = np.array(f"{first} {steps}".replace("-", " -").split(), dtype=int).reshape(-1, 2)
        rings.append(np.cumsum(moves, axis=0))

    def is_land(latitude, longitude):
        x, y = view.pixels(np.array([[longitude * degree_of(plane[:, 1]), latitude]]))[0]
        return any(crossings(ring, x, y) % 2 for ring in rings)

    assert [is_land(*place) for place in ((40, -4), (47, 8), (45.5, 0.5), (43, 12))] == [True] * 4
    assert [is_land(*place) for place in ((47, -6), (40, 5), (42, -11))] == [False] * 3
    town = Problem.from_points([[47.0, 8.0], [47.1, 8.1], [47.0, 8.1]], "GREAT_CIRCLE")
    draw(tmp_path / "town.svg", town, np.arange(3))
    assert paths(tmp_path / "town.svg")[0].startswith("M")
    assert "#f3f1ea" in (tmp_path / "x.svg").read_text("utf-8")
    assert "#f3f1ea" not in (tmp_path / "town.svg").read_text("utf-8")


def crossings(ring, x, y):
    """How often a ray to the right crosses a ring."""
    (x0, y0), (x1, y1) = ring.T, np.roll(ring, -1, axis=0).T
    over = (y0 > y) != (y1 > y)
    return int((x < (x0 + (y - y0) * (x1 - x0) / np.where(over, y1 - y0, 1)))[over].sum())


def test_driving_times_with_places_are_drawn_as_a_map():
    places = np.array([[13.4, 52.5], [2.35, 48.86], [-3.7, 40.42]])
    times = Problem.from_matrix([[0, 3, 4], [3, 0, 5], [4, 5, 0]], display=places, display_degrees=True)
    own = Problem.from_points(places[:, ::-1], "GREAT_CIRCLE")
    assert np.allclose(city_plane(times), city_plane(own))


def test_cities_at_one_place_are_a_dot(tmp_path):
    draw(tmp_path / "x.png", Problem.from_points([[1.0, 1.0]] * 5), np.arange(5))
    pixels = read_png(tmp_path / "x.png")
    assert looks_like(pixels[pixels.shape[0] // 2, pixels.shape[1] // 2], VERMILION)


def test_a_matrix_cannot_be_drawn_without_display_coordinates(tmp_path):
    matrix = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    with pytest.raises(UnsupportedProblem, match="no coordinates to draw"):
        check_drawable(Problem.from_matrix(matrix), "x.svg")
    shown = Problem.from_matrix(matrix, display=np.array([[0.0, 0], [1, 0], [0, 1]]))
    draw(tmp_path / "x.svg", shown, np.arange(3))


def test_bad_input(tmp_path):
    problem = random_problem(4)
    with pytest.raises(InvalidOption, match=r"'x\.jpg' ends in neither"):
        draw("x.jpg", problem, np.arange(4))
    with pytest.raises(InvalidTour):
        draw(tmp_path / "x.svg", problem, np.zeros(4, dtype=int))
    with pytest.raises(InvalidOption, match="picture size: 3"):
        draw(tmp_path / "x.svg", problem, np.arange(4), size=3)
    with pytest.raises(OutputError, match="cannot write"):
        draw(tmp_path / "none" / "x.svg", problem, np.arange(4))
    assert list(tmp_path.iterdir()) == []


def test_a_sample_of_many_edges_tells_how_thick_lines_may_be(monkeypatch):
    problem = random_problem(20_000)
    plane = problem.coordinates
    x, y = plane.T
    strips = np.lexsort((np.where((x * 100).astype(int) % 2, -y, y), (x * 100).astype(int)))
    edges = tour_edges(problem, strips.astype(np.int32))
    view = View.fit(plane, 300)
    whole = Pen.suited(plane, edges, view, thickest=9.0)
    monkeypatch.setattr(raster, "SURVEYED_EDGES", 1000)
    sampled = Pen.suited(plane, edges, view, thickest=9.0)
    assert sampled.width == pytest.approx(whole.width, rel=0.15)
    assert sampled.spacing == pytest.approx(whole.spacing, rel=0.15)


def test_edges_of_no_city_are_refused():
    plane = np.zeros((3, 2))
    for cities in ([0, 3], [0, -1]):
        edges = Edges(np.array([0, 1], dtype=np.int32), np.array(cities, dtype=np.int32))
        with pytest.raises(ValueError, match="is not a city"):
            opacity(plane, edges, View.fit(plane, 50), 1.0)
