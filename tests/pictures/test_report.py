"""The page as text: what is in it, what is not, and what a browser may do with it."""

import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest
from calls import call
from instances import unit_points

import warptsp
from warptsp.errors import InvalidOption, InvalidTour, OutputError, UnsupportedProblem
from warptsp.io import read_tour, write_tour
from warptsp.plotting.packed import unpacked_integers
from warptsp.problem import OpenPath, Problem
from warptsp.quantities import format_gap
from warptsp.report import Report, Tiles, document, render, snapshots_for, write
from warptsp.report.plane import EXACT_BITS, Plane
from warptsp.result import Snapshot

NASTY = "</script><script>alert(1)</script><!-- <script & \" ' @@data@@ \u2028 <svg onload=alert(2)>"


class Page(HTMLParser):
    """The elements of a page, as a browser sees them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.inside = [], {}, ""
        self.feed(text)
        self.close()
        self.facts = json.loads(self.texts["facts"])

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = dict(attributes).get("id", tag)

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        self.texts[self.inside] = self.texts.get(self.inside, "") + data

    def bytes(self, name):
        return zlib.decompress(base64.b64decode(self.texts[f"array-{name}"], validate=True))

    def integers(self, name, *, differences):
        return unpacked_integers(self.texts[f"array-{name}"], differences=differences)

    def tour(self, number):
        """A snapshot's tour, in the numbers of the instance."""
        return self.integers("order", differences=False)[self.integers(f"tour-{number}", differences=True)]

    def plane(self):
        """Where the cities are, in the order of the instance."""
        place = np.empty((self.facts["cities"], 2))
        steps = np.column_stack([self.integers(axis, differences=True) for axis in "xy"])
        place[self.integers("order", differences=False)] = steps
        return place * self.facts["plane"]["step"] + self.facts["plane"]["low"]

    @property
    def policy(self):
        (content,) = [
            a["content"] for tag, a in self.tags if a.get("http-equiv") == "Content-Security-Policy"
        ]
        return dict(part.split(" ", 1) for part in content.split("; "))


@pytest.fixture(scope="module")
def result():
    points = np.random.default_rng(3).random((500, 2))
    problem = Problem.from_points(points, name="five hundred")
    return warptsp.solve(problem, start="random", kicks=3000, threads=1, device="cpu", snapshots=8)


def of_tour(problem, **fields):
    tour = np.arange(problem.n, dtype=np.int32)
    return Report(problem, snapshots=[Snapshot(1.0, problem.length(tour), tour)], **fields)


def test_short_legs_beside_a_long_one():
    """A place far away takes no digits from the distances of the others."""
    points = np.append(unit_points(30), [[1e4, 0.0]], axis=0)
    result = warptsp.solve(Problem.from_points(points), kicks=100, prove=False)
    page = Page(render(Report.of(result)))
    legs = page.facts["leg"] * page.integers("legs", differences=False)
    np.testing.assert_allclose(legs, result.legs, rtol=1e-4)


def test_a_page_holds_the_run(result):
    page = Page(render(Report.of(result)))
    facts = page.facts
    assert len(result.snapshots) > 1
    assert [s["length"] for s in facts["snapshots"]] == [s.length for s in result.snapshots]
    for i, snapshot in enumerate(result.snapshots):
        assert np.array_equal(page.tour(i), snapshot.tour)
    assert facts["history"] == [list(point) for point in result.history]
    assert (facts["title"], facts["cities"], facts["closed"]) == ("five hundred", 500, True)
    assert dict(facts["settings"])["seed"] == "0"
    assert dict(facts["settings"])["stopped by"] == result.stop_reason
    assert "processor" in dict(facts["machine"])
    coordinates = result.problem.coordinates
    assert np.abs(page.plane() - coordinates).max() <= 0.51 * facts["plane"]["step"] < 1e-6
    x = np.frombuffer(page.bytes("column-x"), dtype="<f8")
    assert np.array_equal(x, coordinates[page.integers("order", differences=False), 0])


def test_nothing_is_loaded(result):
    page = Page(render(Report.of(result)))
    programs = [attributes for tag, attributes in page.tags if tag == "script"]
    assert not [attributes for attributes in programs if "src" in attributes]
    links = [a["href"] for tag, a in page.tags if tag == "link"]
    assert links == ["data:,"]
    assert "style" not in {name for _, attributes in page.tags for name in attributes}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    policy = page.policy
    assert policy["default-src"] == policy["connect-src"] == policy["base-uri"] == "'none'"
    assert policy["img-src"] == "data:"
    on_earth = of_tour(Problem.from_points([[52.5, 13.4], [48.9, 2.4]], "GREAT_CIRCLE"))
    assert Page(render(on_earth)).policy == policy
    assert "unsafe" not in " ".join(policy.values())


def test_tiles_are_fetched_from_where_the_report_says_alone():
    problem = Problem.from_points([[52.5, 13.4], [48.9, 2.4]], "GREAT_CIRCLE")
    nasty = "https://Maps.Example:8080/a;b,'c/{z}/{x}/{y}.png?a=1&key=%3C"
    page = Page(text := render(of_tour(problem, tiles=Tiles(nasty, NASTY))))
    assert page.policy["connect-src"] == "https://Maps.Example:8080"
    assert page.policy["img-src"] == "data: blob:"
    assert page.facts["tiles"] == [nasty, NASTY]
    assert "alert(1)</script>" not in text
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in Page(render(of_tour(problem))).tags]
    live = Page(render(of_tour(problem, tiles=Tiles("http://127.0.0.1/{z}{x}{y}")), connect="'self'"))
    assert live.policy["connect-src"] == "'self' http://127.0.0.1"
    for template, credit in {
        "https://tile.openstreetmap.org/{z}/{x}/{y}.png": "© OpenStreetMap contributors",
        "https://tile.notopenstreetmap.org/{z}/{x}/{y}.png": "Map: tile.notopenstreetmap.org",
    }.items():
        assert Tiles(template).credit == credit


@pytest.mark.parametrize(
    "template",
    [
        "", "tiles/{z}/{x}/{y}.png", "ftp://a.example/{z}/{x}/{y}.png", "file:///{z}/{x}/{y}.png",
        "javascript:alert(1)//{z}/{x}/{y}", "data:image/png,{z}/{x}/{y}", "https://a.example",
        "https://a.example/{z}/{x}.png", "https://a.example/{z}/{x}/{y}/{y}.png",
        "https://{s}.example/{z}/{x}/{y}.png", "https://a.example/{z}/{x}/{y}{r}.png",
        "https://a.example/{z}/{x}/{-y}.png", "https://a.example/{z}/{x}/{y}}.png",
        "https://{z}.example/{x}/{y}.png", "https://me:secret@a.example/{z}/{x}/{y}.png",
        "https://a.example; script-src *//{z}/{x}/{y}", "https://a.example 'unsafe-inline'/{z}/{x}/{y}",
        "https://*.example/{z}/{x}/{y}", "https:///{z}/{x}/{y}", "https://a.example/{z}/{x}/{y}\n",
        "https://a.example/{z}/{x}/{y} ", 'https://a.example/{z}/{x}/{y}"><script>',
        "https://ä.example/{z}/{x}/{y}", "https://a.example/ä/{z}/{x}/{y}",
    ],
)  # fmt: skip
def test_what_is_no_address_of_tiles_is_refused(template):
    with pytest.raises(InvalidOption, match=r"tiles.* is no http.* address with \{z\}, \{x\} and \{y\}"):
        Tiles(template)


@pytest.mark.parametrize("points", [[[0.0, 0.0], [1.0, 1.0]], [[89.0, 0.0], [60.0, 90.0]]])
def test_tiles_need_a_map_to_lie_below(points):
    problem = Problem.from_points(points, "EUC_2D" if points[0][0] == 0 else "GREAT_CIRCLE")
    with pytest.raises(InvalidOption, match="a map lies below latitudes up to 85"):
        render(of_tour(problem, tiles=Tiles("https://a.example/{z}/{x}/{y}.png")))


def test_driving_times_with_places_lie_on_a_map():
    places = np.array([[13.4, 52.5], [2.35, 48.86], [-3.7, 40.42]])
    times = Problem.from_matrix([[0, 3, 4], [3, 0, 5], [4, 5, 0]], display=places, display_degrees=True)
    page = Page(render(of_tour(times, tiles=Tiles("https://a.example/{z}/{x}/{y}.png"))))
    assert page.facts["plane"]["mercator"]
    assert page.facts["columns"] == ["lat", "lon"]
    assert np.frombuffer(page.bytes("column-lat"), dtype="<f8").tolist() == places[:, 1].tolist()


def test_a_proof_is_said_once():
    """In words and in figures: there is no gap beside it that is 0 %."""
    pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
    result = warptsp.solve(np.random.default_rng(9).random((30, 2)), prove=True)
    assert result.proved_optimal
    page = Page(render(Report.of(result)))
    assert page.facts["proved"] == "proved optimal"
    assert page.texts["facts"].count("proved") == 2  # the key and the words
    assert "stopped by" not in dict(page.facts["settings"])
    open_ended = warptsp.solve(np.random.default_rng(9).random((30, 2)), kicks=1, bound=5)
    assert Page(render(Report.of(open_ended))).facts["proved"] is None


def hash_of(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_names_exactly_the_programs_of_the_page(result):
    text = render(Report.of(result), scripts=["console.log('live');\r\n"], connect="'self'")
    policy = Page(text).policy
    programs = re.findall(r'<script type="module">(.*?)</script>', text, re.DOTALL)
    assert len(programs) == 2
    assert policy["script-src"].split() == [hash_of(program) for program in programs]
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert policy["style-src"] == hash_of(style)
    assert policy["connect-src"] == "'self'"


def test_names_are_text_whatever_they_hold():
    problem = Problem.from_points(
        [[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]], name=NASTY, labels=[NASTY, "b", "c"], comment=NASTY
    )
    report = of_tour(problem, title=NASTY, settings={NASTY: NASTY}, machine={NASTY: NASTY})
    text = render(report)
    plain = Page(render(of_tour(Problem.from_points(problem.coordinates))))
    page = Page(text)
    assert "alert(1)</script>" not in text
    # The same elements as in a page without such names, but for the array of labels.
    assert [tag for tag, a in page.tags if a.get("id") != "array-labels"] == [tag for tag, _ in plain.tags]
    assert not set("<>&") & set(page.texts["facts"])
    assert page.facts["title"] == page.facts["name"] == NASTY
    assert page.facts["settings"] == [[NASTY, NASTY]]
    assert json.loads(page.bytes("labels")) == [NASTY, "b", "c"]
    assert page.texts["title"].startswith(NASTY)


def test_half_of_a_surrogate_pair_is_no_obstacle(tmp_path):
    problem = Problem.from_points([[0.0, 0.0], [1.0, 0.0]], name="a\udcffb", labels=["\udcff", "x"])
    write(of_tour(problem), tmp_path / "page.html")
    page = Page((tmp_path / "page.html").read_text("utf-8"))
    assert json.loads(page.bytes("labels"))[1] == "x"


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_cities(n, tmp_path):
    result = warptsp.solve(np.arange(2.0 * n).reshape(n, 2), snapshots=4)
    result.report(tmp_path / "few.html")
    page = Page((tmp_path / "few.html").read_text("utf-8"))
    assert np.array_equal(page.tour(0), result.tour)


def test_a_matrix_has_no_picture():
    matrix = np.array([[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    result = warptsp.solve(matrix)
    page = Page(render(Report.of(result)))
    assert page.facts["plane"] is None
    assert page.facts["columns"] == []
    assert np.array_equal(page.tour(0), result.tour)
    shown = Problem.from_matrix(matrix, display=[[0, 0], [1, 0], [0, 1]])
    page = Page(render(of_tour(shown)))
    assert page.plane().tolist() == [[0, 0], [1, 0], [0, 1]]
    assert page.facts["exact"] is False  # they are no coordinates for a table


def test_asymmetric_distances_are_told():
    result = warptsp.solve(
        Problem.from_matrix([[0, 1, 9], [9, 0, 1], [1, 9, 0]], asymmetric=True), snapshots=2
    )
    page = Page(render(Report.of(result)))
    assert page.facts["metric"] == "EXPLICIT, asymmetric"
    assert np.array_equal(page.tour(len(result.snapshots) - 1), result.tour)


def test_paths_fixed_edges_and_node_numbers():
    points = np.random.default_rng(4).random((30, 2))
    ids = np.arange(30) * 10**12 + 5
    problem = Problem.from_points(points, open=OpenPath(4, 9), fixed_edges=[[1, 2], [7, 8]], node_ids=ids)
    result = warptsp.solve(problem, kicks=100)
    page = Page(render(Report.of(result)))
    order = page.integers("order", differences=False)
    assert not page.facts["closed"]
    assert np.array_equal(page.tour(0), result.tour)
    assert sorted(sorted(order[pair].tolist()) for pair in page.facts["fixed"]) == [[1, 2], [7, 8]]
    assert page.bytes("ids").decode().split("\n") == [str(ids[city]) for city in order]


def test_three_dimensions_are_seen_from_above():
    points = np.random.default_rng(5).random((20, 3))
    page = Page(render(of_tour(Problem.from_points(points))))
    assert page.facts["dimensions"] == 3
    assert page.plane() == pytest.approx(points[:, :2], abs=1e-6)
    assert page.facts["columns"] == ["x", "y", "z"]


def test_a_page_that_gets_its_tours_later():
    page = Page(render(Report(Problem.from_points([[0, 0], [5, 5], [9, 1]]))))
    assert page.facts["snapshots"] == []
    assert page.plane().tolist() == [[0, 0], [5, 5], [9, 1]]


def test_it_says_how_far_the_tour_is_above_the_shortest_at_most():
    points = np.random.default_rng(8).random((40, 2))
    result = warptsp.solve(points, kicks=20, bound=60)
    shown = Page(render(Report.of(result))).facts["bound"]
    assert shown == ["above the shortest, at most", format_gap(result.bound_gap, up=True)]
    assert Page(render(Report.of(warptsp.solve(points, kicks=20, bound=False)))).facts["bound"] is None


def test_a_curve_is_thinned():
    problem = Problem.from_points([[0, 0], [1, 0], [1, 1]])
    history = [warptsp.HistoryPoint(float(i), 100_000.0 - i) for i in range(50_000)]
    kept = Page(render(of_tour(problem, history=history))).facts["history"]
    assert len(kept) == document.POINTS
    assert (kept[0], kept[-1]) == (list(history[0]), list(history[-1]))


def test_too_many_cities_are_refused(monkeypatch, tmp_path, result):
    monkeypatch.setattr(document, "MAX_CITIES", 499)
    with pytest.raises(UnsupportedProblem, match=r"500 cities, .* 499 at most; draw the tour into a \.png"):
        write(result, tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written(tmp_path, result):
    with pytest.raises(OutputError, match="cannot write"):
        write(result, tmp_path / "nowhere" / "page.html")


# The plane


def test_whole_numbers_are_kept_as_they_are():
    points = np.random.default_rng(6).integers(-(10**9), -(10**9) + 2**EXACT_BITS, (50, 2)).astype(float)
    plane = Plane.of(Problem.from_points(points))
    assert plane.exact
    assert np.array_equal(plane.steps * plane.step + plane.low, points)
    assert not Plane.of(Problem.from_points(points * 3)).exact


@pytest.mark.parametrize("metric", ["GREAT_CIRCLE", "GEO"])
def test_places_are_in_mercators_projection(metric):
    # Greenwich, and a tile's corner: at zoom 1 latitude 0 is the middle of the world.
    plane = Plane.of(Problem.from_points([[0.0, 0.0], [66.0, 90.0], [-66.0, -90.0]], metric))
    places = plane.steps * plane.step + plane.low
    assert plane.mercator
    north = 0.5 + np.arcsinh(np.tan(np.radians(66.0))) / (2 * np.pi)
    assert places == pytest.approx(np.array([[0.5, 0.5], [0.75, north], [0.25, 1 - north]]), abs=1e-6)


def test_the_date_line_is_no_edge_of_the_world():
    fiji = Problem.from_points(
        [[-17.0, 178.0], [-16.8, -179.9], [-18.0, 179.9], [-16.0, 359.0 - 180.5]], "GREAT_CIRCLE"
    )
    plane = Plane.of(fiji)
    assert np.ptp(plane.steps[:, 0] * plane.step) < 3.0 / 360.0
    # A city that is itself the western end of the widest gap stays in the west.
    iceland = Plane.of(Problem.from_points([[64.15, -21.94], [60.17, 24.94], [38.72, -9.14]], "GREAT_CIRCLE"))
    assert np.argmin(iceland.steps[:, 0]) == 0


def test_beyond_the_map_there_is_a_plain_picture():
    assert not Plane.of(Problem.from_points([[89.0, 0.0], [60.0, 90.0]], "GREAT_CIRCLE")).mercator


# The command line


@pytest.fixture
def instance(tmp_path):
    rows = "".join(f"{x},{y}\n" for x, y in np.random.default_rng(7).integers(0, 100, (30, 2)))
    (tmp_path / "places.csv").write_text(f"x,y\n{rows}")
    return tmp_path / "places.csv"


def test_solve_writes_a_report(instance, tmp_path, capsys):
    name = tmp_path / "run.html"
    assert call("solve", instance, "--kicks", 500, "--start", "random", "--report", name, "-q") == 0
    assert f"report       {name}" in capsys.readouterr().out
    page = Page(name.read_text("utf-8"))
    assert len(page.facts["snapshots"]) > 1
    assert page.facts["title"] == "places"
    assert call("solve", instance, "--kicks", 5, "--report", name, "-q", "--json") == 0
    assert json.loads(capsys.readouterr().out)["report"] == str(name)


def test_the_page_begins_where_the_tour_was_asked_to(instance, tmp_path):
    name = tmp_path / "run.html"
    arguments = ("--kicks", 500, "--start", "random", "--from", "8", "--report", name, "-q")
    assert call("solve", instance, *arguments, "--output", tmp_path / "run.tour") == 0
    page = Page(name.read_text("utf-8"))
    count = len(page.facts["snapshots"])
    assert [page.tour(i)[0] for i in range(count)] == [7] * count
    written = read_tour(tmp_path / "run.tour", warptsp.load(instance))
    assert np.array_equal(page.tour(count - 1), written)


def test_report_of_tours(instance, tmp_path, capsys):
    problem, tours = warptsp.load(instance), []
    for i, tour in enumerate((np.arange(30), np.random.default_rng(8).permutation(30))):
        tours.append(tmp_path / f"{i}.tour")
        write_tour(tours[-1], tour, problem)
    name = tmp_path / "tours.html"
    assert call("report", instance, *tours, name, "--title", "Two <tours>") == 0
    assert capsys.readouterr().out == f"report       {name}\n"
    page = Page(name.read_text("utf-8"))
    assert page.facts["title"] == "Two <tours>"
    assert [key for key, _ in page.facts["settings"]] == ["tour 1", "tour 2"]
    assert {name for _, name in page.facts["settings"]} == set(map(str, tours))
    lengths = [s["length"] for s in page.facts["snapshots"]]
    assert lengths == sorted(lengths, reverse=True)
    assert not page.facts["timed"]
    assert problem.length(page.tour(1)) == lengths[1]


def test_a_tour_through_missing_arcs_has_no_report():
    matrix = np.where(np.arange(5)[:, None] // 3 == np.arange(5) // 3, 1.0, np.inf)
    with pytest.raises(InvalidTour, match="it goes through 2 missing arcs"):
        Report.of_tours(Problem.from_matrix(matrix), {"it": np.arange(5, dtype=np.int32)})


TILES = "https://a/{{z}}/{{x}}/{{y}}"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("report", "{i}", "{t}", "{t}"), "'{t}': the name must end in .html"),
        (("report", "{i}", "{t}", "nowhere/a.html"), "there is no directory"),
        (("report", "{i}", "missing.tour", "a.html"), "no such file"),
        (("report", "{i}", "a.html"), "Missing argument"),
        (("solve", "{i}", "--report", "a.pdf"), "--report 'a.pdf': the name must end in .html"),
        (("solve", "{i}", "--report", "a.html", "-o", "a.html"), "a.html"),
        (("solve", "{i}", "--tiles", TILES), "--tiles: only a page has a map; add --report"),
        (("solve", "{i}", "--report", "a.html", "--tiles", TILES[:-6]), f"--tiles: '{TILES[:-6]}' is"),
        (("report", "{i}", "{t}", "a.html", "--tiles", TILES), "--tiles: a map lies below"),
        (
            ("report", "{i}", "{t}", "a.html", "--tiles-attribution", "A"),
            "--tiles-attribution: of which map?",
        ),
        (("solve", "{i}", "--swap-axes"), "--swap-axes: nothing is drawn; add --picture or --report"),
        (("solve", "{i}", "--mirror", "-o", "a.tour"), "--mirror: nothing is drawn"),
        (
            ("report", "{e}", "{t}", "a.html", "--swap-axes"),
            "--swap-axes: latitudes and longitudes are drawn",
        ),
        (
            ("plot", "{e}", "{t}", "a.svg", "--mirror"),
            "--mirror: latitudes and longitudes are drawn as a map",
        ),
    ],
)
def test_what_cannot_be_is_said_first(arguments, words, instance, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tour = tmp_path / "given.tour"
    write_tour(tour, np.arange(30), warptsp.load(instance))
    earth = tmp_path / "earth.csv"
    earth.write_text(instance.read_text().replace("x,y", "lon,lat").replace(",9", ",8"))
    before = tour.read_bytes()
    assert call(*(a.format(i=instance, t=tour, e=earth) for a in arguments)) == 2
    assert words.format(i=instance, t=tour) in capsys.readouterr().err
    assert tour.read_bytes() == before
    assert not (tmp_path / "a.html").exists()


def test_a_page_with_a_map_by_option(tmp_path):
    table, tour, *pages = (tmp_path / name for name in ("a.csv", "a.tour", "a.html", "b.html"))
    table.write_text("name,lat,lon\nA,1,1\nB,2,2\nC,1,3\n")
    tiles = ("--tiles", "https://a.example/{z}/{x}/{y}.png", "--tiles-attribution", "Us & you")
    assert call("solve", table, "--report", pages[0], *tiles, "-o", tour) == 0
    assert call("report", table, tour, pages[1], *tiles) == 0
    for name in pages:
        page = Page(name.read_text("utf-8"))
        assert page.policy["connect-src"] == "https://a.example"
        assert page.facts["tiles"] == [tiles[1], "Us & you"]


# Latitude and longitude to the west, as in usa13509; where they lie on a map.
STATES = {
    "Seattle": (47.6, 122.3),
    "Los Angeles": (34.1, 118.2),
    "Miami": (25.8, 80.2),
    "Bangor": (44.8, 68.8),
}


@pytest.mark.parametrize("how", ["solve", "report", "plot"])
def test_a_map_on_its_side_is_turned(how, tmp_path):
    rows = "".join(f"{name},{x},{y}\n" for name, (x, y) in STATES.items())
    table, tour, report, drawn = (tmp_path / f"usa.{kind}" for kind in ("csv", "tour", "html", "svg"))
    table.write_text(f"name,x,y\n{rows}")
    turn = ("--swap-axes", "--mirror")
    assert call("solve", table, "--report", report, "-o", tour, *turn) == 0
    if how == "report":
        assert call("report", table, tour, report, *turn) == 0
    if how == "plot":
        assert call("plot", table, tour, drawn, *turn) == 0
        picture = drawn.read_text("utf-8")
        found = re.findall(r'<text x="(\S+)" y="(\S+)".*?\u2002(.*?)</text>', picture)
        places = {name: (float(x), -float(y)) for x, y, name in found}
    else:
        page = Page(report.read_text("utf-8"))
        places = dict(zip(STATES, page.plane().tolist(), strict=True))
        # What the page says and writes is as in the file.
        assert page.facts["columns"] == ["x", "y"]
        x = np.frombuffer(page.bytes("column-x"), dtype="<f8")
        assert sorted(x) == sorted(place[0] for place in STATES.values())
    west_to_east, south_to_north = (sorted(places, key=lambda name: places[name][axis]) for axis in (0, 1))
    assert west_to_east == ["Seattle", "Los Angeles", "Miami", "Bangor"]
    assert south_to_north == ["Miami", "Los Angeles", "Bangor", "Seattle"]


def test_large_instances_get_fewer_snapshots():
    class Sized:
        n = 0

    numbers = []
    for Sized.n in (52, 1_000_000, 10_000_000):
        numbers.append(snapshots_for(Sized))
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[-1] >= 2
