"""The report in a real browser: what it draws, and whether everything can be used."""

import csv
import io
import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from instances import unit_points

import warptsp
from warptsp.construct import construct
from warptsp.io import load, read_tour
from warptsp.plotting.plane import Edges
from warptsp.plotting.png import encode
from warptsp.plotting.raster import View, opacity
from warptsp.problem import KnownLength, OpenPath, Problem
from warptsp.problem.itinerary import Itinerary
from warptsp.report import Report, Tiles, render, write
from warptsp.result import HistoryPoint, Snapshot

MARGIN = 0.04  # assets/view.js


class Camera:
    """Where the page should draw a point: an own, plain computation, for comparison."""

    def __init__(self, points, shape):
        low, high = points.min(axis=0), points.max(axis=0)
        self.height, self.width = shape
        self.middle = (low + high) / 2
        self.scale = ((1 - 2 * MARGIN) * np.array([self.width, self.height]) / (high - low)).min()
        self.at = np.array([self.width, self.height]) / 2

    def pixels(self, points):
        return (points - self.middle) * [self.scale, -self.scale] + self.at

    def pan(self, dx, dy):
        self.at = self.at + np.array([dx, dy])

    def zoom(self, factor, about):
        self.at = about + (self.at - about) * factor
        self.scale *= factor

    def line(self, points, tour, closed=True):
        """The pixels that a thin line along a tour passes through, drawn as files have it."""
        begins = np.asarray(tour, dtype=np.int32)
        edges = Edges(begins, np.roll(begins, -1)) if closed else Edges(begins[:-1], begins[1:])
        view = View(tuple(self.middle), (self.scale, -self.scale), tuple(self.at), self.width, self.height)
        points = np.ascontiguousarray(points, dtype=np.float64)
        corners = opacity(points, Edges(begins, begins), view, 1.0) > 0
        return Line(opacity(points, edges, view, 1.0) > 100, corners)


class Line(NamedTuple):
    """The pixels that a line passes through, and those that its corners lie in."""

    mask: np.ndarray
    corners: np.ndarray


def grown(mask, by):
    """The pixels that are at most so far away."""
    for axis in (0, 1):
        mask = np.logical_or.reduce([np.roll(mask, shift, axis) for shift in range(-by, by + 1)])
    return mask


def assert_shows(ink, line, dots=True):
    """All of the line is drawn, and nothing that is not close to it; cities are dots, or not."""
    # A picture of an element that begins between two pixels has one more.
    height, width = line.mask.shape
    drawn = ink[:height, :width] > 0.25
    looked_at = ~grown(line.corners, 6) if dots else np.ones_like(drawn)
    looked_at[:8] = looked_at[-40:] = looked_at[:, :8] = looked_at[:, -8:] = False
    looked_at[:150, :60] = False  # buttons
    expected = line.mask & looked_at
    assert (grown(drawn, 1) & expected).sum() > 0.99 * expected.sum()
    assert (drawn & looked_at & ~grown(line.mask, 3)).sum() < 0.005 * (drawn & looked_at).sum()


def report_of(problem, tours, **fields):
    """A report of tours in this order."""
    snapshots = [Snapshot(0.01 * 4**i, problem.length(tour), tour) for i, tour in enumerate(tours)]
    return Report(
        problem, snapshots, history=[HistoryPoint(s.seconds, s.length) for s in snapshots], **fields
    )


def curve(points):
    return construct(Problem.from_points(points), "space-filling", seed=0, threads=2, token=None)


def as_file(report, folder, **options):
    name = folder / "report.html"
    name.write_text(render(report, **options), encoding="utf-8")
    return name


@pytest.fixture(scope="module")
def result():
    points = np.random.default_rng(52).integers(0, 1000, (52, 2))
    problem = Problem.from_points(points, metric="EUC_2D", name="random52")
    found = warptsp.solve(problem, start="random", kicks=2000, threads=1, device="cpu", snapshots=8)
    # Which tours a run keeps depends on the clock: one that has most links of the best one is always there.
    first, last = found.snapshots[0], found.snapshots[-1]
    tour = np.concatenate((last.tour[:10], last.tour[10:20][::-1], last.tour[20:]))
    near = Snapshot((first.seconds + last.seconds) / 2, problem.length(tour), tour)
    return replace(found, snapshots=[first, near, last])


@pytest.fixture(scope="module")
def small(result, tmp_path_factory):
    """The page of 52 cities."""
    name = tmp_path_factory.mktemp("small") / "report.html"
    result.report(name)
    return name


@pytest.fixture
def settled(open_page):
    """Open a report, and wait for its picture."""

    def settled(*arguments, **options):
        opened = open_page(*arguments, **options)
        opened.settle()
        return opened

    return settled


def camera(opened, points):
    shape = opened.page.evaluate("() => [picture.clientHeight, picture.clientWidth]")
    return Camera(points, shape)


@pytest.mark.parametrize("painter", ["WebGL", "canvas"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_draws_the_best_tour(painter, scheme, small, result, settled):
    opened = settled(small.as_uri() + ("" if painter == "WebGL" else "#plain"), color_scheme=scheme)
    assert opened.page.evaluate("() => warptspPage.view.painter.name") == painter
    points = result.problem.coordinates
    assert_shows(opened.ink(), camera(opened, points).line(points, result.tour))
    assert opened.paper().min() > 0.9 if scheme == "light" else opened.paper().max() < 0.2
    assert opened.text("h1") == "random52"
    assert str(result.length) in opened.text("#figures")
    assert [url for url in opened.requests if not url.startswith(("file:", "data:"))] == []


def test_berlin52(shared_data, tmp_path, settled):
    problem = load(shared_data / "tsplib" / "berlin52.tsp")
    result = warptsp.solve(problem, kicks=3000, device="cpu", snapshots=4)
    write(result, tmp_path / "berlin52.html")
    opened = settled(tmp_path / "berlin52.html")
    points = problem.coordinates
    assert_shows(opened.ink(), camera(opened, points).line(points, result.tour))
    assert "7542" in opened.text("#figures")
    assert ("proved optimal" in opened.text("#figures")) == result.proved_optimal
    assert ("over the optimum" in opened.text("#figures")) != result.proved_optimal
    assert "to the optimum" in opened.text("#curves")


def test_lengths_and_gaps_are_told_in_all_their_digits(settled, tmp_path):
    """No gap of integers is told as 0 that is not, and no length that the browser rounds."""
    problem = Problem.from_points(unit_points(20) * 1000, "EUC_2D")
    tour = np.arange(20, dtype=np.int32)
    optimum, long = 10**9, 2**60 + 1
    history = [HistoryPoint(0.0, optimum + 100), HistoryPoint(1.0, optimum + 7)]
    known = KnownLength("", 20, problem.metric, optimum, proven=True)
    snapshots = [Snapshot(point.seconds, point.length, tour) for point in history]
    write(Report(problem, snapshots, known, history), tmp_path / "near.html")
    opened = settled(tmp_path / "near.html")
    assert "7.0e-7 %" in opened.text("#figures")
    assert opened.page.locator("#curves [aria-label$='to 7e-7 %']").count() == 1
    better = replace(known, length=2 * optimum, proven=False)
    write(Report(problem, snapshots[1:], better), tmp_path / "better.html")
    assert "\u221250.0 %" in settled(tmp_path / "better.html").text("#figures")  # over the best known length
    write(Report(problem, [Snapshot(0.0, long, tour)]), tmp_path / "long.html")
    assert str(long) in settled(tmp_path / "long.html").text("#figures").replace("\u2009", "")


def test_mouse(small, result, settled):
    opened = settled(small)
    points, mouse = result.problem.coordinates, opened.page.mouse
    expected = camera(opened, points)
    box = opened.page.locator("#picture").bounding_box()
    about = expected.pixels(points[:1])[0]
    mouse.move(box["x"] + about[0], box["y"] + about[1])
    opened.until("document.getElementById('here').textContent !== ''")
    assert opened.text("#here").startswith("city 1 at ")
    mouse.wheel(0, -500)
    opened.until("warptspPage.view.isWhole === false")
    opened.settle()
    expected.zoom(np.e, about)
    assert_shows(opened.ink(), expected.line(points, result.tour))
    mouse.down()
    mouse.move(box["x"] + about[0] + 90, box["y"] + about[1] - 40, steps=3)
    mouse.up()
    opened.settle()
    expected.pan(90, -40)
    assert_shows(opened.ink(), expected.line(points, result.tour))


def test_two_fingers(small, result, settled):
    opened = settled(small, has_touch=True)
    points = result.problem.coordinates
    expected = camera(opened, points)
    box = opened.page.locator("#picture").bounding_box()
    touch = opened.page.context.new_cdp_session(opened.page)

    def fingers(kind, *places):
        at = [{"x": box["x"] + x, "y": box["y"] + y, "id": i} for i, (x, y) in enumerate(places)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

    fingers("touchStart", (250, 300), (350, 300))
    for spread in (60, 80, 100):
        fingers("touchMove", (300 - spread, 300), (300 + spread, 300))
    fingers("touchEnd")
    opened.until("warptspPage.view.isWhole === false")
    opened.settle()
    expected.zoom(2.0, np.array([300, 300]))
    assert_shows(opened.ink(), expected.line(points, result.tour))


def test_keys(small, result, settled):
    opened = settled(small)
    page, points = opened.page, result.problem.coordinates
    expected = camera(opened, points)
    page.locator("#picture").focus()
    for key in ("+", "+", "ArrowRight", "ArrowUp", "Shift+ArrowLeft", "-"):
        page.keyboard.press(key)
    opened.settle()
    middle = np.array([expected.width, expected.height]) / 2
    expected.zoom(2.25, middle)
    expected.pan(-60 + 200, 60)
    expected.zoom(1 / 1.5, middle)
    assert_shows(opened.ink(), expected.line(points, result.tour))
    page.keyboard.press("0")
    opened.settle()
    assert_shows(opened.ink(), camera(opened, points).line(points, result.tour))
    # Snapshots
    last = len(result.snapshots) - 1
    for key, shown in (("Home", 0), (".", 1), (",", 0), ("End", last), (".", last)):
        page.keyboard.press(key)
        opened.until(f"warptspPage.shown === {shown}")
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    assert page.locator("#play").get_attribute("aria-pressed") == "true"
    opened.until(f"warptspPage.shown === {last} && !warptspPage.playing")
    # The list of keys, and what stays off for an instance without a map
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    page.locator("#keys").click()
    page.get_by_role("button", name="Close").click()
    assert not page.locator("#help").is_visible()
    page.keyboard.press("d")
    assert page.locator("#changes").is_checked()
    page.keyboard.press("m")
    assert not page.locator("#map").is_checked()
    assert not page.locator("#map").is_visible()
    assert page.locator("#stops a").count() == 0  # nothing to navigate to


def test_slider_shows_the_snapshots(small, result, settled):
    opened = settled(small)
    page, points, first = opened.page, result.problem.coordinates, result.snapshots[0]
    slider = page.locator("#slider")
    assert slider.input_value() == slider.get_attribute("max") == str(len(result.snapshots) - 1)
    slider.focus()
    page.keyboard.press("Home")
    opened.until("warptspPage.shown === 0")
    opened.settle()
    expected = camera(opened, points)
    assert_shows(opened.ink(), expected.line(points, first.tour))
    assert str(first.length) in opened.text("#shown")
    assert f"{100 * (first.length / result.length - 1):.3g} % over the best" in opened.text("#shown")
    assert str(first.length) in slider.get_attribute("aria-valuetext")
    # Links that the best tour does not have are in a colour with more red than blue.
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    opened.until(f"warptspPage.shown === {len(result.snapshots) - 2}")
    page.locator("#changes").check()
    opened.until("warptspPage.view.path.levels[0].marks.some((mark) => mark === 1)")
    opened.settle()
    colours = opened.colours()[: expected.height, : expected.width]
    red, tour = colours[..., 0] - colours[..., 2] > 0.25, result.snapshots[-2].tour
    best = {frozenset(pair) for pair in zip(result.tour, np.roll(result.tour, -1), strict=True)}
    other = [p for p in zip(tour, np.roll(tour, -1), strict=True) if frozenset(p) not in best]
    changed = np.logical_or.reduce([expected.line(points, list(pair), closed=False).mask for pair in other])
    kept = expected.line(points, tour).mask & ~grown(changed, 8)
    assert (grown(red, 1) & changed)[8:-8, 60:-8].sum() > 0.9 * changed[8:-8, 60:-8].sum()
    assert kept.sum() > 500
    assert not (red & kept).any()


def downloaded(opened, button, folder):
    with opened.page.expect_download() as download:
        opened.page.locator(button).click()
    name = folder / download.value.suggested_filename
    download.value.save_as(name)
    return name


def without_distances(file):
    """A table as the page writes it, which knows no distances."""
    with open(file, newline="", encoding="utf-8") as lines:
        rows = list(csv.reader(lines))
    assert [title.removesuffix("_km") for title in rows[0][-2:]] == [
        "distance_from_start",
        "distance_to_next",
    ]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(row[:-2] for row in rows)
    return text.getvalue()


def test_downloads_are_the_tour(small, result, tmp_path, settled):
    opened = settled(small)
    name = downloaded(opened, "#download-tour", tmp_path)
    assert name.name == "random52.tour"
    result.save(tmp_path / "own.tour")
    assert name.read_bytes() == (tmp_path / "own.tour").read_bytes()
    table = downloaded(opened, "#download-table", tmp_path)
    result.save(tmp_path / "own.csv")
    assert table.read_text(encoding="utf-8") == without_distances(tmp_path / "own.csv")
    # The tour that is shown
    opened.page.keyboard.press("Home")
    opened.until("warptspPage.shown === 0")
    name = downloaded(opened, "#download-tour", tmp_path)
    assert np.array_equal(read_tour(name, result.problem), result.snapshots[0].tour)


def test_tables_hold_all_digits_and_names(tmp_path, settled):
    places = np.array([[48.85661, 2.352222], [-33.4569, -70.64827], [0.125, 179.98], [64.1466, -21.9426]])
    labels = ["Paris", 'Santiago, "de" Chile', "on\nthe line", "Reykjavík"]
    problem = Problem.from_points(
        places, "GREAT_CIRCLE", name="a/b: c", labels=labels, node_ids=[7, 10**13, 3, 9]
    )
    result = warptsp.solve(problem)
    opened = settled(as_file(Report.of(result), tmp_path))
    name = downloaded(opened, "#download-table", tmp_path)
    assert name.name == "a_b_c.csv"
    result.save(tmp_path / "own.csv")
    assert name.read_text(encoding="utf-8") == without_distances(tmp_path / "own.csv")
    assert np.array_equal(read_tour(downloaded(opened, "#download-tour", tmp_path), problem), result.tour)


def test_a_lost_graphics_card_is_no_loss(small, result, settled):
    opened = settled(small)
    for call in ("loseContext", "restoreContext"):
        opened.page.evaluate(
            "(call) => { window.loss ??= warptspPage.view.painter.gl.getExtension('WEBGL_lose_context'); "
            "loss[call](); }",
            call,
        )
        opened.page.evaluate("() => new Promise((resolve) => setTimeout(resolve, 50))")
    opened.until("!warptspPage.view.painter.gl.isContextLost()")
    opened.settle()
    points = result.problem.coordinates
    assert_shows(opened.ink(), camera(opened, points).line(points, result.tour))
    opened.complaints = [text for text in opened.complaints if "CONTEXT_LOST" not in text]


def test_print(small, result, settled):
    opened = settled(small, color_scheme="dark")
    for landscape in (True, False):
        paper = opened.page.pdf(format="A4", landscape=landscape)
        assert 1 < len(re.findall(rb"/Type\s*/Page\b", paper)) < 4  # as there are 53 rows
    opened.page.locator("#numbers").uncheck()  # the line alone
    opened.page.emulate_media(media="print")
    opened.until("document.getElementById('print').width > 300")
    colours = opened.colours("#print")
    assert colours[0, 0].min() == 1.0
    points = result.problem.coordinates
    ink = 1.0 - colours.min(axis=2)
    assert_shows(ink, Camera(points, ink.shape).line(points, result.tour))
    assert not opened.page.locator("#slider").is_visible()
    assert not opened.page.locator("#curves").is_visible()


def test_paper_has_all_stops_whatever_the_list_shows(named, tmp_path, settled):
    name, result = named
    opened = settled(name)
    page = opened.page
    page.locator("#find").fill("madrid")
    assert page.locator("#stops .name").all_inner_texts() == ["Madrid"]
    page.emulate_media(media="print")
    opened.until("document.body.classList.contains('listed')")
    assert page.locator("#stops .name").all_inner_texts() == [*result.names, f"back to {result.names[0]}"]
    boxes = [row.bounding_box() for row in page.locator("#stops .stop").all()]
    assert len({(box["x"], box["y"]) for box in boxes}) == 6
    assert not page.locator(".go").first.is_visible()
    page.emulate_media(media="screen")
    opened.until("document.querySelectorAll('#stops .stop').length === 1")
    # Of too many stops there is no list, and the curves are printed.
    points = unit_points(1001, 3)
    many = settled(
        as_file(report_of(Problem.from_points(points), [np.arange(1001), curve(points)]), tmp_path)
    )
    many.page.emulate_media(media="print")
    many.until("document.getElementById('print').width > 300")
    assert many.page.locator("#curves").is_visible()
    assert not many.page.locator("#itinerary").is_visible()


# The stops

CAPITALS = {"Lisbon": (38.7223, -9.1393), "Madrid": (40.4168, -3.7038), "Paris": (48.8566, 2.3522),
            "Bern": (46.948, 7.4474), "Rome": (41.9028, 12.4964)}  # fmt: skip


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    problem = Problem.from_points(list(CAPITALS.values()), "GREAT_CIRCLE", labels=list(CAPITALS), name="five")
    result = warptsp.solve(problem, kicks=100, threads=1, device="cpu")
    name = tmp_path_factory.mktemp("named") / "five.html"
    result.report(name, speed=80)
    return name, result


def test_the_list_of_stops_is_the_itinerary(named, settled):
    name, result = named
    opened = settled(name)
    page = opened.page

    def rows(kind):
        return page.locator(f"#stops .{kind}").all_inner_texts()

    assert rows("name") == [*result.names, f"back to {result.names[0]}"]
    assert rows("number") == ["1", "2", "3", "4", "5", ""]
    way = [float(text.replace("\u2009", "").split()[0]) for text in rows("way")]
    assert way == pytest.approx([*result.cumulative / 1000, result.length / 1000], rel=1e-3)
    assert page.locator("#speed").input_value() == "80"
    assert all(rows("time"))
    page.locator("#speed").fill("")
    assert not any(rows("time"))
    page.locator("#speed").fill("100")
    hours = float(result.length) / 1e5
    minutes = round(60 * hours)
    assert f"{minutes // 60 % 24} h" in rows("time")[-1]
    assert f"{minutes % 60} min" in rows("time")[-1]
    for wanted in ("city 2", "MA"):
        page.locator("#find").fill(wanted)
        assert rows("name") == ["Madrid"]
    assert opened.text("#found") == "1 found"
    page.locator("#stops .stop").click()
    opened.settle()
    assert opened.text("#here").startswith("Madrid, city 2 at 40.4168")
    middle = page.evaluate(
        "() => [warptspPage.view.camera.x, warptspPage.cities.x[warptspPage.itinerary.chosen]]"
    )
    assert middle[0] == middle[1]
    page.locator("#find").fill("")
    page.locator("#stops").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#stops [aria-current=true]").count() == 1


def test_each_stop_can_be_navigated_to(named, settled):
    name, result = named
    opened = settled(name)
    links = opened.page.locator("#stops a").evaluate_all("(links) => links.map((link) => link.href)")
    places = [result.problem.coordinates[city] for city in [*result.tour, result.tour[0]]]
    where = [",".join(f"{value:.6f}" for value in place) for place in places]
    assert links == [f"geo:{at}?q={at}" for at in where]
    # The links are no stops of the Tab key: Enter follows that of the chosen row.
    opened.page.evaluate(
        "() => document.addEventListener('click', (event) => {"
        " if (event.target.href) { window.followed = event.target.href; event.preventDefault(); } })"
    )
    opened.page.locator("#stops .stop").nth(2).click()
    opened.page.locator("#stops").press("Enter")
    assert opened.page.evaluate("() => window.followed") == f"geo:{where[2]}?q={where[2]}"


def test_a_city_is_found_by_its_number_first_and_has_a_distance(tmp_path, settled):
    points = unit_points(25_000, 6)
    problem, tour = Problem.from_points(points), curve(points)
    opened = settled(as_file(report_of(problem, [tour]), tmp_path))
    place = int(np.flatnonzero(tour == 712 - 1)[0])
    way = Itinerary.of(problem, tour).cumulative[place]
    for wanted in ("city 712", "712", "City 712 "):
        opened.page.locator("#find").fill(wanted)
        row = opened.page.locator("#stops .stop").first
        assert row.locator(".name").inner_text() == "city 712"
        assert float(row.locator(".way").inner_text().replace("\u2009", "")) == pytest.approx(way, rel=1e-5)
    opened.page.locator("#stops .stop").first.click()
    opened.settle()
    said = re.fullmatch(
        r"city 712 at (.*), (.*); stop (\d+) of 25000, (.*) from the start", opened.text("#here")
    )
    assert [float(said[1]), float(said[2])] == pytest.approx(points[711], rel=1e-6)
    assert int(said[3]) == place + 1
    assert float(said[4]) == pytest.approx(way, rel=1e-5)


def test_the_number_of_a_stop_is_apart_from_that_of_a_house(tmp_path, settled):
    labels = ["1 Fir Street", "23 Oak Street", "7 Elm Road"]
    problem = Problem.from_points([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]], labels=labels)
    page = as_file(report_of(problem, [np.arange(3, dtype=np.int32)]), tmp_path)
    opened = settled(page, prepare=lambda page: page.add_init_script(WRITTEN))
    shown = opened.page.evaluate("() => warptspPage.labels.shown.map(({ number, text }) => [number, text])")
    assert shown == [["1", "1 Fir Street"], ["2", "23 Oak Street"], ["3", "7 Elm Road"]]
    # Each with a halo below it, the number in bold, and more than a blank before the name.
    written = opened.page.evaluate("() => window.written")
    for number, text in shown:
        (halo, digits), (below, name) = ([w for w in written if w[1] == part][-2:] for part in (number, text))
        assert (halo[0], digits[0], below[0], name[0]) == ("halo", "ink", "halo", "ink")
        assert "bold" in digits[4]
        assert "bold" not in name[4]
        assert name[2] - digits[2] - digits[3] > 5
        assert halo[5] > 3


WRITTEN = """
window.written = [];
for (const [kind, name] of [["halo", "strokeText"], ["ink", "fillText"]]) {
  const own = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (text, x, y) {
    window.written.push([kind, text, x, this.measureText(text).width, this.font, this.lineWidth]);
    own.call(this, text, x, y);
  };
}
"""


def test_each_stop_has_its_arrival(named, settled, tmp_path):
    _, result = named
    result.report(tmp_path / "a.html", speed=80, stop_time=600, depart="23:00")
    times = settled(tmp_path / "a.html").page.locator("#stops .time").all_inner_texts()
    schedule = result.schedule(speed=80, stop_time=600, depart="23:00")
    assert times == [schedule.arrival(at)[:-3] for at in range(6)]
    assert times[0] == "23:00"
    durations = Problem.from_matrix([[0, 600, 9], [600, 0, 600], [600, 9, 0]], asymmetric=True, unit="s")
    warptsp.solve(durations).report(tmp_path / "b.html")
    page = settled(tmp_path / "b.html").page
    assert page.locator("#stops .time").all_inner_texts()[0] == "0 s"
    assert not page.locator("#speed").is_visible()


def test_numbers_do_not_collide_and_nothing_is_said_of_too_many(small, tmp_path, open_page, settled):
    opened = settled(small)
    shown = opened.page.evaluate("() => warptspPage.labels.shown")
    assert len(shown) > 40
    boxes = np.array([label["box"] for label in shown])
    for i, a in enumerate(boxes):
        apart = (boxes[:, 0] >= a[2]) | (boxes[:, 2] <= a[0]) | (boxes[:, 1] >= a[3]) | (boxes[:, 3] <= a[1])
        assert apart.sum() == len(boxes) - 1, i
    assert {label["number"] for label in shown} <= {str(k + 1) for k in range(52)}
    assert [end["text"] for end in opened.page.evaluate("() => warptspPage.labels.ends")] == ["start"]
    opened.page.keyboard.press("n")
    assert opened.page.evaluate("() => warptspPage.labels.on") is False
    problem = Problem.from_points(unit_points(3000, 1))
    many = open_page(as_file(report_of(problem, [np.arange(3000)]), tmp_path))
    many.settle()
    assert many.page.evaluate("() => warptspPage.labels.shown") == []


def test_no_name_lies_under_the_buttons(settled, tmp_path):
    problem = Problem.from_points(np.random.default_rng(7).random((150, 2)))
    name = tmp_path / "many.html"
    warptsp.solve(problem, kicks=100, threads=1, device="cpu").report(name)
    opened = settled(name, viewport={"width": 390, "height": 780})
    left, top, right, bottom = opened.page.evaluate("() => warptspPage.labels.buttons()")
    assert right > left
    assert bottom > top
    boxes = [shown["box"] for shown in opened.page.evaluate("() => warptspPage.labels.shown")]
    assert len(boxes) > 50
    assert not any(b[0] < right and b[2] > left and b[1] < bottom and b[3] > top for b in boxes)


def test_a_tap_tells_the_city_and_a_finger_scrolls_the_page(named, settled):
    name, result = named
    opened = settled(name, viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    page = opened.page
    x, y = page.evaluate("() => warptspPage.view.pixel(warptspPage.cities.x[2], warptspPage.cities.y[2])")
    box = page.locator("#picture").bounding_box()
    page.touchscreen.tap(box["x"] + x + 8, box["y"] + y)
    opened.until("document.getElementById('here').textContent !== ''")
    assert opened.text("#here").startswith(result.names[2])
    inside = page.evaluate(
        "() => { const box = document.getElementById('here').getBoundingClientRect();"
        " return [box.left, box.right]; }"
    )
    assert 0 <= inside[0] <= inside[1] <= 390
    touched = "() => getComputedStyle(document.getElementById('picture')).touchAction"
    assert page.evaluate(touched) == "pan-y"
    page.locator("#closer").tap()
    opened.settle()
    assert page.evaluate(touched) == "none"
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


def test_the_theme_can_be_switched(small, settled):
    opened = settled(small, color_scheme="light")
    opened.page.click("#theme")
    opened.settle()
    assert opened.paper().max() < 0.2
    opened.page.click("#theme")
    assert opened.paper().min() > 0.9


# The map

TILE = "https://tiles.example/map/"
ANYONE = {"Access-Control-Allow-Origin": "*"}  # as the server has it
SQUARE = encode([(np.full((256, 256), 255, dtype=np.uint8), (200, 220, 200))], None)


@pytest.fixture
def on_earth(tmp_path):
    places = [[64.1466, -21.9426], [60.1699, 24.9384], [38.7223, -9.1393], [37.9838, 23.7275]]
    problem = Problem.from_points(places, "GREAT_CIRCLE", name="corners of Europe")
    tiles = Tiles(f"{TILE}{{z}}/{{x}}/{{y}}.png?k=1", "Somebody <b>else</b>")
    return as_file(Report.of(warptsp.solve(problem), tiles=tiles), tmp_path), np.array(places)


def test_the_map_is_loaded_when_it_is_asked_for(on_earth, settled):
    name, places = on_earth
    opened = settled(
        name,
        prepare=lambda page: page.route(
            f"{TILE}**", lambda route: route.fulfill(body=SQUARE, content_type="image/png", headers=ANYONE)
        ),
    )
    assert not [url for url in opened.requests if url.startswith("http")]
    assert not opened.page.locator("#attribution").is_visible()
    opened.page.locator("#map").check()
    opened.until("document.querySelectorAll('#tiles img').length > 0")
    opened.until("[...document.querySelectorAll('#tiles img')].every((tile) => tile.src && tile.complete)")
    assert opened.text("#attribution") == "Somebody <b>else</b>"
    assert "Everything but the map is in this file." in opened.text("footer")
    assert "tiles.example" in opened.text("#map-label")
    # Each city lies where the tile that holds it says.
    box = opened.page.locator("#picture").bounding_box()
    tiles = opened.page.evaluate(
        "() => [...document.querySelectorAll('#tiles img')].map((tile) => "
        "[tile.dataset.address, ...Object.values(tile.getBoundingClientRect().toJSON()).slice(0, 4)])"
    )
    pixels = opened.page.evaluate(
        "() => { const { cities, view } = warptspPage; return Array.from(cities.order, "
        "(city, i) => [city, ...view.pixel(cities.x[i], cities.y[i])]); }"
    )
    for city, x, y in pixels:
        latitude, longitude = places[int(city)]
        found = []
        for source, left, top, width, height in tiles:
            depth, column, row = map(
                int, re.fullmatch(rf"{TILE}(\d+)/(\d+)/(\d+)\.png\?k=1", source).groups()
            )
            north = 0.5 - np.arcsinh(np.tan(np.radians(latitude))) / (2 * np.pi)
            part = np.array([(longitude + 180) / 360, north]) * 2**depth - [column, row]
            if ((part >= 0) & (part < 1)).all():
                found.append(np.array([left, top]) + part * [width, height])
        assert len(found) == 1
        assert found[0] == pytest.approx([box["x"] + x, box["y"] + y], abs=1.0)
    opened.page.locator("#map").uncheck()
    assert opened.page.evaluate("() => document.querySelectorAll('#tiles img').length") == 0


def test_coastlines_are_in_the_page(on_earth, settled):
    opened = settled(on_earth[0])
    opened.until("warptspPage.world.drawn")

    def land(latitude, longitude):
        """How much land is painted at a place."""
        return opened.page.evaluate(
            """([latitude, longitude]) => {
              const { step, low } = JSON.parse(document.getElementById("facts").textContent).plane;
              const { view } = warptspPage, canvas = document.getElementById("world");
              const north = Math.asinh(Math.tan(latitude * Math.PI / 180)) / (2 * Math.PI) + 0.5;
              const x = (longitude / 360 + 0.5 - low[0]) / step, y = (north - low[1]) / step;
              const [px, py] = view.pixel(x, y).map((v) => Math.round(v * view.ratio));
              return canvas.getContext("2d").getImageData(px, py, 1, 1).data[3];
            }""",
            [latitude, longitude],
        )

    assert [land(40, -4) > 0, land(50, 10) > 0, land(62, 15) > 0] == [True, True, True]
    assert [land(50, -15), land(40, 5), land(56, 3)] == [0, 0, 0]
    opened.page.locator("#coasts").uncheck()
    assert land(50, 10) == 0
    opened.complaints = [text for text in opened.complaints if "willReadFrequently" not in text]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda route: route.abort(), "ERR_FAILED"),
        # What comes with the refusal is a picture of words.
        (
            lambda route: route.fulfill(status=403, body=SQUARE, content_type="image/png", headers=ANYONE),
            "403",
        ),
    ],
)
def test_a_map_that_is_not_there_is_said(on_earth, settled, answer, words):
    opened = settled(on_earth[0], prepare=lambda page: page.route(f"{TILE}**", answer))
    opened.page.locator("#map").check()
    opened.until("document.getElementById('status').textContent !== ''")
    assert "could not be loaded: no network, or tiles.example refused" in opened.text("#status")
    opened.until("document.querySelectorAll('#tiles img').length === 0")
    assert opened.ink().max() > 0.25
    opened.page.locator("#map").uncheck()
    assert opened.text("#status") == ""
    opened.complaints = [text for text in opened.complaints if words not in text]


@pytest.mark.parametrize("what", ["numbers", "coasts"])
def test_paper_has_what_the_screen_has(on_earth, settled, what):
    opened = settled(on_earth[0], color_scheme="dark")
    opened.until("warptspPage.world.drawn")
    painted = []
    for _ in range(2):
        opened.page.emulate_media(media="print")
        opened.until("document.getElementById('print').width > 300")
        colours = np.round(opened.colours("#print") * 255)
        is_land = np.abs(colours - [0xF3, 0xF1, 0xEA]).max(axis=2) < 2
        painted.append(int((is_land if what == "coasts" else colours.max(axis=2) < 77).sum()))
        opened.page.emulate_media(media="screen")
        opened.page.locator(f"#{what}").uncheck()
        # Painted anew for the second sheet.
        opened.page.evaluate("() => void (document.getElementById('print').width = 1)")
    assert painted[0] > (10_000 if what == "coasts" else 20)
    assert painted[1] < painted[0] / 10


# What may be in a file


def test_names_do_nothing(tmp_path, settled):
    nasty = "</script><img src=x onerror=alert(1)><script>alert(2)</script><!-- <script x"
    problem = Problem.from_points([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]], name=nasty, labels=[nasty, "b", "c"])
    report = report_of(problem, [np.arange(3, dtype=np.int32)], title=nasty, settings={nasty: nasty})
    opened = settled(as_file(report, tmp_path))
    assert opened.text("h1") == nasty
    assert nasty in opened.text("#settings")
    assert nasty in opened.page.title()
    opened.page.evaluate("() => warptspPage.tell(0)")
    assert opened.text("#here").startswith(nasty)
    assert opened.page.locator("img").count() == 0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_cities(n, tmp_path, settled):
    result = warptsp.solve(np.array([[0.0, 0.0], [5.0, 1.0], [2.0, 3.0]])[:n])
    opened = settled(as_file(Report.of(result), tmp_path))
    assert opened.ink().max() > 0.25
    assert np.array_equal(
        read_tour(downloaded(opened, "#download-tour", tmp_path), result.problem), result.tour
    )


def test_paths_have_ends_and_fixed_links_a_colour(tmp_path, settled):
    points = unit_points(40, 9)
    problem = Problem.from_points(points, open=OpenPath(3, 5), fixed_edges=[[10, 20]])
    result = warptsp.solve(problem, kicks=200)
    opened = settled(as_file(Report.of(result), tmp_path))
    expected = camera(opened, points)
    assert_shows(opened.ink(), expected.line(points, result.tour, closed=False))
    colours = opened.colours()[: expected.height, : expected.width]
    brown = (colours[..., 0] - colours[..., 2] > 0.25) & (colours[..., 1] > 0.25)
    fixed = expected.line(points, [10, 20], closed=False).mask
    assert (grown(brown, 1) & fixed).sum() > 0.8 * fixed.sum()
    ends = opened.page.evaluate("() => warptspPage.labels.ends")
    assert [end["text"] for end in ends] == ["start", "end"]
    for end, city in zip(ends, (3, 5), strict=True):
        assert np.abs(end["box"][:2] - expected.pixels(points[[city]])[0]).max() < 40
    assert "open path" in opened.text("#figures")


def test_without_coordinates_there_is_no_picture(tmp_path, settled):
    points = unit_points(30, 10)
    matrix = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    result = warptsp.solve(matrix, start="random", kicks=500, snapshots=4)
    opened = settled(as_file(Report.of(result), tmp_path))
    assert "no coordinates" in opened.text("#message")
    assert opened.page.locator(".chart").first.is_visible()
    opened.page.keyboard.press("Home")
    opened.page.keyboard.press("+")
    assert np.array_equal(
        read_tour(downloaded(opened, "#download-tour", tmp_path), result.problem), result.snapshots[0].tour
    )


def test_an_old_browser_is_told(small, open_page):
    opened = open_page(small, prepare=lambda page: page.add_init_script("delete window.DecompressionStream"))
    opened.until("document.getElementById('status').textContent !== ''")
    assert "lacks DecompressionStream" in opened.text("#message")


# A run that goes on


def test_the_interface_for_a_live_page(result, tmp_path, open_page):
    script = "await warptspPage.ready; warptspPage.setStatus({ text: 'searching', state: 'live' });"
    problem = result.problem
    opened = open_page(as_file(Report(problem), tmp_path, scripts=[script], connect="'self'"))
    opened.until("document.getElementById('status').textContent === 'searching'")
    assert not opened.page.locator("#timeline").is_visible()
    page, points = opened.page, problem.coordinates
    for snapshot in (result.snapshots[0], result.snapshots[-1]):
        page.evaluate(
            "([seconds, length, tour]) => warptspPage.addSnapshot(seconds, length, tour)",
            [snapshot.seconds, snapshot.length, snapshot.tour.tolist()],
        )
        opened.settle()
        assert_shows(opened.ink(), camera(opened, points).line(points, snapshot.tour))
    assert page.locator("#slider").get_attribute("max") == "1"
    page.evaluate("() => warptspPage.setStatus({ figures: { kicks: '12' } })")
    figures = opened.text("#figures").split()
    assert figures[:2] == ["length", str(result.length)]
    assert figures[-2:] == ["kicks", "12"]
    page.evaluate("() => warptspPage.addPoint(8, 2)")
    assert opened.text("#figures").split()[1] == "2"
    # Who looks at an older tour is left there.
    page.keyboard.press("Home")
    opened.until("warptspPage.follow === false")
    page.evaluate("(tour) => warptspPage.addSnapshot(9, 1, tour)", result.tour.tolist())
    opened.settle()
    assert page.locator("#slider").input_value() == "0"
    # However many there are, some are kept, with the first and the last.
    page.evaluate(
        "(tour) => { for (let i = 0; i < 200; i++) warptspPage.addSnapshot(10 + i, 0.9 - i / 1000, tour); }",
        result.tour.tolist(),
    )
    kept = page.evaluate("() => warptspPage.snapshots.list.map((snapshot) => snapshot.seconds)")
    assert 32 <= len(kept) <= 64
    assert kept[0] == result.snapshots[0].seconds
    assert kept[-1] == 209
    with pytest.raises(Exception, match="a tour of 3 cities, not of 52"):
        page.evaluate("() => warptspPage.addSnapshot(300, 1, [0, 1, 2])")


# Sizes


def test_ten_thousand_cities(tmp_path, settled):
    points = unit_points(10_000, 11)
    problem = Problem.from_points(points)
    result = warptsp.solve(problem, start="space-filling", kicks=5_000, device="cpu", snapshots=6)
    opened = settled(as_file(Report.of(result), tmp_path), viewport={"width": 1400, "height": 1000})
    expected = camera(opened, points)
    assert_shows(opened.ink(), expected.line(points, result.tour), dots=False)
    opened.page.keyboard.press("Home")
    opened.until("warptspPage.shown === 0")
    opened.settle()
    assert_shows(opened.ink(), expected.line(points, result.snapshots[0].tour), dots=False)
    opened.page.evaluate("() => warptspPage.view.zoom(30, 400, 300)")
    opened.settle()
    expected.zoom(30, np.array([400, 300]))
    assert_shows(opened.ink(), expected.line(points, result.snapshots[0].tour))


def test_a_million_cities(tmp_path, settled):
    rng = np.random.default_rng(12)
    points = rng.normal(0, 0.02, (1_000_000, 2)) + rng.random((40, 2))[rng.integers(0, 40, 1_000_000)]
    problem = Problem.from_points(points, name="million")
    best = curve(points)
    other = best.copy()
    other[: 1 << 19] = other[: 1 << 19].reshape(-1, 4)[:, [0, 2, 1, 3]].ravel()
    name = as_file(report_of(problem, [other, best]), tmp_path)
    assert name.stat().st_size < 13e6
    opened = settled(name)
    expected = camera(opened, points)
    # No pixel can be compared, but where there is much of the tour there is much ink.
    ink, line = opened.ink(), expected.line(points, best).mask
    blocks = [part[:500, 60:560].reshape(25, 20, 25, 20).mean(axis=(1, 3)) for part in (ink > 0.1, line)]
    assert np.corrcoef(blocks[0].ravel(), blocks[1].ravel())[0, 1] > 0.99
    # Close up, every link is there.
    place = expected.pixels(points[best[:1]])[0]
    opened.page.evaluate("([x, y]) => warptspPage.view.zoom(400, x, y)", place.tolist())
    opened.settle()
    expected.zoom(400, place)
    assert_shows(opened.ink(), expected.line(points, best))
    opened.page.keyboard.press("Home")
    opened.until("warptspPage.shown === 0")
    opened.settle()
    assert_shows(opened.ink(), expected.line(points, other))
    tour = read_tour(downloaded(opened, "#download-tour", tmp_path), problem)
    assert np.array_equal(tour, other)
