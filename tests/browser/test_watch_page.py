"""The page of a running search in a real browser: it follows the search, stops it, and stays."""

import threading

import numpy as np
import pytest
from calls import event

import warptsp
from warptsp.construct import construct
from warptsp.io import read_tour
from warptsp.problem import Problem
from warptsp.watch import Watch, live


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(live, "PAUSE", 0.0)


@pytest.fixture
def problem():
    points = np.random.default_rng(4).integers(0, 10_000, (500, 2))
    return Problem.from_points(points, metric="EUC_2D", name="five hundred")


class Search(threading.Thread):
    """Says again and again what its tour is."""

    def __init__(self, watch, problem):
        super().__init__()
        self.watch, self.problem = watch, problem
        self.tours = [construct(problem, name, seed=0, threads=1) for name in ("random", "greedy")]
        self.tour, self.elapsed = self.tours[0], 1.0
        self.over, self.answer = threading.Event(), None

    @property
    def length(self):
        return int(self.problem.length(self.tour))

    def improve(self):
        self.tour, self.elapsed = self.tours[1], 2.0

    def run(self):
        told = None
        while self.answer is None and not self.over.wait(0.01):
            tour = self.tour
            told, improved = tour, told is not tour
            start_length = int(self.problem.length(self.tours[0]))
            self.answer = self.watch(
                event(
                    elapsed=self.elapsed,
                    length=self.length,
                    improved=improved,
                    tour=tour.copy,
                    start_length=start_length,
                )
            )

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


def shown_length(opened):
    return int(opened.text("#shown b"))


def test_the_tour_improves_and_the_button_stops(problem, open_page, tmp_path):
    with Watch(problem) as watch, Search(watch, problem) as search:
        opened = open_page(watch.url)
        opened.until("warptspPage.snapshots?.length === 1")
        opened.settle()
        assert shown_length(opened) == search.length
        assert "under the start tour" not in opened.text("#figures")
        before = opened.ink()
        search.improve()
        opened.until("warptspPage.snapshots.length === 2")
        opened.settle()
        assert shown_length(opened) == search.length
        assert opened.page.evaluate("() => Array.from(warptspPage.tour).length") == 500
        assert "under the start tour" in opened.text("#figures")
        assert opened.ink().sum() < 0.5 * before.sum()  # greedy's lines are shorter than random ones
        assert opened.page.locator("#status").get_attribute("data-state") == "live"
        assert opened.text("#status") == "Search, on cpu"
        with opened.page.expect_download() as download:
            opened.page.click("#save")
        download.value.save_as(tmp_path / "saved.tour")
        assert download.value.suggested_filename == "five hundred.tour"
        assert read_tour(tmp_path / "saved.tour", problem).tolist() == search.tour.tolist()
        opened.page.click("#stop")
        search.join(60)
        assert search.answer == "stopped from the page"
        result = warptsp.solve(problem, start=search.tour, kicks=2000, threads=1, device="cpu")
        watch.finish(result)
        assert watch.wait(60)  # the page has got it
    # The server has gone; the page is as good as a report.
    opened.until("document.getElementById('status').dataset.state === 'done'")
    assert opened.text("#status").startswith("Finished: ")
    assert shown_length(opened) == result.length
    assert opened.page.locator("#stop").count() == opened.page.locator("#save").count() == 0
    opened.page.keyboard.press("Home")
    opened.settle()
    assert shown_length(opened) == int(problem.length(search.tours[0]))
    assert opened.page.evaluate("() => warptspPage.snapshots.length") == 3
    with opened.page.expect_download() as download:
        opened.page.click("#download-tour")
    download.value.save_as(tmp_path / "first.tour")
    assert problem.length(read_tour(tmp_path / "first.tour", problem)) == problem.length(search.tours[0])


def test_a_search_is_watched_from_its_beginning_and_a_page_that_is_loaded_again_knows_the_curve(
    problem, open_page
):
    results = []
    with Watch(problem, save=lambda tour: ["best.tour"]) as watch:
        searching = threading.Thread(
            target=lambda: results.append(
                warptsp.solve(problem, time_limit=600, callback=watch, threads=1, device="cpu")
            )
        )
        opened = open_page(watch.url)
        opened.until("document.getElementById('status').textContent === 'Preparing'")
        searching.start()
        opened.until("warptspPage.snapshots.length > 0")
        opened.page.click("#save")
        opened.until("document.getElementById('notice').textContent === 'Saved to best.tour'")
        opened.page.reload()
        opened.until("warptspPage.snapshots?.length > 0")
        assert opened.page.evaluate("() => warptspPage.curves.points.length") > 1
        opened.page.click("#stop")
        searching.join(60)
        watch.finish(results[0])
        assert watch.wait(60)
        opened.until("document.getElementById('status').dataset.state === 'done'")
    assert opened.text("#status") == "Finished: stopped from the page"
    assert shown_length(opened) == results[0].length
    asked = {request.split("?")[0].removeprefix(watch.url) for request in opened.requests}
    assert {name for name in asked if not name.startswith(("data:", "blob:"))} == {
        "",
        "events",
        "tour",
        "save",
        "stop",
    }


def test_a_page_says_that_the_command_has_gone(problem, open_page):
    with Watch(problem) as watch, Search(watch, problem):
        opened = open_page(watch.url)
        opened.until("warptspPage.snapshots?.length === 1")
    opened.until("document.getElementById('status').dataset.state === 'error'")
    assert opened.text("#status") == "No connection to warptsp; trying again"
    opened.complaints = [text for text in opened.complaints if "net::ERR_" not in text]
