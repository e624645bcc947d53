"""The documentation's site, as `.ci/run` builds it: its search, and the menu of versions."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import pytest

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
RECORDS = (
    "reproduction/",
    "performance/",
    "scaling/",
    "changelog",
    "contributing",
    "architecture",
    "releasing",
    "citing",
)


@pytest.fixture(autouse=True)
def built():
    """Without the site there is nothing to look at."""
    if not (SITE / "_static" / "versions.js").exists():
        pytest.skip("the site is not built: sphinx-build docs docs/_build/html")


@pytest.fixture(scope="module")
def results(chromium):
    """What the search finds, best first."""
    page = chromium.new_page()

    def found(words):
        page.goto(f"{(SITE / 'search.html').as_uri()}?q={quote(words)}")
        page.wait_for_function(
            "/found|did not match/.test(document.querySelector('.search-summary')?.innerText)"
        )
        links = page.eval_on_selector_all("ul.search > li > a", "all => all.map(a => a.href)")
        return [link.partition("_build/html/")[2].partition("?")[0] for link in links]

    yield found
    page.close()


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("async", "service"),
        ("fastapi", "service"),
        ("cancel", "service"),
        ("jupyter", "notebooks"),
        ("excel", "formats"),
        ("time limit", "stopping"),
        ("pandas", "interop"),
        ("docker", "install"),
        ("windows", "windows"),
    ],
)
def test_what_explains_a_word_is_found_first(results, words, page):
    found = results(words)
    assert found[0].startswith(f"{page}.html"), found[:5]


def test_records_are_found_last(results):
    found = [name.startswith(RECORDS) for name in results("kicks")]
    assert True in found
    assert found == sorted(found)


def test_of_a_terminal_what_was_typed_is_copied(chromium):
    page = chromium.new_page()
    page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: (t) => (window.copied = t)}})"
    )
    page.goto((SITE / "output.html").as_uri())
    page.locator(".highlight-console button.copy").first.click(force=True)
    page.wait_for_function("window.copied")
    assert page.evaluate("window.copied") == "warptsp solve usa13509.tsp --time-limit 3"
    page.close()


class Quiet(SimpleHTTPRequestHandler):
    """A server that says nothing."""

    def log_message(self, *_):
        pass


def test_a_menu_leads_to_the_same_page_of_another_version(chromium, tmp_path):
    for version in ("1.2.0", "0.9.0"):
        (tmp_path / version).symlink_to(SITE)
    (tmp_path / "versions.json").write_text('["1.2.0", "0.9.0"]')
    handler = partial(Quiet, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        page = chromium.new_page()
        try:
            page.goto(f"http://127.0.0.1:{server.server_port}/0.9.0/api/solve.html")
            assert page.locator("select.versions").input_value() == "0.9.0"
            page.locator("select.versions").select_option("1.2.0")
            page.wait_for_url("**/1.2.0/api/solve.html")
        finally:
            page.close()
            server.shutdown()
