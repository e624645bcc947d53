"""Figures with matplotlib: what is in their pixels, and what they refuse."""

import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from calls import invoke
from instances import unit_points
from processes import run_code

import warptsp
from warptsp.errors import BackendUnavailable, InvalidOption, InvalidTour, OutputError, UnsupportedProblem
from warptsp.plotting import plot
from warptsp.plotting.colours import BLACK, BLUE, GREY, VERMILION, WHITE
from warptsp.problem import KnownLength, Metric, OpenPath, Problem

matplotlib = pytest.importorskip("matplotlib", reason="figures need matplotlib (extra plot)")

from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402

from warptsp.plotting import maps  # noqa: E402

SQUARE = Problem.from_points([[0, 0], [10, 0], [10, 10], [0, 10]], name="square")
STRAIGHT, CROSSED = np.array([0, 1, 2, 3]), np.array([0, 2, 1, 3])


def pixels(figure):
    """Red, green and blue of each pixel, the first row on top."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].astype(int)


def at(image, axes, x, y):
    """The colour that is seen at a point of a panel."""
    column, row = axes.transData.transform((x, y))
    column, row = int(column), image.shape[0] - 1 - int(row)
    return image[row, column]


def looks_like(pixel, colour):
    return np.abs(np.asarray(pixel) - np.array(colour)).max() < 40


def assert_shows(figure, axes, colours):
    """At these points of a panel these colours are seen."""
    image = pixels(figure)
    for (x, y), colour in colours.items():
        assert looks_like(at(image, axes, x, y), colour), (x, y)


@pytest.fixture(params=["lines", "image"])
def drawn_as(request, monkeypatch):
    if request.param == "image":
        monkeypatch.setattr(maps, "VECTOR_CITIES", 0)
    return request.param


def test_the_edges_of_both_tours_are_where_their_cities_are(drawn_as):
    figure = plot(SQUARE, STRAIGHT, start=CROSSED)
    start, tour = figure.axes
    assert_shows(figure, tour, {(10, 5): BLUE, (0, 5): BLUE, (3, 3): WHITE, (3, 0): BLUE, (0, 0): VERMILION})
    assert_shows(figure, start, {(3, 3): BLUE, (3, 0): WHITE})
    assert start.get_title() == "Start: length 48.28427125"
    assert tour.get_title() == "Tour: length 40"
    assert figure.texts[0].get_text() == "square, 4 cities"


def test_the_picture_is_not_upside_down(drawn_as):
    problem = Problem.from_points([[0, 0], [8, 0], [4, 10]])
    figure = plot(problem, [0, 1, 2])
    assert_shows(figure, figure.axes[0], {(2, 0): BLUE, (2, 10): WHITE})


def test_differences_have_a_colour_each(drawn_as):
    figure = plot(SQUARE, STRAIGHT, start=CROSSED, panels=["difference"])
    (axes,) = figure.axes
    assert_shows(figure, axes, {(3, 0): BLUE, (3, 3): VERMILION})
    kept = at(pixels(figure), axes, 10, 5)
    assert kept.max() - kept.min() < 10
    assert kept.min() < 240
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert words == ["2 kept", "2 removed", "2 added"]
    assert GREY[0] == GREY[1] == GREY[2]


def test_paths_are_open_and_fixed_edges_black(drawn_as):
    problem = Problem.from_points(SQUARE.coordinates, open=OpenPath(), fixed_edges=np.array([[1, 2]]))
    figure = plot(problem, STRAIGHT)
    ring = {(0, 10): WHITE}
    assert_shows(figure, figure.axes[0], {(0, 5): WHITE, (10, 5): BLACK, (0, 0): VERMILION, **ring})


def test_an_image_is_drawn_for_what_is_looked_at(monkeypatch):
    """Zooming in brings detail, not larger pixels."""
    monkeypatch.setattr(maps, "VECTOR_CITIES", 0)
    problem = Problem.from_points([[0, 0], [1000, 0], [1000, 1], [0, 1]])
    figure = plot(problem, STRAIGHT)
    (axes,) = figure.axes
    axes.set_xlim(500, 502)
    axes.set_ylim(-0.5, 1.5)
    assert_shows(figure, axes, {(501, 0): BLUE, (501, 1): BLUE, (501, 0.5): WHITE})


def known_length(length, proven=True):
    return KnownLength("square", 4, Metric.EXACT_2D, length, proven=proven)


HISTORY = [(0.01, 20.0), (0.1, 12.0), (1.0, 11.0)]


def test_the_gap_falls_over_time_on_logarithmic_axes():
    known = known_length(10.0, proven=True)
    figure = plot(SQUARE, STRAIGHT, history=HISTORY, seconds=10.0, known=known, panels=["gap"])
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_title("left") == "Gap to the optimum"
    assert_shows(figure, axes, {(0.03, 100): BLUE, (0.3, 20): BLUE, (3.0, 10): BLUE, (0.03, 30): WHITE})


def test_an_optimum_that_is_reached_is_named():
    known = known_length(11.0, proven=False)
    figure = plot(SQUARE, STRAIGHT, history=HISTORY, seconds=10.0, known=known, panels=["gap"])
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["best known length after 1 s"]
    assert looks_like(at(pixels(figure), axes, 1.0, 5.0), BLUE)
    near = [(0.1, 2**61), (1.0, 2**60 + 5)]  # which no float tells from the optimum
    figure = plot(SQUARE, STRAIGHT, history=near, seconds=10.0, known=known_length(2**60), panels=["gap"])
    assert not figure.axes[0].texts


@pytest.mark.parametrize(
    ("history", "known", "what"),
    [
        (HISTORY, None, "Length"),
        ([(0.0, 20.0), (0.0, 20.0)], known_length(10), "Gap to the optimum"),
        ([(0.1, 10.0), (0.2, 9.0)], known_length(10, proven=False), "Length"),
        ([(0.1, 0.0), (0.2, 0.0)], known_length(0), "Length"),
        ([(0.001 * i, 100.0 + 1.0 / (1 + i)) for i in range(10_000)], known_length(90), "Gap to the optimum"),
    ],
)
def test_odd_histories(history, known, what, tmp_path):
    figure = plot(SQUARE, STRAIGHT, tmp_path / "x.svg", history=history, known=known, size=300)
    assert figure.axes[1].get_title("left") == what
    assert (tmp_path / "x.svg").stat().st_size < 200_000


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_files_are_what_their_names_say_and_the_same_each_time(tmp_path, suffix, drawn_as):
    contents = []
    for name in ("a", "b"):
        plot(SQUARE, STRAIGHT, tmp_path / f"{name}.{suffix}", start=CROSSED, size=300)
        contents.append((tmp_path / f"{name}.{suffix}").read_bytes())
    assert contents[0] == contents[1]
    assert contents[0].startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix])
    if suffix == "svg":
        images = list(ElementTree.fromstring(contents[0]).iter("{http://www.w3.org/2000/svg}image"))
        assert bool(images) == (drawn_as == "image")


@pytest.mark.parametrize("place", ["apart", "together", "far", "on a line", "in space"])
def test_few_cities_and_odd_places(place, drawn_as):
    points = {
        "apart": np.arange(6.0).reshape(3, 2) ** 2,
        "together": np.full((3, 2), 5.0),
        "far": 1e12 + 1e11 * np.eye(3)[:, :2],
        "on a line": np.column_stack((np.arange(3.0), np.zeros(3))),
        "in space": np.arange(9.0).reshape(3, 3),
    }[place]
    for n, open_ in ((1, None), (1, OpenPath()), (2, None), (2, OpenPath()), (3, None)):
        problem = Problem.from_points(points[:n], open=open_)
        tour = np.arange(n)
        figure = plot(problem, tour, start=tour, panels=["tour", "difference"], size=200)
        assert (pixels(figure) != 255).any()


def test_maps_have_latitudes_upwards():
    places = Problem.from_points([[48.9, 2.4], [52.5, 13.4], [41.9, 12.5]], metric="GREAT_CIRCLE")
    figure = plot(places, [0, 1, 2])
    (low, high), (axes,) = figure.axes[0].get_ylim(), figure.axes
    assert low < 41.9 < 52.5 < high
    assert axes.get_aspect() == 1.0


def test_size_is_the_longer_side(tmp_path):
    plot(SQUARE, STRAIGHT, tmp_path / "x.png", start=CROSSED, size=700)
    assert max(matplotlib.image.imread(tmp_path / "x.png").shape) in (699, 700, 701)


def test_a_figure_of_ones_own_is_drawn_into(tmp_path):
    own = matplotlib.figure.Figure(figsize=(8, 4), dpi=200)
    left, right = own.subfigures(1, 2)
    assert plot(SQUARE, STRAIGHT, figure=left) is left
    plot(SQUARE, CROSSED, tmp_path / "x.png", figure=right)
    image = pixels(own)
    assert looks_like(at(image, left.axes[0], 10, 5), BLUE)
    assert looks_like(at(image, right.axes[0], 3, 3), BLUE)
    assert matplotlib.image.imread(tmp_path / "x.png").shape[:2] == (800, 1600)


def test_many_cities_take_seconds_and_little_memory(tmp_path):
    rng = np.random.default_rng(4)
    problem = Problem.from_points(rng.random((100_000, 2)))
    strip = (problem.coordinates[:, 0] * 220).astype(int)
    tour = np.lexsort((np.where(strip % 2, 1, -1) * problem.coordinates[:, 1], strip)).astype(np.int32)
    for suffix in ("png", "pdf", "svg"):
        plot(problem, tour, tmp_path / f"x.{suffix}", size=400)
        assert 10_000 < (tmp_path / f"x.{suffix}").stat().st_size < 400_000
    figure = plot(problem, tour, start=np.roll(tour[::-1], 5), panels=["difference"])
    assert next(text.get_text() for text in figure.axes[0].get_legend().get_texts()) == "100000 kept"


def test_a_result_shows_where_it_came_from(tmp_path):
    points = unit_points(400, 2)
    result = warptsp.solve(points, kicks=400, snapshots=4, start="random", seed=1)
    figure = result.plot(tmp_path / "run.png")
    assert figure.axes[0].get_title().startswith("Start: ")
    assert figure.axes[-1].get_title("left") == "Length"
    assert len(warptsp.solve(points, kicks=10, seed=1).plot().axes) <= 2
    assert len(result.plot(panels=["tour"]).axes) == 1
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_bad_input(tmp_path):
    with pytest.raises(InvalidOption, match=r"figure: 'x\.jpg' ends in none of"):
        plot(SQUARE, STRAIGHT, "x.jpg")
    with pytest.raises(InvalidOption, match="panel 'map': choose from start, tour, difference, gap"):
        plot(SQUARE, STRAIGHT, panels=["map"])
    with pytest.raises(InvalidOption, match="panel 'difference': there is no start tour"):
        plot(SQUARE, STRAIGHT, panels="difference")
    with pytest.raises(InvalidOption, match="panel 'gap': there is no history"):
        plot(SQUARE, STRAIGHT, panels=["gap"])
    with pytest.raises(InvalidOption, match="panels: none"):
        plot(SQUARE, STRAIGHT, panels=[])
    with pytest.raises(InvalidOption, match="size: 3"):
        plot(SQUARE, STRAIGHT, size=3)
    with pytest.raises(InvalidTour):
        plot(SQUARE, [0, 1, 2, 2])
    with pytest.raises(InvalidTour):
        plot(SQUARE, STRAIGHT, start=[0, 1, 2])
    with pytest.raises(UnsupportedProblem, match="no coordinates to draw"):
        plot(Problem.from_matrix(1 - np.eye(4)), STRAIGHT)
    with pytest.raises(OutputError):
        plot(SQUARE, STRAIGHT, tmp_path / "none" / "x.png")


def test_matplotlib_is_imported_for_figures_only():
    code = (
        "import sys, warptsp, warptsp.plotting; r = warptsp.solve([[0, 0], [3, 0], [3, 4]]); r._repr_html_();"
        "print('matplotlib' in sys.modules); r.plot(); print('matplotlib.pyplot' in sys.modules)"
    )
    assert run_code(code, check=True).stdout.split() == ["False", "False"]


@pytest.fixture
def files(tmp_path):
    """An instance of 30 cities and two tours of it."""
    np.savetxt(tmp_path / "places.csv", unit_points(30, 3), delimiter=",", header="x,y")
    (tmp_path / "places.csv").write_text((tmp_path / "places.csv").read_text().removeprefix("# "))
    problem = warptsp.load(tmp_path / "places.csv")
    for name, tour in (("a", np.arange(30)), ("b", np.roll(np.arange(30)[::-1], 3))):
        warptsp.write_tour(tmp_path / f"{name}.tour", tour, problem)
    return tmp_path


def call(*words):
    return invoke("plot", *words)


def test_the_command_draws_two_tours(files):
    words = (files / "places.csv", files / "a.tour", files / "out.pdf")
    assert call(*words).exit_code == 0
    alone = (files / "out.pdf").stat().st_size
    result = call(*words, "--start", files / "b.tour", "--difference", "--title", "mine", "--size", 300)
    assert result.exit_code == 0, result.output
    assert result.output == f"picture      {files / 'out.pdf'}\n"
    assert (files / "out.pdf").stat().st_size > 1.1 * alone
    assert call(*words[:2], files / "out.png", "--start", files / "b.tour").exit_code == 0
    assert matplotlib.image.imread(files / "out.png").shape[1] > 1500


def test_without_matplotlib_one_tour_is_drawn_and_the_extra_is_named(files, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.chdir(files)
    for suffix in ("svg", "png"):
        assert call("places.csv", "a.tour", f"out.{suffix}").exit_code == 0
    two_tours = "plot places.csv a.tour out.png --start b.tour"
    for words in ("plot places.csv a.tour out.pdf", two_tours, "solve places.csv --picture x.pdf"):
        result = invoke(*words.split())
        assert isinstance(result.exception, BackendUnavailable), words
    with pytest.raises(BackendUnavailable, match=r"pip install 'warptsp\[plot\]'"):
        plot(SQUARE, STRAIGHT)


def test_the_command_says_what_is_wrong(files):
    with pytest.raises(InvalidOption, match="--difference: from which tour"):
        raise call(files / "places.csv", files / "a.tour", files / "x.png", "--difference").exception
    for words in (("x.gif",), ("x.gif", "--start", files / "b.tour")):
        with pytest.raises(InvalidOption, match="ends in n"):
            raise call(files / "places.csv", files / "a.tour", files / words[0], *words[1:]).exception
    assert not list(files.glob("x.*"))


def test_solve_draws_the_run(files):
    words = ["solve", files / "places.csv", "--kicks", "20", "--start", "random", "-q"]
    words += ["--picture", files / "run.pdf", "--picture", files / "tour.svg"]
    result = invoke(*words)
    assert result.exit_code == 0, result.output
    assert (files / "run.pdf").read_bytes().startswith(b"%PDF")
    assert (files / "tour.svg").read_text().startswith("<svg")
