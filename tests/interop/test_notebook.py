"""What a notebook shows of a result: well-formed, escaped, bounded, readable on light and dark pages."""

import base64
import html.parser
import json
import re
from pathlib import Path

import numpy as np
import pytest
from instances import unit_points

import warptsp
from warptsp.problem import OpenPath, Problem


def solved(points, **fields):
    return warptsp.solve(Problem.from_points(points, **fields), kicks=1, threads=1)


def random_points(n):
    return unit_points(n, 7)


class Elements(html.parser.HTMLParser):
    """The elements of a page and its text; complains about what is not closed."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in ("img", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.text += text

    def named(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


def test_a_small_result_is_a_drawing_and_its_summary():
    result = solved(random_points(20), name="twenty")
    page = Elements(result._repr_html_())
    assert len(page.named("svg")) == 1
    assert page.named("img") == []
    assert page.named("div")[1]["aria-label"] == "twenty, 20 cities, Euclidean distances, closed tour"
    for line in result.summary().splitlines():
        name, value = line[:12].strip(), line[13:]
        assert name in page.text
        assert value in page.text


def test_names_are_escaped():
    evil = "<script>alert('1')</script>\" onload=\"x"
    page = Elements(solved(random_points(5), name=evil)._repr_html_())
    assert page.named("script") == []
    assert page.named("div")[1]["aria-label"].startswith(evil)
    assert evil in page.text


def test_the_colours_are_those_of_the_page():
    """No paper, no colour of text: a light and a dark page show through."""
    for n in (20, 3000):
        text = solved(random_points(n))._repr_html_()
        assert '<rect width="100%"' not in text
        assert re.search(r"[;\"]color:(?!inherit)", text) is None
        assert "background" not in text


@pytest.mark.parametrize("n", [3000, 300_000])
def test_many_cities_are_an_image_of_bounded_size(n):
    points = random_points(n)
    result = solved(points[:10])
    order = np.lexsort((points[:, 1], (points[:, 0] * 200).astype(int))).astype(np.int32)
    from dataclasses import replace

    text = replace(result, problem=Problem.from_points(points), tour=order)._repr_html_()
    assert len(text) < 400_000
    (image,) = Elements(text).named("img")
    assert (image["width"], image["height"]) == ("420", "420")
    data = base64.b64decode(image["src"].partition("base64,")[2])
    assert data.startswith(b"\x89PNG")
    assert b"tRNS" in data


def test_line_and_dots_are_seen_on_white_and_on_black():
    """Three to one, which WCAG 2.2 asks of graphics (success criterion 1.4.11)."""
    from warptsp.plotting.colours import ON_ANY_PAGE

    def luminance(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in np.array(colour) / 255]
        return np.dot(linear, (0.2126, 0.7152, 0.0722))

    for colour in (ON_ANY_PAGE.line, ON_ANY_PAGE.dot, ON_ANY_PAGE.fixed):
        for page in ((255, 255, 255), (30, 30, 30)):
            light, dark = sorted((luminance(colour), luminance(page)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 3.0


def test_what_has_no_picture_has_the_numbers():
    matrix = warptsp.solve(1 - np.eye(5), kicks=1)
    page = Elements(matrix._repr_html_())
    assert page.named("svg") == page.named("img") == []
    assert "length" in page.text


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_cities_and_one_place(n):
    for points in (random_points(n), np.full((n, 2), 3.0)):
        for open_ in (None, OpenPath()):
            assert len(Elements(solved(points, open=open_)._repr_html_()).named("svg")) == 1


REPOSITORY = Path(__file__).parents[2]
NOTEBOOKS = sorted((REPOSITORY / "examples").glob("*.ipynb"))


def run_notebook(name, folder):
    """Run a notebook of the examples in a kernel, and return what its cells show: a list for each."""
    nbformat = pytest.importorskip("nbformat", reason="notebooks are run where nbclient is installed")
    nbclient = pytest.importorskip("nbclient", reason="notebooks are run where nbclient is installed")
    for module in ("ipykernel", "pandas", "openpyxl", "matplotlib"):
        pytest.importorskip(module, reason=f"the notebooks need {module}: pip install '.[dev]'")
    notebook = nbformat.read(REPOSITORY / "examples" / name, as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [
        [output.get("data", {"text/plain": output.get("text", "")}) for output in c.outputs] for c in cells
    ]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_is_small_and_linked(file):
    book = json.loads(file.read_text(encoding="utf-8"))
    assert all(cell.get("outputs", []) == [] for cell in book["cells"])
    assert f"(../examples/{file.name})" in (REPOSITORY / "docs" / "notebooks.md").read_text(encoding="utf-8")
    text = "".join(line for cell in book["cells"] for line in cell["source"])
    assert "You learn" in text
    links = re.findall(r"\]\((.*?)\)", text)
    assert links
    assert all((file.parent / link).exists() for link in links)


def test_a_round_of_deliveries_from_excel_to_a_map(tmp_path):
    *_, found, frame, said, _, changed = run_notebook("deliveries.ipynb", tmp_path)
    shown = found[-1]
    assert len(Elements(shown["text/html"]).named("svg")) == 1
    assert shown["text/plain"].startswith("Result(cities=61, length=")
    assert "Bakery" in frame[-1]["text/plain"]
    problem = warptsp.load(tmp_path / "customers.xlsx")
    tour = warptsp.read_tour(tmp_path / "round.xlsx", problem)
    problem.check_tour(tour)
    assert tour[0] == 0
    assert said[0]["text/plain"].startswith(f"60 customers, {problem.length(tour) / 1000:.1f} km, back at ")
    assert "Bakery" in (tmp_path / "round.svg").read_text(encoding="utf-8")
    assert "geo:" in (tmp_path / "round.html").read_text(encoding="utf-8")
    for name in ("round.gpx", "round.geojson"):
        assert np.array_equal(warptsp.read_tour(tmp_path / name, problem), tour)
    assert changed[-1]["text/plain"].startswith("Result(cities=61, length=")


def test_a_study_with_bounds_and_plots(tmp_path):
    _, table, chart, run = run_notebook("study.ipynb", tmp_path)
    rows = [line.split() for line in table[-1]["text/plain"].splitlines()[2:]]
    gaps = np.array(rows, dtype=float)
    assert gaps[:, 0].tolist() == [100, 200, 300]
    two_opt, three_opt, few_kicks, many_kicks = gaps[:, 1:].T
    assert (two_opt > three_opt).all()
    assert (three_opt > many_kicks).all()
    assert (few_kicks >= many_kicks).all()
    assert (many_kicks > 0).all()
    for shown in (chart, run):
        assert base64.b64decode(shown[-1]["image/png"]).startswith(b"\x89PNG")
    assert (tmp_path / "gaps.svg").exists()
    assert (tmp_path / "run.svg").exists()
