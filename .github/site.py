#!/usr/bin/env python3
"""site.py SITE VERSION BUILT: put the documentation of a version, as Sphinx built it, beside that of others.

SITE is a folder with one folder for each version. Its `index.html` leads to the newest, and `versions.json`
names all, newest first: from there `docs/_static/versions.js` makes the menu on each page.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

VERSION = re.compile(r"\d+(\.\d+)+")


def add(site: Path, version: str, built: Path) -> list[str]:
    """Add a version, or replace it, and return all versions, newest first."""
    if not VERSION.fullmatch(version):
        raise SystemExit(f"{version} is no version: digits and points are needed")
    shutil.rmtree(site / version, ignore_errors=True)
    shutil.copytree(built, site / version, ignore=shutil.ignore_patterns(".doctrees", ".buildinfo"))
    found = [path.name for path in site.iterdir() if path.is_dir() and VERSION.fullmatch(path.name)]
    versions = sorted(found, key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    (site / "versions.json").write_text(json.dumps(versions) + "\n", encoding="utf-8")
    (site / "index.html").write_text(
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={versions[0]}/">'
        f'<title>warptsp</title><a href="{versions[0]}/">warptsp {versions[0]}</a>\n',
        encoding="utf-8",
    )
    (site / ".nojekyll").touch()  # or folders such as _static would be left out
    return versions


if __name__ == "__main__":
    print(*add(Path(sys.argv[1]), sys.argv[2].removeprefix("v"), Path(sys.argv[3])))
