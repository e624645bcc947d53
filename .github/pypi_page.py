"""Make README.md and pyproject.toml fit for PyPI: links to the repository, and the project's addresses.

Run as ``python .github/pypi_page.py https://github.com/OWNER/REPOSITORY REF`` before a release is built:
who owns the repository is known there, and stands nowhere else.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
_LINK = re.compile(r"(\]\()((?!https?://|#|mailto:)[^)\s]+)(\))")
_IMAGE = re.compile(r'(<img src=")((?!https?://)[^"]+)(")|(!\[[^\]]*\]\()((?!https?://)[^)\s]+)(\))')


def page(text: str, repository: str, ref: str) -> str:
    """The README with links to files of the repository, and to the contents of pictures."""
    raw = repository.replace("https://github.com/", "https://raw.githubusercontent.com/")

    def picture(found: re.Match[str]) -> str:
        before, path, after = found.groups()[:3] if found[1] else found.groups()[3:]
        return f"{before}{raw}/{ref}/{path}{after}"

    return _LINK.sub(rf"\g<1>{repository}/blob/{ref}/\g<2>\g<3>", _IMAGE.sub(picture, text))


def addresses(repository: str, ref: str) -> str:
    """The table of addresses that PyPI shows beside the page."""
    files = f"{repository}/blob/{ref}"
    urls = {
        "Homepage": repository,
        "Documentation": f"{files}/docs/index.md",
        "Changelog": f"{files}/CHANGELOG.md",
        "Source": repository,
        "Issues": f"{repository}/issues",
    }
    return "[project.urls]\n" + "".join(f'{name} = "{url}"\n' for name, url in urls.items()) + "\n"


def project(text: str, repository: str, ref: str) -> str:
    """The configuration with these addresses."""
    before, heading, after = text.partition("[project.scripts]\n")
    if not heading or "[project.urls]" in text:
        raise SystemExit("pyproject.toml: a table [project.scripts] and no [project.urls] are needed")
    return before + addresses(repository, ref) + heading + after


def main(repository: str, ref: str) -> None:
    """Rewrite both files."""
    if not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", repository) or not re.fullmatch(
        r"[\w./-]+", ref
    ):
        raise SystemExit(f"{repository} at {ref}: https://github.com/OWNER/REPOSITORY and a tag are needed")
    for name, rewritten in (("README.md", page), ("pyproject.toml", project)):
        path = ROOT / name
        path.write_text(rewritten(path.read_text(encoding="utf-8"), repository, ref), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
