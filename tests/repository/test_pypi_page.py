"""The page on PyPI: its links lead somewhere, and what describes the package is known there."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REPOSITORY = "https://github.com/someone/warptsp"


@pytest.fixture(scope="module")
def pypi_page(imported):
    return imported(".github/pypi_page.py")


def test_every_link_of_the_readme_leads_to_a_file_of_the_repository(pypi_page):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    page = pypi_page.page(text, REPOSITORY, "v1.2.3")
    links = re.findall(r'\]\(([^)\s]+)\)|src="([^"]+)"', page)
    assert len(links) == len(re.findall(r'\]\(([^)\s]+)\)|src="([^"]+)"', text)) > 10
    for link in map("".join, links):
        assert link.startswith("https://")
        for beginning in (
            f"{REPOSITORY}/blob/v1.2.3/",
            "https://raw.githubusercontent.com/someone/warptsp/v1.2.3/",
        ):
            if link.startswith(beginning):
                assert (ROOT / link.removeprefix(beginning).partition("#")[0]).exists(), link
    assert "https://raw.githubusercontent.com/someone/warptsp/v1.2.3/docs/E1k.0.svg" in page


def test_the_addresses_of_the_project(pypi_page):
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    before, after = tomllib.loads(text), tomllib.loads(pypi_page.project(text, REPOSITORY, "v1.2.3"))
    assert after["project"].pop("urls") == {
        "Homepage": REPOSITORY,
        "Documentation": f"{REPOSITORY}/blob/v1.2.3/docs/index.md",
        "Changelog": f"{REPOSITORY}/blob/v1.2.3/CHANGELOG.md",
        "Source": REPOSITORY,
        "Issues": f"{REPOSITORY}/issues",
    }
    assert after == before


@pytest.mark.parametrize(
    ("repository", "ref"),
    [("http://github.com/a/b", "v1"), ("https://github.com/a", "v1"), ("https://github.com/a/b", "v1 v2")],
)
def test_what_is_no_repository_is_refused(pypi_page, repository, ref):
    with pytest.raises(SystemExit, match="OWNER/REPOSITORY and a tag are needed"):
        pypi_page.main(repository, ref)
