"""version.py TAG: fail unless the tag vX.Y.Z names the version in every file that tells it."""

import re
import sys
import tomllib
from pathlib import Path

root = Path(__file__).parents[1]
tag = sys.argv[1]
versions = {
    "pyproject.toml": tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "version"
    ],
    "src/warptsp/_version.py": re.search(
        r'^__version__ = "(.+)"$',
        (root / "src/warptsp/_version.py").read_text(encoding="utf-8"),
        re.MULTILINE,
    )[1],
    "CITATION.cff": re.search(
        r"^version: (.+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE
    )[1],
}
wrong = {file: version for file, version in versions.items() if f"v{version}" != tag}
if wrong:
    sys.exit(f"the tag is {tag}, and the version is {wrong}")
changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
if not re.search(rf"^## {re.escape(tag[1:])} - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE):
    sys.exit(f"CHANGELOG.md has no heading '## {tag[1:]} - YYYY-MM-DD'")
