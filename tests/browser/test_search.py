"""The search of the documentation's site, as `.ci/run` builds it."""

from __future__ import annotations

from pathlib import Path
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
    "internals",
    "releasing",
    "citing",
)


@pytest.fixture(scope="module")
def results(chromium):
    """What the search finds, best first."""
    if not (SITE / "search.html").exists():
        pytest.skip("the site is not built: sphinx-build docs docs/_build/html")
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
