"""The documentation's site: one folder for each version, the newest first."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(imported):
    return imported(".github/site.py")


def test_versions_lie_side_by_side(site, tmp_path):
    built = tmp_path / "built"
    (built / ".doctrees").mkdir(parents=True)
    pages = tmp_path / "pages"
    (pages / ".git").mkdir(parents=True)
    for version in ("0.9.0", "0.10.1", "0.2.0"):
        (built / "index.html").write_text(version)
        site.add(pages, version, built)
    assert json.loads((pages / "versions.json").read_text()) == ["0.10.1", "0.9.0", "0.2.0"]
    assert 'url=0.10.1/"' in (pages / "index.html").read_text()
    assert {(pages / name / "index.html").read_text() for name in ("0.9.0", "0.2.0")} == {"0.9.0", "0.2.0"}
    assert not (pages / "0.9.0" / ".doctrees").exists()
    (built / "index.html").write_text("again")
    assert len(site.add(pages, "0.9.0", built)) == 3
    assert (pages / "0.9.0" / "index.html").read_text() == "again"
    with pytest.raises(SystemExit, match="latest is no version"):
        site.add(pages, "../latest".removeprefix("../"), built)
