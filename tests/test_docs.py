"""The documents: links that lead somewhere, README lines that are where .ci/run looks for them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import warptsp
import warptsp.errors
import warptsp.generate
import warptsp.problem
import warptsp.stop
from warptsp.cli import commands
from warptsp.methods import METHODS

REPOSITORY = Path(__file__).parents[1]
PAGES = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")])
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(text))
    return {word.replace(" ", "-") for word in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        linked = page.parent / name if name else page
        assert linked.exists(), f"{page.name} links to {target}, which is not there"
        if anchor:
            assert anchor in anchors(linked), f"{page.name} links to {target}: no such heading"


FOLDERS = sorted({page.parent for page in PAGES} - {REPOSITORY})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_page_is_reached_from_the_index(folder):
    """From that of its folder, if it has one; the site makes its table of contents of these links."""
    own = [page for page in (folder / "index.md", folder / "README.md") if page.exists()]
    index = own[0] if own else REPOSITORY / "docs" / "index.md"
    text = index.read_text(encoding="utf-8")
    for page in set(folder.glob("*.md")) - {index}:
        # What is nothing but a link stands for the page that it leads to.
        (target,) = re.findall(r"\A\[.*?\]\((.*)\)\s*\Z", page.read_text(encoding="utf-8")) or [
            page.relative_to(index.parent)
        ]
        assert f"({target})" in text, f"{index.relative_to(REPOSITORY)} lacks {page.name}"


def test_every_public_name_is_in_the_reference():
    modules = [warptsp, warptsp.stop, warptsp.generate, warptsp.errors, warptsp.problem]
    reference = "".join(page.read_text(encoding="utf-8") for page in REPOSITORY.glob("docs/api/*.rst"))
    documented = set(re.findall(r"^\.\. auto\w+:: (\w+)$", reference, re.MULTILINE))
    public = {name for module in modules for name in module.__all__ if not name.startswith("__")}
    params = {kind.__name__ for method in METHODS.values() if (kind := method.parameters())}
    assert public | params <= documented


def test_readme_begins_with_the_two_lines():
    script = REPOSITORY / ".ci" / "readme-lines"
    lines = subprocess.check_output([sys.executable, script], text=True).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("python3 -m venv ")
    assert "warptsp solve examples/" in lines[0]
    assert lines[1].startswith("python3 -m venv ")
    assert lines[1].endswith("pytest")


def code(page, language):
    """The code blocks of a page in one language."""
    pattern = rf"^```{language}\n(.*?)^```"
    return re.findall(pattern, page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


COMMANDS = [
    pytest.param(line, id=line)
    for page in PAGES
    for block in code(page, "sh")
    for line in block.splitlines()
    if line.startswith("warptsp ")
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_are_accepted(line):
    """Every command and option exists, and every option gets a value of its type; nothing is run."""
    command, *_ = re.split(r" [|>] ", line)  # what the shell does with the output is its own affair
    name, *words = shlex.split(command, comments=True)[1:]
    context = commands.make_context("warptsp", [name, *words])
    commands.get_command(context, name).make_context(name, words, parent=context)


def test_the_readme_example_runs(capsys):
    (example,) = code(REPOSITORY / "README.md", "python")
    exec(compile(example, "README.md", "exec"), {})
    assert "length" in capsys.readouterr().out


def test_the_examples_of_the_python_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for example in code(REPOSITORY / "docs" / "python.md", "python"):
        exec(compile(example, "python.md", "exec"), names)
    assert "km" in capsys.readouterr().out
    assert (tmp_path / "tour.svg").exists()
